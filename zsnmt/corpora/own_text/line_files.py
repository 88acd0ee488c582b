"""Parallel text in files of lines, one for each language, whose names a pattern describes.

{split}.{pair}.{language}          zsnmt's own form: train.de-en.de beside train.de-en.en
corpus.{pair}.{language}           as Moses and OPUS name them; without {split} all is training text
{pair}/*.{language}                folders count, and * stands for anything within a name that is not hidden
{split}.{language}                 without {pair}: line n is one sentence in all languages
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path

from zsnmt.corpora.own_text.table import SPLITS_BY_NAME, Table
from zsnmt.corpora.parallel_text import iterate_rows
from zsnmt.errors import InputError
from zsnmt.languages import CODE

OWN_FORM = ("{split}.{pair}.{language}", "{split}.{language}")
OTHER = r"(?!(?:ids|log|txt)\b)"  # codes of small languages, but files that are named so are no text
PLACES = {
    "split": "|".join(SPLITS_BY_NAME),
    "pair": f"{CODE.pattern}-{CODE.pattern}",
    "language": OTHER + CODE.pattern,
}
HYPHENATED = "[A-Za-z][A-Za-z0-9_-]*"  # what may be meant for a code, such as pt-BR, and is not one here
HYPHENATED_PLACES = PLACES | {"pair": f"{HYPHENATED}-{HYPHENATED}", "language": OTHER + HYPHENATED}
PLACE = re.compile(r"(\{\w*\}|\*)")


def tables_of_own_form(folder: Path) -> list[Table]:
    """The tables of zsnmt's own form. A set in several languages serves every pair that has no files of its
    own in its split. Beside pairs it has a language of theirs: what else is named so is no text.
    """
    pairs, together = OWN_FORM
    tables = tables_of_pattern(folder, pairs)
    known = {language for table in tables for language in table.languages}
    multiway = []
    for files in files_of_pattern(folder, together):
        languages = {match["language"] for match in files}
        if not known or len(languages) > 1 and languages & known:
            multiway.append(table_of(folder, files))
    return beside(multiway, tables)


def beside(tables: Sequence[Table], of_pairs: Sequence[Table]) -> list[Table]:
    """Tables after those of pairs, to whose pairs they give no text in the same split."""
    apart = {
        split: frozenset(frozenset(table.languages) for table in of_pairs if table.split == split)
        for split in SPLITS_BY_NAME.values()
    }
    return [*of_pairs, *(replace(table, apart=apart[table.split]) for table in tables)]


def tables_of_pattern(folder: Path, pattern: str, *, of_windows: bool = False) -> list[Table]:
    """The tables of the files in a folder whose paths from there a pattern describes, in alphabetical order.

    `of_windows`: as for `iterate_lines`; for files that are written anew. Raises `InputError` for a pattern
    that cannot be read, and for a file that stands alone.
    """
    return [table_of(folder, files, of_windows) for files in files_of_pattern(folder, pattern)]


def files_of_pattern(folder: Path, pattern: str) -> list[list[re.Match]]:
    """The paths that a pattern describes, those that differ in their language alone together."""
    expression = read_pattern(pattern)
    matches: dict[str, list[re.Match]] = {}
    for path, name in named_files(folder, pattern):
        if (match := expression.fullmatch(name)) and path.is_file() and is_of_pair(match):
            start, end = match.span("language")
            matches.setdefault(f"{name[:start]}/{name[end:]}", []).append(match)
    return [*matches.values()]


def files_of_other_codes(folder: Path, pattern: str) -> list[Path]:
    """The files in a folder that a pattern does not describe, and would if a code could have a hyphen."""
    expression, wider = read_pattern(pattern), read_pattern(pattern, HYPHENATED_PLACES)
    return [
        path
        for path, name in named_files(folder, pattern)
        if wider.fullmatch(name) and not expression.fullmatch(name)
    ]


def named_files(folder: Path, pattern: str) -> Iterator[tuple[Path, str]]:
    """What is as deep in a folder as a pattern says, with its path from there, in alphabetical order."""
    for path in sorted(folder.glob("/".join("*" for _ in pattern.split("/")))):
        yield path, path.relative_to(folder).as_posix()


def read_pattern(pattern: str, places: Mapping[str, str] = PLACES) -> re.Pattern:
    """The regular expression of a pattern, by those of its places; a place that stands in it twice is the
    same text twice.
    """
    words = [*filter(None, PLACE.split(pattern))]
    named = [word[1:-1] for word in words if PLACE.fullmatch(word) and word != "*"]
    if named.count("language") != 1 or not {*named} <= {*PLACES}:
        raise InputError(
            f"'{pattern}' does not describe names of files; write {{language}} once, {{pair}} and {{split}} "
            "where they stand in the names, and * for anything else, as in corpus.{pair}.{language}"
        )
    expression = ""
    for before, word in pairwise(["/", *words]):
        if word == "*":
            expression += "[^/]*" if before[-1] != "/" else r"(?!\.)[^/]*"  # a dot begins hidden files' names
        elif not PLACE.fullmatch(word):
            spelt = {unicodedata.normalize(form, word) for form in ("NFC", "NFD")}  # files of macOS have NFD
            expression += f"(?:{'|'.join(map(re.escape, sorted(spelt)))})"
        else:
            name = word[1:-1]
            expression += f"(?P={name})" if f"(?P<{name}>" in expression else f"(?P<{name}>{places[name]})"
    return re.compile(expression)


def is_of_pair(match: re.Match) -> bool:
    """Whether the language of a file is one of its pair, which that of train.de-en.ids is not."""
    pair = match.groupdict().get("pair")
    return pair is None or match["language"] in pair.split("-")


def table_of(folder: Path, matches: list[re.Match], of_windows: bool = False) -> Table:
    """The table of files whose names differ in their language alone."""
    found = {match["language"]: folder / match[0] for match in matches}
    named = matches[0].groupdict()
    languages = tuple(named["pair"].split("-")) if "pair" in named else tuple(sorted(found))
    if len({*languages}) < 2 or len(found) < len({*languages}):
        raise InputError(
            f"{folder / matches[0][0]} stands alone; add the same in "
            f"{', '.join({*languages} - {*found}) or 'another language'}, or remove it"
        )
    files = tuple(found[language] for language in languages)
    return Table(
        split=SPLITS_BY_NAME[named.get("split") or "train"],
        languages=languages,
        files=files,
        rows=partial(iterate_rows, files, of_windows=of_windows),
    )
