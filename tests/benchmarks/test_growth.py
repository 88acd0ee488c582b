"""How the cost of each step grows."""

import json
import re

import pytest

from tests.conftest import run_command
from zsnmt.benchmarks import growth_steps
from zsnmt.benchmarks.growth import ROWS, drawing, power, table
from zsnmt.benchmarks.growth_steps import Cost, Size, measure
from zsnmt.errors import InputError

PARTS = "start update validation supervised zero-shot systems bytes".split() + [
    "through the pivot",
    "every direction",
]  # of any step
STEPS = ("text", "data", "training", "evaluation", "tables", "report_page")


def made_up(size: Size) -> dict[str, Cost]:
    """What takes the square of the number of languages, and memory that is always the same."""
    return {
        step: Cost(float(size.languages**2), 300.0, dict.fromkeys(PARTS, float(size.languages**2)))
        for step in STEPS
    }


def test_the_power_of_growth_is_a_slope_on_logarithmic_axes():
    assert power([2, 4, 16], [3 * 2**1.5, 3 * 4**1.5, 3 * 16**1.5]) == pytest.approx(1.5)
    assert str(power([2], [3])) == str(power([2, 4], [0, 3])) == "nan"


def test_a_quantity_stands_beside_the_work_that_it_is_of():
    costs = {size: made_up(size) for size in (Size(5, 10, 8), Size(10, 10, 8), Size(50, 10, 8))}
    title, rule, *rows = table("languages", costs)
    assert title == "| languages | 5 | 10 | 50 | power | of the last two | its work | power |"
    assert len(rows) == len(ROWS) and {row.count("|") for row in (title, rule, *rows)} == {9}
    assert "| evaluation, s | 25 | 100 | 2,500 | 2.00 | 2.00 | directions | 2.08 |" in rows
    assert "| memory of training, MB | 300 | 300 | 300 | 0.00 | 0.00 | nothing | 0.00 |" in rows


@pytest.fixture
def steps(monkeypatch) -> list[str]:
    """The steps that were done, of two that each leave a file and are measured in this process."""
    done: list[str] = []

    def text(experiment):
        (experiment.folder / "text").mkdir(parents=True)
        done.append("text")

    def data(experiment):
        done.append("data")
        if done == ["text", "data"]:
            raise InterruptedError

    monkeypatch.setattr(growth_steps, "STEPS", (text, data))
    monkeypatch.setattr(growth_steps, "measured", lambda job: Cost(1.5, 2.5, job() or {}))
    return done


def test_an_experiment_that_was_stopped_is_measured_from_its_beginning(tmp_path, steps):
    """What a stopped step leaves would be there already, and the step seem cheap."""
    with pytest.raises(InterruptedError):
        measure(Size(3, 20, 16), tmp_path, updates=2, lines=2)
    costs = measure(Size(3, 20, 16), tmp_path, updates=2, lines=2)
    assert steps == ["text", "data", "text", "data"]
    assert costs == dict.fromkeys(("text", "data"), Cost(1.5, 2.5, {}))
    assert measure(Size(3, 20, 16), tmp_path, updates=2, lines=2) == costs and len(steps) == 4


def test_a_cost_that_is_damaged_is_refused(tmp_path, steps):
    steps += ["before"]
    measure(Size(3, 20, 16), tmp_path, updates=2, lines=2)
    (file,) = tmp_path.glob("*/cost.data.json")
    file.write_text('{"seconds": 1.0}')
    with pytest.raises(
        InputError, match=f"{file} is damaged .*; remove it, then measure the experiment again"
    ):
        measure(Size(3, 20, 16), tmp_path, updates=2, lines=2)


@pytest.mark.slow
def test_growth_is_drawn_with_a_panel_for_each_quantity_and_a_line_for_each_series():
    of_languages = [Size(5, 10, 8), Size(10, 10, 8), Size(50, 10, 8)]
    of_widths = [Size(5, 10, 8), Size(5, 10, 16)]
    drawn = drawing(
        {
            "languages": {size: made_up(size) for size in of_languages},
            "width": {size: made_up(size) for size in of_widths},
        }
    )
    assert [axes.get_title() for axes in drawn.axes] == [row.title for row in ROWS]
    languages, _, widths, expected = drawn.axes[
        3
    ].get_lines()  # an update: the square of the width is its work
    assert [*languages.get_xdata()] == [1, 2, 10] and [*languages.get_ydata()] == [25, 100, 2500]
    assert [*widths.get_xdata()] == [1, 2] and [*widths.get_ydata()] == [25, 25]
    assert [*expected.get_ydata()] == [25, 100]
    (legend,) = drawn.legends
    labels = [each.get_text() for each in legend.get_texts()]
    assert labels == ["languages: 5 to 50", "width of the model: 8 to 16"]


@pytest.mark.slow
def test_every_step_is_measured_once_and_kept(tmp_path):
    smallest = "--languages 3 --pairs 20 --widths 16 --updates 2 --lines 2".split()
    kept = ["--folder", tmp_path / "kept", "--output", tmp_path / "growth.json"]
    command = ["python", "-m", "zsnmt", "benchmark", "growth", *smallest, *kept]
    printed = run_command(*command)
    assert printed.returncode == 0, printed.stderr
    assert printed.stdout.count("\n| ") == 1 + len(ROWS) and not re.search(r"\| -|\bnan\b", printed.stdout)
    (experiment,) = json.loads((tmp_path / "growth.json").read_text())["experiments"]
    assert experiment["report_page"]["parts"]["bytes"] > 1e5 and {*STEPS} < {*experiment}
    assert all(experiment[step]["memory"] > 50 for step in STEPS)  # MB, with the libraries
    again = run_command(*command)
    assert again.stdout.splitlines()[2:] == printed.stdout.splitlines()[2:]  # nothing was measured anew
    with pytest.raises(InputError, match="is of other updates or lines"):
        measure(Size(3, 20, 16), tmp_path / "kept", updates=2, lines=3)
