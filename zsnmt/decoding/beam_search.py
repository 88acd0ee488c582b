"""fairseq's beam search, rule for rule, over a packed decoder."""

import math
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from zsnmt.decoding.packed.decoder import DecoderState
from zsnmt.decoding.search import Hypothesis, Search

CHUNK = 64  # symbols of which the best is found first


class Candidates(NamedTuple):
    """What hypotheses could become, best first (N×2W each): scores, hypotheses (`parents`), next tokens."""

    scores: Tensor
    parents: Tensor
    tokens: Tensor

    def of_rows(self, rows: Tensor) -> "Candidates":
        """Those of some sentences."""
        return Candidates(*(each[rows] for each in self))

    def at(self, places: Tensor) -> "Candidates":
        """Those at some places (N×n) of each sentence."""
        return Candidates(*(each.gather(1, places) for each in self))


# From log-probabilities (N×W×V) after each state, scores of the hypotheses (N×W) and a number.
Combination = Callable[[Sequence[Tensor], Tensor, int], Candidates]


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
    beams = Beams(
        states, limits, search, eos=eos, never=never, penalties=penalties, combine=combine or of_one
    )
    for step in range(max(limits) + 1):
        candidates = beams.candidates(step)
        done = beams.finish(candidates, step)
        if len(done) == len(beams.sentences):
            break
        if done:
            candidates = beams.drop(done, candidates)
        beams.go_on(candidates)
    return [sorted(hypotheses, key=lambda hypothesis: -hypothesis.score) for hypotheses in beams.finished]


class Beams:
    """Where a search stands, with the arguments of `beam_search`: a row for each sentence that is still
    searched, and W hypotheses in each (one at the first step).

    `sentences`: which one each row is; `finished`: hypotheses of all sentences. Of the rows: `limit` (N),
    `scores` (N×W), `tokens` (N×W, the last ones; None at the first step) and `history` (N×W×step, all).
    """

    def __init__(
        self,
        states: Sequence[DecoderState],
        limits: Sequence[int],
        search: Search,
        *,
        eos: int,
        never: Tensor,
        penalties: Tensor | None,
        combine: Combination,
    ) -> None:
        self.states, self.search, self.combine = states, search, combine
        self.eos, self.never, self.penalties = eos, never, penalties
        self.finished: list[list[Hypothesis]] = [[] for _ in limits]
        self.sentences = [*range(len(limits))]
        self.limits, self.nearest = limits, min(limits)
        starts, output = states[0].starts, states[0].output
        self.width = min(search.beam, states[0].packed.output.size - 1)
        self.symbols = output.symbols
        self.ending = eos if self.symbols is None else int(self.symbols.eq(eos).nonzero())
        self.limit = torch.tensor(limits, device=starts.device)
        self.scores = torch.zeros((len(limits), 1), device=starts.device)
        self.tokens: Tensor | None = None
        self.history = starts.new_empty((len(limits), 1, 0))

    def candidates(self, step: int) -> Candidates:
        """The best continuations of each sentence's hypotheses, by what all states say."""
        views = [self.log_probabilities(state, step) for state in self.states]
        found = self.combine(views, self.scores, 2 * self.width)
        return found if self.symbols is None else found._replace(tokens=self.symbols[found.tokens])

    def log_probabilities(self, state: DecoderState, step: int) -> Tensor:
        """What a state says of the next symbol, N×W×V, -inf where a rule forbids it."""
        tokens = state.starts[:, None] if self.tokens is None else self.tokens
        said = state.logits(tokens).log_softmax(dim=-1, dtype=torch.float32)
        if self.penalties is not None:
            said += self.penalties[:, None]
        if self.symbols is None:
            said[..., self.never] = -math.inf
        if step == 0:
            said[..., self.ending] = -math.inf
        if step >= self.nearest:
            keep_only(self.ending, said, self.limit <= step)
        return said

    def ends(self, candidates: Candidates) -> Tensor:
        """Which candidates end a hypothesis, N×2W."""
        return candidates.tokens.eq(self.eos) & candidates.scores.ne(-math.inf)

    def finish(self, candidates: Candidates, step: int) -> set[int]:
        """Keep the hypotheses that end among the first W candidates; the rows whose search is over."""
        done = set()
        rows, places = self.ends(candidates)[:, : self.width].nonzero().unbind(dim=1)
        ended = zip(
            rows.tolist(),
            self.history[rows, candidates.parents[rows, places]].tolist(),
            candidates.scores[rows, places].tolist(),
        )
        for row, written, log_probability in ended:
            sentence = self.sentences[row]
            hypotheses = self.finished[sentence]
            if len(hypotheses) < self.width:
                score = self.search.score(log_probability, step + 1)
                hypotheses.append(Hypothesis([*written, self.eos], score))
            if len(hypotheses) == self.width or step == self.limits[sentence]:
                done.add(row)
        return done

    def drop(self, done: Collection[int], candidates: Candidates) -> Candidates:
        """Leave out rows; the candidates of those that stay."""
        staying = drop_rows(done, len(self.sentences))
        self.sentences = [self.sentences[row] for row in staying[0]]
        order, holes, movers = (
            torch.tensor(rows, dtype=torch.long, device=self.limit.device) for rows in staying
        )
        for state in self.states:
            state.drop(order, holes, movers)
        if self.penalties is not None:
            self.penalties = self.penalties[order]
        self.limit, self.history = self.limit[order], self.history[order]
        return candidates.of_rows(order)

    def go_on(self, candidates: Candidates) -> None:
        """Go on with the first W candidates that do not end, in their order: no more than W do, one for each
        hypothesis. Where few symbols are searched there may be fewer; those that end then lead nowhere.
        """
        ends = self.ends(candidates)
        rank = torch.arange(ends.size(1), device=ends.device) + ends * ends.size(1)
        chosen = rank.topk(min(self.width, ends.size(1)), dim=1, largest=False).indices
        scores, parents, self.tokens = candidates.at(chosen)
        self.scores = scores.masked_fill(ends.gather(1, chosen), -math.inf)
        for state in self.states:
            state.follow(parents)
        before = self.history.gather(1, parents[..., None].expand(-1, -1, self.history.size(-1)))
        self.history = torch.cat([before, self.tokens[..., None]], dim=-1)


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
    number, chunks = min(number, width * size), size // CHUNK
    if width * chunks < 2 * number:
        best, places = (log_probabilities + scores[..., None]).flatten(1).topk(number, dim=1)
        return Candidates(best, places // size, places % size)
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
    return Candidates(best, places // size, places % size)


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
