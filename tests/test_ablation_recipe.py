"""The recipe of ablation studies on a tiny experiment: what it would train, what it trains, what it
refuses.
"""

import json
import re
import sys

import pytest

from tests.conftest import ROOT, TINY_CONFIG, changed, run_command
from zsnmt.cli import ablate
from zsnmt.console import WrongUse
from zsnmt.errors import InputError
from zsnmt.report.papers import NAMES
from zsnmt.runs.checkpoints import load_checkpoint
from zsnmt.runs.systems import BELOW, BY_ENCODING, STUDIED
from zsnmt.training.studies import STUDIES

PLAIN = ["zs_transformer", "zs_transformer_residual"]  # which the demo trained
RESIDUAL, RELATIVE = "zs_transformer_residual", "zs_transformer_relative"
LEARNED = "--encoder-position-encoding learned --decoder-position-encoding learned"
# what zs_transformer_relative has otherwise than the other architectures
ALIKE = (
    "--dropout 0.1 --attention-dropout 0.1 --activation-dropout 0.1 --word-dropout 0 "
    "--decoder-language-embedding none"
)


def test_a_dry_run_prints_each_system_once_a_seed_and_trains_nothing(tiny):
    before = {*tiny.runs.rglob("*")}
    # Other options; as many systems again.
    elsewhere = ("li_table_1", "clip_distance", "base_grid", "blocks_grid", "stage_two", "remedies_together")
    studies = [study for study in STUDIES if study not in elsewhere]
    shown = run_command(
        "recipes/ablate.sh", tiny.config, *studies, "--seeds", "1", "2", "--dry-run", runs=tiny.runs
    )
    assert shown.returncode == 0 and {*tiny.runs.rglob("*")} == before, shown.stderr
    assert (
        [line.split(maxsplit=1) for line in shown.stdout.splitlines()[1:]]
        == [
            [f"{name}/seed{seed}", options + (" (trained before)" if name in PLAIN and seed == 1 else "")]
            for seed in (1, 2)
            for name, options in {
                "zs_transformer": "zs_transformer",
                "zs_transformer_residual": RESIDUAL,  # at 2 of 3
                "zs_transformer_residual_query": f"{RESIDUAL}_query",
                "variational": "zs_transformer --variational-dropout",
                "residual_variational": f"{RESIDUAL} --variational-dropout",
                "residual_query_variational": f"{RESIDUAL}_query --variational-dropout",
                "residual_at_1": f"{RESIDUAL} --encoder-residual-removal-layers 1",
                "residual_at_3": f"{RESIDUAL} --encoder-residual-removal-layers 3",
                "residual_at_1_2": f"{RESIDUAL} --encoder-residual-removal-layers 1,2",
                "residual_everywhere": f"{RESIDUAL} --encoder-residual-removal-layers 1,2,3",
                "learned_positions": f"zs_transformer {LEARNED}",
                "residual_learned_positions": f"{RESIDUAL} {LEARNED}",
                "residual_mean_pool": f"{RESIDUAL} --encoder-residual-replacement mean_pool",
                "residual_stochastic": f"{RESIDUAL} --encoder-residual-replacement stochastic",
                **{
                    f"{prefix}{encoding}": f"{architecture} --encoder-position-encoding {encoding}"
                    for encoding in [*BY_ENCODING][1:]
                    for prefix, architecture in (("", "zs_transformer"), ("residual_", RESIDUAL))
                },
                **{
                    name: f"{RESIDUAL} --encoder-position-encoding {encoding} "
                    "--encoder-position-bias-layers 1"
                    for encoding, name in BELOW.items()
                },
                **{
                    f"{system}_{name}": f"{system} --sides {sides}"
                    for system in PLAIN
                    for sides, name in STUDIED.items()
                },
            }.items()
        ]
    )


def test_students_that_could_not_begin_are_refused_before_their_base_is_trained(tmp_path, monkeypatch):
    monkeypatch.setenv("RUNS", str(tmp_path / "runs"))
    config = tmp_path / "small.conf"
    config.write_text(f'{TINY_CONFIG}DISTILLATION="--decoder-embed-dim 48"\n')
    base = re.escape(str(tmp_path / "runs" / "small" / "zs_transformer" / "seed1"))
    with pytest.raises(InputError, match=f"cannot begin with the weights of {base}: decoder"):
        ablate.main([str(config), "distillation"])
    assert not (tmp_path / "runs").exists()


def test_clipping_distances_are_for_configs_in_which_the_architectures_differ_by_positions_alone(
    tiny, tmp_path
):
    config = tmp_path / "relative.conf"
    config.write_text(
        tiny.config.read_text().replace("--max-source-positions 40", f"--max-source-positions 40 {ALIKE}")
    )
    shown = run_command("recipes/ablate.sh", config, "clip_distance", "--dry-run", runs=tmp_path)
    assert shown.returncode == 0 and [line.split() for line in shown.stdout.splitlines()[1:]] == [
        ["zs_transformer/seed1", "zs_transformer"],
        *([f"relative_{k}/seed1", RELATIVE, "--relative-attention-distance", str(k)] for k in (0, 1, 2, 4)),
        [f"{RELATIVE}/seed1", RELATIVE],
        ["relative_64/seed1", RELATIVE, "--relative-attention-distance", "64"],
    ], shown.stderr
    stopped = run_command("recipes/ablate.sh", tiny.config, "clip_distance", runs=tmp_path)
    assert (
        stopped.returncode != 0
        and "differ in" in stopped.stderr
        and "--word-dropout (0.1, 0.0)" in stopped.stderr
    )


def test_a_study_trains_what_is_missing_and_prints_all_side_by_side(own_tiny, tmp_path):
    before = {system: (own_tiny.run(system) / "model.pt").stat().st_mtime_ns for system in PLAIN}
    page = tmp_path / "report.html"
    done = run_command(
        "recipes/ablate.sh", own_tiny.config, "replacement", "--report", page, runs=own_tiny.runs
    )
    assert done.returncode == 0, done.stderr
    assert before == {system: (own_tiny.run(system) / "model.pt").stat().st_mtime_ns for system in PLAIN}
    names = [*PLAIN, "residual_mean_pool", "residual_stochastic"]
    table = done.stdout.partition("Difference from zs_transformer")[0]  # in blocks as wide as a terminal
    assert [
        name for line in table.split("\n") if line.startswith("system ") for name in line.split()[1:]
    ] == names
    shown = page.read_text(encoding="utf-8")
    assert all(name in shown and f"<dt>{name}, into inglan</dt>" in shown for name in names)
    for kind in ("mean_pool", "stochastic"):
        run = own_tiny.run(f"residual_{kind}")
        options = f"--encoder-residual-replacement {kind}"
        assert load_checkpoint(run / "model.pt")["cfg"]["model"].encoder_residual_replacement == kind
        assert json.loads((run / "scores.json").read_text())["pivot_by"] == "zs_transformer, seed 1"
        assert json.loads((run / "run.json").read_text())["command"] == (
            f"bash recipes/train.sh {own_tiny.config} {RESIDUAL} --seeds 1 --name residual_{kind} -- "
            f"{options}"
        )


@pytest.mark.slow
def test_the_decoding_grid_decodes_two_systems_in_every_way(own_tiny):
    done = run_command("recipes/ablate.sh", own_tiny.config, "decoding_grid", runs=own_tiny.runs)
    assert done.returncode == 0, done.stderr
    assert "Effects of masks and contrasts at translation time" in done.stdout
    for system, own_pivot in zip(PLAIN, (0, 1)):  # the baseline's is the pivot
        found = json.loads((own_tiny.run(system) / "scores.json").read_text())["directions"]
        ways = {json.dumps(result["way"]) for result in found}
        assert len(ways) == 2 + 7 + 3 + own_pivot  # with direct and pivot


@pytest.fixture
def called(monkeypatch):
    """What a call of `zsnmt ablate` would score and print, with nothing trained."""
    calls = []

    def score_runs(recipe, runs, given, *, pivot, engine):
        calls.append(("score", runs, pivot, engine.gpus))

    def paper_text(name, runs):
        calls.append(("table", runs, name))
        return ""

    monkeypatch.setattr("zsnmt.training.train.train_run", lambda *_, **__: None)
    monkeypatch.setattr(ablate, "score_runs", score_runs)
    monkeypatch.setattr(ablate, "show_table", lambda runs, report: None)
    monkeypatch.setattr(ablate, "paper_text", paper_text)

    def ablate_calls(folder, *words):
        monkeypatch.setenv("RUNS", str(folder))
        ablate.main(words)
        return [
            (what, [str(run.relative_to(folder)) for run in runs], *further) for what, runs, *further in calls
        ]

    return ablate_calls


def test_the_baseline_pivots_for_all_and_the_papers_table_follows(called, tmp_path):
    names = ["zs_transformer", "zs_transformer_residual", "zs_transformer_residual_query"]
    runs = [f"demo/{name}/seed{seed}" for seed in (1, 2) for name in names]
    config = str(ROOT / "configs" / "demo.conf")
    assert called(tmp_path, config, "query", "--seeds", "1", "2") == [
        ("score", runs, "baseline", 1),
        ("table", runs, "liu_table_3"),
    ]


def test_another_run_may_pivot(called, tmp_path):
    ((_, _, pivot, _),) = called(
        tmp_path, str(ROOT / "configs" / "demo.conf"), "replacement", "--pivot", "self"
    )
    assert pivot == "self"


def test_that_comet_is_not_installed_is_said_before_anything_is_trained(called, tmp_path, monkeypatch):
    monkeypatch.setattr("zsnmt.training.train.train_run", lambda *_, **__: pytest.fail("trained"))
    monkeypatch.setitem(sys.modules, "comet", None)
    with pytest.raises(InputError, match="COMET is not installed"):
        called(tmp_path, str(ROOT / "configs" / "demo.conf"), "query", "--comet")


def test_a_system_without_a_model_is_refused_before_any_other_is_trained(called, tmp_path, monkeypatch):
    monkeypatch.setattr("zsnmt.training.train.train_run", lambda *_, **__: pytest.fail("trained"))
    (config := tmp_path / "small.conf").write_text(
        changed(TINY_CONFIG, MODEL="--language-tags t_enc --decoder-language-embedding none")
    )
    with pytest.raises(InputError, match="--decoder-language-feed-forward-layers middle reads the language"):
        called(tmp_path, str(config), "blocks_grid", "--systems", "zs_transformer", "blocks")


def test_a_job_of_a_cluster_only_trains_and_the_last_one_scores_by_its_gpus(called, tmp_path, monkeypatch):
    config = str(ROOT / "configs" / "demo.conf")
    assert called(tmp_path, config, "query", "--train-only", "--processes", "2") == []
    monkeypatch.setattr("torch.cuda.device_count", lambda: 2)
    ((*_, gpus), _) = called(tmp_path, config, "query", "--gpus", "all")
    assert gpus == 2
    with pytest.raises(WrongUse, match="--jobs gives each run a GPU of its own; leave it out"):
        called(tmp_path, config, "query", "--gpus", "all", "--jobs", "2")


def test_models_of_two_directions_are_scored_apart_and_stand_in_one_table(called, tmp_path):
    here = [f"iwslt17_en_it_relative/zs_transformer{variant}/seed1" for variant in ("", "_relative")]
    back = [run.replace("/seed1", "_it_en/seed1") for run in here]
    assert called(tmp_path, str(ROOT / "configs" / "iwslt17_en_it_relative.conf"), "li_table_1") == [
        ("score", here, None, 1),  # where there are two languages, nothing goes through the pivot
        ("score", back, None, 1),
        ("table", [*here, *back], "li_table_1"),
    ]


def test_studies_end_with_tables_that_there_are():
    assert {*ablate.PAPER_TABLES} <= {*STUDIES} and {*ablate.PAPER_TABLES.values()} <= {*NAMES}


@pytest.mark.parametrize(
    "arguments, message",
    [
        (
            ["configs/iwslt17_en_it_relative.conf", "li_table_1", "--report", "page.html"],
            "these studies have models of several directions, or several ways of decoding, which one page",
        ),
        (["configs/demo.conf"], "the following arguments are required: STUDY; see zsnmt ablate --help"),
        (["configs/none.conf", "positions"], "there is no config 'configs/none.conf'"),
        (["configs/demo.conf", "positions", "--sead", "3"], "unrecognized arguments: --sead 3"),
        (
            ["configs/demo.conf", "positions", "--seeds", "--dry-run"],
            "argument --seeds: expected at least one argument",
        ),
        (["configs/demo.conf", "positions", "--report"], "argument --report: expected one argument"),
        (["configs/demo.conf", "layers", "positions"], "there is no study 'layers'; there are query, vari"),
    ],
)
def test_a_wrong_call_gets_one_sentence(tmp_path, arguments, message):
    stopped = run_command("recipes/ablate.sh", *arguments, runs=tmp_path)
    assert stopped.returncode != 0 and message in stopped.stderr and stopped.stderr.count("\n") == 1
    assert not stopped.stdout and not list(tmp_path.iterdir())


def test_every_study_is_named_where_a_person_looks_for_it():
    texts = [(ROOT / path).read_text(encoding="utf-8") for path in ("recipes/ablate.sh", "docs/method.md")]
    assert all(re.search(rf"\b{study}\b", text) for study in STUDIES for text in texts)
    assert re.findall(r"^    (\w+) {2,}\w", ablate.__doc__, re.MULTILINE) == [*STUDIES]
