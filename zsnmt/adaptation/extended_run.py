"""How the training of a run goes on when it learns a new language."""

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from zsnmt.adaptation.checkpoint import extend_checkpoint
from zsnmt.adaptation.modes import FROZEN, FULL
from zsnmt.adaptation.settings import Adaptation
from zsnmt.criterions.zs_cross_entropy import TERMS
from zsnmt.data.directions import ALL, directions_with_data
from zsnmt.data.reading import load_dictionary
from zsnmt.errors import InputError
from zsnmt.files.replacing import replacing
from zsnmt.languages import parse_direction, read_languages
from zsnmt.runs.checkpoints import load_checkpoint, switches
from zsnmt.runs.checksums import check_model
from zsnmt.runs.commands import option_words
from zsnmt.runs.folder import MODEL_FILE
from zsnmt.runs.systems import BASELINE
from zsnmt.seams.frozen_vocabulary import refuse_what_frozen_weights_forbid
from zsnmt.seams.options import attribute_of, spelt
from zsnmt.training.fairseq_options import training_options, without_replaced
from zsnmt.training.option_words import (
    ON_ZERO_SHOT,
    VALIDATED,
    check_own,
    every_epoch,
    given_values,
    options_of,
)

Options = dict[str, str | int | float]
# Options that would change old weights.
ROUNDING = ("fp16", "bf16", "memory_efficient_fp16", "memory_efficient_bf16")


def extend_run(adaptation: Adaptation, data: Path, output: Path, *, seed: int) -> dict[str, int]:
    """Write the model of the base with rows for the new languages of `data`, and beside it, as `.options`,
    what to train it with.

    Returns the number of new rows by table. See `extend_checkpoint`, `model_options` and
    `adaptation_options`.
    """
    with check_model(adaptation.base):
        state = load_checkpoint(adaptation.base / MODEL_FILE)
    languages = read_languages(data)
    new = adaptation.new_languages(languages)
    model = model_options(state["cfg"]["model"], adaptation, size_of_dictionary(adaptation.pipeline))
    options = adaptation_options(adaptation, data, new, languages=languages, model=model)
    precision = dict.fromkeys(ROUNDING, False) if adaptation.mode == FROZEN else {}
    added = extend_checkpoint(
        state,
        data,
        output,
        noise=adaptation.noise,
        scale=adaptation.noise_scale,
        seed=seed,
        **model,
        **precision,
    )
    with replacing(output.with_suffix(".options")) as file:
        file.write("".join(f"{option}\n" for option in options).encode("utf-8"))
    return added


def check_options(adaptation: Adaptation, given: Sequence[str]) -> None:
    """`InputError` for a mode that the model of the base, or its training with the options that are `given`
    besides, does not go with.
    """
    run, mode = adaptation.base, adaptation.mode
    with check_model(run):
        state = load_checkpoint(run / MODEL_FILE)
    if mode == FROZEN and 0 in switches(state["model"]):
        raise InputError(
            f"{run} is of a time before its residual came back, as it would while it is adapted --frozen: "
            "old translations would change; adapt it without --frozen, or a run that was trained to the end"
        )
    model = model_options(state["cfg"]["model"], adaptation, size_of_dictionary(adaptation.pipeline))
    before = without_replaced([*kept_options(adaptation), *words_of(model)], given)
    read = training_options(BASELINE.architecture, [*before, *given])
    check_own(given)
    if mode == FULL:
        return
    refuse_what_frozen_weights_forbid(read)
    weights = [kind.term.option for kind in TERMS.values()]
    if terms := [weight for weight in weights if getattr(read, attribute_of(weight), 0)]:
        raise InputError(
            f"the training of {run} has {', '.join(terms)}, a remedy that trains what is older, too, and "
            "--frozen trains what is new alone; adapt it without --frozen"
        )


def size_of_dictionary(pipeline: Path) -> int:
    """How many types the dictionary of a run has, in the folder of its text pipeline."""
    pivot, *_ = read_languages(pipeline)
    return len(load_dictionary(pipeline / f"dict.{pivot}.txt"))


def model_options(trained: Namespace, adaptation: Adaptation, types: int) -> Options:
    """The options that the model has besides those it was `trained` with; `types`: the size of its
    dictionary.

    In mode `frozen` the dictionary's size becomes the last of those behind which rows may change, and nothing
    decays. Raises `InputError` for adapters that the mode, or the trained model, does not go with.
    """
    before = getattr(trained, "frozen_vocabulary", "none")
    adapters, adapter_dim = getattr(trained, "adapter_dim", 0), adaptation.adapter_dim
    if adaptation.mode == FULL:
        if adapters or adapter_dim:
            raise InputError(
                "adapters belong to a language that was added with everything else frozen; adapt this run "
                "with --frozen, or without adapters"
            )
        return {"frozen_vocabulary": "none", "adapter_dim": 0}
    if adapters and adapter_dim not in (0, adapters):
        raise InputError(
            f"the run has adapters of {adapters} dimensions; give --adapter-dim {adapters}, or leave it out"
        )
    sizes = [] if before == "none" else before.split(",")
    return {
        "frozen_vocabulary": ",".join([*sizes, str(types)]),
        "adapter_dim": adapters or adapter_dim,
        "weight_decay": 0.0,
    }


def adaptation_options(
    adaptation: Adaptation, data: Path, new: Sequence[str], languages: Sequence[str], model: Options
) -> list[str]:
    """The options of fairseq-train that the base was trained with, but for its data; then those of its
    adaptation.

    Later ones override earlier ones. It trains on all directions that have training text in `data`, and in
    mode `frozen` on those of the `new` languages, in full precision. Raises `InputError` for a run that does
    not say how it was trained.
    """
    directions, kept = directions_with_data(data, "train", [*languages]), kept_options(adaptation)
    if adaptation.mode == FROZEN:
        directions = [direction for direction in directions if {*parse_direction(direction)} & {*new}]
    return [
        *kept,
        *option_words(every_epoch(kept)),
        *validated(options_of(adaptation.base), directions, data=data, languages=languages),
        *words_of(model),
        "--lang-pairs",
        ",".join(directions),
    ]


def kept_options(adaptation: Adaptation) -> list[str]:
    """The options that the base was trained with and that its adaptation has, too."""
    dropped = {*map(spelt, ROUNDING)} if adaptation.mode == FROZEN else set()
    return [option for option in options_of(adaptation.base) if option not in dropped]


def validated(
    options: Sequence[str], directions: Sequence[str], *, data: Path, languages: Sequence[str]
) -> list[str]:
    """What an adaptation validates in the place of the directions that the training of its run named, which
    are those of that run's data: its own `directions`, as far as there is text in `data`; and where the
    zero-shot ones choose a checkpoint, those that were named, too. Nothing where none were named, or all that
    have text.
    """
    named = given_values(options).get(VALIDATED, ALL)
    if named == ALL:
        return []
    there = directions_with_data(data, "valid", [*languages])
    wanted = [*directions, *(named.split(",") if ON_ZERO_SHOT in options else [])]
    return [VALIDATED, ",".join(each for each in dict.fromkeys(wanted) if each in there)]


def words_of(options: Options) -> list[str]:
    """Options as a command line has them."""
    return option_words({spelt(name): value for name, value in options.items()})
