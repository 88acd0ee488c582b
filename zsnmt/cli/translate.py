"""Translate raw text with a trained run: one line out for each line in.

zsnmt translate RUN --to de < text > translation
zsnmt translate RUN --from nl --to de --via en --input text --output translation
zsnmt translate RUN --from nl --to de --way ensemble < text > translation
"""

import itertools
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tqdm import tqdm

from zsnmt import console
from zsnmt.decoding.methods.settings import parse_method
from zsnmt.decoding.options import (
    BATCH_TOKENS,
    add_engine_options,
    add_search_options,
    chosen_search,
    engine_choice,
)
from zsnmt.text.lines import iterate_lines, iterate_stream, write_lines

LINES_AT_A_TIME = 2000


def main(arguments: Sequence[str] | None = None) -> None:
    parser = console.Parser(prog="zsnmt translate", description=__doc__)
    parser.add_argument(
        "run", type=Path, help="run folder made by recipes/train.sh, or its export by zsnmt export"
    )
    parser.add_argument("--to", required=True, metavar="LANGUAGE", help="target language")
    parser.add_argument(
        "--from",
        dest="source",
        metavar="LANGUAGE",
        help="source language; may be left out where the model does not see it",
    )
    parser.add_argument("--via", metavar="LANGUAGE", help="translate through this language")
    parser.add_argument(
        "--way",
        type=parse_method,
        help="translate by a method: ensemble, mask or contrast, with settings as in mask:pieces=2 "
        "(docs/method.md)",
    )
    parser.add_argument("--input", type=Path, help="text, one sentence per line (default: stdin)")
    parser.add_argument(
        "--output", type=console.output_file, help="file for the translation (default: stdout)"
    )
    add_search_options(parser)
    parser.add_argument(
        "--batch-tokens", type=int, metavar="N", default=BATCH_TOKENS, help="source tokens in a batch, about"
    )
    add_engine_options(parser)
    options = parser.parse_args(arguments)
    search, choice = chosen_search(options), engine_choice(options)
    from zsnmt.inference.engines import check_method, prepare_engine  # loads PyTorch
    from zsnmt.inference.translator import Translator
    from zsnmt.runs.folder import piece_counts

    if options.way:
        check_method(options.run, options.way, choice)
    prepare_engine(options.run, search, choice)
    translator = Translator.open(options.run, search, choice, batch_tokens=options.batch_tokens)
    if options.way:
        counts = piece_counts(options.run) if options.way.mask else None
        translator = translator.by(options.way, counts)
    translator.legs(
        options.source, options.to, options.via
    )  # a wrong language is refused before any text is read
    if options.input:
        lines = iterate_lines(options.input, allow_empty_lines=True)
    else:
        lines = iterate_stream(sys.stdin.buffer, "standard input", allow_empty_lines=True)

    # A method may read a line beside another, so the whole text is read before any of it is translated.
    at_a_time = None if options.way else LINES_AT_A_TIME

    def translations() -> Iterator[str]:
        first_line = 1
        with tqdm(unit=" lines", disable=None) as bar:
            while chunk := list(itertools.islice(lines, at_a_time)):
                yield from translator.translate(
                    chunk,
                    options.to,
                    options.source,
                    via=options.via,
                    first_line=first_line,
                    finished=bar.update,
                )
                first_line += len(chunk)

    if options.output:
        write_lines(options.output, translations())
    else:
        for line in translations():
            sys.stdout.buffer.write(line.encode("utf-8") + b"\n")
        sys.stdout.buffer.flush()
