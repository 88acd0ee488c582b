"""The scores of a run, from which every table is made; `zsnmt.runs.score_file` keeps them.

A result is of a direction. Its *kind* says what the direction is to the model (`zsnmt.languages.kind_of`),
its *way* says how it was decoded. The two are independent: a zero-shot direction may be decoded directly,
through the pivot, and in any other way.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

from zsnmt.languages import KINDS, Direction
from zsnmt.runs.ways import DIRECT, OF_PIVOT, OWN_PIVOT, PIVOT, Way

Shares = Mapping[str, float]
NO_SEED = -1  # in the place of a seed, of a system of another toolkit of which none is known


class Uncertainty(NamedTuple):
    """What resampling the test lines says of figures: 95 % intervals, and the resamples as text (see
    `zsnmt.scoring.bootstrap`).
    """

    intervals: Mapping[str, Sequence[float]] = {}
    resampled: Mapping[str, str] = {}


@dataclass(frozen=True)
class Result:
    """The figures of a direction of some kind, decoded in some way; `zsnmt.scoring.figures` says what the
    figures are.

    `identified`: the share (0–1) of each language among the outputs.
    """

    direction: Direction
    kind: str
    way: Way
    figures: Mapping[str, float]
    identified: Shares = field(default_factory=dict)
    uncertainty: Uncertainty = Uncertainty()


@dataclass(frozen=True, kw_only=True)
class Scores:
    """What a score file says of a run: what the run is, how it was decoded and scored, and its results.

    What older score files lack is empty or None. `means`: intervals and resamples of the means over the
    directions of a kind in a way. An adapted run names the run that it goes on from, `adapted_from`, and has
    its results as `before`, with the share of translations that are `unchanged`. `others` is what no table
    reads.
    """

    config: str
    system: str
    seed: int
    command: str = "unknown"
    commit: str = "unknown"
    versions: Mapping[str, str] = field(default_factory=dict)
    text: str | None = None
    training_text: str | None = None  # a checksum of the text that it was trained on, all pairs together
    overlap: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    adapted_from: Mapping | None = None
    training: str | None = None
    made_elsewhere: bool | None = None  # whether another toolkit translated, in a way that is not known here
    chosen_on: Sequence[str] | None = None  # zero-shot directions whose validation text chose checkpoints
    pivot_by: str | None = None  # the run that translates through the pivot, where it is another
    languages: Sequence[str]
    pivot: str
    families: Mapping[str, str] = field(default_factory=dict)  # of languages, beyond those that are known
    word_orders: Mapping[str, str] = field(default_factory=dict)
    decoding: Mapping[str, Any] = field(default_factory=dict)
    test_set: str | None = None  # a checksum: scores with the same one can be compared line by line
    signatures: Mapping[str, str]
    scripts: Mapping[str, str] = field(default_factory=dict)  # in which languages are written
    others: Mapping[str, object] = field(default_factory=dict)
    results: Sequence[Result]
    before: Sequence[Result] = field(default_factory=list)
    means: Mapping[tuple[str, Way], Uncertainty] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """System and seed."""
        return f"{self.system} seed {self.seed}" if self.has_seed else self.system

    @property
    def has_seed(self) -> bool:
        """Whether its seed is known: it may be of another toolkit."""
        return not (self.made_elsewhere and self.seed == NO_SEED)

    def select(self, kind: str, way: Way = DIRECT) -> Mapping[Direction, Result]:
        """The results of the directions of a kind that were decoded in a way."""
        return self._groups.get((kind, way), {})

    @cached_property
    def groups(self) -> list[tuple[str, Way]]:
        """The kinds and ways of its results, in the order of `order_groups`."""
        return order_groups(self._groups)

    @cached_property
    def kinds(self) -> dict[Direction, str]:
        """What each direction is to the run."""
        return {result.direction: result.kind for result in reversed(self.results)}

    @cached_property
    def _groups(self) -> dict[tuple[str, Way], dict[Direction, Result]]:
        groups: dict[tuple[str, Way], dict[Direction, Result]] = {}
        for result in self.results:
            groups.setdefault((result.kind, result.way), {})[result.direction] = result
        return groups

    @cached_property
    def base(self) -> "Scores":
        """The run before its adaptation, as far as this score file knows it."""
        return replace(self, results=self.before, before=[], means={}, adapted_from=None)


def order_groups(groups: Iterable[tuple[str, Way]]) -> list[tuple[str, Way]]:
    """Kinds and ways as tables list them, each once: by kind, direct ones first, then those through the
    pivot, others as they come.
    """
    known = {DIRECT: 0, PIVOT: 1}
    return sorted(
        dict.fromkeys(groups), key=lambda group: (KINDS.index(group[0]), known.get(group[1], len(known)))
    )


def with_ways_of(kept: Scores, scores: Scores) -> Scores:
    """Scores with those results of earlier ones that are of ways which they lack, such as masks; as they are
    where the earlier ones are of another model, search or test set. What goes through the pivot is kept only
    where the pivot is the same.
    """
    if any(made_with(kept)[name] != value for name, value in made_with(scores).items()):
        return scores
    ways = {result.way for result in scores.results}
    ways |= {PIVOT} if kept.decoding != scores.decoding else set()
    ways |= set() if scores.pivot_by else {OWN_PIVOT}  # where that is the pivot
    results, before = (
        [*now, *(result for result in earlier if result.way not in ways)]
        for now, earlier in ((scores.results, kept.results), (scores.before, kept.before))
    )
    means = {group: mean for group, mean in kept.means.items() if group[1] not in ways}
    return replace(scores, results=results, before=before, means={**means, **scores.means})


def ways_lost(kept: Scores, together: Scores) -> list[Way]:
    """The ways in which earlier scores have results and what `with_ways_of` made of them has none."""
    there = {result.way for result in together.results} | (set() if together.pivot_by else {OWN_PIVOT})
    return list(dict.fromkeys(result.way for result in kept.results if result.way not in there))


def made_with(scores: Scores) -> dict[str, object]:
    """What the results of every way but the pivot depend on: how lines were decoded, which, and how they were
    measured.
    """
    decoding = {name: value for name, value in scores.decoding.items() if name not in OF_PIVOT}
    return {"decoding": decoding, "test_set": scores.test_set, "signatures": scores.signatures}
