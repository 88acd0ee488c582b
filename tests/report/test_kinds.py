"""Directions that are zero-shot to one system and zero-resource to another, which learned from synthetic
text.
"""

import re
from dataclasses import replace

import pytest

from tests.support.resampled import with_resamples
from tests.support.runs import make_text, write_run
from tests.support.scores import made_up_scores, without
from zsnmt.errors import InputError
from zsnmt.languages import FAMILIES, FEW_SHOT, SUPERVISED, ZERO_RESOURCE, ZERO_SHOT, Direction
from zsnmt.report.brief_table import brief_table, brief_table_of_kinds
from zsnmt.report.comparability import check_comparable, read_runs
from zsnmt.report.comparison import every_direction, markdown_table, text_table
from zsnmt.report.directions import direction_gains_table
from zsnmt.report.examples import examples
from zsnmt.report.finding import in_every_way
from zsnmt.report.page import page
from zsnmt.report.scores import all_directions
from zsnmt.report.systems import gains_table, systems_table, tables
from zsnmt.runs.ways import DIRECT, PIVOT


def distilled(seed: int, direct: float):
    """Scores of a student: what is zero-shot to others has another kind."""
    scores = made_up_scores("student", seed, direct)
    kinds = {SUPERVISED: SUPERVISED, ZERO_SHOT: ZERO_RESOURCE}
    return replace(scores, results=[replace(result, kind=kinds[result.kind]) for result in scores.results])


TEACHER = [with_resamples(made_up_scores("teacher", seed, 5.0 + seed)) for seed in (1, 2)]
STUDENT = [with_resamples(distilled(seed, 20.0 + seed)) for seed in (1, 2)]


def cell(table, row, title):
    return table.rows[row][table.columns.index(title)]


def test_each_kind_has_columns_of_its_own_and_none_of_the_other():
    systems = systems_table([*TEACHER, *STUDENT])
    assert cell(systems, 0, "zero-shot").mean == 6.5 and cell(systems, 1, "zero-shot") is None
    assert cell(systems, 0, "zero-resource") is None and cell(systems, 1, "zero-resource").mean == 21.5
    assert cell(systems, 1, "zero-resource minus pivot").mean == pytest.approx(21.5 - 15.5)
    alone = text_table(STUDENT) + markdown_table(STUDENT) + every_direction(STUDENT)
    assert "zero-resource" in alone and "zero-shot" not in alone


def test_the_caption_counts_the_kinds_of_each():
    shown = " ".join(text_table([*TEACHER, *STUDENT]).split())
    assert (
        "means over 2 supervised and 2 zero-shot directions, the latter also through en; to student 2 "
        "supervised and 2 zero-resource directions, the latter also through en;" in shown
    )


def test_a_gain_is_over_the_same_directions_of_the_other_system():
    gains = gains_table([*TEACHER, *STUDENT])
    direct, pivot = (cell(gains, 0, f"zero-resource{way}") for way in ("", " through pivot"))
    assert direct.mean == pytest.approx(15.0) and direct.p is not None and pivot.mean == pytest.approx(0.0)
    assert gains.about.startswith("The zero-resource directions are zero-shot to teacher.")
    by_direction = direction_gains_table([*TEACHER, *STUDENT])
    found = {row[0]: row for row in by_direction.rows}
    assert found["de-fr"][1] == "zero-resource"
    assert found["de-fr"][by_direction.columns.index("BLEU")].mean == pytest.approx(15.0)


def test_rows_of_directions_and_families_have_the_kind_of_their_system():
    header, _, *rows = every_direction([*TEACHER, *STUDENT]).split("\n")
    kinds = {tuple(row.split(" | ")[:3]) for row in rows}
    assert {("| de-fr", "zero-shot", "teacher"), ("| de-fr", "zero-resource", "student")} <= kinds
    of_one_family = [
        replace(scores, families=dict.fromkeys(FAMILIES, "One")) for scores in [*TEACHER, *STUDENT]
    ]
    families = tables(of_one_family)["families"]
    assert cell(families, 0, "zero-shot").mean == 6.5 and cell(families, 1, "zero-resource").mean == 21.5
    assert families.about.startswith("BLEU, means over the zero-shot and zero-resource directions")


def test_a_few_lines_make_a_kind_of_their_own_beside_the_others():
    kinds = {ZERO_RESOURCE: FEW_SHOT, SUPERVISED: SUPERVISED}
    few = [
        replace(
            scores,
            system="few",
            results=[replace(result, kind=kinds[result.kind]) for result in scores.results],
        )
        for scores in STUDENT
    ]
    check_comparable([*TEACHER, *STUDENT, *few])
    systems = systems_table([*TEACHER, *STUDENT, *few])
    shown = {row[0]: dict(zip(systems.columns, row)) for row in systems.rows}
    for system, title in (("teacher", "zero-shot"), ("student", "zero-resource"), ("few", "few-shot")):
        for each in ("zero-shot", "zero-resource", "few-shot"):
            assert (shown[system][each] is not None) == (each == title)
    assert "The few-shot directions are zero-shot to teacher." in gains_table([*TEACHER, *few]).about
    assert {*all_directions([*few, *TEACHER]).values()} == {ZERO_SHOT, SUPERVISED}
    with pytest.raises(InputError, match=r"fr-de \(without text by people, or with a few lines through"):
        check_comparable([TEACHER[0], replace(few[0], results=few[0].results[:-1])])


def test_other_kinds_are_still_told_apart():
    first, *others = STUDENT[0].results
    with pytest.raises(InputError, match=r"only teacher seed 1 has de-en \(supervised\)"):
        check_comparable([TEACHER[0], replace(STUDENT[0], results=others)])
    lost = [result for result in STUDENT[0].results if (result.kind, result.way) != (ZERO_RESOURCE, PIVOT)]
    with pytest.raises(InputError, match=r"de-fr \(without text by people through pivot\)"):
        check_comparable([TEACHER[0], replace(STUDENT[0], results=lost)])
    assert first.way == DIRECT


@pytest.mark.slow
def test_the_page_names_each_kind(tmp_path):
    text = make_text(tmp_path / "text")
    runs = read_runs([write_run(tmp_path, text, scores) for scores in [*TEACHER, *STUDENT]])
    html = page(runs, examples(runs, 3), 1)
    assert (
        "on supervised directions alone, but of student on all trained directions that have validation text, "
        "which may be synthetic." in " ".join(html.split())
    )
    assert "which may be synthetic" not in page(runs[:2], {}, 1)
    assert "<h1>made_up: zero-shot and zero-resource against pivot</h1>" in html
    assert "zero-resource directions have synthetic text alone; zero-shot directions have none." in html
    assert "de → fr, zero-shot, zero-resource" in html and Direction("de", "fr") in examples(runs, 3)
    curves = '<svg.*?</svg>|id="table.training_means".*?</table>'  # of validations that were made up
    html = re.sub(curves, "", page(runs[2:], examples(runs[2:], 3), 1), flags=re.DOTALL)
    assert "zero-resource against pivot" in html and "de → fr, zero-resource" in html
    assert "zero-shot" not in html


def test_figures_to_choose_by_stand_in_the_same_columns_whatever_the_kind():
    plain, student = (
        made_up_scores("teacher", 1, 5.0),
        replace(distilled(1, 14.0), pivot_by="teacher, seed 1"),
    )
    assert brief_table_of_kinds([plain]) is None
    table = tables([plain, student])["in_short"]
    assert table.columns[2:] == ["with en", "others, directly", "others, through en", "wrong language"]
    shown = {row[0]: [cell and cell.mean for cell in row[2:5]] for row in table.rows}
    assert shown == {plain.system: [25.0, 5.0, 15.5], student.system: [25.0, 14.0, None]}


def test_what_is_best_directly_stands_first_on_a_page_and_in_the_given_order_on_a_screen():
    runs = [made_up_scores(name, 1, score) for name, score in (("worse", 5.0), ("best", 9.0), ("worst", 2.0))]
    runs.append(distilled(1, 7.0))
    names = ["worse", "best", "worst", runs[-1].system]
    table, page = brief_table(runs), tables(runs)["in_short"]
    assert [row[0] for row in table.rows] == names
    assert [row[0] for row in page.rows] == ["best", runs[-1].system, "worse", "worst"]
    assert sorted(page.rows, key=str) == sorted(table.rows, key=str)
    assert "stands first" in page.about and "stands first" not in table.about


def adapted(base: str, seed: int, kinds: dict[str, str]):
    """Scores in which each direction without text has a kind of its own."""
    scores = made_up_scores(base, seed, 8.0)
    return replace(
        scores,
        results=[
            replace(result, kind=kinds.get(str(result.direction), result.kind)) for result in scores.results
        ],
    )


def test_means_in_short_are_over_all_directions_whatever_their_kinds():
    """As of a student to which a language was added: some are zero-resource, the new ones zero-shot."""
    plain = adapted("plain", 1, {})
    student = adapted("student", 1, {"de-fr": ZERO_RESOURCE})
    short, gains = brief_table([plain, student]), gains_table([plain, student])
    for title in ("with en", "others, directly", "others, through en"):
        one, other = (cell(short, row, title).mean for row in (0, 1))
        assert one == pytest.approx(other), title
    for column in gains.columns[1:]:
        found = cell(gains, 0, column)
        assert found is None or found.mean == pytest.approx(0), column
    assert cell(gains, 0, "zero-resource") and cell(gains, 0, "zero-shot")


def test_it_is_said_where_a_mean_in_short_is_not_over_all_directions():
    """Of a system with text of a pair without the pivot, which is not translated through it."""
    trained = without(adapted("plain", 1, {"de-fr": SUPERVISED}), ("de-fr", PIVOT))
    short = brief_table([trained])
    notes = {title: cell(short, 0, title).note for title in short.columns[2:]}
    assert notes.pop("others, through en") == "1 of 2 directions" and {*notes.values()} == {""}
    assert in_every_way([trained]).endswith("directly 8.0; through en 16.0 (1 of 2 directions).")


def test_a_difference_from_directions_of_several_kinds_is_not_made():
    student = adapted("student", 1, {"de-fr": ZERO_RESOURCE})
    assert cell(gains_table([student, adapted("plain", 1, {})]), 0, "zero-shot") is None
