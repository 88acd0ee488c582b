"""Figures that are computed of each layer from stored states, without any training.

A new one is a function of a layer's states and their labels, and an entry of `LAYER_FIGURES`. The steps of
the probes, their files, tables, drawings and pages take it from there.
"""

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
from tqdm import tqdm

from zsnmt.analysis.explained_variance import explained_variance
from zsnmt.analysis.state_folder import Labels, States
from zsnmt.errors import InputError


class LayerFigure(NamedTuple):
    """A figure of a layer.

    `measure` computes it from the layer's states, rows × d, and the labels of the rows; None where it has no
    value. `name` is its column in the file, `title` the one in tables, `form` how it is shown, a name of
    `zsnmt.report.table.FORMS`. `reference` is what it is of states without information, None where that is
    not known, and `about` is the sentence that says how to read it. No value is above `highest`.
    """

    name: str
    title: str
    form: str
    measure: Callable[[np.ndarray, Labels], float | None]
    about: str
    reference: float | None = None
    highest: float = math.inf

    def read(self, cell: str) -> float | None:
        """The value in a cell of a file; `ValueError` for what cannot be one."""
        if not cell:
            return None
        value = float(cell)
        if not -math.inf < value <= self.highest + 1e-9:  # which no NaN is
            raise ValueError(f"{cell} is out of range")
        return value


def share_of_variance(label: str, states: np.ndarray, labels: Labels) -> float | None:
    """The share of the variance of the states that lies between the values of a label."""
    return explained_variance(states, getattr(labels, label))


VARIANCE_FIGURE = partial(LayerFigure, form="explained", reference=0.0, highest=1.0)
LAYER_FIGURES = (
    VARIANCE_FIGURE(
        "position_variance",
        "variance by position",
        measure=partial(share_of_variance, "position"),
        about="Variance by position: the share of the variance of token states that lies between places in "
        "the sentence, so how much of what the encoder hands on is where a token stands.",
    ),
    VARIANCE_FIGURE(
        "language_variance",
        "variance by language",
        measure=partial(share_of_variance, "language"),
        about="Variance by language: the share that lies between languages, lower where they are more alike.",
    ),
    VARIANCE_FIGURE(
        "token_variance",
        "variance by token",
        measure=partial(share_of_variance, "token"),
        about="Variance by token: the share that lies between pieces, whatever stands beside them; it holds "
        "most of the share by language, as most pieces are of one language.",
    ),
)


def layer_figures(states: States) -> Iterator[tuple[str, dict[str, float | None]]]:
    """Each layer with its figures by name. Raises `InputError`, naming the layer, where there can be none."""
    for layer, rows in tqdm(states.layers.items(), "layers", leave=False, disable=None):
        try:
            yield layer, {figure.name: figure.measure(rows, states.labels) for figure in LAYER_FIGURES}
        except InputError as error:
            raise InputError(f"layer {layer}: {error}") from error
