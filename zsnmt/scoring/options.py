"""How translations are scored: the settings with their defaults, and the options of commands for them."""

import argparse
from dataclasses import dataclass, fields

from zsnmt.errors import InputError
from zsnmt.scoring.comet import MODEL, PACKAGE

IDENTIFIERS = ("py3langid", "lexicon")
MOST_SAMPLES = 10_000  # each draw has a number for each line, and all are in memory
SUBWORDS = "subwords"  # the tokeniser of BLEU that is the run's own


@dataclass(frozen=True)
class Scoring:
    """How translations are scored.

    `identifier` finds off-target output (see `zsnmt.scoring.language_identification`). `bleu_tokenizer` is
    one of sacreBLEU's, or `subwords`: the run's own pieces. With `normalise_references` references are spelt
    as the run's tokenisation spells its output, which the signatures say. `comet` names a model of COMET.
    Intervals and p-values are from `bootstrap_samples` resamples of the test lines. Raises `InputError` for
    values that there are not.
    """

    identifier: str = "py3langid"
    bleu_tokenizer: str = "13a"
    normalise_references: bool = False
    comet: str | None = None
    bootstrap_samples: int = 1000  # sacreBLEU's default

    def __post_init__(self) -> None:
        for what, value, values in (
            ("identifier", self.identifier, IDENTIFIERS),
            ("BLEU tokeniser", self.bleu_tokenizer, tokenizers()),
        ):
            if value not in values:
                raise InputError(f"there is no {what} '{value}'; choose {', '.join(values)}")
        if not 2 <= self.bootstrap_samples <= MOST_SAMPLES:
            raise InputError(
                f"{self.bootstrap_samples} bootstrap samples are not possible; give 2 to {MOST_SAMPLES}, "
                "such as 1000"
            )


def tokenizers() -> list[str]:
    """The tokenisers that BLEU may have."""
    from sacrebleu.metrics import BLEU

    return [*sorted(BLEU.TOKENIZERS), SUBWORDS]


def add_scoring_options(parser: argparse.ArgumentParser) -> None:
    """Add an option for each setting; one that is not given is None, so that a config may say it."""
    parser.add_argument(
        "--identifier",
        choices=IDENTIFIERS,
        help="what finds off-target output; lexicon knows a language by the words of lexicon.xx beside the "
        f"text, or else of its training text (default: {Scoring.identifier})",
    )
    parser.add_argument(
        "--bleu-tokenizer",
        metavar="NAME",
        help="sacreBLEU's tokeniser, such as flores101 for Indic scripts (fetched when first used), or "
        f"subwords: those of the run's own model, for runs that share it (default: {Scoring.bleu_tokenizer})",
    )
    parser.add_argument(
        "--normalise-references",
        action="store_true",
        default=None,
        help="spell references as the run's tokenisation does, which Indic scripts need",
    )
    parser.add_argument(
        "--comet",
        nargs="?",
        const=MODEL,
        metavar="MODEL",
        help=f"also score with COMET (default model: {MODEL}); needs pip install {PACKAGE}",
    )
    parser.add_argument(
        "--bootstrap-samples",
        type=int,
        metavar="N",
        help="resamples of the test lines, for intervals and p-values "
        f"(default: {Scoring.bootstrap_samples})",
    )


def given_scoring(options: argparse.Namespace) -> dict[str, object]:
    """The settings that are given, by name."""
    values = {setting.name: getattr(options, setting.name) for setting in fields(Scoring)}
    return {name: value for name, value in values.items() if value is not None}
