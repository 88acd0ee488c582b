"""What the model is fed: language tags in their places, everything else as it was."""

import numpy as np
import pytest
import torch
from fairseq.data import LanguagePairDataset, ListDataset

from tests.conftest import make_dictionary
from zsnmt.data.language_tags import TagPlacement
from zsnmt.data.tagged_pairs import DirectionSets, TaggedPairs
from zsnmt.languages import Direction

DICTIONARY = make_dictionary()
PAD, EOS = DICTIONARY.pad(), DICTIONARY.eos()
PIV, AA, BB, CC = (DICTIONARY.index(f"__{language}__") for language in ("piv", "aa", "bb", "cc"))
WORD = DICTIONARY.index("w0")
#                placement      source's head    decoder's start
PLACEMENTS = {
    "t_dec": ([], BB),
    "t_enc": ([BB], EOS),
    "s_enc_t_dec": ([AA], BB),
    "s_enc_t_enc": ([AA, BB], EOS),
    "t_enc_t_dec": ([BB], BB),
    "s_enc_t_enc_t_dec": ([AA, BB], BB),
}


def sentences(*lengths: int, first: int = WORD) -> ListDataset:
    """Sentences of so many different words, and EOS."""
    return ListDataset(
        [torch.tensor([*range(first, first + n), EOS]) for n in lengths], np.array([n + 1 for n in lengths])
    )


def pairs(placement: str, direction: str = "aa-bb", sources=(4, 2, 3), targets=(3, 5, 1)) -> TaggedPairs:
    target = None if targets is None else sentences(*targets, first=WORD + 1)
    tags = TagPlacement(placement, DICTIONARY)
    return TaggedPairs(Direction(*direction.split("-")), tags, sentences(*sources), target)


def batch_of(data) -> dict:
    return data.collater([data[index] for index in range(len(data))])


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_tags_stand_in_their_places(placement):
    head, start = PLACEMENTS[placement]
    for index, (source, target) in enumerate(zip((4, 2, 3), (3, 5, 1))):
        example = pairs(placement)[index]
        assert example["source"].tolist() == [*head, *range(WORD, WORD + source), EOS]
        assert example["target"].tolist() == [*range(WORD + 1, WORD + 1 + target), EOS]
        assert example["prev_output_tokens"].tolist() == [start, *range(WORD + 1, WORD + 1 + target)]


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_a_batch_differs_from_fairseqs_by_the_tags_alone(placement):
    """Left padding of the source, right padding of the target, the longest source first."""
    head, start = PLACEMENTS[placement]
    target = sentences(3, 5, 1, first=WORD + 1)
    plain = LanguagePairDataset(sentences(4, 2, 3), [5, 3, 4], DICTIONARY, target, [4, 6, 2])
    expected, batch = batch_of(plain), batch_of(pairs(placement))
    assert batch["id"].tolist() == expected["id"].tolist() == [0, 2, 1]
    for row, (ours, stock) in enumerate(
        zip(batch["net_input"]["src_tokens"], expected["net_input"]["src_tokens"])
    ):
        padding = [0, 1, 2][row]
        assert ours.tolist() == [PAD] * padding + head + stock[padding:].tolist()
    assert batch["net_input"]["src_lengths"].tolist() == [n + len(head) for n in (5, 4, 3)]
    assert torch.equal(batch["target"], expected["target"])
    assert batch["ntokens"] == expected["ntokens"]
    stock = expected["net_input"]["prev_output_tokens"]
    assert batch["net_input"]["prev_output_tokens"].tolist() == [
        [start, *row] for row in stock[:, 1:].tolist()
    ]


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_sizes_count_the_tags(placement):
    data, head = pairs(placement), PLACEMENTS[placement][0]
    assert data.sizes.tolist() == [[5 + len(head), 4], [3 + len(head), 6], [4 + len(head), 2]]
    for index in range(3):
        lengths = len(data[index]["source"]), len(data[index]["target"])
        assert data.size(index) == lengths and data.num_tokens(index) == max(lengths)
    kept, removed = data.filter_indices_by_size(np.arange(3), (4 + len(head), 9))
    assert kept.tolist() == [1, 2] and removed == [0]


def test_directions_mix_in_a_batch_each_with_its_own_tags():
    directions = ["aa-piv", "piv-aa", "bb-piv"]
    data = [pairs("s_enc_t_dec", direction, sources=(3,), targets=(2,)) for direction in directions]
    batch = data[0].collater([single[0] for single in data])
    assert batch["net_input"]["src_tokens"][:, 0].tolist() == [AA, PIV, BB]
    assert batch["net_input"]["prev_output_tokens"][:, 0].tolist() == [PIV, AA, PIV]
    assert len({*batch["net_input"]["src_tokens"][:, 1:].flatten().tolist()}) == 4  # the same words in all


def test_a_sentence_of_the_pivot_beside_a_pair_is_a_source_of_its_target():
    """A batch mixes pairs with one and without; the rows are those of the batch, the longest source first."""
    tags = TagPlacement("s_enc_t_enc", DICTIONARY)
    beside = "piv", sentences(1, 3, first=WORD + 3)
    known = TaggedPairs(Direction("aa", "bb"), tags, sentences(2, 4), sentences(3, 3), pivot=beside)
    others = TaggedPairs(Direction("cc", "piv"), tags, sentences(3), sentences(1))
    batch = known.collater([known[0], others[0], known[1]])
    assert batch["pivot"]["rows"].tolist() == [True, False, True]
    shortest = TaggedPairs(Direction("cc", "piv"), tags, sentences(1), sentences(1))
    mixed = known.collater([shortest[0], known[0], known[1]])  # the one without comes last
    assert mixed["pivot"]["rows"].tolist() == [True, True, False]
    assert batch["pivot"]["src_tokens"].tolist() == [
        [PIV, BB, WORD + 3, WORD + 4, WORD + 5, EOS],
        [PAD, PAD, PIV, BB, WORD + 3, EOS],
    ]
    assert batch["pivot"]["src_lengths"].tolist() == [6, 4]
    assert "pivot" not in others.collater([others[0]])


def test_without_targets_only_the_source_is_tagged():
    batch = batch_of(pairs("s_enc_t_enc", targets=None))
    assert batch["net_input"]["src_tokens"][0].tolist() == [AA, BB, *range(WORD, WORD + 4), EOS]
    assert batch["target"] is None and "prev_output_tokens" not in batch["net_input"]


def test_sizes_can_be_given_as_a_list():
    source = sentences(4, 2)
    data = TaggedPairs(Direction("aa", "bb"), TagPlacement("t_enc", DICTIONARY), source, source_sizes=[5, 3])
    assert data.sizes.tolist() == [6, 4]


# Several directions, one after the other


def direction_sets() -> DirectionSets:
    generator = np.random.default_rng(5)
    numbers = {"aa-piv": 11, "piv-aa": 1, "bb-aa": 9}
    return DirectionSets(
        [
            pairs("t_dec", name, generator.integers(1, 9, n), generator.integers(1, 9, n))
            for name, n in numbers.items()
        ]
    )


@pytest.mark.parametrize("limits", [dict(max_tokens=20), dict(max_sentences=4), dict(max_sentences=100)])
def test_a_batch_is_of_one_direction_and_nothing_is_lost(limits):
    data = direction_sets()
    batches = data.batch_by_size(data.ordered_indices(), **limits)
    assert sorted(index for batch in batches for index in batch) == list(range(21))
    for indices in batches:
        samples = [data[index] for index in indices]
        assert {sample["direction"] for sample in samples} == {samples[0]["direction"]}
        batch = data.collater(samples)
        assert batch["direction"] == str(samples[0]["direction"])
        if "max_tokens" in limits:
            assert (
                max(batch["net_input"]["src_tokens"].numel(), batch["target"].numel()) <= limits["max_tokens"]
            )


def test_batches_are_cut_in_whatever_order_the_directions_come():
    data = direction_sets()
    mixed = np.array([0, 11, 12, 1, 2, 20])
    assert data.batch_by_size(mixed, max_sentences=100) == [[0], [11], [12], [1, 2], [20]]


def test_sentences_are_ordered_by_direction_and_then_by_length():
    data = direction_sets()
    order = data.ordered_indices()
    assert order.tolist() == sorted(range(21), key=lambda i: (i >= 11, i >= 12, *data.size(i), i))


def test_an_empty_batch_has_no_direction():
    assert not direction_sets().collater([])
