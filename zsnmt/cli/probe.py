"""Probe the encoders of runs: what their states know of token, position and language, and how alike languages
are in them.

    zsnmt probe runs/demo/*/seed1
    zsnmt probe RUN --kind exact --labels "language position" --train-lines 500
    zsnmt probe RUN --languages "da de es fi fr it nl pt"
    zsnmt probe RUN --train-lines all

Similarity is of translations: of a multiway split, or of the sentences that the files of pairs have in
common. Classifiers are measured on each language's own lines and trained on random lines of its training
text: by the procedure of Liu et al. (2021) or, with --kind exact, to convergence, for labels of few classes.
Tables go to RUN/probes. Run it again to go on after a stop.
"""

from argparse import ArgumentTypeError
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from zsnmt import console
from zsnmt.analysis.state_folder import LABELS
from zsnmt.cli.common.argument_types import positive, seed_number
from zsnmt.cli.common.recipe import Recipe, add_check, add_jobs, do_all
from zsnmt.cli.common.words import parse_between
from zsnmt.probing.settings import LIVE, MOST_STORED_LINES, STORED, Probing
from zsnmt.runs.commands import verb_command


def main(arguments: Sequence[str] | None = None) -> None:
    options = vars(parse_between(make_parser(), arguments))
    runs, keep_states, jobs = (options.pop(name) for name in ("runs", "keep_states", "jobs"))
    recipe = Recipe("probe", options.pop("check"))

    from zsnmt.probing.run import probe_run

    def probe(run: Path) -> None:
        shown = probe_run(recipe.steps, run, Probing(**options), keep_states=keep_states)
        print("", run, "", "\n\n".join(shown), sep="\n")

    do_all([partial(probe, run) for run in runs], jobs)
    recipe.steps.say(
        "next, for figures of probes and scores: " + verb_command("report", *runs, "--output", "report.html")
    )


def make_parser() -> console.Parser:
    parser = console.Parser(prog="zsnmt probe", description=__doc__)
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="run folders of trained models")
    parser.add_argument("--split", default=Probing.split, help="split of the text to measure on")
    parser.add_argument("--lines", type=positive, metavar="N", help="only its first N lines (default: all)")
    parser.add_argument(
        "--languages",
        type=codes,
        default=Probing.languages,
        metavar="CODES",
        help='only these, as in "de it" (default: all)',
    )
    parser.add_argument(
        "--train-lines",
        type=lines_or_all,
        default=Probing.train_lines,
        metavar="N",
        help="train classifiers on at most this number of lines of each language, or on all",
    )
    parser.add_argument(
        "--training-states",
        choices=[STORED, LIVE],
        help="stored: all are on the disk until the classifiers are trained; live: the classifiers learn "
        f"while the encoder runs, in batches of sentences (default: live above {MOST_STORED_LINES} lines)",
    )
    parser.add_argument(
        "--kind", choices=["published", "exact"], default=Probing.kind, help="procedure of the classifiers"
    )
    parser.add_argument(
        "--labels",
        type=labels,
        default=Probing.labels,
        metavar="WORDS",
        help='what to predict, as in "language position"',
    )
    parser.add_argument(
        "--variance",
        type=float,
        default=Probing.variance,
        metavar="SHARE",
        help="share of the variance that SVCCA keeps",
    )
    parser.add_argument(
        "--target", metavar="CODE", help="target language, if sources have the tag of their target"
    )
    parser.add_argument(
        "--seed",
        type=seed_number,
        default=Probing.seed,
        help="seed of the training lines, the classifiers and the Gaussians",
    )
    parser.add_argument("--keep-states", action="store_true", help="keep the states in RUN/probes")
    parser.add_argument(
        "--classifiers-only",
        action="store_true",
        help="without similarity, which needs sentences that all languages have in common",
    )
    add_check(parser)
    add_jobs(parser)
    return parser


def codes(words: str) -> tuple[str, ...]:
    """Some languages of the model."""
    return tuple(words.split())


def lines_or_all(word: str) -> int | None:
    """A whole number above 0; None for all."""
    return None if word == "all" else positive(word)


def labels(words: str) -> tuple[str, ...]:
    """Some of what classifiers may predict."""
    if not (chosen := tuple(words.split())) or {*chosen} - {*LABELS}:
        raise ArgumentTypeError(f"'{words}' is not among {', '.join(LABELS)}")
    return chosen
