"""A synthetic multilingual corpus: one stream of distinct meanings, rendered by a pivot and other languages.

It follows the parallel-text contract: training pairs are pivot-centred and share no sentence unless the
settings say so, the validation and test sets are multiway. Changing one setting changes only what depends
on it.
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from hashlib import blake2b
from itertools import chain, combinations
from pathlib import Path
from typing import Any, TextIO

from zsnmt.corpora.invented.grammar import Language, Meaning, render, sample_meaning, word_forms
from zsnmt.corpora.invented.languages import standard_languages
from zsnmt.corpora.invented.lexicon import (
    cognate_levels,
    concept_inventory,
    form_similarity,
    lexical_overlap,
    make_stems,
    stream,
)
from zsnmt.corpora.parallel_text import SPLITS
from zsnmt.errors import InputError
from zsnmt.files.replacing import replacing_folder
from zsnmt.text.lines import write_lines

VERSION = 1  # of the text that settings stand for; raise it when the same settings give other text
NEWER = ("multiway_share",)  # settings that folders of version 1 may lack, where they have their defaults
EXAMPLES = 3  # sentences in the description
PATIENCE = 2000  # draws in a row without a new meaning, after which the grammar is called exhausted


def setting(default: object, what: str) -> Any:
    """A field of the settings with its default and its help line."""
    return field(default=default, metadata={"help": what})


@dataclass(frozen=True)
class SyntheticCorpus:
    """The settings of a corpus; equal settings give equal text. Raises InputError."""

    languages: tuple[Language, ...] = setting(standard_languages(4), "the pivot, then the other languages")
    concepts: int = setting(125, "nouns, verbs, adjectives and so on that each language has words for")
    shared_cognates: float = setting(
        0.5, "share (0-1) of the concepts whose forms all languages have in common"
    )
    family_cognates: float = setting(
        0.2, "share (0-1) of the concepts, besides, whose forms a family has in common"
    )
    sound_change: float = setting(
        0.25, "probability (0-1) of a letter to change in the family, and in the language"
    )
    second_clause_share: float = setting(0.3, "share (0-1) of two-clause sentences, before lengths are held")
    shortest: int = setting(3, "fewest concepts a sentence names")
    longest: int = setting(14, "most concepts a sentence names")
    pairs: int = setting(6000, "sentence pairs of each language with the pivot")
    multiway_share: float = setting(
        0.0, "share (0-1) of these pairs whose pivot sentences are the same for all languages"
    )
    valid: int = setting(200, "sentences of the multiway validation set")
    test: int = setting(500, "sentences of the multiway test set")
    seed: int = setting(1, "seed of every random draw")

    def __post_init__(self) -> None:
        names = [language.name for language in self.languages]
        repeated = [name for name in names if names.count(name) > 1]
        if len(names) < 2 or repeated:
            raise InputError(
                f"the languages are {names}; give a pivot and at least one other, each name once"
            )
        if held_out := [name for name in names if name in SPLITS[1:]]:
            raise InputError(
                f"a language is named {held_out[0]}, as a set of sentences is; give it another name"
            )
        shares = "shared_cognates", "family_cognates", "sound_change", "second_clause_share", "multiway_share"
        for name in shares:
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(f"{name} is {getattr(self, name)}; it is a share, give 0 to 1")
        if self.shared_cognates + self.family_cognates > 1:
            raise InputError(
                f"shared_cognates {self.shared_cognates} and family_cognates {self.family_cognates} "
                "are shares of the same concepts; give at most 1 together"
            )
        for name in ("pairs", "valid", "test"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name)}; ask for at least 1 sentence")
        if not 2 <= self.shortest <= self.longest:
            raise InputError(
                f"lengths are {self.shortest} to {self.longest} concepts; give 2 <= shortest <= longest"
            )
        concept_inventory(self.concepts)

    @property
    def pivot(self) -> Language:
        """The language that every training pair contains."""
        return self.languages[0]

    @cached_property
    def inventory(self) -> dict[str, tuple[str, ...]]:
        """The concepts of each word class."""
        return concept_inventory(self.concepts)

    @cached_property
    def stems(self) -> dict[str, dict[str, str]]:
        """For each language, the form of each concept."""
        concepts = [concept for names in self.inventory.values() for concept in names]
        levels = cognate_levels(concepts, self.shared_cognates, self.family_cognates, seed=self.seed)
        return {
            language.name: make_stems(
                language.name,
                language.family,
                self.inventory,
                levels=levels,
                rate=self.sound_change,
                seed=self.seed,
            )
            for language in self.languages
        }

    @cached_property
    def lexicons(self) -> dict[str, list[str]]:
        """For each language, all words that it can write, lowercased and sorted."""
        return {
            language.name: word_forms(language, self.inventory, self.stems[language.name])
            for language in self.languages
        }

    def render(self, meaning: Meaning, language: Language) -> str:
        """The sentence that says `meaning` in `language`."""
        return render(meaning, language, self.stems[language.name])

    def parts(self) -> Iterator[tuple[str, Iterable[Meaning]]]:
        """The meanings of `test`, `valid` and each training pair (by its language), drawn as they are read:
        all of a part before the next part. No meaning occurs twice, but those that are the same for all
        languages come first in every training pair.
        """
        common = round(self.multiway_share * self.pairs)
        seen: set[bytes] = set()
        yield "test", self.draw("test", self.test, seen)
        yield "valid", self.draw("valid", self.valid, seen)
        own: dict[str, Iterable[Meaning]] = {
            language.name: self.draw(language.name, self.pairs - common, seen)
            for language in self.languages[1:]
        }
        if common:  # which are drawn last, and come first
            own = {name: [*meanings] for name, meanings in own.items()}
        in_all_pairs = [*self.draw("all pairs", common, seen)]
        for name, meanings in own.items():
            yield name, chain(in_all_pairs, meanings)

    def meanings(self) -> dict[str, list[Meaning]]:
        """All parts by name."""
        return {name: [*meanings] for name, meanings in self.parts()}

    def draw(self, name: str, number: int, seen: set[bytes]) -> Iterator[Meaning]:
        """So many meanings from the stream of `name`, the digest of none in `seen`, where they are added;
        raises InputError.
        """
        rng, wanted = stream(self.seed, "meanings", name), number
        failures = 0
        while wanted:
            meaning = sample_meaning(self.inventory, rng, self.second_clause_share)
            known = digest(meaning)
            if known in seen or not self.shortest <= meaning.size <= self.longest:
                failures += 1
                if failures == PATIENCE:
                    raise InputError(
                        f"{number} sentences for {name}: the grammar ran out of new ones of these lengths "
                        f"after {len(seen)} in all; ask for fewer sentences, more concepts or other lengths"
                    )
                continue
            seen.add(known)
            failures, wanted = 0, wanted - 1
            yield meaning

    def written_in(self, part: str) -> dict[str, Language]:
        """The files that say the meanings of a part, by name, and the language of each."""
        if part in ("test", "valid"):
            return {f"{part}.{language.name}": language for language in self.languages}
        sides = [language for language in self.languages if language.name in (part, self.pivot.name)]
        return {f"train.{part}-{self.pivot.name}.{side.name}": side for side in sides}

    def write(self, folder: Path) -> None:
        """Write all files of the corpus into a folder; sentences are written as they are drawn."""
        examples: list[Meaning] = []
        for part, meanings in self.parts():
            languages = self.written_in(part)
            with ExitStack() as stack:
                files = [stack.enter_context(text_file(folder / name)) for name in languages]
                for meaning in meanings:
                    for file, language in zip(files, languages.values()):
                        file.write(f"{self.render(meaning, language)}\n")
                    if part == "valid" and len(examples) < EXAMPLES:
                        examples.append(meaning)
        settings = json.dumps({"version": VERSION} | asdict(self), indent=2).splitlines()
        others = {"description.txt": describe(self, examples), "settings.json": settings}
        for language in self.languages:
            others[f"lexicon.{language.name}"] = self.lexicons[language.name]
            others[f"word_order.{language.name}"] = [language.word_order]
        for name, lines in others.items():
            write_lines(folder / name, lines)


def digest(meaning: Meaning) -> bytes:
    """Sixteen bytes that tell a meaning from all others, in less memory."""
    return blake2b(repr(meaning).encode("utf-8"), digest_size=16).digest()


def text_file(path: Path) -> TextIO:
    """A file to write text to, with the same bytes on every system."""
    return path.open("w", encoding="utf-8", newline="\n")


def table(rows: list[list[str]]) -> list[str]:
    """Rows as lines of text with aligned columns."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]


def describe(corpus: SyntheticCorpus, examples: list[Meaning]) -> list[str]:
    """The corpus for a reader: typology, settings, likeness of the languages, the same sentences in each."""
    settings = [each.name for each in fields(corpus) if each.name != "languages"]
    typology = [[each.name.replace("_", " ") for each in fields(Language)]]
    typology += [list(asdict(language).values()) for language in corpus.languages]
    number = len(corpus.languages) - 1
    lines = [
        f"A synthetic corpus: the pivot {corpus.pivot.name} and {number} other languages",
        "",
        *table(typology),
    ]
    lines += ["", *table([[name, str(getattr(corpus, name))] for name in settings]), ""]
    likeness = [["languages", "words in both", "likeness of forms"]]
    for first, second in combinations(corpus.languages, 2):
        overlap = lexical_overlap(corpus.lexicons[first.name], corpus.lexicons[second.name])
        similarity = form_similarity(corpus.stems[first.name], corpus.stems[second.name])
        likeness.append([f"{first.name} {second.name}", f"{overlap:.3f}", f"{similarity:.3f}"])
    lines += table(likeness)
    for meaning in examples:
        lines += [
            "",
            *table([[language.name, corpus.render(meaning, language)] for language in corpus.languages]),
        ]
    return lines


def write_corpus(corpus: SyntheticCorpus, folder: str | Path) -> bool:
    """Writes the corpus beside `folder` and renames; False when it was there already, from the same settings.

    Raises InputError when the folder holds anything else.
    """
    folder = Path(folder)
    if folder.is_file() or (folder.is_dir() and any(folder.iterdir())):
        if holds(folder, corpus):
            return False
        raise InputError(
            f"{folder} holds something else than this corpus; name a new folder or remove it first"
        )
    with replacing_folder(folder) as part:
        corpus.write(part)
    return True


def holds(folder: Path, corpus: SyntheticCorpus) -> bool:
    """Whether the folder was written from the settings of `corpus`. A setting that is newer than the folder
    has its default there.
    """
    try:
        settings = json.loads((folder / "settings.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    newer = {each.name: each.default for each in fields(corpus) if each.name in NEWER}
    wanted = json.loads(json.dumps({"version": VERSION} | asdict(corpus)))
    return isinstance(settings, dict) and newer | settings == wanted
