"""Translations of test sets: what is translated, from what, and what is kept."""

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.support.evaluation import MadeUpTranslator, sentences
from zsnmt.errors import InputError
from zsnmt.evaluation import hypotheses
from zsnmt.evaluation.hypotheses import (
    Hypotheses,
    Job,
    Pair,
    direct_jobs,
    group_by_source,
    kept_ways,
    pivot_jobs,
)
from zsnmt.languages import Direction, kind_of, parse_direction, supervised_directions, zero_shot_directions
from zsnmt.runs.folder import hypotheses_file, settings_file
from zsnmt.runs.ways import DIRECT, INTO_PIVOT, PIVOT, Way
from zsnmt.text.lines import read_lines

LINES = 5
LANGUAGES, PIV = MadeUpTranslator.languages, MadeUpTranslator.pivot
ZERO_SHOT = zero_shot_directions(LANGUAGES, PIV)
DIRECTIONS = supervised_directions(LANGUAGES, PIV) + ZERO_SHOT
AA_BB, AA_CC, BB_AA, AA_PIV, PIV_BB = map(parse_direction, ("aa-bb", "aa-cc", "bb-aa", "aa-piv", "piv-bb"))


def model(folder: Path, name: str) -> MadeUpTranslator:
    folder.mkdir(exist_ok=True)
    (folder / "model.pt").write_text(name)
    return MadeUpTranslator(folder)


@pytest.fixture
def own(tmp_path) -> MadeUpTranslator:
    return model(tmp_path / "own", "own")


@pytest.fixture
def other(tmp_path) -> MadeUpTranslator:
    return model(tmp_path / "other", "other")


def sets_of(directions: Iterable[Direction], seeds: dict[Direction, int] = {}) -> dict[Direction, Pair]:
    """Test sets, multiway but for the directions with a seed of their own."""
    return {
        direction: tuple(sentences(language, LINES, seeds.get(direction, 1)) for language in direction)
        for direction in directions
    }


def jobs_of(
    folder: Path,
    sets: dict[Direction, Pair],
    translator,
    pivoting=None,
    settings: dict = {},
    of_pivot: dict = {},
) -> list[Job]:
    direct = Hypotheses(folder, DIRECT, settings, translator)
    pivot, into_pivot = (
        Hypotheses(folder, way, {**settings, **of_pivot}, pivoting or translator)
        for way in (PIVOT, INTO_PIVOT)
    )
    kinds = {direction: kind_of(direction, translator.trained) for direction in sets}
    return [
        *direct_jobs(direct, sets),
        *pivot_jobs(direct, pivot, into_pivot, pairs=sets, kinds=kinds),
    ]


def run(to_do: list[Job]) -> float:
    """Does all jobs; how many sentences were said to be finished."""
    told: list[float] = []
    for job in to_do:
        job.run(told.append)
    return sum(told)


def contents(folder: Path) -> dict[str, list[str]]:
    return {path.name: read_lines(path) for path in sorted(folder.glob("*.txt"))}


def expected(direction: Direction, own, pivoting=None, sources: list[str] | None = None) -> list[str]:
    """Through the pivot by one model, or directly by the other, sentence by sentence."""
    sources = sources or sentences(direction.source, LINES)
    if pivoting is None:
        return [own.translation(line, direction) for line in sources]
    into, out_of = Direction(direction.source, PIV), Direction(PIV, direction.target)
    return [pivoting.translation(pivoting.translation(line, into), out_of) for line in sources]


def test_a_multiway_set_is_translated_from_each_language_at_once(tmp_path, own):
    sets = sets_of(DIRECTIONS)
    to_do = jobs_of(tmp_path / "kept", sets, own)
    assert sum(job.work() for job in to_do) == run(to_do) == LINES * (len(DIRECTIONS) + len(ZERO_SHOT))
    assert Counter(len(asked) for asked in own.asked) == {
        3: 4,
        2: 3,
    }  # from 4 languages directly, from 3 on from the pivot
    made = contents(tmp_path / "kept")
    direct, pivot = (
        {f"{way.name}.{each}.txt" for each in of_way}
        for way, of_way in ((DIRECT, DIRECTIONS), (PIVOT, ZERO_SHOT))
    )
    assert set(made) == direct | pivot
    for direction in DIRECTIONS:
        assert made[f"direct.{direction}.txt"] == expected(direction, own)
    for direction in ZERO_SHOT:
        assert (
            made[f"pivot.{direction}.txt"] == expected(direction, own, own) != made[f"direct.{direction}.txt"]
        )


def test_what_is_there_is_not_translated_again(tmp_path, own):
    folder, sets = tmp_path / "kept", sets_of(DIRECTIONS)
    run(jobs_of(folder, sets, own))
    before, own.asked = contents(folder), []
    to_do = jobs_of(folder, sets, own)
    assert sum(job.work() for job in to_do) == run(to_do) == 0 and own.asked == []
    for way, direction in ((DIRECT, AA_BB), (PIVOT, BB_AA), (DIRECT, AA_PIV)):
        hypotheses_file(folder, way, direction).unlink()
    to_do = jobs_of(folder, sets, own)
    assert sum(job.work() for job in to_do) == run(to_do) == 3 * LINES
    assert sorted(own.asked) == [["aa-piv", "aa-bb"], ["piv-aa"]] and contents(folder) == before


def test_after_an_interruption_it_goes_on_where_it_was(tmp_path, own, monkeypatch):
    folder, sets = tmp_path / "kept", sets_of(DIRECTIONS)
    translate_into = own.translate_into

    def interrupted(lines, directions, **options):
        if len(own.asked) == 3:
            raise KeyboardInterrupt
        return translate_into(lines, directions, **options)

    monkeypatch.setattr(own, "translate_into", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(jobs_of(folder, sets, own))
    assert len(contents(folder)) == 9
    monkeypatch.undo()
    assert run(jobs_of(folder, sets, own)) == LINES * (len(DIRECTIONS) + len(ZERO_SHOT) - 9)
    assert len(own.asked) == 7 and not {
        path for path in folder.iterdir() if path.suffix not in (".txt", ".json")
    }
    assert contents(folder)[f"pivot.{AA_BB}.txt"] == expected(AA_BB, own, own)


def test_hypotheses_made_with_other_settings_are_removed_when_there_are_others(tmp_path, own):
    folder, sets = tmp_path / "kept", sets_of([AA_BB])
    for settings, calls in (({"beam": 4}, 3), ({"beam": 4}, 3), ({"beam": 5}, 6), ({"beam": 4}, 9)):
        run(jobs_of(folder, sets, own, settings=settings))
        assert len(own.asked) == calls
    (folder / "notes.txt").write_text("not a hypothesis\n")
    before = {path: path.read_bytes() for path in folder.iterdir()}
    first, *_ = to_do = jobs_of(folder, sets_of([BB_AA]), own, settings={"beam": 6})
    assert sum(job.work() for job in to_do) == 3 * LINES
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    run(jobs_of(folder, sets, own, settings={"beam": 4}))
    assert len(own.asked) == 9
    run([first])
    there = sorted(path.name for path in folder.glob("*.txt"))
    assert there == ["direct.bb-aa.txt", "into_pivot.aa-bb.txt", "notes.txt", "pivot.aa-bb.txt"]
    assert json.loads(settings_file(folder, DIRECT).read_text())["beam"] == 6
    assert json.loads(settings_file(folder, PIVOT).read_text())["beam"] == 4


def test_a_file_that_was_changed_is_made_anew_and_said(tmp_path, own, caplog):
    folder, sets = tmp_path / "kept", sets_of([AA_BB, AA_CC])
    run(jobs_of(folder, sets, own))
    made = contents(folder)
    hypotheses_file(folder, DIRECT, AA_BB).write_text("what another model wrote\n" * LINES)
    own.asked = []
    assert run(jobs_of(folder, sets, own)) == LINES and own.asked == [["aa-bb"]] and contents(folder) == made
    assert "direct.aa-bb.txt was changed since it was translated, and is translated again" in caplog.text
    assert caplog.text.count("\n") == 1


def test_files_of_a_time_without_checksums_stay(tmp_path, own):
    folder, sets = tmp_path / "kept", sets_of([AA_BB])
    run(jobs_of(folder, sets, own))
    hypotheses_file(folder, DIRECT, AA_BB).write_text("as it is\n" * LINES)
    record = settings_file(folder, DIRECT)
    record.write_text("{}")  # the settings, which are none here
    assert run(jobs_of(folder, sets, own)) == 0
    assert [*json.loads(record.read_text())["checksums"]] == [f"direct.{AA_BB}.txt"]
    record.write_text("{")
    assert run(jobs_of(folder, sets, own)) == 0  # as they are none here, either


def test_another_pivot_model_leaves_the_direct_hypotheses_alone(tmp_path, own, other):
    folder, sets = tmp_path / "kept", sets_of(DIRECTIONS)
    run(jobs_of(folder, sets, own))
    by_itself, own.asked = contents(folder), []
    assert run(jobs_of(folder, sets, own, other, of_pivot={"pivot_model": "other"})) == LINES * (
        3 + len(ZERO_SHOT)
    )
    assert own.asked == [] and sorted(map(len, other.asked)) == [1, 1, 1, 2, 2, 2]
    by_other = contents(folder)
    for direction in DIRECTIONS:
        assert by_other[f"direct.{direction}.txt"] == by_itself[f"direct.{direction}.txt"]
    for direction in ZERO_SHOT:
        assert (
            by_other[f"pivot.{direction}.txt"]
            == expected(direction, own, other)
            != by_itself[f"pivot.{direction}.txt"]
        )
    assert run(jobs_of(folder, sets, own)) == LINES * len(ZERO_SHOT)
    assert by_itself.items() <= contents(folder).items()  # what it does not replace may stay


def test_the_first_leg_is_reused_only_where_the_same_model_has_translated_the_same_sources(
    tmp_path, own, other
):
    """Legs into the pivot that are made for the pivot alone, by test sets and by model."""
    cases = {
        "multiway": (sets_of([AA_BB, AA_PIV]), own, 0),
        "by the other model": (sets_of([AA_BB, AA_PIV]), other, 1),
        "the first leg is not scored": (sets_of([AA_BB, AA_CC]), own, 1),
        "the first leg has other sources": (sets_of([AA_BB, AA_PIV], {AA_PIV: 2}), own, 1),
        "all have other sources": (sets_of([AA_BB, AA_CC, AA_PIV], {AA_CC: 2, AA_PIV: 3}), own, 2),
    }
    for case, (sets, pivoting, number) in cases.items():
        run(jobs_of(tmp_path / case, sets, own, pivoting))
        made = contents(tmp_path / case)
        assert len([name for name in made if name.startswith("into_pivot.")]) == number, case
        for direction in {AA_BB, AA_CC} & {*sets}:
            assert made[f"pivot.{direction}.txt"] == expected(direction, own, pivoting, sets[direction][0]), (
                case
            )


def test_sets_are_grouped_by_language_and_sources(own):
    sets = sets_of([AA_PIV, AA_BB, AA_CC, BB_AA, PIV_BB], {AA_CC: 2, BB_AA: 2})
    assert group_by_source(sets) == [[AA_PIV, AA_BB], [AA_CC], [BB_AA], [PIV_BB]]
    alike = {AA_BB: (["1."], ["1."]), BB_AA: (["1."], ["1."])}  # the same line, but in another language
    assert group_by_source(alike) == [[AA_BB], [BB_AA]]


def test_what_files_are_made_with_is_written_once_for_a_source_language(tmp_path, own, monkeypatch):
    """It has a checksum of every file: to write it for each of them would take their number squared."""
    written, original = [], hypotheses.write_json
    to_do = jobs_of(tmp_path / "kept", sets_of(DIRECTIONS), own)
    monkeypatch.setattr(
        hypotheses, "write_json", lambda path, content: written.append(path.name) or original(path, content)
    )
    run(to_do)
    assert Counter(written) == {"direct.json": len(LANGUAGES), "pivot.json": len(LANGUAGES) - 1}
    assert not any(job.missing() for job in jobs_of(tmp_path / "kept", sets_of(DIRECTIONS), own))


def test_only_untrained_directions_without_the_pivot_go_through_it(tmp_path, own, monkeypatch):
    monkeypatch.setattr(
        own, "trained", [AA_PIV, AA_BB], raising=False
    )  # a direct pair, but none out of the pivot
    run(jobs_of(tmp_path, sets_of([AA_PIV, PIV_BB, AA_BB, AA_CC]), own))
    assert [name for name in contents(tmp_path) if not name.startswith("direct")] == ["pivot.aa-cc.txt"]


def test_ways_of_one_name_keep_their_hypotheses_apart_by_their_settings(tmp_path, own):
    """And a folder says which ways it has, though it is asked for no name."""
    sets, ways = sets_of([AA_BB]), [Way("mask", {"keep": keep}) for keep in (0.5, 0.9)]
    for way in (*ways, DIRECT):
        run([*direct_jobs(Hypotheses(tmp_path, way, {"beam": 4}, own), sets)])
    run(jobs_of(tmp_path, sets, own, settings={"beam": 4}))
    assert len({hypotheses_file(tmp_path, way, AA_BB) for way in ways}) == 2 and len(own.asked) == 5
    assert {*kept_ways(tmp_path, "score it again")} == {*ways, DIRECT, PIVOT}
    run([*direct_jobs(Hypotheses(tmp_path, ways[0], {"beam": 5}, own), sets)])
    assert len(own.asked) == 6
    run([*direct_jobs(Hypotheses(tmp_path, ways[1], {"beam": 4}, own), sets)])
    assert len(own.asked) == 6 and "0.9" in settings_file(tmp_path, ways[1]).read_text()


def test_other_directions_stay_where_one_is_added_or_has_other_sources(tmp_path, own):
    def translate(directions: list[Direction], **sources: str) -> None:
        found = {str(direction): sources.get(direction.source, "1") for direction in directions}
        kept = Hypotheses(tmp_path, DIRECT, {"beam": 4, "sources": found}, own)
        run([*direct_jobs(kept, sets_of(directions))])

    translate([AA_BB])
    translate([AA_BB, PIV_BB])
    assert [each for asked in own.asked for each in asked] == ["aa-bb", "piv-bb"]
    translate([AA_BB, PIV_BB], aa="2")
    assert [each for asked in own.asked for each in asked] == ["aa-bb", "piv-bb", "aa-bb"]


@pytest.mark.parametrize("sources", [None, ["1"], {"aa-bb": 1}])
def test_settings_with_damaged_sources_are_those_of_nothing(tmp_path, own, sources):
    """What they are beside is translated again, and they are not taken for those of an earlier run."""
    sets, settings = sets_of([AA_BB]), {"beam": 4, "sources": {"aa-bb": "1"}}
    run([*direct_jobs(Hypotheses(tmp_path, DIRECT, settings, own), sets)])
    record = settings_file(tmp_path, DIRECT)
    record.write_text(json.dumps(json.loads(record.read_text()) | {"sources": sources}))
    if sources is not None:
        with pytest.raises(InputError, match="direct.json is damaged .*sources cannot be .*score it again"):
            kept_ways(tmp_path, "score it again")
    run([*direct_jobs(Hypotheses(tmp_path, DIRECT, settings, own), sets)])
    assert len(own.asked) == 2
