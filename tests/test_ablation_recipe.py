"""The recipe of ablation studies on a tiny experiment: what it would train, what it trains, what it refuses."""

import json

import pytest

from tests.conftest import ROOT, run_command
from zsnmt.ablations import STUDIES
from zsnmt.averaging import load_checkpoint

PLAIN = ["zs_transformer", "zs_transformer_residual"]  # which the demo trained
RESIDUAL = "zs_transformer_residual"
LEARNED = "--encoder-position-encoding learned --decoder-learned-pos"


def test_a_dry_run_prints_each_system_once_a_seed_and_trains_nothing(tiny):
    before = {*tiny.runs.rglob("*")}
    shown = run_command("recipes/ablate.sh", tiny.config, *STUDIES, "--seeds", "1", "2", "--dry-run", runs=tiny.runs)
    assert shown.returncode == 0 and {*tiny.runs.rglob("*")} == before, shown.stderr
    assert [line.split(maxsplit=1) for line in shown.stdout.splitlines()] == [
        [f"{name}/seed{seed}", options + (" (trained before)" if name in PLAIN and seed == 1 else "")]
        for seed in (1, 2)
        for name, options in {
            "zs_transformer": "zs_transformer",
            "residual_at_1": f"{RESIDUAL} --encoder-residual-removal-layers 1",
            "zs_transformer_residual": RESIDUAL,  # at 2 of 3
            "residual_at_3": f"{RESIDUAL} --encoder-residual-removal-layers 3",
            "learned_positions": f"zs_transformer {LEARNED}",
            "residual_learned_positions": f"{RESIDUAL} {LEARNED}",
            "residual_mean_pool": f"{RESIDUAL} --encoder-residual-replacement mean_pool",
            "residual_stochastic": f"{RESIDUAL} --encoder-residual-replacement stochastic",
        }.items()
    ]


def test_a_study_trains_what_is_missing_and_prints_all_side_by_side(tiny, tmp_path):
    before = {system: (tiny.run(system) / "model.pt").stat().st_mtime_ns for system in PLAIN}
    page = tmp_path / "report.html"
    done = run_command("recipes/ablate.sh", tiny.config, "replacement", "--report", page, runs=tiny.runs)
    assert done.returncode == 0, done.stderr
    assert before == {system: (tiny.run(system) / "model.pt").stat().st_mtime_ns for system in PLAIN}
    names = [*PLAIN, "residual_mean_pool", "residual_stochastic"]
    table = done.stdout.partition("Difference from zs_transformer")[0]  # in blocks as wide as a terminal
    assert [name for line in table.split("\n") if line.startswith("system ") for name in line.split()[1:]] == names
    assert all(name in page.read_text(encoding="utf-8") for name in names)
    for kind in ("mean_pool", "stochastic"):
        run = tiny.run(f"residual_{kind}")
        options = f"--encoder-residual-replacement {kind}"
        assert load_checkpoint(run / "model.pt")["cfg"]["model"].encoder_residual_replacement == kind
        assert json.loads((run / "run.json").read_text())["command"] == (
            f"bash recipes/train.sh configs/tiny.conf {RESIDUAL} --seeds 1 --name residual_{kind} -- {options}"
        )


@pytest.mark.parametrize("arguments, message", [
    (["configs/demo.conf"], "usage: bash recipes/ablate.sh CONFIG STUDY"),
    (["configs/none.conf", "positions"], "there is no config 'configs/none.conf'"),
    (["configs/demo.conf", "positions", "--sead", "3"], "unknown option '--sead'; usage:"),
    (["configs/demo.conf", "positions", "--seeds", "--dry-run"], "--seeds needs numbers"),
    (["configs/demo.conf", "positions", "--report"], "--report needs a value"),
    (["configs/demo.conf", "layers", "positions"], "there is no study 'layers'; there are removal_layer"),
])  # fmt: skip
def test_a_wrong_call_gets_one_sentence(tmp_path, arguments, message):
    stopped = run_command("recipes/ablate.sh", *arguments, runs=tmp_path)
    assert stopped.returncode != 0 and message in stopped.stderr and stopped.stderr.count("\n") == 1
    assert not stopped.stdout and not list(tmp_path.iterdir())


def test_every_study_is_named_where_a_person_looks_for_it():
    texts = [(ROOT / path).read_text(encoding="utf-8") for path in ("recipes/ablate.sh", "docs/method.md", "scripts/ablations.py")]
    assert all(study in text for study in STUDIES for text in texts)
