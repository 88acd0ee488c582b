"""Score files: what those of today and those of format 1 say of kinds and ways."""

import base64
import json
import math
from dataclasses import replace

import pytest

from tests.conftest import ROOT
from tests.support.scores import all_changed, made_up_result, made_up_scores
from zsnmt.errors import InputError
from zsnmt.languages import SUPERVISED, ZERO_RESOURCE, ZERO_SHOT, Direction
from zsnmt.runs.checksums import CHECKSUMS_FILE
from zsnmt.runs.score_file import RANGES, read_score_file, read_scores, write_score_file
from zsnmt.runs.scores import Uncertainty, order_groups
from zsnmt.runs.ways import DIRECT, PIVOT, Way
from zsnmt.scoring.figures import FIGURES, ranges

MASK = Way("mask", {"keep": 0.9, "into": ["en", "de"]})
FORMAT_1 = [  # made before results had a way
    path
    for path in sorted((ROOT / "docs" / "results").glob("*/*.seed*.json"))
    if not path.read_text(encoding="utf-8").startswith('{\n"format"')
]


def test_a_folder_that_has_no_scores_is_told_from_one_that_is_not_there_or_not_a_run(tmp_path):
    (run := tmp_path / "mine" / "a system" / "seed1").mkdir(parents=True)
    (run / "run.json").write_text("{}")
    for folder, message in (
        (tmp_path / "none", "there is no folder .*none; give a run"),
        (tmp_path / "mine", f"mine is not a run folder; did you mean {run}[?]"),
    ):
        with pytest.raises(InputError, match=message):
            read_scores(folder)
    (run / "pipeline").mkdir()
    with pytest.raises(InputError, match=f"json is missing; score the run with zsnmt evaluate '{run}'"):
        read_scores(run)


@pytest.mark.parametrize("name", ["de-fr.txt", "pivot.de-fr.txt"])
def test_translations_without_scores_are_to_be_scored_first(tmp_path, name):
    (tmp_path / name).write_text("eins\n")
    message = f"{tmp_path} has translations without scores; score them with zsnmt score RUN {tmp_path}"
    with pytest.raises(InputError, match=message):
        read_scores(tmp_path)


@pytest.mark.parametrize("content", ['{"a": 1}', "[1, 2]"])
def test_a_file_of_another_kind_is_not_to_be_removed(tmp_path, content):
    (tmp_path / "a.json").write_text(content)
    with pytest.raises(InputError, match="a.json is (not a score|another) file.*; .*move it elsewhere"):
        read_score_file(tmp_path / "a.json", "score it again")


def written_anew(scores, folder):
    write_score_file(folder / "scores.json", scores)
    return read_scores(folder)


@pytest.mark.parametrize("path", FORMAT_1[::12], ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_file_of_format_1_means_what_it_meant_and_is_the_same_in_today_s_format(tmp_path, path):
    content = json.loads(path.read_text(encoding="utf-8"))
    for result in content["directions"]:  # as files of runs have them, before they are kept
        made_up = f"{result['direction']:12} {result['kind']:11}".encode()
        result["resampled"] = {"bleu": base64.b64encode(made_up).decode()}
    (tmp_path / "scores.json").write_text(
        json.dumps({**content, "text": "/a/folder", "what": "no table reads"})
    )
    scores = read_scores(tmp_path)
    assert "format" not in content and (scores.text, scores.others) == (
        "/a/folder",
        {"what": "no table reads"},
    )
    for name in (
        "config",
        "system",
        "seed",
        "command",
        "commit",
        "languages",
        "pivot",
        "decoding",
        "signatures",
        "training",
    ):
        assert getattr(scores, name) == content[name]
    for old, results in ((content["directions"], scores.results), (content.get("before", []), scores.before)):
        assert len(old) == len(results)
        for one, result in zip(old, results):
            kind, way = (ZERO_SHOT, PIVOT) if one["kind"] == "pivot" else (one["kind"], DIRECT)
            assert (str(result.direction), result.kind, result.way) == (one["direction"], kind, way)
            assert result.figures.items() <= one.items() and {"bleu", "chrf", "off_target", "lines"} <= {
                *result.figures
            }
            assert result.identified == one["identified"]
            assert result.uncertainty == Uncertainty(one.get("intervals", {}), one.get("resampled", {}))
    for kind, group in (
        ("supervised", (SUPERVISED, DIRECT)),
        ("zero_shot", (ZERO_SHOT, DIRECT)),
        ("pivot", (ZERO_SHOT, PIVOT)),
    ):
        mean = scores.means.get(group, Uncertainty())
        assert mean.resampled == content.get("resampled", {}).get(kind, {}) and mean.intervals == content.get(
            "intervals", {}
        ).get(kind, {})
    assert written_anew(scores, tmp_path) == scores
    assert json.loads((tmp_path / "scores.json").read_text())["format"] == 2


def test_kind_and_way_are_kept_apart_whatever_they_are(tmp_path):
    made = [
        made_up_result("de-fr", ZERO_SHOT, MASK, 9.0),
        made_up_result("fr-it", ZERO_RESOURCE, DIRECT, 8.0),
        made_up_result("fr-it", ZERO_RESOURCE, PIVOT, 7.0),
        made_up_result("de-en", SUPERVISED, MASK, 6.0),
    ]
    scores = made_up_scores("baseline", 1, 5.0)
    scores = replace(
        scores,
        results=[*scores.results, *made],
        before=made[:1],
        means={(ZERO_SHOT, MASK): Uncertainty({"bleu": [1.0, 2.0]})},
    )
    assert written_anew(scores, tmp_path) == scores
    assert (
        scores.select(ZERO_SHOT, MASK) == {Direction("de", "fr"): made[0]}
        and len(scores.select(ZERO_SHOT)) == 2
    )
    assert scores.groups == [
        (SUPERVISED, DIRECT),
        (SUPERVISED, MASK),
        (ZERO_SHOT, DIRECT),
        (ZERO_SHOT, PIVOT),
        (ZERO_SHOT, MASK),
        (ZERO_RESOURCE, DIRECT),
        (ZERO_RESOURCE, PIVOT),
    ]
    assert order_groups([(ZERO_SHOT, MASK), (ZERO_SHOT, PIVOT), (ZERO_SHOT, MASK)]) == [
        (ZERO_SHOT, PIVOT),
        (ZERO_SHOT, MASK),
    ]


def test_a_way_is_its_name_and_its_settings():
    same, other = Way("mask", {"into": ("en", "de"), "keep": 0.9}), Way("mask", {"keep": 0.5})
    assert same == MASK and hash(MASK) == hash(same) and MASK.file_name == same.file_name
    assert other != MASK and len({MASK.file_name, other.file_name, DIRECT.file_name}) == 3
    assert MASK.label == "mask (into en+de, keep 0.9)" and MASK.phrase == f"by {MASK.label}"
    assert (DIRECT.phrase, PIVOT.phrase, PIVOT.label, PIVOT.file_name) == (
        "",
        "through pivot",
        "pivot",
        "pivot",
    )
    assert Way("pivot", {"via": "de"}).phrase == "through pivot (via de)"
    assert Way.from_json(json.loads(json.dumps(MASK.to_json()))) == MASK and DIRECT.to_json() == "direct"


@pytest.mark.parametrize(
    "change, message",
    [
        (
            {"format": 3},
            "scores.json is of format 3, and this version reads formats up to 2; update zsnmt, or score it "
            "again",
        ),
        (
            {"config": None},
            "scores.json is damaged .it lacks config.; remove it, then score it again",
        ),
        (
            {"directions": [{"direction": "de-en", "kind": "guessed"}]},
            "'guessed' is not a kind of direction; there are supervised, zero_shot",
        ),
        ({"directions": [{"direction": "de-en"}]}, "is damaged .it lacks 'kind'."),
        ({"directions": [{"direction": "de", "kind": "zero_shot"}]}, "is damaged .'de' is no"),
        (
            {"directions": [{"direction": "de-en", "kind": "zero_shot", "way": {"name": "mask"}}]},
            "it lacks 'settings'",
        ),
    ],
)
def test_what_is_not_a_score_file_is_refused(tmp_path, change, message):
    path = tmp_path / "scores.json"
    write_score_file(path, made_up_scores("baseline", 1, 5.0))
    content = {
        name: value for name, value in (json.loads(path.read_text()) | change).items() if value is not None
    }
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match=message):
        read_score_file(path, "score it again")


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"bleu": math.nan}, "bleu is a number from 0 to 100, not nan"),
        ({"bleu": 100.1}, "bleu is a number from 0 to 100, not 100.1"),
        ({"off_target": 12.5}, "off_target is a number from 0 to 1, not 12.5"),
        ({"copied": -0.1}, "copied is a number from 0 to 1, not -0.1"),
        ({"length_ratio": math.inf}, "length_ratio is a number from 0, not inf"),
        ({"lines": 10**400}, "lines is a number from 0, not 1000"),
        ({"comet": -math.inf}, "comet is a number, not -inf"),
        ({"identified": {"en": math.nan}}, "the share of en is a number from 0 to 1, not nan"),
        ({"intervals": {"bleu": [math.nan, 2.0]}}, "an end of the interval of bleu is .*, not nan"),
        ({"intervals": {"bleu": [2.0, 1.0]}}, "the interval of bleu ends below its beginning"),
        ({"kind": "zero_shot", "direction": "de-fr"}, "de-fr is there twice by one way, direct"),
        ({"way": "pivot", "direction": "de-fr"}, "de-fr is both supervised and zero-shot"),
    ],
)
@pytest.mark.parametrize("listed", ["directions", "before"])
def test_figures_that_cannot_be_and_directions_that_are_there_twice_are_refused(
    tmp_path, listed, changes, message
):
    path = tmp_path / "scores.json"
    scores = made_up_scores("baseline", 1, 5.0)
    write_score_file(path, replace(scores, before=scores.results))
    content = json.loads(path.read_text())
    content[listed][0] |= changes
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match=f"scores.json is damaged .{message}.*; remove it, then score it ag"):
        read_score_file(path, "score it again")


def test_a_figure_with_a_range_has_it_in_score_files():
    tops = ranges() | {name: 1 for name, figure in FIGURES.items() if figure.form.unit == " %"}
    assert {name: top for name, (_, top) in RANGES.items() if name in tops} == tops


def test_the_best_figures_are_read_as_sacrebleu_rounds_them(tmp_path):
    scores = all_changed(made_up_scores("baseline", 1, 5.0), bleu=100.00000000000004, comet=-0.4)
    write_score_file(tmp_path / "scores.json", scores)
    assert read_score_file(tmp_path / "scores.json", "") == scores


@pytest.mark.parametrize("text", ["", "x", "AAAA", "eA=="])
def test_damaged_resamples_are_refused(tmp_path, text):
    path = tmp_path / "scores.json"
    write_score_file(path, made_up_scores("baseline", 1, 5.0))
    content = json.loads(path.read_text())
    content["directions"][0]["resampled"] = {"bleu": text}
    content["directions"][0].setdefault("intervals", {})
    path.write_text(json.dumps(content))
    with pytest.raises(
        InputError, match="damaged .the resamples of bleu are not .*; remove it, then score it again"
    ):
        read_score_file(path, "score it again")


def test_scores_of_another_model_than_the_run_has_now_are_refused(tmp_path):
    def say(model: str) -> None:
        (tmp_path / CHECKSUMS_FILE).write_text(json.dumps({"model.pt": model, "pipeline/languages.txt": "c"}))

    scores = replace(made_up_scores("baseline", 1, 5.0), decoding={"beam": 4, "model": "a"})
    write_score_file(tmp_path / "scores.json", scores)
    assert read_scores(tmp_path) == scores  # as of a run that has no checksums
    say("a")
    assert read_scores(tmp_path) == scores
    say("b")
    with pytest.raises(InputError, match="scores.json is of another model than .*model.pt; score the run ag"):
        read_scores(tmp_path)
    assert read_score_file(tmp_path / "scores.json", "") == scores  # a file that is kept elsewhere
