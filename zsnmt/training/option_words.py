"""The options of fairseq-train as the words of a command: those of a trained run, and those of a person."""

from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise
from pathlib import Path

from zsnmt.errors import InputError
from zsnmt.runs.folder import COMMAND_FILE, training_words
from zsnmt.runs.remedies import TRANSLATION_WEIGHT, has_term

DATA_OPTIONS = {  # options that belong to the data of one training, or to what it went on or learned from
    "--extra-data",
    "--extra-lang-pairs",
    "--sampling-weights-from-file",
    "--virtual-data-size",
    "--finetune-from-model",
    "--word-distillation-weight",
    "--word-distillation-model",
    "--word-distillation-pairs",
}
PLACES = {  # those whose values are paths, which differ where a project was moved
    "--extra-data",
    "--sampling-weights-from-file",
    "--finetune-from-model",
    "--word-distillation-model",
}
OWN = {  # what each training command says itself, and what to give it in place of the option
    "--seed": "give the command's own --seed or --seeds",
    "--save-dir": "a run is in the folder that RUNS says, under the name of its config and its own --name",
    "--user-dir": "a training has zsnmt's alone",
}
VALIDATED, ON_ZERO_SHOT = "--valid-lang-pairs", "--early-stopping-on-zero-shot"
INTERVALS = ("--validate-interval", "--save-interval")  # epochs
CHOOSING = "--best-checkpoint-metric", "--maximize-best-checkpoint-metric", "--keep-best-checkpoints"


def options_of(run: Path) -> list[str]:
    """The options that a run was trained with, but for its data, what it went on from and the device; and
    but for the weight of the translation loss where that leaves no term for it to be beside.

    Raises `InputError` for a run that does not say how it was trained.
    """
    path = run / COMMAND_FILE
    if not path.is_file():
        raise InputError(
            f"{path} is missing: it says with which options the run was trained; give a run made by "
            "zsnmt train"
        )
    _, _, *words = training_words(run)
    kept = [word for word in without(words, DATA_OPTIONS) if word != "--cpu"]
    return kept if has_term(kept) else without(kept, {TRANSLATION_WEIGHT})


def separate(words: Iterable[str]) -> list[str]:
    """The words of a command in which the value of an option is always a word of its own, as fairseq reads
    them: `--lr=0.1` is `--lr 0.1`.
    """
    return [part for word in words for part in (word.split("=", 1) if word.startswith("--") else [word])]


def every_epoch(options: Sequence[str]) -> dict[str, int]:
    """The options by which a training that goes on from one with these is validated in each epoch: of little
    text that one may have had more epochs from one validation to the next than the new one has in all.
    """
    return {name: 1 for name in INTERVALS if name in separate(options)}


def check_own(options: Sequence[str]) -> None:
    """`InputError` for options that a person gives and that are not fairseq's alone to say, such as those by
    which another checkpoint would be chosen, or none: without validation, or with an end before the first
    one.
    """
    given = given_values(options)
    for name, instead in OWN.items():
        if name in given:
            raise InputError(f"{name} behind -- counts for nothing; {instead}")
    if choosing := [name for name in CHOOSING if name in separate(options)]:
        raise InputError(
            f"leave out {', '.join(choosing)}: a run is the mean of the checkpoints with the lowest "
            "nll_loss, as many as AVERAGE of its config says; fairseq-train alone chooses by other figures"
        )
    epochs, interval = int(given.get("--max-epoch", 0)), max(int(given.get(name, 1)) for name in INTERVALS)
    if "--no-save" in options:
        raise InputError("leave out --no-save: a run is made of its checkpoints, and there would be none")
    if "--disable-validation" in separate(options) or 0 < epochs < interval:
        raise InputError(
            "the best checkpoint is chosen by validation, and there would be none: leave out "
            f"--disable-validation, and give {' and '.join(INTERVALS)} no more epochs than --max-epoch"
        )


def given_values(words: Iterable[str]) -> dict[str, str]:
    """The value of each option of a command, the last where it is given several times; to be asked for
    options that have one, as words that follow others are in it, too.
    """
    return dict(pairwise(separate(words)))


def without(words: Sequence[str], options: Collection[str]) -> list[str]:
    """The words of a command without some options and their values, if they have any."""
    return [
        word
        for before, word in pairwise(["", *words])
        if (before not in options or word.startswith("--")) and word.partition("=")[0] not in options
    ]
