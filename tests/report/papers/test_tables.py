"""Tables of the papers over several configs: our rows, the published ones, what they depend on."""

from dataclasses import replace

import pytest

from tests.conftest import ROOT
from tests.support.kept import CONFIGS
from tests.support.masked_lms import made_up_masked_lm
from tests.support.probes import make_probes
from tests.support.runs import make_run, make_text
from tests.support.scores import made_up_scores
from zsnmt.cli import table as verb
from zsnmt.console import WrongUse
from zsnmt.errors import InputError
from zsnmt.languages import SUPERVISED, Direction
from zsnmt.masked_lm.report import papers as of_masked_lms
from zsnmt.masked_lm.report.page import page as masked_lm_page
from zsnmt.report.comparability import read_runs
from zsnmt.report.comparison import text_table
from zsnmt.report.documents import fill, keep_scores
from zsnmt.report.page import page
from zsnmt.report.papers import NAMES
from zsnmt.report.papers.comparable import NOT_PUBLISHED, VERDICTS, verdict
from zsnmt.report.papers.layout import SOURCE
from zsnmt.report.papers.published import LIU, RAVISHANKAR, published
from zsnmt.report.papers.sources import probes_of
from zsnmt.report.papers.tables import TABLES, beside_papers, markdown_of, text_of
from zsnmt.results import makers
from zsnmt.runs.score_file import write_score_file

SIX = {  # the systems of the appendix, each with another zero-shot score
    "zs_transformer": 5.0,
    "variational": 6.0,
    "zs_transformer_residual": 9.0,
    "residual_variational": 10.0,
    "zs_transformer_residual_query": 8.0,
    "residual_query_variational": 7.0,
}


def runs(config, *seeds, systems=tuple(SIX), **others):
    return [
        replace(made_up_scores(system, seed, SIX[system] + seed - 1), config=config, **others)
        for system in systems
        for seed in seeds or (1,)
    ]


def rows_of(table, title):
    """The figures of a column by the row's name and whose they are, rounded as printed."""
    place = table.columns.index(title)
    return {
        (*row[: table.headers - 1], row[table.headers - 1].partition(",")[0]): row[place] and row[place].head
        for row in table.rows
    }


def test_every_name_is_a_table_of_published_figures():
    everything = TABLES | of_masked_lms.TABLES
    assert [*NAMES] == [*everything]
    for name, one in everything.items():
        printed = published()[one.paper, one.number]
        assert one.name == name and {column for cells in printed.values() for column in cells} <= {
            *one.columns
        }
        data_sets = {key[0] for key in printed}
        assert all(len(key) == len(one.keys) for key in printed)
        assert data_sets & {*one.counterparts.values()}


def test_every_config_with_a_counterpart_has_a_verdict_and_is_a_config():
    counterparts = {config for one in (TABLES | of_masked_lms.TABLES).values() for config in one.counterparts}
    assert counterparts <= {*VERDICTS}
    assert all((ROOT / "configs" / f"{config}.conf").is_file() for config in VERDICTS)
    assert verdict("demo") == NOT_PUBLISHED


def test_a_row_is_a_config_with_the_published_one_below_and_the_others_last():
    table = TABLES["liu_table_3"].table([*runs("demo"), *runs("iwslt17", 1, 2)])
    assert table.columns[:2] == ["data set", SOURCE] and table.headers == 2
    assert [row[:2] for row in table.rows] == [
        ["demo", "ours, seed 1"],
        ["iwslt17", "ours, seeds 1, 2"],
        ["IWSLT", "published, with care"],
        ["Europarl multiway", "published"],
        ["Europarl w/o overlap", "published"],
        ["Europarl full", "published"],
        ["PMIndia", "published"],
    ]
    assert [*rows_of(table, "supervised +query").values()][:3] == ["25.0", "25.0", "29.4"]
    assert [*rows_of(table, "zero-shot residual").values()][:3] == ["9.0", "9.5 ± 0.7", "17.7"]
    assert [row[table.columns.index("zero-shot residual")].note for row in table.rows][:3] == [
        "+4.0",
        "+4.0",
        "+6.9",
    ]


def test_the_pivot_is_the_baselines():
    every = runs("demo")
    other = [scores for scores in every if scores.system != "zs_transformer"]
    assert rows_of(TABLES["liu_table_3"].table(every), "pivot")["demo", "ours"] == "15.5"
    assert rows_of(TABLES["liu_table_3"].table(other), "pivot")["demo", "ours"] is None


def test_rows_have_signatures_of_their_own_and_a_sentence_says_whether_they_compare():
    other = runs("multi30k", signatures={"bleu": "tok:flores101", "off_target": "x"})
    table = TABLES["liu_table_5"].table([*runs("demo"), *other, *runs("europarl_full")])
    assert "demo: BLEU tok:13a; beam 4; 10 lines a direction; zs_transformer seed 1; " in table.signatures
    assert "multi30k: BLEU tok:flores101; beam 4" in table.signatures
    assert "demo, multi30k beside published figures: not comparable, nothing is published" in table.about
    assert "europarl_full beside published figures: not comparable, the paper's training set" in table.about


def test_score_files_that_do_not_say_how_many_lines_there_are_make_a_table():
    known = runs("demo", systems=["zs_transformer", "zs_transformer_residual"])
    unknown = [
        replace(
            scores, results=[replace(each, figures={"bleu": each.figures["bleu"]}) for each in scores.results]
        )
        for scores in known
    ]
    table, without = (TABLES["liu_table_5"].table(each) for each in (known, unknown))
    assert without.rows == table.rows
    assert without.signatures == table.signatures.replace("10 lines a direction; ", "")


def test_runs_of_one_config_must_compare():
    one, other = runs("demo", systems=["zs_transformer", "zs_transformer_residual"])
    with pytest.raises(InputError, match="their settings of decoding differ"):
        TABLES["liu_table_5"].table([one, replace(other, decoding={"beam": 1})])


def test_runs_without_a_system_or_a_figure_are_refused():
    learned = [replace(scores, system="learned") for scores in runs("demo", systems=["zs_transformer"])]
    with pytest.raises(InputError, match="no run of demo is of a system of liu_table_5, which has zs_transf"):
        TABLES["liu_table_5"].table(learned)
    other_families = [replace(scores, families={"de": "A", "fr": "B"}) for scores in runs("demo")]
    said = "the runs of demo have no figure of liu_table_4; score them between two languages of one family"
    with pytest.raises(InputError, match=said):
        TABLES["liu_table_4"].table(other_families)


def test_conditions_of_one_corpus_are_rows():
    """Liu et al., Table 6: the gain of variational dropout by condition."""
    configs = "iwslt17", "iwslt17_little_data", "iwslt17_little_data_marked"
    table = TABLES["liu_table_6"].table([scores for config in configs for scores in runs(config)])
    assert [row[0] for row in table.rows] == [
        *("iwslt17", "normal", "iwslt17_little_data", "little data"),
        *("iwslt17_little_data_marked", "no lexical overlap"),
    ]
    assert [str(row[3]) for row in table.rows] == [
        *("10.0 (+1.0)", "17.7 (+0.0)", "10.0 (+1.0)", "12.9 (+1.0)", "10.0 (+1.0)", "12.2 (+2.5)")
    ]


def test_families_are_rows_of_zero_shot_directions_within_them():
    scores = [replace(scores, families={"de": "Germanic", "fr": "Germanic"}) for scores in runs("demo")]
    table = TABLES["liu_table_4"].table(scores)
    assert table.rows[0][:3] == ["demo", "Germanic", "ours, seed 1"]
    assert [str(cell) for cell in table.rows[0][3:]] == ["5.0", "15.5", "9.0 (−6.5)"]
    assert str(table.rows[1][-1]) == "26.2 (+0.3)"


def test_the_appendix_has_every_direction_its_means_and_seven_columns():
    table = TABLES["liu_appendix"].table(runs("iwslt17"))
    assert table.columns[3:] == [
        *("pivot", "baseline", "baseline +vardrop", "residual", "residual +vardrop"),
        *("residual+query", "residual+query +vardrop"),
    ]
    ours = [row for row in table.rows if row[0] == "iwslt17"]
    assert [row[1] for row in ours] == [
        *("de-en", "en-de", "average supervised", "de-fr", "fr-de", "average zero-shot")
    ]
    assert [str(cell) for cell in ours[-1][3:]] == ["15.5", "5.0", "6.0", "9.0", "10.0", "8.0", "7.0"]
    assert [str(cell) for cell in ours[3][3:5]] == ["15.0", "4.0"]
    below = table.rows[table.rows.index(ours[-1]) + 1]
    assert below[:3] == ["IWSLT", "average zero-shot", "published, with care"] and below[3].head == "19.1"
    assert all("average" in row[1] for row in table.rows if row[2] == "published")


def test_a_new_language_has_a_row_from_it_and_one_into_it():
    of = {"config": "base", "system": "zs_transformer", "seed": 1, "languages": ["en", "de"], "mode": "full"}
    adapted = [replace(scores, adapted_from=of) for scores in runs("multi30k_add_cs")]
    (there, back, *_) = TABLES["liu_table_7"].table(adapted).rows
    assert there[1:3] == ["Xnew →", "ours, seed 1"] and [str(cell) for cell in there[5:]] == ["6.0", "10.0"]
    assert [str(cell) for cell in back[5:]] == ["4.0", "8.0"]
    with pytest.raises(InputError, match="no run of multi30k_add_cs"):  # whose means are of other directions
        TABLES["liu_table_3"].table(adapted)


@pytest.mark.parametrize(
    "name, of",
    [
        ("liu_table_7", "runs that learned a new language .zsnmt adapt."),
        ("li_table_1", "runs of one direction"),
    ],
)
def test_runs_of_the_systems_that_are_not_for_a_table_are_refused_with_the_reason(name, of):
    """Training its systems, which are there, would not help."""
    with pytest.raises(InputError, match=f"no run of demo is for {name}, which is of {of}; leave out the"):
        TABLES[name].table(runs("demo"))


def one_direction(system, direction, bleu):
    scores = made_up_scores(system, 1, 5.0)
    result = next(one for one in scores.results if str(one.direction) == "de-en")
    result = replace(result, direction=Direction(*direction.split("-")), kind=SUPERVISED)
    return replace(
        scores,
        config="iwslt17_en_it_relative",
        languages=["en", "it"],
        results=[replace(result, figures={**result.figures, "bleu": bleu})],
    )


def test_models_of_opposite_directions_stand_in_one_table():
    """Li (2019), Table 1."""
    table = TABLES["li_table_1"].table(
        [
            one_direction("zs_transformer", "en-it", 30.0),
            one_direction("zs_transformer_relative", "en-it", 31.0),
            one_direction("zs_transformer_it_en", "it-en", 35.0),
            one_direction("zs_transformer_relative_it_en", "it-en", 36.0),
        ]
    )
    assert rows_of(table, "EN-IT") | {} == {
        ("iwslt17_en_it_relative", "Trans", "ours"): "30.0",
        ("IWSLT 2017", "Trans", "published"): "32.81",
        ("iwslt17_en_it_relative", "Rel Trans", "ours"): "31.0",
        ("IWSLT 2017", "Rel Trans", "published"): "33.11",
        ("IWSLT 2017", "FBK", "published"): "29.60",
        ("IWSLT 2017", "GTCT", "published"): "32.84",
        ("IWSLT 2017", "KIT", "published"): "32.04",
        ("IWSLT 2017", "KYOTO", "published"): "30.79",
        ("IWSLT 2017", "UDSDFKI", "published"): "29.62",
    }
    assert [*rows_of(table, "IT-EN").values()][:4] == ["35.0", "37.82", "36.0", "37.88"]


@pytest.fixture
def probed(tmp_path):
    text = make_text(tmp_path / "text")
    folders = [make_run(tmp_path, text, system) for system in ("zs_transformer", "zs_transformer_residual")]
    for folder, removed in zip(folders, (None, 2)):
        make_probes(folder, removed)
    return folders


def test_probes_have_rows_by_data_set_and_model(probed):
    """Liu et al., Tables 8 and 9: of the encoder output."""
    items = [*map(probes_of, probed)]
    eight, nine = (TABLES[f"liu_table_{number}"].table(items) for number in (8, 9))
    assert [row[:3] for row in eight.rows][:3] == [
        ["made_up", "baseline", "ours, seed 1"],
        ["made_up", "residual", "ours, seed 1"],
        ["IWSLT", "baseline", "published"],
    ]
    assert [*rows_of(eight, "token id").values()][:4] == ["94.8 %", "54.8 %", "99.9 %", "48.5 %"]
    assert [*rows_of(nine, "SVCCA score").values()][:4] == ["0.495", "0.695", "0.682", "0.703"]
    assert "published procedure" in nine.signatures


def test_a_row_of_an_encoding_names_the_seeds_that_it_is_a_mean_over():
    """Those that have all word orders: a study that was stopped has not."""
    made = {"none": (0, 1, 2), "same": (0, 1, 2), "de": (0, 1), "hi": (0,)}
    items = [made_up_masked_lm("learned", condition, seed) for condition in made for seed in made[condition]]
    table = of_masked_lms.TABLES["ravishankar_table_4"].table(items)
    first = table.rows[0]
    assert first[2] == "ours, seed 0" and first[-1].deviation is None
    further = [made_up_masked_lm("sinusoidal", condition, 1) for condition in ("de", "hi")]
    table = of_masked_lms.TABLES["ravishankar_table_4"].table([*items, *further])
    assert [row[2] for row in table.rows[:2]] == ["ours, at most seeds 0, 1"] * 2
    assert "of made_up learned has seed 0; of made_up sinusoidal has seed 1" in table.about


def test_encodings_are_rows_by_corpus_with_means_over_word_orders():
    """Ravishankar and Søgaard (2021), Table 4."""
    config = {"config": "bert_fake_english_orders"}
    items = [
        made_up_masked_lm(system, condition, 0, **config)
        for system in ("sinusoidal", "tupe_absolute")
        for condition in ("none", "same", "de", "hi")
    ]
    table = of_masked_lms.TABLES["ravishankar_table_4"].table(items)
    assert [row[:3] for row in table.rows[:4]] == [
        ["bert_fake_english_orders, means over EN+[EN∼DE], EN+[EN∼HI]", "Sinusoidal", "ours, seed 0"],
        ["Bible", "Sinusoidal", "published, with care"],
        [table.rows[0][0], "TUPE (absolute)", "ours, seed 0"],
        ["Bible", "TUPE (absolute)", "published, with care"],
    ]
    full = [run.perplexity.full for run in items if run.condition in ("de", "hi")][:2]
    assert table.rows[0][3].mean == pytest.approx(sum(full) / 2)
    assert [cell.head for cell in table.rows[1][3:5]] == ["215.77", "186.53"]
    assert len(table.rows) == 2 + 12


@pytest.mark.slow
def test_the_page_of_masked_lms_has_the_published_rows_of_its_corpus():
    runs = [made_up_masked_lm(config=config) for config in ("bert_wikipedia", "made_up")]
    shown, other = (masked_lm_page([run], []) for run in runs)
    assert shown.count('id="ravishankar_table_4"') == 1 and "published, with care" in shown
    assert "ravishankar_table_4" not in other


def test_terminal_markdown_and_documents_have_them_from_kept_files(tmp_path, capsys):
    for scores in [*runs("demo"), *runs("lonely", systems=["zs_transformer"])]:
        keep_scores(scores, tmp_path)
    paths = [*map(str, sorted((tmp_path / "demo").glob("*.json")))]
    items = TABLES["liu_table_5"].read_kept(tmp_path)
    assert {scores.config for scores in items} == {"demo"}  # one system is no comparison
    verb.main([*paths, "--paper", "liu_table_5"])
    assert capsys.readouterr().out == text_of(TABLES["liu_table_5"], items) + "\n"
    verb.main([*paths, "--paper", "liu_table_5", "--markdown"])
    assert capsys.readouterr().out == markdown_of(TABLES["liu_table_5"], items) + "\n"
    filled = fill("<!-- begin liu_table_5 -->\n<!-- end liu_table_5 -->\n", tmp_path, makers())
    assert "| demo | ours, seed 1 | 5.0 | 6.0 | 9.0 | 10.0 |\n| IWSLT | published | 10.8 |" in filled
    assert filled.count("`bash recipes/train.sh") == 4
    with pytest.raises(InputError, match="holds no config with two systems of liu_table_9"):
        fill("<!-- begin liu_table_9 -->\n<!-- end liu_table_9 -->\n", tmp_path, makers())


def test_the_project_keeps_runs_for_some_of_them():
    of_table_3 = {scores.config for scores in TABLES["liu_table_3"].read_kept(ROOT / "docs" / "results")}
    assert {"demo", "multi30k_nonoverlap", "word_orders"} <= of_table_3 <= {*CONFIGS}


def test_every_direction_of_a_paper_is_a_table_of_its_own(tmp_path):
    with pytest.raises(WrongUse, match="liu_appendix has every direction"):
        verb.main([str(tmp_path), "--paper", "liu_table_3", "--directions"])


def test_kept_score_files_stand_side_by_side_as_runs_do(tmp_path, capsys):
    kept = [keep_scores(scores, tmp_path) for scores in runs("demo")]
    verb.main([*map(str, kept)])
    assert capsys.readouterr().out == text_table(runs("demo")) + "\n"
    (tmp_path / "notes.md").write_text("of somebody")
    with pytest.raises(InputError, match="notes.md is not a score file; give a run folder, or a .json of z"):
        verb.main([str(tmp_path / "notes.md")])
    with pytest.raises(InputError, match="none.json: there is no such file; name one that is there"):
        verb.main([str(kept[0]), str(tmp_path / "none.json")])


def test_results_shows_them_and_says_that_the_papers_bible_rows_are_otherwise():
    """Perplexity of TUPE, claim by claim; the numbers are those of published.tsv."""
    text = (ROOT / "docs" / "results" / "papers.md").read_text(encoding="utf-8")
    blocks = "liu_table_3", "liu_table_7", "liu_table_8", "liu_table_9", "ravishankar_table_4"
    assert all(f"<!-- begin {name} -->\n|" in text for name in blocks)
    printed = published()[RAVISHANKAR, "Table 4"]
    perplexity = {row: float(cells["perplexity, full"]) for row, cells in printed.items()}
    for tupe in ("TUPE (absolute)", "TUPE (relative)"):
        assert perplexity["Bible", tupe] > perplexity["Bible", "Sinusoidal"]
        assert perplexity["Wiki/CC", tupe] < perplexity["Wiki/CC", "Sinusoidal"]
    assert "The paper's own Bible rows differ from its Wikipedia rows" in text
    results = " ".join((ROOT / "RESULTS.md").read_text(encoding="utf-8").split())
    assert "in the paper's rows on the Bible untied encodings are *behind* sinusoids in perplexity" in results


def test_the_page_has_them_where_something_is_published_of_the_config(tmp_path):
    found = [table.name for table in beside_papers(runs("iwslt17"), [])]
    assert found == ["liu_table_3", "liu_table_5", "liu_table_6", "liu_appendix"]  # no family has two
    assert beside_papers(runs("demo"), []) == []
    (three, *_) = beside_papers(runs("iwslt17"), [])
    assert [row[0] for row in three.rows] == ["iwslt17", published_row(three)]


def published_row(table):
    return next(row[0] for row in table.rows if (row[0],) in published()[LIU, "Table 3"])


@pytest.mark.slow
def test_the_page_shows_them_below_the_summary(tmp_path):
    folders = [make_run(tmp_path, make_text(tmp_path / "text"))]
    for scores in runs("iwslt17", systems=["zs_transformer", "zs_transformer_residual"]):
        folder = tmp_path / "iwslt17" / scores.system
        folder.mkdir(parents=True)
        write_score_file(folder / "scores.json", scores)
        folders.append(folder)
    shown = page(read_runs(folders[1:]), {}, 1)
    assert shown.count('id="table.liu_table_3"') == shown.count('href="#papers"') == 1
    assert "published, with care" in shown
    assert 'href="#papers"' not in page(read_runs(folders[:1]), {}, 1)


def test_a_row_of_systems_with_unlike_seeds_says_which_has_fewer():
    one, two = runs("demo", 1), runs("demo", 2)
    table = TABLES["liu_table_3"].table([*one, *(scores for scores in two if "residual" in scores.system)])
    assert table.rows[0][1] == "ours, at most seeds 1, 2"
    assert "all seeds that a system has: of demo zs_transformer has seed 1." in table.about
    assert "all seeds that a system has" not in TABLES["liu_table_3"].table([*one, *two]).about
