"""Jobs of SLURM: the machines of one, and the script that starts trainings as an array of jobs."""

import shlex
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zsnmt.errors import InputError

PORTS, FIRST_PORT = 20000, 20000  # a job takes one by its number, so that two on one machine have their own


def hosts_of_job(variables: Mapping[str, str]) -> dict[str, Any]:
    """The settings of a `Team` that say which machines a job has, of which this is one, by the variables that
    SLURM sets for a task; `InputError` where they are not there.
    """
    try:
        hosts, host, number = (
            int(variables[name]) for name in ("SLURM_JOB_NUM_NODES", "SLURM_NODEID", "SLURM_JOB_ID")
        )
        names = variables["SLURM_JOB_NODELIST"]
    except (KeyError, ValueError) as error:
        raise InputError(
            "--slurm is for a task of SLURM, whose variables are not set here; start the command by srun, "
            "with one task on each machine, or give --hosts, --host and --meet"
        ) from error
    if hosts == 1:
        return {}
    listed = subprocess.run(
        ["scontrol", "show", "hostnames", names], check=True, stdout=subprocess.PIPE, text=True
    )
    meet = f"{listed.stdout.split()[0]}:{FIRST_PORT + number % PORTS}"
    return {"hosts": hosts, "host": host, "meet": meet}


@dataclass(frozen=True)
class Job:
    """What each job of an array is given: machines, GPUs on each (or processes, where there are none), hours,
    and further options of sbatch.
    """

    nodes: int = 1
    gpus: int = 1
    processes: int = 0
    hours: float = 24.0
    options: Sequence[str] = ()


def script(
    job: Job,
    config: Path,
    systems: Sequence[str],
    seeds: Sequence[int],
    *,
    project: Path,
    runs: Path,
    python: str,
) -> str:
    """A script for sbatch: an array of jobs, each of which trains and scores one system with one seed.

    A job that is preempted, fails or runs out of time is queued again, and goes on from its last checkpoint.
    Nothing is fetched: the nodes need no network but that between them.
    """
    devices, gpus = f"--gpus {job.gpus}", f"--gpus {job.gpus}"
    if job.processes:
        devices, gpus = f"--processes {job.processes}", ""
    minutes = round(60 * job.hours)
    asked = [
        f"--job-name={config.stem}",
        f"--array=0-{len(systems) * len(seeds) - 1}",
        f"--nodes={job.nodes}",
        "--ntasks-per-node=1",
        f"--cpus-per-task={job.processes or 4 * job.gpus}",
        *([] if job.processes else [f"--gpus-per-node={job.gpus}"]),
        f"--time={minutes}",
        "--requeue",
        "--open-mode=append",
        "--signal=B:USR1@180",
        f"--output={runs}/slurm/%x-%A_%a.log",
        *job.options,
    ]
    quoted = {"project": project, "runs": runs, "python": python, "config": config}
    return SCRIPT.format(
        asked="\n".join(f"#SBATCH {option}" for option in asked),
        systems=shlex.join(systems),
        seeds=" ".join(map(str, seeds)),
        devices=devices,
        gpus=gpus,
        stem=shlex.quote(config.stem),
        **{name: shlex.quote(str(value)) for name, value in quoted.items()},
    )


SCRIPT = """\
#!/bin/bash
{asked}
set -euo pipefail
cd {project}
export RUNS={runs} HF_HUB_OFFLINE=1
systems=({systems})
seeds=({seeds})
system="${{systems[SLURM_ARRAY_TASK_ID / ${{#seeds[@]}}]}}"
seed="${{seeds[SLURM_ARRAY_TASK_ID % ${{#seeds[@]}}]}}"

again() {{ # the same job, which goes on from its last checkpoint, ten times at most
  if [ "${{SLURM_RESTART_COUNT:-0}}" -lt 10 ]; then scontrol requeue "$SLURM_JOB_ID"; fi
  exit 1
}}
trap again USR1 # three minutes before the time is over

srun --kill-on-bad-exit=1 --cpus-per-task="$SLURM_CPUS_PER_TASK" \\
  {python} -m zsnmt train {config} "$system" --seeds "$seed" {devices} --slurm &
wait $! || again
{python} -m zsnmt evaluate "$RUNS"/{stem}/"$system/seed$seed" {gpus} &
wait $! || again
"""
