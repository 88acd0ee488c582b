"""A model is packed only if the packed one computes what it does."""

import math
from types import MethodType

import pytest
import torch

from tests.conftest import LANGUAGES, make_dictionary
from tests.support.decoding import SEAMS, WORDS, build
from zsnmt.data.language_tags import TagPlacement
from zsnmt.data.reading import Codec
from zsnmt.decoding.likeness import ROUNDING, largest_difference, why_not_alike
from zsnmt.decoding.pytorch_engine import why_not_packed
from zsnmt.text.pipeline import TextPipeline


class Words:
    """A pipeline's steps, none of which is taken."""


def codec_of(model):
    tags = TagPlacement("t_dec", make_dictionary(WORDS))
    return Codec(TextPipeline(Words()), tags, LANGUAGES, [], model.encoder.max_positions())


def of(model, function):
    """What a function says of a model and two sentences for it."""
    codec = codec_of(model)
    return function(model, codec.dictionary, codec.languages, sources=codec.samples())


@pytest.mark.parametrize("seams", SEAMS.values(), ids=SEAMS)
def test_a_model_of_known_parts_computes_the_same(seams):
    model = build(dtype=torch.float32, **seams).eval()
    assert of(model, largest_difference) < 0.1 * ROUNDING
    assert of(model, why_not_alike) is None


def scaled(layer, x, *others, by=1.1, **more):
    """The forward pass of a layer, with a change that no part of it shows."""
    out = type(layer).forward(layer, x, *others, **more)
    return (by * out[0], *out[1:]) if isinstance(out, tuple) else by * out


@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_a_model_that_computes_something_else_with_known_parts_is_not_packed(stack):
    model = build("zs_transformer", dtype=torch.float32).eval()
    layer = getattr(model, stack).layers[0]
    layer.forward = MethodType(scaled, layer)
    assert why_not_packed(model) is None
    assert of(model, why_not_alike).startswith("it computes something that")


def test_one_sentence_of_which_it_computes_something_else_is_enough():
    model = build("zs_transformer", dtype=torch.float32).eval()
    layer = model.encoder.layers[0]
    codec = codec_of(model)
    lengths = [len(sentence.source) for sentence in codec.samples()]
    assert len({*lengths}) > 1

    def of_longest(layer, x, *others, **more):
        changed = scaled if len(x) == max(lengths) else type(layer).forward
        return changed(layer, x, *others, **more)

    layer.forward = MethodType(of_longest, layer)
    assert of(model, largest_difference) > ROUNDING


@pytest.mark.parametrize("which", [min, max])
def test_what_is_no_number_is_not_alike(which):
    model = build("zs_transformer", dtype=torch.float32).eval()
    layer = model.encoder.layers[0]
    length = which(len(sentence.source) for sentence in codec_of(model).samples())

    def of_some(layer, x, *others, **more):
        return scaled(layer, x, *others, by=math.nan if len(x) == length else 1, **more)

    layer.forward = MethodType(of_some, layer)
    assert math.isnan(of(model, largest_difference))
    assert of(model, why_not_alike).startswith("it computes something that")


def test_a_part_that_is_not_known_is_named_first():
    model = build(dtype=torch.float32).eval()
    model.encoder.scale = torch.nn.Dropout(0.1)
    assert of(model, why_not_alike) == "it has the part encoder.scale (Dropout)"
