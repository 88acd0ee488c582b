"""Make the text of the masked-LM study of position encodings of two Bibles of the eBible corpus.

    zsnmt fetch ebible --to data/ebible
    zsnmt prepare-bible data/bible --train data/ebible/eng-engBBE.txt --valid data/ebible/eng-eng-kjv2006.txt

Writes train.en and valid.en, one verse per line, without those that a Bible lacks.
"""

from collections.abc import Sequence
from pathlib import Path

from zsnmt import console


def main(arguments: Sequence[str] | None = None) -> None:
    parser = console.Parser(prog="zsnmt prepare-bible", description=__doc__)
    parser.add_argument("folder", type=Path, help="folder to make, or whose two files to replace")
    parser.add_argument("--train", type=Path, required=True, help="the Bible to train on")
    parser.add_argument("--valid", type=Path, required=True, help="another one to score on")
    options = parser.parse_args(arguments)
    from zsnmt.corpora.releases.bible import read_verses
    from zsnmt.text.lines import write_lines

    verses = {f"{split}.en": read_verses(getattr(options, split)) for split in ("train", "valid")}
    options.folder.mkdir(parents=True, exist_ok=True)
    for name, lines in verses.items():
        write_lines(options.folder / name, lines)
        print(f"{name}\t{len(lines)}")
