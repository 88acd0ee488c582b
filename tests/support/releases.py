"""Releases of corpora, in small: folders in the form in which their makers give them out.

Sentence n says the same in every language, word for word. All words are made up here, of letters of their
language.
"""

import bz2
import gzip
import random
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import combinations, permutations
from pathlib import Path
from xml.sax.saxutils import escape

from zsnmt.text.iso_639 import three_letters

VALID, TEST = range(1000, 1002), range(2000, 2003)  # sentences that are held out where the release says which
LEAKED = TEST[0]  # which IWSLT 2017 has in its Italian-English training text too

IWSLT17 = ("en", "de", "it", "nl", "ro")
EUROPARL = ("en", "da", "de", "es", "fi", "fr", "it", "nl", "pt")
PMINDIA = ("en", "bn", "gu", "hi", "kn", "ml", "mr", "or", "pa", "te")
MULTI30K = ("en", "de", "fr", "cs")
BIBLE = ("en", "bn", "gu", "hi", "kn", "ml", "mr", "pa", "te")
OWN = ("en", "de", "fr")
CAPTIONS = ("en", "cs", "de", "fr")
TATOEBA = ("en", "pt", "ru", "pl", "uk", "da", "sv", "fi", "hu")

_WORDS = 100  # of a language
_VOWELS = {
    "en": "",
    "cs": "áěý",
    "da": "æøå",
    "de": "äöü",
    "es": "áéó",
    "fi": "äöy",
    "fr": "éèê",
    "hu": "áéő",
    "it": "àèù",
    "nl": "ëï",
    "pl": "ąęó",
    "pt": "ãõâ",
    "ro": "ăâî",
    "ru": "ыэю",
    "sv": "åäö",
    "uk": "іїє",
}
# In the Unicode blocks of these scripts a letter has the same place: k g c j t d n p b m r l s, and aa i ii u
# e.
_BLOCK = {
    "hi": 0x900,
    "mr": 0x900,
    "bn": 0x980,
    "pa": 0xA00,
    "gu": 0xA80,
    "or": 0xB00,
    "te": 0xC00,
    "kn": 0xC80,
    "ml": 0xD00,
}
_CONSONANTS = (0x15, 0x17, 0x1A, 0x1C, 0x24, 0x26, 0x28, 0x2A, 0x2C, 0x2E, 0x30, 0x32, 0x38)
_VOWEL_SIGNS = (0x3E, 0x3F, 0x40, 0x41, 0x47)


def letters(language: str) -> tuple[Sequence[str], Sequence[str]]:
    """Consonants and vowels of a language."""
    if block := _BLOCK.get(language):
        return [chr(block + letter) for letter in _CONSONANTS], [chr(block + sign) for sign in _VOWEL_SIGNS]
    return "bdfgklmnprstv", "aeiou" + _VOWELS[language]


@cache
def words(language: str) -> list[str]:
    """The words of a language, of two syllables each; word n means the same in all of them."""
    generator, syllable = random.Random(language), letters(language)
    return ["".join(generator.choice(kind) for kind in syllable * 2) for _ in range(_WORDS)]


def sentence(language: str, number: int) -> str:
    """Sentence n, of three or four words."""
    generator = random.Random(number)
    first, *others = (words(language)[generator.randrange(_WORDS)] for _ in range(generator.randint(3, 4)))
    stop = "।" if language in ("bn", "hi", "or", "pa") else "."
    return f"{first.capitalize()}, {' '.join(others)}{stop}"


def sentences(language: str, numbers: Iterable[int]) -> list[str]:
    return [sentence(language, number) for number in numbers]


def write(path: Path, lines: Iterable[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    content = "".join(f"{line}\n" for line in lines).encode("utf-8")
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)


def write_iwslt17(folder: Path) -> None:
    """Training text, dev2010 and tst2010 of both orders of each pair, and of tst2017 each pair's source;
    150 pairs each.
    """
    together, test = folder / "DeEnItNlRo-DeEnItNlRo", folder / "2017-01-mted-test"
    for source, target in permutations(IWSLT17, 2):
        pair = f"{source}-{target}"
        training = [*range(150), *([LEAKED] if {source, target} == {"en", "it"} else [])]
        for side in (source, target):
            write(together / f"train.tags.{pair}.{side}", tagged(side, training))
            for name, numbers in (("dev2010", VALID), ("tst2010", TEST)):
                write(together / f"IWSLT17.TED.{name}.{pair}.{side}.xml", segments(name, side, numbers))
        name = "tst2017.mltlng"
        write(test / pair / f"IWSLT17.TED.{name}.{pair}.{source}.xml", segments(name, source, TEST))


def tagged(language: str, numbers: Sequence[int]) -> list[str]:
    """The lines of a `train.tags` file of one talk."""
    about = [
        "<url>http://talks/1</url>",
        "<keywords>talks, tests</keywords>",
        "<speaker>A. N.</speaker>",
        "<talkid>1</talkid>",
        "<title>A. N.: Title</title>",
        f"<description>{language}</description>",
    ]
    spoken = [f" {escape(line)} " for line in sentences(language, numbers)]
    return [*about, *spoken, "<reviewer></reviewer>", '<translator href="http://people/1">B. N.</translator>']


def segments(name: str, language: str, numbers: Sequence[int]) -> list[str]:
    """The lines of an XML file of one talk."""
    spoken = [
        f'<seg id="{place}"> {escape(line)} </seg>'
        for place, line in enumerate(sentences(language, numbers), start=1)
    ]
    head = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        "<mteval>",
        f'<srcset setid="{name}" srclang="{language}">',
        '<doc docid="2" genre="lectures">',
        "<title>A. N.: Title</title>",
    ]
    return [*head, *spoken, "</doc>", "</srcset>", "</mteval>"]


def of_pair(language: str, languages: Sequence[str]) -> list[int]:
    """The numbers of a pair's sentences: 70 that all pairs have and 20 of its own."""
    own = 100 * languages.index(language)
    return [*range(70), *range(own, own + 20)]


def write_europarl(folder: Path) -> None:
    """Each language with English, in two files; some lines have no translation."""
    for language in EUROPARL[1:]:
        for side, alone in (("en", "Applause"), (language, "")):
            lines = sentences(side, of_pair(language, EUROPARL))
            write(folder / f"europarl-v7.{language}-en.{side}", [*lines[:9], alone, *lines[9:]])


def write_pmindia(folder: Path) -> None:
    """Each language with English, in two columns."""
    for language in PMINDIA[1:]:
        sides = (sentences(side, of_pair(language, PMINDIA)) for side in ("en", language))
        write(folder / f"pmindia.v1.{language}-en.tsv", map("\t".join, zip(*sides)))


def write_multi30k(folder: Path) -> None:
    """Packed files of 60 training sentences in all languages, and of those held out."""
    for name, numbers in (("train", range(60)), ("val", VALID), ("test_2016_flickr", TEST)):
        for language in MULTI30K:
            write(folder / f"{name}.{language}.gz", sentences(language, numbers))


def write_multiway(folder: Path, languages: Sequence[str]) -> None:
    """Text to cut training pairs from: the same 60 training sentences in all languages."""
    for split, numbers in (("train", range(60)), ("valid", VALID), ("test", TEST)):
        for language in languages:
            write(folder / f"{split}.{language}", sentences(language, numbers))


def write_pairs(folder: Path, languages: Sequence[str]) -> None:
    """Parallel text as a person brings it: 30 training pairs each, and held-out sentences in all
    languages.
    """
    pivot, *others = languages
    for language in others:
        for side in (language, pivot):
            write(folder / f"train.{language}-{pivot}.{side}", sentences(side, range(30)))
    for split, numbers in (("valid", VALID), ("test", TEST)):
        for language in languages:
            write(folder / f"{split}.{language}", sentences(language, numbers))


def write_tatoeba_export(folder: Path, languages: Sequence[str], trained: int, tested: int) -> None:
    """The files of tatoeba.org for some languages, the pivot first: as many sentence pairs of each with the
    pivot as are `trained`, and as many as are `tested` of each two others.
    """
    folder.mkdir()
    pivot, *others = languages
    pairs = [*((pivot, other) for other in others), *combinations(others, 2)]
    blocks = {}  # numbers of sentences that translate each other, by pair
    for place, pair in enumerate(pairs):
        blocks[pair] = range(10000 * place, 10000 * place + (trained if pivot in pair else tested))
    for place, language in enumerate(languages):
        numbers = [number for pair, block in blocks.items() if language in pair for number in block]
        code = three_letters(language)
        rows = [f"{number * 100 + place}\t{code}\t{sentence(language, number)}" for number in numbers]
        pack(folder / f"{code}_sentences.tsv.bz2", rows)
    for pair, block in blocks.items():
        one, other = (languages.index(language) for language in pair)
        rows = [f"{number * 100 + one}\t{number * 100 + other}" for number in block]
        pack(folder / f"{'-'.join(map(three_letters, pair))}_links.tsv.bz2", rows)


def pack(path: Path, lines: Iterable[str]) -> None:
    path.write_bytes(bz2.compress("".join(f"{line}\n" for line in lines).encode("utf-8")))
