"""The report: one HTML page that needs nothing else, and its tables and figures as files beside it."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean

from matplotlib.figure import Figure

from zsnmt.languages import (
    FEW_SHOT,
    KINDS,
    SUPERVISED,
    UNKNOWN,
    ZERO_RESOURCE,
    ZERO_SHOT,
    Direction,
    kind_name,
)
from zsnmt.report import figures, scatters
from zsnmt.report.comparability import not_supervised
from zsnmt.report.examples import MOST, Example, examples
from zsnmt.report.finding import finding
from zsnmt.report.formats import EXAMPLES, EXAMPLES_SEED, TABLE_FORMATS
from zsnmt.report.html import drawn_maps, inline_figures, templates, write
from zsnmt.report.marks import marked
from zsnmt.report.notes import signature_note
from zsnmt.report.papers.tables import beside_papers
from zsnmt.report.pivot_drawing import comparison_figures
from zsnmt.report.plotted import HeatMap, direction_figures, heat_maps, log_curves
from zsnmt.report.probes.figures import confusion_maps, probe_figures
from zsnmt.report.probes.folder import comparable, has_probes, probes_of
from zsnmt.report.probes.tables import details, headlines
from zsnmt.report.scores import Run, all_directions, groups_of, runs_by_system, ways_of, words
from zsnmt.report.studies.grid import remedy_gains
from zsnmt.report.systems import tables
from zsnmt.report.table import tsv
from zsnmt.report.validation import curves_table, training_figures, validation_table
from zsnmt.runs.scores import Scores
from zsnmt.runs.ways import DIRECT, OWN_PIVOT, PIVOT
from zsnmt.scoring.figures import MAIN

# Tables that have places of their own.
APART = ("direction_gains", "directions", "adaptation_directions", "runs")
EVERY_DIRECTION = "the table of every direction"
MOST_ROWS = 1000  # of a table of directions that is open when the page is
BY_EYE = 8  # rows of a table of systems that need no sorting
KIND_NOTES = {
    ZERO_RESOURCE: "zero-resource directions have synthetic text alone",
    FEW_SHOT: "few-shot directions have a few lines of it",
    ZERO_SHOT: "zero-shot directions have none",
    UNKNOWN: "of unknown ones the system is of another toolkit, and its training text is not known",
}
TEMPLATES = templates(Path(__file__).parent)


def write_page(
    output: Path,
    runs: Sequence[Run],
    *,
    number: int = EXAMPLES,
    seed: int = EXAMPLES_SEED,
    text: Path | None = None,
) -> None:
    """Write the page of runs that can be compared, with `number` examples of each direction, chosen by a
    seed. `text`: see `zsnmt.report.examples.examples`.
    """
    write(output, page(runs, examples(runs, number, seed, text=text), seed).encode("utf-8"))


def page(runs: Sequence[Run], shown: Mapping[Direction, Sequence[Example]], examples_seed: int) -> str:
    """The HTML page of runs that can be compared, with the examples that are `shown`, chosen by a seed."""
    all_scores = [run.scores for run in runs]
    return TEMPLATES.get_template("page.html.jinja").render(
        examples_seed=examples_seed,
        **heading(all_scores),
        **results(all_scores),
        **training(runs),
        **probes(runs),
        **sentences(all_scores, shown),
    )


def heading(all_scores: Sequence[Scores]) -> dict[str, object]:
    """What the page says of all its runs."""
    first, groups = all_scores[0], dict(groups_of(all_scores))
    through = {PIVOT, OWN_PIVOT} & {*ways_of(all_scores)}
    others = [kind_name(kind) for kind in KINDS if kind in groups and kind not in (SUPERVISED, UNKNOWN)]
    languages = (f"{each} (the pivot)" if each == first.pivot else each for each in first.languages)
    return dict(
        title=words(f"{first.config}:", " and ".join(others), "against pivot" if through else "")
        if others
        else first.config,
        finding=finding(all_scores),
        lead=f"Systems: {', '.join(runs_by_system(all_scores))}. Languages: {', '.join(languages)}.",
        pivot=first.pivot,
        others=others,
        through_pivot=bool(through),
        not_supervised=not_supervised(groups),
        kinds_note="; ".join(note for kind, note in KIND_NOTES.items() if kind in groups),
        signatures=signature_note(all_scores),
    )


def results(all_scores: Sequence[Scores]) -> dict[str, object]:
    """Scores: tables, those of the papers and drawings."""
    made = tables(all_scores)
    return dict(
        tables=made,
        most_rows=MOST_ROWS,
        by_eye=BY_EYE,
        summaries=[name for name in made if name not in APART],
        remedies=inline_figures(
            remedy_figures(all_scores), "the means of each system are in the table of systems"
        ),
        against_pivot=inline_figures(comparison_figures(all_scores), f"the numbers are in {EVERY_DIRECTION}"),
        heat_maps=drawn_maps(heat_maps(all_scores), EVERY_DIRECTION),
        kinds=kind_names(all_scores),
        bleu=mean_bleu(all_scores),
    )


def training(runs: Sequence[Run]) -> dict[str, object]:
    """How the runs were trained, and what their checkpoints were chosen by."""
    all_scores = [run.scores for run in runs]
    return dict(
        training=inline_figures(training_figures(runs), "the means are in the table below"),
        curves=curves_table(runs),
        from_logs=", ".join(f"{curve.system} seed {curve.seed}" for curve in log_curves(runs)),
        chosen=", ".join(scores.name for scores in all_scores if scores.chosen_on),
        learners=", ".join(
            system for system, of_system in runs_by_system(all_scores).items() if learned_more(of_system)
        ),
    )


def probes(runs: Sequence[Run]) -> dict[str, object]:
    """What the states of encoders say, and what the papers' probes and scores are beside them."""
    all_scores = [run.scores for run in runs]
    probed, otherwise = comparable(probes_of(runs))
    return dict(
        papers=beside_papers(all_scores, probed),
        probe_headlines=[marked(table, all_scores) for table in headlines(probed)],
        probe_details=[marked(table, all_scores) for table in details(probed)],
        probe_figures=inline_figures(
            probe_figures(probed, [*runs_by_system(all_scores)]),
            "the numbers are in the table of every layer below",
        ),
        confusions=drawn_maps(confusion_maps(probed), "a table below"),
        compared=any(any(one.similarities.values()) for one in probed),
        removing=any(one.record["removed_layers"] for one in probed),
        probed_otherwise=otherwise,
        unprobed=", ".join(run.scores.name for run in runs if not has_probes(run.folder)),
    )


def sentences(
    all_scores: Sequence[Scores], shown: Mapping[Direction, Sequence[Example]]
) -> dict[str, object]:
    """Examples of translations, and which they are."""
    return dict(
        examples=shown,
        linked={str(direction) for direction in shown},
        left_out=left_out_note(all_scores, shown),
        marks=marks_note(all_scores[0], shown),
    )


def learned_more(runs: Sequence[Scores]) -> bool:
    """Whether a system has learned directions that have no text by people, or a few lines."""
    return bool({ZERO_RESOURCE, FEW_SHOT} & {*runs[0].kinds.values()})


def kind_names(all_scores: Sequence[Scores]) -> dict[Direction, str]:
    """What each direction is to the runs, each kind once."""
    found = {(result.direction, result.kind) for scores in all_scores for result in scores.results}
    return {
        direction: ", ".join(kind_name(kind) for kind in KINDS if (direction, kind) in found)
        for direction in all_directions(all_scores)
    }


def remedy_figures(all_scores: Sequence[Scores]) -> list[tuple[str, str, Figure]]:
    """Name, title and drawing of what remedies gain; none without a study of them."""
    gains, title = remedy_gains(all_scores), "What remedies gain, by how much was off-target without them"
    return [("remedy_gains", title, scatters.remedy_gains(gains))] if gains else []


def mean_bleu(all_scores: Sequence[Scores]) -> dict[Direction, float]:
    """The mean BLEU over all runs by direction, for ordering."""
    figures_of = [direction_figures(scores, DIRECT, MAIN) for scores in all_scores]
    return {
        direction: fmean(of_run[direction] for of_run in figures_of if direction in of_run)
        for direction in all_directions(all_scores)
    }


def left_out_note(all_scores: Sequence[Scores], examples: Mapping[Direction, Sequence[Example]]) -> str:
    """How many directions have examples, where there are too many for all."""
    number = len(all_directions(all_scores))
    return f"They are of {len(examples)} of the {number:,} directions. " if number > MOST else ""


def marks_note(scores: Scores, examples: Mapping[Direction, Sequence[Example]]) -> str:
    """What marks an output as off-target, where any is marked."""
    marked = any(
        output.strayed for found in examples.values() for example in found for output in example.outputs
    )
    return f"Off-target outputs are marked by {scores.signatures['off_target']}." if marked else ""


def write_beside(page_path: Path, runs: Sequence[Run], formats: Sequence[str]) -> list[Path]:
    """Write tables (md, tsv) and figures (png, svg) beside the page, as `report.systems.md` for
    `report.html`; the slash of a system's name is `%2F` there.
    """
    written = []
    for ending, content in files_beside(runs, formats):
        path = page_path.with_name(f"{page_path.stem}.{ending.replace('/', '%2F')}")
        write(path, content)
        written.append(path)
    return written


def files_beside(runs: Sequence[Run], formats: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """Ending and content of each file."""
    all_scores = [run.scores for run in runs]
    probed, _ = comparable(probes_of(runs))
    for form in (form for form in TABLE_FORMATS if form in formats):
        probe_tables = [marked(table, all_scores) for table in [*headlines(probed), *details(probed)]]
        for table in [*tables(all_scores).values(), *probe_tables]:
            yield f"{table.name}.{form}", TABLE_FORMATS[form](table).encode("utf-8")
    if "tsv" in formats and (table := validation_table(runs)).rows:
        yield f"{table.name}.tsv", tsv(table).encode("utf-8")
    maps = heat_maps(all_scores) + confusion_maps(probed)
    drawings = [(name_of(cells), f"{cells.title}, {cells.system}", figures.heat_map(cells)) for cells in maps]
    drawings += remedy_figures(all_scores) + comparison_figures(all_scores) + training_figures(runs)
    for name, title, figure in drawings + probe_figures(probed, [*runs_by_system(all_scores)]):
        if "png" in formats:
            yield f"{name}.png", figures.png(figure)
        if "svg" in formats:
            yield f"{name}.svg", figures.svg(figure, title)


def name_of(cells: HeatMap) -> str:
    """The file name of a heat map."""
    return f"{cells.kind}.{cells.system}"
