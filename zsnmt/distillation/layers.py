"""A student with fewer layers than its teacher begins with some of the teacher's, evenly spaced from the
first to the last, as in "shrink and fine-tune" (Shleifer and Rush 2020).

One with more layers begins as the teacher to the bit: copies that change nothing yet stand above the layers
that they are of, as in block expansion (Wu et al. 2024, "LLaMA Pro"). So does one with language blocks that
the teacher lacks.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, TypeVar

import torch
from torch import Size

from zsnmt.modules.language_feed_forward import silent_blocks
from zsnmt.runs.checkpoints import load_checkpoint, write_checkpoint

BEGINNING = "beginning.pt"  # the weights that such a student begins with, in its run folder
OF_LAYER = re.compile(r"(encoder|decoder)\.layers\.(\d+)(?=\.)")
LAST_PROJECTION = re.compile(r"\.(self_attn\.out_proj|encoder_attn\.out_proj|fc2)\.(weight|bias)$")
T = TypeVar("T")


class Growth(NamedTuple):
    """What a student's weights are that differ from those of the run that it begins with.

    `depths`: how many layers its stacks have, where the run has others; `blocks`: the sizes of the weights of
    its language blocks, by name, where the run has none.
    """

    depths: Mapping[str, int] = {}
    blocks: Mapping[str, Size] = {}


def evenly_spaced(number: int, of: int) -> list[int]:
    """Which of a stack's layers, from 0, a stack of so many keeps; one alone keeps the first."""
    return [round(place * (of - 1) / max(number - 1, 1)) for place in range(number)]


def depths(names: Mapping[str, object]) -> dict[str, int]:
    """How many layers the encoder and the decoder have whose weights have these names."""
    found: dict[str, int] = {}
    for name in names:
        if match := OF_LAYER.match(name):
            stack, place = match[1], int(match[2])
            found[stack] = max(found.get(stack, 0), place + 1)
    return found


def places_of(number: int, wanted: int) -> list[list[int]]:
    """Where each layer of a stack of so many goes, from 0, in one that wants other ones: nowhere, to one
    place, or also to those above it, for copies.
    """
    if wanted > number:
        of = [place * number // wanted for place in range(wanted)]
        return [[place for place, old in enumerate(of) if old == layer] for layer in range(number)]
    kept = {old: new for new, old in enumerate(evenly_spaced(wanted, number))}
    return [[kept[layer]] if layer in kept else [] for layer in range(number)]


def fit_layers(weights: Mapping[str, T], wanted: Mapping[str, int]) -> tuple[dict[str, T], set[str]]:
    """Weights, or what else has their names, of a model with so many layers in its stacks, renumbered, and
    which of these names are of copies; stacks that are not wanted otherwise stay as they are.
    """
    found, copies = {}, set()
    places = {
        stack: places_of(number, wanted[stack])
        for stack, number in depths(weights).items()
        if wanted.get(stack, number) not in (0, number)
    }
    for name, weight in weights.items():
        match = OF_LAYER.match(name)
        if match is None or match[1] not in places:
            found[name] = weight
            continue
        names = [
            f"{match[1]}.layers.{place}{name[match.end() :]}" for place in places[match[1]][int(match[2])]
        ]
        found |= dict.fromkeys(names, weight)
        copies |= {*names[1:]}
    return found, copies


def write_beginning(teacher: Path, path: Path, growth: Growth, *, seed: int) -> None:
    """Write the teacher's checkpoint with the layers of a student, and with the blocks that it gains, for
    which the seed is.

    What a copy adds to its input is zero: its last projections are. It learns from the first update on.
    """
    state = load_checkpoint(teacher)
    weights, copies = fit_layers(state["model"], growth.depths)
    silent = {name for name in copies if LAST_PROJECTION.search(name)}
    kept = {name: torch.zeros_like(weight) if name in silent else weight for name, weight in weights.items()}
    state["model"] = kept | silent_blocks(growth.blocks, seed)
    write_checkpoint(state, path)
