"""The settings of an artificial corpus as options of a command, and in a config."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from zsnmt import console
from zsnmt.corpora.invented.corpus import SyntheticCorpus
from zsnmt.corpora.invented.inference import SyntheticInference
from zsnmt.corpora.invented.languages import read_languages, standard_languages


def add_corpus_options(parser: ArgumentParser, without: Collection[str] = ()) -> None:
    """Add the settings of an artificial corpus but some."""
    which = parser.add_mutually_exclusive_group()
    number = len(SyntheticCorpus.languages) - 1
    which.add_argument("--number", type=int, default=number, help="standard languages besides the pivot")
    which.add_argument(
        "--languages", type=Path, metavar="FILE", help="JSON list of languages, the pivot first"
    )
    console.add_fields(parser, SyntheticCorpus, without=["languages", *without])


def corpus_of(options: Namespace) -> SyntheticCorpus:
    """What the options say."""
    settings = {
        field: value
        for field, value in vars(options).items()
        if field in SyntheticCorpus.__dataclass_fields__
    }
    path = options.languages
    return SyntheticCorpus(
        **settings | {"languages": read_languages(path) if path else standard_languages(options.number)}
    )


def parse_corpus(words: Sequence[str]) -> SyntheticCorpus:
    """The corpus that the words of a config ask for; `InputError` for an option that does not exist."""
    return corpus_of(parse_words("make-synthetic", add_corpus_options, words))


def parse_words(verb: str, add_options: Callable[[ArgumentParser], None], words: Sequence[str]) -> Namespace:
    """The words of a config as the options of a verb."""
    parser = console.Parser(prog=f"zsnmt {verb}", add_help=False)
    add_options(parser)
    return parser.parse_args(words)


def files_in(words: Sequence[str]) -> list[Path]:
    """The files that the words of a config name, which the corpus depends on: a list of languages."""
    values = [Path(word.rpartition("=")[2]) for word in words]
    return [path for path in values if path.is_file()]


def parse_treebanks(words: Sequence[str]) -> tuple[SyntheticCorpus, int]:
    """The same for dependency treebanks; also the number of training sentences."""
    options = parse_words("make-synthetic-trees", add_treebank_options, words)
    return corpus_of(options), options.sentences


def add_treebank_options(parser: ArgumentParser) -> None:
    """Add the settings of treebanks of the artificial languages."""
    parser.add_argument("--sentences", type=int, default=2000, help="sentences of each training set")
    # --sentences stands for the first, and there is no test set.
    add_corpus_options(parser, without=["pairs", "multiway_share", "test"])


def parse_inference(words: Sequence[str]) -> SyntheticInference:
    """The same for pairs of natural language inference."""
    return inference_of(parse_words("make-synthetic-nli", add_inference_options, words))


def inference_of(options: Namespace) -> SyntheticInference:
    """What the options say of pairs of natural language inference."""
    return SyntheticInference(corpus_of(options), options.sentences)


def add_inference_options(parser: ArgumentParser) -> None:
    """Add the settings of pairs of natural language inference."""
    parser.add_argument("--sentences", type=int, default=8000, help="sentences of text of each language")
    parser.add_argument("--pairs", type=int, default=20000, help="pairs to learn from, in the pivot")
    parser.add_argument(
        "--multiway-share",
        type=float,
        default=SyntheticCorpus.multiway_share,
        help="share (0-1) of these sentences that say the same in all languages; the others are of one alone",
    )
    add_corpus_options(parser, without=["pairs", "multiway_share"])
