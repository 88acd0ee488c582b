"""Documents with tables from score files."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.support.masked_lms import grid, made_up_masked_lm, write_runs
from tests.support.probes import make_probes
from tests.support.resampled import with_resamples, without_resamples
from tests.support.runs import make_run, make_text
from tests.support.scores import all_changed, made_up_scores
from zsnmt.errors import InputError
from zsnmt.masked_lm.report.columns import WAVES
from zsnmt.masked_lm.report.kept_inference import FOLDER as INFERENCE
from zsnmt.masked_lm.report.kept_scores import FOLDER as MASKED_LMS
from zsnmt.masked_lm.report.kept_scores import keep_masked_lm, kept_masked_lms
from zsnmt.masked_lm.report.runs import sort_runs
from zsnmt.masked_lm.report.text_tables import markdown_report
from zsnmt.report.comparability import read_runs
from zsnmt.report.comparison import every_direction, markdown_table, text_in_short
from zsnmt.report.confidence import FOLDER as CONFIDENCE
from zsnmt.report.config_pages import list_of_pages, new_page
from zsnmt.report.documents import (
    OVERLAPS,
    ROUND_TRIPS,
    fill,
    fill_file,
    keep_probes,
    keep_scores,
    kept_probes,
    kept_scores,
    make_portable,
)
from zsnmt.report.probes.folder import probes_of
from zsnmt.results import documents, makers
from zsnmt.runs.probe_folder import PROBES
from zsnmt.runs.score_file import read_score_file
from zsnmt.runs.scores import Scores
from zsnmt.runs.ways import DIRECT


@pytest.mark.parametrize("made", [lambda scores: scores, with_resamples])
def test_blocks_are_filled_and_the_rest_is_left_alone(tmp_path, made):
    scores = [
        made(made_up_scores(system, seed, 5.0))
        for system in ("residual_query", "baseline")
        for seed in (2, 1)
    ]
    for entry in scores:
        keep_scores(replace(entry, text="/somewhere/private"), tmp_path)
    document = "before\n<!-- begin made_up -->\nold\n<!-- end made_up -->\nmiddle\n"
    filled = fill(document, tmp_path, makers())
    assert filled.startswith("before\n") and "\nmiddle\n" in filled and "old" not in filled
    kept = [replace(entry, results=without_resamples(entry.results)) for entry in scores[::-1]]
    assert all(form(kept) in filled for form in (markdown_table, every_direction))
    assert fill(filled, tmp_path, makers()) == filled
    assert not any("private" in path.read_text() for path in tmp_path.rglob("*.json"))
    assert kept_scores(tmp_path, "made_up") == kept  # with the resamples of means


def test_a_kept_file_is_taken_apart_once_and_again_when_it_says_something_else(tmp_path):
    first, second = (made_up_scores("baseline", 1, bleu) for bleu in (5.0, 6.0))
    path = keep_scores(first, tmp_path)
    (kept,), (again,) = kept_scores(tmp_path, "made_up"), kept_scores(tmp_path, "made_up")
    assert kept is again and kept.results == without_resamples(first.results)
    assert keep_scores(second, tmp_path) == path
    assert kept_scores(tmp_path, "made_up")[0].results == without_resamples(second.results) != kept.results


def test_a_block_of_the_demo_has_its_two_systems_as_a_terminal_shows_them(tmp_path):
    systems = "zs_transformer", "zs_transformer_residual"
    demo = [made_up_scores(system, seed, 5.0) for system in systems for seed in (1, 2)]
    for scores in [*demo, made_up_scores("learned", 1, 7.0)]:
        keep_scores(scores, tmp_path)
    filled = fill("<!-- begin made_up:demo -->\n<!-- end made_up:demo -->", tmp_path, makers())
    assert f"```\n{text_in_short(demo)}\n```" in filled and fill(filled, tmp_path, makers()) == filled


def test_what_overlaps_and_what_comes_back_have_tables_too(tmp_path):
    counts = dict(lines=1000, valid=2, test=3, overlapping=4, removed=4, kept=996)
    for folder, name, content in (
        ("overlap", "corpus", {"en-de": counts, "en-fr": counts}),
        ("overlap", "a|b", {"en-de": counts}),
        (
            "round_trip",
            "talks",
            dict(
                commit="a" * 40,
                units="no subwords",
                languages={
                    "de": dict(
                        kind="raw", sentences=1234, respelt=0, exact=99.5, spaced=0.5, recased=0, lost=0
                    )
                },
            ),
        ),
    ):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / f"{name}.json").write_text(json.dumps(content))
    filled = fill(
        "".join(f"<!-- begin {name} -->\n<!-- end {name} -->\n" for name in ("overlap", "talks:round_trip")),
        tmp_path,
        makers(),
    )
    assert "| corpus | 2 | 2,000 | 4 | 6 | 8 |" in filled and "| a\\|b | 1 | 1,000 |" in filled
    assert (
        "| de | `raw` | 1,234 | 0.00 % | 99.50 % | 0.50 % | 0.00 % | 0.00 % |" in filled
        and "aaaaaaaaaaaa" in filled
    )


@pytest.fixture
def probed(tmp_path):
    """Run folders with probes, the residual's first."""
    text = make_text(tmp_path / "text")
    runs = [
        make_run(tmp_path, text, *run) for run in (("residual_query", 1), ("baseline", 1), ("baseline", 2))
    ]
    for run in runs:
        make_probes(run, 2 if run.parent.name == "residual_query" else None, folder=str(run))
    return runs


def test_kept_probes_say_what_those_of_the_runs_say(probed, tmp_path):
    paths = [keep_probes(run, tmp_path / "kept") for run in probed]
    assert paths[0] == tmp_path / "kept" / "made_up" / "probes" / "residual_query.seed1.json"
    assert kept_probes(tmp_path / "kept", "made_up") == probes_of(read_runs([*probed[1:], probed[0]]))
    assert not any(str(tmp_path) in path.read_text() for path in paths)


def test_a_block_of_probes_has_tables_like_the_papers_and_the_rest_folded(probed, tmp_path):
    for run in probed:
        keep_probes(run, tmp_path)
    filled = fill("<!-- begin made_up:probes -->\n<!-- end made_up:probes -->", tmp_path, makers())
    shown, _, hidden = filled.partition("<details>")
    assert (
        "| baseline | 1, 2 | 94.7 ± 0.1 % | 94.7 ± 0.1 % |" in shown
        and "| residual_query | 1 | 54.8 % | 54.8 % |" in shown
    )
    assert (
        "| chance | – | 1.0 % | 5.0 % |" in shown
        and "| SVCCA if independent |" in shown
        and shown.count("± is the deviation") == 1
    )
    assert (
        "| 2 | residual_query | removed |" in hidden
        and "`bash" not in shown
        and "bash recipes/probe.sh residual_query" in hidden
    )
    assert (
        filled.count("<details>") == filled.count("</details>") == 3
        and fill(filled, tmp_path, makers()) == filled
    )


def test_probes_that_cannot_be_kept_or_compared_are_refused(probed, tmp_path):
    with pytest.raises(InputError, match="holds no probes"):
        fill("<!-- begin made_up:probes -->\n<!-- end made_up:probes -->", tmp_path, makers())
    keep_probes(probed[1], tmp_path)
    (probed[0] / "probes" / "classifiers.tsv").write_text("layer\n")
    with pytest.raises(InputError, match="classifiers.tsv in .* has the columns layer, not"):
        keep_probes(probed[0], tmp_path)
    path = keep_probes(probed[2], tmp_path)
    path.write_text(path.read_text().replace("0123456789abcdef", "other"))
    filled = fill("<!-- begin made_up:probes -->\n<!-- end made_up:probes -->", tmp_path, makers())
    assert "probed otherwise: baseline seed 2 (other probed texts" in filled and "| baseline | 1 |" in filled


def test_kept_masked_lms_have_the_tables_of_their_runs_without_what_is_only_drawn(tmp_path):
    runs = grid(("learned", "tupe_absolute", "no_word_position"), seeds=(0, 42))
    paths = [keep_masked_lm(run, tmp_path / "kept") for run in write_runs(tmp_path / "runs", runs)]
    assert paths[-1] == tmp_path / "kept" / "made_up" / "compression" / "de.no_word_position.seed42.json"
    kept = kept_masked_lms(tmp_path / "kept", "made_up")
    assert kept == sort_runs([replace(run, correlations=None) for run in runs])
    assert 0.2 < WAVES.of(kept[0]) < 1
    filled = fill(
        "<!-- begin made_up:compression -->\n<!-- end made_up:compression -->", tmp_path / "kept", makers()
    )
    assert markdown_report(sort_runs(runs)) in filled and fill(filled, tmp_path / "kept", makers()) == filled
    assert (
        filled.count("<details>") == filled.count("</details>") == 2
        and runs[0].command in filled.split("<details>")[2]
    )


def test_masked_lms_that_cannot_be_kept_or_compared_are_refused(tmp_path):
    block = "<!-- begin made_up:compression -->\n<!-- end made_up:compression -->"
    with pytest.raises(InputError, match="compression holds no score files; add masked LMs with"):
        fill(block, tmp_path, makers())
    for seed, epochs in ((0, 10), (1, 11)):
        keep_masked_lm(
            *write_runs(tmp_path / "runs", [made_up_masked_lm(seed=seed, epochs=epochs)]), tmp_path
        )
    with pytest.raises(InputError, match="their epochs differ"):
        fill(block, tmp_path, makers())
    with pytest.raises(InputError, match="masked_lm.json is missing"):
        keep_masked_lm(tmp_path, tmp_path)


@pytest.mark.parametrize("name", ["../elsewhere", "/elsewhere", "a/b", "..", ".git"])
def test_names_of_a_score_file_lead_nowhere_else(tmp_path, name):
    scores = read_score_file(next((ROOT / "docs/results/demo").glob("*.json")), "score it again")
    for field in ("config", "system"):
        with pytest.raises(InputError, match=f"'{name}' cannot name a file of results"):
            keep_scores(replace(scores, **{field: name}), tmp_path / "kept")
    assert not [*tmp_path.iterdir()]


def test_a_block_without_scores_is_refused(tmp_path):
    with pytest.raises(InputError, match="holds no score files"):
        fill("<!-- begin nothing -->\n<!-- end nothing -->", tmp_path, makers())


def test_a_block_of_a_form_that_nothing_makes_is_refused(tmp_path):
    with pytest.raises(
        InputError,
        match="block 'demo:tables' has a form .* write demo, demo:demo, demo:probes, .*, demo:compression, ",
    ):
        fill("<!-- begin demo:tables -->\n<!-- end demo:tables -->", tmp_path, makers())


@pytest.mark.parametrize(
    "document",
    [
        "<!-- begin one -->\nold\n",
        "<!-- begin one -->\nold\n<!-- end two -->\n",
        "<!-- begin one --> \nold\n<!-- end one -->\n",
        "old\n<!-- end one -->\n",
    ],
)
def test_a_mark_without_its_other_one_is_refused(tmp_path, document):
    with pytest.raises(
        InputError, match="stands alone, so that its block would not be filled; write '<!-- be"
    ):
        fill(document, tmp_path, {"one": lambda folder, config: "new"})


def test_a_fault_of_a_file_names_it_and_leaves_it_alone(tmp_path):
    (page := tmp_path / "page.md").write_text("<!-- begin one -->\nold\n")
    with pytest.raises(InputError, match="page.md: '<!-- begin one -->' stands alone"):
        fill_file(page, tmp_path, {"one": lambda folder, config: "new"})
    assert page.read_text() == "<!-- begin one -->\nold\n"


def test_a_mark_within_a_line_is_none_of_a_block(tmp_path):
    prose = "`zsnmt results` fills what is between `<!-- begin one -->` and `<!-- end one -->`.\n"
    assert fill(prose, tmp_path, {"one": lambda folder, config: "new"}) == prose


def test_the_page_of_a_config_whose_name_has_spaces_is_filled_and_linked(tmp_path):
    keep_scores(replace(made_up_scores("baseline", 1, 5.0), config="my text"), tmp_path)
    page = new_page(tmp_path, "my text")
    assert "[configs/my text.conf](../../configs/my%20text.conf)" in page
    assert "| baseline | 1 | " in fill(page, tmp_path, makers())
    (tmp_path / "my text.md").write_text(page, encoding="utf-8")
    assert list_of_pages(tmp_path, "") == "* [my text](my%20text.md)"


def test_a_block_has_the_maker_of_its_name_before_that_of_its_form(tmp_path):
    document = "".join(
        f"<!-- begin {name} -->\n<!-- end {name} -->\n" for name in ("one", "two", "two:short")
    )
    some = {
        "one": lambda folder, config: f"whole {config}",
        "": lambda folder, config: config,
        ":short": lambda folder, config: config[:1],
    }
    assert fill(document, tmp_path, some).splitlines()[1::3] == ["whole one", "two", "t"]


@pytest.mark.slow
@pytest.mark.parametrize("path", documents(), ids=lambda path: path.name)
def test_the_projects_tables_are_those_of_its_score_files(path):
    document = path.read_text(encoding="utf-8")
    assert fill(document, ROOT / "docs" / "results", makers()) == document


@pytest.fixture(scope="module")
def kept_files():
    """The score files that the project keeps: those of translation, of masked LMs and of inference."""
    files = [
        path
        for path in (ROOT / "docs" / "results").rglob("*.json")
        if path.parent.name not in (ROUND_TRIPS, OVERLAPS, PROBES, CONFIDENCE)
    ]
    masked, inference = (
        [path for path in files if path.parent.name == folder] for folder in (MASKED_LMS, INFERENCE)
    )
    return sorted({*files} - {*masked, *inference}), masked, inference


def says_how_it_was_made(scores):
    """A recipe or fairseq's own training; or an averaging of a run whose score file is kept as well."""
    command = scores["command"].split()
    if command[:2] == ["zsnmt", "average"]:
        runs, config, system, seed = Path(command[2]).parts
        kept = ROOT / "docs" / "results" / config / f"{system}.{seed}.json"
        known = runs == "runs" and kept.is_file()
    else:
        known = scores["command"].startswith(("bash recipes/", "fairseq-train "))
    return known and len(scores["commit"].split("+")[0]) == 40


def test_every_kept_score_file_says_how_it_was_made(kept_files):
    files, *_ = kept_files
    assert files
    for path in files:
        scores = json.loads(path.read_text(encoding="utf-8"))
        assert says_how_it_was_made(scores), path
        assert (
            path.name == f"{scores['system']}.seed{scores['seed']}.json"
            and path.parent.name == scores["config"]
        )
        assert scores["signatures"]["bleu"] and scores["training"]


def test_every_kept_masked_lm_says_how_it_was_made(kept_files):
    _, masked, _ = kept_files
    assert masked
    for path in masked:
        scores = json.loads(path.read_text(encoding="utf-8"))
        assert says_how_it_was_made(scores) and scores["versions"] and scores["updates"], path
        assert path.name == f"{scores['condition']}.{scores['system']}.seed{scores['seed']}.json"
        assert path.parent.parent.name == scores["config"]


def test_all_kept_accuracies_say_how_they_were_made(kept_files):
    *_, inference = kept_files
    assert inference
    for path in inference:
        scores = json.loads(path.read_text(encoding="utf-8"))
        assert says_how_it_was_made(scores) and scores["versions"] and scores["pairs"]["train"], path
        assert path.name == f"{scores['system']}.seed{scores['seed']}.json"
        assert path.parent.parent.name == scores["config"]


def test_what_is_kept_names_no_folder_of_a_machine(tmp_path):
    """Neither in the command nor in what the run records of its teacher."""
    run = "/home/someone/project/runs/made_up/teacher/seed3"
    record = {"distilled_from": {"run": run, "rounds": [run]}, "learned": 0.5}
    scores = replace(
        made_up_scores("zs_transformer", 1, 5.0),
        command=f"bash recipes/distill.sh /tmp/own.conf {run} --share 0.5",
        others=record,
    )
    (kept,) = [read_score_file(keep_scores(scores, tmp_path), "")]
    assert kept.command == "bash recipes/distill.sh own.conf runs/made_up/teacher/seed3 --share 0.5"
    named = "runs/made_up/teacher/seed3"
    assert (
        kept.others["distilled_from"] == {"run": named, "rounds": [named]} and kept.others["learned"] == 0.5
    )


def test_what_is_kept_of_other_ways_of_a_model_stays(tmp_path):
    scores = made_up_scores("zs_transformer", 1, zero_shot=10)
    direct = replace(scores, results=[each for each in scores.results if each.way == DIRECT])
    better = all_changed(direct, bleu=40.0)

    def kept(*one_after_the_other: Scores) -> dict:
        for each in one_after_the_other:
            path = keep_scores(each, tmp_path)
        found = read_score_file(path, "").results
        path.unlink()
        return {(str(each.direction), each.way): each.figures["bleu"] for each in found}

    assert kept(scores, better) == kept(scores) | kept(better)
    for changed in (
        {"decoding": {"beam": 1}},
        {"test_set": "another"},
        {"signatures": {**scores.signatures, "bleu": "char"}},
    ):
        assert kept(scores, replace(direct, **changed)) == kept(direct)
    damaged = keep_scores(scores, tmp_path)
    damaged.write_text("{")
    assert kept(direct) == {(str(each.direction), DIRECT): each.figures["bleu"] for each in direct.results}


@pytest.mark.parametrize(
    "command, kept",
    [
        (
            "zsnmt train /home/me/a.conf -- --restore-file=/home/me/a.pt",
            "zsnmt train a.conf -- --restore-file=a.pt",
        ),
        ("zsnmt train '/home/me/my dir/b.conf'", "zsnmt train 'b.conf'"),
        ("zsnmt evaluate /home/me/out/tiny/base/seed1", "zsnmt evaluate runs/tiny/base/seed1"),
        ("see https://example.org/a and and/or (2/3)", "see https://example.org/a and and/or (2/3)"),
    ],
)
def test_what_is_kept_names_no_place_of_a_machine(command, kept):
    assert make_portable({"command": [command]}) == {"command": [kept]}
