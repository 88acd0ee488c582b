"""Figures of the layers: what is declared, and that steps, files, tables, drawings and page follow it."""

import json
from dataclasses import replace

import numpy as np
import pytest

from tests.support.probes import LANGUAGES, LAYERS, make_probes
from tests.support.runs import make_run, make_text
from zsnmt.analysis import layer_figures
from zsnmt.analysis.layer_figures import LAYER_FIGURES, LayerFigure
from zsnmt.analysis.state_folder import LABELS, LABELS_FILE, STATES_FILE, Labels, States, allocate, layer_file
from zsnmt.errors import InputError
from zsnmt.probing.settings import Probing
from zsnmt.probing.steps import FIGURES, FIGURES_TABLE, STATES, ProbeSteps
from zsnmt.report.comparability import read_runs
from zsnmt.report.comparison import probes_markdown
from zsnmt.report.documents import keep_probes, kept_probes
from zsnmt.report.page import page
from zsnmt.report.probes import folder as probes_folder
from zsnmt.report.probes.figures import probe_figures
from zsnmt.report.probes.folder import probes_of
from zsnmt.report.probes.tables import details, headlines
from zsnmt.report.table import FORMS
from zsnmt.training.steps import Steps

NORM = LayerFigure(
    "mean_length",
    "mean length",
    "svcca",
    lambda states, labels: float(np.linalg.norm(states, axis=1).mean()) if labels.languages else None,
    "Mean length: how long the states are.",
    reference=4.25,
)
ROWS, DIMENSION = 30, 4


def make_states() -> States:
    """States of the layers of `LAYERS`: of the position in layer 0, of the language in layer 1, of the token
    in layer 2, and noise in the others.
    """
    generator = np.random.default_rng(1)
    of_rows = [generator.integers(number, size=ROWS) for number in (len(LANGUAGES), 5, 4)]
    labels = Labels(LANGUAGES, *of_rows, np.zeros(ROWS, int))
    known = dict(zip(LAYERS, (labels.position, labels.language, labels.token)))
    layers = {
        layer: generator.standard_normal((ROWS, DIMENSION))[known.get(layer, np.arange(ROWS))].astype("f4")
        for layer in LAYERS
    }
    return States(layers, labels, {})


def write_folder(folder) -> None:
    """The folder of these states."""
    states = make_states()
    folder.mkdir()
    allocate(folder, LAYERS, (ROWS, DIMENSION))
    for layer, rows in states.layers.items():
        np.save(layer_file(folder, layer), rows)
    np.savez(folder / LABELS_FILE, **states.labels._asdict())
    about = {"model": "a", "text": "b", "target": None, "translations": True, "dimension": DIMENSION}
    about |= {"sentences": 1, "layers": LAYERS, "languages": LANGUAGES}
    (folder / STATES_FILE).write_text(json.dumps(about))


@pytest.fixture
def run(tmp_path):
    return make_run(tmp_path, make_text(tmp_path / "text"), "residual", 1)


def test_each_figure_is_declared_whole():
    names = [figure.name for figure in LAYER_FIGURES]
    assert names == [f"{label}_variance" for label in ("position", "language", "token")]
    for figure in LAYER_FIGURES:
        assert figure.form in FORMS and figure.reference == 0 and figure.highest == 1
        assert figure.about.startswith(figure.title.capitalize()) and figure.about.endswith(".")


def test_a_layer_that_is_of_one_label_has_all_of_its_variance():
    figures = dict(layer_figures.layer_figures(make_states()))
    assert [*figures] == LAYERS
    for layer, label in zip(LAYERS, ("position", "language", "token")):
        for other in LABELS:
            share = figures[layer][f"{other}_variance"]
            assert share == pytest.approx(1) if other == label else share < 0.7
    assert max(figures["final"].values()) < 0.5


def test_states_that_are_not_finite_are_named_by_their_layer():
    states = make_states()
    states.layers["2"][3, 1] = np.nan
    with pytest.raises(InputError, match="layer 2: a state is not finite"):
        [*layer_figures.layer_figures(states)]


@pytest.mark.slow
def test_a_new_figure_needs_nothing_but_its_declaration(run, tmp_path, monkeypatch, capsys):
    """From the step of the probes to the page, with one figure more."""
    monkeypatch.setattr(layer_figures, "LAYER_FIGURES", (*LAYER_FIGURES, NORM))
    steps, new = Steps("probe"), tmp_path / "new"
    new.mkdir()
    steps.make(new, STATES, new / STATES, work=lambda: write_folder(new / STATES), settings={"lines": 1})
    made = ProbeSteps(steps, run, tmp_path / "text", probing=Probing(), new=new)
    made.make_figures(STATES)
    lengths = {
        layer: np.linalg.norm(rows, axis=1).mean().item() for layer, rows in make_states().layers.items()
    }
    printed = (new / FIGURES).read_text()
    assert "Mean length: how long the states are." in printed
    assert all(f"{length:.3f}" in printed for length in lengths.values())
    replace(made, steps=Steps("probe")).make_figures(STATES)
    assert capsys.readouterr().err.count("layer_figures: done before") == 1

    probes = make_probes(run, removed=2)
    (new / FIGURES_TABLE).replace(probes / FIGURES_TABLE)
    found = probes_of(read_runs([run]))
    assert {layer: values["mean_length"] for layer, values in found[0].figures.items()} == lengths
    tables = {table.name: table for table in (*headlines(found), *details(found))}
    table = tables["probe_figures"]
    assert [row[0] for row in table.rows] == ["residual", "chance"]
    final, chance = (dict(zip(table.columns, row)) for row in table.rows)
    assert (final["mean length"].mean, chance["mean length"].mean) == (lengths["final"], 4.25)
    place = tables["probe_layers"].columns.index("mean length")
    assert [row[place].mean for row in tables["probe_layers"].rows] == [*lengths.values()]
    _, _, drawn = probe_figures(found, ["residual"])[-1]
    assert [axes.get_title() for axes in drawn.axes][-2:] == ["variance by token, %", "mean length"]
    drawn_values = [[*line.get_ydata()] for line in drawn.axes[-1].get_lines()]
    assert [4.25] * len(LAYERS) in drawn_values and [*lengths.values()] in drawn_values
    shown = page(read_runs([run]), {}, 1)
    assert "Mean length: how long the states are." in shown and "Figures of the states by layer" in shown
    keep_probes(run, tmp_path / "kept")
    assert "| mean length |" in probes_markdown(kept_probes(tmp_path / "kept", "made_up"))


def test_the_steps_write_the_file_that_is_read():
    assert FIGURES_TABLE == probes_folder.FIGURES


def test_a_figure_that_is_removed_or_added_makes_the_step_anew(tmp_path, monkeypatch, capsys):
    (tmp_path / "new").mkdir()
    steps, new = Steps("probe"), tmp_path / "new"
    steps.make(new, STATES, new / STATES, work=lambda: write_folder(new / STATES), settings={"lines": 1})
    made = ProbeSteps(steps, tmp_path, tmp_path, probing=Probing(), new=new)
    made.make_figures(STATES)
    monkeypatch.setattr(layer_figures, "LAYER_FIGURES", LAYER_FIGURES[:1])
    made.make_figures(STATES)
    assert (new / FIGURES_TABLE).read_text().startswith("layer\tposition_variance\n")
    assert "done before" not in capsys.readouterr().err
