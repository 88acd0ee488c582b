"""Systems whose checkpoints were chosen on zero-shot validation are marked wherever they stand."""

from dataclasses import replace

import pytest

from tests.support.runs import make_text, validate, write_run
from tests.support.scores import made_up_scores
from zsnmt.errors import InputError
from zsnmt.report.comparability import check_comparable, read_runs
from zsnmt.report.comparison import every_direction, markdown_table, text_table
from zsnmt.report.documents import keep_scores, kept_scores
from zsnmt.report.marks import MARK, marked
from zsnmt.report.page import page
from zsnmt.report.papers.tables import TABLES
from zsnmt.report.systems import tables
from zsnmt.report.table import Table
from zsnmt.runs.folder import CHECKPOINTS, describe_run
from zsnmt.runs.scores import Scores

SYSTEMS = "zs_transformer", "zs_transformer_residual"
SAID = "zs_transformer_residual: checkpoints were chosen on validation text of zero-shot directions too"


@pytest.fixture
def scores() -> list[Scores]:
    """Of a baseline, and of a model that was stopped by its zero-shot loss."""
    baseline, residual = (made_up_scores(system, 1, 5.0) for system in SYSTEMS)
    return [baseline, replace(residual, chosen_on=["de-fr", "fr-de"])]


def test_every_table_of_systems_has_the_mark_and_what_it_means(scores):
    for name, table in tables(scores).items():
        place = table.columns.index("system")
        assert {row[place] for row in table.rows} <= {SYSTEMS[0], f"{SYSTEMS[1]} {MARK}"}, name
        assert any(row[place].endswith(MARK) for row in table.rows) and SAID in table.note, name


def test_terminal_and_markdown_have_it(scores):
    for shown in (text_table(scores), markdown_table(scores)):
        assert f"{SYSTEMS[1]} {MARK}" in shown and SAID in " ".join(shown.split())
    assert f"{SYSTEMS[1]} {MARK}" in every_direction(scores)


def test_tables_of_papers_have_it(scores):
    table = TABLES["liu_table_3"].table(scores)
    assert table.rows[0][1] == f"ours, seed 1 {MARK}" and f"{MARK} made_up {SAID}" in table.about


def test_without_such_systems_nothing_is_marked(scores):
    plain = [replace(each, chosen_on=None) for each in scores]
    assert MARK not in text_table(plain) + markdown_table(plain) + every_direction(plain)
    assert MARK not in str(TABLES["liu_table_3"].table(plain))


def test_seeds_of_one_system_are_all_chosen_alike(scores):
    other = replace(scores[1], seed=2, chosen_on=None)
    with pytest.raises(InputError, match="are not seeds of one system: trained; trained, checkpoints chosen"):
        check_comparable([*scores, other])


def test_seeds_of_one_system_were_trained_on_the_same_text_as_far_as_that_is_known(scores, tmp_path):
    one, other, older = (
        replace(scores[0], seed=seed, training_text=text) for seed, text in enumerate(("a", "b", None), 4)
    )
    check_comparable([one, older, replace(other, training_text="a")])
    with pytest.raises(InputError, match="of one system: seeds 4 and 5 were trained on different text"):
        check_comparable([one, older, other])
    keep_scores(one, tmp_path)
    keep_scores(older, tmp_path)
    assert [each.training_text for each in kept_scores(tmp_path, "made_up")] == ["a", None]


def test_a_score_file_keeps_it(scores, tmp_path):
    for each in scores:
        keep_scores(each, tmp_path)
    assert [each.chosen_on for each in kept_scores(tmp_path, "made_up")] == [None, ["de-fr", "fr-de"]]


@pytest.mark.slow
def test_a_run_says_it_by_its_validations_and_the_page_by_its_scores(scores, tmp_path):
    text = make_text(tmp_path / "text")
    folders = [write_run(tmp_path, text, each) for each in scores]
    (folders[1] / "run.json").write_text('{"config": "c", "system": "s", "text": "t", "seed": 1}')
    assert "chosen_on" not in describe_run(folders[1])
    validate(folders[1] / CHECKPOINTS, 4, ["de-fr", "de-en"], ["de-en"], decisive=["de-fr", "de-en"])
    assert describe_run(folders[1])["chosen_on"] == ["de-fr"]
    shown = page(read_runs(folders), {}, 1)
    assert SAID in shown and "directions alone, but of zs_transformer_residual seed 1 on all" in shown


def test_a_table_without_the_system_does_not_explain_the_mark(scores):
    table = Table("some", "Some", ["system", "BLEU"], rows=[[SYSTEMS[0], None]], about="Some.")
    assert marked(table, scores) == table
