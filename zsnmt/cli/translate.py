"""Translate raw text with a trained run: one line out for each line in.

    zsnmt translate RUN --to de < text > translation
    zsnmt translate RUN --from nl --to de --via en --input text --output translation
"""

import itertools
import sys
from collections.abc import Sequence
from pathlib import Path

from tqdm import tqdm

from zsnmt import console
from zsnmt.decoding.length_penalty import FORMS, POWER
from zsnmt.decoding.options import add_engine_options, engine_choice
from zsnmt.text.lines import iterate_lines, iterate_stream, write_lines

LINES_AT_A_TIME = 2000


def main(arguments: Sequence[str] | None = None) -> None:
    parser = console.Parser(prog="zsnmt translate", description=__doc__)
    parser.add_argument("run", type=Path, help="run folder made by recipes/train.sh, or its export by zsnmt export")
    parser.add_argument("--to", required=True, metavar="LANGUAGE", help="target language")
    parser.add_argument("--from", dest="source", metavar="LANGUAGE",
                        help="source language; may be left out where the model does not see it")
    parser.add_argument("--via", metavar="LANGUAGE", help="translate through this language")
    parser.add_argument("--input", type=Path, help="text, one sentence a line (default: stdin)")
    parser.add_argument("--output", type=Path, help="file for the translation (default: stdout)")
    parser.add_argument("--beam", type=int, choices=range(1, 101), metavar="N", default=4, help="hypotheses kept at each step")
    parser.add_argument("--length-penalty", type=float, metavar="ALPHA", default=1.0,
                        help="exponent of the length by which log-probabilities are divided (default: %(default)s)")
    parser.add_argument("--length-penalty-form", choices=FORMS, default=POWER,
                        help="the power is that of the length, or gnmt: of (5 + length) / 6 (default: %(default)s)")
    parser.add_argument("--batch-tokens", type=int, default=4000, help="source tokens in a batch, about")
    add_engine_options(parser)
    options = parser.parse_args(arguments)
    choice = engine_choice(options)
    from zsnmt.inference.translator import Translator  # loads PyTorch

    search = options.beam, options.length_penalty, options.length_penalty_form
    translator = Translator(options.run, *search, batch_tokens=options.batch_tokens, choice=choice)
    translator.legs(options.source, options.to, options.via)  # a wrong language is refused before any text is read
    if options.input:
        lines = iterate_lines(options.input, allow_empty_lines=True)
    else:
        lines = iterate_stream(sys.stdin.buffer, "standard input", allow_empty_lines=True)

    def translations():
        first_line = 1
        with tqdm(unit=" lines", disable=None) as bar:
            while chunk := list(itertools.islice(lines, LINES_AT_A_TIME)):
                yield from translator.translate(
                    chunk, options.to, options.source, options.via, first_line=first_line, finished=bar.update
                )
                first_line += len(chunk)

    if options.output:
        write_lines(options.output, translations())
    else:
        for line in translations():
            sys.stdout.buffer.write(line.encode("utf-8") + b"\n")
        sys.stdout.buffer.flush()
