"""A trained model with rows for new types and languages (Liu et al. 2021, section 4.2)."""

from argparse import Namespace
from pathlib import Path

import torch
from fairseq.models import FairseqModel
from fairseq.tasks import setup_task
from torch import Tensor

import zsnmt
from zsnmt.adaptation.modes import ADDITIVE, MULTIPLICATIVE, NOISES
from zsnmt.errors import InputError
from zsnmt.modules.language_feed_forward import NAME_OF_WEIGHTS
from zsnmt.runs.checkpoints import trained_directions, write_checkpoint
from zsnmt.runs.folder import DIRECTION_LISTS
from zsnmt.runs.trained_directions import TRAINED
from zsnmt.tasks.zs_translation import ZeroShotTranslationTask

TABLES = (  # a row for each type, or for each language
    "encoder.embed_tokens.weight",
    "decoder.embed_tokens.weight",
    "decoder.output_projection.weight",
    "decoder.language_embedding.table.weight",
)


def extend_checkpoint(
    state: dict, data: Path, output: Path, *, noise: str, scale: float, seed: int, **options: object
) -> dict[str, int]:
    """Write `output`, the model of the checkpoint `state` for the languages and the dictionary of `data`; new
    rows by table.

    Old rows and all other weights stay byte for byte; `new_rows` says what new rows are. `options` are
    options of the model that the new one has besides; weights of theirs that the old model lacks are drawn as
    at the start of training. The output has no state of training but the directions that the model was
    trained on. `state` is used up. Raises `InputError` for data that do not extend those the model was
    trained with.
    """
    zsnmt.register()
    for name, value in {"data": str(data), **options}.items():
        for part in ("task", "model"):
            setattr(state["cfg"][part], name, value)
    task = task_of(state, data)
    torch.manual_seed(seed)
    model: FairseqModel = task.build_model(state["cfg"]["model"])
    state["model"], added = extend_weights(
        state["model"], model.state_dict(), noise, scale=scale, generator=torch.Generator().manual_seed(seed)
    )
    kept = {name: state["task_state"][name] for name in DIRECTION_LISTS if name in state["task_state"]}
    state["task_state"] = task.state_dict() | kept | {TRAINED: trained_directions(state)}
    state["optimizer_history"] = [state["optimizer_history"][-1] | {"num_updates": 0}]
    state["last_optimizer_state"] = None
    state["extra_state"] = {"train_iterator": {"epoch": 1, "version": 2, "iterations_in_epoch": 0}}
    write_checkpoint(state, output)
    return added


def task_of(state: dict, data: Path) -> ZeroShotTranslationTask:
    """The task of a checkpoint for the data of more languages; `InputError` unless these come after its
    own.
    """
    languages = state["task_state"]["languages"]
    options = vars(state["cfg"]["task"]) | {
        "source_lang": None,
        "target_lang": None,
        "lang_pairs": None,
        "valid_lang_pairs": None,
    }
    task = setup_task(Namespace(**options))
    if task.langs[: len(languages)] != languages or len(task.langs) == len(languages):
        raise InputError(
            f"the checkpoint's languages are {', '.join(languages)}, and {data} has "
            f"{', '.join(task.langs)}; the new ones must come after them"
        )
    task.place_tags(state["task_state"]["language_tags"])
    return task


def extend_weights(
    old: dict[str, Tensor], new: dict[str, Tensor], noise: str, scale: float, generator: torch.Generator
) -> tuple[dict[str, Tensor], dict[str, int]]:
    """The weights `new` with the values of `old` wherever it has any, and the number of new rows of each
    table; weights have any shape.

    Tables with the same rows, as tied ones, get the same new rows. The blocks of new languages, and the
    numbers that weight them, are as they were drawn. Raises `InputError` for an old weight without a place in
    the new ones.
    """
    weights = dict(new)
    drawn: list[tuple[Tensor, Tensor]] = []
    for name, weight in old.items():
        grows = name in new and (name in TABLES or NAME_OF_WEIGHTS.fullmatch(name))
        number = len(new[name]) - len(weight) if grows else 0
        if name not in new or number < 0 or [*new[name].shape] != sizes(weight, number):
            raise InputError(
                f"the model has a weight {name} of {'×'.join(map(str, weight.shape))} that does not fit "
                "into the extended one; adapt a run with the options that it was trained with"
            )
        if number and name not in TABLES:
            weight = torch.cat([weight, new[name][-number:]])
        elif number:
            rows = next((rows for table, rows in drawn if torch.equal(table, weight)), None)
            if rows is None:
                rows = new_rows(weight, number, noise, scale=scale, generator=generator)
                drawn.append((weight, rows))
            weight = torch.cat([weight, rows])
        weights[name] = weight
    return weights, {name: len(weights[name]) - len(old[name]) for name in TABLES if name in old}


def sizes(weight: Tensor, added: int) -> list[int]:
    """The sizes of a weight (N×…) with that many rows more."""
    return [size + added * (axis == 0) for axis, size in enumerate(weight.shape)]


def new_rows(table: Tensor, number: int, noise: str, scale: float, generator: torch.Generator) -> Tensor:
    """New rows (number×C) of a table (V×C): the mean of all its rows, perturbed; `InputError` for another
    noise.

    `multiplicative`: times N(1, scale²) for each element, as the reference code has it with scale 1 (the
    paper says random noise); `additive`: plus N(0, (scale · s)²), s the standard deviation of the column;
    `none`: the mean itself.
    """
    if noise not in NOISES:
        raise InputError(f"there is no noise '{noise}'; choose {', '.join(NOISES)}")
    rows = table.double().mean(dim=0).expand(number, -1)  # number×C
    drawn = scale * torch.randn(rows.shape, generator=generator, dtype=rows.dtype)
    if noise == MULTIPLICATIVE:
        rows = rows * (1 + drawn)
    elif noise == ADDITIVE:
        rows = rows + drawn * table.double().std(dim=0)
    return rows.to(table.dtype)
