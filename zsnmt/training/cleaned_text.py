"""The text that the runs of an experiment are trained on: its source, cleaned, where no run was trained on
other text.
"""

from collections.abc import Sequence
from filecmp import cmpfiles
from pathlib import Path

from zsnmt.corpora.left_out import OVERLAP_LIST, say_what_is_left_out
from zsnmt.corpora.parallel_text import check_trained, pairs_of_split
from zsnmt.corpora.training_text import make_training_text
from zsnmt.errors import InputError
from zsnmt.files.replacing import replacing_folder
from zsnmt.processes import cores
from zsnmt.runs.folder import MODEL_FILE
from zsnmt.training.experiment import Experiment

CHOOSING = ("--lang-pairs", "--valid-lang-pairs", "--valid-subset", "--disable-validation")


def clean(source: Path, experiment: Experiment, options: Sequence[str] = ()) -> None:
    """Write the text without training pairs that overlap with held-out sets or that the rules leave out."""
    config = experiment.config
    check_trained(source, config.languages)
    check_validation(source, config.languages, [*config.fairseq_options, *options])
    with replacing_folder(experiment.text) as part:
        counts = make_training_text(
            source, part, config.languages, limits=config.pairs, cleaning=config.cleaning, workers=cores()
        )
        check_trained_on(experiment, source, part)
    say_what_is_left_out(counts, experiment.text)


def check_trained_on(experiment: Experiment, source: Path, text: Path) -> None:
    """`InputError` where a run was trained on other training text than that which is to take its place."""
    runs = sorted(model.parent for model in experiment.folder.glob(f"*/*/{MODEL_FILE}"))
    if not runs or not experiment.text.is_dir():
        return
    names = {file.name for folder in (experiment.text, text) for file in folder.glob("train.*")}
    same, *_ = cmpfiles(experiment.text, text, names, shallow=False)
    if len(same) == len(names):
        return
    anew = f"give {experiment.file} another name to train anew"
    before = {*rows_of_list(experiment.text / OVERLAP_LIST)}
    for overlap in rows_of_list(text / OVERLAP_LIST):
        if overlap not in before:
            training, line, held_out, place, sentence = overlap.split("\t")
            raise InputError(
                f"{held_out}, line {place} is '{sentence}', which {runs[0]} was trained on ({training}, line "
                f"{line} of {source}); take it out of the set and of its other language, or {anew}"
            )
    raise InputError(f"{source} has other training text than {runs[0]} was trained on; {anew}")


def rows_of_list(path: Path) -> list[str]:
    """The rows of a list of what is left out, ended by `\\n` alone; none where it is missing or empty."""
    return path.read_text(encoding="utf-8").split("\n")[:-1] if path.is_file() else []


def check_validation(text: Path, languages: Sequence[str], options: Sequence[str]) -> None:
    """`InputError` where a pair with training text has no validation text, unless the options of
    fairseq-train choose what is validated on: the training would say so when the data are made.
    """
    if any(word.partition("=")[0] in CHOOSING for word in options):
        return
    validated = pairs_of_split(text, "valid", languages)
    for pair in pairs_of_split(text, "train", languages):
        if pair not in validated:
            files = " and ".join(f"valid.{'-'.join(pair)}.{language}" for language in pair)
            raise InputError(
                f"{text} has training text for {'-'.join(pair)}, but no validation text; add {files}, or "
                f"valid.{pair[0]} and valid.{pair[1]} of a multiway set, take it from the training text by "
                "HELD_OUT=500, or name the directions to validate on by --valid-lang-pairs in TRAINING"
            )
