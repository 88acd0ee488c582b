"""How far the positions of masked language models are from compositional, as a table."""

from collections.abc import Sequence
from statistics import fmean, median

from zsnmt.analysis.procrustes import wilcoxon
from zsnmt.masked_lm.report.columns import BANDS, KEYS_LOSS, MEDIAN_LOSS, UNDIVIDED
from zsnmt.masked_lm.report.runs import LABELS, NONE, common_training, condition_label, conditions_of, runs_of
from zsnmt.masked_lm.score_file import Losses, MaskedLM
from zsnmt.report.scores import seeds
from zsnmt.report.table import Cell, Table, seed_cell


def procrustes_table(runs: Sequence[MaskedLM]) -> Table | None:
    """How far each table of positions is from compositional, with tests of the differences; None where
    none was measured.
    """
    losses = {
        (condition, system): median_by_offset(of_system)
        for condition in conditions_of(runs)
        for system in LABELS
        if (of_system := losses_of(runs_of(runs, system, condition)))
    }
    if not losses:
        return None

    def row(condition: str, system: str, of_pair: Sequence[float]) -> list[Cell]:
        measured = runs_with_losses(runs_of(runs, system, condition))
        of_run = [[run] for run in measured]
        untied = losses.get((condition, "tupe_absolute")) if system != "tupe_absolute" else None
        return [
            condition_label(condition),
            LABELS[system],
            seeds(measured),
            seed_cell("procrustes", [fmean(each.mean) for each in losses_of(measured)]),
            *(figure.mean(of_run) for figure in (MEDIAN_LOSS, UNDIVIDED, KEYS_LOSS, BANDS)),
            p_value(of_pair, losses.get((NONE, system)) if condition != NONE else None),
            p_value(of_pair, untied),
        ]

    titles = [
        "condition",
        "encoding",
        "seeds",
        "mean loss",
        "median loss",
        UNDIVIDED.title,
        KEYS_LOSS.title,
        "bands",
        "p against EN alone",
        "p against TUPE (absolute)",
    ]
    return Table(
        "procrustes",
        "Positions: Procrustes loss and bands",
        titles,
        rows=[row(*pair, of_pair) for pair, of_pair in losses.items()],
        about=note_on(losses_of(runs)),
        headers=2,
        signatures=common_training(runs),
    )


def note_on(losses: Sequence[Losses]) -> str:
    """What the columns are, of losses of runs."""
    offsets = max((each.offsets for each in losses), key=len)
    noise = median(each.noise for each in losses if each.noise is not None)
    more = (
        " Undivided: as the paper prints it; it grows with the vectors, so it compares within an encoding. "
        "p·W^K: positions as keys of the first layer. Of relative encodings the table is over offsets, the "
        "first layer's."
        if any(each.undivided for each in losses)
        else ""
    )
    return (
        f"Relative loss of one rotation from positions to those k further, over k = {offsets[0]} to "
        f"{offsets[-1]}: 0 where it holds everywhere; independent vectors have a median of about "
        f"{noise:.2f}, and sinusoids say how low it is measured on tables of this size. Bands: the share of "
        "the variance of word–position correlations that positions explain, whatever the word; chance is "
        "one part in as many as there are words. p: two-sided Wilcoxon signed-rank test of the median "
        "losses, means over the seeds, paired by k: whether two curves differ, not whether those of other "
        f"seeds would.{more}"
    )


def runs_with_losses(runs: Sequence[MaskedLM]) -> list[MaskedLM]:
    """The runs whose Procrustes loss was measured."""
    return [run for run in runs if run.procrustes]


def losses_of(runs: Sequence[MaskedLM]) -> list[Losses]:
    """The Procrustes losses of the runs that have some."""
    return [run.procrustes for run in runs if run.procrustes]


def median_by_offset(losses: Sequence[Losses]) -> list[float]:
    """The median Procrustes loss by offset, the mean over the seeds."""
    return [fmean(of_offset) for of_offset in zip(*(each.median for each in losses))]


def p_value(losses: Sequence[float], others: Sequence[float] | None) -> str | None:
    """That of the two-sided Wilcoxon signed-rank test; None without others at the same offsets."""
    if others is None or len(others) != len(losses):
        return None
    # a fixed table is the same in every condition
    return f"{1.0 if losses == others else wilcoxon(losses, others):.2g}"
