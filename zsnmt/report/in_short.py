"""Tables of at most seven columns, for documents that are read on a screen: the main figures, and where all
of them are.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from zsnmt.errors import InputError
from zsnmt.files.project import RESULTS
from zsnmt.languages import ZERO_RESOURCE
from zsnmt.report.adaptation import new_language_table
from zsnmt.report.brief_table import brief_cells
from zsnmt.report.candidates import (
    CANDIDATES,
    CONTINUED_TWICE,
    FIRST_TEXT,
    REAL_TEXT,
    SHOWN,
    has_scores,
    kept_runs,
    with_seeds_of,
)
from zsnmt.report.documents import KEEP_AGAIN, Maker, comparable_probes, kept_scores
from zsnmt.report.marks import marked
from zsnmt.report.probes.findings import LANGUAGE, POSITION, SVCCA, TOKEN
from zsnmt.report.probes.tables import output_table
from zsnmt.report.scores import seeds
from zsnmt.report.studies.clip_distance import clip_distance_table
from zsnmt.report.studies.distillation import distillation_table, remedies_table
from zsnmt.report.studies.encodings import encodings_table
from zsnmt.report.studies.grid import main_effects_table
from zsnmt.report.systems import systems_table
from zsnmt.report.table import Cell, Measured, Table, join_sentences, markdown_rows, spread_note
from zsnmt.runs.scores import Scores

BLEU = "BLEU, means over directions"
OFF_TARGET = "off-target: share of outputs in another language than asked for"
SYSTEM_ROW = ["system", "with English", "others, directly", "others, through English", "wrong language"]
ABOUT_SYSTEMS = (
    f"{BLEU} with English, which were trained, and over the others; through English: "
    "twice by the same system; wrong language: of the direct ones."
)


def short_table(table: Table, columns: Sequence[str], about: str, page: str) -> str:
    """Some columns of a table, what they hold, and where the rest is: on the `page` of that name, if any."""
    shown = table.only(columns)
    link = f"Everything: [{RESULTS}/{page}.md]({RESULTS}/{page}.md)." if page else ""
    return f"{markdown_rows(shown)}\n\n{join_sentences([about, spread_note([shown]), link])}"


def maker(
    make: Callable[[Sequence[Scores]], Table | None],
    columns: Sequence[str],
    about: str,
    *,
    linked: bool = True,
) -> Maker:
    """What makes a block of some columns of a table of kept scores; `linked` as from RESULTS.md."""

    def block(folder: Path, config: str) -> str:
        scores = kept_scores(folder, config)
        if (table := make(scores)) is None:
            raise InputError(f"the kept runs of {config} have no such table; {KEEP_AGAIN}")
        return short_table(marked(table, scores), columns, about, page=config if linked else "")

    return block


def probes(folder: Path, config: str) -> str:
    """What probes found in the encoder output."""
    found, note = comparable_probes(folder, config)
    titles, rows = output_table(found, (TOKEN, POSITION, LANGUAGE, SVCCA))
    about = (
        "Accuracy of linear classifiers on the encoder output, and the likeness of languages there (SVCCA)."
    )
    table = Table("probes", "", titles, rows=rows, about="")
    return short_table(table, titles, join_sentences([about, note]), page=config)


def what_to_use(folder: Path, _: str) -> str:
    """Systems to choose from on real text: their quality on the directions of training, and on all others
    directly and through the pivot, both by the system itself; each system over the seeds that the last one
    of the text has.
    """
    rows = []
    for config in filter(partial(has_scores, folder), SHOWN):
        runs = kept_runs(folder, config, SHOWN[config])
        rows += [
            [f"[{REAL_TEXT[config]}]({RESULTS}/{config}.md)", seeds(of_system), *system_row(of_system)]
            for of_system in with_seeds_of(runs[-1].system, runs).values()
        ]
    table = Table("what_to_use", "What to use", ["text", "seeds", *SYSTEM_ROW], rows=rows, about="")
    of_seeds = "Of each text the seeds that its last system has; its page names the runs."
    return with_notes(table, of_seeds)


def zero_shot_table(scores: Sequence[Scores]) -> Table | None:
    """The systems that learned no direction from synthetic text, if there are any."""
    return systems_table([each for each in scores if not each.select(ZERO_RESOURCE)])


def what_to_use_first(folder: Path, _: str) -> str:
    """The same on one text, without intervals, each system over the seeds of the last one."""
    systems = [system for system in SHOWN[FIRST_TEXT] if system != CONTINUED_TWICE]  # a row that RESULTS has
    runs = kept_runs(folder, FIRST_TEXT, systems)
    by_system = with_seeds_of(runs[-1].system, runs)
    rows = [[*map(without_interval, system_row(of_system))] for of_system in by_system.values()]
    table = Table("what_to_use_first", "What to use", SYSTEM_ROW, rows=rows, about="")
    of_last = sorted(scores.seed for scores in by_system[runs[-1].system])
    of_seeds = f"Each system: seeds {', '.join(map(str, of_last))}."
    return with_notes(table, of_seeds)


def with_notes(table: Table, of_seeds: str) -> str:
    """A table of systems in Markdown, and what its figures are."""
    lacks = "–: not measured." if any(cell is None for row in table.rows for cell in row) else ""
    notes = [ABOUT_SYSTEMS, of_seeds, lacks, spread_note([table])]
    return f"{markdown_rows(table)}\n\n{join_sentences(notes)}"


def without_interval(cell: Cell) -> Cell:
    """The figure with its deviation alone."""
    return replace(cell, interval=None) if isinstance(cell, Measured) else cell


def system_row(runs: Sequence[Scores]) -> list[Cell]:
    """A system in words and its figures; of one that learned the others from synthetic text, that is said."""
    said = CANDIDATES[runs[0].system] + (" (zero-resource)" if runs[0].select(ZERO_RESOURCE) else "")
    return [said, *brief_cells(runs)]


MAKERS: dict[str, Maker] = {
    "what_to_use": what_to_use,
    "what_to_use_first": what_to_use_first,
    ":systems_short": maker(
        zero_shot_table,
        ["system", "seeds", "supervised", "zero-shot", "through pivot", "off-target"],
        f"{BLEU}; {OFF_TARGET}.",
    ),
    ":new_language_short": maker(
        new_language_table,
        ["system", "mode", "new → pivot", "pivot → new", "new → old", "old → new"],
        f"{BLEU}; mode full: all was trained, frozen: nothing that old directions use.",
    ),
    ":encodings_short": maker(
        encodings_table,
        [
            "encoding",
            "seeds",
            "baseline supervised",
            "residual supervised",
            "baseline zero-shot",
            "residual zero-shot",
        ],
        f"{BLEU}, with the residual and without.",
    ),
    ":main_effects_short": maker(
        main_effects_table,
        [
            *("effect", "zero-shot BLEU", "off-target to the pivot", "chrF++ on target"),
            *("chrF++ into the pivot", "chrF++ out of the pivot"),
        ],
        "What each changes on average: norm from pre to post, the tag from the decoder to the encoder (tags) "
        "or also to the upper encoder (LCS), the residual removed; mask and contrasts at translation time; "
        "the others in a second stage. In brackets 95 % intervals over seeds and directions.",
    ),
    ":distillation_short": maker(
        distillation_table,
        ["teacher", "student learns", "supervised", "others, directly", "off-target"],
        "BLEU; others: directions without the pivot. The first row of each teacher is its own.",
        linked=False,
    ),
    ":remedies_short": maker(
        remedies_table,
        ["system", "trained further with", "supervised", "others, directly", "off-target"],
        "BLEU; others: directions without the pivot. The first row of each system is its own.",
        linked=False,
    ),
    ":clip_distance_short": maker(
        clip_distance_table, ["k", "system", "seeds", "en-de", "published"], "BLEU; k: the clipping distance."
    ),
    ":probes_short": probes,
}
