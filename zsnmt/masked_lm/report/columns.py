"""The figures of a run of the masked-LM study, as columns of its tables."""

from collections.abc import Callable, Sequence
from statistics import fmean, median
from typing import NamedTuple

from zsnmt.analysis.position_encodings import peak_share
from zsnmt.masked_lm.report.runs import NONE
from zsnmt.masked_lm.score_file import Losses, MaskedLM
from zsnmt.report.table import Measured, complete, seed_cell

RunFigure = Callable[[MaskedLM], float | None]


class Column(NamedTuple):
    """A figure of a run: its title, its form, where it is found, and whether less of it is better."""

    title: str
    figure: str
    of: RunFigure
    lower: bool = False

    def mean(self, of_seeds: Sequence[Sequence[MaskedLM]]) -> Measured | None:
        """The mean over the conditions of each seed, then over the seeds; None where a run has none."""
        values = [complete([self.of(run) for run in of_seed]) for of_seed in of_seeds]
        return seed_cell(self.figure, [None if of_seed is None else fmean(of_seed) for of_seed in values])


def layer_accuracy(measure: str, layer: str) -> RunFigure:
    """How often, 0–1, the nearest one is the right one in a layer, the mean of both directions."""
    return lambda run: run.accuracy[measure].get(layer)


def waves(run: MaskedLM) -> float | None:
    """The mean over the drawn dimensions of what `peak_share` says of how far one is a wave, 0–1; None of
    runs without a table, or kept before its curves were.
    """
    return run.curves and float(peak_share(run.curves.values).mean())


def overall(losses: Losses | None) -> float | None:
    """The median over the offsets of the median Procrustes loss, which is relative: 0 is none."""
    return losses and median(losses.median)


def undivided(losses: Losses | None) -> float | None:
    """The mean over the offsets of the mean loss that is not divided; None where it was not kept."""
    return fmean(losses.undivided) if losses and losses.undivided else None


FULL, FIRST = (
    Column("perplexity, full", "perplexity", lambda run: run.perplexity.full, lower=True),
    Column("perplexity, L1", "perplexity", lambda run: run.perplexity.first, lower=True),
)
ML_SCORE = Column("ML score", "ml_score", lambda run: run.ml_score)
BANDS = Column("bands", "bands", lambda run: run.bands)
WAVES = Column("waves", "bands", waves)
MEDIAN_LOSS = Column("median Procrustes loss", "procrustes", lambda run: overall(run.procrustes), lower=True)
KEYS_LOSS = Column("median loss of p·W^K", "procrustes", lambda run: overall(run.procrustes_keys), lower=True)
UNDIVIDED = Column("mean loss, undivided", "procrustes", lambda run: undivided(run.procrustes), lower=True)


def columns(runs: Sequence[MaskedLM]) -> list[Column]:
    """The columns of Table 4: those of perplexity and, with two languages, those of every layer that was
    scored.
    """
    bilingual = next((run for run in runs if run.condition != NONE), None)
    if bilingual is None:
        return [FULL, FIRST]
    measures = [
        Column(f"{measure}, layer {layer}", measure, layer_accuracy(measure, layer))
        for measure, layers in bilingual.accuracy.items()
        for layer in sorted(layers, key=int)
    ]
    return [FULL, FIRST, *measures, ML_SCORE]
