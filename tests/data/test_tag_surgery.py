"""Other languages and the other side of a batch: what a placement would have made of them to begin with."""

import pytest
import torch
from torch import Tensor

from tests.data.test_tagged_pairs import AA, BB, CC, DICTIONARY, PAD, PLACEMENTS, batch_of, sentences
from zsnmt.data.language_tags import TagPlacement
from zsnmt.data.tag_surgery import TagSurgery, move_padding, stack
from zsnmt.data.tagged_pairs import TaggedPairs
from zsnmt.languages import Direction

WORD = DICTIONARY.index("w0")
SOURCES, TARGETS = (4, 2, 3), (3, 5, 1)
pytestmark = pytest.mark.parametrize("placement", PLACEMENTS)


def pairs(placement: str, direction: str, source=(SOURCES, WORD), target=(TARGETS, WORD + 1), **options):
    tags = TagPlacement(placement, DICTIONARY)
    lines = [sentences(*lengths, first=first) for lengths, first in (source, target)]
    return TaggedPairs(Direction(*direction.split("-")), tags, *lines, **options)


def rows(tokens: Tensor) -> list[list[int]]:
    """Tokens of each row without padding."""
    return [[token for token in row if token != PAD] for row in tokens.tolist()]


def assert_same_batch(ours: dict, made: dict) -> None:
    """Equal rows, whatever their order and the width of their padding."""
    key = ("src_tokens", "prev_output_tokens")
    ours_rows, made_rows = (
        sorted(zip(*(rows(batch["net_input"][name]) for name in key), rows(batch["target"])))
        for batch in (ours, made)
    )
    assert ours_rows == made_rows


@pytest.fixture(params=[True, False], ids=["left", "right"])
def left(request) -> bool:
    return request.param


def test_the_target_language_is_read_and_replaced_where_its_tags_stand(placement, left):
    surgery = TagSurgery(TagPlacement(placement, DICTIONARY), left)
    batch, other = (
        batch_of(pairs(placement, direction, left_pad_source=left)) for direction in ("aa-bb", "aa-cc")
    )
    assert surgery.target_language(batch["net_input"]).tolist() == [BB] * 3
    assert batch["languages"].tolist() == [[AA, BB]] * 3
    before = {name: tokens.clone() for name, tokens in batch["net_input"].items()}
    changed = surgery.replace_target_language(batch["net_input"], torch.full((3,), CC))
    for name, tokens in other["net_input"].items():
        assert torch.equal(changed[name], tokens), name
        assert torch.equal(batch["net_input"][name], before[name]), "the given batch stays"


def test_only_tags_differ_in_what_is_read_with_a_wrong_tag(placement, left):
    """The released code of UNIONS pairs a sentence with the prefix of another one."""
    surgery = TagSurgery(TagPlacement(placement, DICTIONARY), left)
    inputs = batch_of(pairs(placement, "aa-bb", left_pad_source=left))["net_input"]
    changed = surgery.replace_target_language(inputs, torch.tensor([CC, AA, CC]))
    differences = [inputs[name].ne(changed[name]).sum(1) for name in ("src_tokens", "prev_output_tokens")]
    expected = [int("t_enc" in placement), int("t_dec" in placement)]
    assert [each.tolist() for each in differences] == [[number] * 3 for number in expected]
    assert surgery.target_language(changed).tolist() == [CC, AA, CC]


def test_rows_of_several_languages_keep_their_own(placement, left):
    surgery = TagSurgery(TagPlacement(placement, DICTIONARY), left)
    mixed = [pairs(placement, each, left_pad_source=left)[row] for row, each in enumerate(("aa-bb", "cc-aa"))]
    batch = pairs(placement, "aa-bb", left_pad_source=left).collater(mixed)
    assert surgery.target_language(batch["net_input"]).tolist() == batch["languages"][:, 1].tolist()
    assert batch["languages"].tolist() == [[AA, BB], [CC, AA]]


def test_languages_follow_their_rows_when_a_batch_is_sorted(placement, left):
    """The longest source comes first."""
    tags = TagPlacement(placement, DICTIONARY)
    of = [pairs(placement, each, left_pad_source=left) for each in ("aa-bb", "cc-aa", "bb-cc")]
    batch = of[0].collater([of[0][1], of[1][2], of[2][0]])
    assert batch["languages"].tolist() == [[BB, CC], [CC, AA], [AA, BB]]
    assert "languages" not in batch_of(TaggedPairs(Direction("aa", "bb"), tags, sentences(2)))


def test_a_target_as_source_is_what_a_copy_would_be(placement, left):
    surgery = TagSurgery(TagPlacement(placement, DICTIONARY), left)
    batch = batch_of(pairs(placement, "aa-bb", left_pad_source=left))
    copied = surgery.target_as_source(batch)
    same = (TARGETS, WORD + 1)
    expected = batch_of(pairs(placement, "bb-bb", same, same, left_pad_source=left))
    assert_same_batch({**batch, "net_input": copied}, expected)
    assert torch.equal(copied["prev_output_tokens"], batch["net_input"]["prev_output_tokens"])
    assert copied["src_lengths"].tolist() == copied["src_tokens"].ne(PAD).sum(1).tolist()
    assert copied["src_tokens"].size(1) == expected["net_input"]["src_tokens"].size(1)
    end = copied["src_tokens"][:, -1 if left else 0]
    assert end.ne(PAD).all(), "padding on the side of sources"


def test_a_target_as_source_keeps_to_the_models_positions(placement, left):
    surgery = TagSurgery(TagPlacement(placement, DICTIONARY), left)
    copied = surgery.target_as_source(batch_of(pairs(placement, "aa-bb")), limit=5)
    assert copied["src_tokens"].size(1) == 5 and copied["src_tokens"].ne(PAD).any(0).all()
    assert all(row[-1] == DICTIONARY.eos() for row in rows(copied["src_tokens"]))


def test_the_same_rows_by_a_loop(placement, left):
    """As CrossConST shifts a source, row by row."""
    surgery = TagSurgery(TagPlacement(placement, DICTIONARY), left)
    batch = batch_of(pairs(placement, "aa-bb", left_pad_source=left))
    head = [{"source": BB, "target": BB}[side] for side in surgery.sides]
    expected = [[*head, *row] for row in rows(batch["target"])]
    assert rows(surgery.target_as_source(batch)["src_tokens"]) == expected


def test_rows_are_stacked_on_the_side_of_their_padding(placement, left):
    one, other = torch.tensor([[5, 6, 7]]), torch.tensor([[8]])
    assert stack([one, other], PAD, left).tolist() == [[5, 6, 7], [PAD, PAD, 8] if left else [8, PAD, PAD]]
    mixed = torch.tensor([[PAD, 5, PAD, 6], [7, PAD, 8, 9]])
    aligned = [[PAD, PAD, 5, 6], [PAD, 7, 8, 9]] if left else [[5, 6, PAD, PAD], [7, 8, 9, PAD]]
    assert move_padding(mixed, PAD, left).tolist() == aligned


def test_a_sentence_that_is_cut_keeps_its_end(placement):
    surgery = TagSurgery(TagPlacement(placement, DICTIONARY))
    eos, pad = DICTIONARY.eos(), DICTIONARY.pad()
    sentences = torch.tensor([[6, 7, 8, 9, eos], [6, 7, eos, pad, pad], [6, 7, 8, eos, pad]])
    assert surgery.cut(sentences, 4).tolist() == [[6, 7, 8, eos], [6, 7, eos, pad], [6, 7, 8, eos]]
    assert surgery.cut(sentences, 3).tolist() == [[6, 7, eos], [6, 7, eos], [6, 7, eos]]
    assert surgery.cut(sentences, 5) is sentences and surgery.cut(sentences, None) is sentences
