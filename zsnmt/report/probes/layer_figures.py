"""The figures of the layers of a folder of states, as tables: a TSV, and what a person sees."""

from pathlib import Path

from zsnmt.analysis import layer_figures
from zsnmt.analysis.state_folder import read_states
from zsnmt.files.replacing import check_output
from zsnmt.report.table import Cell, Table, join_sentences, seed_cell, text_rows, wrap, write_tsv


def write_layer_figures(states: Path, output: Path) -> str:
    """Write a TSV with one row per layer, and a column for each of `LAYER_FIGURES`; returns the printed
    table. Raises `InputError`.
    """
    check_output(output)
    figures, by_layer = layer_figures.LAYER_FIGURES, [*layer_figures.layer_figures(read_states(states))]
    output.parent.mkdir(parents=True, exist_ok=True)
    rows = [[layer, *values.values()] for layer, values in by_layer]
    write_tsv(output, ["layer", *(figure.name for figure in figures)], rows)
    cells: list[list[Cell]] = [
        [layer, *(seed_cell(figure.form, [values[figure.name]]) for figure in figures)]
        for layer, values in by_layer
    ]
    about, titles = join_sentences(figure.about for figure in figures), [figure.title for figure in figures]
    table = Table("layer_figures", "Figures of the states", ["layer", *titles], rows=cells, about=about)
    return f"{wrap(about)}\n\n{text_rows(table)}"
