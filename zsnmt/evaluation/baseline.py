"""Which run is the baseline of another, and so translates through the pivot for it."""

from pathlib import Path

from zsnmt.inference.export.folder import is_export
from zsnmt.runs.folder import (
    COMMAND_FILE,
    DIRECTION_LISTS,
    MODEL_FILE,
    RECORD_FILE,
    read_record,
    training_words,
)
from zsnmt.runs.start import TAUGHT_BY
from zsnmt.runs.systems import BASELINE
from zsnmt.training.option_words import given_values


def baseline_of(run: Path) -> Path:
    """The run `zs_transformer` with the config and seed of a run, or of an export's run, as in Liu et al.
    (2021), section 3.2.

    Where that is not trained, it is the first teacher of the run, if that is a baseline with options of its
    own, such as language blocks.
    """
    run = run.resolve()
    if is_export(run) and (run.parent / RECORD_FILE).is_file():
        run = run.parent
    baseline = run.parent.parent / BASELINE.name / run.name
    if (baseline / MODEL_FILE).is_file():
        return baseline
    first = first_teacher(run)
    return first if is_baseline(first) else baseline


def first_teacher(run: Path) -> Path:
    """The teacher of a run, its teacher's teacher, and so on, as their records say, or as they stand beside
    it where they were moved with it: the first of them, which is the run itself where nothing taught it.
    """
    chain = [run]
    while (chain[-1] / RECORD_FILE).is_file() and (origin := read_record(chain[-1]).get(TAUGHT_BY)):
        teacher = Path(origin["run"])
        if not teacher.is_dir():
            teacher = run.parent.parent / origin["system"] / teacher.name
        if teacher in chain:  # one of them was trained again, by another
            break
        chain.append(teacher)
    return chain[-1]


def is_baseline(run: Path) -> bool:
    """Whether a run is trained, has the baseline's architecture, and has learned from text by people with the
    pivot alone.
    """
    if not all((run / name).is_file() for name in (MODEL_FILE, RECORD_FILE, COMMAND_FILE)):
        return False
    _, _, *words = training_words(run)
    record = read_record(run)
    return given_values(words).get("--arch") == BASELINE.architecture and not any(
        map(record.get, DIRECTION_LISTS)
    )
