"""Tables of at most seven columns, for documents that are read on a screen: the main figures, and where all
of them are.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from matplotlib.figure import Figure

from zsnmt.errors import InputError
from zsnmt.files.project import RESULTS
from zsnmt.languages import ZERO_RESOURCE
from zsnmt.report import figures, scatters
from zsnmt.report.adaptation import new_language_table
from zsnmt.report.brief_table import brief_cells, pivot_by_itself
from zsnmt.report.documents import KEEP_AGAIN, Maker, comparable_probes, kept_probes, kept_scores
from zsnmt.report.marks import marked
from zsnmt.report.pivot_drawing import comparison_figures
from zsnmt.report.plotted import mean_figures
from zsnmt.report.probes.figures import confusion_maps, probe_figures
from zsnmt.report.probes.tables import LANGUAGE, POSITION, SVCCA, TOKEN, output_table
from zsnmt.report.scores import runs_by_system, seeds
from zsnmt.report.studies.clip_distance import clip_distance_table
from zsnmt.report.studies.distillation import distillation_table, remedies_table
from zsnmt.report.studies.encodings import encodings_table
from zsnmt.report.studies.grid import main_effects_table, remedy_gains
from zsnmt.report.systems import systems_table
from zsnmt.report.table import FORMS, Cell, Measured, Table, join_sentences, markdown_rows, spread_note
from zsnmt.runs.probe_folder import PROBES
from zsnmt.runs.scores import Scores
from zsnmt.runs.systems import BASELINE, DIRECT_STUDENT, RESIDUAL, STUDENTS, WORDS
from zsnmt.runs.ways import DIRECT
from zsnmt.scoring.figures import MAIN

GRID = "word_orders"  # on which the grid of remedies was run
BLEU = "BLEU, means over directions"
OFF_TARGET = "off-target: share of outputs in another language than asked for"
REAL_TEXT = {  # names of configs of text by people
    "tatoeba_three": "Tatoeba, three languages",
    "tatoeba_nordic": "Tatoeba, three others",
    "tatoeba_long": "Tatoeba, eight languages",
    "tatoeba": "Tatoeba, eight languages, shorter training",
    "captions_long": "captions",
    "captions_fall_half": "captions, three quarters of the updates",
    "captions": "captions, by an earlier rule",
}
OLDER = "captions", "captions_fall_half", "tatoeba"  # by earlier rules or shorter, with pages of their own
DRAWN_PROBES = "probe_accuracy", "probe_similarity"  # the drawings of probes that pages of results show
# The control of students: the same updates without synthetic text.
CONTINUED_BASELINE = f"{BASELINE.name}_{STUDENTS['none']}"
CONTINUED_TWICE = f"{CONTINUED_BASELINE}_twice"
DEEPER = f"{BASELINE.name}_deep_words"
BLOCKS_DIRECT = "blocks_direct"  # by zsnmt direct --language-blocks
# By its steps, each given by hand.
WITH_BLOCKS, WITH_BLOCKS_THIRD = "blocks_deeper_direct", "blocks_deeper_third"
CANDIDATES = {  # systems to choose from, in words
    BASELINE.name: "baseline",
    RESIDUAL.name: "residual removed",
    CONTINUED_BASELINE: "baseline, trained further",
    CONTINUED_TWICE: "baseline, trained further twice",
    f"{CONTINUED_BASELINE}_{STUDENTS['both']}": "baseline, trained further, then distilled",
    f"{CONTINUED_BASELINE}_{STUDENTS['both']}_twice": "baseline, trained further, then distilled twice",
    f"{BASELINE.name}_consistency": "baseline, trained further for consistency",
    f"{RESIDUAL.name}_consistency": "residual removed, trained further for consistency",
    f"{BASELINE.name}_{STUDENTS['both']}": "baseline, distilled",
    f"{RESIDUAL.name}_{STUDENTS['both']}": "residual removed, distilled",
    f"{BASELINE.name}_{STUDENTS['between']}": "baseline, distilled with pairs of translations",
    f"{BASELINE.name}_{STUDENTS['both']}_{WORDS}": "baseline, distilled word by word",
    f"{BASELINE.name}_deep_between": "a deeper student",
    DEEPER: "a deeper student, taught word by word",
    f"{DEEPER}_round2": "a deeper student, taught three times, twice word by word",
    f"{DEEPER}_of_2": "a deeper student, taught twice word by word, at last by two runs together",
    f"{DEEPER}_third": "a deeper student, taught word by word in three rounds",
    f"{DEEPER}_fourth": "a deeper student, taught word by word in four rounds",
    DIRECT_STUDENT: "a deeper student, taught twice, by zsnmt direct",
    f"{DIRECT_STUDENT}_third": "a deeper student, taught three times",
    BLOCKS_DIRECT: "a deeper student with language blocks, taught twice, by zsnmt direct",
    WITH_BLOCKS: "a deeper student with language blocks, taught twice",
    WITH_BLOCKS_THIRD: "a deeper student with language blocks, taught three times",
    f"{DIRECT_STUDENT}_further": "a deeper student, taught twice, the second time longer",
    f"{DIRECT_STUDENT}_further_all": ("a deeper student, taught twice, at last word by word of all pairs"),
    f"{BASELINE.name}_deep_of_2": "a deeper student, taught four times, at last by two runs together",
}
SHOWN_SYSTEMS = (  # those of RESULTS
    BASELINE.name,
    RESIDUAL.name,
    CONTINUED_BASELINE,
    CONTINUED_TWICE,
    f"{BASELINE.name}_consistency",
    f"{RESIDUAL.name}_{STUDENTS['both']}",
    DEEPER,
    f"{DIRECT_STUDENT}_further_all",
    f"{DEEPER}_round2",
    f"{DEEPER}_fourth",
    f"{BASELINE.name}_deep_of_2",
)
SHOWN = {config: SHOWN_SYSTEMS for config in REAL_TEXT if config not in OLDER} | {
    "tatoeba_three": (*SHOWN_SYSTEMS, BLOCKS_DIRECT),
    "tatoeba_nordic": (  # on which zsnmt direct was run in its own form
        BASELINE.name,
        RESIDUAL.name,
        f"{BASELINE.name}_consistency",
        CONTINUED_BASELINE,
        CONTINUED_TWICE,
        DIRECT_STUDENT,
        f"{DIRECT_STUDENT}_third",
        WITH_BLOCKS,
        WITH_BLOCKS_THIRD,
    ),
}
FIRST_TEXT = "tatoeba_nordic"  # that of README: nothing was tuned on it
FIRST_DRAWN = {  # what its drawing compares, directly
    "directly: baseline": BASELINE.name,
    "directly: residual removed": RESIDUAL.name,
    "directly: student of zsnmt direct": DIRECT_STUDENT,
    "directly: with language blocks, taught three times": WITH_BLOCKS_THIRD,
}
THROUGH_ENGLISH = "through English, two translations: baseline trained further"  # and what it compares to
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


def with_seeds_of(system: str, runs: Sequence[Scores]) -> Mapping[str, list[Scores]]:
    """Runs by system, of the seeds that a system has: a further seed of one takes no part in a comparison."""
    there = {scores.seed for scores in runs if scores.system == system}
    return runs_by_system([scores for scores in runs if scores.seed in there])


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


def kept_runs(folder: Path, config: str, systems: Sequence[str]) -> list[Scores]:
    """The kept scores of some systems, in the order of these."""
    kept = kept_scores(folder, config)
    return [scores for system in systems for scores in kept if scores.system == system]


def without_interval(cell: Cell) -> Cell:
    """The figure with its deviation alone."""
    return replace(cell, interval=None) if isinstance(cell, Measured) else cell


def has_scores(folder: Path, config: str) -> bool:
    """Whether scores of a config are kept."""
    return any((folder / config).glob("*.seed*.json"))


def kept_figures(folder: Path) -> Iterator[tuple[str, Figure]]:
    """Name and drawing of direct translation against the pivot, of each text that has both, of what the
    remedies of the grid gain, and of probes by layer.
    """
    if has_scores(folder, GRID) and (gains := remedy_gains(kept_scores(folder, GRID))):
        yield f"remedy_gains_{GRID}", scatters.remedy_gains(gains)
    for config in REAL_TEXT:
        if has_scores(folder, config):
            runs = [scores for scores in kept_scores(folder, config) if scores.system in CANDIDATES]
            for name, _, drawing in comparison_figures(runs):
                yield f"{name}_{config}", drawing
    if drawing := first_figure(folder):
        yield "what_to_use_first", drawing
    for path in sorted(folder.glob(f"*/{PROBES}")):
        yield from drawn_probes(folder, path.parent.name)


def first_figure(folder: Path) -> Figure | None:
    """What README draws: each direction by some systems, over the seeds of the last one; None where they are
    not kept.
    """
    if not has_scores(folder, FIRST_TEXT):
        return None
    by_system = with_seeds_of([*FIRST_DRAWN.values()][-1], kept_scores(folder, FIRST_TEXT))
    if not {*FIRST_DRAWN.values(), CONTINUED_BASELINE} <= {*by_system}:
        return None
    continued = by_system[CONTINUED_BASELINE]
    through = mean_figures(continued, pivot_by_itself(continued), MAIN)
    points = {THROUGH_ENGLISH: through}
    for name, system in FIRST_DRAWN.items():
        direct = mean_figures(by_system[system], DIRECT, MAIN)
        points[name] = {direction: direct[direction] for direction in through}
    return scatters.direction_points(points, f"{FORMS[MAIN].title}, means over seeds")


def drawn_probes(folder: Path, config: str) -> Iterator[tuple[str, Figure]]:
    """Name and drawing of what the probes of a config found by layer, and of the languages in the output of
    each encoder.
    """
    found = kept_probes(folder, config)
    for name, _, drawing in probe_figures(found, [*runs_by_system(found)]):
        if name in DRAWN_PROBES:
            yield f"{name}_{config}", drawing
    for cells in confusion_maps(found):
        yield f"{cells.kind}_{cells.system}_{config}", figures.heat_map(cells)


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
