"""Word forms of invented languages: proto-lexicons, regular sound changes, each language's own words.

Every draw has its own random stream, keyed by seed, purpose and name, so that changing one setting
changes nothing that does not depend on it.
"""

import functools
import itertools
import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TypeVar

from zsnmt.errors import InputError

T = TypeVar("T")

MARKINGS = ("particle", "prefix", "suffix")
MARKERS = ("plural", "definite", "patient", "past", "future", "not")
INFLECTIONS = {  # word class -> the groups of markers that can stand on one word
    "noun": (("plural", "definite", "patient"),),
    "transitive": (("past",), ("future",)),
    "intransitive": (("past",), ("future",)),
}
CLOSED_CLASSES = {"adposition": 6, "numeral": 5, "conjunction": 4}  # concepts
OPEN_CLASSES = {
    "transitive": 18,
    "intransitive": 10,
    "adjective": 15,
    "adverb": 7,
}  # % of the rest; nouns are half
FEWEST_CONCEPTS = 40

VOWELS = "aeiou"
CONSONANTS = "bdfghjklmnprstvwz"
REFLEXES = {  # what a regular sound change can make of a letter
    "a": "eo",
    "e": "ia",
    "i": "ey",
    "o": "ua",
    "u": "oi",
    "y": "iu",
    "p": "fb",
    "b": "vp",
    "t": "ds",
    "d": "tz",
    "k": "gh",
    "g": "kj",
    "f": "vp",
    "v": "wb",
    "w": "vb",
    "s": "zt",
    "z": "sd",
    "h": "k",
    "j": "zg",
    "m": "n",
    "n": "m",
    "l": "r",
    "r": "l",
}


def stream(*key: object) -> random.Random:
    """The random stream of a key; equal keys give equal streams in every process."""
    return random.Random("/".join(map(str, key)))


def pick(rng: random.Random, choices: Sequence[T]) -> T:
    """One of `choices`; only `random()` is used, which Python promises to keep stable between versions."""
    return choices[int(rng.random() * len(choices))]


def concept_inventory(number: int) -> dict[str, tuple[str, ...]]:
    """The concepts of each word class, `number` in all; a larger inventory contains every smaller one."""
    if number < FEWEST_CONCEPTS:
        raise InputError(f"{number} concepts are too few for the grammar; ask for at least {FEWEST_CONCEPTS}")
    rest = number - sum(CLOSED_CLASSES.values())
    counts = CLOSED_CLASSES | {name: rest * percent // 100 for name, percent in OPEN_CLASSES.items()}
    counts["noun"] = number - sum(counts.values())
    return {name: tuple(f"{name}{i}" for i in range(1, count + 1)) for name, count in counts.items()}


def cognate_levels(concepts: Sequence[str], shared: float, family: float, seed: int) -> dict[str, str]:
    """The level from which all languages take the form of each concept: `shared`, `family` or `own`.

    `shared` and `family` are shares of the concepts (0-1, together at most 1); raising one keeps the
    concepts it had.
    """
    ranked = sorted(concepts, key=lambda concept: (stream(seed, "level", concept).random(), concept))
    first, second = round(shared * len(ranked)), round((shared + family) * len(ranked))
    levels = ["shared"] * first + ["family"] * (second - first) + ["own"] * (len(ranked) - second)
    return dict(zip(ranked, levels))


@functools.cache
def sound_change(rate: float, *key: object) -> dict[int, str]:
    """A regular sound change, for `str.translate`: each letter changes with probability `rate` (0-1)."""
    return {
        ord(letter): pick(rng, reflexes)
        for letter, reflexes in REFLEXES.items()
        if (rng := stream(*key, letter)).random() < rate
    }


def sounds(*key: object) -> dict[str, str]:
    """The phonotactics of a language: the onsets, vowels and codas that its own words are built from."""
    rng = stream(*key)

    def some(letters: str, number: int) -> str:
        return "".join(sorted(sorted(letters, key=lambda _: rng.random())[:number]))

    return {"onsets": some(CONSONANTS, 11), "vowels": some(VOWELS, 4), "codas": some("klmnrst", 3)}


def invent(rng: random.Random, inventory: Mapping[str, str], syllables: int) -> str:
    """A new word of `syllables` open syllables, each closed by a coda in one of three cases."""
    word = ""
    for _ in range(syllables):
        word += pick(rng, inventory["onsets"]) + pick(rng, inventory["vowels"])
        word += pick(rng, inventory["codas"]) if rng.random() < 1 / 3 else ""
    return word


def inflect(stem: str, marks: Sequence[tuple[str, str]]) -> str:
    """`stem` with its affixes; `marks` are (form, marking) from the stem outwards, particles stand apart."""
    for form, marking in marks:
        if marking == "prefix":
            stem = form + stem
        elif marking == "suffix":
            stem = stem + form
    return stem


def possible_forms(stem: str, word_class: str, markers: Mapping[str, str]) -> list[str]:
    """All forms of a word under every way of marking, so that uniqueness never depends on typology."""
    forms = [stem]
    for group in INFLECTIONS.get(word_class, ()):
        for markings in itertools.product(MARKINGS, repeat=len(group)):
            if set(markings) != {"particle"}:
                forms.append(inflect(stem, [(markers[m], marking) for m, marking in zip(group, markings)]))
    return forms


def make_markers(name: str, seed: int) -> dict[str, str]:
    """The grammatical morphemes of a language: one closed syllable each, all different."""
    inventory = sounds(seed, "sounds", name)
    rng = stream(seed, "markers", name)
    markers: dict[str, str] = {}
    for marker in MARKERS:
        form = None
        while form is None or form in markers.values():
            form = "".join(pick(rng, inventory[part]) for part in ("onsets", "vowels", "codas"))
        markers[marker] = form
    return markers


def candidates(concept: str, level: str, name: str, family: str, rate: float, seed: int) -> Iterator[str]:
    """Forms for a concept, best first: the inherited one, then endless words of the language's own."""
    family_change = sound_change(rate, seed, "family_change", family)
    own_change = sound_change(rate, seed, "change", name)
    syllables = 3 if stream(seed, "syllables", concept).random() < 1 / 4 else 2
    if level == "shared":
        proto = invent(stream(seed, "shared", concept), sounds(seed, "sounds"), syllables)
        yield proto.translate(family_change).translate(own_change)
    elif level == "family":
        proto = invent(
            stream(seed, "family", family, concept), sounds(seed, "family_sounds", family), syllables
        )
        yield proto.translate(own_change)
    rng, inventory = stream(seed, "own", name, concept), sounds(seed, "sounds", name)
    for attempt in itertools.count():  # longer words when short ones run out
        yield invent(rng, inventory, syllables + attempt // 20)


def make_stems(
    name: str,
    family: str,
    inventory: Mapping[str, Sequence[str]],
    levels: Mapping[str, str],
    rate: float,
    seed: int,
) -> dict[str, str]:
    """The form of every concept and marker in the language `name`; no two words can ever look the same.

    A cognate that falls together with another word is replaced by a word of the language's own.
    `rate` (0-1) is the probability of each letter to change, once in the family and once in the language.
    """
    stems = make_markers(name, seed)
    taken = set(stems.values())
    for word_class, concepts in inventory.items():
        for concept in concepts:
            for stem in candidates(concept, levels[concept], name, family=family, rate=rate, seed=seed):
                forms = possible_forms(stem, word_class, stems)
                if len(set(forms)) == len(forms) and taken.isdisjoint(forms):
                    break
            stems[concept] = stem
            taken.update(forms)
    return stems


def lexical_overlap(first: Collection[str], second: Collection[str]) -> float:
    """The share (0-1) of the words of two languages that both have: intersection over union."""
    return len(set(first) & set(second)) / len(set(first) | set(second))


def form_similarity(first: Mapping[str, str], second: Mapping[str, str]) -> float:
    """How alike two languages name the same concepts (0-1): mean of 1 - edit distance / longer length."""
    concepts = [concept for concept in first if concept in second and concept not in MARKERS]
    return sum(
        1 - edit_distance(first[c], second[c]) / max(len(first[c]), len(second[c])) for c in concepts
    ) / len(concepts)


def edit_distance(first: str, second: str) -> int:
    """The Levenshtein distance of two words."""
    row = list(range(len(second) + 1))
    for i, letter in enumerate(first, 1):
        previous, row[0] = row[0], i
        for j, other in enumerate(second, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (letter != other))
    return row[-1]
