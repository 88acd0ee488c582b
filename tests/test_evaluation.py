"""Scores: what they are made of, and that they are sacreBLEU's."""

import hashlib
import json
import shutil

import pytest
import sacrebleu

from zsnmt import evaluation
from zsnmt.corpora.lexicon_identifier import LexiconIdentifier
from zsnmt.corpora.parallel_text import read_lines, write_lines
from zsnmt.errors import InputError
from zsnmt.evaluation import Hypotheses, Metrics, directions_with_text, evaluate, off_target_rate, score_direction
from zsnmt.languages import Direction
from zsnmt.text.subword import Subwords


def test_scores_are_sacrebleus_on_raw_text():
    hypotheses, references = ["The cat sat on the mat.", "Hello, world!"], ["The cat sits on the mat.", "Hello world!"]
    scores = Metrics().scores(hypotheses, references)
    assert scores["bleu"] == sacrebleu.corpus_bleu(hypotheses, [references]).score
    assert scores["chrf"] == sacrebleu.corpus_chrf(hypotheses, [references], word_order=2).score
    with pytest.raises(InputError, match="1 translations but 2 references"):
        Metrics().scores(hypotheses[:1], references)


def test_off_target_is_the_share_in_another_language():
    assert off_target_rate(["aa", "bb", "aa", "unknown"], "aa") == 0.5
    identifier = LexiconIdentifier({"aa": ["ba", "bi"], "bb": ["ko", "ku"]})
    result = score_direction(
        Direction("bb", "aa"), "zero_shot", ["ba bi", "ko ku", "ba ko ko", ""], ["ba", "bi", "ba ba", "bi ko"], Metrics(), identifier
    )
    assert result["off_target"] == 0.75 and result["reference_error"] == 0.0 and result["empty"] == 1
    assert result["identified"] == {"bb": 0.5, "aa": 0.25, "unknown": 0.25}


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


def test_hypotheses_are_kept_and_made_anew_for_other_settings(tmp_path):
    calls = []

    def translate(lines, direction):
        calls.append(str(direction))
        return [line.upper() for line in lines]

    direction = Direction("de", "en")
    for settings, expected in (({"beam": 4}, 1), ({"beam": 4}, 1), ({"beam": 5}, 2)):
        kept = Hypotheses(tmp_path, settings, translate)
        assert kept.of("direct.de-en", direction, lambda: ["a", "b"]) == ["A", "B"]
        assert len(calls) == expected


def test_a_model_is_loaded_once_for_all_directions(tiny, monkeypatch):
    loads = []

    class Counted(evaluation.Translator):
        def __init__(self, *args, **options):
            loads.append(args)
            super().__init__(*args, **options)

    monkeypatch.setattr(evaluation, "Translator", Counted)
    scored = []
    scores = evaluate(tiny.run(), identifier_kind="lexicon", beam=2, scored=scored.append)
    assert len(loads) == 1 and len(scored) == len(scores["directions"]) == 18
    assert scores["directions"] == json.loads((tiny.run() / "scores.json").read_text())["directions"]


def test_scores_are_those_of_the_kept_hypotheses(tiny):
    result = json.loads((tiny.run() / "scores.json").read_text())["directions"][0]
    hypotheses = read_lines(tiny.run() / "hypotheses" / f"direct.{result['direction']}.txt", allow_empty_lines=True)
    references = read_lines(tiny.folder / "text" / f"test.{result['direction'].split('-')[1]}")
    assert sacrebleu.corpus_chrf(hypotheses, [references], word_order=2).score == pytest.approx(result["chrf"])


def test_a_test_set_that_is_missing_is_named(tiny, tmp_path):
    with pytest.raises(InputError, match="no text in split 'other'"):
        evaluate(tiny.run(), split="other", identifier_kind="lexicon")


def test_bleu_over_subwords_is_that_of_the_pieces_and_says_so(tiny):
    model = tiny.run() / "pipeline" / "subwords.model"
    references = read_lines(tiny.folder / "text" / "test.velan")
    hypotheses = [" ".join(reversed(line.split())) for line in references]
    metrics = Metrics("subwords", model)
    bleu = metrics.scores(hypotheses, references)["bleu"]
    pieces = [[" ".join(Subwords(model).encode(line, "velan")) for line in lines] for lines in (hypotheses, references)]
    assert bleu == sacrebleu.corpus_bleu(pieces[0], [pieces[1]], tokenize="none", force=True).score
    assert bleu != Metrics().scores(hypotheses, references)["bleu"]
    digest = hashlib.sha256(model.read_bytes()).hexdigest()
    assert f"|tok:subwords-{digest[:8]}|" in metrics.signatures()["bleu"]


def test_only_the_first_lines_are_scored_where_that_is_asked_for(tiny, tmp_path):
    directions = [Direction("velan", "tamun")]
    some = evaluate(tiny.run(), identifier_kind="lexicon", beam=2, directions=directions, lines=4, kept=tmp_path)
    assert some["decoding"]["lines"] == 4 and {result["lines"] for result in some["directions"]} == {4}
    kept = read_lines(tiny.run() / "hypotheses" / "direct.velan-tamun.txt", allow_empty_lines=True)
    assert read_lines(tmp_path / "direct.velan-tamun.txt", allow_empty_lines=True) == kept[:4]


def test_references_can_be_spelt_as_the_output_is(tiny, tmp_path):
    """The scores are those of normalised references, and the signatures say that they are."""
    direction, run = Direction("velan", "tamun"), tmp_path / "run"
    shutil.copytree(tiny.run(), run)
    (run / "pipeline" / "pipeline.json").write_text(
        json.dumps({"units": "subwords", "tokenisation": {"inglan": "raw", "velan": "raw", "tamun": "moses", "velor": "raw"}, "mark_tokens": False})
    )
    text = tmp_path / "text"
    shutil.copytree(tiny.folder / "text", text)
    write_lines(text / "test.tamun", [f"“{line}”" for line in read_lines(tiny.folder / "text" / "test.tamun")])
    plain, normalised = (
        evaluate(run, text, identifier_kind="lexicon", beam=2, directions=[direction], normalise=normalise, kept=tmp_path / "kept")
        for normalise in (False, True)
    )
    hypotheses = read_lines(tmp_path / "kept" / "direct.velan-tamun.txt", allow_empty_lines=True)
    references = [f'"{line}"' for line in read_lines(tiny.folder / "text" / "test.tamun")]
    assert normalised["directions"][0]["chrf"] == sacrebleu.corpus_chrf(hypotheses, [references], word_order=2).score
    assert normalised["signatures"]["bleu"] == plain["signatures"]["bleu"] + "|ref:normalised"
    assert normalised["signatures"]["chrf"].endswith("|ref:normalised") and "ref:" not in plain["signatures"]["chrf"]
