"""The figures that a score file has of a direction: how each is shown, which way is better, and which tables
have it.

A new figure is declared here and measured in `zsnmt.scoring.metrics`; tables, page and tests of significance
take it from here.
"""

from typing import NamedTuple

HIGHER, LOWER = "higher", "lower"
# Which tables show a figure: all of them, those of systems and directions, or those of directions (and direct
# translation alone).
ALL, ROOMY, DIRECTIONS = "all", "roomy", "directions"


class Form(NamedTuple):
    """How a figure of a score file is shown: multiplied by `factor`, with so many digits, then the unit."""

    title: str
    factor: float = 1
    digits: int = 1
    unit: str = ""


class Figure(NamedTuple):
    """A figure of a direction.

    `better`: whether a higher or a lower value is better, None for neither. `top`: a figure with one lies
    between 0 and it and is resampled for intervals and p-values. `shown`: which tables have it; none for
    None. `of_supervised`: whether tables of means show it of supervised directions too.
    """

    form: Form
    better: str | None
    top: float | None = None
    shown: str | None = DIRECTIONS
    of_supervised: bool = True


FIGURES = {  # the first is the one that tables show without its name
    "bleu": Figure(Form("BLEU"), HIGHER, 100, shown=ALL),
    "chrf": Figure(Form("chrF++"), HIGHER, 100, shown=ROOMY),
    "off_target": Figure(Form("off-target", 100, 1, unit=" %"), LOWER, 1, shown=ALL, of_supervised=False),
    "comet": Figure(Form("COMET", 1, 3), HIGHER, None, shown=ROOMY),
    "chrf_on_target": Figure(Form("chrF++ on target"), HIGHER),  # of the outputs in the target language alone
    "length_ratio": Figure(Form("length ratio", 1, 2), None),
    "copied": Figure(Form("copied", 100, 1, unit=" %"), LOWER),
    "empty": Figure(Form("empty", 1, 0), LOWER),
    "cost": Figure(Form("cost", 1, 1, unit=" ×"), LOWER, None, shown=ROOMY),  # over the direct one's
    "seconds": Figure(Form("seconds", 1, 1, unit=" s"), LOWER),  # of processors
    "reference_error": Figure(Form("identifier's error", 100, 1, unit=" %"), LOWER),
    # Since before an adaptation.
    "unchanged": Figure(Form("outputs unchanged", 100, 1, unit=" %"), None, shown=None),
}
MAIN = next(iter(FIGURES))


def ranges() -> dict[str, float]:
    """The tops of the figures that are resampled, by name."""
    return {name: figure.top for name, figure in FIGURES.items() if figure.top is not None}


def figures_shown_in(*tables: str) -> list[str]:
    """The figures that some sorts of tables show, by sort."""
    return [name for table in tables for name, figure in FIGURES.items() if figure.shown == table]
