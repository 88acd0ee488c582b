"""Evaluation of a run: what is translated by which model, and what the score file says of it.

Most tests have made-up models, which translate word by word; those with `tiny` have a trained one.
"""

import hashlib
import json
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import sacrebleu

from tests.conftest import LANGUAGES, run_command
from tests.support.evaluation import MadeUpTranslator, sentences, write_run, write_text
from zsnmt.corpora.parallel_text import find_pair
from zsnmt.decoding.methods.settings import parse_method
from zsnmt.decoding.options import EngineChoice
from zsnmt.decoding.search import Search
from zsnmt.errors import InputError
from zsnmt.evaluation import hypotheses
from zsnmt.evaluation import text as scored_text
from zsnmt.evaluation.evaluate import evaluate
from zsnmt.evaluation.hypotheses import FIRST_HALVES, kept_ways
from zsnmt.evaluation.scored_run import score
from zsnmt.evaluation.settings import EvaluationSettings, TextChoice
from zsnmt.evaluation.text import directions_with_text, read_pairs
from zsnmt.inference.translator import Translator
from zsnmt.languages import SUPERVISED, ZERO_RESOURCE, ZERO_SHOT, Direction
from zsnmt.report.comparability import check_comparable
from zsnmt.report.comparison import text_table
from zsnmt.report.notes import have_one_pivot, search_note
from zsnmt.report.systems import tables
from zsnmt.runs.checksums import CHECKSUMS_FILE
from zsnmt.runs.folder import BEFORE, HYPOTHESES, hypotheses_file, settings_file
from zsnmt.runs.score_file import read_scores, write_score_file
from zsnmt.runs.scores import Result, Scores
from zsnmt.runs.ways import DIRECT, INTO_PIVOT, OWN_PIVOT, PIVOT, Way
from zsnmt.scoring.bootstrap import STEPS, draws, interval, unpack
from zsnmt.scoring.figures import ranges
from zsnmt.scoring.metrics import Metrics
from zsnmt.scoring.options import Scoring
from zsnmt.text.lines import read_lines, write_lines
from zsnmt.text.piece_counts import PIECE_COUNTS_FILE, write_piece_counts

AA_BB, AA_PIV = Direction("aa", "bb"), Direction("aa", "piv")
WAYS = DIRECT, PIVOT, INTO_PIVOT
GROUPS = (SUPERVISED, DIRECT), (ZERO_SHOT, DIRECT), (ZERO_SHOT, PIVOT)


@pytest.fixture
def models(monkeypatch) -> list[MadeUpTranslator]:
    """The models that evaluations load from now on."""
    loaded: list[MadeUpTranslator] = []

    def load(*arguments) -> MadeUpTranslator:
        loaded.append(MadeUpTranslator(*arguments))
        return loaded[-1]

    monkeypatch.setattr(Translator, "open", load)
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


def scores_of(
    run: Path,
    *,
    text: Path | None = None,
    split: str = "test",
    directions=None,
    lines: int | None = None,
    scoring: dict = {},
    search: dict = {},
    **others,
) -> Scores:
    """The scores with settings by name; by lexicon where nothing else is said."""
    chosen = {name: others.pop(name) for name in ("engine", "methods", "own_pivot") if name in others}
    settings = EvaluationSettings(
        TextChoice(text, split, directions, lines),
        Search(**search),
        scoring=Scoring(**{"identifier": "lexicon", **scoring}),
        **chosen,
    )
    return evaluate(run, settings, **others)


def kept(folder: Path, way: Way, direction: Direction) -> list[str]:
    return read_lines(hypotheses_file(folder / "hypotheses", way, direction), allow_empty_lines=True)


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
    monkeypatch.setattr(scored_text, "read_lines", lambda path: read.append(path.name) or read_lines(path))
    directions = directions_with_text(text, "test", MadeUpTranslator.languages)
    files = {direction: find_pair(text, "test", *direction) for direction in directions}
    pairs = read_pairs(files, 3, lambda line, language: spelt.append(language) or line.upper())
    assert (
        sorted(read) == [f"test.{language}" for language in sorted(MadeUpTranslator.languages)]
        and len(spelt) == 3 * 4
    )
    assert pairs[AA_BB] == (sentences("aa")[:3], [line.upper() for line in sentences("bb")[:3]])


@pytest.mark.slow
def test_results_are_told_as_they_are_made_and_written_by_kind(run, models):
    told = []
    scores = scores_of(run, scored=told.append)
    assert len(told) == len(scores.results) == 18 and all(result in told for result in scores.results)
    assert [(result.kind, result.way) for result in scores.results] == [
        group for group in GROUPS for _ in range(6)
    ]
    assert all(("piv" in result.direction) == (result.kind == SUPERVISED) for result in told)
    assert [*scores.select(ZERO_SHOT)] == [*scores.select(ZERO_SHOT, PIVOT)]
    again = []
    assert scores_of(run, scored=again.append) == scores and again == told and models[1].asked == []


@pytest.mark.slow
def test_scores_are_those_of_the_kept_hypotheses(run, text, models):
    scores = scores_of(run)
    for result in scores.results:
        _, target = result.direction
        hypotheses, figures = kept(run, result.way, result.direction), result.figures
        references = read_lines(text / f"test.{target}")
        assert figures["bleu"] == sacrebleu.corpus_bleu(hypotheses, [references]).score
        assert figures["chrf"] == sacrebleu.corpus_chrf(hypotheses, [references], word_order=2).score
        assert figures["off_target"] == np.mean([majority(line) != target for line in hypotheses])
        assert figures["lines"] == 40 and figures["reference_error"] == 0 and 0 < figures["bleu"] < 100
    assert scores.training.startswith("3 epochs, 70 updates") and scores.system == "residual"
    assert scores.languages == MadeUpTranslator.languages and scores.pivot == "piv"
    write_score_file(run / "scores.json", scores)
    assert read_scores(run) == scores


@pytest.mark.slow
def test_directions_trained_on_synthetic_text_alone_are_a_kind_of_their_own(run, models, monkeypatch):
    """Also they are pivoted, for comparison."""
    record = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps(record | {"synthetic": ["aa-bb", "bb-aa"]}))
    monkeypatch.setattr(MadeUpTranslator, "trained", [*MadeUpTranslator.trained, AA_BB])
    scores = scores_of(run, lines=4)
    assert [*scores.select(ZERO_RESOURCE)] == [*scores.select(ZERO_RESOURCE, PIVOT)] == [AA_BB]
    assert (
        len(scores.select(SUPERVISED)) == 6
        and len(scores.select(ZERO_SHOT)) == len(scores.select(ZERO_SHOT, PIVOT)) == 5
    )


def majority(line: str) -> str:
    """The language of most words of a made-up sentence, by their spelling; of equals the first the model
    knows.
    """
    words = [word.rstrip(".0123456789") for word in line.split()]
    return max(MadeUpTranslator.languages, key=words.count)


def test_only_the_first_lines_are_scored_where_that_is_asked_for(run, models, tmp_path):
    everything = scores_of(run, directions=[AA_BB])
    some = scores_of(run, directions=[AA_BB], lines=4, hypotheses=tmp_path / "some")
    assert some.decoding["lines"] == 4 and {result.figures["lines"] for result in some.results} == {4}
    assert read_lines(tmp_path / "some" / "direct.aa-bb.txt") == kept(run, DIRECT, AA_BB)[:4]
    assert "lines" not in everything.decoding and some.test_set != everything.test_set


def test_the_length_penalty_is_recorded_and_its_form_where_it_is_not_fairseqs(run, baseline, models):
    plain = scores_of(run, directions=[AA_BB], pivot_run=baseline)
    assert plain.decoding["length_penalty"] == 1.0 and "length_penalty_form" not in plain.decoding
    same = dict(length_penalty=1.0, length_penalty_form="power")
    assert scores_of(run, directions=[AA_BB], pivot_run=baseline, search=same) == plain
    assert not any(model.asked for model in models[2:])
    gnmt = dict(length_penalty=0.6, length_penalty_form="gnmt")
    other = scores_of(run, directions=[AA_BB], pivot_run=baseline, search=gnmt)
    assert other.decoding == {**plain.decoding, **gnmt}
    assert [model.search for model in models[4:]] == [Search(beam=4, **gnmt)] * 2 and all(
        model.asked for model in models[4:]
    )
    with pytest.raises(
        InputError,
        match="differ: only residual seed 1 has length_penalty 1.0, only .* 0.6, length_penalty_form gnmt; "
        "score",
    ):
        check_comparable([plain, replace(other, seed=2)])


def test_the_engine_is_recorded_where_it_changes_translations(run, baseline, models):
    plain = scores_of(run, directions=[AA_BB], pivot_run=baseline)
    choice = EngineChoice("pytorch", "int8")
    other = scores_of(run, directions=[AA_BB], pivot_run=baseline, engine=choice)
    assert "engine" not in plain.decoding and other.decoding == {**plain.decoding, "engine": "pytorch int8"}
    assert [model.choice for model in models[2:]] == [choice] * 2 and all(model.asked for model in models[2:])
    assert search_note(other) == "beam 4, by pytorch int8"
    with pytest.raises(InputError, match="differ: only other seed 2 has engine pytorch int8"):
        check_comparable([plain, replace(other, system="other", seed=2)])


@pytest.fixture
def engines(models, monkeypatch) -> dict[Path, str]:
    """The signatures of the engines of some runs, whose models are loaded from now on."""
    signatures: dict[Path, str] = {}
    load = Translator.open

    def load_by(folder: Path, *settings) -> MadeUpTranslator:
        model = load(folder, *settings)
        model.signature = signatures.get(folder, "")
        return model

    monkeypatch.setattr(Translator, "open", load_by)
    return signatures


def test_the_engine_of_the_pivot_is_recorded_where_it_is_another_than_the_runs(
    run, baseline, models, engines
):
    """What was translated through the pivot by another engine is not taken; without, all is as it was."""
    for of_run, of_pivot, recorded in (
        ("", "", None),
        ("", "ctranslate2 float32", "ctranslate2 float32"),
        ("", "ctranslate2 int8", "ctranslate2 int8"),
        ("ctranslate2 int8", "ctranslate2 int8", None),
        ("ctranslate2 int8", "", "pytorch float32"),
    ):
        engines |= {run: of_run, baseline: of_pivot}
        scores = scores_of(run, directions=[AA_BB], pivot_run=baseline)
        assert scores.decoding.get("pivot_engine") == recorded and models[-1].asked
        assert scores.decoding.get("engine", "") == of_run
        assert scores_of(run, directions=[AA_BB], pivot_run=baseline) == scores and not models[-1].asked
    direct, pivot = (json.loads(settings_file(run / HYPOTHESES, way).read_text()) for way in (DIRECT, PIVOT))
    assert "pivot_engine" not in direct and pivot["pivot_engine"] == "pytorch float32"


def test_references_spelt_as_the_output_is_are_marked_in_the_signatures(run, models):
    plain, normalised = (
        scores_of(run, directions=[AA_BB], scoring=dict(normalise_references=each)) for each in (False, True)
    )
    for metric in ("bleu", "chrf"):
        assert normalised.signatures[metric] == f"{plain.signatures[metric]}|ref:normalised"
    capitals = [line.upper() for line in sentences("bb")]
    score = sacrebleu.corpus_chrf(kept(run, DIRECT, AA_BB), [capitals], word_order=2).score
    assert normalised.results[0].figures["chrf"] == score < plain.results[0].figures["chrf"]
    assert normalised.signatures["intervals"] == plain.signatures["intervals"] == "bs:1000|seed:12345"


def test_resamples_are_as_many_as_asked_for_and_the_signature_says_so(run, models):
    scores = scores_of(run, directions=[AA_BB], scoring=dict(bootstrap_samples=50))
    assert scores.signatures["intervals"] == "bs:50|seed:12345"
    resampled = [
        *scores.results[0].uncertainty.resampled.values(),
        *scores.means[ZERO_SHOT, DIRECT].resampled.values(),
    ]
    assert {len(unpack(text, 1)) for text in resampled} == {50}
    with pytest.raises(InputError, match="their signatures differ: only residual seed 1 has intervals bs:50"):
        check_comparable([scores, replace(scores_of(run, directions=[AA_BB]), seed=2)])


# By which model


@pytest.mark.slow
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
    pivot, direct = (ZERO_SHOT, PIVOT), (ZERO_SHOT, DIRECT)
    for direction in by_itself.select(*pivot):
        assert kept(run, PIVOT, direction) == kept(baseline, PIVOT, direction)
    assert by_baseline.select(*pivot) == of_baseline.select(*pivot) != by_itself.select(*pivot)
    assert by_baseline.select(*direct) == by_itself.select(*direct) != of_baseline.select(*direct)
    assert by_baseline.means[pivot] == of_baseline.means[pivot]
    assert scores_of(run, lines=10) == by_itself  # and back


def without_seconds(result: Result) -> dict[str, float]:
    return {name: value for name, value in result.figures.items() if name not in ("seconds", "cost")}


@pytest.mark.parametrize("directions", [None, [AA_BB]], ids=["first halves are there", "they are not"])
def test_a_run_pivots_beside_another_where_that_is_asked_for(run, baseline, models, directions):
    alone, own = (ZERO_SHOT, PIVOT), (ZERO_SHOT, OWN_PIVOT)
    by_itself, of_baseline = (
        scores_of(folder, lines=10, directions=directions, own_pivot=True) for folder in (run, baseline)
    )
    both = scores_of(run, lines=10, directions=directions, pivot_run=baseline, own_pivot=True)
    assert own not in by_itself.groups, "its pivot is its own already"
    own_figures, figures = (
        {result.direction: without_seconds(result) for result in scores.select(*group).values()}
        for scores, group in ((both, own), (by_itself, alone))
    )
    assert own_figures == figures != {}
    assert both.select(*alone) == of_baseline.select(*alone) != by_itself.select(*alone)
    assert both.means[own] == by_itself.means[alone]
    assert OWN_PIVOT in (ways := kept_ways(run / HYPOTHESES, "")) and not {*ways} & {*FIRST_HALVES}
    assert OWN_PIVOT.phrase == "through own pivot"


def test_the_score_file_says_who_pivoted(run, baseline, models):
    by_itself, by_baseline = (scores_of(run, directions=[AA_BB], pivot_run=by) for by in (None, baseline))
    assert by_baseline.pivot_by == "baseline, seed 1" and by_itself.pivot_by is None
    assert by_baseline.decoding == {**by_itself.decoding, "pivot_model": sha256(baseline / "model.pt")}
    assert by_itself.decoding["model"] == sha256(run / "model.pt")
    direct, pivot, into_pivot = (json.loads(settings_file(run / HYPOTHESES, way).read_text()) for way in WAYS)
    files = [*map(sorted, (settings.pop("checksums") for settings in (direct, pivot, into_pivot)))]
    assert [*map(sorted, (settings.pop("seconds") for settings in (direct, pivot, into_pivot)))] == files
    assert files == [["direct.aa-bb.txt"], ["pivot.aa-bb.txt"], ["into_pivot.aa-bb.txt"]]
    assert pivot == into_pivot == {**direct, "pivot_model": sha256(baseline / "model.pt")}
    assert "pivot_model" not in direct and direct["beam"] == 4


def test_who_pivoted_is_named_with_its_config_where_that_is_another(run, baseline, models):
    """Or tables would take it for the system of that name which they show."""
    record = json.loads((baseline / "run.json").read_text())
    (baseline / "run.json").write_text(json.dumps({**record, "config": "other"}))
    found = scores_of(run, directions=[AA_BB], pivot_run=baseline)
    assert found.pivot_by == "other baseline, seed 1"
    shown = scores_of(baseline, directions=[AA_BB])
    assert not have_one_pivot([found, shown])


@pytest.mark.parametrize("lacking", [0, 1])
def test_a_direction_that_one_of_the_models_does_not_know_is_refused(
    run, baseline, models, monkeypatch, lacking
):
    load = Translator.open

    def load_with_fewer(folder: Path, *settings) -> MadeUpTranslator:
        model = load(folder, *settings)
        if folder == (run, baseline)[lacking]:
            model.languages = ["piv", "aa", "bb"]
        return model

    monkeypatch.setattr(Translator, "open", load_with_fewer)
    directions = [AA_BB, Direction("aa", "cc")]
    which = f"{baseline}, which is to translate through the pivot: " * lacking
    with pytest.raises(InputError, match=f"^{which}unknown language 'cc': this model knows piv, aa, bb$"):
        scores_of(run, pivot_run=baseline, directions=directions)
    assert not [asked for model in models for asked in model.asked] and not (run / "hypotheses").exists()
    assert len(scores_of(run, pivot_run=baseline, directions=[AA_BB]).results) == 2


def test_a_run_with_another_pivot_does_not_translate_through_that_of_the_run(
    run, baseline, models, monkeypatch
):
    load = Translator.open

    def load_with_its_own(folder: Path, *settings) -> MadeUpTranslator:
        model = load(folder, *settings)
        model.pivot = {run: "piv", baseline: "cc"}[folder]
        return model

    monkeypatch.setattr(Translator, "open", load_with_its_own)
    message = f"{baseline} translates through cc, not through piv; name another with --pivot"
    with pytest.raises(InputError, match=message):
        scores_of(run, pivot_run=baseline, directions=[AA_BB])
    assert not [asked for model in models for asked in model.asked]


def test_a_pivot_run_without_a_record_is_refused_before_anything_is_translated(run, baseline, models):
    (baseline / "run.json").unlink()
    with pytest.raises(InputError, match="run.json"):
        scores_of(run, pivot_run=baseline)
    assert models == [] and not (run / "hypotheses").exists()


def test_bleu_by_spaces_is_told_to_say_little_of_a_language_without_them(run, text, models, caplog):
    scores_of(run, directions=[AA_BB])
    assert "without spaces" not in caplog.text
    write_lines(text / "test.bb", ["猫在家里睡觉。"] * 40)
    scores_of(run, directions=[Direction("bb", "aa")])
    assert "without spaces" not in caplog.text, "it is the source"
    scores_of(run, directions=[AA_BB])
    assert "BLEU by 13a takes what stands between spaces for a word, and says little of bb" in caplog.text
    caplog.clear()
    scores_of(run, directions=[AA_BB], scoring={"bleu_tokenizer": "zh"})
    assert "without spaces" not in caplog.text


# Other ways

ENSEMBLE, MASK = parse_method("ensemble"), parse_method("mask:pieces=2")
BY_ENSEMBLE, BY_MASK = Way("ensemble", {"through": ["piv"]}), Way("mask", {"pieces": 2})


@pytest.fixture
def counted(run) -> Path:
    """The run with the numbers of its pieces."""
    write_piece_counts(run, {language: Counter(word=3) for language in LANGUAGES})
    return run


@pytest.mark.slow
def test_methods_are_ways_of_the_directions_that_they_can_translate(counted, models, monkeypatch):
    """Each with its cost, as the pivot has without them."""
    seconds = iter(range(1000))
    monkeypatch.setattr(hypotheses, "used_seconds", lambda: next(seconds) ** 1.5)
    plain = scores_of(counted, lines=4)
    assert all(result.figures["seconds"] > 0 for result in plain.results)
    scores = scores_of(counted, lines=4, methods=[ENSEMBLE, MASK])
    assert scores.groups == [
        (SUPERVISED, DIRECT),
        (SUPERVISED, BY_MASK),
        (ZERO_SHOT, DIRECT),
        (ZERO_SHOT, PIVOT),
        (ZERO_SHOT, BY_ENSEMBLE),
        (ZERO_SHOT, BY_MASK),
    ]
    assert len(scores.select(ZERO_SHOT, BY_ENSEMBLE)) == len(scores.select(ZERO_SHOT, BY_MASK)) == 6
    for result in scores.results:
        directly = scores.select(result.kind)[result.direction].figures
        assert result.figures["seconds"] > 0 and ("cost" in result.figures) == (result.way != DIRECT)
        assert result.figures.get("cost", 1) == result.figures["seconds"] / directly["seconds"]
        if result.way == BY_ENSEMBLE:
            assert kept(counted, BY_ENSEMBLE, result.direction) != kept(counted, DIRECT, result.direction)
    strip = [{**result.figures, "seconds": 0, "cost": 0} for result in scores.results if result.way == DIRECT]
    assert strip == [
        {**result.figures, "seconds": 0, "cost": 0} for result in plain.results if result.way == DIRECT
    ]
    write_score_file(counted / "scores.json", scores)
    assert read_scores(counted) == scores
    shown = text_table([read_scores(counted)])
    assert "by ensemble (through piv)" in shown
    made = tables([scores])
    assert "cost through pivot" in made["systems"].columns
    assert not {"cost", "zero-shot cost"} & {*made["systems"].columns}
    costs = {tuple(row[1:3]): row[made["methods"].columns.index("cost")] for row in made["methods"].rows}
    assert costs["zero-shot", "mask (pieces 2)"] and costs["zero-shot", "direct"] is None


def test_what_a_translation_through_the_pivot_costs_has_both_legs(run, models, monkeypatch):
    """The first one, into the pivot, serves all directions with these sources."""
    seconds = iter([0, 8, 8, 11, 11, 17])  # direct: three directions of aa; pivot: two of them; by the method
    monkeypatch.setattr(hypotheses, "used_seconds", lambda: next(seconds))
    directions = [AA_PIV, AA_BB, Direction("aa", "cc")]
    scores = scores_of(run, directions=directions, methods=[ENSEMBLE], scoring={"bootstrap_samples": 2})
    of_aa_bb = {result.way: result.figures for result in scores.results if result.direction == AA_BB}
    direct = round(8 / 3, 3)
    assert of_aa_bb[DIRECT]["seconds"] == direct and of_aa_bb[BY_ENSEMBLE]["seconds"] == 3
    assert of_aa_bb[PIVOT]["seconds"] == round(3 / 2 + direct / 2, 3)
    assert of_aa_bb[BY_ENSEMBLE]["cost"] == 3 / direct


def test_translations_by_a_method_are_kept_until_their_settings_change(counted, models):
    options = dict(lines=4, directions=[AA_BB])
    first = scores_of(counted, **options, methods=[ENSEMBLE, MASK])
    before = [*(counted / "hypotheses").iterdir()]
    assert scores_of(counted, **options, methods=[ENSEMBLE, MASK]) == first
    other = scores_of(counted, **options, methods=[parse_method("mask:pieces=3")])
    assert {result.way for result in other.results} == {DIRECT, PIVOT, Way("mask", {"pieces": 3})}
    assert {*before} < {*(counted / "hypotheses").iterdir()}
    record = settings_file(counted / HYPOTHESES, BY_MASK)
    of_pieces = json.loads(record.read_text())["pieces"]
    write_piece_counts(counted, {language: Counter(word=2) for language in LANGUAGES})
    scores_of(counted, **options, methods=[MASK])
    assert json.loads(record.read_text())["pieces"] != of_pieces


def test_a_run_that_is_scored_by_other_ways_keeps_its_scores_by_earlier_ones(
    counted, baseline, models, caplog
):
    """As long as they are measured alike, through whichever pivot the others go."""
    by_lexicon, file = {"identifier": "lexicon"}, counted / "scores.json"

    def ways(*names: str, pivot: Path | None = None, **others: object) -> dict[str, list[Result]]:
        settings = EvaluationSettings.of(by_lexicon | others | {"ways": names})
        score(counted, file, settings, pivot_run=pivot)
        found: dict[str, list[Result]] = {}
        for result in read_scores(counted).results:
            found.setdefault(result.way.label, []).append(result)
        return found

    first = ways("mask", "sample")
    assert {*first} == {"direct", "pivot", "mask (pieces 1)", "sample (seed 1, symbols 10)"}
    second = ways("search:beam=1")
    assert {*second} == {*first, "search (beam 1)"}
    assert second["mask (pieces 1)"] == first["mask (pieces 1)"]
    assert len({group for group in read_scores(counted).means if group[1].name == "mask"}) == 2
    third = ways("own_pivot", pivot=baseline)
    assert {*third} == {*second, "own pivot"}
    assert [*map(without_seconds, third["own pivot"])] == [*map(without_seconds, second["pivot"])]
    assert third["pivot"] != second["pivot"]
    assert {*ways()} == {*second} and not caplog.text
    assert {*ways(beam=2)} == {"direct", "pivot"}
    assert "has no scores by search (beam 1), mask (pieces 1), sample (seed 1, symbols 10) any" in caplog.text
    file.write_text("{")
    assert {*ways()} == {"direct", "pivot"}


def test_methods_that_cannot_be_are_refused_before_anything_is_translated_or_removed(
    run, counted, models, monkeypatch
):
    scores_of(run, directions=[AA_BB])
    before = files_of(run / HYPOTHESES)

    def refuse(*_):
        raise InputError("a sample is one hypothesis, not 3; give sample:beam=1")

    for methods, options, message in (
        ([ENSEMBLE], dict(directions=[AA_PIV]), "no direction can be translated so: an ensemble through piv"),
        ([parse_method("ensemble:through=xx")], {}, "unknown language 'xx'"),
        ([ENSEMBLE], dict(engine=EngineChoice("ctranslate2")), "--engine ctranslate2 cannot translate by"),
        (
            [ENSEMBLE, parse_method("ensemble:through=piv")],
            {},
            r"a way is given twice: ensemble \(through piv\); name each once",
        ),
    ):
        with pytest.raises(InputError, match=message):
            scores_of(run, methods=methods, search=dict(beam=3), **options)
    with monkeypatch.context() as patched, pytest.raises(InputError, match="a sample is one hypothesis"):
        patched.setattr(MadeUpTranslator, "by", refuse)
        scores_of(run, methods=[parse_method("sample")], search=dict(beam=3))
    (counted / PIECE_COUNTS_FILE).unlink()
    with pytest.raises(InputError, match="count again with: zsnmt count-pieces"):
        scores_of(run, methods=[MASK], search=dict(beam=3))
    assert not [asked for model in models[1:] for asked in model.asked]
    assert files_of(run / HYPOTHESES) == before


def test_a_way_for_which_a_test_set_has_no_direction_is_left_out(run, text, counted, models, caplog):
    """As a text of one's own mostly is: with the pivot alone, between whose languages an ensemble goes."""
    for language in ("aa", "bb"):
        for name in (language, "piv"):
            shutil.copyfile(text / f"test.{name}", text / f"test.{language}-piv.{name}")
    for name in ("aa", "bb", "piv"):
        (text / f"test.{name}").unlink()
    scores = scores_of(run, methods=[ENSEMBLE, MASK])
    assert {way.name for _, way in scores.groups} == {"direct", "mask"}
    assert "not scored by ensemble: " in caplog.text and "an ensemble through piv has no" in caplog.text


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_run_is_scored_by_every_way_and_reported(own_tiny, tmp_path):
    """As a person does it: each way in the score file, the table and the page."""
    run, page = own_tiny.run(), tmp_path / "report.html"
    ways = ["ensemble", "mask", "contrast:language_weight=0.2,pieces=1", "search:beam=1"]
    done = run_command("python", "-m", "zsnmt", "evaluate", run, "--ways", *ways, "--report", page)
    assert done.returncode == 0, done.stderr
    scores = read_scores(run)
    found = {way.name: way for _, way in scores.groups}
    assert {*found} == {"direct", "pivot", "ensemble", "mask", "contrast", "search"}
    for way in found.values():
        number = 6 if way.name in ("pivot", "ensemble") else 12
        assert len([result for result in scores.results if result.way == way]) == number
        assert way.label in done.stdout or way == DIRECT
        assert way.phrase in page.read_text() or way == PIVOT
    assert all("cost" in result.figures for result in scores.results if result.way != DIRECT)
    wrong = run_command("python", "-m", "zsnmt", "evaluate", run, "--ways", "mask", "mask")
    assert wrong.stderr == "error: a way is given twice: mask mask; name each once\n"
    text = own_tiny.folder / "text" / "test.velan"
    words = ("translate", run, "--from", "velan", "--to", "tamun", "--beam", "2", "--input", text)
    translated = run_command("python", "-m", "zsnmt", *words, "--way", "ensemble")
    direction = Direction("velan", "tamun")
    assert translated.stdout.splitlines() == kept(run, found["ensemble"], direction), translated.stderr


# What scores can be compared with


@pytest.mark.slow
def test_the_test_set_is_known_by_its_sources_and_references(run, baseline, models, text):
    def checksum(run: Path, *directions: Direction, **options) -> str:
        return scores_of(run, directions=directions, **options).test_set

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
    assert models[1].asked == [] and second.test_set != first.test_set
    assert second.results[0].figures["bleu"] < first.results[0].figures["bleu"]


def test_hypotheses_of_before_ways_had_types_are_found(run, models, text, tmp_path):
    """The settings as files had them: names, order and layout."""
    scores = scores_of(run, directions=[AA_BB])
    made_with = {
        "model": sha256(run / "model.pt"),
        "beam": 4,
        "length_penalty": 1.0,
        "split": "test",
        "sources": {"aa-bb": sha256(text / "test.aa")},
    }
    for way in ("direct", "pivot", "into_pivot"):
        record = run / HYPOTHESES / f"{way}.json"
        written = json.loads(record.read_text())
        assert [*written.pop("checksums")] == [*written.pop("seconds")] == [f"{way}.aa-bb.txt"]
        assert written == made_with
        record.write_text(json.dumps(made_with, indent=1))
    assert {path.name for path in (run / HYPOTHESES).glob("*.txt")} == {
        "direct.aa-bb.txt",
        "pivot.aa-bb.txt",
        "into_pivot.aa-bb.txt",
    }
    again = scores_of(run, directions=[AA_BB])
    assert without_cost(again) == without_cost(scores) and models[1].asked == []
    assert not any({"seconds", "cost"} & {*result.figures} for result in again.results)


def without_cost(scores):
    """The scores without what translations took, which older files do not say."""
    kept = [
        {name: value for name, value in result.figures.items() if name not in ("seconds", "cost")}
        for result in scores.results
    ]
    results = [replace(result, figures=figures) for result, figures in zip(scores.results, kept)]
    return replace(scores, results=results)


@pytest.mark.slow
def test_a_mean_is_resampled_as_the_mean_of_the_directions(run, models):
    """The same lines in all directions of a multiway set: restated for three draws, and for the interval."""
    scores = scores_of(run)
    assert [*scores.means] == [*GROUPS]
    for kind, way in GROUPS:
        for sample in (0, 7, 999):
            lines = [line for line, times in enumerate(draws(40)[sample].astype(int)) for _ in range(times)]
            bleu = []
            for direction in scores.select(kind, way):
                hypotheses, references = kept(run, way, direction), sentences(direction.target)
                drawn = [hypotheses[line] for line in lines], [[references[line] for line in lines]]
                bleu.append(sacrebleu.corpus_bleu(*drawn).score)
            assert unpack(scores.means[kind, way].resampled["bleu"], 100)[sample] == pytest.approx(
                np.mean(bleu), abs=100 / STEPS
            )
        for figure, top in ranges().items():
            results = scores.select(kind, way).values()
            resampled = [unpack(result.uncertainty.resampled[figure], top) for result in results]
            low, high = scores.means[kind, way].intervals[figure]
            assert [low, high] == interval(np.mean(resampled, axis=0))
            assert low <= np.mean([result.figures[figure] for result in results]) <= high
            assert high - low <= np.mean(
                [np.diff(result.uncertainty.intervals[figure]) for result in results]
            )


def test_scores_of_a_learned_measure_are_recorded_where_it_is_asked_for(run, models, text, monkeypatch):
    class Measure:
        given = []

        def __init__(self, name):
            self.signature = f"{name}|version:1"

        def score(self, sources, hypotheses, references):
            self.given.append((sources, hypotheses, references))
            return len(self.given) / 10

    monkeypatch.setattr("zsnmt.evaluation.evaluate.load_comet", Measure)
    told = []
    scores = scores_of(
        run, directions=[AA_BB, AA_PIV], scoring=dict(comet="a made-up model"), scored=told.append
    )
    assert [result.figures["comet"] for result in told] == [0.1, 0.2, 0.3]
    assert scores.signatures["comet"] == "a made-up model|version:1"
    assert Measure.given[0] == (sentences("aa"), kept(run, DIRECT, AA_BB), sentences("bb"))
    assert Measure.given[2] == (sentences("aa"), kept(run, PIVOT, AA_BB), sentences("bb"))
    without = scores_of(run, directions=[AA_BB, AA_PIV])
    assert "comet" not in without.signatures and not [
        result for result in without.results if "comet" in result.figures
    ]


# With a trained model


def test_the_recipe_writes_the_scores_of_its_kept_hypotheses(tiny, monkeypatch):
    loads, load = [], Translator.open
    monkeypatch.setattr(Translator, "open", lambda *settings: loads.append(settings) or load(*settings))
    scores = scores_of(tiny.run(), search=dict(beam=2))
    assert len(loads) == 1 and len(scores.results) == 18
    assert scores == read_scores(tiny.run())
    for result in scores.results:
        references = read_lines(tiny.folder / "text" / f"test.{result.direction.target}")
        hypotheses = kept(tiny.run(), result.way, result.direction)
        assert sacrebleu.corpus_chrf(hypotheses, [references], word_order=2).score == pytest.approx(
            result.figures["chrf"]
        )


def without_times(result: Result) -> Result:
    kept = {name: value for name, value in result.figures.items() if name not in ("seconds", "cost")}
    return replace(result, figures=kept)


def test_scores_are_the_same_whatever_the_number_of_workers(tiny, tmp_path):
    one, *others = (
        scores_of(
            tiny.run(),
            lines=12,
            search=dict(beam=2),
            engine=EngineChoice(workers=workers),
            hypotheses=tmp_path / str(workers),
        )
        for workers in (1, 2, 3)
    )
    for other in others:
        assert [*map(without_times, other.results)] == [*map(without_times, one.results)]
        assert other.means == one.means


def test_a_trained_run_pivots_for_another_as_for_itself(tiny, tmp_path):
    scores = scores_of(
        tiny.run(), search=dict(beam=2), pivot_run=tiny.run("zs_transformer"), hypotheses=tmp_path
    )
    assert scores.pivot_by == "zs_transformer, seed 1"
    for direction in scores.select(ZERO_SHOT):
        made = read_lines(hypotheses_file(tmp_path, PIVOT, direction), allow_empty_lines=True)
        assert made == kept(tiny.run("zs_transformer"), PIVOT, direction)


def test_bleu_over_the_subwords_of_the_run(tiny, tmp_path):
    direction = Direction("velan", "tamun")
    scores = scores_of(
        tiny.run(),
        search=dict(beam=2),
        directions=[direction],
        scoring=dict(bleu_tokenizer="subwords"),
        hypotheses=tmp_path,
    )
    metrics = Metrics("subwords", tiny.run() / "pipeline" / "subwords.model")
    hypotheses = read_lines(tmp_path / f"direct.{direction}.txt", allow_empty_lines=True)
    expected, _ = metrics.scores(hypotheses, read_lines(tiny.folder / "text" / "test.tamun"))
    assert (
        scores.results[0].figures["bleu"] == expected["bleu"]
        and scores.signatures["bleu"] == metrics.signatures()["bleu"]
    )


def test_references_can_be_spelt_as_the_output_is(tiny, tmp_path):
    """The scores are those of references normalised as the run's tokenisation normalises."""
    direction, run = Direction("velan", "tamun"), tmp_path / "run"
    shutil.copytree(tiny.run(), run, ignore=shutil.ignore_patterns(CHECKSUMS_FILE))
    tokenisation = {"inglan": "raw", "velan": "raw", "tamun": "moses", "velor": "raw"}
    (run / "pipeline" / "pipeline.json").write_text(
        json.dumps({"units": "subwords", "tokenisation": tokenisation, "mark_tokens": False})
    )
    text = tmp_path / "text"
    shutil.copytree(tiny.folder / "text", text)
    write_lines(
        text / "test.tamun", [f"“{line}”" for line in read_lines(tiny.folder / "text" / "test.tamun")]
    )
    settings = dict(
        search=dict(beam=2), scoring=dict(normalise_references=True), hypotheses=tmp_path / "kept"
    )
    normalised = scores_of(run, text=text, directions=[direction], **settings)
    hypotheses = read_lines(tmp_path / "kept" / "direct.velan-tamun.txt", allow_empty_lines=True)
    references = [f'"{line}"' for line in read_lines(tiny.folder / "text" / "test.tamun")]
    assert (
        normalised.results[0].figures["chrf"]
        == sacrebleu.corpus_chrf(hypotheses, [references], word_order=2).score
    )


@pytest.mark.slow
def test_an_adapted_run_scores_what_its_base_wrote(models, run, baseline):
    """Measured alike, with the share of outputs that stayed; not where the base was decoded in another
    way.
    """
    scored = {
        result.direction: result.figures for result in scores_of(baseline).results if result.way == DIRECT
    }
    before = Path(shutil.copytree(baseline / HYPOTHESES, run / BEFORE))
    changed = hypotheses_file(before, DIRECT, AA_BB)
    lines = read_lines(changed, allow_empty_lines=True)
    write_lines(changed, ["something else", *lines[1:]])
    assert AA_BB not in {result.direction for result in scores_of(run).before if result.way == DIRECT}
    record = json.loads(settings_file(before, DIRECT).read_text())
    del record["checksums"]  # as of a time when nothing was known of the files
    settings_file(before, DIRECT).write_text(json.dumps(record))
    found = {result.direction: result.figures for result in scores_of(run).before if result.way == DIRECT}
    assert found.keys() == scored.keys()
    for direction, result in found.items():
        now, then = (
            read_lines(hypotheses_file(folder, DIRECT, direction), allow_empty_lines=True)
            for folder in (run / HYPOTHESES, before)
        )
        assert result["unchanged"] == sum(map(str.__eq__, now, then)) / len(lines)
        assert (result["bleu"] == scored[direction]["bleu"]) == (direction != AA_BB)
    for other in (dict(beam=2), dict(length_penalty=0.6), dict(length_penalty_form="gnmt")):
        assert scores_of(run, search=other).before == []


def test_an_adapted_run_has_through_the_pivot_what_the_same_engine_translated(run, baseline, engines):
    engines[run] = "ctranslate2 int8"
    scores_of(baseline, directions=[AA_BB], pivot_run=run)
    shutil.copytree(baseline / HYPOTHESES, run / BEFORE)
    del engines[run]
    for engine, ways in (("ctranslate2 int8", {DIRECT, PIVOT}), ("ctranslate2 float32", {DIRECT})):
        engines[baseline] = engine
        before = scores_of(run, directions=[AA_BB], pivot_run=baseline).before
        assert {result.way for result in before} == ways


@pytest.mark.parametrize("then, now", [({}, {"pivot_run": True}), ({"pivot_run": True}, {})])
def test_an_adapted_run_is_not_compared_through_another_runs_pivot(run, baseline, engines, caplog, then, now):
    scores_of(baseline, directions=[AA_BB], **dict.fromkeys(then, run))
    shutil.copytree(baseline / HYPOTHESES, run / BEFORE)
    before = scores_of(run, directions=[AA_BB], **dict.fromkeys(now, baseline)).before
    assert {result.way for result in before} == {DIRECT}
    assert "pivot: the run that this one goes on from had another run for its pivot" in caplog.text


def test_an_adapted_run_has_nothing_of_before_by_sources_that_are_not_known(models, run, baseline):
    scores_of(baseline, directions=[AA_BB])
    before = Path(shutil.copytree(baseline / HYPOTHESES, run / BEFORE))
    for record in before.glob("*.json"):
        settings = json.loads(record.read_text())
        del settings["sources"]
        record.write_text(json.dumps(settings))
    assert scores_of(run, directions=[AA_BB]).before == []


@pytest.mark.parametrize("known", [True, False])
def test_an_adapted_run_has_nothing_of_before_by_weights_that_it_does_not_go_on_from(
    models, run, baseline, caplog, known
):
    scores_of(baseline, directions=[AA_BB])
    shutil.copytree(baseline / HYPOTHESES, run / BEFORE)
    base = {"config": "made_up", "system": "baseline", "seed": 1, "languages": LANGUAGES, "mode": "full"}
    (baseline / "model.pt").write_text("trained on")
    if known:
        base["model"] = sha256(baseline / "model.pt")
    record = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps(record | {"adapted_from": base}))
    before = scores_of(run, directions=[AA_BB]).before
    assert bool(before) != known
    assert ("direct: the run that this one goes on from has got another model since" in caplog.text) == known


def test_a_model_that_is_replaced_while_it_is_loaded_is_not_scored(run, models, monkeypatch):
    def replaced(folder, *_):
        (folder / "model.pt").write_text("another model")

    monkeypatch.setattr(Translator, "open", replaced)
    with pytest.raises(InputError, match="model.pt was replaced while it was read; run the same command"):
        scores_of(run)
    assert not (run / HYPOTHESES).exists()
