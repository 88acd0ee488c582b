"""Jobs of SLURM, whose commands are small scripts here."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, TINY_CONFIG, changed
from zsnmt.cli import slurm
from zsnmt.console import WrongUse
from zsnmt.errors import InputError
from zsnmt.runs.systems import STUDIED
from zsnmt.training.slurm import hosts_of_job

VARIABLES = {
    "SLURM_JOB_NUM_NODES": "2",
    "SLURM_NODEID": "1",
    "SLURM_JOB_ID": "70003",
    "SLURM_JOB_NODELIST": "gpu[07-08]",
}
COMMANDS = {
    "scontrol": 'if [ "$1" = show ]; then printf "gpu07\\ngpu08\\n"; else echo "scontrol $*" >> "$LOG"; fi',
    "srun": 'echo "$*" >> "$LOG"; exit "${SRUN_STATUS:-0}"',
    "sbatch": 'echo "sbatch $*" >> "$LOG"; cat > "$LOG.$(grep -c sbatch "$LOG")"; grep -c sbatch "$LOG"',
    "fake-python": 'echo "$*" >> "$LOG"',
}


@pytest.fixture
def cluster(tmp_path, monkeypatch) -> Path:
    """Commands of SLURM in the path; what they are asked for is in the file."""
    for name, script in COMMANDS.items():
        (tmp_path / name).write_text(f"#!/bin/bash\n{script}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("LOG", str(tmp_path / "log"))
    monkeypatch.setenv("RUNS", str(tmp_path / "runs"))
    return tmp_path / "log"


def test_the_machines_of_a_job_meet_at_its_first(cluster):
    assert hosts_of_job(VARIABLES) == {"hosts": 2, "host": 1, "meet": "gpu07:30003"}
    assert hosts_of_job({**VARIABLES, "SLURM_JOB_NUM_NODES": "1"}) == {}
    with pytest.raises(InputError, match="--slurm is for a task of SLURM, whose variables are not set here"):
        hosts_of_job({})


def test_what_slurm_refuses_is_said_in_a_sentence(cluster):
    for name in ("sbatch", "scontrol"):
        (cluster.parent / name).write_text("#!/bin/bash\nexit 1\n")
    with pytest.raises(InputError, match="the submission failed"):
        slurm.main([*CALL, "--submit"])
    with pytest.raises(InputError, match="scontrol does not say which machines"):
        hosts_of_job(VARIABLES)


def test_that_there_is_no_slurm_is_said_with_what_can_be_done(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="there is no sbatch here, so nothing was submitted: give this"):
        slurm.main([*CALL, "--submit"])


CALL = ["configs/iwslt17.conf", "zs_transformer", "zs_transformer_residual", "--seeds", "1", "2", "7"]


def test_an_array_has_a_job_for_each_system_and_seed_which_goes_on_where_that_helps(
    cluster, capsys, monkeypatch
):
    monkeypatch.setattr(sys, "executable", "fake-python")
    slurm.main(
        [*CALL, "--nodes", "2", "--gpus", "4", "--hours", "1.5", "--submit", "--sbatch", "partition=gpu"]
    )
    made = capsys.readouterr().out
    assert submitted(cluster, 1) == made
    asked = wishes(made)
    assert {"array=0-5", "nodes=2", "gpus-per-node=4", "time=90", "requeue", "partition=gpu"} < {*asked}
    asked_cores = next(each.partition("=")[2] for each in asked if each.startswith("cpus-per-task="))
    assert (cluster.parent / "runs" / "slurm").is_dir()  # where the log is opened
    goes_on = [("0", "75"), ("9", "137")]  # another machine was lost, or a process was killed
    ends = [("0", "0"), ("0", "1"), ("0", "2"), ("10", "137")]  # all is done, or an error would last
    for restarted, status in (*goes_on, *ends):
        cluster.unlink()
        job = {"SLURM_ARRAY_TASK_ID": "5", "SLURM_JOB_ID": "9", "SLURM_RESTART_COUNT": restarted}
        job["SLURM_CPUS_PER_TASK"] = asked_cores
        done = subprocess.run(
            ["bash"], input=made, text=True, env={**os.environ, **job, "SRUN_STATUS": status}
        )
        first, *then = cluster.read_text().splitlines()
        asked = "--kill-on-bad-exit=0 --wait=180 --cpus-per-task=16"
        assert first.startswith(f"{asked} fake-python -m zsnmt train ")
        assert first.endswith("iwslt17.conf zs_transformer_residual --seeds 7 --gpus 4 --slurm")
        scored = [f"-m zsnmt evaluate {cluster.parent}/runs/iwslt17/zs_transformer_residual/seed7 --gpus 4"]
        requeued = ["scontrol requeue 9"] * ((restarted, status) in goes_on)
        assert then == (scored if status == "0" else requeued)
        assert (done.returncode > 0) == (status != "0")


def test_the_students_of_a_study_wait_for_their_teachers_and_the_scores_for_all_runs(
    cluster, capsys, monkeypatch
):
    monkeypatch.setattr(sys, "executable", "fake-python")
    config = "configs/iwslt17.conf"
    slurm.main([config, "--studies", "query", "distillation", "--seeds", "1", "4", "--gpus", "2", "--submit"])
    assert [line.split()[1:] for line in cluster.read_text().splitlines()] == [
        ["--parsable"],
        ["--parsable", "--dependency=afterok:1", "--kill-on-invalid-dep=yes"],
        ["--parsable", "--dependency=afterok:2", "--kill-on-invalid-dep=yes"],
    ]
    printed = capsys.readouterr().out
    scripts = [submitted(cluster, number) for number in (1, 2, 3)]
    assert all(script in printed for script in scripts)
    sizes = {wish for script in scripts for wish in wishes(script) if wish.startswith("array=")}
    assert sizes == {"array=0-5", f"array=0-{2 * 2 * len(STUDIED) - 1}"}
    cluster.unlink()
    for script, task in zip(scripts, ("4", "1", ""), strict=True):
        job = {"SLURM_ARRAY_TASK_ID": task, "SLURM_JOB_ID": "9", "SLURM_CPUS_PER_TASK": "8"}
        subprocess.run(["bash"], input=script, text=True, env={**os.environ, **job}, check=True)
    given = [line.partition("iwslt17.conf ")[2] for line in cluster.read_text().splitlines()]
    study, shared = "query distillation", "--train-only --gpus 2 --slurm"
    assert given == [
        f"{study} --systems zs_transformer_residual_query --seeds 1 {shared}",
        f"{study} --systems zs_transformer_continued --seeds 4 {shared}",
        f"{study} --seeds 1 4 --gpus 2",
    ]


def test_jobs_work_where_the_command_is_given_so_that_relative_paths_of_the_config_lead_there(
    cluster, capsys, monkeypatch
):
    (cluster.parent / "fake-python").write_text('#!/bin/bash\npwd > "$LOG"\n')
    monkeypatch.setattr(sys, "executable", "fake-python")
    (folder := cluster.parent / "my work").mkdir()
    monkeypatch.chdir(folder)
    slurm.main([str(ROOT / "configs/iwslt17.conf"), "zs_transformer"])
    job = {"SLURM_ARRAY_TASK_ID": "0", "SLURM_JOB_ID": "9", "SLURM_CPUS_PER_TASK": "4"}
    script = capsys.readouterr().out
    subprocess.run(["bash"], input=script, text=True, cwd="/", env={**os.environ, **job}, check=True)
    assert cluster.read_text() == f"{folder}\n"


def test_a_variant_has_a_name_and_options_of_its_own(cluster, capsys, monkeypatch):
    monkeypatch.setattr(sys, "executable", "fake-python")
    slurm.main(["configs/iwslt17.conf", "zs_transformer", "--name", "high", "--", "--dropout", "0.3"])
    job = {"SLURM_ARRAY_TASK_ID": "0", "SLURM_JOB_ID": "9", "SLURM_CPUS_PER_TASK": "4"}
    script = capsys.readouterr().out
    subprocess.run(["bash"], input=script, text=True, env={**os.environ, **job}, check=True)
    train, evaluate = cluster.read_text().splitlines()
    assert train.endswith(" zs_transformer --seeds 1 --gpus 1 --slurm --name high -- --dropout 0.3")
    assert evaluate.endswith("/runs/iwslt17/high/seed1 --gpus 1")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "name the systems to train"),
        (["zs_transformer", "--studies", "query"], "a study says which systems it trains, and how"),
        (["zs_transformer", "--", "--partition=gpu"], "options of sbatch follow --sbatch"),
        (["zs_transformer", "zs_transformer_residual", "--name", "a"], "a variant is one architecture"),
        *(
            (["zs_transformer", f"--hours={word}"], f"'{word}' is not a number of hours, a minute or more")
            for word in ("0", "0.005", "-3", "nan", "inf", "two")
        ),
    ],
)
def test_wishes_that_do_not_go_together_are_refused(words, said):
    with pytest.raises(WrongUse, match=said):
        slurm.main(["configs/iwslt17.conf", *words])


@pytest.mark.parametrize(
    "name, said",
    [
        ("a\\b", "to SLURM a backslash stands for more than itself, and .*/a"),
        ("12:30", "12:30/iwslt17 cannot be the folder of a run, for to fairseq a path ends at ':'"),
    ],
)
def test_a_folder_that_slurm_or_fairseq_would_take_for_another_is_refused(cluster, monkeypatch, name, said):
    monkeypatch.setenv("RUNS", str(cluster.parent / name))
    with pytest.raises(InputError, match=said):
        slurm.main(CALL)
    assert not (cluster.parent / name).exists()


def test_sbatch_reads_options_and_folders_as_they_were_given(cluster, capsys, monkeypatch):
    odd = """my "50 %" runs' #2"""
    monkeypatch.setenv("RUNS", str(runs := cluster.parent / odd))
    comment = r"""comment=it's my "job" \ #1"""
    slurm.main([*CALL, "--sbatch", comment, "account=me"])
    made = capsys.readouterr().out
    asked = [read_by_sbatch(wish) for wish in wishes(made)]
    assert asked[-2:] == [comment, "account=me"]
    assert f"output={runs}/slurm/%x-%A_%a.log".replace("50 %", "50 %%") in asked
    assert subprocess.run(["bash", "-n"], input=made, text=True).returncode == 0
    assert f"export RUNS={shlex.quote(str(runs))} " in made
    with pytest.raises(InputError, match="an option of sbatch is one line"):
        slurm.main([*CALL, "--sbatch", "comment=two\nlines"])


def read_by_sbatch(line: str) -> str:
    """The first option of a line, by the rules of sbatch: it ends at a blank outside of quotes, and at a #
    outside of them (in older versions inside, too), unless a backslash comes before that.
    """
    read, quote, escaped = "", "", False
    for sign in line:
        if sign.isspace() and not quote:
            break
        if escaped:
            read, escaped = read + sign, False
        elif sign == "\\":
            escaped = True
        elif sign == quote:
            quote = ""
        elif sign in "'\"" and not quote:
            quote = sign
        elif sign == "#":
            break
        else:
            read += sign
    assert not quote
    return read


def submitted(cluster: Path, number: int) -> str:
    """The script that sbatch was given, the first being number 1."""
    return cluster.with_name(f"{cluster.name}.{number}").read_text()


def wishes(script: str) -> list[str]:
    """What the head of a script asks sbatch for."""
    return [line.removeprefix("#SBATCH --") for line in script.splitlines() if line.startswith("#SBATCH")]


def test_an_array_whose_jobs_cannot_share_an_update_is_refused(cluster):
    with pytest.raises(
        InputError, match="6 processes cannot share the batches of an update evenly, .* says 8"
    ):
        slurm.main([*CALL, "--nodes", "2", "--gpus", "3"])


def test_a_study_with_a_system_that_has_no_model_is_refused(cluster, tmp_path):
    (config := tmp_path / "small.conf").write_text(
        changed(TINY_CONFIG, MODEL="--language-tags t_enc --decoder-language-embedding none")
    )
    with pytest.raises(InputError, match="--decoder-language-feed-forward-layers middle reads the language"):
        slurm.main([str(config), "--studies", "blocks_grid"])
