"""Jobs of SLURM: the machines of one, and the script that starts trainings as an array of jobs."""

import re
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from zsnmt.console import PASSING
from zsnmt.errors import InputError
from zsnmt.runs.commands import further_words
from zsnmt.runs.systems import System

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
    listed = subprocess.run(["scontrol", "show", "hostnames", names], stdout=subprocess.PIPE, text=True)
    if listed.returncode:
        raise InputError(
            f"scontrol does not say which machines {names} are (see above); give --hosts, --host and --meet"
        )
    meet = f"{listed.stdout.split()[0]}:{FIRST_PORT + number % PORTS}"
    return {"hosts": hosts, "host": host, "meet": meet}


@dataclass(frozen=True)
class Job:
    """What each job of an array is given: machines, GPUs on each (or processes, where there are none), hours,
    and further options of sbatch, like `partition=gpu`.
    """

    nodes: int = 1
    gpus: int = 1
    processes: int = 0
    hours: float = 24.0
    options: Sequence[str] = ()

    @property
    def team(self) -> str:
        """What a training is told of the machines and processes that share it."""
        return f"{f'--processes {self.processes}' if self.processes else self.scorers} --slurm"

    @property
    def scorers(self) -> str:
        """What an evaluation is told; without GPUs it shares its work by cores."""
        return "" if self.processes else f"--gpus {self.gpus}"


@dataclass(frozen=True)
class Place:
    """Where jobs work: the folder from which relative paths of the config lead, that of the runs, the
    environment's Python, and the config.
    """

    folder: Path
    runs: Path
    python: str
    config: Path


def training_script(
    job: Job,
    place: Place,
    *,
    systems: Sequence[str],
    seeds: Sequence[int],
    name: str | None = None,
    options: Sequence[str] = (),
) -> str:
    """A script for sbatch: an array of jobs, each of which trains and scores one system with one seed; with a
    `name` and options of fairseq-train, a variant of each.
    """
    variant = shlex.join([*(["--name", name] if name else []), *further_words(options)])
    run = f'"$RUNS"/{shlex.quote(place.config.stem)}/{shlex.quote(name) if name else NAMED}/"seed$seed"'
    train = f'train {quoted(place.config)} "$system" --seeds "$seed" {job.team} {variant}'
    scoring = f"evaluate {run} {job.scorers}"
    return script(job, place, systems=systems, seeds=seeds, together=[train], alone=[scoring])


def study_submission(
    job: Job, place: Place, *, studies: Sequence[str], systems: Sequence[System], seeds: Sequence[int]
) -> str:
    """A shell script that gives the jobs of studies to sbatch: an array that trains their systems, one that
    trains the students of these when all are there, and a last job, on one machine, that scores all runs side
    by side.
    """
    ablate = f"ablate {quoted(place.config)} {shlex.join(studies)}"
    train = f'{ablate} --systems "$system" --seeds "$seed" --train-only {job.team}'
    first = [system.name for system in systems if not system.sides]
    students = [system.name for system in systems if system.sides]
    scripts = [
        script(job, place, systems=names, seeds=seeds, together=[train])
        for names in (first, students)
        if names
    ]
    score = f"{ablate} --seeds {shlex.join(map(str, seeds))} {job.scorers}"
    scripts.append(script(replace(job, nodes=1), place, alone=[score]))
    return SUBMISSION + "".join(STAGE.format(script=each) for each in scripts)


def script(
    job: Job,
    place: Place,
    *,
    systems: Sequence[str] = (),
    seeds: Sequence[int] = (),
    together: Sequence[str] = (),
    alone: Sequence[str] = (),
) -> str:
    """A script for sbatch that has commands of zsnmt done, for each system and seed as a job of an array:
    first those that all machines of the job do `together`, then those that the first does `alone`. Without
    systems it is a single job.

    A job that is preempted, loses a process or a machine, or runs out of time is queued again, and goes on
    from its last checkpoint; one whose error would last, as of the config, is not. Nothing is fetched: the
    nodes need no network but that between them.
    """
    asked = [
        f"job-name={place.config.stem}",
        *([f"array=0-{len(systems) * len(seeds) - 1}"] if systems else []),
        f"nodes={job.nodes}",
        "ntasks-per-node=1",
        f"cpus-per-task={job.processes or 4 * job.gpus}",
        *([] if job.processes else [f"gpus-per-node={job.gpus}"]),
        f"time={round(60 * job.hours)}",
        "requeue",
        "open-mode=append",
        "signal=B:USR1@180",
        f"output={plain_name(place.runs)}/slurm/%x-{'%A_%a' if systems else '%j'}.log",
        *job.options,
    ]
    each = CELL.format(systems=shlex.join(systems), seeds=" ".join(map(str, seeds))) if systems else ""
    done = [*(TOGETHER + command for command in together), *(ALONE + command for command in alone)]
    return SCRIPT.format(
        asked="\n".join(f"#SBATCH --{quoted_option(option)}" for option in asked),
        folder=quoted(place.folder),
        runs=quoted(place.runs),
        python=quoted(place.python),
        passing=PASSING,
        each=each,
        commands="".join(f"{command.strip()} &\nwait $! || failed $?\n" for command in done),
    )


def quoted_option(option: str) -> str:
    """An option as sbatch reads it in the head of a script: a blank or # would end it, and quotes and
    backslashes would be lost; `InputError` for a line break, which nothing there stands for.
    """
    if "\n" in option:
        raise InputError(f"an option of sbatch is one line, and this one is not: {option!r}")
    escaped = re.sub(r'["#\\]', r"\\\g<0>", option)
    return option if re.fullmatch(r"[^\s'\"#\\]*", option) else f'"{escaped}"'


def plain_name(folder: Path) -> str:
    """A folder in a name of a file that SLURM fills in; `InputError` for a backslash, which would keep it
    from that.
    """
    if "\\" in str(folder):
        raise InputError(
            f"to SLURM a backslash stands for more than itself, and {folder} has one; name it without"
        )
    return str(folder).replace("%", "%%")


def quoted(path: object) -> str:
    """A path as a word of bash."""
    return shlex.quote(str(path))


NAMED = '"$system"'  # of a run, unless it has another name
# When one machine has failed, the others end by themselves: a status of theirs would hide that of the first.
TOGETHER = 'srun --kill-on-bad-exit=0 --wait=180 --cpus-per-task="$SLURM_CPUS_PER_TASK" "${zsnmt[@]}" '
ALONE = '"${zsnmt[@]}" '
CELL = """\
systems=({systems})
seeds=({seeds})
system="${{systems[SLURM_ARRAY_TASK_ID / ${{#seeds[@]}}]}}"
seed="${{seeds[SLURM_ARRAY_TASK_ID % ${{#seeds[@]}}]}}"
"""
SCRIPT = """\
#!/bin/bash
{asked}
set -euo pipefail
cd {folder}
export RUNS={runs} HF_HUB_OFFLINE=1 SLURM_EXIT_ERROR={passing}
zsnmt=({python} -m zsnmt)
{each}
again() {{ # the same job, which goes on from its last checkpoint, ten times at most
  if [ "${{SLURM_RESTART_COUNT:-0}}" -lt 10 ]; then scontrol requeue "$SLURM_JOB_ID"; fi
  exit 1
}}
failed() {{ # with a status: it may go on where srun says so, {passing}, or where a process was killed
  if [ "$1" -eq {passing} ] || [ "$1" -gt 128 ]; then again; fi
  exit "$1"
}}
trap again USR1 # three minutes before the time is over

{commands}"""
SUBMISSION = """\
#!/bin/bash
set -euo pipefail
after=()
"""
STAGE = """
number=$(sbatch --parsable "${{after[@]}}" <<'SCRIPT'
{script}SCRIPT
)
echo "submitted job ${{number%%;*}}"
after=(--dependency="afterok:${{number%%;*}}" --kill-on-invalid-dep=yes)
"""
