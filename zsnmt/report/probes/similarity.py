"""How similar languages are in the layers of a folder of states, as tables: a TSV, and what a person sees."""

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

import numpy as np

from zsnmt.analysis.similarities import Similarity, similarities
from zsnmt.analysis.state_folder import read_states
from zsnmt.files.replacing import check_output
from zsnmt.report.table import Table, text_rows, write_tsv

TITLES = [
    "layer",
    "SVCCA",
    "SVCCA − independent, as many kept",
    "SVCCA − Gaussians",
    "CKA, debiased",
    "retrieval − chance",
    "directions kept",
]


def write_similarities(
    states: Path, output: Path, *, variance: float, csls_neighbours: int | None, seed: int
) -> str:
    """Write a TSV with one row per layer and pair of languages; returns the printed table of means over the
    pairs.

    `variance` and `csls_neighbours` are those of `similarities`, and `seed` is that of its Gaussians. Raises
    `InputError`.
    """
    check_output(output)
    found = read_states(states)
    output.parent.mkdir(parents=True, exist_ok=True)
    rows = [*similarities(found, np.random.default_rng(seed), variance, csls_neighbours=csls_neighbours)]
    write_tsv(output, [*Similarity._fields], rows)
    layers = [summary(layer, [row for row in rows if row.layer == layer]) for layer in found.layers]
    heading = (
        f"{rows[0].sentences} sentences × {rows[0].dimensions}, means over {len(rows) // len(layers)} "
        "pair(s) of languages"
    )
    return f"{heading}\n\n{text_rows(Table('similarity', 'Similarity', TITLES, rows=layers, about=''))}"


def summary(layer: str, pairs: Sequence[Similarity]) -> list[str | None]:
    """A layer's row in the printed table."""
    score = fmean(pair.svcca for pair in pairs)
    gaussian = pairs[0].gaussian
    figures = [
        score,
        score - fmean(pair.independent for pair in pairs),
        None if gaussian is None else score - gaussian,
        fmean(pair.cka for pair in pairs),
        fmean((pair.forward + pair.backward) / 2 for pair in pairs) - pairs[0].chance,
    ]
    kept = fmean((pair.kept + pair.other_kept) / 2 for pair in pairs)
    return [layer, *(None if figure is None else f"{figure:z.3f}" for figure in figures), f"{kept:.1f}"]
