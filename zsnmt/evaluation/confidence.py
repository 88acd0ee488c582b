"""How well the confidence of direct translations ranks them by their quality, sentence chrF against the
references.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
from tqdm import tqdm

from zsnmt.decoding.options import EngineChoice
from zsnmt.decoding.search import Search
from zsnmt.errors import InputError
from zsnmt.evaluation.hypotheses import Pair
from zsnmt.evaluation.models import Model, describe_search
from zsnmt.evaluation.settings import TextChoice
from zsnmt.evaluation.text import read_text
from zsnmt.files.checksums import checksum_of
from zsnmt.inference.confidence import agreement_score, chrf, other_way, scored_lines
from zsnmt.inference.translation import AGREEMENT, DIGITS, Legs
from zsnmt.inference.translator import Translator
from zsnmt.languages import Direction
from zsnmt.processes import Progress, unheard
from zsnmt.runs.folder import commit, kinds, versions
from zsnmt.scoring.bootstrap import SAMPLES, interval, signature
from zsnmt.scoring.ranking import resampled_spearman, spearman

LOWEST = -math.inf  # the figure of a line of which the model says nothing, as of an invisible character
RUN_KEYS = ("config", "system", "seed")


class Ranking(NamedTuple):
    """Spearman's correlation of a figure with the quality, and its resamples."""

    correlation: float
    resampled: np.ndarray

    def to_json(self) -> dict[str, Any]:
        """The correlation and its 95 % interval."""
        return {
            "spearman": round(self.correlation, 4),
            "interval": [round(min(1, max(-1, end)), 4) for end in interval(self.resampled)],
        }


class Measured(NamedTuple):
    """What is measured of a direction: how many lines, their mean quality, and the ranking by each figure."""

    direction: Direction
    kind: str
    lines: int
    quality: float
    rankings: Mapping[str, Ranking]

    def to_json(self) -> dict[str, Any]:
        """A row of the record."""
        rankings = {name: ranking.to_json() for name, ranking in self.rankings.items()}
        return {
            "direction": str(self.direction),
            "kind": self.kind,
            "lines": self.lines,
            "chrf": round(self.quality, 2),
            **rankings,
        }


def measure_confidence(
    run: Path, text: TextChoice, *, search: Search, engine: EngineChoice
) -> dict[str, Any]:
    """The record of a run or an export on a split of text; `InputError` for a direction of a single line."""
    model = Model(run)
    translator = model.load(search, engine)
    scored = read_text(text, text.text or Path(model.record["text"]), translator)
    if single := [str(direction) for direction, (sources, _) in scored.pairs.items() if len(sources) < 2]:
        raise InputError(
            f"{', '.join(single)}: of a single line nothing is ranked; measure two lines or more, a hundred "
            "for an interval that says something"
        )
    kind = kinds(model.record, translator.trained)
    rows = []
    with tqdm(total=sum(len(sources) for sources, _ in scored.pairs.values()), disable=None) as bar:
        for direction, pair in scored.pairs.items():
            rows.append(
                measure_direction(translator, direction, kind(direction), pair=pair, finished=bar.update)
            )
    lines = {"lines": text.lines} if text.lines else {}
    return {
        **{name: model.record[name] for name in RUN_KEYS},
        "commit": commit(),
        "versions": versions(),
        "decoding": {
            "model": model.checksum,
            **describe_search(search),
            **({"engine": translator.signature} if translator.signature else {}),
            "split": text.split,
            **lines,
        },
        "test_set": checksum_of(scored.pairs),
        "signatures": {"chrf": str(chrf().get_signature()), "intervals": signature()},
        "directions": [row.to_json() for row in rows],
        "means": means(rows),
    }


def measure_direction(
    translator: Translator, direction: Direction, kind: str, *, pair: Pair, finished: Progress = unheard
) -> Measured:
    """How the figures of a direction's translations rank them; without the pivot's, where it is an end. A
    line without a figure ranks lowest.
    """
    sources, references = pair
    legs = Legs(*direction)
    compared = other_way(translator, legs) is not None
    found = scored_lines(translator, sources, legs, agreement=compared, finished=finished)
    quality = [
        agreement_score(each.text, reference) or 0.0
        for each, reference in zip(found, references, strict=True)
    ]
    rankings = {}
    for name in DIGITS:
        if compared or name != AGREEMENT:
            known = [getattr(each, name) for each in found]
            figures = [LOWEST if figure is None else figure for figure in known]
            rankings[name] = Ranking(
                spearman(figures, quality), resampled_spearman(figures, quality, SAMPLES)
            )
    return Measured(direction, kind, len(sources), quality=fmean(quality), rankings=rankings)


def means(rows: Sequence[Measured]) -> list[dict[str, Any]]:
    """The plain means over the directions of each kind, resampled together."""
    kinds: dict[str, list[Measured]] = {}
    for row in rows:
        kinds.setdefault(row.kind, []).append(row)
    return [
        {
            "kind": kind,
            "directions": len(members),
            "chrf": round(fmean(row.quality for row in members), 2),
            **{
                name: mean_ranking([row.rankings[name] for row in members]).to_json()
                for name in DIGITS
                if all(name in row.rankings for row in members)
            },
        }
        for kind, members in kinds.items()
    ]


def mean_ranking(rankings: Sequence[Ranking]) -> Ranking:
    """The mean of several, and of their resamples."""
    return Ranking(
        fmean(ranking.correlation for ranking in rankings),
        np.mean([ranking.resampled for ranking in rankings], axis=0),
    )
