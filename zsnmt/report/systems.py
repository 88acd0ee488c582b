"""What runs of one experiment say side by side, as tables: a row per system, family or direction, a column
per kind, way and figure.

Ways of decoding, kinds of directions and figures are taken from the score files; what none of them has makes
no column.
"""

from collections.abc import Mapping, Sequence

from zsnmt.languages import FAMILIES, SUPERVISED, ZERO_SHOT, Direction, kind_name
from zsnmt.report.adaptation import ADAPTATION_TABLES, adaptation_directions_table
from zsnmt.report.chosen import marked
from zsnmt.report.notes import caption, lines_note, pivot_note, signature_note, signatures
from zsnmt.report.scores import (
    Column,
    WayDifference,
    all_directions,
    column_groups,
    columns_of,
    groups_of,
    methods_of,
    runs_by_system,
    seeds,
    short_commit,
    system_kind,
    way_differences,
    way_pairs,
    ways_of,
    words,
)
from zsnmt.report.significance import (
    Side,
    difference_of_ways,
    gain,
    mean_difference,
    mean_measured,
    mean_of_part,
    of_same_seeds,
    same_seeds_note,
    seed_note,
)
from zsnmt.report.studies import factorial
from zsnmt.report.studies.clip_distance import clip_distance_table
from zsnmt.report.studies.distillation import distillation_table, remedies_table
from zsnmt.report.studies.encodings import encodings_table
from zsnmt.report.table import FORMS, Cell, Measured, Table, join_sentences, seed_cell
from zsnmt.runs.scores import Scores
from zsnmt.runs.ways import DIRECT, OWN_PIVOT, PIVOT, Way
from zsnmt.scoring.figures import ALL, DIRECTIONS, MAIN, ROOMY, figures_shown_in

BETWEEN = "different families"


def tables(all_scores: Sequence[Scores]) -> dict[str, Table]:
    """All tables that the score files have something for, by name."""
    apart = directions_table, direction_gains_table, adaptation_directions_table, runs_table
    made = [make(all_scores) for make in (brief_table_of_kinds, *SUMMARIES, *apart)]
    return {
        table.name: marked(table.without_empty_columns(), all_scores) for table in made if table is not None
    }


def systems_table(all_scores: Sequence[Scores]) -> Table:
    """One row per system: means over the directions of a kind, over its seeds."""
    differences, columns = way_differences(column_groups(all_scores)), columns_of(all_scores, ROOMY)
    rows = [
        {
            "system": system,
            "seeds": seeds(runs),
            **{column.title: mean_measured(runs, column) for column in columns_of(all_scores, ALL)},
            **{difference.title: difference_of_ways(runs, difference) for difference in differences},
            **{column.title: mean_measured(runs, column) for column in columns},
        }
        for system, runs in runs_by_system(all_scores).items()
    ]
    # What the caption does not have.
    besides = signatures(all_scores[0], (*figures_shown_in(ROOMY), "intervals"))
    return Table(
        "systems",
        "Systems",
        [*rows[0]],
        rows=[[*row.values()] for row in rows],
        about=caption(all_scores) + pivot_note(all_scores),
        signatures=besides,
    )


def brief_table(all_scores: Sequence[Scores]) -> Table:
    """The figures that one chooses a system by, in the same columns whatever text it learned from."""
    systems, pivot = runs_by_system(all_scores), all_scores[0].pivot
    others = "others, directly", f"others, through {pivot}"
    return Table(
        "in_short",
        "In short",
        ["system", "seeds", f"with {pivot}", *others, "wrong language"],
        rows=[[system, seeds(runs), *brief_cells(runs)] for system, runs in systems.items()],
        about=join_sentences([brief_note(pivot), caption(all_scores)]),
    )


def brief_note(pivot: str) -> str:
    """What the columns of a table in short are."""
    return (
        f"Others: directions without {pivot}; through {pivot}: by the system itself. "
        "Wrong language: off-target, of the direct translations."
    )


def brief_table_of_kinds(all_scores: Sequence[Scores]) -> Table | None:
    """The same where the kinds of the systems differ, so that other tables have their figures in different
    columns; None elsewhere.
    """
    kinds = {kind for kind, _ in groups_of(all_scores)} - {SUPERVISED}
    return brief_table(all_scores) if len(kinds) > 1 else None


def brief_cells(runs: Sequence[Scores]) -> list[Cell]:
    """What a system has with the pivot, and in all other directions: directly, through the pivot, both times
    by itself, and how much of the direct ones is in another language than asked for.
    """
    return [
        mean_of_part(runs, DIRECT, MAIN, with_pivot=True),
        mean_of_part(runs, DIRECT, MAIN, with_pivot=False),
        mean_of_part(runs, pivot_by_itself(runs), MAIN, with_pivot=False),
        mean_of_part(runs, DIRECT, "off_target", with_pivot=False),
    ]


def pivot_by_itself(runs: Sequence[Scores]) -> Way:
    """The way in which a system was scored through the pivot by itself."""
    return PIVOT if all(scores.pivot_by is None for scores in runs) else OWN_PIVOT


def gains_table(all_scores: Sequence[Scores]) -> Table | None:
    """What each system gains over the first one, marked where that is inside the seed noise; None for one
    system.
    """
    systems = runs_by_system(all_scores)
    (base_name, base), *others = systems.items()
    if not others:
        return None
    columns = columns_of(all_scores, ALL)
    notes = [kinds_note(base_name, base, others), same_seeds_note(base_name, systems.values())]
    rows = [[system, *(gain(runs, base, column) for column in columns)] for system, runs in others]
    titles = ["system", *(column.title for column in columns)]
    return Table(
        "gains",
        f"Difference from {base_name}",
        titles,
        rows=rows,
        about=join_sentences([*notes, seed_note(rows)]),
        signatures=signature_note(all_scores),
    )


def kinds_note(base_name: str, base: Sequence[Scores], others: Sequence[tuple[str, Sequence[Scores]]]) -> str:
    """Which kind a base has of the directions that only other systems have of a kind, where there are any."""
    known = {kind for kind, _ in base[0].groups}
    kinds = {
        (result.kind, system_kind(base, result.direction, result.kind))
        for _, runs in others
        for result in runs[0].results
        if result.kind not in known
    }
    return join_sentences(
        f"The {kind_name(kind)} directions are {kind_name(of_base)} to {base_name}."
        for kind, of_base in sorted(kinds)
    )


def families_table(all_scores: Sequence[Scores]) -> Table | None:
    """Means within each family and between families, not of supervised directions; None unless one stays
    within a known family.
    """
    families = {**FAMILIES, **all_scores[0].families}
    kinds = {direction: kind for direction, kind in all_directions(all_scores).items() if kind != SUPERVISED}
    relations: dict[str, list[Direction]] = {}
    for direction in kinds:
        if relation := family_relation(direction, families):
            relations.setdefault(relation, []).append(direction)
    between = relations.pop(BETWEEN, None)
    if not relations:
        return None
    relations |= {BETWEEN: between} if between else {}
    groups = [(kind, way) for kind, way in column_groups(all_scores) if kind != SUPERVISED]
    columns, differences = [Column(*group, MAIN) for group in groups], way_differences(groups)

    def cells(runs: Sequence[Scores], members: Sequence[Direction]) -> list[Cell]:
        of: dict[str, list[Direction]] = {kind: [] for kind, _ in groups}
        for direction in members:
            of[system_kind(runs, direction, kinds[direction])].append(direction)
        means = [seed_cell(MAIN, Side(runs, column).means(of[column.kind])) for column in columns]
        return [
            *means,
            *(difference_of_ways(runs, difference, of[difference.kind]) for difference in differences),
        ]

    rows = [
        [relation, str(len(members)), system, *cells(runs, members)]
        for relation, members in relations.items()
        for system, runs in runs_by_system(all_scores).items()
    ]
    titles = ["family", "directions", "system"]
    titles += [column.title for column in columns] + [difference.title for difference in differences]
    shown = " and ".join(dict.fromkeys(kind_name(kind) for kind, _ in groups))
    about = f"BLEU, means over the {shown} directions within a family, and between any two."
    return Table(
        "families",
        "Language families",
        titles,
        rows=rows,
        about=about,
        headers=3,
        signatures=signature_note(all_scores),
    )


def methods_table(all_scores: Sequence[Scores]) -> Table | None:
    """One row per system, kind of directions and way, where there are two or more methods of decoding: what
    each brings beside direct translation and the pivot, and what it costs.
    """
    if len(methods_of(all_scores)) < 2:
        return None
    figures = figures_shown_in(ALL, ROOMY)

    def cells(runs: Sequence[Scores], kind: str, way: Way) -> list[Cell]:
        """Of the runs that were scored so."""
        differences = [WayDifference(kind, way, other) for other in (DIRECT, PIVOT)]
        runs = [scores for scores in runs if scores.select(kind, way)]
        return [
            seeds(runs),
            *(mean_measured(runs, Column(kind, way, figure)) for figure in figures),
            *(
                difference_of_ways(runs, difference) if difference.other != way else None
                for difference in differences
            ),
        ]

    rows = [
        [system, kind_name(kind), way.label, *cells(runs, kind, way)]
        for system, runs in runs_by_system(all_scores).items()
        if methods_of(runs)
        for kind, way in groups_of(runs)
    ]
    titles = ["system", "directions", "way", "seeds", *(FORMS[figure].title for figure in figures)]
    return Table(
        "methods",
        "Ways of decoding",
        [*titles, "minus direct", "minus pivot"],
        rows=rows,
        about="Means over the directions; cost: seconds of processors over those of direct translation.",
        headers=3,
        signatures=signature_note(all_scores),
    )


def family_relation(direction: Direction, families: Mapping[str, str]) -> str | None:
    """The family a direction stays in, `different families`, or None where one is not known."""
    source, target = map(families.get, direction)
    if source is None or target is None:
        return None
    return source if source == target else BETWEEN


def within_families(all_scores: Sequence[Scores]) -> dict[str, list[Direction]]:
    """The zero-shot directions that stay within each family."""
    known = {**FAMILIES, **all_scores[0].families}
    within: dict[str, list[Direction]] = {}
    for direction, kind in all_directions(all_scores).items():
        relation = family_relation(direction, known)
        if kind == ZERO_SHOT and relation not in (None, BETWEEN):
            within.setdefault(str(relation), []).append(direction)
    return within


def direction_gains_table(all_scores: Sequence[Scores]) -> Table | None:
    """What each system gains over the first one in every direction; None for one system."""
    systems = runs_by_system(all_scores)
    (base_name, base), *others = systems.items()
    if not others:
        return None
    columns = {way for _, way in column_groups(all_scores)}
    shown = [
        (way, figure)
        for figure in figures_shown_in(ALL)
        for way in ways_of(all_scores)
        if way in columns and (figure == MAIN or way != PIVOT)
    ]

    def cells(runs: Sequence[Scores], direction: Direction, kind: str) -> list[Cell]:
        sides = [
            [
                Side(of, Column(system_kind(of, direction, kind), way, figure))
                for of in of_same_seeds(runs, base)
            ]
            for way, figure in shown
        ]
        return [mean_difference(one, other, {direction}) for one, other in sides]

    rows = [
        [str(direction), kind_name(system_kind(runs, direction, kind)), system, *cells(runs, direction, kind)]
        for direction, kind in all_directions(all_scores).items()
        for system, runs in others
    ]
    title = f"Difference from {base_name} in every direction"
    titles = [
        "direction",
        "kind",
        "system",
        *(words(FORMS[figure].title, way.phrase) for way, figure in shown),
    ]
    return Table(
        "direction_gains",
        title,
        titles,
        rows=rows,
        about=same_seeds_note(base_name, systems.values()),
        headers=3,
        signatures=signature_note(all_scores),
    )


def directions_table(all_scores: Sequence[Scores]) -> Table:
    """One row per direction and system, with every figure that the score files have."""
    ways, systems = ways_of(all_scores), runs_by_system(all_scores)
    rows = [
        {
            "direction": str(direction),
            "kind": kind_name(system_kind(runs, direction, kind)),
            "system": system,
            **direction_cells(ways, runs, direction, kind=system_kind(runs, direction, kind)),
        }
        for direction, kind in all_directions(all_scores).items()
        for system, runs in systems.items()
    ]
    about = join_sentences([lines_note(all_scores[0]), pivot_note(all_scores)])
    table = [[*row.values()] for row in rows]
    return Table(
        "directions",
        "Every direction",
        [*rows[0]],
        rows=table,
        about=about,
        headers=3,
        signatures=signature_note(all_scores),
    )


def direction_cells(
    ways: Sequence[Way], runs: Sequence[Scores], direction: Direction, kind: str
) -> dict[str, Cell]:
    """The figures of a system in a direction, by the titles of the columns; None where it was not scored."""

    def measured(figures: Sequence[str], *ways: Way) -> dict[str, Cell]:
        return {
            words(FORMS[figure].title, way.phrase): direction_cell(runs, Column(kind, way, figure), direction)
            for figure in figures
            for way in ways
        }

    return {
        **measured([MAIN], *ways),
        **{
            f"{way.label} minus {other.label}": difference_of_ways(
                runs, WayDifference(kind, way, other), {direction}
            )
            for way, other in way_pairs(ways)
        },
        **measured([figure for figure in figures_shown_in(ALL, ROOMY) if figure != MAIN], *ways),
        **measured(figures_shown_in(DIRECTIONS), DIRECT),
    }


def direction_cell(runs: Sequence[Scores], column: Column, direction: Direction) -> Measured | None:
    """A figure of a system in one direction, over the seeds."""
    first = runs[0].select(column.kind, column.way).get(direction)
    return seed_cell(
        column.figure,
        Side(runs, column).means({direction}),
        first.uncertainty.intervals.get(column.figure) if first else None,
    )


def runs_table(all_scores: Sequence[Scores]) -> Table:
    """What made each run."""
    rows: list[list[Cell]] = [
        [
            scores.system,
            str(scores.seed),
            scores.training,
            short_commit(scores.commit),
            ", ".join(f"{package} {version}" for package, version in scores.versions.items()) or None,
            scores.command,
        ]
        for scores in all_scores
    ]
    columns = ["system", "seed", "training", "commit", "versions", "command"]
    return Table(
        "runs",
        "How the runs were made",
        columns,
        rows=rows,
        about="",
        headers=2,
        signatures=signature_note(all_scores),
    )


STUDY_TABLES = {
    "clip_distance": clip_distance_table,
    "encodings": encodings_table,
    "distillation": distillation_table,
    "remedies": remedies_table,
    **factorial.STUDY_TABLES,
}
SUMMARIES = (
    systems_table,
    methods_table,
    gains_table,
    *ADAPTATION_TABLES,
    families_table,
    *STUDY_TABLES.values(),
)  # a row per system or group
