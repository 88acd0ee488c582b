"""What the verbs have in common that make or choose parallel text."""

from collections.abc import Mapping
from pathlib import Path

from zsnmt import console
from zsnmt.cli.common.argument_types import positive, seed_number
from zsnmt.corpora.own_text.forms import has_other_names, is_own_form
from zsnmt.errors import InputError
from zsnmt.processes import cores


def add_text_options(parser: console.Parser) -> None:
    """Add the text, its languages, and how much of it is kept."""
    parser.add_argument(
        "text", type=Path, help="folder of parallel text: {train,valid,test}.xx-yy.{xx,yy}, test.xx"
    )
    parser.add_argument(
        "--languages", nargs="+", required=True, metavar="CODE", help="the languages, the pivot first"
    )
    parser.add_argument(
        "--pairs",
        default="",
        metavar="N",
        help="keep at most N training pairs, chosen at random; '30000 de-en=14000' makes an exception",
    )
    parser.add_argument("--seed", type=seed_number, default=1, help="seed of the choice")
    parser.add_argument("--workers", type=positive, default=cores(), help="processes")


def check_names(text: Path) -> None:
    """`InputError` for a folder with text that would not be read, since it has other names."""
    if text.is_dir() and has_other_names(text):
        raise InputError(
            f"{text} has sets named dev or validation, a pair in both orders, or training text of several "
            "languages beside pairs, which are not read here; name sets valid and test, and keep one order "
            "of each pair (zsnmt train reads such text, too, and puts it together)"
        )
    if text.is_dir() and not is_own_form(text):
        raise InputError(
            f"{text} has text in another form than train.xx-yy.xx beside train.xx-yy.yy, which alone is read "
            "here; give it to zsnmt train, which reads all forms of docs/own_text.md, and cleans them"
        )


def print_counts(counts: Mapping[str, Mapping[str, int]]) -> None:
    """Print the counts of each training pair, in columns."""
    columns = next(iter(counts.values()))
    print("\t".join(["pair", *columns]))
    for pair, of_pair in counts.items():
        print("\t".join([pair, *(str(of_pair[column]) for column in columns)]))


def print_by_split(counts: Mapping[str, Mapping[str, int]]) -> None:
    """Print the sentence pairs of each split and pair, one in a row."""
    for split, pairs in counts.items():
        for pair, number in pairs.items():
            print(f"{split}\t{pair}\t{number}")
