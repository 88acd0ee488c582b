"""Join the parallel text of a run with that of languages it is to learn, without overlap with held-out sets."""

import argparse
import os
import sys
from pathlib import Path

from zsnmt import console
from zsnmt.adaptation.joined_text import join_text, new_languages
from zsnmt.corpora.training_text import parse_limits
from zsnmt.errors import InputError
from zsnmt.files import new_folder
from zsnmt.languages import read_languages
from zsnmt.runs.folder import PIPELINE_FOLDER, read_record


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("added", type=Path, help="folder of parallel text with the new languages")
    parser.add_argument("folder", type=Path, help="folder of parallel text to make")
    parser.add_argument("--run", type=Path, required=True, help="the run, whose text is that of its run.json")
    parser.add_argument("--languages", nargs="+", required=True, metavar="CODE", help="languages of the new text, the pivot first")
    parser.add_argument("--pairs", default="", metavar="N", help="keep at most N training pairs of each new pair; as in check_overlap.py")
    parser.add_argument("--without-original", action="store_true",
                        help="go without the run's own text where it is not there any more: for training with the rest frozen")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="processes")
    options = parser.parse_args()

    known = read_languages(options.run / PIPELINE_FOLDER)
    new = new_languages(options.languages, known)
    original = Path(read_record(options.run)["text"])
    if not original.is_dir():
        if not options.without_original:
            raise InputError(f"{original}, the text that {options.run} was trained on, is not there any more, and without it the model "
                             "forgets its languages; bring it back, or adapt with --frozen, which needs only the new text")
        print(f"{original} is not there any more: only the new languages can be scored", file=sys.stderr)
        original = None
    with new_folder(options.folder) as folder:
        counts = join_text(options.added, folder, known, new, original, parse_limits(options.pairs), options.workers)
    for pair, of_pair in counts.items():
        print(f"{pair}\t{of_pair['kept']}")


if __name__ == "__main__":
    console.run(main)
