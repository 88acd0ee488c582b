"""fairseq's beam search, rule for rule, over a packed decoder."""

import math
from collections.abc import Callable, Collection, Sequence

import torch
from torch import Tensor

from zsnmt.decoding.packed.decoder import DecoderState
from zsnmt.decoding.search import Hypothesis, Search

Candidates = tuple[Tensor, Tensor, Tensor]  # scores, hypotheses and tokens, see `best_candidates`
# From log-probabilities (N×W×V) after each state, scores of the hypotheses (N×W) and a number: candidates.
Combination = Callable[[Sequence[Tensor], Tensor, int], Candidates]
CHUNK = 64  # symbols of which the best is found first


def beam_search(
    states: Sequence[DecoderState],
    limits: Sequence[int],
    search: Search,
    *,
    eos: int,
    never: Tensor,
    penalties: Tensor | None = None,
    combine: Combination | None = None,
) -> list[list[Hypothesis]]:
    """Hypotheses of each of the N sentences that a state begins with, best first.

    A hypothesis has at most `limits[i]` tokens before EOS, and none of those in `never` (n ids); EOS is not
    its first. As in fairseq, 2W candidates are ranked, those of the first W that end are finished, the best W
    that do not go on, and a sentence ends with W finished ones or at its limit.

    Several states, of other sources or tags for the same N outputs, go on with the same hypotheses; `combine`
    makes candidates of what they say. `penalties` (N×V) are added to log-probabilities. States that search
    some symbols alone have the same ones, EOS and none of `never` among them.
    """
    finished: list[list[Hypothesis]] = [[] for _ in limits]
    sentences = [*range(len(limits))]  # those that are still searched, by row
    width = min(search.beam, states[0].output.size - 1)
    device, combine, symbols = states[0].starts.device, combine or of_one, states[0].output.symbols
    ending = eos if symbols is None else int(symbols.eq(eos).nonzero())
    limit = torch.tensor(limits, device=device)
    tokens = None  # the first of each state, then N×W
    history = states[0].starts.new_empty((len(limits), 1, 0))  # N×W×step
    scores = torch.zeros((len(limits), 1), device=device)  # N×W
    nearest = min(limits)
    for step in range(max(limits) + 1):
        views = [
            state.logits(state.starts[:, None] if tokens is None else tokens).log_softmax(
                dim=-1, dtype=torch.float32
            )
            for state in states
        ]  # each N×W×V
        for log_probabilities in views:
            if penalties is not None:
                log_probabilities += penalties[:, None]
            if symbols is None:
                log_probabilities[..., never] = -math.inf
            if step == 0:
                log_probabilities[..., ending] = -math.inf
            if step >= nearest:
                keep_only(ending, log_probabilities, limit <= step)
        candidate_scores, parents, candidates = combine(views, scores, 2 * width)  # N×2W each
        if symbols is not None:
            candidates = symbols[candidates]

        ends = candidates.eq(eos) & candidate_scores.ne(-math.inf)
        done = set()
        rows, places = ends[:, :width].nonzero().unbind(dim=1)
        ended = zip(
            rows.tolist(),
            history[rows, parents[rows, places]].tolist(),
            candidate_scores[rows, places].tolist(),
        )
        for row, written, log_probability in ended:
            hypotheses = finished[sentences[row]]
            if len(hypotheses) < width:
                hypotheses.append(Hypothesis([*written, eos], search.score(log_probability, step + 1)))
            if len(hypotheses) == width or step == limits[sentences[row]]:
                done.add(row)
        if len(done) == len(sentences):
            break
        if done:
            staying = drop_rows(done, len(sentences))
            sentences = [sentences[row] for row in staying[0]]
            order, holes, movers = (torch.tensor(rows, dtype=torch.long, device=device) for rows in staying)
            for state in states:
                state.drop(order, holes, movers)
            penalties = None if penalties is None else penalties[order]
            limit, history, ends = limit[order], history[order], ends[order]
            candidate_scores, parents, candidates = candidate_scores[order], parents[order], candidates[order]

        # The first W that do not end, in their order: no more than W do, one for each hypothesis.
        rank = torch.arange(ends.size(1), device=device) + ends * ends.size(1)
        chosen = rank.topk(width, dim=1, largest=False).indices
        scores, parents, tokens = (each.gather(1, chosen) for each in (candidate_scores, parents, candidates))
        for state in states:
            state.follow(parents)
        history = torch.cat(
            [history.gather(1, parents[..., None].expand(-1, -1, step)), tokens[..., None]], dim=-1
        )
    return [sorted(hypotheses, key=lambda hypothesis: -hypothesis.score) for hypotheses in finished]


def of_one(views: Sequence[Tensor], scores: Tensor, number: int) -> Candidates:
    """The candidates of one state alone, from one view (N×W×V) and the scores so far (N×W)."""
    (log_probabilities,) = views
    return best_candidates(log_probabilities, scores, number)


def best_candidates(log_probabilities: Tensor, scores: Tensor, number: int) -> Candidates:
    """Scores, hypotheses and tokens of the best continuations of each sentence, best first (N×number each).

    `log_probabilities`: N×W×V; `scores`: of the hypotheses so far, N×W. There are fewer than `number` in a
    tiny vocabulary. The largest of chunks of neighbours are found first; all candidates are in as many
    chunks.
    """
    (width, size), device = log_probabilities.shape[1:], scores.device
    number, chunks = min(number, width * size - 1), size // CHUNK
    if width * chunks < 2 * number:
        best, places = (log_probabilities + scores[..., None]).flatten(1).topk(number, dim=1)
        return best, places // size, places % size
    head = log_probabilities[..., : chunks * CHUNK].unflatten(-1, (chunks, CHUNK))
    largest = head.amax(dim=-1) + scores[..., None]  # N×W×chunks
    winners = largest.flatten(1).topk(number, dim=1, sorted=False).indices  # N×number
    of_winners = winners // chunks  # the hypothesis of each
    begins = of_winners * size + winners % chunks * CHUNK
    within = (begins[..., None] + torch.arange(CHUNK, device=device)).flatten(1)  # N×(number·CHUNK)
    values = log_probabilities.flatten(1).gather(1, within).unflatten(1, (number, CHUNK))
    sums = (values + scores.gather(1, of_winners)[..., None]).flatten(1)
    tail = (log_probabilities[..., chunks * CHUNK :] + scores[..., None]).flatten(1)  # of no chunk
    best, chosen = torch.cat([sums, tail], dim=1).topk(number, dim=1)
    rows, rest = torch.arange(width, device=device), torch.arange(chunks * CHUNK, size, device=device)
    of_tail = (rows[:, None] * size + rest).flatten().expand(len(within), -1)
    places = torch.cat([within, of_tail], dim=1).gather(1, chosen)
    return best, places // size, places % size


def keep_only(symbol: int, log_probabilities: Tensor, rows: Tensor) -> None:
    """Leave the sentences of some rows (N, True there) nothing but one symbol, in log-probabilities
    (N×W×V).
    """
    kept = log_probabilities[rows, :, symbol]
    log_probabilities[rows] = -math.inf
    log_probabilities[rows, :, symbol] = kept


def drop_rows(done: Collection[int], number: int) -> tuple[list[int], list[int], list[int]]:
    """The rows that stay when some of `number` go: their order, in which the last (movers) stand in the
    gaps (holes).
    """
    gone = set(done)
    left = number - len(gone)
    holes = [row for row in range(left) if row in gone]
    movers = [row for row in range(left, number) if row not in gone]
    order = [*range(left)]
    for hole, mover in zip(holes, movers):
        order[hole] = mover
    return order, holes, movers
