"""Prints how many sentences survive tokenisation and detokenisation, by language, in per cent.

exact: equal to the normalised sentence; spaced: equal except for spaces; recased: equal except for spaces and
the case of first letters; lost: all others, which should be 0. respelt: changed by the normalisation itself,
such as curly quotation marks.
"""

from collections.abc import Sequence
from pathlib import Path

from zsnmt import console
from zsnmt.cli.common.argument_types import output_file, whole_number

COLUMNS = ("respelt", "exact", "spaced", "recased", "lost")  # per cent


def main(arguments: Sequence[str] | None = None) -> None:
    options = make_parser().parse_args(arguments)
    from zsnmt.corpora.parallel_text import files_of_language
    from zsnmt.errors import InputError
    from zsnmt.files.records import write_json
    from zsnmt.languages import check_language
    from zsnmt.runs.folder import commit
    from zsnmt.text.pipeline import TextPipeline
    from zsnmt.text.round_trip import (  # loads sacremoses
        WholePipeline,
        load_with_truecaser,
        round_trip,
        sentences_of,
    )
    from zsnmt.text.settings import RAW
    from zsnmt.text.tokenisation import kind_of

    languages = [check_language(language) for language in options.languages]
    pipeline = TextPipeline.load(options.pipeline) if options.pipeline else None
    kinds = {
        language: pipeline.kinds.get(language, RAW)
        if pipeline
        else kind_of(options.tokenisation, language, languages)
        for language in languages
    }
    texts = {language: files_of_language(language, options.text) for language in languages}
    for files in texts.values():
        if next(sentences_of(files), None) is None:
            raise InputError(f"{', '.join(map(str, files))}: nothing but empty lines; give sentences")
    rows = {}
    print("language", "kind", "sentences", *COLUMNS, "sentences/s", sep="\t")
    for language, files in texts.items():
        kind = kinds[language]
        tokeniser = (
            WholePipeline(pipeline, language) if pipeline else load_with_truecaser(kind, language, files)
        )
        result = round_trip(tokeniser, sentences_of(files), options.examples)
        rows[language] = {"kind": kind, "sentences": result.sentences, **result.percentages()}
        print(
            language,
            kind,
            result.sentences,
            *(f"{rows[language][column]:.2f}" for column in COLUMNS),
            f"{result.sentences / result.seconds:.0f}",
            sep="\t",
            flush=True,
        )
        for expected, back in result.examples:
            print(f"  {expected}\n  {back}\n")
    if options.output:
        units = "its subwords" if pipeline else "no subwords"
        write_json(options.output, {"commit": commit(), "units": units, "languages": rows})


def make_parser() -> console.Parser:
    parser = console.Parser(prog="zsnmt round-trip", description=__doc__)
    parser.add_argument(
        "text", nargs="+", type=Path, help="folders of parallel text, or files named *.{lang}"
    )
    parser.add_argument(
        "--languages", action=console.Several, required=True, metavar="CODE", help="codes, as in de it"
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--tokenisation",
        default="by_script",
        metavar="SETTING",
        help="kind and exceptions, as in 'by_script en=moses'",
    )
    how.add_argument(
        "--pipeline",
        type=Path,
        metavar="FOLDER",
        help="instead: the whole text pipeline of a run (RUN/pipeline), subwords included",
    )
    parser.add_argument(
        "--examples",
        type=whole_number,
        default=0,
        metavar="N",
        help="show the first N sentences of each language that came back different",
    )
    parser.add_argument(
        "--output", type=output_file, metavar="FILE", help="also write the figures to FILE, as JSON"
    )
    return parser
