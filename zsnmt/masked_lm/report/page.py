"""The report of the masked-LM study of position encodings: tables and figures as files, and one HTML page
that needs nothing else.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from markupsafe import Markup

from zsnmt.masked_lm.report.figures import Drawing, figures_of
from zsnmt.masked_lm.report.papers import TABLES
from zsnmt.masked_lm.report.runs import LABELS, condition_label, conditions_of
from zsnmt.masked_lm.report.tables import ENCODINGS_TABLE, tables
from zsnmt.masked_lm.report.text_tables import mark_best, markdown_of, text_of
from zsnmt.masked_lm.score_file import MaskedLM
from zsnmt.report.figures import png, svg
from zsnmt.report.html import inline_figures, templates, write
from zsnmt.report.table import Table, tsv

TEMPLATES = templates(Path(__file__).parent)
PAGE_FILE = "masked_lm.html"
FORMATS = {"txt": lambda table: text_of(table) + "\n", "md": markdown_of, "tsv": tsv}
BARS = "The mean, the deviation over the seeds, and the seeds as dots. Less is better but for the ML score."
ABOUT = {  # how to read each figure
    "trade_off": "Up is more multilingual, left is the better model of English. Large marks: the mean, with "
    "the deviation over the seeds in both directions; faint ones: the seeds.",
    "across_conditions": "The mean and the deviation over the seeds in each condition. Perplexities do not "
    "begin at zero.",
    "curves": "A value of the table at each position (of relative encodings, at each offset), a scale a "
    "column. Sinusoids are waves; a learned table that is like them has waves too.",
    "procrustes_losses": "How badly one rotation takes all positions to those an offset further: lower is "
    "more compositional. Sinusoids are so by design: their loss is as low as tables of this size allow. The "
    "line is the mean over the seeds, the band holds all of them.",
    "word_positions": "How a word (down) as query meets a position (across) as key in the first layer, on "
    "one scale for all conditions. Vertical bands: many words turn to the same positions.",
    "ablation_bars_same": BARS,
    "ablation_bars_reordered": BARS,
}


def page(runs: Sequence[MaskedLM], drawn: Sequence[Drawing]) -> str:
    """The HTML page of runs in order, with their figures."""
    made = tables(runs).values()
    systems = [label for system, label in LABELS.items() if any(run.system == system for run in runs)]
    return TEMPLATES.get_template("page.html.jinja").render(
        title=f"{runs[0].config}: position encodings of masked language models",
        lead=f"{', '.join(systems)}; {', '.join(map(condition_label, conditions_of(runs)))}.",
        first=[
            mark_best(table, Markup("<strong>{}</strong>"))
            for table in made
            if table.name.startswith(ENCODINGS_TABLE)
        ],
        others=[
            *filter(None, [TABLES["ravishankar_table_4"].compare_with_published(runs)]),
            *(table for table in made if not table.name.startswith(ENCODINGS_TABLE)),
        ],
        figures=inline_figures(drawn),
        about=ABOUT,
    )


def write_report(folder: Path, runs: Sequence[MaskedLM]) -> list[Path]:
    """Write the page, tables (txt, md, tsv) and figures (png, svg) into a folder, whose other files stay."""
    drawn = figures_of(runs)
    contents = {PAGE_FILE: page(runs, drawn).encode("utf-8"), **dict(files_beside(runs, drawn))}
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        write(folder / name, content)
    return [folder / name for name in contents]


def write_tables(folder: Path, made: Iterable[Table]) -> list[Path]:
    """Write tables into a folder in every format; returns the files."""
    contents = {folder / name: content for table in made for name, content in files_of(table)}
    for path, content in contents.items():
        write(path, content)
    return [*contents]


def files_of(table: Table) -> Iterator[tuple[str, bytes]]:
    """Name and content of each file of a table."""
    for ending, form in FORMATS.items():
        yield f"{table.name}.{ending}", form(table).encode("utf-8")


def files_beside(runs: Sequence[MaskedLM], drawn: Sequence[Drawing]) -> Iterator[tuple[str, bytes]]:
    """Name and content of each file beside the page."""
    for table in tables(runs).values():
        yield from files_of(table)
    for name, title, figure in drawn:
        yield f"{name}.png", png(figure)
        yield f"{name}.svg", svg(figure, title)
