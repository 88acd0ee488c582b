"""Fit linear probes to the states of each layer, and measure them on sentences that they have not seen.

    python scripts/probe_classifiers.py states probes.tsv                            # a fifth of the sentences held out
    python scripts/probe_classifiers.py training-states probes.tsv --held-out states

The TSV has a row a layer and label. How languages are confused stands beside it, in probes.confusion.tsv: a row a layer
and true language, with the shares 0–1 of its tokens that are taken for each language.
"""

import argparse
import itertools
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from tqdm import tqdm

from zsnmt import console
from zsnmt.analysis.state_folder import States, read_states
from zsnmt.errors import InputError
from zsnmt.files import replacing
from zsnmt.report.table import Table, text_rows, tsv

if TYPE_CHECKING:
    from zsnmt.analysis.classifiers import LinearProbe
    from zsnmt.analysis.held_out import Accuracy

LABELS = ("language", "position", "token")
EPOCHS, UPDATES = 5, 4000  # of the published procedure; about as many updates where batches are not too large for it


class Side(NamedTuple):
    """The rows of a folder of states to train on, or to measure on."""

    states: States
    rows: np.ndarray


def sides(folder: Path, held_out: Path | None, seed: int) -> tuple[Side, Side]:
    """What to train on and what to measure on: two folders, or the sentences of one in two parts."""
    from zsnmt.analysis.held_out import split_by_sentence

    states = read_states(folder)
    if held_out is None:
        split = split_by_sentence(states.labels.sentence, seed=seed)
        return Side(states, split.training), Side(states, split.held_out)
    other = read_states(held_out)
    for key in ("model", "target", "layers", "languages"):
        if (one := states.record.get(key)) != (two := other.record.get(key)):
            raise InputError(f"{folder} and {held_out} differ in {key} ({one} and {two}); make both alike with "
                             "scripts/probe_states.py")
    if states.record["text"] == other.record["text"]:
        raise InputError(f"{folder} and {held_out} are states of the same text; give states of another text to measure on")
    return tuple(Side(each, np.arange(len(each.labels.token))) for each in (states, other))


def fit(kind: str, states: np.ndarray, labels: np.ndarray, rows: np.ndarray, seed: int) -> "LinearProbe":
    """A probe of one layer's states N×d by the procedure of that name."""
    from zsnmt.analysis.classifiers import PUBLISHED_BATCH, fit_as_published, fit_to_convergence

    if kind == "exact":
        return fit_to_convergence(states, labels, rows)
    batch_size = max(1, min(PUBLISHED_BATCH, EPOCHS * len(rows) // UPDATES))
    return fit_as_published(states, labels, rows, EPOCHS, batch_size, seed=seed)


def measure(
    kind: str, training: Side, held_out: Side, layer: str, label: str, seed: int
) -> tuple["Accuracy", np.ndarray, np.ndarray]:
    """The accuracy on the held-out rows, with their labels and what is predicted for them."""
    from zsnmt.analysis.held_out import accuracy

    try:
        probe = fit(kind, training.states.layers[layer], getattr(training.states.labels, label), training.rows, seed)
        predicted = probe.predict(held_out.states.layers[layer], held_out.rows)
    except InputError as error:
        raise InputError(f"layer {layer}, {label}: {error}") from error
    true = getattr(held_out.states.labels, label)[held_out.rows]
    return accuracy(probe, true, predicted), true, predicted


def printed(figures: dict[tuple[str, str], "Accuracy"], layers: list[str], labels: list[str]) -> str:
    """Accuracies in per cent beside what needs no states."""
    any_layer = {label: figures[layers[0], label] for label in labels}
    rows = {layer: [figures[layer, label].accuracy for label in labels] for layer in layers}
    rows |= {name: [getattr(figure, name) for figure in any_layer.values()] for name in ("chance", "majority")}
    cells = [[name, *(f"{100 * share:.1f}" for share in shares)] for name, shares in rows.items()]
    unseen = ", ".join(f"{label} {figure.unseen}" for label, figure in any_layer.items())
    heading = f"Accuracy in % on {any_layer[labels[0]].rows} held-out tokens; of a class without training rows: {unseen}"
    return f"{heading}\n\n{text_rows(Table('probes', 'Probes', ['layer', *labels], cells, ''))}"


def write_table(path: Path, columns: list[str], rows: list[list]) -> None:
    with replacing(path) as file:
        file.write(tsv(Table("probes", "Probes", columns, rows, "")).encode("utf-8"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("states", type=Path, help="folder made by scripts/probe_states.py, to train on")
    parser.add_argument("output", type=Path, help="TSV to write; one that is there is replaced at the end")
    parser.add_argument("--held-out", type=Path, metavar="STATES",
                        help="states of the same model for another text, to measure on (default: a fifth of the sentences)")
    parser.add_argument("--kind", choices=("published", "exact"), default="published",
                        help="published: five epochs as in Liu et al. (2021), in batches for about 4000 updates; exact: to "
                        "convergence, for few classes (default: %(default)s)")
    parser.add_argument("--labels", nargs="+", choices=LABELS, default=LABELS, help="what to predict (default: all)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the split and of the training (default: %(default)s)")
    options = parser.parse_args()
    if options.output.is_dir():
        raise InputError(f"{options.output} is a folder; name a TSV file")
    from zsnmt.analysis.held_out import Accuracy, confusion  # loads PyTorch

    training, held_out = sides(options.states, options.held_out, options.seed)
    confusion_file = options.output.with_name(options.output.name.removesuffix(".tsv") + ".confusion.tsv")
    options.output.parent.mkdir(parents=True, exist_ok=True)
    layers, labels, languages = [*training.states.layers], [*dict.fromkeys(options.labels)], training.states.labels.languages
    figures, confused = {}, []
    for layer, label in tqdm([*itertools.product(layers, labels)], "layers and labels", leave=False, disable=None):
        figures[layer, label], true, predicted = measure(options.kind, training, held_out, layer, label, options.seed)
        if label == "language":
            shares = confusion(true, predicted, dict(enumerate(languages)))
            confused += [[layer, language, *of_language] for language, of_language in zip(languages, shares)]
    write_table(options.output, ["layer", "label", *Accuracy._fields], [[*key, *figure] for key, figure in figures.items()])
    if confused:
        write_table(confusion_file, ["layer", "language", *languages], confused)
    else:
        confusion_file.unlink(missing_ok=True)  # an earlier one would not belong to the new figures
    print(printed(figures, layers, labels))


if __name__ == "__main__":
    console.run(main)
