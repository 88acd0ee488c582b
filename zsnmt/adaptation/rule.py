"""The rule that chooses subwords, held-out sets and schedule for languages that join a run; docs/own_text.md
gives it in words.
"""

from dataclasses import dataclass
from pathlib import Path

from zsnmt.adaptation.modes import FROZEN, SHARE
from zsnmt.corpora.own_text.survey import Survey
from zsnmt.training.option_words import given_values, options_of
from zsnmt.training.rule.choice import Choice
from zsnmt.training.rule.schedule import BEST_ALONE, RATE_BY_WIDTH, interval_options, updates_of_epoch
from zsnmt.training.rule.text import (
    choose_cleaning,
    choose_held_out,
    choose_scoring,
    pieces_by_words,
    rounded_up,
    warn_of_countries,
)

RATE, FROZEN_RATE = 0.4, 0.8  # of that with which a model of the width begins
EPOCHS, FEWEST_UPDATES = 12, 2000  # of the new text; where the old is trained on, too
FROZEN_EPOCHS, FEWEST_FROZEN_UPDATES = 25, 900  # where it is not
WARMUP = 100  # updates
BATCH_TOKENS = 1800  # of an update, where a run counted sentences


@dataclass(frozen=True)
class Base:
    """What the rule knows of a run: the width of its model, whether its learning rate falls to the end of its
    training, and the tokens of an update.
    """

    width: int
    falls: bool
    tokens: int

    @classmethod
    def of(cls, run: Path) -> "Base":
        """Those of a run; `InputError` for one that does not say how it was trained."""
        from zsnmt.training.fairseq_options import training_options  # loads fairseq

        words = options_of(run)
        options = training_options(given_values(words)["--arch"], words)
        return cls(
            width=options.encoder_embed_dim,
            falls=options.lr_scheduler == "polynomial_decay",
            tokens=(options.max_tokens or BATCH_TOKENS) * options.update_freq[0],
        )

    def schedule(self, rate: float, updates: float) -> str:
        """The options of a training that goes on for so many updates with a peak of the learning rate that is
        `rate` of the usual one.
        """
        rate *= RATE_BY_WIDTH / self.width
        options = f"--lr {rate:g} --warmup-updates {WARMUP} --max-update {updates:.0f} --max-epoch 0"
        if self.falls:
            options += f" --end-learning-rate {rate / 50:g} --total-num-update {updates:.0f}"
        return f"{options} --patience 3"


def choose(text: Survey, base: Base, mode: str, share: float = SHARE) -> Choice:
    """The settings of an experiment by which languages join a run, but for where their text is.

    `share` (0–1): of the pairs that are trained on, those with a new language, where everything is trained.
    """
    return (
        choose_held_out(text)
        | warn_of_countries(text)
        | choose_cleaning()
        | choose_pieces(text)
        | choose_scoring(text)
        | (choose_frozen_training(text, base) if mode == FROZEN else choose_training(text, base, share))
        | (BEST_ALONE if base.falls else Choice({}, []))
    )


def choose_pieces(text: Survey) -> Choice:
    """Subwords of their own for each new language, as many as its part of the text has words for."""
    new = len(text.languages) - 1
    by_words = pieces_by_words(text.words / new, text.different_words / new)
    pieces = rounded_up(text.characters + by_words)
    return Choice(
        {"VOCABULARY": str(pieces)},
        [
            f"Each new language gets {pieces:,} pieces of its own, for {text.words:,} words of training text "
            f"in {text.characters:,} characters; the run's own languages keep theirs."
        ],
    )


def choose_training(text: Survey, base: Base, share: float) -> Choice:
    """The schedule of a training of everything, on the text of the run and the new one."""
    of_epoch = updates_of_epoch(text.words, base.tokens) / share
    updates = max(FEWEST_UPDATES, round(EPOCHS * of_epoch, -2))
    return Choice(
        {"TRAINING": base.schedule(RATE, updates)},
        [
            f"Everything is trained for {updates:,.0f} updates, {100 * share:g}% on the new text, which is "
            f"read about {updates / of_epoch:.0f} times, and the rest on the run's text."
        ],
    )


def choose_frozen_training(text: Survey, base: Base) -> Choice:
    """The schedule of a training of new weights alone, on the new text alone."""
    of_epoch = updates_of_epoch(text.words, base.tokens)
    updates = max(FEWEST_FROZEN_UPDATES, round(FROZEN_EPOCHS * of_epoch, -2))
    return Choice(
        {"TRAINING": f"{base.schedule(FROZEN_RATE, updates)} {interval_options(of_epoch)}"},
        [
            f"Only what is new is trained, on the new text alone, for {updates:,.0f} updates, about "
            f"{updates / of_epoch:.0f} epochs; old translations stay as they are, to the letter."
        ],
    )
