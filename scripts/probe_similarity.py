"""Compare the sentences of each two languages in each layer: SVCCA, debiased linear CKA, nearest-neighbour retrieval.

    python scripts/probe_similarity.py states similarity.tsv

The TSV has a row a layer and pair, with what states without similarity give; printed are means over the pairs.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

import numpy as np

from zsnmt import console
from zsnmt.analysis.similarities import Similarity, similarities
from zsnmt.analysis.state_folder import read_states
from zsnmt.errors import InputError
from zsnmt.files import replacing
from zsnmt.report.table import Table, text_rows, tsv

TITLES = [
    "layer",
    "SVCCA",
    "SVCCA − independent, as many kept",
    "SVCCA − Gaussians",
    "CKA, debiased",
    "retrieval − chance",
    "directions kept",
]


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("states", type=Path, help="folder made by scripts/probe_states.py")
    parser.add_argument("output", type=Path, help="TSV to write; one that is there is replaced at the end")
    parser.add_argument("--variance", type=float, default=0.99, metavar="SHARE",
                        help="share of the variance whose directions SVCCA keeps (default: %(default)s)")
    parser.add_argument("--csls", type=int, metavar="K",
                        help="retrieve by CSLS with K neighbours, so that no sentence is near to all (default: by cosine)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the Gaussians (default: %(default)s)")
    options = parser.parse_args()

    if options.output.is_dir():
        raise InputError(f"{options.output} is a folder; name a TSV file")
    states = read_states(options.states)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    rows = [*similarities(states, np.random.default_rng(options.seed), options.variance, options.csls)]
    with replacing(options.output) as file:
        file.write(tsv(Table("similarity", "Similarity", [*Similarity._fields], rows, "")).encode("utf-8"))
    layers = [summary(layer, [row for row in rows if row.layer == layer]) for layer in states.layers]
    pairs = len(rows) // len(layers)
    print(f"{rows[0].sentences} sentences × {rows[0].dimensions}, means over {pairs} pair(s) of languages\n")
    print(text_rows(Table("similarity", "Similarity", TITLES, layers, "")))


if __name__ == "__main__":
    console.run(main)
