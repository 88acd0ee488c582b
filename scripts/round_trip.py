"""Prints how many sentences survive tokenisation and detokenisation, by language, in per cent.

exact: as normalised; spaced: but for spaces; recased: but for spaces and the case of first letters; lost: the
rest, which should be 0. respelt: changed by the normalisation itself, such as curly quotation marks.
"""

import argparse
import json
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from zsnmt import console
from zsnmt.corpora.parallel_text import SPLITS
from zsnmt.errors import InputError
from zsnmt.files import replacing
from zsnmt.languages import check_language
from zsnmt.processes import progress
from zsnmt.runs.folder import commit
from zsnmt.text.lines import iterate_lines
from zsnmt.text.pipeline import RAW, TextPipeline
from zsnmt.text.round_trip import WholePipeline, round_trip
from zsnmt.text.tokenisation import Tokeniser, kind_of, load_tokeniser, needs_truecaser
from zsnmt.text.truecasing import train_truecaser

COLUMNS = ("respelt", "exact", "spaced", "recased", "lost")  # per cent


def files_of(language: str, paths: Iterable[Path]) -> list[Path]:
    """Files named {split}.{lang} or {split}.{src}-{tgt}.{lang} in folders, and files that end in .{lang}."""
    files = []
    for path in paths:
        found = sorted(path.glob(f"*.{language}")) if path.is_dir() else [path] * (path.suffix == f".{language}")
        files += [file for file in found if not path.is_dir() or file.name.split(".")[0] in SPLITS]
    if not files:
        raise InputError(f"there is no text of {language}; looked for files that end in .{language} as in parallel text")
    return files


def sentences(files: Sequence[Path]) -> Iterator[str]:
    for file in files:
        yield from progress(iterate_lines(file, allow_empty_lines=True), file.name, unit=" lines")


def load(kind: str, language: str, files: Sequence[Path]) -> Tokeniser:
    """The tokeniser; a truecaser that it needs is trained on the very text."""
    if not needs_truecaser(kind):
        return load_tokeniser(kind, language)
    with tempfile.TemporaryDirectory() as folder:
        truecaser = Path(folder) / f"truecaser.{language}"
        train_truecaser(map(load_tokeniser("moses", language).tokenise, sentences(files)), truecaser)
        return load_tokeniser(kind, language, truecaser)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("text", nargs="+", type=Path, help="folders of parallel text, or files named *.{lang}")
    parser.add_argument("--languages", required=True, help="codes with commas, as in de,it")
    parser.add_argument("--tokenisation", default="by_script", metavar="SETTING",
                        help="kind and exceptions, as in 'by_script en=moses' (default: %(default)s)")
    parser.add_argument("--pipeline", type=Path, metavar="FOLDER",
                        help="instead: the whole text pipeline of a run (RUN/pipeline), subwords included")
    parser.add_argument("--examples", type=int, default=0, metavar="N", help="show N sentences that came back different")
    parser.add_argument("--output", type=Path, metavar="FILE", help="also write the figures to FILE, as JSON")
    arguments = parser.parse_args()
    languages = [check_language(language) for language in arguments.languages.split(",")]
    pipeline = TextPipeline.load(arguments.pipeline) if arguments.pipeline else None
    kinds = {language: pipeline.kinds.get(language, RAW) if pipeline else kind_of(arguments.tokenisation, language, languages)
             for language in languages}  # fmt: skip
    texts = {language: files_of(language, arguments.text) for language in languages}
    rows = {}
    print("language", "kind", "sentences", *COLUMNS, "sentences/s", sep="\t")
    for language, files in texts.items():
        tokeniser = WholePipeline(pipeline, language) if pipeline else load(kinds[language], language, files)
        done = round_trip(tokeniser, sentences(files), arguments.examples)
        rows[language] = {"kind": kinds[language], "sentences": done.sentences, **done.percentages()}
        print(language, kinds[language], done.sentences, *(f"{rows[language][column]:.2f}" for column in COLUMNS),
              f"{done.sentences / done.seconds:.0f}", sep="\t", flush=True)
        for expected, back in done.examples:
            print(f"  {expected}\n  {back}\n")
    if arguments.output:
        units = "its subwords" if pipeline else "no subwords"
        with replacing(arguments.output) as file:
            file.write(json.dumps({"commit": commit(), "units": units, "languages": rows}, indent=1).encode("utf-8"))


if __name__ == "__main__":
    console.run(main)
