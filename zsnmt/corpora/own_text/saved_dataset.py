"""Parallel text in a dataset of Hugging Face's library `datasets`, as its `save_to_disk` leaves it.

Its Arrow files are read by pyarrow, batch by batch, without `datasets`. A row has a column `translation`,
`{"en": ..., "de": ...}`, or a column of text for each language, named by its code.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from zsnmt.corpora.own_text.columns import OTHER_HEADS, Placed, say_numbers, say_others
from zsnmt.corpora.own_text.table import Row, Table, fault_of, look_for_gaps, on_one_line, split_of
from zsnmt.errors import InputError, OnFault, refuse
from zsnmt.files.records import damage_of, read_json

STATE_FILE, INFO_FILE = "state.json", "dataset_info.json"
COLUMN = "translation"
TEXT_TYPES = ("string", "large_string")
CODE = re.compile(r"[a-z]{2,3}(_[A-Za-z]+)?")
REMEDY = "save the dataset again with save_to_disk"


def state_files(folder: Path) -> list[Path]:
    """What each dataset in a folder is recognised by: one, those of its splits, or those in folders below."""
    states = (path for depth in ("", "*/", "*/*/") for path in folder.glob(depth + STATE_FILE))
    return sorted(path for path in states if path.with_name(INFO_FILE).is_file())


def tables_of_datasets(states: Sequence[Path], on_fault: OnFault) -> list[Table]:
    """A table for each dataset; the name of its folder says its split, as that of a file with a table does.

    Raises `InputError` without pyarrow, and for a dataset that is damaged or has no columns of languages.
    """
    return [table_of(state, on_fault) for state in states]


def table_of(state: Path, on_fault: OnFault) -> Table:
    listed = read_json(state, REMEDY, {"_data_files": [{"filename": str}]})["_data_files"]
    files = tuple(state.parent / each["filename"] for each in listed)
    if not files:
        raise InputError(f"{state.parent} is an empty dataset; give one with rows")
    languages = languages_of(files)
    table = Table(
        split=split_of(state.parent),
        languages=languages,
        files=(state, *files),
        rows=partial(rows_of, files, languages),
    )
    return look_for_gaps(table, on_fault)


def languages_of(files: Sequence[Path]) -> tuple[str, ...]:
    """The languages of a dataset: the keys of its column `translation`, or the columns of text that are
    named by the code of a language, and hold more than numbers. Says which columns of text are passed over.
    """
    folder, schema = files[0].parent, open_stream(files[0]).schema
    nested = has_translations(schema)
    columns = schema.field(COLUMN).type if nested else schema
    texts = [column.name for column in columns if str(column.type) in TEXT_TYPES]
    named = {
        number: name for number, name in enumerate(texts) if CODE.fullmatch(name) and name not in OTHER_HEADS
    }
    numbers = say_numbers(partial(unchecked_rows, files), [*named.values()], folder)
    languages = tuple(name for name in named.values() if name not in numbers)
    if len(languages) < 2:
        listed = f"'{COLUMN}' with {', '.join(texts)}" if nested else ", ".join(schema.names)
        raise InputError(
            f"{folder} has the columns {listed}; it needs '{COLUMN}', or one of text for each language, and "
            "in either the codes of two languages as names, such as en and pt_BR"
        )
    say_others(texts, named, folder)
    return languages


def has_translations(schema: Any) -> bool:
    """Whether the sentences of a row stand in one column, by language; another of that name is a text."""
    return COLUMN in schema.names and isinstance(schema.field(COLUMN).type, Iterable)


def unchecked_rows(files: Sequence[Path], on_fault: OnFault) -> Iterator[Placed]:
    """The rows of all files of a dataset as they are."""
    for row in chain.from_iterable(map(read_rows, files)):
        yield "", row or {}


def rows_of(files: Sequence[Path], languages: tuple[str, ...], on_fault: OnFault = refuse) -> Iterator[Row]:
    """The rows of all files of a dataset; what is None is empty, and a line break a space."""
    for number, of_row in enumerate(chain.from_iterable(map(read_rows, files)), start=1):
        sentences = ((of_row or {}).get(language) or "" for language in languages)
        row = tuple(map(on_one_line, sentences))
        if fault := fault_of(row, f"{files[0].parent}, row {number}"):
            on_fault(fault)
        else:
            yield row


def read_rows(file: Path) -> Iterator[dict | None]:
    """The rows of a file, by language, a batch in memory at a time; None for one without sentences."""
    stream = open_stream(file)
    with damage_of(file, REMEDY):
        for batch in stream:
            rows = batch.to_pylist()
            yield from (row[COLUMN] for row in rows) if has_translations(stream.schema) else rows


def open_stream(file: Path) -> Any:
    """The Arrow batches of a file, which is mapped and not read; `InputError` without pyarrow."""
    try:
        import pyarrow
        import pyarrow.ipc
    except ImportError:
        raise InputError(
            f"{file.parent} is a dataset of Hugging Face, which pyarrow reads; it is not installed: run "
            "pip install pyarrow"
        ) from None
    with damage_of(file, REMEDY):
        return pyarrow.ipc.open_stream(pyarrow.memory_map(str(file)))
