"""Steps of the packed decoder: the model's own logits of each hypothesis, whichever hypotheses a search
goes on with.
"""

import copy
from collections.abc import Sequence

import pytest
import torch

from tests.models import test_frozen_vocabulary as frozen
from tests.support.decoding import (
    ARCHITECTURES,
    FIRST_WORD,
    PAD,
    SEAMS,
    WORDS,
    build,
    made_sentences,
    padded,
    randomise,
)
from tests.support.rounding import assert_alike, assert_as_near
from zsnmt.decoding.beam_search import drop_rows
from zsnmt.decoding.options import FLOAT32, INT8
from zsnmt.decoding.packed import decoder as module
from zsnmt.decoding.packed.decoder import DecoderState, PackedDecoder

pytestmark = pytest.mark.usefixtures("float64_attention")
SENTENCES = made_sentences(6)
MODELS = {
    **{architecture: dict(architecture=architecture) for architecture in ARCHITECTURES},
    **{name: seams for name, seams in SEAMS.items() if "keys" not in name and "tupe" not in name},
}
WIDTH = 3
STARTS = (5, 4, 7, 6, 7, 5, 4)
LEFT_OUT = {2: [1, 6], 4: [0, 2, 4]}  # rows, by step


def begin(
    model, precision: str = FLOAT32, starts: Sequence[int] = STARTS
) -> tuple[DecoderState, torch.Tensor, torch.Tensor]:
    """A search that begins with the sentences in another order, one of them twice; their sources, and the
    first inputs.
    """
    src_tokens = padded([sentence.source for sentence in SENTENCES], left=False)
    places = torch.tensor([3, 0, 1, 5, 2, 0, 4])
    starts = torch.tensor(starts)
    states = model.encoder(src_tokens)["encoder_out"][0]
    return (
        PackedDecoder(model.decoder, precision).begin(states, src_tokens == PAD, places, starts),
        src_tokens[places],
        starts,
    )


def of_whole_prefixes(model, sources: torch.Tensor, prefixes: torch.Tensor) -> torch.Tensor:
    """The model's logits after the last token of each prefix (N×W×T) of the sources (N×S): N×W×V."""
    rows = sources.repeat_interleave(prefixes.size(1), dim=0)
    logits, _ = model(rows, rows.ne(PAD).sum(1), prefixes.flatten(0, 1))
    return logits[:, -1].unflatten(0, prefixes.shape[:2])


def walk(
    model,
    steps: int = 7,
    leave: dict[int, list[int]] = LEFT_OUT,
    words: int = WORDS,
    starts: Sequence[int] = STARTS,
) -> None:
    """Go on with random tokens of random hypotheses, leaving out rows at some steps, and compare the logits
    of every step.

    In float64 they are the model's own; in float32, whose kernels are others, they are as near to these as
    the model's.
    """
    generator = torch.Generator().manual_seed(4)
    exact = copy.deepcopy(model).double()
    (state, sources, starts), (exact_state, *_) = (
        begin(model.float(), starts=starts),
        begin(exact, starts=starts),
    )
    prefixes, tokens = starts[:, None, None], starts[:, None]  # N×W×T, N×W
    for step in range(steps):
        stock, expected = (of_whole_prefixes(each, sources, prefixes) for each in (model, exact))
        assert_alike(exact_state.logits(tokens), expected)
        assert_as_near(state.logits(tokens), stock, expected)
        if step in leave:
            order, holes, movers = map(torch.tensor, drop_rows(leave[step], len(sources)))
            for each in (state, exact_state):
                each.drop(order.long(), holes.long(), movers.long())
            sources, prefixes = sources[order], prefixes[order]
        size = len(sources), WIDTH
        parents = torch.randint(prefixes.size(1), size, generator=generator)
        tokens = torch.randint(FIRST_WORD, FIRST_WORD + words, size, generator=generator)
        for each in (state, exact_state):
            each.follow(parents)
        kept = prefixes.gather(1, parents[..., None].expand(-1, -1, step + 1))
        prefixes = torch.cat([kept, tokens[..., None]], dim=-1)


@pytest.mark.slow
@pytest.mark.parametrize("options", MODELS.values(), ids=MODELS)
@torch.no_grad()
def test_logits_are_the_models_whatever_is_followed_and_left_out(options):
    walk(build(**options))


@pytest.mark.parametrize("options", [dict(), dict(adapter_dim=3)], ids=str)
@torch.no_grad()
def test_logits_of_languages_added_to_a_frozen_model_are_the_models(options):
    walk(
        randomise(frozen.build(3, **options)),
        words=frozen.THIRD - FIRST_WORD,
        starts=(31, 38, 7, 38, 5, 31, 4),
    )


@pytest.mark.slow
@pytest.mark.parametrize("steps, room", [(7, 1), (2 * module.STEPS, module.STEPS)])
@torch.no_grad()
def test_the_past_grows_beyond_the_room_it_began_with(steps, room, monkeypatch):
    monkeypatch.setattr(module, "STEPS", room)
    walk(build(relative_attention_distance="2", max_target_positions=100), steps, {3: [5], 5: [0, 1]})


@torch.no_grad()
def test_int8_logits_are_near():
    model = build(dtype=torch.float32)
    (exact, _, starts), (rounded, *_) = begin(model), begin(model, INT8)
    a, b = (state.logits(starts[:, None]).log_softmax(-1) for state in (exact, rounded))
    assert a.shape == b.shape and 0 < (a - b).pow(2).mean().sqrt() < 0.1 * a.std()
