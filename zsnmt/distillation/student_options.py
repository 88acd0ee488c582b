"""The options of fairseq-train for a student, and how long its schedule is."""

from argparse import Namespace
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from fairseq.models import ARCH_MODEL_NAME_REGISTRY

import zsnmt
from zsnmt.distillation.settings import Distillation
from zsnmt.distillation.start import Start
from zsnmt.errors import InputError
from zsnmt.runs.commands import option_words
from zsnmt.runs.folder import LOG_FILE
from zsnmt.runs.grid import BLOCK_LAYERS, BLOCK_WIDTH
from zsnmt.runs.log import pairs_of_update
from zsnmt.runs.remedies import TRANSLATION_WEIGHT, WEIGHT, options_of_remedy, term_options
from zsnmt.runs.systems import DIRECTIONS
from zsnmt.seams import position_query, residual_removal, target_language
from zsnmt.training.config import Config
from zsnmt.training.fairseq_options import training_options
from zsnmt.training.option_words import every_epoch, given_values, separate, without
from zsnmt.training.studies import baseline_with_blocks

MODEL = "zs_transformer"
EPOCHS, PATIENCE = 10, 3  # of a student that goes on from its teacher
LONGEST, ENDS = "--max-epoch", ("--total-num-update", "--max-update")
COUNTED = ("--warmup-updates", *ENDS)
VOID_WITHOUT = {  # what has no effect, and is refused, where an option is `none`
    residual_removal.OPTION: {residual_removal.UPDATES, "--encoder-residual-replacement"},
    position_query.OPTION: {"--position-query-base"},
    "--encoder-target-language": {target_language.LAYERS_OPTION},
    BLOCK_LAYERS: {BLOCK_WIDTH},
}


def student_options(config: Config, distillation: Distillation, start: Start) -> list[str]:
    """The options of fairseq-train for a student, but for its data; later ones override earlier ones.

    One that goes on from a run, its teacher or another, has that run's options but for a remedy, half of the
    config's learning rate, or of the run's, and few epochs, or few for each shard, each of them validated;
    one from scratch those of the config. Raises `InputError` for an architecture that there is not.
    """
    architecture = distillation.student or start.architecture
    check_architecture(architecture)
    if distillation.from_scratch:
        return ["--arch", architecture, "--distributed-world-size", "1", *config.fairseq_options]
    before = without_remedy(start.options, start.remedy)
    removal = {residual_removal.OPTION, residual_removal.UPDATES}
    if architecture != start.architecture and residual_removal.UPDATES in separate(before):
        before = without(before, removal)  # the architecture says whether the residual is there
    # The config of an adaptation may leave the rate to the run that was adapted.
    own_rate = "--lr" in separate(config.fairseq_options)
    peak = training_options(architecture, config.fairseq_options if own_rate else before).lr[0]
    going_on = {
        "--arch": architecture,
        "--lr": peak / 2,
        "--max-epoch": EPOCHS * config.shards,
        "--patience": PATIENCE * config.shards,
        "--finetune-from-model": start.model.resolve(),
    }
    return [*before, *option_words(going_on | every_epoch(before))]


def without_void(begun: Sequence[str], later: Sequence[str]) -> list[str]:
    """The options that a student begins with, but for those that have no effect by later ones."""
    given = given_values(later)
    void = {name for option, names in VOID_WITHOUT.items() if given.get(option) == "none" for name in names}
    return without(begun, void)


def without_remedy(options: Sequence[str], remedy: str) -> list[str]:
    """The options of a training without those that its remedy stands for, or that go with the remedy's terms;
    the criterion stays, which without terms is the stock one.
    """
    stands_for = options_of_remedy(remedy)
    terms = tuple(word.removesuffix("weight") for word in stands_for if word.endswith(WEIGHT))
    of_terms = {word for word in separate(options) if word.startswith(terms)}
    kept = without(options, of_terms | ({TRANSLATION_WEIGHT} if terms else set()))
    directions = {pair for pair in pairwise(stands_for) if pair[0] == DIRECTIONS}
    places = {place for place, pair in enumerate(pairwise(kept)) if pair in directions}
    return [word for place, word in enumerate(kept) if not {place, place - 1} & places]


def block_options(distillation: Distillation, start: Start, options: Sequence[str]) -> list[str]:
    """The options of language blocks for a student that is to have them, and has none by its options."""
    if not distillation.language_blocks:
        return []
    read = training_options(distillation.student or start.architecture, options)
    return [] if has_blocks(read) else [*baseline_with_blocks(read).options]


def has_blocks(options: Namespace) -> bool:
    """Whether a model with these options has language blocks."""
    return options.decoder_language_feed_forward_layers != "none"


def word_level_options(distillation: Distillation, options: Sequence[str], teacher: Start) -> list[str]:
    """The options of word-level distillation, if there is any, for a training with these."""
    if not distillation.word_level:
        return []
    return [
        *term_options(separate(options)),
        *("--word-distillation-weight", str(distillation.word_level)),
        *("--word-distillation-model", str(teacher.model.resolve())),
    ]


def options_of_config(config: Config, distillation: Distillation) -> Sequence[str]:
    """The options that a config has for students, which are for those that go on from a run."""
    return [] if distillation.from_scratch else config.distillation


def stretch(options: Sequence[str], epochs: int | None, updates: float | None = None) -> list[str]:
    """The options that make a schedule so many epochs long, each of about so many `updates`; none for those
    that it has.

    All that it counts in updates changes in proportion, so that a learning rate that falls for some number of
    them has fallen at the end. Where nobody knows the updates of an epoch, the epochs that it has now count.
    Raises `InputError` where there are none.
    """
    if epochs is None:
        return []
    given = given_values(options)
    counted = {name: int(float(given[name])) for name in COUNTED if float(given.get(name, 0)) > 0}
    longest = int(given.get(LONGEST, 0))  # to fairseq 0 is no bound
    end = max((counted[name] for name in ENDS if name in counted), default=0)
    if end and updates:
        share = epochs * updates / end
    elif longest or not end:
        share = epochs / (longest or epochs)
    else:
        raise InputError(
            f"--epochs {epochs}: the schedule counts updates, and the teacher's log does not say how many "
            "make an epoch; leave out --epochs, and give --total-num-update and --max-update after --"
        )
    return option_words(
        {LONGEST: epochs, **{name: max(1, round(number * share)) for name, number in counted.items()}}
    )


def check_length(epochs: int | None, own: Sequence[str]) -> None:
    """`InputError` where a person's `own` options say otherwise than `--epochs` how long a training is."""
    if epochs and (also := [name for name in (LONGEST, *ENDS) if name in separate(own)]):
        raise InputError(
            f"--epochs {epochs} and {also[0]} behind -- both say how long the training is; leave one of them "
            "out"
        )


def check_architecture(name: str) -> None:
    """`InputError` for an architecture that does not translate."""
    zsnmt.register()
    known = [each for each, model in ARCH_MODEL_NAME_REGISTRY.items() if model == MODEL]
    if name not in known:
        raise InputError(f"there is no architecture '{name}' that translates; choose {', '.join(known)}")


def read_options(architecture: str, options: Sequence[str], data: Path) -> Namespace:
    """The options as fairseq-train reads them, for some data."""
    return Namespace(**{**vars(training_options(architecture, options)), "data": str(data)})


def updates_of_epoch(start: Start, pairs: int) -> float | None:
    """About how many updates an epoch of so many sentence pairs takes, by how many pairs an update had of the
    run that the student begins with; None where its log does not say.
    """
    log = start.run / LOG_FILE
    each = log.is_file() and pairs_of_update(log.read_text(encoding="utf-8", errors="replace"))
    return pairs / each if each else None
