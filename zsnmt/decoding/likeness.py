"""Whether a packed model computes what the model itself does. Parts are known by their types alone: one whose
`forward` has learned something besides, such as a scale, would be translated as another model.
"""

from collections.abc import Sequence

import torch
from fairseq.data import Dictionary
from fairseq.models import BaseFairseqModel

from zsnmt.decoding.pytorch_engine import PyTorchEngine, why_not_packed
from zsnmt.decoding.search import Search, Sentence

SHORT = Search(beam=1, max_len_a=0, max_len_b=8)
ROUNDING = 1e-3  # nats a token; that of float32 was at most 4e-7 in models that were trained here


def why_not_alike(
    model: BaseFairseqModel, dictionary: Dictionary, languages: Sequence[str], *, sources: Sequence[Sentence]
) -> str | None:
    """Why a model is not to be packed: what it has that packing does not know, or that it computes something
    else, by the probabilities of translations of some `sources`; None for a model that can be packed.
    """
    if reason := why_not_packed(model):
        return reason
    if largest_difference(model, dictionary, languages, sources=sources) > ROUNDING:
        return "it computes something that zsnmt's faster code does not (docs/adding_a_variant.md, step 6)"
    return None


@torch.no_grad()
def largest_difference(
    model: BaseFairseqModel, dictionary: Dictionary, languages: Sequence[str], *, sources: Sequence[Sentence]
) -> float:
    """How far the score of a short translation by the packed model is from the model's own at most, in nats a
    token.
    """
    engine = PyTorchEngine(model, dictionary, languages, search=SHORT)
    largest = 0.0
    for sentence, (best, *_) in zip(sources, engine.translate_batch(sources), strict=True):
        source, before, tokens = (
            torch.tensor([each], device=engine.device)
            for each in (sentence.source, [sentence.start, *best.tokens[:-1]], best.tokens)
        )
        output = model(source, torch.tensor([source.shape[1]], device=engine.device), before)
        scores = model.get_normalized_probs(output, log_probs=True).gather(-1, tokens.unsqueeze(-1))
        largest = max(largest, abs(scores.mean().item() - best.score))
    return largest
