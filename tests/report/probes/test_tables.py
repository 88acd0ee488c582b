"""Tables and drawings of probes."""

from statistics import fmean, stdev

import pytest
from matplotlib.colors import to_hex

from tests.support.probes import LABELS, LAYERS, make_probes
from tests.support.runs import make_run, make_text
from zsnmt.languages import Direction
from zsnmt.report import figures
from zsnmt.report.comparability import read_runs
from zsnmt.report.probes.figures import confusion_maps, probe_figures
from zsnmt.report.probes.folder import probes_of
from zsnmt.report.probes.tables import details, headlines
from zsnmt.report.table import Measured

SYSTEMS = ["other", "baseline", "residual"]
REMOVED = {"baseline": None, "residual": 2}


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    text = make_text(folder / "text")
    runs = [make_run(folder, text, system, seed) for system in REMOVED for seed in (1, 2)]
    for run in runs:
        make_probes(run, REMOVED[run.parent.name])
    return probes_of(read_runs(runs))


@pytest.fixture(scope="module")
def tables(found):
    return {table.name: table for table in (*headlines(found), *details(found))}


def column(table, title):
    return {row[0]: row[table.columns.index(title)] for row in table.rows}


def test_the_encoder_output_has_a_row_a_system_and_one_for_what_needs_no_states(found, tables):
    positions = tables["probe_positions"]
    assert positions.columns == ["system", "seeds", "token id", "position id"]
    for label in ("token", "position"):
        cells = column(positions, f"{label} id")
        assert [*cells] == ["baseline", "residual", "majority class", "chance"]
        assert (cells["chance"].mean, cells["majority class"].mean) == LABELS[label]
        of_seeds = [
            one.classified["final"][label].accuracy for one in found if one.record["system"] == "residual"
        ]
        assert (cells["residual"].mean, cells["residual"].deviation) == (fmean(of_seeds), stdev(of_seeds))
    assert "900 held-out tokens" in positions.about and "token id, 3." in positions.about
    assert (
        "Text 0123456789abcdef, split test, 40 sentences in en, de, fr; classifiers: published procedure, 200"
        in positions.signatures
    )


def test_similarity_stands_beside_what_independent_states_have(found, tables):
    table = tables["probe_similarity"]
    score, independent, difference = (
        column(table, title) for title in ("SVCCA", "SVCCA if independent", "SVCCA − independent")
    )
    pairs = [pair for one in found[:2] for pair in one.similarities["final"]]
    assert score["baseline"].mean == pytest.approx(fmean(pair.svcca for pair in pairs))
    for system in REMOVED:
        assert difference[system].mean == pytest.approx(score[system].mean - independent[system].mean)
        assert str(difference[system]).startswith("+")
    assert score["chance"].mean == pytest.approx(0.35) and column(table, "CKA")["chance"].mean == 0
    assert (
        column(table, "retrieval")["chance"].mean == pytest.approx(1 / 40)
        and column(table, "SVCCA")["majority class"] is None
    )
    assert column(table, "retrieval")["baseline"].mean == pytest.approx(
        fmean((pair.forward + pair.backward) / 2 for pair in pairs)
    )
    assert "3 pairs of languages of 40 sentences" in table.about


def test_every_layer_is_there_and_the_removed_one_marked(tables):
    table = tables["probe_layers"]
    assert [row[:3] for row in table.rows] == [
        [layer, system, "removed" if (layer, system) == ("2", "residual") else None]
        for layer in LAYERS
        for system in REMOVED
    ]
    last = dict(zip(table.columns, table.rows[-1]))
    assert last["token id"] == column(tables["probe_positions"], "token id")["residual"]
    assert last["SVCCA"] == column(tables["probe_similarity"], "SVCCA")["residual"]


def test_without_a_removed_layer_no_column_speaks_of_it(found):
    assert "residual" not in details(found[:2])[0].columns


def test_confused_languages_add_up(tables):
    rows = tables["probe_confusion"].rows
    assert [row[:2] for row in rows] == [[system, true] for system in REMOVED for true in ("en", "de", "fr")]
    assert all(sum(cell.mean for cell in row[2:]) == pytest.approx(1) for row in rows)
    assert [cell.mean for cell in rows[4][2:]] == pytest.approx([0.2, 0.6, 0.2])


def test_what_made_the_probes_is_said(tables):
    assert tables["probe_runs"].rows[-1] == [
        "residual",
        "2",
        "b" * 12,
        "torch 2.0",
        "bash recipes/probe.sh residual",
    ]


def test_without_probes_there_is_nothing():
    assert headlines([]) == details([]) == probe_figures([], SYSTEMS) == confusion_maps([]) == []


def test_without_similarity_there_are_the_classifiers(tmp_path):
    run = make_run(tmp_path, make_text(tmp_path / "text"), "baseline", 1)
    lines = {"en": 1200, "de": 9}
    made = make_probes(run, figures=False, classifiers_only=True, batches="sentences", train_lines=lines)
    (made / "similarity.tsv").unlink()
    found = probes_of(read_runs([run]))
    tables = {table.name: table for table in (*headlines(found), *details(found))}
    table = tables["probe_similarity"]
    assert table.columns == ["system", "seeds", "language id"] and "SVCCA" not in table.about
    assert "published procedure, whole sentences, 1,200 (en), 9 (de) training lines" in table.signatures
    assert "SVCCA" not in tables["probe_layers"].columns and "probe_confusion" in tables
    assert "probe_figures" not in tables and "variance by token" not in tables["probe_layers"].columns
    assert [name for name, *_ in probe_figures(found, ["baseline"])] == ["probe_accuracy"]


def test_figures_of_the_encoder_output_stand_beside_those_of_every_layer(found, tables):
    table, titles = (
        tables["probe_figures"],
        ["variance by position", "variance by language", "variance by token"],
    )
    assert table.columns == ["system", "seeds", *titles] and tables["probe_layers"].columns[-3:] == titles
    assert [row[0] for row in table.rows] == ["baseline", "residual", "chance"]
    of_seeds = [one.figures["final"]["position_variance"] for one in found[:2]]
    assert (table.rows[0][2].mean, table.rows[0][2].deviation) == (fmean(of_seeds), stdev(of_seeds))
    assert str(table.rows[0][2]) == "46.6 ± 0.3 %" and {cell.mean for cell in table.rows[2][2:]} == {0}
    assert table.about.count("Variance by ") == 3 and table.signatures == tables["probe_positions"].signatures


def test_systems_without_figures_have_dashes_beside_those_that_have_some(tmp_path):
    text = make_text(tmp_path / "text")
    runs = [make_run(tmp_path, text, system, 1) for system in REMOVED]
    for run in runs:
        make_probes(run, figures=run.parent.name == "residual")
    found = probes_of(read_runs(runs))
    (table,) = (table for table in headlines(found) if table.name == "probe_figures")
    assert table.rows[0][2:] == [None] * 3 and None not in table.rows[1][2:]
    (drawing,) = (figure for name, _, figure in probe_figures(found, SYSTEMS) if name == "probe_figures")
    assert [(len(lines(axes, "baseline")), len(lines(axes, "residual"))) for axes in drawing.axes] == [
        (0, 1)
    ] * 3


def test_what_classifiers_are_measured_on_is_said_where_it_is_another_text(tmp_path):
    run = make_run(tmp_path, make_text(tmp_path / "text"), "baseline", 1)
    make_probes(run, held_out_text="00ff", held_out_lines={"en": 41, "de": 40, "fr": 40})
    (table, *_) = headlines(probes_of(read_runs([run])))
    assert ", measured on text 00ff, 41 (en), 40 (de), 40 (fr) lines of each language;" in table.signatures


def test_with_some_labels_there_is_the_rest(tmp_path):
    run = make_run(tmp_path, make_text(tmp_path / "text"))
    make_probes(run, labels=("language",))
    found = probes_of(read_runs([run]))
    assert [table.name for table in (*headlines(found), *details(found))] == [
        "probe_similarity",
        "probe_figures",
        "probe_layers",
        "probe_confusion",
        "probe_runs",
    ]
    assert not {"token id", "position id"} & {*details(found)[0].columns}
    assert [axes.get_title() for axes in probe_figures(found, SYSTEMS)[0][2].axes] == ["language id, %"]
    (tmp_path / "more").mkdir()
    other = make_run(tmp_path / "more", tmp_path / "text")
    make_probes(other, labels=("position",))
    found = probes_of(read_runs([other]))
    assert not confusion_maps(found) and headlines(found)[0].columns == ["system", "seeds", "position id"]


@pytest.fixture(scope="module")
def drawn(found):
    return {name: figure for name, _, figure in probe_figures(found, SYSTEMS)}


def lines(axes, system):
    """The lines with markers in the colour of a system."""
    look = figures.look(SYSTEMS.index(system))
    return [
        line
        for line in axes.get_lines()
        if line.get_color() == look["color"] and line.get_marker() == look["marker"]
    ]


def test_a_panel_has_a_line_a_run_and_the_tables_figures(found, drawn, tables):
    accuracy, similarity = drawn["probe_accuracy"].axes, drawn["probe_similarity"].axes
    assert [axes.get_title() for axes in accuracy] == ["token id, %", "position id, %", "language id, %"]
    assert [axes.get_title() for axes in similarity] == [
        "SVCCA",
        "SVCCA − independent",
        "CKA",
        "retrieval, %",
    ]
    for axes in (*accuracy, *similarity):
        assert [label.get_text() for label in axes.get_xticklabels()] == LAYERS
        title = axes.get_title().removesuffix(", %")
        for system in REMOVED:
            ends = [
                line.get_ydata()[-1] / (100 if "%" in axes.get_title() else 1) for line in lines(axes, system)
            ]
            rows = [row for row in tables["probe_layers"].rows if row[:2] == ["final", system]]
            (cell,) = (row[tables["probe_layers"].columns.index(title)] for row in rows)
            assert len(ends) == 2 and isinstance(cell, Measured) and fmean(ends) == pytest.approx(cell.mean)


def test_the_removed_layer_is_marked_in_the_systems_colour_in_every_panel(drawn):
    residual = figures.look(SYSTEMS.index("residual"))["color"]
    for figure in drawn.values():
        for axes in figure.axes:
            marks = [line for line in axes.get_lines() if [*line.get_xdata()] == [2, 2]]
            assert [line.get_color() for line in marks] == [residual]
        (legend,) = figure.legends
        colours = {
            text.get_text(): to_hex(line.get_color())
            for text, line in zip(legend.get_texts(), legend.get_lines())
        }
        assert colours["residual removed"] == residual.lower() and {"baseline", "residual"} < colours.keys()
        assert "other" not in colours


def test_marks_of_two_systems_at_one_layer_are_both_seen(tmp_path):
    text = make_text(tmp_path / "text")
    runs = [make_run(tmp_path, text, system) for system in ("residual", "residual_query")]
    for run in runs:
        make_probes(run, 2)
    axes = probe_figures(probes_of(read_runs(runs)), ["residual", "residual_query"])[0][2].axes[0]
    marks = [line for line in axes.get_lines() if [*line.get_xdata()] == [2, 2]]
    assert (
        len({line.get_color() for line in marks})
        == len({line._unscaled_dash_pattern[0] for line in marks})
        == 2
    )


def test_the_strokes_of_svcca_are_named_for_what_they_are(drawn):
    keys = {
        name: [text.get_text() for text in figure.legends[0].get_texts()] for name, figure in drawn.items()
    }
    assert {"independent states", "Gaussian noise", "chance"} < {*keys["probe_similarity"]}
    assert "Gaussian noise" not in keys["probe_accuracy"] and "chance" in keys["probe_accuracy"]
    svcca, _, cka, _ = drawn["probe_similarity"].axes
    strokes = [
        {line.get_linestyle() for line in axes.get_lines() if line.get_color() == figures.INK}
        for axes in (svcca, cka)
    ]
    patterns = [
        [line._unscaled_dash_pattern[1] for line in axes.get_lines() if line.get_color() == figures.INK]
        for axes in (svcca, cka)
    ]
    assert all(strokes) and patterns[0] != patterns[1]


def test_what_needs_no_states_is_drawn_beside(drawn):
    token, svcca = drawn["probe_accuracy"].axes[0], drawn["probe_similarity"].axes[0]
    assert [[*line.get_ydata()] for line in token.get_lines() if line.get_color() == figures.INK] == [
        [4.0] * 5,
        [1.0] * 5,
    ]
    assert [[*line.get_ydata()] for line in svcca.get_lines() if line.get_color() == figures.INK] == [
        pytest.approx([0.35] * 5)
    ]
    independent = [
        [*line.get_ydata()]
        for line in svcca.get_lines()
        if line.get_marker() == "None" and len(line.get_ydata()) == 5
    ]
    assert [0.3, 0.3, 0.31, 0.31, 0.31] in [pytest.approx(values) for values in independent]
    assert all(axes.get_ylim()[0] <= 0 for figure in drawn.values() for axes in figure.axes)


@pytest.mark.slow
def test_drawings_take_the_pages_text_colour(drawn):
    for name, figure in drawn.items():
        svg = figures.inline_svg(figure, name, "by layer")
        assert "currentColor" in svg and figures.INK not in svg and "residual removed" in svg


def test_maps_of_confused_languages_have_true_ones_down_and_one_scale(found):
    baseline, residual = confusion_maps(found)
    assert (baseline.system, residual.system) == ("baseline", "residual")
    assert residual.values[Direction("de", "de")] == pytest.approx(60) and residual.values[
        Direction("de", "fr")
    ] == pytest.approx(20)
    assert {(cells.low, cells.high, cells.down, cells.across) for cells in (baseline, residual)} == {
        (0, 100, "true", "predicted")
    }
    axes = figures.heat_map(residual).axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("predicted", "true")
    assert [text.get_text() for text in axes.texts] == [
        "60.0",
        "20.0",
        "20.0",
        "20.0",
        "60.0",
        "20.0",
        "20.0",
        "20.0",
        "60.0",
    ]
