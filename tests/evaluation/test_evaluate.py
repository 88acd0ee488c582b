"""Evaluation of a run: what is translated by which model, and what the score file says of it.

Most tests have made-up models, which translate word by word; those with `tiny` have a trained one.
"""

import hashlib
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import sacrebleu

from tests.support.evaluation import MadeUpTranslator, sentences, write_run, write_text
from zsnmt.decoding.options import EngineChoice
from zsnmt.errors import InputError
from zsnmt.evaluation import evaluate as evaluation
from zsnmt.evaluation.evaluate import directions_with_text, evaluate, read_sets
from zsnmt.languages import Direction, parse_direction
from zsnmt.report.scores import check_comparable, search_note
from zsnmt.runs.folder import BEFORE, DIRECT, HYPOTHESES, INTO_PIVOT, PIVOT, settings_file
from zsnmt.scoring.bootstrap import STEPS, draws, interval, unpacked
from zsnmt.scoring.metrics import RANGES, Metrics
from zsnmt.text.lines import read_lines, write_lines

AA_BB, AA_PIV = Direction("aa", "bb"), Direction("aa", "piv")
WAYS = DIRECT, PIVOT, INTO_PIVOT


@pytest.fixture
def models(monkeypatch) -> list[MadeUpTranslator]:
    """The models that evaluations load from now on."""
    loaded: list[MadeUpTranslator] = []

    def load(run: Path, **search) -> MadeUpTranslator:
        loaded.append(MadeUpTranslator(run, **search))
        return loaded[-1]

    monkeypatch.setattr(evaluation, "Translator", load)
    return loaded


@pytest.fixture
def text(tmp_path) -> Path:
    return write_text(tmp_path / "text")


@pytest.fixture
def run(tmp_path, text) -> Path:
    return write_run(tmp_path / "run", text, "residual")


@pytest.fixture
def baseline(tmp_path, text) -> Path:
    return write_run(tmp_path / "baseline", text, "baseline")


def scores_of(run: Path, **options) -> dict:
    return evaluate(run, identifier_kind="lexicon", **options)


def kept(folder: Path, name: str) -> list[str]:
    return read_lines(folder / "hypotheses" / f"{name}.txt", allow_empty_lines=True)


def of_kind(scores: dict, kind: str) -> list[dict]:
    return [result for result in scores["directions"] if result["kind"] == kind]


def directions_of(scores: dict, kind: str) -> list[Direction]:
    return [parse_direction(result["direction"]) for result in of_kind(scores, kind)]


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


# What is scored


def test_every_direction_with_text_is_scored_and_the_others_are_named(tmp_path, caplog):
    languages = ["en", "de", "fr", "cs"]
    for language in languages:
        (tmp_path / f"multiway.{language}").write_text("x\n")
    directions = directions_with_text(tmp_path, "multiway", languages)
    assert len(directions) == len(set(directions)) == 12 and not caplog.text
    assert ["en" in direction for direction in directions] == [True] * 6 + [False] * 6

    for name in ("test.de-en.de", "test.de-en.en", "test.fr-de.fr", "test.fr-de.de"):
        (tmp_path / name).write_text("x\n")
    directions = directions_with_text(tmp_path, "test", languages)
    assert [str(direction) for direction in directions] == ["de-en", "en-de", "de-fr", "fr-de"]
    assert "en-fr, en-cs, de-cs, fr-cs" in caplog.text
    with pytest.raises(InputError, match="no text in split 'other'"):
        directions_with_text(tmp_path, "other", languages)


def test_a_test_set_that_is_missing_is_named(run, models):
    with pytest.raises(InputError, match="no text in split 'other'"):
        scores_of(run, split="other")


def test_a_test_set_of_unequal_lines_is_refused_before_it_is_translated(run, text, models):
    write_lines(text / "test.bb", sentences("bb")[:-1])
    with pytest.raises(InputError, match="test.bb has 39 lines and .*test.piv has 40"):
        scores_of(run, lines=4)
    assert models[0].asked == [] and not (run / "hypotheses").exists()


def test_a_file_of_the_test_set_is_read_and_spelt_once(text, monkeypatch):
    read, spelt = [], []
    monkeypatch.setattr(evaluation, "read_lines", lambda path: read.append(path.name) or read_lines(path))
    directions = directions_with_text(text, "test", MadeUpTranslator.languages)
    files = {direction: evaluation.find_pair(text, "test", *direction) for direction in directions}
    sets = read_sets(files, 3, lambda line, language: spelt.append(language) or line.upper())
    assert sorted(read) == [f"test.{language}" for language in sorted(MadeUpTranslator.languages)] and len(spelt) == 3 * 4
    assert sets[AA_BB] == (sentences("aa")[:3], [line.upper() for line in sentences("bb")[:3]])


def test_results_are_told_as_they_are_made_and_written_by_kind(run, models):
    told = []
    scores = scores_of(run, scored=told.append)
    assert len(told) == len(scores["directions"]) == 18 and all(result in told for result in scores["directions"])
    kinds = [result["kind"] for result in scores["directions"]]
    assert kinds == ["supervised"] * 6 + ["zero_shot"] * 6 + ["pivot"] * 6
    assert all(("piv" in result["direction"]) == (result["kind"] == "supervised") for result in told)
    assert directions_of(scores, "zero_shot") == directions_of(scores, "pivot")
    again = []
    assert scores_of(run, scored=again.append) == scores and again == told and models[1].asked == []


def test_scores_are_those_of_the_kept_hypotheses(run, text, models):
    scores = scores_of(run)
    for result in scores["directions"]:
        source, target = parse_direction(result["direction"])
        hypotheses = kept(run, f"{'pivot' if result['kind'] == 'pivot' else 'direct'}.{result['direction']}")
        references = read_lines(text / f"test.{target}")
        assert result["bleu"] == sacrebleu.corpus_bleu(hypotheses, [references]).score
        assert result["chrf"] == sacrebleu.corpus_chrf(hypotheses, [references], word_order=2).score
        assert result["off_target"] == np.mean([majority(line) != target for line in hypotheses])
        assert result["lines"] == 40 and result["reference_error"] == 0 and 0 < result["bleu"] < 100
    assert scores["training"].startswith("3 epochs, 70 updates") and scores["system"] == "residual"
    assert scores["languages"] == MadeUpTranslator.languages and scores["pivot"] == "piv"


def majority(line: str) -> str:
    """The language of most words of a made-up sentence, by their spelling; of equals the first the model knows."""
    words = [word.rstrip(".0123456789") for word in line.split()]
    return max(MadeUpTranslator.languages, key=words.count)


def test_only_the_first_lines_are_scored_where_that_is_asked_for(run, models, tmp_path):
    everything = scores_of(run, directions=[AA_BB])
    some = scores_of(run, directions=[AA_BB], lines=4, kept=tmp_path / "some")
    assert some["decoding"]["lines"] == 4 and {result["lines"] for result in some["directions"]} == {4}
    assert read_lines(tmp_path / "some" / "direct.aa-bb.txt") == kept(run, "direct.aa-bb")[:4]
    assert "lines" not in everything["decoding"] and some["test_set"] != everything["test_set"]


def test_the_length_penalty_is_recorded_and_its_form_where_it_is_not_fairseqs(run, baseline, models):
    plain = scores_of(run, directions=[AA_BB], pivot_run=baseline)
    assert plain["decoding"]["length_penalty"] == 1.0 and "length_penalty_form" not in plain["decoding"]
    assert scores_of(run, directions=[AA_BB], pivot_run=baseline, length_penalty=1.0, length_penalty_form="power") == plain
    assert not any(model.asked for model in models[2:])
    gnmt = dict(length_penalty=0.6, length_penalty_form="gnmt")
    other = scores_of(run, directions=[AA_BB], pivot_run=baseline, **gnmt)
    assert other["decoding"] == {**plain["decoding"], **gnmt}
    assert [model.search for model in models[4:]] == [dict(beam=4, **gnmt)] * 2 and all(model.asked for model in models[4:])
    with pytest.raises(InputError, match="differ: only residual seed 1 has length_penalty 1.0, only .* 0.6, length_penalty_form gnmt; score"):
        check_comparable([plain, {**other, "seed": 2}])


def test_the_engine_is_recorded_where_it_changes_translations(run, baseline, models):
    plain = scores_of(run, directions=[AA_BB], pivot_run=baseline)
    choice = EngineChoice("pytorch", "int8")
    other = scores_of(run, directions=[AA_BB], pivot_run=baseline, choice=choice)
    assert "engine" not in plain["decoding"] and other["decoding"] == {**plain["decoding"], "engine": "pytorch int8"}
    assert [model.choice for model in models[2:]] == [choice] * 2 and all(model.asked for model in models[2:])
    assert search_note(other) == "beam 4, by pytorch int8"
    with pytest.raises(InputError, match="differ: only other seed 2 has engine pytorch int8"):
        check_comparable([plain, {**other, "system": "other", "seed": 2}])


def test_references_spelt_as_the_output_is_are_marked_in_the_signatures(run, models):
    plain, normalised = (scores_of(run, directions=[AA_BB], normalise=normalise) for normalise in (False, True))
    for metric in ("bleu", "chrf"):
        assert normalised["signatures"][metric] == f"{plain['signatures'][metric]}|ref:normalised"
    capitals = [line.upper() for line in sentences("bb")]
    score = sacrebleu.corpus_chrf(kept(run, "direct.aa-bb"), [capitals], word_order=2).score
    assert normalised["directions"][0]["chrf"] == score < plain["directions"][0]["chrf"]
    assert normalised["signatures"]["intervals"] == plain["signatures"]["intervals"] == "bs:1000|seed:12345"


# By which model


def test_a_model_is_loaded_once_for_all_directions(run, baseline, models):
    scores_of(run, lines=2)
    assert [model.model for model in models] == ["residual"]
    scores_of(run, lines=2, pivot_run=baseline)
    assert [model.model for model in models[1:]] == ["residual", "baseline"]


@pytest.mark.slow
def test_the_pivot_of_another_run_is_what_that_run_makes_itself(run, baseline, models):
    by_itself, of_baseline = scores_of(run, lines=10), scores_of(baseline, lines=10)
    by_baseline = scores_of(run, lines=10, pivot_run=baseline)
    assert models[2].asked == []  # its direct translations are there
    for direction in directions_of(by_itself, "pivot"):
        assert kept(run, f"pivot.{direction}") == kept(baseline, f"pivot.{direction}")
    assert of_kind(by_baseline, "pivot") == of_kind(of_baseline, "pivot") != of_kind(by_itself, "pivot")
    assert of_kind(by_baseline, "zero_shot") == of_kind(by_itself, "zero_shot") != of_kind(of_baseline, "zero_shot")
    for found in ("intervals", "resampled"):
        assert by_baseline[found]["pivot"] == of_baseline[found]["pivot"]
    assert scores_of(run, lines=10) == by_itself  # and back


def test_the_score_file_says_who_pivoted(run, baseline, models):
    by_itself, by_baseline = (scores_of(run, directions=[AA_BB], pivot_run=by) for by in (None, baseline))
    assert by_baseline["pivot_by"] == "baseline, seed 1" and "pivot_by" not in by_itself
    assert by_baseline["decoding"] == {**by_itself["decoding"], "pivot_model": sha256(baseline / "model.pt")}
    assert by_itself["decoding"]["model"] == sha256(run / "model.pt")
    direct, pivot, into_pivot = (json.loads(settings_file(run / HYPOTHESES, way).read_text()) for way in WAYS)
    assert pivot == into_pivot == {**direct, "pivot_model": sha256(baseline / "model.pt")}
    assert "pivot_model" not in direct and direct["beam"] == 4


@pytest.mark.parametrize("lacking", [0, 1])
def test_a_direction_that_one_of_the_models_does_not_know_is_refused(run, baseline, models, monkeypatch, lacking):
    load = evaluation.Translator

    def load_with_fewer(folder: Path, **search) -> MadeUpTranslator:
        model = load(folder, **search)
        if folder == (run, baseline)[lacking]:
            model.languages = ["piv", "aa", "bb"]
        return model

    monkeypatch.setattr(evaluation, "Translator", load_with_fewer)
    directions = [AA_BB, Direction("aa", "cc")]
    with pytest.raises(InputError, match="unknown language 'cc': this model knows piv, aa, bb$"):
        scores_of(run, pivot_run=baseline, directions=directions)
    assert not [asked for model in models for asked in model.asked] and not (run / "hypotheses").exists()
    assert len(scores_of(run, pivot_run=baseline, directions=[AA_BB])["directions"]) == 2


def test_a_pivot_run_without_a_record_is_refused_before_anything_is_translated(run, baseline, models):
    (baseline / "run.json").unlink()
    with pytest.raises(InputError, match="run.json"):
        scores_of(run, pivot_run=baseline)
    assert models == [] and not (run / "hypotheses").exists()


# What scores can be compared with


def test_the_test_set_is_known_by_its_sources_and_references(run, baseline, models, text):
    def checksum(run: Path, *directions: Direction, **options) -> str:
        return scores_of(run, directions=directions, **options)["test_set"]

    before = checksum(run, AA_BB, AA_PIV)
    assert checksum(baseline, AA_BB, AA_PIV) == checksum(run, AA_PIV, AA_BB, pivot_run=baseline) == before
    assert checksum(run, AA_BB) != before
    for language in ("aa", "bb"):
        write_lines(text / f"test.{language}", [*sentences(language)[:-1], f"{language}1."])
        assert checksum(run, AA_BB, AA_PIV) != before
        write_lines(text / f"test.{language}", sentences(language))
    assert checksum(run, AA_BB, AA_PIV) == before


def test_a_changed_reference_is_scored_but_not_translated_anew(run, models, text):
    """The references of aa-piv are the sources of piv-aa, so only what is not translated counts."""
    first = scores_of(run, directions=[AA_PIV])
    write_lines(text / "test.piv", [*sentences("piv")[1:], "piv1."])
    second = scores_of(run, directions=[AA_PIV])
    assert models[1].asked == [] and second["test_set"] != first["test_set"]
    assert second["directions"][0]["bleu"] < first["directions"][0]["bleu"]


def test_a_mean_is_resampled_as_the_mean_of_the_directions(run, models):
    """The same lines in all directions of a multiway set: restated for three draws, and for the interval."""
    scores = scores_of(run)
    assert [*scores["intervals"]] == [*scores["resampled"]] == ["supervised", "zero_shot", "pivot"]
    for kind, way in (("supervised", "direct"), ("zero_shot", "direct"), ("pivot", "pivot")):
        for sample in (0, 7, 999):
            lines = [line for line, times in enumerate(draws(40)[sample].astype(int)) for _ in range(times)]
            bleu = []
            for direction in directions_of(scores, kind):
                hypotheses, references = kept(run, f"{way}.{direction}"), sentences(direction.target)
                drawn = [hypotheses[line] for line in lines], [[references[line] for line in lines]]
                bleu.append(sacrebleu.corpus_bleu(*drawn).score)
            assert unpacked(scores["resampled"][kind]["bleu"], 100)[sample] == pytest.approx(np.mean(bleu), abs=100 / STEPS)
        for figure, top in RANGES.items():
            results = of_kind(scores, kind)
            resampled = [unpacked(result["resampled"][figure], top) for result in results]
            low, high = scores["intervals"][kind][figure]
            assert [low, high] == interval(np.mean(resampled, axis=0))
            assert low <= np.mean([result[figure] for result in results]) <= high
            assert high - low <= np.mean([np.diff(result["intervals"][figure]) for result in results])


def test_scores_of_a_learned_measure_are_recorded_where_it_is_given(run, models, text):
    class Measure:
        signature, given = "a made-up model|version:1", []

        def score(self, sources, hypotheses, references):
            self.given.append((sources, hypotheses, references))
            return len(self.given) / 10

    told = []
    scores = scores_of(run, directions=[AA_BB, AA_PIV], comet=Measure(), scored=told.append)
    assert [result["comet"] for result in told] == [0.1, 0.2, 0.3]
    assert scores["signatures"]["comet"] == "a made-up model|version:1"
    assert Measure.given[0] == (sentences("aa"), kept(run, "direct.aa-bb"), sentences("bb"))
    assert Measure.given[2] == (sentences("aa"), kept(run, "pivot.aa-bb"), sentences("bb"))
    without = scores_of(run, directions=[AA_BB, AA_PIV])
    assert "comet" not in without["signatures"] and not [result for result in without["directions"] if "comet" in result]


# With a trained model


def test_the_recipe_writes_the_scores_of_its_kept_hypotheses(tiny, monkeypatch):
    loads = []

    class Counted(evaluation.Translator):
        def __init__(self, *args, **options):
            loads.append(args)
            super().__init__(*args, **options)

    monkeypatch.setattr(evaluation, "Translator", Counted)
    scores = scores_of(tiny.run(), beam=2)
    assert len(loads) == 1 and len(scores["directions"]) == 18
    assert scores == json.loads((tiny.run() / "scores.json").read_text())
    for result in scores["directions"]:
        way = "pivot" if result["kind"] == "pivot" else "direct"
        references = read_lines(tiny.folder / "text" / f"test.{parse_direction(result['direction']).target}")
        hypotheses = kept(tiny.run(), f"{way}.{result['direction']}")
        assert sacrebleu.corpus_chrf(hypotheses, [references], word_order=2).score == pytest.approx(result["chrf"])


def test_a_trained_run_pivots_for_another_as_for_itself(tiny, tmp_path):
    scores = scores_of(tiny.run(), beam=2, pivot_run=tiny.run("zs_transformer"), kept=tmp_path)
    assert scores["pivot_by"] == "zs_transformer, seed 1"
    for result in of_kind(scores, "zero_shot"):
        name = f"pivot.{result['direction']}"
        assert read_lines(tmp_path / f"{name}.txt", allow_empty_lines=True) == kept(tiny.run("zs_transformer"), name)


def test_bleu_over_the_subwords_of_the_run(tiny, tmp_path):
    direction = Direction("velan", "tamun")
    scores = scores_of(tiny.run(), beam=2, directions=[direction], bleu_tokenizer="subwords", kept=tmp_path)
    metrics = Metrics("subwords", tiny.run() / "pipeline" / "subwords.model")
    hypotheses = read_lines(tmp_path / f"direct.{direction}.txt", allow_empty_lines=True)
    expected, _ = metrics.scores(hypotheses, read_lines(tiny.folder / "text" / "test.tamun"))
    assert scores["directions"][0]["bleu"] == expected["bleu"] and scores["signatures"]["bleu"] == metrics.signatures()["bleu"]


def test_references_can_be_spelt_as_the_output_is(tiny, tmp_path):
    """The scores are those of references normalised as the run's tokenisation normalises."""
    direction, run = Direction("velan", "tamun"), tmp_path / "run"
    shutil.copytree(tiny.run(), run)
    tokenisation = {"inglan": "raw", "velan": "raw", "tamun": "moses", "velor": "raw"}
    (run / "pipeline" / "pipeline.json").write_text(
        json.dumps({"units": "subwords", "tokenisation": tokenisation, "mark_tokens": False})
    )
    text = tmp_path / "text"
    shutil.copytree(tiny.folder / "text", text)
    write_lines(text / "test.tamun", [f"“{line}”" for line in read_lines(tiny.folder / "text" / "test.tamun")])
    normalised = scores_of(run, text=text, beam=2, directions=[direction], normalise=True, kept=tmp_path / "kept")
    hypotheses = read_lines(tmp_path / "kept" / "direct.velan-tamun.txt", allow_empty_lines=True)
    references = [f'"{line}"' for line in read_lines(tiny.folder / "text" / "test.tamun")]
    assert normalised["directions"][0]["chrf"] == sacrebleu.corpus_chrf(hypotheses, [references], word_order=2).score


@pytest.mark.slow
def test_an_adapted_run_scores_what_its_base_wrote(models, run, baseline):
    """Measured alike, with the share of outputs that stayed; not where the base was decoded in another way."""
    scored = {result["direction"]: result for result in scores_of(baseline)["directions"] if result["kind"] != "pivot"}
    before = Path(shutil.copytree(baseline / HYPOTHESES, run / BEFORE))
    changed = before / f"{DIRECT}.{AA_BB}.txt"
    lines = read_lines(changed, allow_empty_lines=True)
    write_lines(changed, ["something else", *lines[1:]])
    found = {result["direction"]: result for result in scores_of(run)["before"] if result["kind"] != "pivot"}
    assert found.keys() == scored.keys()
    for direction, result in found.items():
        now, then = (read_lines(folder / f"{DIRECT}.{direction}.txt", allow_empty_lines=True) for folder in (run / HYPOTHESES, before))
        assert result["unchanged"] == sum(map(str.__eq__, now, then)) / len(lines)
        assert (result["bleu"] == scored[direction]["bleu"]) == (direction != str(AA_BB))
    for other in (dict(beam=2), dict(length_penalty=0.6), dict(length_penalty_form="gnmt")):
        assert "before" not in scores_of(run, **other)
