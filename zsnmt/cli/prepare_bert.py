"""Make the data of a masked language model: text of one language, and of a fake one that says the same in
other symbols.

zsnmt prepare-bert FOLDER --train train.en --valid valid.en                   # English alone
zsnmt prepare-bert FOLDER --train train.en --valid valid.en --fake            # and its copy
zsnmt prepare-bert FOLDER --train train.en --valid valid.en --fake train.reordered valid.reordered
"""

from collections.abc import Sequence
from pathlib import Path

from zsnmt import console


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser()
    args = parser.parse_args(arguments)
    if args.shift_specials and args.fake is None:
        parser.error("--shift-specials is of the fake language; add that with --fake, or leave this out")
    from zsnmt.masked_lm.data import Vocabulary, prepare  # fairseq, which takes seconds to load

    text = {"train": args.train, "valid": args.valid}
    if args.fake is not None and len(args.fake) not in (0, 2):
        parser.error("--fake needs no text or two, for training and validation")
    fake = {} if args.fake is None else dict(zip(text, args.fake or text.values()))
    counts = prepare(
        args.folder,
        text,
        fake,
        vocabulary=Vocabulary(args.vocabulary_size, not args.shift_specials),
        most=args.most_pieces,
    )
    for name, lines in counts.items():
        print(f"{name}\t{lines}")


def make_parser() -> console.Parser:
    parser = console.Parser(prog="zsnmt prepare-bert", description=__doc__)
    parser.add_argument("folder", type=Path, help="folder to make")
    parser.add_argument("--train", type=Path, required=True, help="training text, one sentence per line")
    parser.add_argument("--valid", type=Path, required=True, help="validation text")
    parser.add_argument(
        "--fake",
        type=Path,
        nargs="*",
        metavar="TEXT",
        help="add a fake language: a copy of the text, or of these files for --train and --valid, line by "
        "line",
    )
    parser.add_argument(
        "--vocabulary-size",
        type=int,
        default=2048,
        metavar="N",
        help="symbols of each language, five special ones among them",
    )
    parser.add_argument(
        "--shift-specials", action="store_true", help="give the fake language <s> and </s> of its own"
    )
    parser.add_argument(
        "--most-pieces",
        type=int,
        default=0,
        metavar="N",
        help="leave out lines of more than N pieces (default: keep all lines)",
    )
    return parser
