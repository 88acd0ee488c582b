"""One ranking of what is said after several sources or tags: candidates of beam search from K views.

A view is N×W×V: log-probabilities after the hypotheses that all views share. Scores of hypotheses are N×W.
"""

import math
from collections.abc import Sequence
from functools import singledispatch
from zlib import crc32

import torch
from torch import Tensor

from zsnmt.decoding.beam_search import Candidates, Combination, best_candidates
from zsnmt.decoding.methods.kinds import VOTE, Contrast, Ensemble, Kind, Sample
from zsnmt.decoding.search import Sentence

Sentences = Sequence[Sequence[Sentence]]  # of each view, N


@singledispatch
def combination(kind: Kind, views: Sentences, weights: Sequence[float]) -> Combination | None:
    """How candidates are made of what is said after the sentences of some views, those behind the first with
    these weights; None where they are those of any search.
    """
    return None


@combination.register
def of_ensemble(kind: Ensemble, views: Sentences, weights: Sequence[float]) -> Combination | None:
    """A vote, or the average."""
    several = vote if kind.by == VOTE else average
    return several if len(views) > 1 else None


@combination.register
def of_contrast(kind: Contrast, views: Sentences, weights: Sequence[float]) -> Combination | None:
    """The candidates of the difference."""

    def contrast(views: Sequence[Tensor], scores: Tensor, number: int) -> Candidates:
        return best_candidates(contrasted(views, weights), scores, number)

    return contrast if len(views) > 1 else None


@combination.register
def of_sample(kind: Sample, views: Sentences, weights: Sequence[float]) -> Combination:
    """Draws for the sentences themselves."""
    return drawing(kind, views[0])


def drawing(sample: Sample, text: Sequence[Sentence]) -> Combination:
    """Candidates that are drawn, for a beam of 1; their scores are those of the model.

    The largest of log-probabilities with noise of Gumbel's distribution is a draw by the probabilities. The
    same text in the same batch has the same draws whenever one engine translates it; another engine may
    order the batch otherwise.
    """
    generator = torch.Generator().manual_seed(crc32(repr((sample.seed, [*text])).encode()))

    def draw(views: Sequence[Tensor], scores: Tensor, number: int) -> Candidates:
        (log_probabilities,) = views
        flat = log_probabilities[:, 0]
        best, symbols = flat.topk(max(2, min(sample.symbols, flat.size(-1))), dim=1)
        if sample.symbols == 1:
            best[:, 1:] = -math.inf  # which is not drawn, but stands for the second of two candidates
        noise = -torch.empty(best.shape).exponential_(generator=generator).log()
        order = (best + noise.to(best.device)).topk(min(number, best.size(1)), dim=1).indices
        parents = order.new_zeros(order.shape)
        return Candidates(scores + best.gather(1, order), parents, symbols.gather(1, order))

    return draw


def vote(views: Sequence[Tensor], scores: Tensor, number: int) -> Candidates:
    """Bi-level beam search (Wen et al. 2025): each view nominates its best candidates (N×Z), whose
    probabilities add up over the views that nominate them.

    Their sum is over K, so that equal views are as one. A candidate stands for itself where it is first
    nominated.
    """
    symbols = views[0].size(-1)
    nominated = [best_candidates(view, scores, number) for view in views]
    values = torch.cat([best for best, _, _ in nominated], dim=1)  # N×KZ
    places = torch.cat([parents * symbols + tokens for _, parents, tokens in nominated], dim=1)
    same = places[:, :, None] == places[:, None]  # N×KZ×KZ
    votes = values[:, None].masked_fill(~same, -math.inf).logsumexp(dim=-1) - math.log(len(views))
    votes = votes.masked_fill(same.tril(diagonal=-1).any(dim=-1), -math.inf)
    best, chosen = votes.topk(nominated[0][0].size(1), dim=1)
    places = places.gather(1, chosen)
    return Candidates(best, places // symbols, places % symbols)


def average(views: Sequence[Tensor], scores: Tensor, number: int) -> Candidates:
    """The mean of the probabilities, as in fairseq's ensembles, of views (N×W×V each) with scores (N×W)."""
    return best_candidates(mean_probabilities(views), scores, number)


def mean_probabilities(said: Sequence[Tensor]) -> Tensor:
    """The log of the mean of probabilities, from their logs, of one shape."""
    return torch.stack([*said]).logsumexp(dim=0) - math.log(len(said))


def contrasted(views: Sequence[Tensor], weights: Sequence[float]) -> Tensor:
    """Log of p_0 - Σ λ_i p_i, N×W×V as each view (Sennrich et al. 2024), -inf where that is not above 0.

    A hypothesis for which nothing is left has the first view's own.
    """
    first, *others = views
    share = sum(weight * (other - first).exp() for weight, other in zip(weights, others, strict=True))
    left = first + torch.log1p(-torch.as_tensor(share))
    left = left.masked_fill(left.isnan(), -math.inf)
    return torch.where(left.eq(-math.inf).all(dim=-1, keepdim=True), first, left)
