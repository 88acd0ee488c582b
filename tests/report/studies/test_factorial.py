"""Tables of the grid of remedies, from made-up score files of its cells."""

from dataclasses import replace

import pytest

from tests.support.scores import made_up_result, made_up_scores
from zsnmt.decoding.methods.settings import parse_method
from zsnmt.languages import FEW_SHOT, SUPERVISED, ZERO_SHOT, Direction
from zsnmt.report.comparison import text_table
from zsnmt.report.documents import MAKERS, fill, keep_scores
from zsnmt.report.scatters import remedy_gains as drawing
from zsnmt.report.studies.factorial import way_of
from zsnmt.report.studies.grid import STUDY_TABLES, main_effects_table, remedy_gains
from zsnmt.report.systems import tables
from zsnmt.runs.grid import (
    BASE_GRID,
    BLOCKS_GRID,
    CONTROL,
    CORNERS,
    DECODING_GRID,
    FIRST_STAGE,
    LANGUAGE_CONTRAST,
    MASK,
    NORM,
    REMOVAL,
    SOURCE_CONTRAST,
    TAGS,
    pair_design,
    remedy_design,
)
from zsnmt.runs.ways import DIRECT

PAIRS = "de-fr", "fr-de"
CHANGES = {NORM: 2.0, TAGS: 5.0, REMOVAL: -3.0}  # what each factor adds to the made-up score
TOGETHER = 4.0  # what norm and tags add together


def scored(system, seed, bleu, kind=ZERO_SHOT, **figures):
    """A score file whose zero-shot outputs are half in the target, some in the pivot, some in the source."""
    results = [made_up_result(pair, SUPERVISED, DIRECT, 30 + bleu / 10) for pair in ("de-en", "en-de")]
    for place, pair in enumerate(PAIRS):
        direction = Direction(*pair.split("-"))
        shares = {direction.target: 0.5, "en": bleu / 100, direction.source: 0.5 - bleu / 100}
        result = made_up_result(
            pair, kind, DIRECT, bleu + place, 0.5, **{"chrf_on_target": 40 + bleu, **figures}
        )
        results.append(replace(result, identified=shares))
    return replace(made_up_scores(system, seed, 5.0), results=results)


def of_levels(levels):
    """The made-up score of a cell of the first stage."""
    high = [factor for factor in CHANGES if factor.high in levels]
    return 12 + sum(CHANGES[factor] for factor in high) + TOGETHER * ({NORM, TAGS} <= {*high})


def first_stage(seeds=(1, 2)):
    return [
        scored(system.name, seed, of_levels(levels) + 10 * seed)
        for levels, system in BASE_GRID.cells.items()
        for seed in seeds
    ]


def effects(name, all_scores):
    table = STUDY_TABLES[name](all_scores)
    return {row[0]: dict(zip(table.columns, row)) for row in table.rows}


def test_cells_know_their_levels_and_make_every_combination():
    for design in (*FIRST_STAGE, BLOCKS_GRID):
        assert len(design.cells) == len({system.name for system in design.cells.values()}) == 8
        for levels, system in design.cells.items():
            assert all(level in (factor.low, factor.high) for factor, level in zip(design.factors, levels))
            assert ("residual" in system.name) == (REMOVAL.high in levels)
    for design in map(remedy_design, ("consistency", "few_10")):
        assert len(design.cells) == 2 * len(CORNERS)
        control = {cell[1:]: system for cell, system in design.cells.items() if cell[0] == CONTROL}
        assert {system.base for system in control.values()} == {system.name for system in CORNERS.values()}


def test_effects_are_those_that_the_runs_were_made_with():
    found = effects("base_grid", first_stage())
    assert [*found] == [
        "norm",
        "tags",
        "residual",
        "norm × tags",
        "norm × residual",
        "tags × residual",
    ]
    wanted = [2 + TOGETHER / 2, 5 + TOGETHER / 2, -3.0, TOGETHER / 2, 0, 0]
    for row, size in zip(found.values(), wanted):
        for title in ("zero-shot BLEU", "zero-shot chrF++", "chrF++ on target"):
            assert row[title].mean == pytest.approx(size) and row[title].interval == pytest.approx(
                (size, size)
            )
        assert row["off-target to the pivot"].mean == pytest.approx(size / 100)
        assert row["off-target to the source"].mean == pytest.approx(-size / 100)
        for title in ("chrF++ into the pivot", "chrF++ out of the pivot"):
            assert row[title].mean == pytest.approx(size / 10) and not row[title].note
        assert row["seeds"] == "1, 2"


CONTRASTED = {MASK: 1.5, LANGUAGE_CONTRAST: 2.5, SOURCE_CONTRAST: -1.0, REMOVAL: 6.0}


def decoded(seeds=(1, 2)):
    """Runs of the two systems, each decoded in every way of the design."""
    found = []
    for residual in (REMOVAL.low, REMOVAL.high):
        cells = [levels for levels in DECODING_GRID.cells if levels[-1] == residual]
        for seed in seeds:
            results = []
            for levels in cells:
                system = DECODING_GRID.cells[levels].name
                high = [factor for factor in CONTRASTED if factor.high in levels]
                of_cell = scored(system, seed, 20 + seed + sum(CONTRASTED[factor] for factor in high))
                way = way_of(DECODING_GRID, levels, [of_cell])
                results += [replace(result, way=way) for result in of_cell.results]
            found.append(replace(made_up_scores(system, seed, 5.0), results=results))
    return found


def test_each_way_to_decode_a_system_is_a_cell():
    found = effects("decoding_grid", decoded())
    for factor, size in CONTRASTED.items():
        assert found[factor.name]["zero-shot BLEU"].mean == pytest.approx(size)
    together = found[f"{MASK.name} × {LANGUAGE_CONTRAST.name}"]["zero-shot BLEU"]
    assert together.mean == pytest.approx(0) and len(found) == 4 + 6
    first, *others = decoded()
    lacks = replace(first, results=[each for each in first.results if each.way.name != "mask"])
    assert effects("decoding_grid", [lacks, *others])["mask"]["seeds"] == "2", "the other seed lacks a way"
    assert STUDY_TABLES["decoding_grid"]([lacks, *others[1:]]) is None


def test_ways_of_the_design_are_those_that_its_levels_name():
    ways = {levels[:-1]: way for levels, way in DECODING_GRID.ways.items()}
    assert len(DECODING_GRID.cells) == 16 and len(ways) == 7
    for (mask, languages, sources), way in ways.items():
        method = parse_method(way)
        assert (method.mask is not None) == (mask == MASK.high)
        contrast = method.several
        assert (bool(contrast) and contrast.language_weight == 0.1) == (languages == LANGUAGE_CONTRAST.high)
        assert (bool(contrast) and contrast.source_weight == 0.7) == (sources == SOURCE_CONTRAST.high)


def test_seeds_that_a_cell_lacks_are_left_out_and_said():
    runs = [*first_stage(), scored("zs_transformer", 3, 99.0)]
    assert effects("base_grid", runs) == effects("base_grid", first_stage())
    assert (
        "Left out, since other cells lack the seed: zs_transformer seed 3." in tables(runs)["base_grid"].about
    )
    lacking = [scores for scores in first_stage() if scores.system != "post_t_enc"]
    assert not {*STUDY_TABLES} & {*tables(lacking)}


def test_directions_without_a_figure_somewhere_are_left_out_and_older_files_have_empty_cells():
    first, *others = first_stage()
    gone = replace(
        first.results[-1],
        figures={key: value for key, value in first.results[-1].figures.items() if key != "chrf_on_target"},
        identified={},
    )
    row = effects("base_grid", [replace(first, results=[*first.results[:-1], gone]), *others])["tags"]
    assert row["chrF++ on target"].note == row["off-target to the pivot"].note == "1 of 2 directions"
    assert row["zero-shot BLEU"].note == ""
    older = [
        replace(scores, results=[replace(result, identified={}) for result in scores.results])
        for scores in first_stage()
    ]
    assert effects("base_grid", older)["tags"]["off-target to the pivot"] is None


def second_stage(remedy, gain, kind=ZERO_SHOT):
    """A remedy and the control on every corner; it gains more where the residual is kept."""
    found = []
    for (level, _, residual), system in remedy_design(remedy).cells.items():
        added = gain * (2 if residual == REMOVAL.low else 1) if level == remedy else 0.0
        found += [
            scored(system.name, seed, 10 + seed + added, kind if level == remedy else ZERO_SHOT)
            for seed in (1, 2)
        ]
    return found


def test_two_remedies_together_have_a_row_for_what_they_add_beyond_each_other():
    gains, together = {"denoising": 4.0, "unlikelihood": 2.0}, 3.0
    runs = []
    for (one, other, _), system in pair_design("denoising", "unlikelihood").cells.items():
        value = 10 + gains["denoising"] * (one == "with") + gains["unlikelihood"] * (other == "with")
        both = together * (one == other == "with")
        runs += [scored(system.name, seed, value + both + seed) for seed in (1, 2)]
    found = effects("remedies_together", runs)
    assert [*found] == ["denoising × unlikelihood"]
    assert found["denoising × unlikelihood"]["zero-shot BLEU"].mean == pytest.approx(together / 2)


def test_a_remedy_is_compared_with_training_on_and_has_rows_of_its_own():
    runs = {
        scores.name: scores
        for remedy, gain in (("consistency", 2.0), ("denoising", 0.5))
        for scores in second_stage(remedy, gain)
    }
    found = effects("stage_two", [*runs.values()])
    assert [*found][:3] == ["consistency", "consistency × base", "consistency × residual"] and len(found) == 6
    assert found["consistency"]["zero-shot BLEU"].mean == pytest.approx(3.0)
    assert found["consistency × residual"]["zero-shot BLEU"].mean == pytest.approx(-1.0)
    assert found["denoising × base"]["zero-shot BLEU"].mean == pytest.approx(0)
    gains = remedy_gains([*runs.values()])
    assert sorted(gain for _, gain in gains["consistency"]) == pytest.approx([2, 2, 4, 4])
    assert {share for share, _ in gains["consistency"]} == {0.5} and drawing(gains).axes[0].lines


def test_few_shot_directions_are_in_a_table_of_their_own_and_in_none_of_zero_shot():
    runs = second_stage("few_10", 6.0, FEW_SHOT)
    assert STUDY_TABLES["stage_two"](runs) is None and not remedy_gains(runs)
    row = effects("few_lines", runs)["few_10"]
    assert row["few-shot BLEU"].mean == pytest.approx(9.0) and "zero-shot BLEU" not in row
    shown = tables(runs)
    systems = {row[0]: dict(zip(shown["systems"].columns, row)) for row in shown["systems"].rows}
    for name, row in systems.items():
        assert (row["few-shot"] is None) == (not name.endswith("few_10"))
        assert (row["zero-shot"] is None) == name.endswith("few_10")


def test_terminal_and_documents_have_it_and_say_what_intervals_are(tmp_path):
    runs = first_stage()
    assert "Effects of norm, tags and residual:" in text_table(runs)
    for scores in runs:
        keep_scores(scores, tmp_path)
    filled = fill("<!-- begin made_up:base_grid -->\n<!-- end made_up:base_grid -->", tmp_path, MAKERS)
    assert "| norm × tags | 1, 2 | +2.0 [2.0, 2.0] |" in filled and "over seeds (blocks)" in filled
    assert "by bootstrap" not in filled


def test_the_table_of_main_effects_has_each_once_and_those_of_its_own_table():
    assert main_effects_table([made_up_scores("zs_transformer", 1, 5.0)]) is None
    design = remedy_design("consistency")
    gains = {CONTROL: 0.0, "consistency": 3.0}
    second = [scored(system.name, 1, 20 + gains[level]) for (level, *_), system in design.cells.items()]
    table = main_effects_table([*first_stage(), *second])
    found = {row[0]: dict(zip(table.columns, row)) for row in table.rows}
    assert [*found] == [NORM.name, TAGS.name, REMOVAL.name, "consistency"] and len(table.rows) == 4
    assert found["consistency"]["zero-shot BLEU"].mean == pytest.approx(3.0)
    assert found[TAGS.name] == effects("base_grid", first_stage())[TAGS.name]
