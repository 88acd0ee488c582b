"""Factorial designs (`zsnmt.runs.grid`): what a factor changes, and two together, from score files."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from zsnmt.analysis.factorial import effect, signs, terms
from zsnmt.decoding.methods.settings import parse_method
from zsnmt.languages import SUPERVISED, Direction
from zsnmt.report.notes import signature_note
from zsnmt.report.scores import runs_by_system
from zsnmt.report.table import Cell, Measured, Table, join_sentences, numbers_in_short
from zsnmt.runs.grid import Design
from zsnmt.runs.scores import Result, Scores
from zsnmt.runs.ways import DIRECT, Way

CHRF, OFF_TARGET, ON_TARGET = "chrf", "off_target", "chrf_on_target"


class Response(NamedTuple):
    """What effects are on: its title, the figure whose form it has, the kinds of the directions it is of,
    what it is of a result, and which of these directions it is of, by default all.
    """

    title: str
    figure: str
    kinds: tuple[str, ...]
    value: Callable[[Scores, Result], float | None]
    is_of: Callable[[Scores, Direction], bool] = lambda scores, direction: True


def is_into_pivot(scores: Scores, direction: Direction) -> bool:
    """Whether a direction is into the language that all pairs share."""
    return direction.target == scores.pivot


def is_out_of_pivot(scores: Scores, direction: Direction) -> bool:
    """Whether a direction is out of the language that all pairs share."""
    return direction.source == scores.pivot


def figure_of(name: str) -> Callable[[Scores, Result], float | None]:
    """The figure of that name, None where a result has none."""
    return lambda scores, result: result.figures.get(name)


def share_in(language: Callable[[Scores, Result], str]) -> Callable[[Scores, Result], float | None]:
    """The share (0–1) of outputs in a language; None where languages were not counted."""
    return lambda scores, result: (
        result.identified.get(language(scores, result), 0.0) if result.identified else None
    )


def responses(kinds: tuple[str, ...], name: str) -> list[Response]:
    """What effects are on, in directions of some kinds, which are called so."""
    return [
        Response(f"{name} chrF++", CHRF, kinds, value=figure_of(CHRF)),
        Response(f"{name} BLEU", "bleu", kinds, value=figure_of("bleu")),
        Response(
            "off-target to the pivot", OFF_TARGET, kinds, value=share_in(lambda scores, _: scores.pivot)
        ),
        Response(
            "off-target to the source",
            OFF_TARGET,
            kinds,
            value=share_in(lambda _, result: result.direction.source),
        ),
        Response("chrF++ on target", ON_TARGET, kinds, value=figure_of(ON_TARGET)),
        Response("chrF++ into the pivot", CHRF, (SUPERVISED,), value=figure_of(CHRF), is_of=is_into_pivot),
        Response(
            "chrF++ out of the pivot", CHRF, (SUPERVISED,), value=figure_of(CHRF), is_of=is_out_of_pivot
        ),
    ]


class Blocks(NamedTuple):
    """The runs of a design: for each cell those of the seeds that all cells have, in order, and how each cell
    is decoded.
    """

    cells: dict[tuple[str, ...], list[Scores]]
    ways: dict[tuple[str, ...], Way]
    seeds: list[int]
    left_out: list[str]  # runs of other seeds


def blocks_of(design: Design, all_scores: Sequence[Scores]) -> Blocks | None:
    """The complete blocks of a design; None where a cell has no run, or no seed is in all cells."""
    systems = runs_by_system(all_scores)
    ways = {levels: way_of(design, levels, all_scores) for levels in design.cells}
    found = {
        levels: {
            scores.seed: scores for scores in systems.get(system.name, []) if decoded(scores, ways[levels])
        }
        for levels, system in design.cells.items()
    }
    seeds = sorted(set.intersection(*({*of_cell} for of_cell in found.values())))
    if not seeds:
        return None
    left_out = sorted(
        {of_cell[seed].name for of_cell in found.values() for seed in of_cell if seed not in seeds}
    )
    return Blocks(
        {levels: [of_cell[seed] for seed in seeds] for levels, of_cell in found.items()},
        ways,
        seeds=seeds,
        left_out=left_out,
    )


def way_of(design: Design, levels: tuple[str, ...], all_scores: Sequence[Scores]) -> Way:
    """How a cell of a design is decoded, by models of the languages that the scores are of."""
    if levels not in design.ways or not all_scores:
        return DIRECT
    return Way.of_method(parse_method(design.ways[levels]).of([all_scores[0].pivot]))


def decoded(scores: Scores, way: Way) -> bool:
    """Whether a run has results of that way."""
    return any(of_run == way for _, of_run in scores.groups)


def values_of(blocks: Blocks, response: Response) -> tuple[np.ndarray, int]:
    """The response by cell, seed and direction (C×S×D), over the directions that have it everywhere, and how
    many directions of these kinds there are.
    """
    found: list[list[dict[Direction, float | None]]] = [
        [
            {
                direction: response.value(scores, result)
                for kind in response.kinds
                for direction, result in scores.select(kind, blocks.ways[levels]).items()
                if response.is_of(scores, direction)
            }
            for scores in runs
        ]
        for levels, runs in blocks.cells.items()
    ]
    first = found[0][0]
    known = [
        direction
        for direction in first
        if all(of_run.get(direction) is not None for runs in found for of_run in runs)
    ]
    values = [[[of_run[direction] for direction in known] for of_run in runs] for runs in found]
    return np.array(values, dtype=float), len(first)


def cell(design: Design, blocks: Blocks, response: Response, term: Sequence[str]) -> Measured | None:
    """The effect of a term on a response; None where no direction has it everywhere."""
    values, number = values_of(blocks, response)
    known = values.shape[-1]
    if not known:
        return None
    names = [factor.name for factor in design.factors]
    places = [names.index(name) for name in term]
    found = effect(values, signs(blocks.cells, places, [factor.high for factor in design.factors]))
    note = f"{known} of {number} directions" if known < number else ""
    return Measured(response.figure, found.size, interval=found.interval, difference=True, note=note)


Chosen = Callable[[Design, Sequence[str]], bool]  # whether a table has the effect of some factors


def every_effect(design: Design, term: Sequence[str]) -> bool:
    """All main effects, and those of every two factors."""
    return True


def of_first(design: Design, term: Sequence[str]) -> bool:
    """The main effect of the first factor, and its effects with others."""
    return design.factors[0].name in term


def of_first_two(design: Design, term: Sequence[str]) -> bool:
    """The effect of the first two factors together."""
    return [*term] == [factor.name for factor in design.factors[:2]]


def effect_rows(
    design: Design, blocks: Blocks, measured: Sequence[Response], chosen: Chosen = every_effect
) -> list[list[Cell]]:
    """One row per effect that is chosen: its name, its seeds, and what it is on each response."""
    names = [factor.name for factor in design.factors]
    seeds = numbers_in_short(blocks.seeds)
    return [
        [" × ".join(term), seeds, *(cell(design, blocks, response, term=term) for response in measured)]
        for term in terms(names)
        if chosen(design, term)
    ]


def effects_table(
    all_scores: Sequence[Scores],
    designs: Sequence[Design],
    *,
    name: str,
    title: str,
    measured: Sequence[Response],
    about: str,
    chosen: Chosen = every_effect,
) -> Table | None:
    """The effects of some designs; None unless one of them is complete in some seed."""
    found = [(design, blocks) for design in designs if (blocks := blocks_of(design, all_scores))]
    if not found:
        return None
    rows = [row for design, blocks in found for row in effect_rows(design, blocks, measured, chosen=chosen)]
    used = {id(scores): scores for _, blocks in found for runs in blocks.cells.values() for scores in runs}
    left_out = sorted({run for _, blocks in found for run in blocks.left_out})
    notes = [
        about,
        HOW,
        f"Left out, since other cells lack the seed: {', '.join(left_out)}." if left_out else "",
    ]
    return Table(
        name,
        title,
        ["effect", "seeds", *(response.title for response in measured)],
        rows=rows,
        about=join_sentences(notes),
        headers=2,
        signatures=signature_note([*used.values()]),
        own_intervals=True,
    )


HOW = (
    "An effect is what the second level changes on average; that of two factors, by how much more than on "
    "average the one changes where the other has its second level. In brackets 95 % intervals over seeds "
    "(blocks) and directions."
)
