"""Train and score the systems of a config on a cluster with SLURM: an array of jobs, one for each system and
seed. Prints the script for sbatch; with --submit, also gives it to sbatch.

    zsnmt slurm configs/iwslt17.conf zs_transformer zs_transformer_residual --seeds 1 2 3 --gpus 4
    zsnmt slurm configs/iwslt17.conf zs_transformer --nodes 2 --gpus 8 --hours 12 --submit
    zsnmt slurm CONFIG SYSTEM --submit --sbatch partition=gpu account=me
    zsnmt slurm CONFIG SYSTEM --name variational -- --variational-dropout
    zsnmt slurm CONFIG --studies query distillation --seeds 1 2 3 --submit

For studies (zsnmt ablate) it prints a shell script that submits an array for their systems, one for the
students of these, and a job that scores all of them side by side.

Options of fairseq-train come after `--`. Fetch the corpus first, where there is a network
(docs/several_machines.md).
"""

import subprocess
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from shutil import which

from zsnmt import console
from zsnmt.cli.common.argument_types import hours, positive
from zsnmt.cli.common.recipe import Recipe, add_seeds
from zsnmt.cli.common.words import split_options
from zsnmt.console import WrongUse
from zsnmt.errors import InputError
from zsnmt.training.slurm import Job, Place, study_submission, training_script


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser()
    own, further = split_options(sys.argv[1:] if arguments is None else arguments)
    options = parser.parse_intermixed_args(own)
    check_wishes(options, further)
    recipe = Recipe("slurm")

    from zsnmt.distillation.study import check_study
    from zsnmt.training.experiment import read_experiment
    from zsnmt.training.studies import systems
    from zsnmt.training.team import shared_updates
    from zsnmt.training.train import check_options

    experiment = read_experiment(options.config, recipe.runs, recipe.variables)
    given = [*experiment.config.fairseq_options, *further]
    job = Job(options.nodes, options.gpus, options.processes, hours=options.hours, options=options.sbatch)
    place = Place(
        folder=Path.cwd(), runs=recipe.runs.resolve(), python=sys.executable, config=options.config.resolve()
    )
    if options.studies:
        there = systems(options.studies, given)
        check_study(experiment, there, options.seeds[0])
        made = study_submission(job, place, studies=options.studies, systems=there, seeds=options.seeds)
    else:
        for system in options.systems:
            check_options(system, given, experiment.config.languages)
        named = {"systems": options.systems, "seeds": options.seeds, "name": options.name}
        made = training_script(job, place, **named, options=further)
    shared_updates(given, job.nodes * (job.processes or job.gpus))
    (recipe.runs / "slurm").mkdir(parents=True, exist_ok=True)  # where the job's log is opened
    print(made, end="")
    if options.submit:
        submit(["bash" if options.studies else "sbatch"], made)


def make_parser() -> console.Parser:
    parser = console.Parser(prog="zsnmt slurm", description=__doc__)
    parser.add_argument("config", type=Path, help="config of the experiment")
    parser.add_argument("systems", nargs="*", metavar="ARCHITECTURE", help="systems to train")
    parser.add_argument(
        "--studies",
        nargs="+",
        metavar="STUDY",
        default=[],
        help="train and score the systems of zsnmt ablate",
    )
    add_seeds(parser)
    parser.add_argument(
        "--name", type=console.folder_name, help="name of a variant, needed with options of its own"
    )
    parser.add_argument(
        "--nodes", type=positive, default=Job.nodes, metavar="N", help="machines for each job"
    )
    computing = parser.add_mutually_exclusive_group()
    computing.add_argument(
        "--gpus", type=positive, default=Job.gpus, metavar="N", help="GPUs of each machine"
    )
    computing.add_argument(
        "--processes", type=positive, default=0, metavar="N", help="processes on each machine, without GPUs"
    )
    parser.add_argument(
        "--hours", type=hours, default=Job.hours, metavar="H", help="time of a job until it is queued again"
    )
    parser.add_argument(
        "--sbatch",
        nargs="+",
        metavar="OPTION",
        default=[],
        help="further options of sbatch, without their dashes: partition=gpu 'comment=my job'",
    )
    parser.add_argument("--submit", action="store_true", help="also give the script to sbatch")
    return parser


def submit(command: Sequence[str], script: str) -> None:
    """Give a script to a command that submits it; `InputError` where there is no SLURM, or where it refuses
    the script.
    """
    if not which("sbatch"):
        raise InputError(
            "there is no sbatch here, so nothing was submitted: give this command where SLURM is, or leave "
            f"out --submit, keep what it prints in a file, and there give the file to {command[0]}"
        )
    if subprocess.run(command, input=script, text=True).returncode:
        raise InputError(
            "the submission failed (see above); where sbatch refuses it, give what it wants by --sbatch, as "
            "in --sbatch partition=gpu. What it took before, squeue --me shows and scancel ends"
        )


def check_wishes(options: Namespace, further: Sequence[str]) -> None:
    """`WrongUse` for what does not go together."""
    if not options.systems and not options.studies:
        raise WrongUse("name the systems to train, such as zs_transformer, or --studies of zsnmt ablate")
    if options.studies and (options.systems or options.name or further):
        raise WrongUse(
            "a study says which systems it trains, and how; leave out architectures, --name and options of "
            "fairseq-train, or --studies"
        )
    if (further and not options.name) or (options.name and len(options.systems) > 1):
        raise WrongUse(
            "a variant is one architecture with a --name for its run folder, and options of fairseq-train "
            "after --; options of sbatch follow --sbatch, as in --sbatch partition=gpu"
        )
