"""The distance between what a model says of a target from its source and from the target itself."""

from torch import Tensor

NONE, TRANSLATION, COPY = STOPPED_SIDES = "none", "translation", "copy"


def consistency(translated: Tensor, copied: Tensor, stopped: str = NONE) -> Tensor:
    """CrossConST (Gao et al. 2023): the sum over tokens of KL(p(·|x) ‖ p(·|y)), in nats, at least 0.

    From log-probabilities with the sentence (N×V) and with its translation as the source (N×V). `stopped` is
    the side through which no gradient flows.
    """
    if stopped == TRANSLATION:
        translated = translated.detach()
    elif stopped == COPY:
        copied = copied.detach()
    return (translated.exp() * (translated - copied)).sum()
