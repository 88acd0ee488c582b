"""How often each training file is read until the data are binarised, as docs/data.md says."""

import os
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.conftest import ROOT
from zsnmt.processes import in_another_process
from zsnmt.training.data import prepare_data
from zsnmt.training.experiment import read_experiment
from zsnmt.training.own_text import OwnText, ensure_config
from zsnmt.training.steps import Steps

PATTERN = "talks.{pair}.{language}"
SURVEY, REWRITING, HELD_OUT, TEXT, CLEANING, DATA = ROWS = (
    "`zsnmt train FOLDER`, once",
    "`source`, only for other forms than zsnmt's own",
    "`source` with `HELD_OUT`",
    "`text`",
    "`text` with `CLEANING`",
    "`data`",
)
READERS = {"sample_lines": "sample", "iterate_lines": "lines"}  # what else opens a file reads its bytes


class Reading(NamedTuple):
    """That a row of the table reads a file: its lines, bytes or a sample; `pivot` for the pivot's side."""

    row: str
    kind: str
    pivot: bool


def of_row(functions: Mapping[str, str]) -> str:
    """The row of the table to which functions belong that are at work."""
    if "ensure_config" in functions:
        return SURVEY
    if "make_cleaners" in functions:
        return CLEANING
    return (
        HELD_OUT
        if "hold_out" in functions
        else {"source": REWRITING, "text": TEXT, "data": DATA}[functions["make"]]
    )


def functions_at_work() -> dict[str, str]:
    """The functions that are at work, each with the value of its variable `name`: that of a step in one that
    makes it.
    """
    frame, functions = sys._getframe(1), {}
    while frame:
        functions[frame.f_code.co_name] = str(frame.f_locals.get("name", ""))
        frame = frame.f_back
    return functions


def prepare_and_watch(folder: Path, keys: Mapping[str, str]) -> None:
    """Choose a config for the text in a folder, change some keys of it, and make the data; which training
    files were read stands in `readings` then. Processes that this one starts are copies and watched, too.
    """
    log = os.open(folder / "readings", os.O_CREAT | os.O_APPEND | os.O_WRONLY)

    def watch(event: str, arguments: tuple) -> None:
        if event != "open" or not isinstance(arguments[0], (str, Path)) or arguments[2] & os.O_ACCMODE:
            return
        path = Path(arguments[0])
        if path.name.split(".")[0] in ("talks", "train") and path.parent.name != "segmented":
            functions = functions_at_work()
            kind = next((READERS[name] for name in READERS if name in functions), "bytes")
            os.write(log, f"{path.name}\t{of_row(functions)}\t{kind}\n".encode())

    runs, file = folder / "runs", folder / "runs" / "mine.conf"
    text = OwnText(folder / "mine", PATTERN, ("en", "de", "fr"))
    sys.addaudithook(watch)
    ensure_config(text, file, {}, runs=runs, say=lambda sentence: None)
    kept = re.sub(rf"(?m)^({'|'.join((*keys, 'CLEANING', 'VOCABULARY'))})=.*\n", "", file.read_text())
    file.write_text(kept + "".join(f"{key}={value}\n" for key, value in keys.items()))
    prepare_data(Steps("train"), read_experiment(file, runs, {}))


def readings_of(folder: Path) -> dict[str, Counter[Reading]]:
    """By the pair and the language of its name, how each training file was read."""
    readings: dict[str, Counter[Reading]] = {}
    for line in (folder / "readings").read_text().splitlines():
        name, row, kind = line.split("\t")
        _, file = name.split(".", 1)
        readings.setdefault(file, Counter())[Reading(row, kind, file.endswith(".en"))] += 1
    return readings


def table_of_readings() -> Iterator[tuple[str, str]]:
    """The rows of the table in docs/data.md: a step, and how often it reads."""
    page = (ROOT / "docs" / "data.md").read_text(encoding="utf-8")
    _, section = page.split("\n## How often the training text is read\n")
    step = ""
    for line in section.split("\n|---|---|---|\n")[1].split("\n\n")[0].splitlines():
        first, cell, _ = (each.strip() for each in line.strip("|").split(" | "))
        step = first or step
        yield step, cell


def readings_of_cell(row: str, cell: str, key: str) -> Iterator[Reading]:
    """What a cell of the table says: numbers are of readings of lines; in brackets, with which key more."""
    plain = re.sub(r" \(.*\)", "", cell)
    if more := re.search(rf"(\d+) with (?:`\w+` or )?`{key}`", cell):
        plain = more[1]
    for part in plain.split(", "):
        kind = "bytes" if "bytes" in part else "sample" if "sample" in part else "lines"
        for pivot in (True,) if "pivot" in part else (True, False):
            yield from [Reading(row, kind, pivot)] * (int(part.split()[0]) if kind == "lines" else 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "keys, further",
    [
        ({"VOCABULARY": "120"}, ""),
        ({"VOCABULARY": "120", "THRESHOLD": "2", "CLEANING": "copy"}, "THRESHOLD"),
        ({"MERGES": "40"}, "MERGES"),
    ],
)
def test_training_files_are_read_as_often_as_the_page_says(tmp_path, keys, further):
    generator = random.Random(1)
    (tmp_path / "mine").mkdir()
    for pair in ("en-de", "en-fr"):
        for language in pair.split("-"):
            words = ["".join(generator.choices("aeioukrst", k=6)) for _ in range(60)]
            lines = (f"{' '.join(generator.choices(words, k=6))} {number}\n" for number in range(200))
            (tmp_path / "mine" / f"talks.{pair}.{language}").write_text("".join(lines))
    in_another_process(partial(prepare_and_watch, tmp_path, keys | {"HELD_OUT": "10", "TOKENISATION": "raw"}))
    table = [*table_of_readings()]
    assert {row for row, _ in table} == {*ROWS}
    said = Counter(
        reading
        for row, cell in table
        if row != CLEANING or "CLEANING" in keys
        for reading in readings_of_cell(row, cell, further)
    )
    readings = readings_of(tmp_path)
    assert {*readings} == {"en-de.en", "en-de.de", "en-fr.en", "en-fr.fr"}
    for file, of_file in readings.items():
        pivot = file.endswith(".en")
        assert of_file == {reading: number for reading, number in said.items() if reading.pivot == pivot}, (
            file
        )
