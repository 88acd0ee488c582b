"""Turn a folder of parallel text into the folder that fairseq trains on."""

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from zsnmt import console
from zsnmt.cli.common.argument_types import positive, seed_number
from zsnmt.cli.common.parallel_text import check_names, print_by_split
from zsnmt.processes import cores
from zsnmt.text.settings import UNIT_TYPES, TextSettings


def main(arguments: Sequence[str] | None = None) -> None:
    options = make_parser().parse_args(arguments)
    check_names(options.text)
    from zsnmt.corpora.releases.foreign_text import warn_of_foreign_text  # loads py3langid
    from zsnmt.training.binarised import prepare  # loads PyTorch

    counts = prepare(
        options.text,
        options.folder,
        options.languages,
        settings=chosen_settings(options),
        shards=options.shards,
        workers=options.workers,
    )
    warn_of_foreign_text(options.text, options.languages)
    print_by_split(counts)


def make_parser() -> console.Parser:
    parser = console.Parser(prog="zsnmt prepare", description=__doc__)
    parser.add_argument(
        "text", type=Path, help="folder of parallel text: {train,valid,test}.xx-yy.{xx,yy}, test.xx"
    )
    parser.add_argument("folder", type=Path, help="folder to make")
    parser.add_argument(
        "--languages", nargs="+", required=True, metavar="CODE", help="the languages, the pivot first"
    )
    size = parser.add_mutually_exclusive_group()
    size.add_argument(
        "--vocabulary-size",
        type=int,
        default=TextSettings.vocabulary_size,
        help="pieces of the joint subword model",
    )
    size.add_argument(
        "--merges",
        type=int,
        metavar="N",
        help="instead, for bpe: the number of merge operations, as subword-nmt counts them",
    )
    parser.add_argument(
        "--subword-type",
        choices=UNIT_TYPES,
        default=TextSettings.model_type,
        help="kind of subword model, or word: the most frequent words, the others unknown",
    )
    parser.add_argument(
        "--balance",
        type=float,
        metavar="T",
        help="sample languages for the subword model with temperature T (default: by their numbers "
        "of sentences)",
    )
    parser.add_argument(
        "--threshold",
        type=int,
        default=TextSettings.threshold,
        metavar="N",
        help="a language uses only pieces that occur at least N times in its training text",
    )
    parser.add_argument(
        "--tokenisation",
        default=TextSettings.tokenisation,
        metavar="KIND",
        help="tokenisation before the subwords: raw, moses, moses_truecase, indic, indic_devanagari or "
        "by_script for all languages, then exceptions like en=moses; with _as_spelt after Moses' kinds and "
        "by_script, punctuation is not normalised; with _joined after any but raw, tokens without a space "
        "before them are marked, so that nothing is guessed on the way back",
    )
    parser.add_argument(
        "--transliterate", choices=["devanagari"], help="write all Indic scripts in this one for the model"
    )
    parser.add_argument(
        "--mark-tokens",
        action="store_true",
        help="no two languages have a token in common: each is marked with its language",
    )
    parser.add_argument(
        "--shards",
        type=int,
        default=1,
        metavar="N",
        help="deal the training text to N parts, of which an epoch reads one",
    )
    parser.add_argument("--seed", type=seed_number, default=TextSettings.seed, help="seed of the sampling")
    parser.add_argument("--workers", type=positive, default=cores(), help="processes")
    return parser


def chosen_settings(options: Namespace) -> TextSettings:
    """How the text pipeline is to be made."""
    return TextSettings(
        vocabulary_size=options.vocabulary_size,
        model_type=options.subword_type,
        balance=options.balance,
        threshold=options.threshold,
        seed=options.seed,
        tokenisation=options.tokenisation,
        mark_tokens=options.mark_tokens,
        merges=options.merges,
        transliterate=options.transliterate,
    )
