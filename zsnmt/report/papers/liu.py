"""Tables of Liu et al. (2021): 3 to 9, section 5.5 and appendix A."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from zsnmt.analysis.state_folder import FINAL
from zsnmt.languages import SUPERVISED, ZERO_SHOT, Direction
from zsnmt.report.adaptation import members
from zsnmt.report.families import within_families
from zsnmt.report.papers.layout import PaperTable, Rows
from zsnmt.report.papers.published import LIU, Key
from zsnmt.report.papers.sources import PROBED, SCORES
from zsnmt.report.probes.findings import LANGUAGE, POSITION, SVCCA, TOKEN, Finding
from zsnmt.report.probes.folder import Probes
from zsnmt.report.scores import Column, all_directions, runs_by_system
from zsnmt.report.significance import Side, mean_measured
from zsnmt.report.table import Measured, join_sentences, seed_cell
from zsnmt.runs.scores import Scores
from zsnmt.runs.systems import BASELINE, LEARNED, RESIDUAL, RESIDUAL_QUERY, VARIATIONAL, System
from zsnmt.runs.ways import DIRECT, PIVOT, Way
from zsnmt.scoring.figures import MAIN

DATA_SETS = {
    "iwslt17": "IWSLT",
    "europarl_multiway": "Europarl multiway",
    "europarl_non_overlap": "Europarl w/o overlap",
    "europarl_full": "Europarl full",
    "pmindia": "PMIndia",
}
CONDITIONS = {
    "iwslt17": "normal",
    "iwslt17_little_data": "little data",
    "iwslt17_little_data_marked": "no lexical overlap",
}
AVERAGE = {SUPERVISED: "average supervised", ZERO_SHOT: "average zero-shot"}
MEANS = "BLEU, means over directions."
BY_BASELINE = "Pivot: the baseline's translation through English, or the pivot of the runs."
PUBLISHED_BLEU = (
    "The paper's BLEU is of sacreBLEU 1.4.12, 13a (PMIndia: spm); it does not say of how many runs."
)


class Place(NamedTuple):
    """Where a cell comes from: a system, and the main figure in the directions of a kind and way."""

    system: System
    kind: str
    way: Way = DIRECT

    @property
    def column(self) -> Column:
        """The figure."""
        return Column(self.kind, self.way, MAIN)


Places = Mapping[str, Place]
BASELINE_PIVOT = Place(BASELINE, ZERO_SHOT, PIVOT)
VARDROP, RESIDUAL_VARDROP, QUERY_VARDROP = VARIATIONAL.values()
TABLE_3 = {
    "supervised baseline": Place(BASELINE, SUPERVISED),
    "supervised residual": Place(RESIDUAL, SUPERVISED),
    "supervised +query": Place(RESIDUAL_QUERY, SUPERVISED),
    "pivot": BASELINE_PIVOT,
    "zero-shot baseline": Place(BASELINE, ZERO_SHOT),
    "zero-shot residual": Place(RESIDUAL, ZERO_SHOT),
    "zero-shot +query": Place(RESIDUAL_QUERY, ZERO_SHOT),
}
TABLE_4 = {
    "baseline": Place(BASELINE, ZERO_SHOT),
    "pivot": BASELINE_PIVOT,
    "residual": Place(RESIDUAL, ZERO_SHOT),
}
TABLE_5 = {
    "baseline": Place(BASELINE, ZERO_SHOT),
    "baseline +vardrop": Place(VARDROP, ZERO_SHOT),
    "residual": Place(RESIDUAL, ZERO_SHOT),
    "residual +vardrop": Place(RESIDUAL_VARDROP, ZERO_SHOT),
}
TABLE_6 = {title: TABLE_5[title] for title in ("residual", "residual +vardrop")}
TABLE_7 = {
    f"{kind} {name}": Place(system, of)
    for kind, of in (("supervised", SUPERVISED), ("zero-shot", ZERO_SHOT))
    for name, system in (("baseline", BASELINE), ("residual", RESIDUAL))
}
SECTION_5_5 = {
    title: place._replace(system=LEARNED[place.system]) for title, place in TABLE_7.items()
}  # in its form
APPENDIX = {
    "baseline": BASELINE,
    "baseline +vardrop": VARDROP,
    "residual": RESIDUAL,
    "residual +vardrop": RESIDUAL_VARDROP,
    "residual+query": RESIDUAL_QUERY,
    "residual+query +vardrop": QUERY_VARDROP,
}


def means(places: Places, all_scores: Sequence[Scores]) -> Rows:
    """One row for a config: means over all directions of a kind."""
    systems = runs_by_system(all_scores)
    return {
        (all_scores[0].config,): {
            title: mean_measured(systems[place.system.name], place.column)
            if place.system.name in systems
            else None
            for title, place in places.items()
        }
    }


def place_mean(
    systems: Mapping[str, Sequence[Scores]], place: Place, directions: Sequence[Direction]
) -> Measured | None:
    """The mean of a place over some directions; None where a system was not scored in one of them."""
    runs = systems.get(place.system.name)
    return seed_cell(MAIN, Side(runs, place.column).means(directions)) if runs else None


def families(all_scores: Sequence[Scores]) -> Rows:
    """A row for each family, of the zero-shot directions within it."""
    systems = runs_by_system(all_scores)
    return {
        (all_scores[0].config, family): {
            title: place_mean(systems, place, directions) for title, place in TABLE_4.items()
        }
        for family, directions in within_families(all_scores).items()
    }


def adaptation(all_scores: Sequence[Scores]) -> Rows:
    """A row for the directions from new languages, and one for those into them, of adapted runs."""
    groups = {
        "Xnew →": {SUPERVISED: "new → pivot", ZERO_SHOT: "new → old"},
        "→ Xnew": {SUPERVISED: "pivot → new", ZERO_SHOT: "old → new"},
    }
    systems = runs_by_system(all_scores)
    return {
        (all_scores[0].config, row): {
            title: place_mean(systems, place, members(all_scores, place.kind, of_kind[place.kind]))
            for title, place in TABLE_7.items()
        }
        for row, of_kind in groups.items()
    }


def direction_rows(all_scores: Sequence[Scores]) -> Rows:
    """A row for each direction and for the mean of each kind: the pivot, and all systems."""
    rows: dict[Key, Mapping[str, Measured | None]] = {}
    config, systems, kinds = all_scores[0].config, runs_by_system(all_scores), all_directions(all_scores)
    for kind, average in AVERAGE.items():
        places = {"pivot": BASELINE_PIVOT} if kind == ZERO_SHOT else {}
        places |= {title: Place(system, kind) for title, system in APPENDIX.items()}
        directions = [direction for direction, of_kind in kinds.items() if of_kind == kind]
        chosen = {str(direction): [direction] for direction in directions} | {average: directions}
        for row, members_of_row in chosen.items():
            cells = {title: place_mean(systems, place, members_of_row) for title, place in places.items()}
            rows[config, row] = cells
    return rows


def probe_rows(findings: Mapping[str, Finding], found: Sequence[Probes]) -> Rows:
    """A row for each model: what the probes found in the encoder output."""
    systems = runs_by_system(found)
    return {
        (found[0].record["config"], name): {
            title: finding.over_seeds(systems[system.name], FINAL) for title, finding in findings.items()
        }
        for name, system in (("baseline", BASELINE), ("residual", RESIDUAL))
        if system.name in systems
    }


def score_table(
    name: str,
    number: str,
    title: str,
    *,
    places: Places,
    rows: Callable[[Sequence[Scores]], Rows] | None = None,
    of_adapted: bool = False,
    **others: Any,
) -> PaperTable:
    """A table of BLEU, of adapted runs or of others; its rows are means over all directions, unless it has
    others.
    """
    systems = [*dict.fromkeys(place.system.name for place in places.values())]
    pivoted = BY_BASELINE if BASELINE_PIVOT in places.values() else ""
    settings = {
        "about": join_sentences([MEANS, pivoted, PUBLISHED_BLEU]),
        "keys": ("data set",),
        "columns": dict.fromkeys(places, MAIN),
        "counterparts": DATA_SETS,
    }
    return PaperTable(
        name=name,
        paper=LIU,
        number=number,
        title=title,
        source=SCORES,
        systems=systems,
        takes=lambda scores: scores.system in systems and bool(scores.adapted_from) == of_adapted,
        of="runs that learned a new language (zsnmt adapt)" if of_adapted else "runs that were not adapted",
        rows=rows or partial(means, places),
        **settings | others,
    )


def probe_table(
    name: str, number: str, title: str, *, findings: Mapping[str, Finding], about: str
) -> PaperTable:
    """A table of what probes find in the encoder output."""
    return PaperTable(
        name=name,
        paper=LIU,
        number=number,
        title=title,
        about=about,
        keys=("data set", "model"),
        columns={column: finding.figure for column, finding in findings.items()},
        source=PROBED,
        systems=[BASELINE.name, RESIDUAL.name],
        rows=partial(probe_rows, findings),
        counterparts=DATA_SETS,
    )


def is_average(key: Key) -> bool:
    """Whether a row of the appendix is a mean."""
    return key[-1] in AVERAGE.values()


LIU_TABLES = (
    score_table(
        "liu_table_3",
        "Table 3",
        "Supervised and zero-shot directions",
        places=TABLE_3,
        over={"zero-shot residual": "zero-shot baseline"},
    ),
    score_table(
        "liu_table_4",
        "Table 4",
        "Zero-shot directions within a family",
        places=TABLE_4,
        rows=families,
        keys=("data set", "family"),
        over={"residual": "pivot"},
        remedy="score them between two languages of one family, neither of them the pivot",
        about=f"{MEANS} {BY_BASELINE} {PUBLISHED_BLEU} The means of its own appendix give each row of the "
        "paper for the other condition: multiway and without overlap seem to be exchanged.",
    ),
    score_table("liu_table_5", "Table 5", "Variational dropout, zero-shot directions", places=TABLE_5),
    score_table(
        "liu_table_6",
        "Table 6",
        "Variational dropout with little data and no common words",
        places=TABLE_6,
        keys=("condition",),
        counterparts=CONDITIONS,
        over={"residual +vardrop": "residual"},
        about=f"{MEANS} Zero-shot directions; the paper's conditions: normal, (1) + little data, (2) + no "
        f"lexical overlap. {PUBLISHED_BLEU}",
    ),
    score_table(
        "liu_table_7",
        "Table 7",
        "A new language",
        places=TABLE_7,
        rows=adaptation,
        of_adapted=True,
        keys=("data set", "directions"),
        counterparts={"iwslt17_add_de": "IWSLT"},
    ),
    probe_table(
        "liu_table_8",
        "Table 8",
        "Recovering token and position from the encoder output",
        findings={"token id": TOKEN, "position id": POSITION},
        about="Accuracy of linear classifiers on the encoder output: lower means less positional "
        "correspondence to the input. The paper's are trained on all training text.",
    ),
    probe_table(
        "liu_table_9",
        "Table 9",
        "Languages in the encoder output",
        findings={"SVCCA score": SVCCA, "accuracy": LANGUAGE},
        about="A higher SVCCA score, the mean over pairs of languages, and a lower accuracy of language "
        "classifiers mean more alike. SVCCA depends on sentences and directions kept: between random vectors "
        "the paper has about 0.57, and tables of probes have the value of theirs.",
    ),
    score_table(
        "liu_section_5_5",
        "Section 5.5",
        "Learned positions in both stacks",
        places=SECTION_5_5,
        counterparts={"iwslt17": "IWSLT"},
    ),
    score_table(
        "liu_appendix",
        "Appendix A",
        "Every direction",
        places={"pivot": BASELINE_PIVOT}
        | {title: Place(system, ZERO_SHOT) for title, system in APPENDIX.items()},
        rows=direction_rows,
        keys=("data set", "direction"),
        others=is_average,
        about=f"BLEU. {BY_BASELINE} {PUBLISHED_BLEU}",
    ),
)
