"""Measure how well the confidence of a run's direct translations ranks them by their quality.

    zsnmt confidence RUN --precision int8
    zsnmt confidence RUN --directions de-fr,fr-de --lines 300 --output confidence.json

Prints a table of Spearman's correlations: of the mean log-probability of a translation with its sentence chrF
against the reference, and of its agreement with the translation through the pivot with the same chrF. The
record is written to RUN/confidence.json, which zsnmt results RUN keeps (docs/confidence.md).
"""

from collections.abc import Sequence
from pathlib import Path

from zsnmt import console
from zsnmt.cli.common.argument_types import directions, output_file, positive
from zsnmt.console import WrongUse
from zsnmt.decoding.options import add_engine_options, add_search_options, chosen_search, engine_choice


def main(arguments: Sequence[str] | None = None) -> None:
    parser = console.Parser(prog="zsnmt confidence", description=__doc__)
    parser.add_argument("run", type=Path, help="run folder made by zsnmt train, or an export of it")
    parser.add_argument(
        "--text", type=Path, help="parallel text with the test set (default: that of the run)"
    )
    parser.add_argument("--split", default="test", help="name of the test set")
    parser.add_argument(
        "--directions",
        type=directions,
        help="only these directions, as in de-fr,fr-de (default: all with text)",
    )
    parser.add_argument(
        "--lines", type=positive, metavar="N", help="only the first N lines of each direction (default: all)"
    )
    parser.add_argument(
        "--output",
        type=output_file,
        metavar="FILE",
        help="file for the record; --text, --split, --directions and --lines need one (default: in the run, "
        "for its whole test set)",
    )
    add_search_options(parser)
    add_engine_options(parser)
    options = parser.parse_args(arguments)
    search, engine = chosen_search(options), engine_choice(options)
    from zsnmt.evaluation.confidence import measure_confidence  # loads PyTorch
    from zsnmt.evaluation.settings import TextChoice
    from zsnmt.files.records import write_json
    from zsnmt.inference.engines import prepare_engine
    from zsnmt.report.confidence import confidence_tables
    from zsnmt.runs.folder import CONFIDENCE_FILE

    partly = options.text or options.split != "test" or options.directions or options.lines
    if partly and not options.output:
        raise WrongUse(
            "--text, --split, --directions and --lines need an --output of their own: a run keeps the "
            "record of its whole test set"
        )
    choice = TextChoice(options.text, options.split, directions=options.directions, lines=options.lines)
    prepare_engine(options.run, search, engine)
    record = measure_confidence(options.run, choice, search=search, engine=engine)
    write_json(options.output or options.run / CONFIDENCE_FILE, record)
    print(confidence_tables([record]))
