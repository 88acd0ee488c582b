"""Parallel text: the one form in which every corpus reaches the rest of the toolkit.

A folder holds `{train,valid,test}.{src}-{tgt}.{lang}` and multiway sets `{valid,test}.{lang}`: UTF-8,
one untokenised sentence a line, line ends `\\n`, as many lines in one language as in the other. What
breaks a rule stops with an InputError that names the file and the line. Nothing is repaired.
"""

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, combinations, zip_longest
from pathlib import Path

from zsnmt.errors import InputError, OnFault, counted, pass_over, refuse
from zsnmt.languages import Direction, check_languages, parse_direction
from zsnmt.text.lines import iterate_lines, write_lines

SPLITS = TRAIN, VALID, TEST = ("train", "valid", "test")
FEWEST_TO_TRAIN = 100  # sentence pairs that a language needs to be learned, and some to be held out
FEWEST_TO_TEST = 150  # sentence pairs without the pivot: with fewer a score says little


def check_folder(folder: Path) -> None:
    """`InputError` for what is not a folder, in which parallel text could be."""
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder; give the one that holds the parallel text")


def find_pair(folder: Path, split: str, source: str, target: str) -> tuple[Path, Path]:
    """The source and the target file of a direction.

    These are `split.source-target.*`, else `split.target-source.*`, else the multiway `split.source`
    and `split.target`. Raises InputError when none of them is there, or only one side of a pair.
    """
    parse_direction(f"{source}-{target}")
    check_folder(folder)
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
        f"{split}.{source}-{target}.{{{source},{target}}}, {split}.{target}-{source}.{{{source},{target}}} "
        f"and {split}.{{{source},{target}}}; languages there: "
        f"{', '.join(languages_of_split(folder, split)) or 'none'}"
    )


def files_of_language(language: str, paths: Iterable[Path]) -> list[Path]:
    """Files named {split}.{lang} or {split}.{src}-{tgt}.{lang} in folders, and of files those that end in
    .{lang}.

    Raises `InputError` if there are none, and for a path where nothing is.
    """
    files = []
    for path in paths:
        if not path.exists():
            raise InputError(f"{path}: there is no such file or folder; give one that holds text")
        if path.is_dir():
            files += [
                file for file in sorted(path.glob(f"*.{language}")) if file.name.split(".")[0] in SPLITS
            ]
        elif path.suffix == f".{language}":
            files.append(path)
    if not files:
        raise InputError(
            f"there is no text of {language}; looked for files that end in .{language} as in parallel text"
        )
    return files


def pairs_of_split(text: Path, split: str, languages: Sequence[str]) -> list[tuple[str, str]]:
    """The pairs of languages with text in a split, also of one side alone; for training only those with files
    of their own.
    """
    pairs = []
    for pair in combinations(languages, 2):
        sides = ([text / f"{split}.{a}-{b}.{side}" for side in (a, b)] for a, b in (pair, pair[::-1]))
        own = [next(filter(Path.is_file, files)) for files in sides if any(map(Path.is_file, files))]
        if len(own) == 2:
            raise InputError(
                f"{text} has {own[0].name} and {own[1].name}; a pair serves both directions, so keep one"
            )
        if own or split != "train" and all((text / f"{split}.{language}").is_file() for language in pair):
            pairs.append(pair)
    return pairs


def directions_without_text(text: Path, languages: Sequence[str]) -> list[Direction]:
    """From each language with training text with the pivot, the first, to each other one that has none with
    it: those that a teacher's translations of the pivot's sentences can teach.
    """
    pairs = {*pairs_of_split(text, TRAIN, languages)}
    others = [language for language in languages[1:] if (languages[0], language) in pairs]
    return [
        Direction(source, target)
        for source in others
        for target in others
        if source != target and not {(source, target), (target, source)} & pairs
    ]


def check_trained(text: Path, languages: Sequence[str]) -> None:
    """`InputError` for languages that are in no pair with training text, and for one that is named twice or
    alone.
    """
    check_languages(languages)
    trained = {*chain.from_iterable(pairs_of_split(text, "train", languages))}
    refuse_untrained(text, [language for language in languages if language not in trained])


def refuse_untrained(text: Path, missing: Sequence[str]) -> None:
    """`InputError` where languages are missing in training text."""
    if missing:
        raise InputError(
            f"{text} has no training text for {', '.join(missing)}: files are named train.xx-yy.xx and "
            f"train.xx-yy.yy; languages there: {', '.join(languages_of_split(text, TRAIN)) or 'none'}"
        )


def number_of_lines(file: Path, on_fault: OnFault = refuse) -> int:
    """The lines of a file, which is never held in memory; raises InputError when `iterate_lines` does."""
    return sum(1 for _ in iterate_lines(file, on_fault=on_fault))


def iterate_rows(
    files: Sequence[Path], on_fault: OnFault = refuse, *, of_windows: bool = False
) -> Iterator[tuple[str, ...]]:
    """Line by line, what stands in all files; `InputError` where they differ in their number of lines.

    `on_fault` is given what `iterate_lines` would raise, which also says what `of_windows` is.
    """
    read = partial(iterate_lines, of_windows=of_windows, on_fault=on_fault)
    for row in zip_longest(*map(read, files)):
        if None in row:
            ended = row.index(None)
            longer = next(place for place, line in enumerate(row) if line is not None)
            check_pair(files[ended], files[longer], partial(number_of_lines, on_fault=pass_over))
        yield row


def check_pair(source: Path, target: Path, number_of: Callable[[Path], int] = number_of_lines) -> int:
    """The number of sentence pairs in two files; `number_of` may know the lines of what many pairs share.

    Raises InputError when the files differ in their number of lines, or when `number_of` does.
    """
    here, there = number_of(source), number_of(target)
    if here != there:
        raise InputError(
            f"{source} has {counted(here, 'line')} and {target} has {there}; line n of one must be "
            f"the translation of line n of the other"
        )
    return here


def check_corpus(
    folder: Path,
    pairs: Sequence[tuple[str, str]],
    splits: Sequence[str] = SPLITS,
    *,
    on_fault: OnFault = refuse,
) -> dict[str, dict[str, int]]:
    """The number of sentence pairs by split and by pair (`"de-en"`), every file checked.

    Raises InputError, or gives it to `on_fault`, when a pair is missing or breaks a rule, or when the files
    of a multiway set differ in their number of lines.
    """
    if not pairs or not splits:
        raise InputError("there is nothing to check; name at least one language pair and one split")
    counts: dict[str, dict[str, int]] = {}
    number_of = functools.cache(partial(number_of_lines, on_fault=on_fault))
    for split in splits:
        counts[split] = {}
        multiway = {}
        for source, target in pairs:
            try:
                files = find_pair(folder, split, source, target=target)
                number = check_pair(*files, number_of)
            except InputError as fault:
                on_fault(fault)
                continue
            counts[split][f"{source}-{target}"] = number
            if files[0] == folder / f"{split}.{source}":
                multiway.update(dict.fromkeys(files, number))
        if len(set(multiway.values())) > 1:
            listed = ", ".join(f"{file.name} {number}" for file, number in multiway.items())
            on_fault(
                InputError(
                    f"the files of the multiway set '{split}' in {folder} differ in their number of lines "
                    f"({listed}); line n must be one sentence in all languages"
                )
            )
    return counts


def write_rows(folder: Path, name: str, languages: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Write `name.{lang}` for each language from rows that have one sentence of each; nothing for no rows."""
    if columns := [*zip(*rows, strict=True)]:
        for language, sentences in zip(languages, columns, strict=True):
            write_lines(folder / f"{name}.{language}", sentences)


def languages_of_split(folder: Path, split: str) -> list[str]:
    """The languages of which a folder has files of a split; `InputError` for what is not a folder."""
    check_folder(folder)
    name = re.compile(rf"{re.escape(split)}\.(?:\w+-\w+\.)?(\w+)")
    return sorted({match[1] for file in folder.iterdir() if (match := name.fullmatch(file.name))})
