"""How a training ended, and whether the model can still learn, from fairseq's log (`--log-format json`)."""

from typing import NamedTuple

from zsnmt.runs.log import Summary, logged_epochs, logged_validations, summarise


class Ending(NamedTuple):
    """The end of a training: what `Summary` has, and the losses of the last epoch on validation text and on
    training text (bits a token).

    That on training text is a mean over the epoch, under dropout, so it is the higher one until a model knows
    much of the text by heart.
    """

    summary: Summary
    validation: float
    training: float

    @property
    def can_learn(self) -> bool:
        """Whether a longer training or less dropout is likely to bring more.

        It is not where validation text has got worse or hardly differs, and training text is known better.
        """
        return bool(self.summary.still_fell) or self.training >= self.validation

    def __str__(self) -> str:
        if self.summary.still_fell:
            fell = "the loss still fell when the training ended, so a longer one would bring more"
        else:
            since = f"epoch {self.summary.best_epoch}, after {self.summary.best_updates} updates"
            fell = f"the validation loss has not fallen since {since}"
        if self.training < self.validation:
            return fell
        return (
            f"{fell}; the loss on training text, {self.training:g} bits a token under dropout, is not below "
            f"that on validation text, {self.validation:g}, so nothing is known by heart yet: less dropout, "
            "or a learning rate that falls later, may bring more"
        )


def read_ending(log: str) -> Ending | None:
    """How the training of a log ended; None where the log has no whole epoch with both losses."""
    validations = logged_validations(log)
    losses = [float(epoch["train_nll_loss"]) for epoch in logged_epochs(log) if "train_nll_loss" in epoch]
    if not validations or not losses:
        return None
    return Ending(summarise(validations), validations[-1].loss, losses[-1])
