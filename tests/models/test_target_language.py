"""Upper encoder layers that know the target language, and lower ones that do not (LCS, Sun et al. 2024)."""

import pytest
import torch

from tests.data.test_tagged_pairs import AA, BB, DICTIONARY, PAD, WORD
from tests.models.test_zs_transformer import build
from tests.support.rounding import alike, assert_alike, assert_as_near
from tests.terms.conftest import TermTask
from zsnmt.data.language_tags import TagPlacement
from zsnmt.data.tag_surgery import move_padding
from zsnmt.decoding.options import FLOAT32
from zsnmt.decoding.packed.encoder import PackedEncoder
from zsnmt.errors import InputError

EOS = DICTIONARY.eos()
SENTENCES = [[WORD, WORD + 1, WORD + 2, WORD + 3, EOS], [WORD + 4, WORD + 5, EOS]]
LEFT = pytest.mark.parametrize("left", [True, False], ids=["left", "right"])
WITH_TAG = [name for name in TagPlacement.NAMES if "t_enc" in name]
pytestmark = pytest.mark.usefixtures("float64")


def model_of(placement: str = "t_enc_t_dec", told: bool = True, **options):
    task = TermTask(placement)
    options = {"decoder_language_embedding": "none", "encoder_layers": 5, **options}
    if told:
        options["encoder_target_language"] = "tag_embedding"
    return build(task, **options).double().eval()


def tokens_of(placement: str, target: int, left: bool = True) -> torch.Tensor:
    head = [AA] * ("s_enc" in placement) + [target] * ("t_enc" in placement)
    rows = [[*head, *sentence] for sentence in SENTENCES]
    return move_padding(
        torch.tensor([row + [PAD] * (max(map(len, rows)) - len(row)) for row in rows]), PAD, left
    )


def states(model, tokens: torch.Tensor) -> list[torch.Tensor]:
    """The states of all words after each layer and at the end, whatever the padding (each N×C)."""
    found = model.encoder(tokens, return_all_hiddens=True)
    words = tokens.ge(WORD) | tokens.eq(EOS)
    return [each.transpose(0, 1)[words] for each in (*found["encoder_states"], found["encoder_out"][0])]


@pytest.mark.parametrize("normalization", ["pre", "post"])
@pytest.mark.parametrize("placement", WITH_TAG)
@torch.no_grad()
def test_layers_below_are_the_same_to_the_bit_for_every_target_and_those_above_are_not(
    placement, normalization
):
    model = model_of(placement, normalization=normalization, encoder_residual_removal_layers="middle")
    ours, other = (states(model, tokens_of(placement, target)) for target in (BB, AA))
    same = [torch.equal(one, another) for one, another in zip(ours, other)]
    assert same == [True] * 4 + [False] * 3  # the input and layers 1 to 3; layers 4 and 5, and the end


@pytest.mark.parametrize("normalization", ["pre", "post"])
@pytest.mark.parametrize("layers, passes", [("1", False), ("2", False), ("3", False), ("4", True)])
@torch.no_grad()
def test_at_or_below_a_removed_residual_the_vector_passes_through_attention_alone(
    layers, passes, normalization
):
    model = model_of(
        normalization=normalization,
        encoder_residual_removal_layers="3",
        encoder_target_language_layers=layers,
    )

    def is_told() -> bool:
        ours, other = (states(model, tokens_of("t_enc_t_dec", target))[-1] for target in (BB, AA))
        return not torch.equal(ours, other)

    assert is_told()
    for parameter in model.encoder.layers[2].self_attn.out_proj.parameters():
        parameter.zero_()
    assert is_told() == passes


@pytest.mark.parametrize("encoding", ["sinusoidal", "tupe_absolute", "tupe_relative", "relative_key_query"])
@pytest.mark.parametrize(
    "placement, without", [("t_enc_t_dec", "t_dec"), ("s_enc_t_enc_t_dec", "s_enc_t_dec")]
)
@torch.no_grad()
@LEFT
def test_without_the_vector_the_encoder_is_the_one_that_sees_no_tag(left, placement, without, encoding):
    """Nor does a position or a distance count the tag, also where the source's tag stands before it."""
    model = model_of(placement, encoder_position_encoding=encoding)
    plain = model_of(without, told=False, encoder_position_encoding=encoding)
    for each in (model, plain):
        each.encoder.embed_tokens.weight[BB] = 0
    found = states(model, tokens_of(placement, BB, left))
    expected = states(plain, tokens_of(without, BB, left))
    for one, another in zip(found, expected, strict=True):
        assert_alike(one, another)


@pytest.mark.parametrize("normalization", ["pre", "post"])
@pytest.mark.parametrize("layers, told", [("top2", {4, 5}), ("2", {2}), ("1,5", {1, 5}), ("middle", {3})])
@torch.no_grad()
def test_the_vector_is_added_to_the_input_of_chosen_layers_and_the_last_norm_is_last(
    normalization, layers, told
):
    """The reference code has the last normalisation of pre-norm below the layers that are told."""
    model = model_of(normalization=normalization, encoder_target_language_layers=layers)
    encoder, words = model.encoder, torch.tensor([SENTENCES[0]])
    x, _ = encoder.forward_embedding(words)
    x = x.transpose(0, 1)
    for number, layer in enumerate(encoder.layers, start=1):
        if number in told:
            x = x + encoder.embed_scale * encoder.embed_tokens.weight[BB]
        x = layer(x, encoder_padding_mask=None)
    x = x if encoder.layer_norm is None else encoder.layer_norm(x)
    assert (encoder.layer_norm is None) == (normalization == "post")
    assert_alike(states(model, torch.tensor([[BB, *SENTENCES[0]]]))[-1], x[:, 0])


@pytest.mark.parametrize("encoding", ["sinusoidal", "tupe_absolute", "tupe_relative", "relative_key_query"])
@pytest.mark.parametrize("placement", WITH_TAG)
@torch.no_grad()
@LEFT
def test_sentences_into_two_languages_are_in_a_batch_as_they_are_alone(placement, encoding, left):
    model = model_of(placement, encoder_residual_removal_layers="middle", encoder_position_encoding=encoding)
    tokens = tokens_of(placement, BB, left)
    tokens[1][tokens[1] == BB] = AA
    together = states(model, tokens)[-1]
    alone = [states(model, row[row != PAD][None])[-1] for row in tokens]
    assert_alike(together, torch.cat(alone))


@pytest.mark.parametrize("normalization", ["pre", "post"])
@torch.no_grad()
@LEFT
def test_the_packed_encoder_has_the_same_states(normalization, left):
    options = dict(normalization=normalization, encoder_feed_forward_residual_removal_layers="2")
    model, tokens = model_of(**options), tokens_of("t_enc_t_dec", BB, left)
    words = tokens.ge(WORD) | tokens.eq(EOS)
    exact = states(model, tokens)[-1]
    found, padding = PackedEncoder(model.encoder, FLOAT32)(tokens)
    assert torch.equal(padding, ~words)
    assert_alike(found.transpose(0, 1)[words], exact)
    stock = states(model.float(), tokens)[-1]
    packed, _ = PackedEncoder(model.encoder, FLOAT32)(tokens)
    assert_as_near(packed.transpose(0, 1)[words], stock, exact)


def test_there_are_no_new_weights_and_training_drops_no_language():
    model, plain = model_of(word_dropout=0.9, dropout=0.0), model_of(told=False, word_dropout=0.9)
    ours, theirs = model.state_dict(), plain.state_dict()
    assert [*ours] == [*theirs] and all(torch.equal(ours[name], theirs[name]) for name in ours)
    told = [model.train().encoder.tell(tokens_of("t_enc_t_dec", BB))[1] for _ in range(20)]
    assert all(torch.equal(each, told[0]) for each in told) and told[0].shape == (1, 2, 8)
    model.encoder.dropout_module.p = 0.5
    assert not alike(model.encoder.tell(tokens_of("t_enc_t_dec", BB))[1], told[0])


def test_gradients_reach_the_tag_through_the_encoder():
    model = model_of()
    model.encoder(tokens_of("t_enc_t_dec", BB))["encoder_out"][0].square().sum().backward()
    gradient = model.encoder.embed_tokens.weight.grad
    assert gradient[BB].abs().sum() > 0 and gradient[AA].abs().sum() == 0


@pytest.mark.parametrize(
    "placement, options, message",
    [
        ("t_dec", {}, "reads the tag of the target on the source: give --language-tags t_enc_t_dec"),
        ("s_enc_t_dec", {}, "reads the tag of the target on the source"),
        ("t_enc", dict(encoder_target_language_layers="none"), "none tells no layer"),
        (
            "t_enc",
            dict(encoder_target_language_layers="6"),
            "'6' names no layers of 5: .*, in --encoder-target-language-layers$",
        ),
        ("t_enc", dict(encoder_target_language_layers="top6"), "'top6' names no layers of 5"),
    ],
)
def test_what_makes_no_sense_is_refused(placement, options, message):
    with pytest.raises(InputError, match=message):
        model_of(placement, **options)


def test_layers_without_the_option_and_tasks_without_tags_are_refused(toy_task):
    with pytest.raises(InputError, match="layers 2 has no effect without .* tag_embedding; give"):
        model_of(told=False, encoder_target_language_layers="2")
    with pytest.raises(InputError, match="reads the tag of the target on the source"):
        build(toy_task, encoder_target_language="tag_embedding")
