"""Synthetic text that students have learned from, and that new test sets would take from them."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from zsnmt.corpora.judging import OVERLAP
from zsnmt.corpora.overlap import Place, normalise
from zsnmt.distillation.synthetic_text import RECORD_FILE, SyntheticText, dropped_list
from zsnmt.errors import InputError
from zsnmt.files.records import read_json
from zsnmt.languages import Direction
from zsnmt.runs.folder import MODEL_FILE
from zsnmt.training.cleaned_text import rows_of_list


def check_learned_text(
    synthetic: SyntheticText, made: Path, held_out: Mapping[str, Place], directions: Sequence[Direction]
) -> None:
    """`InputError` where what was `made` to take the place of the synthetic text lacks a pair that a student
    has learned from, since one of its sentences is in the held-out sets by now.
    """
    student = student_of(synthetic)
    if student is None or not synthetic.text.is_dir():
        return
    for direction in directions:
        before, now = (overlapping(folder, direction) for folder in (synthetic.text, made))
        for *_, authentic, translation in (row.split("\t") for row in now if row not in before):
            sentence = next(each for each in (translation, authentic) if normalise(each) in held_out)
            file, line = held_out[normalise(sentence)]
            raise InputError(
                f"{file}, line {line} is '{sentence}', which {student} has learned from a translation of its "
                f"teacher ({direction}); take it out of the set and of its other language, or give "
                f"{synthetic.experiment.file} another name to train anew"
            )


def student_of(synthetic: SyntheticText) -> Path | None:
    """A trained run that has learned from synthetic text, if there is one. The name of the text's folder has
    the checksum of its teacher and settings; where it was, with all runs, does not count.
    """
    for record in sorted(synthetic.experiment.folder.glob(f"*/*/{RECORD_FILE}")):
        used = read_json(record, "train the student again").get("folder", "")
        if Path(used).name == synthetic.folder.name and (record.parent / MODEL_FILE).is_file():
            return record.parent
    return None


def overlapping(text: Path, direction: Direction) -> list[str]:
    """The rows of the list of what is left out of a direction for being a held-out sentence."""
    rows = rows_of_list(text / direction.source / dropped_list(direction))
    return [row for row in rows if row.startswith(f"{OVERLAP}\t")]
