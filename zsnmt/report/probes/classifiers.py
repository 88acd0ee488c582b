"""Classifiers of the layers of a folder of states, as tables: two TSVs, and what a person sees."""

from collections.abc import Sequence
from pathlib import Path

from zsnmt.analysis.held_out import Accuracy
from zsnmt.analysis.layer_classifiers import MeasuredProbe, classify_layers, sides
from zsnmt.analysis.live_classifiers import LiveStates, classify_while_running
from zsnmt.analysis.state_folder import ROWS
from zsnmt.files.replacing import check_output
from zsnmt.report.table import Table, text_rows, write_tsv


def write_classifiers(
    states: Path,
    output: Path,
    *,
    held_out: Path | None,
    kind: str,
    labels: Sequence[str],
    seed: int,
    batches: str = ROWS,
) -> str:
    """Fit probes to `states`, measure them on those of `held_out`, or on a fifth of the sentences, and write
    what `write_tables` does; returns the printed table. Raises `InputError`.
    """
    check_output(output)
    training, measured = sides(states, held_out, seed)
    labels = [*dict.fromkeys(labels)]
    rows = classify_layers(training, measured, kind=kind, labels=labels, seed=seed, batches=batches)
    return write_tables([*rows], training.states.labels.languages, output)


def write_live_classifiers(
    states: LiveStates, output: Path, *, held_out: LiveStates, labels: Sequence[str], seed: int
) -> str:
    """The same of published probes that learn while the encoder runs."""
    rows = classify_while_running(states, held_out, labels=[*dict.fromkeys(labels)], seed=seed)
    return write_tables([*rows], states.labels.languages, output)


def write_tables(rows: Sequence[MeasuredProbe], languages: Sequence[str], output: Path) -> str:
    """Write accuracies by layer and label, and how languages are confused beside them; returns the printed
    table.

    For `out.tsv` the confusions are `out.confusion.tsv`, without which it is where the language is not
    predicted.
    """
    output.parent.mkdir(parents=True, exist_ok=True)
    confused = [
        [row.layer, language, *shares]
        for row in rows
        if row.confusion is not None
        for language, shares in zip(languages, row.confusion)
    ]
    write_tsv(
        output, ["layer", "label", *Accuracy._fields], [[row.layer, row.label, *row.accuracy] for row in rows]
    )
    confusions = output.with_name(output.name.removesuffix(".tsv") + ".confusion.tsv")
    if confused:
        write_tsv(confusions, ["layer", "language", *languages], confused)
    else:
        confusions.unlink(missing_ok=True)  # an earlier one would not belong to the new figures
    return print_rows(rows)


def print_rows(rows: Sequence[MeasuredProbe]) -> str:
    """Accuracies in per cent beside what needs no states."""
    layers, labels = ([*dict.fromkeys(names)] for names in zip(*((row.layer, row.label) for row in rows)))
    figures = {(row.layer, row.label): row.accuracy for row in rows}
    # Chance and majority are those of any layer.
    first = {label: figures[layers[0], label] for label in labels}
    shares = {layer: [figures[layer, label].accuracy for label in labels] for layer in layers}
    shares |= {name: [getattr(figure, name) for figure in first.values()] for name in ("chance", "majority")}
    cells = [[name, *(f"{100 * share:.1f}" for share in of_name)] for name, of_name in shares.items()]
    unseen = ", ".join(f"{label} {figure.unseen}" for label, figure in first.items())
    heading = (
        f"Accuracy in % on {first[labels[0]].rows} held-out tokens; of a class without training rows: "
        f"{unseen}"
    )
    return f"{heading}\n\n{text_rows(Table('probes', 'Probes', ['layer', *labels], rows=cells, about=''))}"
