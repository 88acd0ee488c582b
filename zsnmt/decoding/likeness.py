"""Whether a packed model computes what the model itself does. Parts are known by their types alone: one whose
`forward` has learned something besides, such as a scale, would be translated as another model.
"""

from typing import TYPE_CHECKING

import torch
from fairseq.models import BaseFairseqModel

from zsnmt.decoding.pytorch_engine import PyTorchEngine, why_not_packed
from zsnmt.decoding.search import Search
from zsnmt.languages import Direction

if TYPE_CHECKING:
    from zsnmt.data.reading import Codec

SHORT = Search(beam=1, max_len_a=0, max_len_b=8)
LENGTHS = (2, 5)  # words of the sources that are tried
ROUNDING = 1e-3  # nats a token; that of float32 was at most 4e-7 in models that were trained here


def why_not_alike(model: BaseFairseqModel, codec: "Codec") -> str | None:
    """Why a model is not to be packed: what it has that packing does not know, or that it computes something
    else, by the probabilities of two short translations; None for a model that can be packed.
    """
    if reason := why_not_packed(model):
        return reason
    if largest_difference(model, codec) > ROUNDING:
        return "it computes something that zsnmt's faster code does not (docs/adding_a_variant.md, step 6)"
    return None


@torch.no_grad()
def largest_difference(model: BaseFairseqModel, codec: "Codec") -> float:
    """How far the score of a translation by the packed model is from the model's own at most, in nats a
    token. The sources are the first words of the vocabulary.
    """
    dictionary, direction = codec.dictionary, Direction(codec.languages[0], codec.languages[-1])
    words = range(dictionary.nspecial, len(dictionary))[: codec.room(direction)]
    sentences = [codec.sentence([*words[:length], dictionary.eos()], direction) for length in LENGTHS]
    engine = PyTorchEngine(model, dictionary, codec.languages, SHORT)
    largest = 0.0
    for sentence, (best, *_) in zip(sentences, engine.translate_batch(sentences), strict=True):
        source, before, tokens = (
            torch.tensor([each], device=engine.device)
            for each in (sentence.source, [sentence.start, *best.tokens[:-1]], best.tokens)
        )
        output = model(source, torch.tensor([source.shape[1]], device=engine.device), before)
        scores = model.get_normalized_probs(output, log_probs=True).gather(-1, tokens.unsqueeze(-1))
        largest = max(largest, abs(scores.mean().item() - best.score))
    return largest
