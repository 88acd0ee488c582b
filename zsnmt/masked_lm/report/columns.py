"""The figures of a run of the masked-LM study, as columns of its tables."""

from collections.abc import Callable, Sequence
from statistics import fmean, median
from typing import NamedTuple

from zsnmt.analysis.position_encodings import peak_share
from zsnmt.masked_lm.report.runs import NONE
from zsnmt.report.table import Measured, complete, seed_cell

RunFigure = Callable[[dict], float | None]


class Column(NamedTuple):
    """A figure of a run: its title, its form, where it is found, and whether less of it is better."""

    title: str
    figure: str
    of: RunFigure
    lower: bool = False

    def mean(self, of_seeds: Sequence[Sequence[dict]]) -> Measured | None:
        """The mean over the conditions of each seed, then over the seeds; None where a run has none."""
        values = [complete([self.of(run) for run in of_seed]) for of_seed in of_seeds]
        return seed_cell(self.figure, [None if of_seed is None else fmean(of_seed) for of_seed in values])


def perplexity(part: str) -> RunFigure:
    """The perplexity of both languages (full) or the first."""
    return lambda run: run["perplexity"][part]


def layer_accuracy(measure: str, layer: str) -> RunFigure:
    """How often, 0–1, the nearest one is the right one in a layer, the mean of both directions."""
    return lambda run: run[measure] and run[measure][layer]["mean"]


def waves(run: dict) -> float | None:
    """The mean over the drawn dimensions of what `peak_share` says of how far one is a wave, 0–1; None of
    runs without a table, or kept before its curves were.
    """
    return run["curves"] and float(peak_share(run["curves"]["values"]).mean())


def median_loss(run: dict) -> float | None:
    """The median over the offsets of the median Procrustes loss, which is relative: 0 is none."""
    return run["procrustes"] and median(run["procrustes"]["median"])


def median_keys_loss(run: dict) -> float | None:
    """The same of positions as keys."""
    keys = run.get("procrustes_keys")
    return keys and median(keys["median"])


def undivided_loss(run: dict) -> float | None:
    """The mean over the offsets of the mean loss that is not divided; None where it was not kept."""
    losses = run["procrustes"] and run["procrustes"].get("undivided")
    return losses and fmean(losses)


FULL, FIRST = (
    Column("perplexity, full", "perplexity", perplexity("full"), lower=True),
    Column("perplexity, L1", "perplexity", perplexity("first"), lower=True),
)
ML_SCORE = Column("ML score", "ml_score", lambda run: run["ml_score"])
BANDS = Column("bands", "bands", lambda run: run.get("bands") and run["bands"]["positions"])
WAVES = Column("waves", "bands", waves)
MEDIAN_LOSS = Column("median Procrustes loss", "procrustes", median_loss, lower=True)
KEYS_LOSS = Column("median loss of p·W^K", "procrustes", median_keys_loss, lower=True)
UNDIVIDED = Column("mean loss, undivided", "procrustes", undivided_loss, lower=True)


def columns(runs: Sequence[dict]) -> list[Column]:
    """The columns of Table 4: those of perplexity and, with two languages, those of every layer that was
    scored.
    """
    bilingual = next((run for run in runs if run["condition"] != NONE), None)
    if bilingual is None:
        return [FULL, FIRST]
    measures = [
        Column(f"{measure}, layer {layer}", measure, layer_accuracy(measure, layer))
        for measure in ("retrieval", "translation")
        for layer in sorted(bilingual[measure], key=int)
    ]
    return [FULL, FIRST, *measures, ML_SCORE]
