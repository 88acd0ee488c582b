"""How long a training goes on, by its log."""

import json

import pytest

from zsnmt.runs.time_left import TimeLeft, duration
from zsnmt.training.option_words import given_values


def entry(updates: int, seconds: float, epochs: float, speed: float = 4.0) -> str:
    values = {"num_updates": updates, "wall": seconds, "update": epochs, "ups": speed}
    return (
        f"2026-01-01 | INFO | train_inner | {json.dumps({key: str(value) for key, value in values.items()})}"
    )


SCHEDULE = ["DATA", "--total-num-update", "13800", "--max-epoch", "40", "--patience", "3"]


def test_it_is_measured_on_the_first_updates_and_then_on_all_so_far():
    left = TimeLeft(given_values(SCHEDULE))
    # The rate falls for 13,700 updates more; 40 epochs have 1,380 each. The second
    # time 100 took 50 seconds.
    assert left.after(entry(100, 30, 100 / 1380)) == ", 57 min to 3 h 50 min left"
    assert left.after(entry(200, 80, 200 / 1380)) == ", 1 h 53 min to 7 h 38 min left"
    assert left.after(entry(13_800, 6000, 10.0)) == ", at most 5 h 1 min left"
    assert left.after("2026-01-01 | INFO | valid | {}") == ""


@pytest.mark.parametrize(
    "options, said",
    [
        (["--max-epoch", "10"], ", about 2 min left"),  # 400 updates, as 100 are 2.5 epochs
        (["--max-epoch", "10", "--patience", "3"], ", at most 2 min left"),
        (["--max-epoch", "10", "--patience", "-1"], ", about 2 min left"),  # no patience, to fairseq
        (["--max-update", "150"], ", about 25 s left"),
        (["--max-update", "150", "--max-epoch", "3"], ", about 10 s left"),
        (["--max-update", "100"], ""),
        (["--max-update", "900", "--max-update=150"], ", about 25 s left"),  # the last, as fairseq takes it
        (["--max-update", "150", "--total-num-update", "120"], ", about 25 s left"),  # the rate ends nothing
        (["--total-num-update", "120"], ""),
        (["--total-num-update", "150", "--patience", "2"], ", at least 25 s left"),
        (["--total-num-update", "90", "--patience", "2"], ", and on as long as validation gains"),
        (["--max-epoch", "3", "--max-epoch", "0", "--max-update", "150"], ", about 25 s left"),
        (["--max-update", "0", "--patience", "2"], ", and on as long as validation gains"),
        ([], ""),
    ],
)
def test_the_nearest_end_counts_and_only_patience_comes_before(options, said):
    assert TimeLeft(given_values(options)).after(entry(100, 30, 2.5, speed=2.0)) == said


def test_where_the_clock_stands_the_speed_of_each_entry_counts():
    left = TimeLeft({"--max-update": "17000"})
    assert left.after(entry(14_200, 0, 5.1)) == ", about 12 min left"
    assert left.after(entry(14_300, 0, 5.1, speed=3.0)) == ", about 15 min left"


def test_an_entry_that_lacks_figures_or_was_cut_says_nothing():
    assert TimeLeft(given_values(SCHEDULE)).after('| train_inner | {"num_updates": 1, "wa}') == ""
    assert TimeLeft(given_values(SCHEDULE)).after('| train_inner | {"epoch": 1, "update": 0.5}') == ""
    assert TimeLeft(given_values(SCHEDULE)).after(entry(100, 30, 0.07, speed=0)) == ""


@pytest.mark.parametrize(
    "seconds, said",
    [
        (0.2, "1 s"),
        (29, "29 s"),
        (90, "2 min"),
        (3600, "1 h 0 min"),
        (4800, "1 h 20 min"),
        (2e5, "2 days 7 h"),
    ],
)
def test_a_time_is_said_as_people_say_it(seconds, said):
    assert duration(seconds) == said
