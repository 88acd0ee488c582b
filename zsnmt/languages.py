"""Languages and directions of an English-centred set: their names, kinds and tags."""

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from zsnmt.errors import InputError

LANGUAGES_FILE = "languages.txt"
AUTO = "auto"  # in the place of a source language: it is to be identified
SUPERVISED, ZERO_SHOT, ZERO_RESOURCE, FEW_SHOT, UNKNOWN = KINDS = (
    "supervised",
    "zero_shot",
    "zero_resource",
    "few_shot",
    "unknown",
)  # of directions, see `kind_of`

FAMILIES = {  # as Liu et al. (2021) group the languages of their data, and other languages of Europe
    **dict.fromkeys(("en", "de", "nl", "da", "sv", "nb", "nn", "no", "is"), "Germanic"),
    **dict.fromkeys(("fr", "it", "es", "pt", "ro", "ca", "gl"), "Romance"),
    **dict.fromkeys(("hi", "bn", "gu", "mr", "pa", "or"), "Indo-Aryan"),
    **dict.fromkeys(("kn", "ml", "te"), "Dravidian"),
    **dict.fromkeys(("fi", "et", "hu"), "Uralic"),
    **dict.fromkeys(("cs", "pl", "sk", "ru", "uk", "be", "bg", "hr", "sl", "sr", "mk"), "Slavic"),
    **dict.fromkeys(("lt", "lv"), "Baltic"),
}

LANGUAGE_OF = dict(  # codes of countries that are no codes of languages, but taken for such
    pair.split(":")
    for pair in "al:sq by:be cn:zh cz:cs dk:da gr:el il:he ir:fa jp:ja rs:sr ua:uk vn:vi".split()
)
CODE = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
Pair = tuple[str, str]  # of languages


class Direction(NamedTuple):
    """A source and a target language; written `de-it`."""

    source: str
    target: str

    def __str__(self) -> str:
        return f"{self.source}-{self.target}"


def check_language(code: str) -> str:
    """Return the code of a language as given; `InputError` unless it is letters, digits, underscores."""
    if not CODE.fullmatch(code):
        raise InputError(
            f"'{code}' is not a language code: a code is a letter followed by letters, digits or underscores"
        )
    return code


def check_languages(codes: Iterable[str]) -> list[str]:
    """Return the codes of a set of languages; `InputError` unless they are two or more different ones."""
    languages = [check_language(code) for code in codes]
    if len(set(languages)) != len(languages) or len(languages) < 2:
        raise InputError(
            f"a set of languages needs two or more, each once; here it is '{' '.join(languages)}'"
        )
    return languages


def parse_direction(text: str) -> Direction:
    """Read `de-it`; raises `InputError` for anything else."""
    parts = text.strip().split("-")
    if len(parts) != 2 or parts[0] == parts[1]:
        raise InputError(
            f"'{text}' is not a direction: write two different languages as source-target, like de-it"
        )
    return Direction(*map(check_language, parts))


def parse_directions(text: str) -> list[Direction]:
    """Read a comma-separated list of directions; raises `InputError` for a malformed one."""
    return [parse_direction(part) for part in text.split(",")]


def supervised_directions(languages: Sequence[str], pivot: str) -> list[Direction]:
    """To and from the pivot for every other language: 2(N-1) directions for N languages."""
    others = [language for language in languages if language != pivot]
    return [Direction(*pair) for language in others for pair in ((language, pivot), (pivot, language))]


def zero_shot_directions(languages: Sequence[str], pivot: str) -> list[Direction]:
    """Between every two languages that are not the pivot: (N-1)(N-2) directions for N languages."""
    others = [language for language in languages if language != pivot]
    return [Direction(source, target) for source in others for target in others if source != target]


def other_pairs(languages: Sequence[str], pairs: Iterable[tuple[str, str]]) -> list[str]:
    """The pairs of languages, as text, that are not among `pairs` in either order."""
    known = {frozenset(pair) for pair in pairs}
    return [f"{a}-{b}" for a, b in combinations(languages, 2) if frozenset((a, b)) not in known]


def kind_of(
    direction: Direction,
    trained: Collection[Direction],
    synthetic: Collection[Direction] = (),
    few: Collection[Direction] = (),
) -> str:
    """What a direction is to a model that was trained on the directions `trained`.

    It is supervised if text by people was trained on, few_shot if that was a few lines (the direction is then
    also in `few`), zero_resource if only synthetic text was (then also in `synthetic`), and zero_shot if
    there was no text. To a system of another toolkit it may be unknown.
    """
    if direction not in trained:
        return ZERO_SHOT
    if direction in few:
        return FEW_SHOT
    return ZERO_RESOURCE if direction in synthetic else SUPERVISED


def kind_name(kind: str) -> str:
    """A kind of direction as tables spell it: `zero-shot`."""
    return kind.replace("_", "-")


def language_tag(language: str) -> str:
    """The symbol that stands for a language in the dictionary, in fairseq's own spelling."""
    return f"__{language}__"


def check_known(language: str, known: Iterable[str]) -> str:
    """Return the language; `InputError` naming the known ones if it is not among them."""
    known = list(known)
    if language not in known:
        raise InputError(f"unknown language '{language}': this model knows {', '.join(known)}")
    return language


def read_languages(folder: Path) -> list[str]:
    """The languages of a binarised folder, in their fixed order (one code a line of languages.txt)."""
    path = Path(folder) / LANGUAGES_FILE
    if not path.is_file():
        raise InputError(
            f"{path} is missing: it lists the languages in their fixed order; make it with zsnmt prepare"
        )
    try:
        return check_languages(path.read_text(encoding="utf-8").splitlines())
    except ValueError as error:  # also of bytes that are not UTF-8
        raise InputError(
            f"{path}: {error}; copy it again from the data, or make it with zsnmt prepare"
        ) from error
