"""Write the states of an encoder for each token of a test set, layer by layer, for the probes.

zsnmt probe-states RUN states
zsnmt probe-states RUN training-states --split train --random-lines 2000
zsnmt probe-states CHECKPOINT states --data BINARISED --text PIECES
"""

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from zsnmt import console
from zsnmt.cli.common.argument_types import positive, seed_number
from zsnmt.languages import check_known

if TYPE_CHECKING:
    from zsnmt.inference.probed_model import ProbedModel


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser()
    options = parser.parse_args(arguments)
    refuse_what_nothing_reads(parser, options)
    from zsnmt.analysis.state_folder import read_states
    from zsnmt.inference.states import write_states  # loads PyTorch

    model = chosen_model(options)
    text = chosen_text(options, model)
    write_states(options.output, model, text, translations=options.random_lines is None)

    record = read_states(options.output).record
    size = sum(path.stat().st_size for path in options.output.iterdir())
    print(
        f"{options.output}: {size / 1e6:.1f} MB, layers {', '.join(record['layers'])}, each "
        f"{record['tokens']} tokens × {record['dimension']}, from {record['sentences']} sentences in "
        f"{', '.join(record['languages'])}"
    )


def make_parser() -> console.Parser:
    parser = console.Parser(prog="zsnmt probe-states", description=__doc__)
    parser.add_argument("model", type=Path, help="run folder, or checkpoint of fairseq's own transformer")
    parser.add_argument("output", type=Path, help="folder of states to make")
    parser.add_argument(
        "--text",
        type=Path,
        help="folder with SPLIT.{lang}, or with SPLIT.xx-yy.{lang} of pairs with the pivot, of which the "
        "sentences common to all are read (default: the run's); for fairseq's own transformer, pieces with "
        "spaces between them",
    )
    parser.add_argument("--split", default="test", help="split of the text")
    parser.add_argument(
        "--languages", nargs="+", metavar="CODE", help="only these languages (default: all of the model)"
    )
    lines = parser.add_mutually_exclusive_group()
    lines.add_argument("--lines", type=positive, metavar="N", help="only the first N lines of each language")
    lines.add_argument(
        "--random-lines",
        type=positive,
        metavar="N",
        help="at most N lines of each language at random from the "
        "files SPLIT.xx-yy.{lang} of its pairs, which are not translations of each other",
    )
    parser.add_argument("--seed", type=seed_number, default=1, help="seed of the random lines")
    parser.add_argument(
        "--target", metavar="CODE", help="target language, if sources have the tag of their target"
    )
    parser.add_argument(
        "--checkpoint",
        metavar="FILE",
        help="the one in the run folder, like checkpoints/checkpoint_best.pt (default: model.pt)",
    )
    parser.add_argument(
        "--data", type=Path, help="folder with the dict.{lang}.txt of fairseq's own transformer"
    )
    return parser


def refuse_what_nothing_reads(parser: console.Parser, options: Namespace) -> None:
    """`WrongUse` for options of another kind of model, and for a checkpoint without those that it needs."""
    stock = options.model.is_file()
    if stock and not (options.data and options.text):
        parser.error("a checkpoint of fairseq's own transformer needs --data and --text")
    owner = "a run folder" if stock else "a checkpoint of fairseq's own transformer"
    for name in ("target", "checkpoint") if stock else ("data",):
        if options.model.exists() and getattr(options, name) is not None:
            parser.error(f"--{name} belongs to {owner}, and {options.model} is none; leave it out")


def chosen_model(options: Namespace) -> "ProbedModel":
    """The model of a run folder, or of a checkpoint of fairseq's own transformer."""
    from zsnmt.inference.probed_model import load_probed_run, load_stock_checkpoint  # loads PyTorch
    from zsnmt.runs.folder import MODEL_FILE

    if options.model.is_file():
        return load_stock_checkpoint(options.model, options.data)
    return load_probed_run(options.model, options.checkpoint or MODEL_FILE, options.target)


def chosen_text(options: Namespace, model: "ProbedModel") -> dict[str, list[str]]:
    """The lines of each language: translations of each other, or random ones that the model reads."""
    from zsnmt.corpora.multiway import read_translations
    from zsnmt.corpora.random_lines import random_lines
    from zsnmt.inference.states import readable_lines
    from zsnmt.runs.folder import read_record

    languages = [check_known(language, model.languages) for language in options.languages or model.languages]
    folder = options.text or Path(read_record(options.model)["text"])
    if options.random_lines is not None:
        drawn = random_lines(folder, options.split, languages, number=options.random_lines, seed=options.seed)
        return readable_lines(model, drawn)
    text = read_translations(folder, options.split, languages, pivot=model.languages[0])
    return {language: lines[: options.lines] for language, lines in text.items()}
