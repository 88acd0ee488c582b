"""Translate raw text with a trained run, one line out for each line in, or a document.

    zsnmt translate RUN --to de < lines.txt > translation.txt
    zsnmt translate RUN --from nl --to de --via en --input lines.txt --output translation.txt
    zsnmt translate RUN --from nl --to de --way ensemble < lines.txt > translation.txt
    zsnmt translate RUN --from nl --to de --with RUN2 RUN3 < lines.txt > translation.txt
    zsnmt translate RUN --from nl --to de --scores tsv --agreement < lines.txt > table
    zsnmt translate RUN --from nl --to de --nbest 4 < lines.txt > lists
    zsnmt translate RUN --from auto --to de --input letter.docx --output brief.docx

Where --output is stopped, the same command goes on with the lines of --input that are left.

Documents are those of Office (.docx, .pptx, .xlsx) and LibreOffice (.odt, .odp, .ods), web pages (.html),
books (.epub), subtitles (.srt, .vtt), messages of programs (.po), what tools of translators exchange (.xlf)
and, with --document, plain text in paragraphs. They are cut into sentences, and all that is not text stays.
"""

import itertools
import logging
import os
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tqdm import tqdm

from zsnmt import console
from zsnmt.cli.common.argument_types import output_file, positive
from zsnmt.decoding.methods.settings import parse_method
from zsnmt.decoding.options import (
    BATCH_TOKENS,
    LARGER_ON_A_GPU,
    add_beside,
    add_engine_options,
    add_search_options,
    chosen_search,
    engine_choice,
)
from zsnmt.decoding.search import Search
from zsnmt.documents.formats import FORMATS as KNOWN
from zsnmt.documents.formats import NOT_READ, PLAIN, format_of, read_document
from zsnmt.files.checksums import checksum_of
from zsnmt.files.replacing import is_replaced, replacing
from zsnmt.inference.translation import FORMATS, Legs, row
from zsnmt.languages import AUTO, Direction
from zsnmt.processes import share_kernels
from zsnmt.runs.folder import languages_of
from zsnmt.text.lines import iterate_lines, iterate_stream, write_lines
from zsnmt.text.sentences import holds_several

if TYPE_CHECKING:
    from zsnmt.inference.translator import Translator
    from zsnmt.text.piece_counts import PieceCounts

logger = logging.getLogger(__name__)

LINES_AT_A_TIME = 2000


def make_parser() -> console.Parser:
    parser = console.Parser(prog="zsnmt translate", description=__doc__)
    parser.add_argument(
        "run", type=Path, help="run folder made by zsnmt train, or its export by zsnmt export"
    )
    parser.add_argument(
        "--to", metavar="LANGUAGE", help="target language; without it the command says which there are"
    )
    parser.add_argument(
        "--from",
        dest="source",
        metavar="LANGUAGE",
        help=f"source language, or {AUTO}: that of most of the text, or of a long line or paragraph itself; "
        "may be left out where the model does not see it",
    )
    parser.add_argument(
        "--via",
        metavar="LANGUAGE",
        help="translate through this language, such as en; a baseline needs it between two others",
    )
    parser.add_argument(
        "--way",
        action=console.Once,
        metavar="METHOD",
        help="way of decoding: mask:renormalise=yes, which is faster and as good; ensemble, contrast, "
        "sample or search, with settings as in search:beam=1 (docs/method.md)",
    )
    parser.add_argument(
        "--input", type=Path, help="text, one sentence per line, or a document (default: stdin)"
    )
    parser.add_argument(
        "--document", action="store_true", help="lines of the text of --input are paragraphs, not sentences"
    )
    parser.add_argument(
        "--output",
        type=output_file,
        help="file for the translation (default: stdout); one that is there is replaced at the end. Of the "
        "lines of --input, those that are translated stay beside it where it is stopped",
    )
    parser.add_argument(
        "--buffer-lines",
        type=positive,
        metavar="N",
        help="lines that are read before they are translated together; with 1 each line of a pipe is "
        f"answered at once, in more time for all (default: {LINES_AT_A_TIME})",
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
    parser.add_argument(
        "--nbest",
        type=positive,
        metavar="N",
        help="write the N best translations of each line that the search finds, as Moses writes them: number "
        "of the line, counted from 0, text and score, with ||| between (docs/fast_translation.md)",
    )
    add_search_options(parser)
    parser.add_argument(
        "--batch-tokens",
        type=positive,
        metavar="N",
        help=f"about how many source tokens a batch has (default: {BATCH_TOKENS}, on a GPU up "
        f"to {BATCH_TOKENS * LARGER_ON_A_GPU})",
    )
    add_engine_options(parser)
    add_beside(parser, "the first")
    return parser


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser()
    options = parser.parse_args(arguments)
    if options.to is None:
        parser.error(f"give a target language by --to: {' '.join(languages_of(options.run))}")
    if options.document and not options.input:
        parser.error("a document is a file: name it with --input")
    form = format_of(options.input, paragraphs=options.document)
    search = chosen_search(options)
    options.way = None if options.way is None else parse_method(options.way)
    beam_of_way = options.way and options.way.beam
    if options.way and options.way.is_search:
        search, options.way = options.way.search(search), None
    refuse_together(parser, options, form)
    refuse_files(parser, options, form)
    beam = (options.way.search(search) if options.way else search).beam
    if options.nbest and options.nbest > beam:
        more = (
            f"--nbest {beam}, or beam={options.nbest} in --way" if beam_of_way else f"--beam {options.nbest}"
        )
        parser.error(f"--nbest {options.nbest} is more than the search keeps; give {more}")
    translator, counts = open_translator(options, search)
    refuse_wrong_languages(translator, options)  # before any text is read
    if form or options.source == AUTO:
        translate_whole(translator, options, form)
    else:
        translate_by_line(translator, options, counts)


def open_translator(options: Namespace, search: Search) -> tuple["Translator", "PieceCounts | None"]:
    """What translates by the way that is asked for, and the counts of pieces by which its mask was made."""
    choice = engine_choice(options)
    share_kernels(os.environ, workers=choice.at_once)
    from zsnmt.inference.engines import engine_for  # loads PyTorch
    from zsnmt.inference.translator import Translator
    from zsnmt.runs.folder import piece_counts

    choice = engine_for(options.run, filter(None, [options.way]), choice)
    translator = Translator.open(options.run, search, choice, batch_tokens=options.batch_tokens, prepare=True)
    counts = piece_counts(options.run) if options.way and options.way.mask else None
    return translator.by(options.way, counts) if options.way else translator, counts


def translate_by_line(translator: "Translator", options: Namespace, counts: "PieceCounts | None") -> None:
    """Translate lines of one language, some at a time; what is stopped goes on where it was, if it goes from
    a file into a file.
    """
    from zsnmt.inference.engines import model_checksum
    from zsnmt.inference.line_files import LineTranslation, open_lines

    translation = LineTranslation(
        translator,
        Legs(options.source, options.to, options.via),
        form=options.scores,
        agreement=options.agreement,
        nbest=options.nbest,
        at_a_time=None if reads_all(options) else options.buffer_lines or LINES_AT_A_TIME,
    )
    if not (options.input and options.input.is_file()):
        write(options.output, translation.chunks(noticing_sentences(iterate_input(options.input))))
        return
    with open_lines(options.input) as text:
        for _ in noticing_sentences(itertools.islice(text.lines(), LINES_AT_A_TIME)):
            pass  # also of those that were translated before
        if options.output and is_replaced(options.output):
            models = [model_checksum(run) for run in (options.run, *options.beside)]
            chosen_by = [checksum_of(counts)] if counts else []  # which may be counted anew
            translation.write_file(text, options.output, [*models, *chosen_by])
        else:
            write(options.output, translation.chunks(text.lines(), total=text.number))


def reads_all(options: Namespace) -> bool:
    """Whether any line of the text may be read beside any other."""
    return bool(options.way and options.way.kind.reads_others)


def refuse_files(parser: console.Parser, options: Namespace, form: str | None) -> None:
    """`WrongUse` for an output that would be lost in the input, or not be what its name says."""
    if options.input and options.output and is_same_file(options.input, options.output):
        parser.error("--output is the file of --input, whose text would be lost; give it another name")
    if options.input and not options.output and is_standard_output(options.input):
        parser.error("the output goes to the file of --input, and would be translated, too; give it another")
    refuse_other_format(parser, options.output, form)


def refuse_other_format(parser: console.Parser, output: Path | None, form: str | None) -> None:
    """`WrongUse` for a file whose name promises another format than is written: a document keeps its own."""
    ending = output.suffix.lower() if output else ""
    other = KNOWN.get(ending) != KNOWN.get(form or PLAIN)
    other |= ending.startswith(".od") and ending != form  # LibreOffice's three kinds have one reader
    if other and (ending in KNOWN or form and ending in NOT_READ):
        written = f"in the format of --input, {form}" if form else "as lines of text"
        parser.error(f"{output} would be written {written}; give it a name that ends otherwise")


def is_same_file(one: Path, other: Path) -> bool:
    """Whether two names are of one file that is there."""
    return one.is_file() and other.is_file() and one.samefile(other)


def is_standard_output(path: Path) -> bool:
    """Whether a name is of a file into which standard output is written, as by `>>`."""
    with suppress(OSError, ValueError):  # of an output that is closed, or is none of the system's
        return path.is_file() and os.path.samestat(path.stat(), os.fstat(sys.stdout.fileno()))
    return False


def refuse_together(parser: console.Parser, options: Namespace, form: str | None) -> None:
    """`WrongUse` for options that do not go together, and for those that a document has no place for."""
    for option in ("scores", "nbest"):
        if getattr(options, option) and form:
            parser.error(f"a document has no place for --{option}; give its text as lines")
    if options.agreement and not options.scores:
        parser.error("--agreement is one of the --scores: choose their form, as in --scores tsv")
    if options.nbest and options.scores:
        parser.error("--nbest has scores of its own; leave out --scores")
    if options.nbest and options.via:
        parser.error("--nbest is what one search finds, and --via are two; leave out one of them")
    if options.nbest and options.source == AUTO:
        parser.error("--nbest must be told the source language; give it (--from)")
    if options.buffer_lines and (form or options.source == AUTO or reads_all(options)):
        parser.error("this text is read to its end before it is translated; leave out --buffer-lines")


def refuse_wrong_languages(translator: "Translator", options: Namespace) -> None:
    """`InputError` for a language that the model does not know, where one is missing, and for scores that
    its translations do not have.
    """
    from zsnmt.inference.confidence import check_scores

    source, via = options.source, options.via
    if source == AUTO and options.way and options.way.kind.needs_source:
        source = None
    elif source == AUTO:
        others = [language for language in translator.languages if language != options.to]
        source = next((language for language in others if language != via), others[0])
        via = None if via == source else via
    legs = translator.legs(source, options.to, via)
    if options.beside and options.source not in (None, AUTO):
        from zsnmt.inference.pytorch import warn_of_untrained

        warn_of_untrained(translator.direct.engine, legs)
    if not options.beside and options.source not in (None, AUTO):
        warn_of_no_text(translator, legs)
    if options.scores or options.nbest:
        check_scores(translator, Legs(options.source, options.to, options.via), options.agreement)


def warn_of_no_text(translator: "Translator", legs: Sequence[Direction]) -> None:
    """Say of a direction that the model was not trained on how it is translated safely."""
    pivot = translator.pivot
    ends = (legs[0].source, legs[-1].target)
    remedy = "leave out --via" if pivot in ends else f"compare with --via {pivot}"
    for direction in legs:
        if direction not in translator.trained and pivot not in direction:
            logger.warning(
                "this model was not trained on %s: its translations may be in another language, or say "
                "something else; %s",
                direction,
                remedy,
            )


def noticing_sentences(lines: Iterable[str]) -> Iterator[str]:
    """The lines, with a warning of the first that seems to hold several sentences."""
    noticed = False
    for number, line in enumerate(lines, start=1):
        if not noticed and holds_several(line):
            noticed = True
            logger.warning(
                "line %d seems to hold several sentences, of which a model of single ones may leave some "
                "out; give the text by --input with --document, which translates each",
                number,
            )
        yield line


def write(output: Path | None, chunks: Iterable[Sequence[str]]) -> None:
    """Write rows to a file, or to standard output, where those of a chunk are seen at once."""
    if output:
        write_lines(output, itertools.chain.from_iterable(chunks))
        return
    for rows in chunks:
        sys.stdout.buffer.write("".join(f"{row}\n" for row in rows).encode("utf-8"))
        sys.stdout.buffer.flush()


def translate_whole(translator: "Translator", options: Namespace, form: str | None) -> None:
    """Translate what has to be read to its end first: a document of a format, and lines whose languages are
    not said.
    """
    from zsnmt.inference.documents import translate_document, translate_lines

    legs = Legs(options.source, options.to, options.via)
    with tqdm(unit=" sentences", disable=None) as bar:
        if form:
            read = read_document(options.input, form)
            if not read.passages:
                logger.warning("%s has nothing to translate", options.input)
            content, found = translate_document(translator, read, legs, finished=bar.update)
        else:
            lines = [*iterate_input(options.input)]
            translations, found = translate_lines(
                translator, lines, legs, agreement=options.agreement, finished=bar.update
            )
            written = [row(each, options.scores, options.agreement) for each in translations]
            content = "".join(f"{line}\n" for line in written).encode("utf-8")
    if options.source == AUTO and found:
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
