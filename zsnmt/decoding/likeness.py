"""Whether a packed model computes what the model itself does. Parts are known by their types alone: one whose
`forward` has learned something besides, such as a scale, would be translated as another model.
"""

from collections.abc import Sequence
from statistics import fmean

import numpy as np
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
    if not largest_difference(model, dictionary, languages, sources=sources) <= ROUNDING:  # which no NaN is
        return "it computes something that zsnmt's faster code does not (docs/adding_a_variant.md, step 6)"
    return None


def largest_difference(
    model: BaseFairseqModel, dictionary: Dictionary, languages: Sequence[str], *, sources: Sequence[Sentence]
) -> float:
    """How far the score of a short translation by the packed model is from the model's own at most, in nats a
    token; NaN where one of them is.
    """
    engine = PyTorchEngine(model, dictionary, languages, search=SHORT)
    best = [hypotheses[0] for hypotheses in engine.translate_batch(sources)]
    own = [fmean(log_probabilities(model, each, found.tokens)) for each, found in zip(sources, best)]
    return float(np.abs(np.subtract(own, [found.score for found in best])).max())


@torch.no_grad()
def log_probabilities(
    model: BaseFairseqModel, sentence: Sentence, tokens: Sequence[int], among: Sequence[int] | None = None
) -> list[float]:
    """The model's own log-probability of each token of a translation with EOS, among all symbols or some
    (ids).
    """
    device = next(model.parameters()).device
    source, before = (
        torch.tensor([each], device=device) for each in (sentence.source, [sentence.start, *tokens[:-1]])
    )
    output = model(source, torch.tensor([len(sentence.source)], device=device), before)
    found = model.get_normalized_probs(output, log_probs=True)[0]  # T×V
    if among is not None:
        found = found - found[:, among].logsumexp(dim=-1, keepdim=True)
    return found[range(len(tokens)), tokens].tolist()
