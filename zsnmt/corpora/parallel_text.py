"""Parallel text: the one form in which every corpus reaches the rest of the toolkit.

A folder holds `{train,valid,test}.{src}-{tgt}.{lang}` and multiway sets `{valid,test}.{lang}`: UTF-8,
one untokenised sentence a line, line ends `\\n`, as many lines in one language as in the other. What
breaks a rule stops with an InputError that names the file and the line. Nothing is repaired.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, zip_longest
from pathlib import Path
from typing import BinaryIO

from zsnmt.errors import InputError
from zsnmt.files import replacing
from zsnmt.languages import parse_direction

SPLITS = ("train", "valid", "test")

# Control characters but the tab; a byte order mark that tokenisation would leave at the start.
_FORBIDDEN = re.compile(r"[\x00-\x08\n-\x1f\x7f-\x9f]|^\s*\ufeff")


def find_pair(folder: Path, split: str, source: str, target: str) -> tuple[Path, Path]:
    """The source and the target file of a direction.

    These are `split.source-target.*`, else `split.target-source.*`, else the multiway `split.source`
    and `split.target`. Raises InputError when none of them is there, or only one side of a pair.
    """
    parse_direction(f"{source}-{target}")
    if not folder.is_dir():
        raise InputError(f"{folder} is no folder; give the one that holds the parallel text")
    for name in (f"{split}.{source}-{target}", f"{split}.{target}-{source}"):
        files = folder / f"{name}.{source}", folder / f"{name}.{target}"
        there = [file for file in files if file.is_file()]
        if len(there) == 2:
            return files
        if there:
            missing = files[1 - files.index(there[0])]
            raise InputError(f"{there[0]} stands alone; add its other side {missing.name}, or remove it")
    files = folder / f"{split}.{source}", folder / f"{split}.{target}"
    if all(file.is_file() for file in files):
        return files
    raise InputError(
        f"{folder} has no text for {source}-{target} in split '{split}'; looked for "
        f"{split}.{source}-{target}.{{{source},{target}}}, {split}.{target}-{source}.{{{source},{target}}} and "
        f"{split}.{{{source},{target}}}; languages there: {', '.join(_languages(folder, split)) or 'none'}")


def files_of_language(language: str, paths: Iterable[Path]) -> list[Path]:
    """Files named {split}.{lang} or {split}.{src}-{tgt}.{lang} in folders, and of files those that end in .{lang}.

    Raises `InputError` if there are none.
    """
    files = []
    for path in paths:
        if path.is_dir():
            files += [file for file in sorted(path.glob(f"*.{language}")) if file.name.split(".")[0] in SPLITS]
        elif path.suffix == f".{language}":
            files.append(path)
    if not files:
        raise InputError(f"there is no text of {language}; looked for files that end in .{language} as in parallel text")
    return files


def pairs_of_split(text: Path, split: str, languages: Sequence[str]) -> list[tuple[str, str]]:
    """The pairs of languages with text in a split; for training only those with files of their own."""
    pairs = []
    for pair in combinations(languages, 2):
        own = [text / f"{split}.{a}-{b}.{a}" for a, b in (pair, pair[::-1])]
        if all(path.is_file() for path in own):
            raise InputError(f"{text} has {own[0].name} and {own[1].name}; a pair serves both directions, so keep one")
        if any(path.is_file() for path in own):
            pairs.append(pair)
        elif split != "train" and all((text / f"{split}.{language}").is_file() for language in pair):
            pairs.append(pair)
    return pairs


def iterate_lines(path: Path, allow_empty_lines: bool = False) -> Iterator[str]:
    """The lines of a file, one at a time, without their `\\n`; only `\\n` ends a line.

    Raises InputError for a missing or empty file, and, with the line, for a byte that is not UTF-8, a
    byte order mark, a control character other than the tab (a carriage return is one), and, unless
    `allow_empty_lines`, for a line without anything but white space.
    """
    with _open(path) as file:
        yield from iterate_stream(file, path, allow_empty_lines)


def iterate_stream(file: BinaryIO, name: Path | str, allow_empty_lines: bool = False) -> Iterator[str]:
    """The lines of an open file, such as `sys.stdin.buffer`, under the rules of `iterate_lines`."""
    number = 0
    for number, line in enumerate(file, start=1):
        yield _decode(line.removesuffix(b"\n"), name, number, allow_empty_lines)
    if number == 0:
        raise InputError(f"{name} is empty; it needs at least one line")


def read_lines(path: Path, allow_empty_lines: bool = False) -> list[str]:
    """All lines of a file, under the rules of `iterate_lines`."""
    return list(iterate_lines(path, allow_empty_lines))


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Writes lines that `iterate_lines` can read back, beside `path`, which is replaced at the end.

    Raises InputError for a line that breaks the rules (empty lines may be written); then, and when the
    disk is full, `path` stays as it was.
    """
    with replacing(path) as file:
        for number, line in enumerate(lines, start=1):
            if fault := _fault(line):
                raise InputError(f"{path}, line {number}, cannot be written: it {fault}")
            file.write(line.encode("utf-8") + b"\n")


def check_pair(source: Path, target: Path) -> int:
    """The number of sentence pairs in two files, read once and never held in memory.

    Raises InputError when the files differ in their number of lines, or when `iterate_lines` does.
    """
    counts = [0, 0]
    for pair in zip_longest(iterate_lines(source), iterate_lines(target)):
        for side, line in enumerate(pair):
            counts[side] += line is not None
    if counts[0] != counts[1]:
        raise InputError(f"{source} has {counts[0]} lines and {target} has {counts[1]}; line n of one must be "
                         f"the translation of line n of the other")
    return counts[0]


def check_corpus(folder: Path, pairs: Sequence[tuple[str, str]],
                 splits: Sequence[str] = SPLITS) -> dict[str, dict[str, int]]:
    """The number of sentence pairs by split and by pair (`"de-en"`), every file checked.

    Raises InputError when a pair is missing or breaks a rule, or when the files of a multiway set
    differ in their number of lines.
    """
    if not pairs or not splits:
        raise InputError("there is nothing to check; name at least one language pair and one split")
    counts = {}
    for split in splits:
        counts[split] = {}
        multiway = {}
        for source, target in pairs:
            files = find_pair(folder, split, source, target)
            counts[split][f"{source}-{target}"] = number = check_pair(*files)
            if files[0] == folder / f"{split}.{source}":
                multiway.update(dict.fromkeys(files, number))
        if len(set(multiway.values())) > 1:
            listed = ", ".join(f"{file.name} {number}" for file, number in multiway.items())
            raise InputError(f"the files of the multiway set '{split}' in {folder} differ in their number of lines "
                             f"({listed}); line n must be one sentence in all languages")
    return counts


def _languages(folder: Path, split: str) -> list[str]:
    """The languages of which a folder has files of a split."""
    name = re.compile(rf"{re.escape(split)}\.(?:\w+-\w+\.)?(\w+)")
    return sorted({match[1] for file in folder.iterdir() if (match := name.fullmatch(file.name))})


def _open(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a folder; name a file of text") from None


def _decode(line: bytes, path: Path | str, number: int, allow_empty_lines: bool) -> str:
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}, line {number}, byte {error.start + 1}: 0x{line[error.start]:02x} is not UTF-8; "
                         f"convert the file, for example with iconv -f latin1 -t utf-8") from None
    if fault := _fault(text):
        raise InputError(f"{path}, line {number} {fault}")
    if not allow_empty_lines and not text.strip():
        raise InputError(f"{path}, line {number} is empty; write a sentence there, or remove the line on both sides")
    return text


def _fault(line: str) -> str | None:
    """What the contract forbids in a line, and the remedy; None for a line without fault."""
    found = _FORBIDDEN.search(line)
    if found is None:
        return None
    if found[0].endswith("\ufeff"):
        return "starts with a byte order mark; save the file without one"
    if found[0] == "\r" and found.end() == len(line):
        return "ends with a carriage return; convert the file with dos2unix"
    return f"has the control character U+{ord(found[0]):04X} at position {found.end()}; remove it"
