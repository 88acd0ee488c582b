"""fairseq's beam search, rule for rule, over a packed decoder."""

import math
from collections.abc import Collection, Sequence

import torch
from torch import Tensor

from zsnmt.decoding.packed.decoder import DecoderState
from zsnmt.decoding.search import Hypothesis, Search

CHUNK = 64  # symbols of which the best is found first; the order of magnitude of √V


def beam_search(
    state: DecoderState, limits: Sequence[int], search: Search, eos: int, never: Tensor
) -> list[list[Hypothesis]]:
    """Hypotheses of each of the N sentences that the state begins with, best first.

    A hypothesis has at most `limits[i]` tokens before EOS, and none of those in `never`; EOS is not its
    first. As in fairseq, 2W candidates are ranked, those of the first W that end are finished, the best W
    that do not go on, and a sentence ends with W finished ones or at its limit.
    """
    finished: list[list[Hypothesis]] = [[] for _ in limits]
    sentences, width = (
        [*range(len(limits))],
        min(search.beam, state.symbols - 1),
    )  # the sentences still searched, by row
    device = state.starts.device
    limit = torch.tensor(limits, device=device)
    tokens = state.starts[:, None]  # N×1, then N×W
    history = tokens.new_empty((len(limits), 1, 0))  # N×W×step
    scores = torch.zeros((len(limits), 1), device=device)  # N×W
    nearest = min(limits)
    for step in range(max(limits) + 1):
        log_probabilities = state.logits(tokens).log_softmax(dim=-1, dtype=torch.float32)  # N×W×V
        log_probabilities[..., never] = -math.inf
        if step == 0:
            log_probabilities[..., eos] = -math.inf
        if step >= nearest:
            keep_only(eos, log_probabilities, limit <= step)
        candidate_scores, parents, candidates = best_candidates(
            log_probabilities, scores, 2 * width
        )  # N×2W each

        ends = candidates.eq(eos) & candidate_scores.ne(-math.inf)
        done = set()
        for row, place in ends[:, :width].nonzero().tolist():
            hypotheses = finished[sentences[row]]
            if len(hypotheses) < width:
                ended = [*history[row, parents[row, place]].tolist(), eos]
                hypotheses.append(
                    Hypothesis(ended, search.score(candidate_scores[row, place].item(), step + 1))
                )
            if len(hypotheses) == width or step == limits[sentences[row]]:
                done.add(row)
        if len(done) == len(sentences):
            break
        if done:
            staying = drop_rows(done, len(sentences))
            sentences = [sentences[row] for row in staying[0]]
            order, holes, movers = (torch.tensor(rows, dtype=torch.long, device=device) for rows in staying)
            state.drop(order, holes, movers)
            limit, history, ends = limit[order], history[order], ends[order]
            candidate_scores, parents, candidates = candidate_scores[order], parents[order], candidates[order]

        # The first W that do not end, in their order: no more than W do, one for each hypothesis.
        rank = torch.arange(ends.size(1), device=device) + ends * ends.size(1)
        chosen = rank.topk(width, dim=1, largest=False).indices
        scores, parents, tokens = (each.gather(1, chosen) for each in (candidate_scores, parents, candidates))
        state.follow(parents)
        history = torch.cat(
            [history.gather(1, parents[..., None].expand(-1, -1, step)), tokens[..., None]], dim=-1
        )
    return [sorted(hypotheses, key=lambda hypothesis: -hypothesis.score) for hypotheses in finished]


def best_candidates(log_probabilities: Tensor, scores: Tensor, number: int) -> tuple[Tensor, Tensor, Tensor]:
    """Scores, hypotheses and tokens of the best continuations of each sentence, best first (N×number each).

    `log_probabilities`: N×W×V; `scores`: of the hypotheses so far, N×W. There are fewer than `number` in a
    tiny vocabulary.
    """
    values, tokens = top(log_probabilities, min(number, log_probabilities.size(-1)))  # N×W×number
    values = (values + scores[..., None]).flatten(1)
    best, places = values.topk(min(number, log_probabilities[0].numel() - 1), dim=1)
    return best, places // tokens.size(-1), tokens.flatten(1).gather(1, places)


def top(values: Tensor, number: int) -> tuple[Tensor, Tensor]:
    """The largest values of the last axis, and where they are: …×number each, not in order.

    The largest of interleaved chunks are found first; all winners are in as many chunks.
    """
    chunks = values.size(-1) // CHUNK
    if chunks < 2 * number:
        return values.topk(number, dim=-1, sorted=False)
    head, tail = values[..., : chunks * CHUNK].unflatten(-1, (CHUNK, chunks)), values[..., chunks * CHUNK :]
    _, winners = head.amax(dim=-2).topk(number, dim=-1, sorted=False)  # …×number
    within = head.gather(-1, winners[..., None, :].expand(*winners.shape[:-1], CHUNK, -1)).flatten(-2)
    best, places = torch.cat([within, tail], dim=-1).topk(number, dim=-1, sorted=False)
    in_tail = places - CHUNK * number + chunks * CHUNK
    in_head = places // number * chunks + winners.gather(-1, places % number)
    return best, torch.where(places < CHUNK * number, in_head, in_tail)


def keep_only(symbol: int, log_probabilities: Tensor, rows: Tensor) -> None:
    """Leave the sentences of some rows (N, True there) nothing but one symbol."""
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
