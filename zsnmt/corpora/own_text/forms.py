"""The forms that a person's parallel text may have, and which one a path has."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import filterfalse
from pathlib import Path

from zsnmt.corpora.left_out import LISTS
from zsnmt.corpora.own_text.json_lines import table_of_json_lines
from zsnmt.corpora.own_text.line_files import (
    OWN_FORM,
    beside,
    files_of_other_codes,
    is_of_pair,
    read_pattern,
    tables_of_own_form,
    tables_of_pattern,
)
from zsnmt.corpora.own_text.saved_dataset import state_files, tables_of_datasets
from zsnmt.corpora.own_text.sheet import table_of_sheets
from zsnmt.corpora.own_text.tab_separated import table_of_tab_separated
from zsnmt.corpora.own_text.table import SPLITS_BY_NAME, Table, first_ones
from zsnmt.corpora.own_text.translation_memory import table_of_translation_memory
from zsnmt.corpora.parallel_text import SPLITS
from zsnmt.errors import InputError, OnFault, refuse

WHOLE_TABLES = {  # endings of the files that hold a whole table, and what reads one
    ".tsv": table_of_tab_separated,
    ".jsonl": table_of_json_lines,
    ".tmx": table_of_translation_memory,
    **dict.fromkeys((".csv", ".xlsx", ".xls", ".ods"), table_of_sheets),
}
ENDINGS = ", ".join(WHOLE_TABLES)
HELD_OUT = re.compile(r"(?<![a-z])(?:test|dev|valid|eval)|test\d", re.IGNORECASE)  # in names of held-out sets
COMPRESSED = ".gz", ".bz2", ".xz", ".zst", ".zip"  # endings of files that must be unpacked first
HIDDEN = ".", "~$"  # begin the names of hidden files, and of those beside a workbook that is open


def read_tables(path: Path, pattern: str = "", *, on_fault: OnFault = refuse) -> list[Table]:
    """The tables of a file or folder: files of lines that a pattern describes, or, without one, zsnmt's own
    form, a saved dataset of Hugging Face, text separated by tabs, lines of JSON, spreadsheets, or translation
    memories in TMX.

    Raises `InputError` for what has none of these forms, and where there is no training text. `on_fault` is
    given what is wrong with the rows of those that are looked through.
    """
    if not path.exists():
        raise InputError(f"{path}: there is no such file or folder; give the one that holds the text")
    if pattern and not path.is_dir():
        raise InputError(
            f"{path} is not a folder; a pattern describes the names of files in one, so give that, or leave "
            "--pattern out"
        )
    if pattern:
        tables = tables_of_pattern(path, pattern, of_windows=True)
    elif path.is_file():
        tables = [replace(read(path, on_fault), split="train")] if (read := reader_of(path)) else []
    elif states := state_files(path):
        tables = tables_of_datasets(states, on_fault)
    elif has_pairs(path) or not (files := files_of_tables(path)):
        tables = tables_of_own_form(path)
    else:
        held_out = [table for table in tables_of_pattern(path, OWN_FORM[0]) if table.split != "train"]
        tables = beside([read(file, on_fault) for file in files if (read := reader_of(file))], held_out)
    if not any(table.split == "train" for table in tables):
        raise InputError(f"{path} has no training text in a form that zsnmt reads: {forms(path, pattern)}")
    return tables


def unread_files(path: Path, tables: Sequence[Table], pattern: str = "") -> list[Path]:
    """The files in a folder that seem to be parallel text, by how their names begin or end, or by the pattern
    that was given, and are not read.
    """
    described = {*files_of_other_codes(path, pattern)} if pattern else set()
    read = {file.resolve() for table in tables for file in table.files}
    begin = (*SPLITS_BY_NAME, "training")
    return [
        file
        for file in sorted({*described, *(path.iterdir() if path.is_dir() else [])})
        if file.is_file()
        and (file in described or file.name.lower().startswith(begin) or reader_of(unpacked(file)))
        and file.name not in LISTS
        and not file.name.startswith(HIDDEN)
        and file.resolve() not in read
    ]


def notices(path: Path, tables: Sequence[Table], pattern: str = "") -> Iterator[str]:
    """What to say of files in a folder that seem to be parallel text and are not read, and of those that seem
    to be held-out sets and are read as training text.
    """
    unread = unread_files(path, tables, pattern)
    if compressed := list(filter(is_compressed, unread)):
        yield f"not read, since they are compressed: {first_names(compressed)}; unpack them, as by gunzip"
    if named_otherwise := list(filterfalse(is_compressed, unread)):
        yield (
            "not read, since their names have none of the forms of docs/own_text.md, or stand beside another"
            f": {first_names(named_otherwise)}; rename them, as train.pt_BR-en.pt_BR beside "
            "train.pt_BR-en.en (a code has letters, digits and _), describe their names by --pattern, or put "
            "them into a folder of their own"
        )
    trained = {
        file.name for table in tables if table.split == "train" for file in table.files if file != path
    }
    if doubtful := sorted(filter(HELD_OUT.search, trained)):
        yield (
            f"read as training text: {first_ones(doubtful)}; of test or validation sets let the names begin "
            "with the word test or valid, as in test.tsv and test.de-en.de, or give a --pattern with "
            "{split}, so that no model learns them"
        )


def is_own_form(path: Path) -> bool:
    """Whether a path is read as it is: a folder with files of pairs, or with nothing of another form."""
    others = state_files(path) or files_of_tables(path) or any(path.glob("train.*"))
    own = has_pairs(path) and not state_files(path) and not has_other_names(path)
    return path.is_dir() and (own or not others)


def has_other_names(folder: Path) -> bool:
    """Whether a folder of pairs also has text that `read_tables` reads, but experiments do not: sets named
    `dev` or `validation`, a pair in both orders, or training text in several languages, one of them of the
    pairs.
    """
    pairs, multiway = (
        [match for file in folder.iterdir() if (match := pattern.fullmatch(file.name))]
        for pattern in map(read_pattern, OWN_FORM)
    )
    together = {match["language"] for match in multiway if match["split"] == "train"}
    splits = Counter(match["split"] for match in (*pairs, *multiway))
    named = {(match["split"], match["pair"]) for match in pairs}
    if any((split, "-".join(reversed(pair.split("-")))) in named for split, pair in named):
        return True
    if len(together) > 1 and together & {match["language"] for match in pairs}:
        return True
    return any(splits[split] > 1 for split in SPLITS_BY_NAME.keys() - {*SPLITS})


def has_pairs(folder: Path) -> bool:
    """Whether a folder has training text of pairs in zsnmt's own form."""
    form = read_pattern(OWN_FORM[0])
    matches = (form.fullmatch(file.name) for file in folder.glob("train.*"))
    return any(match is not None and is_of_pair(match) for match in matches)


def files_of_tables(folder: Path) -> list[Path]:
    """The files in a folder that hold a whole table each, but hidden ones, such as macOS and spreadsheets
    that are open leave behind.
    """
    return sorted(
        file
        for file in folder.glob("*")
        if reader_of(file) and file.is_file() and file.name not in LISTS and not file.name.startswith(HIDDEN)
    )


def reader_of(file: Path) -> Callable[[Path, OnFault], Table] | None:
    """What reads a file that holds a whole table; None for any other."""
    return WHOLE_TABLES.get(file.suffix.lower())


def is_compressed(file: Path) -> bool:
    """Whether a file must be unpacked before it can be read, by its name."""
    return file.suffix.lower() in COMPRESSED


def unpacked(file: Path) -> Path:
    """What a compressed file is called when it is unpacked; any other as it is."""
    return file.with_suffix("") if is_compressed(file) else file


def first_names(files: Sequence[Path]) -> str:
    """The names of some files, of many the first ones."""
    return first_ones([file.name for file in files])


def forms(path: Path, pattern: str) -> str:
    """What is looked for, and what is there instead."""
    if path.is_file() and is_compressed(path):
        return "the file is compressed; unpack it, as by gunzip"
    if path.is_file():
        return (
            f"a file must end in {ENDINGS}: a table with the code of a language at the head "
            "of each column, or a translation memory"
        )
    there = sorted(file.relative_to(path) for file in path.rglob("*") if file.is_file())
    shown = first_ones([file.as_posix() for file in there])
    packed = "; unpack those that are compressed, as by gunzip" if any(map(is_compressed, there)) else ""
    looked_for = (
        f"files named {pattern}"
        if pattern
        else "train.de-en.de beside train.de-en.en (name yours by --pattern, as in "
        f"'corpus.{{pair}}.{{language}}'), {', '.join(f'*{each}' for each in WHOLE_TABLES)}, or a dataset "
        "saved by Hugging Face's library"
    )
    hyphens = (
        "; a code has no hyphen, so rename them, as to pt_BR for pt-BR"
        if files_of_other_codes(path, pattern or OWN_FORM[0])
        else ""
    )
    return f"looked for {looked_for}; files there: {shown or 'none'}{packed}{hyphens}"
