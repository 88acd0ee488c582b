"""Tables of records of confidence that were made up."""

from zsnmt.report.confidence import confidence_tables

RANKING = {"spearman": -0.125, "interval": [-0.25, 0.004]}
MEASURED = {"kind": "zero_shot", "chrf": 12.34, "mean_log_probability": RANKING}


def record(system):
    return {
        "config": "made_up",
        "system": system,
        "seed": 1,
        "commit": "a" * 40,
        "decoding": {"beam": 4},
        "signatures": {"chrf": "nrefs:1", "intervals": "bs:1000"},
        "directions": [{**MEASURED, "direction": "de-fr"}],
        "means": [{**MEASURED, "directions": 1}],
    }


def test_a_row_has_the_figures_with_their_intervals():
    assert "| plain | 1 | zero-shot | 1 | 12.3 | −0.12 [−0.25, 0.00] | – |" in confidence_tables(
        [record("plain")]
    )


def test_a_bar_in_a_name_does_not_break_the_columns():
    rows = [line for line in confidence_tables([record("a|b")]).splitlines() if line.startswith("|")]
    assert {row.replace("\\|", "").count("|") for row in rows} == {8}
