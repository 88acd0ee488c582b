"""Train and score the systems of a config on a cluster with SLURM: an array of jobs, one for each system and
seed. Prints the script for sbatch; with --submit, also gives it to sbatch.

    zsnmt slurm configs/iwslt17.conf zs_transformer zs_transformer_residual --seeds 1 2 3 --gpus 4
    zsnmt slurm configs/iwslt17.conf zs_transformer --nodes 2 --gpus 8 --hours 12 --submit
    zsnmt slurm CONFIG SYSTEM --submit -- --partition=gpu --account=me

Options of sbatch come after `--`. Make the data first, where there is a network (docs/several_machines.md).
"""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from zsnmt import console
from zsnmt.cli.recipe import Recipe, add_seeds, positive, split_options
from zsnmt.files.project import ROOT
from zsnmt.training.slurm import Job, script


def main(arguments: Sequence[str] | None = None) -> None:
    parser = console.Parser(prog="zsnmt slurm", description=__doc__)
    parser.add_argument("config", type=Path, help="config of the experiment")
    parser.add_argument("systems", nargs="+", metavar="ARCHITECTURE", help="systems to train")
    add_seeds(parser)
    parser.add_argument(
        "--nodes", type=positive, default=Job.nodes, metavar="N", help="machines for each job"
    )
    parser.add_argument("--gpus", type=positive, default=Job.gpus, metavar="N", help="GPUs of each machine")
    parser.add_argument(
        "--processes", type=positive, default=0, metavar="N", help="processes on each machine, without GPUs"
    )
    parser.add_argument(
        "--hours", type=float, default=Job.hours, metavar="H", help="time of a job until it is queued again"
    )
    parser.add_argument("--submit", action="store_true", help="also give the script to sbatch")
    own, further = split_options(sys.argv[1:] if arguments is None else arguments)
    options = parser.parse_intermixed_args(own)
    recipe = Recipe("slurm")

    from zsnmt.training.experiment import read_experiment
    from zsnmt.training.team import shared_updates
    from zsnmt.training.train import check_options

    experiment = read_experiment(options.config, recipe.runs, recipe.variables)
    for system in options.systems:
        check_options(system, experiment.config.fairseq_options)
    job = Job(options.nodes, options.gpus, options.processes, hours=options.hours, options=further)
    shared_updates(experiment.config.fairseq_options, job.nodes * (job.processes or job.gpus))
    made = script(
        job,
        options.config.resolve(),
        options.systems,
        seeds=options.seeds,
        project=ROOT,
        runs=recipe.runs.resolve(),
        python=sys.executable,
    )
    (recipe.runs / "slurm").mkdir(parents=True, exist_ok=True)  # where the job's log is opened
    print(made, end="")
    if options.submit:
        subprocess.run(["sbatch"], input=made, text=True, check=True)
