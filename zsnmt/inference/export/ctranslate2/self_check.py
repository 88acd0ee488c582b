"""An export checks itself on each kind of processor that opens it.

What a library computes depends on the processor: an instruction set may lack a routine, or have a wrong one.
So an export keeps sentences of its check with PyTorch's log-probabilities, and how far it may be from them.
The first time that it is opened on another kind of processor it is measured there, which takes about a
second, and its record says so.
"""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from zsnmt.decoding.search import Search, Sentence
from zsnmt.errors import InputError
from zsnmt.files.records import damage_of, read_json, write_json
from zsnmt.inference.export.ctranslate2.engine import CTranslate2Engine
from zsnmt.inference.export.ctranslate2.processor import this_processor
from zsnmt.inference.export.ctranslate2.scored import Scored, agreement
from zsnmt.inference.export.folder import EXPORT_FILE, PLACES, REMEDY, describe_export

logger = logging.getLogger(__name__)

CHECK_FILE = "check.json"
DIGITS = 6  # of a log-probability, behind the point
FIGURES = {"largest": "up to {:.2g}", "rms": "{:.2g} (root mean square)"}


class Bound(NamedTuple):
    """A figure of an `Agreement` and the most that it may be."""

    figure: str
    at_most: float


def open_export(folder: Path, search: Search, workers: int = 1) -> CTranslate2Engine:
    """The engine of an export, which is checked first if it never was on this kind of processor.

    Raises `InputError` for one that translates wrongly here, and whatever `CTranslate2Engine` does.
    """
    engine = CTranslate2Engine(folder, search, workers)
    check_here(folder, engine)
    return engine


def write_check(folder: Path, expected: Sequence[Scored], bound: Bound) -> None:
    """Keep what an export is checked by."""
    translations = [
        {
            "source": each.sentence.source,
            "start": each.sentence.start,
            "tokens": each.tokens,
            "log_probabilities": [round(value, DIGITS) for value in each.log_probabilities],
        }
        for each in expected
    ]
    write_json(folder / CHECK_FILE, {"bound": bound._asdict(), "translations": translations})


def read_check(folder: Path) -> tuple[list[Scored], Bound]:
    """What an export is checked by."""
    content = read_json(folder / CHECK_FILE, REMEDY)
    with damage_of(folder / CHECK_FILE, REMEDY):
        expected = [
            Scored(Sentence(each["source"], each["start"]), each["tokens"], each["log_probabilities"])
            for each in content["translations"]
        ]
        return expected, Bound(**content["bound"])


def place(engine: CTranslate2Engine) -> dict:
    """What decides how an engine computes: the processor, the library, and the type that it computes in
    here.
    """
    return this_processor() | {"ctranslate2": engine.version, "compute_type": engine.translator.compute_type}


def check_here(folder: Path, engine: CTranslate2Engine) -> None:
    """Check an export where it never was checked; `InputError` if it translates wrongly here."""
    record, here = engine.record, place(engine)
    if PLACES not in record:
        logger.warning(
            "%s cannot be checked on this processor: it is of an older version of the toolkit; %s",
            folder,
            REMEDY,
        )
        return
    if here in record[PLACES]:
        return
    expected, bound = read_check(folder)
    found = getattr(agreement(engine, expected), bound.figure)
    figure = FIGURES[bound.figure]
    if not found <= bound.at_most:  # refuses NaN, too
        raise InputError(
            f"{folder} translates wrongly on this processor ({here['name']}, computing in "
            f"{here['compute_type']}): log-probabilities of its check differ by {figure.format(found)}, and "
            f"at most {bound.at_most:.2g} is right; export the run again on this machine, or use --engine "
            "pytorch with the run"
        )
    logger.info(
        "%s is checked on this processor (%s): log-probabilities differ by %s",
        folder,
        here["name"],
        figure.format(found),
    )
    try:
        add_place(folder, record, here)
    except OSError as error:
        logger.warning(
            "%s cannot be written (%s), so the check is made each time", folder / EXPORT_FILE, error.strerror
        )


def add_place(folder: Path, record: dict, here: dict) -> None:
    """Note where an export was checked, unless another process has put a new one in its place meanwhile."""
    try:
        present = describe_export(folder)
    except InputError:  # it is about to be there
        return
    if {**present, PLACES: []} == {**record, PLACES: []}:
        write_json(folder / EXPORT_FILE, present | {PLACES: [*present[PLACES], here]})
