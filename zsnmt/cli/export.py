"""Export a run into one folder that another engine translates with, exactly as the run does.

zsnmt export RUN --to ctranslate2 --quantization int8
zsnmt translate RUN/ctranslate2-int8 --to de < lines.txt > translation.txt
zsnmt export RUN --to argos --quantization int8       # packages for Argos Translate and LibreTranslate
zsnmt export RUN --to huggingface                     # a folder that transformers loads, to be published
"""

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from zsnmt import console
from zsnmt.decoding.options import FLOAT32
from zsnmt.inference.export.ctranslate2.quantisation import QUANTIZATIONS
from zsnmt.inference.export.formats import ARGOS, FORMATS, SENTENCES


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser()
    options = parser.parse_args(arguments)
    if options.to == ARGOS:
        export_to_argos(options)
        return
    if options.directions:
        parser.error(f"--directions is of --to {ARGOS}: other exports translate in all directions")
    from zsnmt.inference.export.agreement import describe
    from zsnmt.inference.export.run import export_run  # loads PyTorch

    folder, agreements = export_run(
        options.run,
        options.output,
        to=options.to,
        quantization=options.quantization,
        text=options.text,
        sentences=options.sentences,
    )
    print(folder)
    print(describe(agreements))


def make_parser() -> console.Parser:
    parser = console.Parser(prog="zsnmt export", description=__doc__)
    parser.add_argument("run", type=Path, help="run folder made by zsnmt train")
    parser.add_argument(
        "--to",
        choices=[*FORMATS, ARGOS],
        required=True,
        help="format; ctranslate2 and argos need pip install ctranslate2, huggingface pip install "
        "'zsnmt[huggingface]'",
    )
    parser.add_argument(
        "--quantization",
        metavar=f"{{{','.join(QUANTIZATIONS)}}}",
        default=FLOAT32,
        help="how weights are kept: int8 is the smallest and, on a CPU, the fastest; huggingface has"
        " only float32",
    )
    parser.add_argument(
        "--output", type=Path, metavar="FOLDER", help="new folder (default: RUN/FORMAT-QUANTIZATION)"
    )
    parser.add_argument(
        "--text",
        type=Path,
        metavar="FOLDER",
        help="parallel text with the test set that the export is checked on (default: that of the run)",
    )
    parser.add_argument(
        "--sentences",
        type=int,
        default=SENTENCES,
        metavar="N",
        help="how many sentences to check on, 50 or more",
    )
    parser.add_argument(
        "--directions",
        nargs="+",
        metavar="XX-YY",
        default=[],
        help="for argos: directions to make packages of (default: all)",
    )
    return parser


def export_to_argos(options: Namespace) -> None:
    from zsnmt.inference.export.argos import export_packages  # loads PyTorch
    from zsnmt.languages import parse_direction

    packages = export_packages(
        options.run,
        options.output,
        quantization=options.quantization,
        directions=[*map(parse_direction, options.directions)],
        text=options.text,
        sentences=options.sentences,
    )
    print(*packages, sep="\n")
