"""The plan of runs that claims need: what is asked for, in which order, at what cost, and how it is done."""

import json
import os
import shlex
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.support.scores import made_up_scores
from zsnmt.claims import plan as planning
from zsnmt.claims.costs import pieces_of_text, training_hours, updates
from zsnmt.claims.jobs import do_job, do_jobs, in_project
from zsnmt.claims.needs import Need, ablation, adaptation, masked_lm, probing
from zsnmt.claims.papers import CLAIMS, claim_names
from zsnmt.claims.plan import (
    FOLDER,
    HOURS_FILE,
    Job,
    Places,
    chains,
    most_seeds,
    plan,
    select_within_budget,
)
from zsnmt.claims.plan_tables import hours_side_by_side, jobs_table, power_table, terminal_text
from zsnmt.claims.table import Outcome, beside_published, power
from zsnmt.claims.verdicts import Effect, seeds_that_tell
from zsnmt.cli import claims
from zsnmt.errors import InputError
from zsnmt.masked_lm.runs import SCORES_FILE
from zsnmt.report.documents import keep_scores
from zsnmt.report.table import Measured, Table
from zsnmt.runs.folder import MODEL_FILE
from zsnmt.runs.systems import BASELINE, RESIDUAL
from zsnmt.training.config import read_config
from zsnmt.training.fairseq_options import training_options
from zsnmt.training.machine import Machine
from zsnmt.training.steps import Steps

BY_NAME = {claim.name: claim for claim in CLAIMS}
OPEN = [Outcome(claim, []) for claim in CLAIMS]


@pytest.fixture
def places(tmp_path) -> Places:
    variables = {**os.environ, "ROOT": str(ROOT), "TATOEBA": str(tmp_path / "nothing")}
    return Places(ROOT, tmp_path / "runs", tmp_path / "kept", variables=variables)


def jobs_of(places: Places, *claims: str) -> list[Job]:
    return plan(OPEN, places, claims)


def on_invented(jobs: Sequence[Job]) -> list[Job]:
    """Those of the invented languages, where a claim is tested on other text as well."""
    return [job for job in jobs if job.name.startswith("word_orders_")]


def test_every_claim_that_is_not_tested_has_runs_or_a_reason():
    assert all(claim.needs or claim.lacks or claim.evidence for claim in CLAIMS)
    names = [need.name for need in dict.fromkeys(need for claim in CLAIMS for need in claim.needs)]
    assert len(set(names)) == len(names)  # which name files


def test_a_job_for_each_seed_the_first_seeds_first_and_the_cheapest_claim_first(places):
    jobs = on_invented(jobs_of(places, "L18", "L21", "L22"))
    assert [job.name for job in jobs] == [
        f"word_orders_{study}_seed{seed}" for seed in (1, 2, 3) for study in ("removal_layer", "replacement")
    ]
    assert jobs[0].claims == ["L18", "L21"] and jobs[1].claims == ["L22"]
    assert jobs[0].commands(places.runs) == ["zsnmt ablate configs/word_orders.conf removal_layer --seeds 1"]


@pytest.mark.parametrize(
    ("config", "value", "deviation", "tell", "last"),
    [
        ("word_orders", -5.0, 2.5, 6, 6),  # so many tell that it is below zero
        ("word_orders", -1.5, 3.0, 64, 3),  # too many would be needed
        ("word_orders", -9.0, 2.0, 3, 3),  # which are planned
        ("word_orders", -5.0, None, "two or more", 3),  # of one seed the deviation is not known
        ("demo → word_orders", -5.0, 2.5, 6, 6),
        ("demo", -5.0, 2.5, 6, 3),  # of which the claim needs no more runs
    ],
)
def test_more_seeds_are_planned_where_a_few_more_would_tell(places, config, value, deviation, tell, last):
    interval = value - 10.0, value + 10.0
    effect = Effect(
        config,
        [[1, 2, 3]],
        Measured("bleu", value, interval=interval, difference=True),
        several=True,
        deviations=() if deviation is None else (deviation, deviation),
    )
    jobs = on_invented(plan([Outcome(BY_NAME["L18"], [effect])], places, ["L18"]))
    assert [job.seed for job in jobs] == [*range(1, last + 1)]
    shown = terminal_text(power_table([Outcome(BY_NAME["L18"], [effect])], ["L18"])).splitlines()[-1]
    assert shown.endswith(f" {tell}")


def test_of_cheap_jobs_more_seeds_are_planned(places, monkeypatch):
    measured = Measured("bleu", -3.0, interval=(-9.0, 3.0), difference=True)
    effect = Effect("word_orders", [[1, 2, 3]], measured, several=True, deviations=(3.0, 3.0))
    planned = []
    for hours in (0.0, 1e9):
        monkeypatch.setattr("zsnmt.claims.plan.HOURS_OF_SEEDS", hours)
        jobs = on_invented(plan([Outcome(BY_NAME["L18"], [effect])], places, ["L18"]))
        planned.append([job.seed for job in jobs])
    assert planned == [[1, 2, 3], [*range(1, 18)]]


@pytest.mark.parametrize("hours, most", [(0.0, 10), (0.05, 40), (0.25, 16), (1.0, 10)])
def test_the_most_seeds_are_those_that_take_four_hours(places, monkeypatch, hours, most):
    need = BY_NAME["L18"].needs[0]
    job = Job(need, 1, (), runs={Path("kept.json"): hours})
    monkeypatch.setattr("zsnmt.claims.plan.make_job", lambda *_, **__: job)
    assert most_seeds(need, places) == most


def test_made_up_inference_is_planned_by_what_it_takes_and_real_one_waits_for_its_text(places):
    jobs = jobs_of(places, "R11")
    assert [(job.name, job.lacks) for job in jobs] == [
        *((f"bert_nli_tiny_seed{seed}", "") for seed in (0, 1, 2)),
        ("xnli_seed0", "it wants XNLI and MultiNLI"),
    ]
    assert [path.name for path in jobs[0].runs] == [
        f"{system}.seed0.json" for system in ("learned", "sinusoidal", "tupe_absolute")
    ]
    assert 0.2 < jobs[0].hours < 2 and not jobs[0].done
    for path in jobs[0].runs:
        (places.kept / path).parent.mkdir(parents=True, exist_ok=True)
        (places.kept / path).touch()
    assert [job.name for job in jobs_of(places, "R11")] == [
        *(f"bert_nli_tiny_seed{seed}" for seed in (1, 2)),
        "xnli_seed0",
    ]


def test_seeds_that_begin_at_zero_are_counted(places):
    """Five tell: 0 to 4."""
    measured = Measured("ml_score", -0.05, interval=(-0.1, 0.1), difference=True)
    effect = Effect(
        "bert_tiny", [[0, 1, 2]], measured, several=True, part="EN+[EN]", deviations=(0.017, 0.017)
    )
    found = plan([Outcome(BY_NAME["R3"], [effect])], places, ["R3"])
    assert power_rows_end(effect, "R3") == " 5" and [
        job.seed for job in found if job.need.name == "bert_tiny_classic"
    ] == [*range(5)]


def power_rows_end(effect: Effect, name: str) -> str:
    lines = terminal_text(power_table([Outcome(BY_NAME[name], [effect])], [name])).splitlines()
    return lines[-1][-2:]


def test_where_a_config_decides_no_more_seeds_are_planned(places):
    measured = Measured("bleu", -5.0, interval=(-6.0, -4.0), difference=True)
    decided = Effect("word_orders", [[1, 2, 3]], measured, several=True, deviations=(3.0, 3.0))
    outcomes = [Outcome(BY_NAME["L18"], [decided])]
    (row,) = power_table(outcomes, ["L18"]).rows
    assert row[-4:] == ["above", Measured("bleu", 3.0), "20", None]  # the paper has −2.8 BLEU
    jobs = on_invented(plan(outcomes, places, ["L18"]))
    assert [job.seed for job in jobs] == [1, 2, 3]


def test_where_it_takes_longer_trainings_no_more_seeds_are_planned(places):
    measured = Measured("bleu", -1.2, interval=(-2.0, -0.4), difference=True)
    open_still = Effect("demo", [[1, 2, 3]], measured, several=True, deviations=(0.1, 0.1))
    unfinished = replace(open_still, unfinished=True)
    for effects, seeds, told in (
        ([open_still], 6, "6"),
        ([unfinished], 6, "6, or longer trainings"),  # what is said weakly decides
        ([unfinished, replace(open_still, config="tatoeba")], 3, "longer trainings"),
    ):
        outcome = Outcome(BY_NAME["L2"], effects)
        planned = [job.seed for job in plan([outcome], places, ["L2"]) if "demo" in job.need.name]
        assert max(planned) == seeds and power(outcome, effects[0])[-1] == told


def test_a_figure_that_compares_configs_has_the_seeds_of_each(places):
    measured = Measured("bleu", 3.0, interval=(-2.0, 8.0), difference=True)
    one, other = "word_orders", "word_orders_little_data"
    effect = Effect(
        f"{one} → {other}",
        [[1, 2, 3, 4, 5], [1, 2], [1, 2, 3]],
        measured,
        several=True,
        by_config={one: frozenset(range(1, 6)), other: frozenset([1, 2, 4])},
    )
    outcome = Outcome(BY_NAME["L11"], [effect])
    seeds = {need.configs[0].stem: outcome.seeds_of(need) for need in outcome.claim.needs}
    assert seeds[one] == [1, 2, 3, 4, 5] and seeds[other] == [1, 2, 3, 4]
    assert seeds["word_orders_no_cognates"] == [1, 2, 3]


def test_a_run_of_several_jobs_is_counted_once_and_what_is_kept_not_at_all(places):
    layers, replacement = on_invented(jobs_of(places, "L18", "L21", "L22"))[:2]
    baseline = places.kept / "word_orders" / "zs_transformer.seed1.json"
    assert layers.runs[baseline] > 0 and replacement.runs[baseline] == 0
    baseline.parent.mkdir(parents=True)
    for path in layers.runs:
        path.touch()
    assert [job.name for job in on_invented(jobs_of(places, "L18"))] == [
        "word_orders_removal_layer_seed2",
        "word_orders_removal_layer_seed3",
    ]


def test_a_run_that_is_here_costs_nothing_and_one_that_is_kept_alone_is_trained_again(places):
    (first, *_) = jobs_of(places, "L21")
    kept, other, *_ = first.runs
    kept.parent.mkdir(parents=True)
    kept.touch()
    assert jobs_of(places, "L21")[0].runs == first.runs and first.runs[other] > 0
    model = places.runs / "word_orders" / other.name.partition(".")[0] / "seed1" / MODEL_FILE
    model.parent.mkdir(parents=True)
    model.touch()
    assert jobs_of(places, "L21")[0].runs == {**first.runs, other: 0.0}


def test_masked_models_that_are_here_cost_nothing(places):
    (first, *_) = jobs_of(places, "R5")
    kept, *others = first.runs
    condition, system, seed, _ = kept.name.split(".")
    run = places.runs / kept.parent.parent.name / condition / system / seed
    run.mkdir(parents=True)
    (run / SCORES_FILE).touch()
    assert first.runs[kept] > 0
    assert jobs_of(places, "R5")[0].runs == {**first.runs, kept: 0.0}


def test_a_treebank_that_is_not_here_is_lacking_where_its_order_is_asked_for(places, tmp_path):
    for name in ("train", "valid"):
        (tmp_path / f"{name}.en.conllu").touch()
    variables = {**places.variables, "TREES": str(tmp_path)}
    here = replace(places, variables=variables)
    hindi, same = (
        planning.make_job(masked_lm("bert_treebank_cpu", *options), 1, ["R5"], places=here)
        for options in ((), ("--conditions same",))
    )
    assert hindi.lacks == f"TREEBANKS={tmp_path}/hi.conllu is not there" and same.lacks == ""


def test_a_claim_does_not_wait_for_the_scores_of_what_only_pivots(places):
    first, *others = jobs_of(places, "L11")
    assert first.need.pivot == BASELINE.name
    for path in first.runs:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.name.startswith(f"{BASELINE.name}.seed"):
            path.touch()
    assert [job.name for job in jobs_of(places, "L11")] == [job.name for job in others]


def test_runs_that_are_kept_are_made_again_if_that_is_asked_for(places):
    (first, *_) = jobs_of(places, "L21")
    for path in first.runs:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    again = replace(places, kept=places.runs / FOLDER / "again")
    assert [job.seed for job in on_invented(jobs_of(places, "L21"))] == [2, 3]
    assert [job.seed for job in on_invented(jobs_of(again, "L21"))] == [1, 2, 3]
    assert jobs_of(again, "L21")[0].hours == first.hours > 0


def test_every_claim_with_a_figure_has_runs_to_make(places):
    assert all(claim.needs for claim in CLAIMS)


def test_a_need_of_some_systems_trains_no_others(places):
    chosen = ["zs_transformer", "zs_transformer_residual"]
    job = planning.make_job(ablation("word_orders", "query", chosen), 1, ["L6"], places=places)
    assert [path.name for path in job.runs] == [f"{name}.seed1.json" for name in chosen]
    with pytest.raises(
        InputError, match="query has no system 'mine'; it has zs_transformer, zs_transformer_"
    ):
        planning.make_job(ablation("word_orders", "query", ["mine"]), 1, ["L6"], places=places)


def test_what_cannot_be_done_here_says_what_is_lacking_and_comes_last(places):
    jobs = jobs_of(places, "L7", "L22", "R12")
    assert [bool(job.lacks) for job in jobs] == sorted(bool(job.lacks) for job in jobs)
    lacks = {job.need.name: job.lacks for job in jobs}
    assert lacks["word_orders_replacement"] == ""
    assert (
        lacks["tatoeba_query_zs_transformer_zs_transformer_residual"]
        == f"TEXT={places.variables['TATOEBA']} is not there"
    )
    assert lacks["position_tables"] == "it wants the folders of the two pretrained models"
    assert all(not job.lacks for job in select_within_budget(jobs, hours=1e9, at_a_time=1))


def test_a_training_that_is_for_a_gpu_is_done_where_there_is_one(places, tmp_path):
    (tmp_path / "nothing").mkdir()  # the text
    need = ablation("tatoeba_three_paper", "query")
    job = planning.make_job(need, 1, ["L1"], places=places)
    assert job.lacks == "configs/tatoeba_three_paper.conf is for a GPU (--fp16)"
    assert jobs_table([job], []).rows[0][:2] == [job.lacks, None]
    assert planning.make_job(need, 1, ["L1"], places=replace(places, gpu=True)).lacks == ""


def test_a_budget_is_kept_and_a_cheaper_job_fits_behind_a_dearer_one(tmp_path):
    def job(name: str, hours: float) -> Job:
        return Job(Need(name, ("zsnmt results",)), 1, ["L1"], runs={tmp_path / name: hours})

    jobs = [job("a", 2.0), job("b", 3.0), job("c", 1.0)]
    assert select_within_budget(jobs, 3.0, 1) == [jobs[0], jobs[2]]
    assert select_within_budget(jobs, 3.0, 2) == jobs


def sharing(folder: Path) -> list[Job]:
    """Two jobs that train the same run, which counts as the first one's; one of each of two other runs."""
    hours = {"a": {"shared": 2.0, "one": 2.0}, "b": {"shared": 0.0, "two": 0.5}, "c": {"three": 1.0}}
    return [
        Job(Need(name, ("zsnmt results",)), 1, ["L1"], runs={folder / each: of for each, of in runs.items()})
        for name, runs in hours.items()
    ]


def test_a_budget_does_not_hide_what_a_job_that_is_left_out_would_have_trained(tmp_path):
    a, b, c = sharing(tmp_path)
    (alone,) = select_within_budget([a, b, c], 3.0, 1)
    assert alone.name == b.name and alone.hours == 2.5  # what it costs without the first
    shown = jobs_table([a, b, c], [alone])
    assert "1 would be done, in about 2.5 hours" in shown.about
    assert [row[:2] for row in shown.rows] == [["later", "4.00"], ["yes", "2.50"], ["later", "1.00"]]
    assert select_within_budget([a, b, c], 2.0, 1) == [c]
    assert select_within_budget([a, b, c], 9.0, 1) == [a, b, c]
    assert select_within_budget([a, b, c], 4.0, 2) == [a, c]  # one chain takes no longer than the budget


def test_a_run_of_several_jobs_is_counted_once_where_the_first_of_them_is_left_out(tmp_path):
    a, b, c = sharing(tmp_path)
    third = replace(c, runs={**c.runs, tmp_path / "shared": 0.0})
    chosen = select_within_budget([a, b, third], 3.5, 1)
    assert [(job.name, job.hours) for job in chosen] == [(b.name, 2.5), (third.name, 1.0)]


def test_jobs_that_share_a_run_are_done_one_after_the_other(tmp_path):
    a, b, c = sharing(tmp_path)
    assert chains([a, c, b]) == [[c], [a, b]]
    both = Job(Need("d", ("zsnmt results",)), 1, ["L1"], runs={**b.runs, **c.runs})
    assert chains([a, c, b, both]) == [[c, a, b, both]]


def test_a_job_that_fails_does_not_keep_those_behind_it(places, tmp_path, monkeypatch):
    done = []

    def do(steps, job, places):
        done.append(job.need.name)
        if job.need.name == "a":
            raise InputError("a has failed")

    monkeypatch.setattr("zsnmt.claims.jobs.do_job", do)
    a, b, _ = sharing(tmp_path)
    with pytest.raises(InputError, match="^a has failed$"):
        do_jobs(Steps("claims"), [a, b], places)
    assert done == ["a", "b"]


def test_folders_with_spaces_and_other_folders_than_the_projects_are_found(places, tmp_path):
    runs = tmp_path / "my runs"
    spaced = Places(ROOT, runs, tmp_path / "kept", variables=places.variables)
    job = next(job for job in plan(OPEN, spaced, ["L13"]) if job.need.name == "multi30k_nonoverlap_probes")
    words = [word for command in job.commands(runs) for word in shlex.split(command)]
    assert str(runs / "multi30k_nonoverlap" / "zs_transformer" / "seed1") in words
    assert in_project("configs/demo.conf", spaced) == str(ROOT / "configs" / "demo.conf")
    assert in_project("--seeds", spaced) == "--seeds"


def test_what_jobs_took_corrects_what_they_are_thought_to_take(places):
    before = jobs_of(places, "L22")[0].hours
    (places.runs / FOLDER).mkdir(parents=True)
    (places.runs / FOLDER / HOURS_FILE).write_text(
        json.dumps({"a": [1.0, 4.0], "b": [1.0, 2.0], "c": [0.0, 9.0]})
    )
    assert jobs_of(places, "L22")[0].hours == pytest.approx(3 * before)


@pytest.mark.parametrize("content", ['{"a": 1.0}', '{"a": ["long", 2.0]}', '{"a": [1.0', "[]"])
def test_hours_that_are_damaged_are_refused_with_what_to_do(places, content):
    file = places.runs / FOLDER / HOURS_FILE
    file.parent.mkdir(parents=True)
    file.write_text(content)
    with pytest.raises(InputError, match=rf"{file} is damaged .*; remove it, then give the command again"):
        jobs_of(places, "L22")


def test_what_is_kept_of_a_job_is_what_it_was_thought_to_take_before_any_correction(places, monkeypatch):
    """Else a correction would be corrected again by the next one."""
    monkeypatch.setattr("zsnmt.claims.jobs.call", lambda words, output: None)
    (places.runs / FOLDER).mkdir(parents=True)
    (places.runs / FOLDER / HOURS_FILE).write_text(json.dumps({"a": [1.0, 4.0]}))
    job = jobs_of(places, "L22")[0]
    do_job(Steps("claims"), job, places)
    thought, _ = json.loads((places.runs / FOLDER / HOURS_FILE).read_text())[job.name]
    assert thought == pytest.approx(job.hours / 4)


def test_the_hours_of_a_job_that_was_stopped_count(places, monkeypatch):
    job = jobs_of(places, "L22")[0]
    spent = places.runs / FOLDER / f"{job.name}.hours.json"

    def stop(words, output):
        raise KeyboardInterrupt

    monkeypatch.setattr("zsnmt.claims.jobs.call", stop)
    with pytest.raises(KeyboardInterrupt):
        do_job(Steps("claims"), job, places)
    assert 0 < json.loads(spent.read_text())["hours"] < 1
    spent.write_text('{"hours": 9.0}')
    monkeypatch.setattr("zsnmt.claims.jobs.call", lambda words, output: None)
    do_job(Steps("claims"), job, places)
    _, taken = json.loads((places.runs / FOLDER / HOURS_FILE).read_text())[job.name]
    assert 9 < taken < 10 and not spent.exists()


def test_claims_are_named_in_large_or_small_letters_and_one_that_does_not_exist_is_refused_at_once(
    monkeypatch,
):
    assert claim_names(["L18", "r1"]) == ["L18", "R1"]
    monkeypatch.setattr("zsnmt.claims.table.outcomes", lambda _: pytest.fail("results were read first"))
    with pytest.raises(InputError, match="there is no claim l99; .* lists L1 to J4"):
        claims.main(["L18", "l99"])


def test_decided_claims_are_left_out_unless_they_are_asked_for(places, monkeypatch):
    monkeypatch.setattr(planning, "FINAL_VERDICTS", ("not tested",))
    assert plan(OPEN, places) == [] and jobs_of(places, "L22")


def test_masked_language_models_and_probes_are_looked_for_where_they_are_kept(places, monkeypatch):
    needs = (
        masked_lm("bert_tiny", "--conditions same", '--systems "learned none"'),
        probing("demo", ["zs_transformer"]),
    )
    first, second = (planning.make_job(need, 1, ["R1"], places=places) for need in needs)
    assert sorted(path.name for path in first.runs) == ["same.learned.seed1.json", "same.none.seed1.json"]
    assert places.kept / "demo" / "probes" / "zs_transformer.seed1.json" in second.runs
    assert second.commands(places.runs)[1] == f"zsnmt probe {places.runs}/demo/zs_transformer/seed1"


@pytest.mark.parametrize(
    "config, few, many", [("word_orders", 1000, 1500), ("demo", 3000, 6000)]
)  # word_orders makes 1,212 updates
def test_updates_are_about_those_that_are_made(config, few, many, places):
    settings = read_config(ROOT / "configs" / f"{config}.conf", places.variables)
    options = training_options("zs_transformer", settings.fairseq_options)
    pieces = pieces_of_text(settings)
    assert few < updates(options, pieces) < many
    larger = training_options("zs_transformer", [*settings.fairseq_options, "--encoder-layers", "12"])
    hours = [training_hours(each, vocabulary=320, pieces=pieces) for each in (options, larger)]
    assert 0 < hours[0] < hours[1]


def test_what_is_lacking_of_one_claim_moves_no_figure_of_another():
    rows = [["L1", "figure", "+1.0"], ["L10", "because of " * 20, "–"], ["L11", "figure", "+2.0"]]
    table = Table("x", "A table", ["claim", "here", "seeds"], rows=rows, about="It holds " + "words " * 30)
    *prose, _, titles, first, lacking, last = terminal_text(table).splitlines()
    assert titles.index("seeds") == first.index("+1.0") == last.index("+2.0") == len("claim  figure  ")
    assert lacking.startswith("L10    because of because") and lacking.endswith("  –")
    assert len(prose) > 1 and max(map(len, prose)) <= 100


def test_the_tables_say_what_would_be_done_and_how_many_seeds_tell(places):
    jobs = jobs_of(places, "L22", "L7")
    chosen = select_within_budget(jobs, hours=1e9, at_a_time=1)
    lines = terminal_text(jobs_table(jobs, chosen)).splitlines()
    assert lines[0].startswith(f"Jobs. Of these {len(chosen)} would be done, in about ")
    assert len(lines) == 3 + len(jobs) and lines[3].startswith("yes ") and "is not there" in lines[-1]
    both = terminal_text(jobs_table(jobs, chosen, 2)).split("\n\n")[0]
    assert " hours of one core, or " in both and " where 2 are done at a time." in both
    assert "since IWSLT's was not to be had" in terminal_text(power_table(OPEN, ["L11"]))


def test_a_job_that_is_done_keeps_its_runs_and_how_long_it_took(places, monkeypatch):
    called = []
    monkeypatch.setattr("zsnmt.claims.jobs.call", lambda words, output: called.append(words))
    scored = places.runs / "demo" / "zs_transformer" / "seed1"
    for path in (scored / "scores.json", places.runs / "demo" / "zs_transformer" / "seed2" / "scores.json"):
        path.parent.mkdir(parents=True)
        path.touch()
    job = Job(ablation("demo", "query"), 1, ["L5"], runs={places.kept: 0.5})
    do_job(Steps("claims"), job, places)
    assert called == [
        ["ablate", str(ROOT / "configs" / "demo.conf"), "query", "--seeds", "1"],
        ["results", str(scored), "--keep-only", "--to", str(places.kept)],
    ]
    thought, taken = json.loads((places.runs / FOLDER / HOURS_FILE).read_text())["demo_query_seed1"]
    assert thought == 0.5 and 0 < taken < 0.5


@pytest.mark.slow
def test_a_job_that_fails_says_where_it_says_why_and_keeps_nothing(places):
    need = Need("few", ("zsnmt table --help", "zsnmt table nothing"))
    log = places.runs / FOLDER / "few_seed1.log"
    with pytest.raises(InputError, match=rf"zsnmt table nothing ended with status 1; the end of {log} says"):
        do_job(Steps("claims"), Job(need, 1, ["L5"], runs={}), places)
    printed = log.read_text().splitlines()
    assert printed[0].startswith("usage: zsnmt table") and printed[-1].startswith(
        "error: there is no folder nothing"
    )
    assert not (places.runs / FOLDER / HOURS_FILE).exists()


def test_needs_are_shown_as_commands_of_all_seeds():
    assert (
        ablation("demo", "query").shown([1, 2, 3]) == "`zsnmt ablate configs/demo.conf query --seeds 1 2 3`"
    )
    shown = probing("demo", ["a"]).shown([1, 2, 3])
    assert shown.endswith("--seeds 1 2 3`, then `zsnmt probe runs/demo/a/seed{1,2,3}`")
    many = probing("demo", ["a"]).shown([2, 3, 4, 5])
    assert many.endswith("--seeds {2..5}`, then `zsnmt probe runs/demo/a/seed{2..5}`")
    adapted = adaptation("add", "demo", ["a"]).shown([1, 2])
    assert adapted.endswith(
        "--seeds 1 2`, then `zsnmt adapt configs/add.conf runs/demo/a/seed1`, then `zsnmt adapt "
        "configs/add.conf runs/demo/a/seed2`, then `zsnmt evaluate runs/add/a/seed{1,2}`"
    )


@pytest.mark.parametrize("ends", [None, InputError("a has failed"), KeyboardInterrupt()])
def test_the_tables_are_made_once_of_all_that_was_done(monkeypatch, tmp_path, ends):
    monkeypatch.setenv("RUNS", str(tmp_path))
    monkeypatch.setattr(claims, "KEPT_RESULTS", tmp_path / "kept")
    called = []

    def side_by_side(jobs, most):
        assert len(jobs) > 1 and most == 2 and called == []
        if ends:
            raise ends

    monkeypatch.setattr("zsnmt.training.children.all_side_by_side", side_by_side)
    monkeypatch.setattr("zsnmt.claims.jobs.call", lambda words, output: called.append(words))
    with pytest.raises(type(ends)) if ends else nullcontext():
        claims.main(["L22", "L21", "--jobs", "2"])
    assert called == [["results"]]


def test_a_plan_takes_as_long_as_its_busiest_core(tmp_path):
    """Jobs that share a run are done one after the other."""
    paths = [tmp_path / str(number) for number in range(3)]
    need = Need("some", ("zsnmt ablate",))
    jobs = [
        Job(need, seed, ["L5"], runs=dict.fromkeys(shared, hours))
        for seed, shared, hours in ((1, paths[:1], 1.0), (2, paths[:2], 1.0), (3, paths[2:], 1.5))
    ]
    assert hours_side_by_side(jobs, 1) == sum(job.hours for job in jobs) == 4.5
    assert hours_side_by_side(jobs, 2) == hours_side_by_side(jobs, 3) == 3.0


@pytest.mark.parametrize("cores, memory, at_a_time", [(2, 24, 2), (16, 12, 4), (4, 1, 1)])
def test_as_many_jobs_are_done_at_a_time_as_there_are_cores_and_memory_for(cores, memory, at_a_time):
    assert claims.jobs_at_a_time(Machine(cores, memory)) == at_a_time


def test_what_is_made_again_is_kept_apart_and_compared_with_the_same_runs(tmp_path, monkeypatch, capsys):
    """Of three seeds one is made again; what is kept stays as it is."""
    kept, runs = tmp_path / "kept", tmp_path / "runs"
    again = runs / FOLDER / claims.AGAIN
    for folder, gain, seeds in ((kept, 6.0, (1, 2, 3)), (again, 5.0, (2,))):
        folder.mkdir(parents=True)
        for system, seed in product((BASELINE.name, RESIDUAL.name), seeds):
            bleu = 3.0 + gain * seed * (system == RESIDUAL.name)
            keep_scores(made_up_scores(system, seed, zero_shot=bleu), folder)
    before = {path: path.read_bytes() for path in kept.rglob("*.json")}
    monkeypatch.setenv("RUNS", str(runs))
    monkeypatch.setattr(claims, "KEPT_RESULTS", kept)
    monkeypatch.setattr("zsnmt.claims.jobs.call", lambda words, output: None)
    monkeypatch.setattr("zsnmt.training.children.all_side_by_side", lambda jobs, most: None)
    claims.main(["L1", "--again"])
    (row,) = [line.split() for line in capsys.readouterr().out.splitlines() if line.startswith("L1 ")]
    assert row[:3] == ["L1", "made_up", "2"]
    assert row[3:] == ["+12.0", "+10.0", "open", "open"]
    assert {path: path.read_bytes() for path in kept.rglob("*.json")} == before


@pytest.mark.parametrize(
    "published, interval, beside",
    [("−2.8", (-2.0, 1.0), "below"), ("−2.8", (-4.0, 1.0), "inside"), ("−2.8", (-9.0, -3.0), "above")],
)
def test_the_papers_figure_is_held_beside_the_interval_of_ours(published, interval, beside):
    assert str(BY_NAME["L18"].published) == published
    measured = Measured("bleu", sum(interval) / 2, interval=interval, difference=True)
    effect = Effect("demo", [[1, 2, 3]], measured, several=True, deviations=(1.0,))
    assert beside_published(Outcome(BY_NAME["L18"], [effect]), effect) == beside


def test_figures_of_shares_are_held_beside_those_of_the_paper_in_points():
    measured = Measured("accuracy", -0.3, interval=(-0.4, -0.2), difference=True)
    effect = Effect("demo", [[1, 2, 3]], measured, several=True, deviations=(0.05, 0.05))
    outcome = Outcome(BY_NAME["L13"], [effect])  # −51.4 to −27.9 points, of which the smaller one is asked
    assert beside_published(outcome, effect) == "inside"
    assert power(outcome, effect)[1] == str(seeds_that_tell(0.279, effect.deviations))


def test_each_clause_has_the_papers_figures_of_its_own_and_words_have_none():
    published = BY_NAME["L12"].published
    assert [[*map(float, published.of(clause))] for clause in ("new → old", "old → new", "new → pivot")] == [
        [4.9],
        [2.4],
        [-1.2],
    ]
    assert str(published) == "new → old: +4.9; old → new: +2.4; new → pivot: −1.2"
    assert not BY_NAME["L11"].published.of("no common words") and not BY_NAME["R4"].published.of("")
    assert [float(each) for each in BY_NAME["J1"].published.of("k = 64")] == [
        float(each) for each in BY_NAME["J1"].published.of("k = 2")
    ]
