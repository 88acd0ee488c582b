"""The synthetic text of a student that is adapted: where it is, whether it is whole, and what it is of.

A training on authentic text alone would forget what the student learned from its teacher's translations.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from zsnmt.adaptation.modes import FROZEN
from zsnmt.adaptation.settings import SYNTHETIC_FROM, Adaptation
from zsnmt.corpora.parallel_text import TRAIN, VALID, check_corpus
from zsnmt.distillation.data import directions_by_use
from zsnmt.distillation.further_text import WRITERS
from zsnmt.distillation.settings import Distillation
from zsnmt.distillation.synthetic_text import RECORD_FILE
from zsnmt.errors import InputError
from zsnmt.files.records import read_json
from zsnmt.languages import Direction, parse_direction
from zsnmt.runs.folder import MODEL_FILE, direction_lists, read_record
from zsnmt.runs.start import TAUGHT_BY, has_checkpoint
from zsnmt.training.steps import Steps

SPLITS = TRAIN, VALID
TEXT = "text"  # folder of the pairs with an authentic side; others have the name of their use
# What synthetic.json says in a run of the text's use, and beside the text of its pairs.
USED, COUNTS = {"folder": str, "sides": str, "share": float}, {"directions": {str: {TRAIN: int, VALID: int}}}
REMEDY = "bring the synthetic text back as it was, or leave it out with --without-synthetic"


@dataclass(frozen=True)
class StudentText:
    """The synthetic text in a folder, and how a student is trained on it."""

    folder: Path
    distillation: Distillation

    @property
    def further(self) -> list[str]:
        """What is used besides pairs with an authentic side; each is a folder of text, too."""
        return [use for use in self.distillation.uses if use in WRITERS]

    @property
    def counts(self) -> Mapping[Direction, Mapping[str, int]]:
        """How many pairs each direction has for training and for validation, the authentic side first."""
        record = read_json(self.folder / TEXT / RECORD_FILE, REMEDY, COUNTS)
        return {parse_direction(direction): numbers for direction, numbers in record["directions"].items()}

    @property
    def directions(self) -> dict[str, list[Direction]]:
        """The directions of training by the use of their synthetic side, but for further text."""
        kept = [direction for direction, numbers in self.counts.items() if numbers[TRAIN]]
        return directions_by_use(self.distillation.uses, kept)

    def data(self, part: str) -> Path:
        """The folder of text, binarised."""
        return self.folder / ("data" if part == TEXT else f"{part}_data")

    def check(self) -> None:
        """`InputError` for text that is damaged."""
        for direction, numbers in self.counts.items():
            folder = self.folder / TEXT / direction.source
            for split in filter(numbers.get, SPLITS):
                if (found := count_pairs(folder, split, direction)) != numbers[split]:
                    raise InputError(
                        f"{folder} has {found} pairs in {split}.{direction}.*, and had {numbers[split]}; "
                        f"{REMEDY}"
                    )
        for use in self.further:
            for folder, split, pair in pairs_in(self.folder / use):
                count_pairs(folder, split, pair)


def read_student_text(run: Path) -> StudentText | None:
    """The synthetic text of a run, by its synthetic.json; None where it has none, or was begun anew without.

    Raises `InputError` where that is damaged.
    """
    if not (run / RECORD_FILE).is_file() or not {TAUGHT_BY, SYNTHETIC_FROM} & {*read_record(run)}:
        return None
    used = read_json(run / RECORD_FILE, REMEDY, USED)
    distillation = Distillation(run, sides=used["sides"], share=used["share"])
    folder = Path(used["folder"])
    moved = run.resolve().parent.parent / folder.parent.name / folder.name  # with the run
    return StudentText(moved if moved.is_dir() and not folder.is_dir() else folder, distillation)


def count_pairs(folder: Path, split: str, pair: Direction) -> int:
    """How many sentence pairs there are; `InputError` for text that breaks the contract."""
    try:
        return check_corpus(folder, [pair], [split])[split][str(pair)]
    except InputError as error:
        raise InputError(f"{error}; {REMEDY}") from error


def pairs_in(text: Path) -> Iterator[tuple[Path, str, Direction]]:
    """The folder, split and languages of all pairs in a text; `InputError` where that is not there."""
    if not text.is_dir():
        raise InputError(f"{text} is not there; {REMEDY}")
    for split in SPLITS:
        for name in sorted({path.with_suffix("") for path in text.glob(f"*/{split}.*-*.*")}):
            yield name.parent, split, parse_direction(name.suffix.removeprefix("."))


def choose_text(steps: Steps, adaptation: Adaptation, run: Path) -> StudentText | None:
    """The synthetic text that an adapted `run` is trained on, too, where all weights are trained: that of its
    base. Tells of directions that may be forgotten. A run that has begun goes on as it began.

    Raises `InputError` for text that is damaged, and where a run that has begun with it lacks it now.
    """
    base, finished = adaptation.base, (run / MODEL_FILE).is_file()
    if adaptation.mode == FROZEN:
        return None
    begun = read_record(run) if has_checkpoint(run) else None
    wanted = not adaptation.without_synthetic and (begun is None or SYNTHETIC_FROM in begun)
    text = read_student_text(base) if wanted else None
    why = "no text of them is part of this training"
    if text and not text.folder.is_dir():
        why = f"{text.folder}, which has the synthetic text of them, is not there any more"
        if begun:
            raise InputError(f"{run} cannot go on: {why}; bring it back, or remove the run")
        text = None
    if finished:
        return text
    if text:
        text.check()
    learned = {*chain.from_iterable(text.directions.values())} if text else set()
    directions = dict.fromkeys(map(parse_direction, chain.from_iterable(direction_lists(base).values())))
    if forgotten := [each for each in directions if each not in learned]:
        steps.say(
            f"{base} may forget {len(forgotten)} of its directions, {forgotten[0]} among them, which it "
            f"learned from synthetic text or from a few lines: {why}; --frozen keeps them, or adapt the run "
            "that taught it, and distill that again"
        )
    return text
