"""Batches that the memory of a GPU does not hold."""

import pytest
import torch

from zsnmt.decoding.gpu_memory import holding_a_model, in_parts_that_fit
from zsnmt.errors import InputError


def searching(most: int, searched: list[int]):
    """A search of at most so many items at once, whose numbers of items are noted."""

    def search(batch):
        searched.append(len(batch))
        if len(batch) > most:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return [item + 1 for item in batch]

    return search


def test_a_batch_that_fits_is_searched_once():
    searched: list[int] = []
    assert in_parts_that_fit(searching(9, searched), range(9)) == [*range(1, 10)] and searched == [9]


@pytest.mark.parametrize("most", [1, 2, 5])
def test_a_batch_that_does_not_fit_is_halved_until_it_does(most, caplog):
    searched: list[int] = []
    assert in_parts_that_fit(searching(most, searched), range(9)) == [*range(1, 10)]
    assert sum(number for number in searched if number <= most) == 9
    assert "the memory of the GPU does not hold 9 sentences at once: in halves" in caplog.text


def test_a_sentence_that_does_not_fit_is_told_of():
    with pytest.raises(InputError, match="does not hold the search for one sentence; .* a smaller --beam"):
        in_parts_that_fit(searching(0, []), range(3))


def test_a_model_that_does_not_fit_is_told_of():
    with pytest.raises(InputError, match="does not hold the model; end what else it does"), holding_a_model():
        searching(0, [])(range(3))
