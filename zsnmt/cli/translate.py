"""Translate raw text with a trained run, one line out for each line in, or a document.

zsnmt translate RUN --to de < text > translation
zsnmt translate RUN --from nl --to de --via en --input text --output translation
zsnmt translate RUN --from nl --to de --way ensemble < text > translation
zsnmt translate RUN --from nl --to de --with RUN2 RUN3 < text > translation
zsnmt translate RUN --from nl --to de --scores tsv --agreement < text > table
zsnmt translate RUN --from auto --to de --input letter.docx --output brief.docx

Documents are web pages (.html), Word (.docx), subtitles (.srt), messages of programs (.po) and, with
--document, plain text in paragraphs. They are cut into sentences, and all that is not text stays.
"""

import itertools
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tqdm import tqdm

from zsnmt import console
from zsnmt.cli.recipe import positive
from zsnmt.decoding.methods.settings import parse_method
from zsnmt.decoding.options import (
    BATCH_TOKENS,
    add_beside,
    add_engine_options,
    add_search_options,
    chosen_search,
    engine_choice,
)
from zsnmt.documents.formats import format_of, read_document
from zsnmt.files.replacing import replacing
from zsnmt.inference.translation import FORMATS, Legs, Translation, row
from zsnmt.languages import AUTO
from zsnmt.text.lines import iterate_lines, iterate_stream, write_lines

if TYPE_CHECKING:
    from zsnmt.inference.translator import Translator

LINES_AT_A_TIME = 2000


def main(arguments: Sequence[str] | None = None) -> None:
    parser = console.Parser(prog="zsnmt translate", description=__doc__)
    parser.add_argument(
        "run", type=Path, help="run folder made by zsnmt train, or its export by zsnmt export"
    )
    parser.add_argument("--to", required=True, metavar="LANGUAGE", help="target language")
    parser.add_argument(
        "--from",
        dest="source",
        metavar="LANGUAGE",
        help=f"source language, or {AUTO}: that of most of the text, or of a long line or paragraph itself; "
        "may be left out where the model does not see it",
    )
    parser.add_argument("--via", metavar="LANGUAGE", help="translate through this language")
    parser.add_argument(
        "--way",
        metavar="METHOD",
        help="translate by a method: ensemble, mask, contrast or sample, with settings as in "
        "mask:pieces=2 (docs/method.md)",
    )
    parser.add_argument(
        "--input", type=Path, help="text, one sentence per line, or a document (default: stdin)"
    )
    parser.add_argument(
        "--document", action="store_true", help="lines of the text of --input are paragraphs, not sentences"
    )
    parser.add_argument(
        "--output", type=console.output_file, help="file for the translation (default: stdout)"
    )
    parser.add_argument(
        "--scores",
        choices=FORMATS,
        help="also write how sure each translation is, by the mean log-probability of its tokens: "
        "tsv puts it before the translation, with a tab between, jsonl writes one object per "
        "line (docs/confidence.md)",
    )
    parser.add_argument(
        "--agreement",
        action="store_true",
        help="with --scores: also compare each translation, by chrF, with the one through the pivot "
        "or, with --via, with the direct one; this takes the time of both",
    )
    add_search_options(parser)
    parser.add_argument(
        "--batch-tokens",
        type=positive,
        metavar="N",
        default=BATCH_TOKENS,
        help="about how many source tokens a batch has",
    )
    add_engine_options(parser)
    add_beside(parser, "the first")
    options = parser.parse_args(arguments)
    if options.document and not options.input:
        parser.error("a document is a file: name it with --input")
    form = format_of(options.input, paragraphs=options.document)
    if options.scores and form:
        parser.error("a document has no place for --scores; give its text as lines")
    if options.agreement and not options.scores:
        parser.error("--agreement is one of the --scores: choose their form, as in --scores tsv")
    search, choice = chosen_search(options), engine_choice(options)
    options.way = options.way and parse_method(options.way)
    from zsnmt.inference.engines import engine_for  # loads PyTorch
    from zsnmt.inference.translator import Translator
    from zsnmt.runs.folder import piece_counts

    choice = engine_for(options.run, filter(None, [options.way]), choice)
    translator = Translator.open(options.run, search, choice, batch_tokens=options.batch_tokens, prepare=True)
    if options.way:
        counts = piece_counts(options.run) if options.way.mask else None
        translator = translator.by(options.way, counts)
    refuse_wrong_languages(translator, options)  # before any text is read
    if form or options.source == AUTO:
        translate_whole(translator, options, form)
        return
    from zsnmt.inference.confidence import scored_lines

    legs = Legs(options.source, options.to, options.via)
    lines = iterate_input(options.input)

    # A contrast may read a line beside another, so the whole text is read before any of it is translated.
    at_a_time = None if options.way and options.way.reads_others else LINES_AT_A_TIME

    def translations() -> Iterator[str]:
        first_line = 1
        with tqdm(unit=" lines", disable=None) as bar:
            while chunk := list(itertools.islice(lines, at_a_time)):
                translated = scored_lines(
                    translator,
                    chunk,
                    legs,
                    agreement=options.agreement,
                    first_line=first_line,
                    finished=bar.update,
                )
                yield from rows(translated, options)
                first_line += len(chunk)

    if options.output:
        write_lines(options.output, translations())
    else:
        for line in translations():
            sys.stdout.buffer.write(line.encode("utf-8") + b"\n")
        sys.stdout.buffer.flush()


def refuse_wrong_languages(translator: "Translator", options: Namespace) -> None:
    """`InputError` for a language that the model does not know, where one is missing, and for scores that
    its translations do not have.
    """
    from zsnmt.inference.confidence import check_scores

    source, via = options.source, options.via
    if source == AUTO and options.way and options.way.needs_source:
        source = None
    elif source == AUTO:
        others = [language for language in translator.languages if language != options.to]
        source = next((language for language in others if language != via), others[0])
        via = None if via == source else via
    translator.legs(source, options.to, via)
    if options.scores:
        check_scores(translator, Legs(options.source, options.to, options.via), options.agreement)


def rows(translations: Iterable[Translation], options: Namespace) -> Iterator[str]:
    """What is written of each translation: its text, or a row with its scores."""
    for each in translations:
        yield row(each, options.scores, options.agreement) if options.scores else each.text


def translate_whole(translator: "Translator", options: Namespace, form: str | None) -> None:
    """Translate what has to be read to its end first: a document of a format, and lines whose languages are
    not said.
    """
    from zsnmt.inference.documents import translate_document, translate_lines

    legs = Legs(options.source, options.to, options.via)
    with tqdm(unit=" sentences", disable=None) as bar:
        if form:
            read = read_document(options.input, form)
            content, found = translate_document(translator, read, legs, finished=bar.update)
        else:
            lines = [*iterate_input(options.input)]
            translations, found = translate_lines(
                translator, lines, legs, agreement=options.agreement, finished=bar.update
            )
            content = "".join(f"{line}\n" for line in rows(translations, options)).encode("utf-8")
    if options.source == AUTO:
        print(f"source: {found}", file=sys.stderr)
    if options.output:
        with replacing(options.output) as file:
            file.write(content)
    else:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()


def iterate_input(path: Path | None) -> Iterator[str]:
    """The lines of a file, or of standard input."""
    if path:
        return iterate_lines(path, allow_empty_lines=True)
    return iterate_stream(sys.stdin.buffer, "standard input", allow_empty_lines=True)
