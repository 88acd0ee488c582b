"""A student with fewer layers than its teacher begins with some of the teacher's, evenly spaced from the
first to the last, as in "shrink and fine-tune" (Shleifer and Rush 2020).
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

import torch

from zsnmt.files.replacing import replacing
from zsnmt.runs.checkpoints import load_checkpoint

BEGINNING = "beginning.pt"  # the weights that such a student begins with, in its run folder
OF_LAYER = re.compile(r"(encoder|decoder)\.layers\.(\d+)(?=\.)")
T = TypeVar("T")


def chosen_layers(number: int, of: int) -> list[int]:
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


def keep_layers(weights: Mapping[str, T], wanted: Mapping[str, int]) -> dict[str, T]:
    """Weights, or what else has their names, of a model with so many layers in its stacks, renumbered; stacks
    that have no more than that stay as they are.
    """
    places = {
        stack: {old: new for new, old in enumerate(chosen_layers(wanted[stack], number))}
        for stack, number in depths(weights).items()
        if 0 < wanted.get(stack, number) < number
    }
    found = {}
    for name, weight in weights.items():
        match = OF_LAYER.match(name)
        if match is None or match[1] not in places:
            found[name] = weight
        elif (place := places[match[1]].get(int(match[2]))) is not None:
            found[f"{match[1]}.layers.{place}{name[match.end() :]}"] = weight
    return found


def write_beginning(teacher: Path, path: Path, wanted: Mapping[str, int]) -> None:
    """Write the teacher's checkpoint with the layers of a student of so many."""
    state = load_checkpoint(teacher)
    state["model"] = keep_layers(state["model"], wanted)
    with replacing(path) as file:
        torch.save(state, file)
