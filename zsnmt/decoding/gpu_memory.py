"""What is done when the memory of a GPU does not hold a batch."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import torch

from zsnmt.errors import InputError

Item = TypeVar("Item")
Found = TypeVar("Found")

logger = logging.getLogger(__name__)


@contextmanager
def holding_a_model() -> Iterator[None]:
    """Turns it into an `InputError` that the memory of a GPU does not hold a model."""
    try:
        yield
    except torch.OutOfMemoryError:
        raise InputError(
            "the memory of the GPU does not hold the model; end what else it does, or hide it with "
            "CUDA_VISIBLE_DEVICES=''"
        ) from None


def in_parts_that_fit(search: Callable[[Sequence[Item]], list[Found]], batch: Sequence[Item]) -> list[Found]:
    """What a search finds for each item of a batch, which is halved, and again, as long as the memory of a
    GPU does not hold it; `InputError` if it does not hold one item.
    """
    try:
        return search(batch)
    except torch.OutOfMemoryError:
        if len(batch) == 1:
            raise InputError(
                "the memory of the GPU does not hold the search for one sentence; end what else it does, "
                "choose a smaller --beam, or hide it with CUDA_VISIBLE_DEVICES=''"
            ) from None
    # Here, where what the search kept is gone.
    torch.cuda.empty_cache()
    logger.warning("the memory of the GPU does not hold %d sentences at once: in halves", len(batch))
    half = len(batch) // 2
    return [found for part in (batch[:half], batch[half:]) for found in in_parts_that_fit(search, part)]
