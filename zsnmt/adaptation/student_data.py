"""The data of a student's synthetic text for the training that adapts it.

What of the text does not overlap with the held-out sets of the adaptation is binarised anew, by the pipeline
and the dictionary that have the new languages. It lies beside their data in `synthetic/`, in the folders that
`zsnmt distill` makes.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from zsnmt.adaptation.student_text import COUNTS, REMEDY, SPLITS, TEXT, StudentText, pairs_in
from zsnmt.corpora.overlap import held_out_sentences, without_sentences
from zsnmt.corpora.parallel_text import TRAIN
from zsnmt.data.directions import directions_with_data
from zsnmt.distillation.data import MAIN, binarise_synthetic
from zsnmt.distillation.further_text import binarise_further_text, directions_in
from zsnmt.distillation.student import authentic_directions
from zsnmt.distillation.student_data import StudentData, options_of_data, record_use
from zsnmt.distillation.student_options import read_options
from zsnmt.distillation.synthetic_text import RECORD_FILE
from zsnmt.files.locks import locked
from zsnmt.files.records import read_json, write_json
from zsnmt.files.replacing import replacing_folder
from zsnmt.languages import read_languages
from zsnmt.processes import cores
from zsnmt.runs.systems import BASELINE
from zsnmt.text.lines import read_lines, write_rows_of_lines
from zsnmt.training.experiment import Experiment
from zsnmt.training.steps import Steps


def train_on_text(
    steps: Steps, experiment: Experiment, text: StudentText, *, run: Path, options: Sequence[str]
) -> tuple[Path, list[str]]:
    """Make the data of a student's text beside those of an experiment, unless they are there.

    Returns the folder of data to train `run` on, and the options of fairseq-train that this needs besides
    `options`. The run gets the text's synthetic.json.
    """
    made = replace(text, folder=experiment.folder / "synthetic" / text.folder.name)
    with locked(made.folder, steps.say):
        make_data(steps, experiment, text, made=made)
    languages, directions = read_languages(experiment.data), made.directions
    folders = {use: made.data(TEXT) / use for use in directions}
    for use in made.further:
        for folder in sorted(made.data(use).iterdir()):
            folders[folder.name], directions[folder.name] = folder, directions_in(folder, use)
    read = read_options(BASELINE.architecture, options, experiment.data)
    data = StudentData(
        made.data(TEXT) / MAIN,
        authentic_directions(read, experiment.data, languages),
        folders,
        directions=directions,
        known=directions_with_data(experiment.data, TRAIN, languages),
    )
    record_use(run, made.distillation, made.folder, remedy=REMEDY)
    return data.main, options_of_data(run, made.distillation, data)


def make_data(steps: Steps, experiment: Experiment, text: StudentText, *, made: StudentText) -> None:
    """Make what may be trained on of a text, and its data, unless they are there."""
    for part in (TEXT, *text.further):
        of_part = text.folder / part, made.folder / part
        steps.make(
            made.folder,
            part,
            made.folder / part,
            work=partial(copy_text, steps, experiment, of_part),
            inputs=[text.folder / part, experiment.text],
            settings={},
        )
        steps.make(
            made.folder,
            made.data(part).name,
            made.data(part),
            work=partial(binarise, experiment, made, part),
            inputs=[made.folder / part, experiment.data],
            settings={},
        )


def copy_text(steps: Steps, experiment: Experiment, folders: tuple[Path, Path]) -> None:
    """Write the pairs of the first folder of which no side is held out in the text of an experiment into the
    second, with their record where it has one, and tell how many are left out.
    """
    source, target = folders
    held_out = held_out_sentences(experiment.text, read_languages(experiment.data))
    left_out, kept = 0, {}
    with replacing_folder(target) as part:
        for folder, split, pair in pairs_in(source):
            names = [f"{split}.{pair}.{language}" for language in pair]
            lines = [*zip(*(read_lines(folder / name) for name in names), strict=True)]
            rows = without_sentences(lines, held_out)
            left_out, kept[str(pair), split] = left_out + len(lines) - len(rows), len(rows)
            (part / folder.name).mkdir(exist_ok=True)
            if rows:
                write_rows_of_lines([part / folder.name / name for name in names], rows)
        if (source / RECORD_FILE).is_file():
            record = read_json(source / RECORD_FILE, REMEDY, COUNTS)
            for direction, numbers in record["directions"].items():
                numbers.update({split: kept.get((direction, split), 0) for split in SPLITS})
            write_json(part / RECORD_FILE, record)
    if left_out:
        steps.say(f"{left_out:,} synthetic pairs with a sentence of the new held-out sets are left out")


def binarise(experiment: Experiment, made: StudentText, part: str) -> None:
    """Write the data of a part of a text."""
    if part == TEXT:
        binarise_synthetic(
            made.folder / TEXT,
            made.data(TEXT),
            authentic=experiment.data,
            directions=[*made.counts],
            workers=cores(),
        )
    else:
        text = made.folder / part
        binarise_further_text(part, text, made.data(part), authentic=experiment.data, workers=cores())
