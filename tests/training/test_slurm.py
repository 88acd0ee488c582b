"""Jobs of SLURM, whose commands are small scripts here."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from zsnmt.cli import slurm
from zsnmt.errors import InputError
from zsnmt.training.slurm import hosts_of_job

VARIABLES = {
    "SLURM_JOB_NUM_NODES": "2",
    "SLURM_NODEID": "1",
    "SLURM_JOB_ID": "70003",
    "SLURM_JOB_NODELIST": "gpu[07-08]",
}
COMMANDS = {
    "scontrol": 'if [ "$1" = show ]; then printf "gpu07\\ngpu08\\n"; else echo "scontrol $*" >> "$LOG"; fi',
    "srun": 'echo "$*" >> "$LOG"; shift 4; exit "${SRUN_STATUS:-0}"',
    "sbatch": 'cat > "$LOG"',
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


CALL = ["configs/iwslt17.conf", "zs_transformer", "zs_transformer_residual", "--seeds", "1", "2", "7"]


@pytest.mark.slow
def test_an_array_has_a_job_for_each_system_and_seed_which_goes_on_after_a_failure(
    cluster, capsys, monkeypatch
):
    monkeypatch.setattr(sys, "executable", "fake-python")
    slurm.main([*CALL, "--nodes", "2", "--gpus", "4", "--hours", "1.5", "--submit", "--", "--partition=gpu"])
    made = capsys.readouterr().out
    assert cluster.read_text() == made
    asked = [line.removeprefix("#SBATCH --") for line in made.splitlines() if line.startswith("#SBATCH")]
    assert {"array=0-5", "nodes=2", "gpus-per-node=4", "time=90", "requeue", "partition=gpu"} < {*asked}
    asked_cores = next(each.partition("=")[2] for each in asked if each.startswith("cpus-per-task="))
    assert (cluster.parent / "runs" / "slurm").is_dir()  # where the log is opened
    for restarted, status, requeued in (("0", "0", False), ("0", "1", True), ("10", "1", False)):
        cluster.unlink()
        job = {"SLURM_ARRAY_TASK_ID": "5", "SLURM_JOB_ID": "9", "SLURM_RESTART_COUNT": restarted}
        job["SLURM_CPUS_PER_TASK"] = asked_cores
        done = subprocess.run(
            ["bash"], input=made, text=True, env={**os.environ, **job, "SRUN_STATUS": status}
        )
        first, *then = cluster.read_text().splitlines()
        assert first.startswith("--kill-on-bad-exit=1 --cpus-per-task=16 fake-python -m zsnmt train ")
        assert first.endswith("iwslt17.conf zs_transformer_residual --seeds 7 --gpus 4 --slurm")
        scored = [f"-m zsnmt evaluate {cluster.parent}/runs/iwslt17/zs_transformer_residual/seed7 --gpus 4"]
        assert then == (scored if status == "0" else ["scontrol requeue 9"] * requeued)
        assert done.returncode == int(status)


def test_an_array_whose_jobs_cannot_share_an_update_is_refused(cluster):
    with pytest.raises(
        InputError, match="6 processes cannot share the batches of an update evenly, .* says 8"
    ):
        slurm.main([*CALL, "--nodes", "2", "--gpus", "3"])
