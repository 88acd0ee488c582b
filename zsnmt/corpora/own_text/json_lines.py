"""Parallel text in JSON Lines: an object in each line, with a text for each language by its code.

    {"id": 7, "en": "Good morning.", "de": "Guten Morgen."}
    {"id": 7, "translation": {"en": "Good morning.", "de": "Guten Morgen."}}

The first object names the languages. What is no text is a sentence that is not there, and a break of a line
is a space.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

from zsnmt.corpora.own_text.columns import CODE, Placed, languages_of_columns, say_others, table_of_rows
from zsnmt.corpora.own_text.table import Table, on_one_line
from zsnmt.errors import InputError, OnFault, refuse
from zsnmt.text.lines import is_blank, iterate_lines

NESTED = "translation"  # the key of an object with the sentences, as datasets of Hugging Face have it


def table_of_json_lines(file: Path, on_fault: OnFault) -> Table:
    """Raises `InputError` for a first line that does not name languages, and for text without a row."""
    place, first = next(objects(file, refuse), (f"{file}, line 1", {}))
    heads = [*first]
    languages = languages_of_columns(heads, place)
    say_others(heads, languages, file)
    named = {heads[number]: language for number, language in languages.items()}
    return table_of_rows(file, [*languages.values()], partial(rows_of, file, named), on_fault=on_fault)


def rows_of(file: Path, named: Mapping[str, str], on_fault: OnFault) -> Iterator[Placed]:
    """The rows, from the languages of keys; one with a language that the first has not is a fault."""
    known = None
    for place, found in objects(file, on_fault):
        known = found.keys() if known is None else known
        if further := [key for key in found if key not in known and CODE.fullmatch(key)]:
            on_fault(
                InputError(
                    f"{place} has '{further[0]}', which the first line has not; let that name all languages, "
                    "with null for a sentence that is not there"
                )
            )
            continue
        yield (
            place,
            {
                language: on_one_line(text)
                for key, language in named.items()
                if isinstance(text := found.get(key), str)
            },
        )


def objects(file: Path, on_fault: OnFault) -> Iterator[tuple[str, dict]]:
    """What each line has by key, with its place."""
    lines = iterate_lines(file, allow_empty_lines=True, of_windows=True, on_fault=on_fault)
    for number, line in enumerate(lines, start=1):
        if is_blank(line):
            continue
        place, found = f"{file}, line {number}", None
        with suppress(ValueError, RecursionError):
            found = json.loads(line)
        if not isinstance(found, dict):
            on_fault(InputError(f'{place} is not an object of JSON; write {{"en": "Yes.", "de": "Ja."}}'))
            continue
        nested = found.get(NESTED)
        yield place, nested if isinstance(nested, dict) else found
