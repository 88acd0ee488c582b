"""The figures of a direction: what they are made of, and that the scores are sacreBLEU's."""

import hashlib
from collections import Counter

import numpy as np
import pytest
import sacrebleu
from sacrebleu.metrics import BLEU, CHRF

from tests.support.evaluation import sentences, spoilt
from zsnmt.errors import InputError
from zsnmt.scoring import metrics as metrics_module
from zsnmt.scoring.bootstrap import STEPS, interval, resampled_rates, unpack
from zsnmt.scoring.figures import ranges
from zsnmt.scoring.lexicon_identifier import LexiconIdentifier
from zsnmt.scoring.metrics import Measurement, Metrics, measure
from zsnmt.text.subword import Subwords, train_subwords

REFERENCES = sentences("aa", 20)
HYPOTHESES = spoilt(REFERENCES, 0.3)
IDENTIFIER = LexiconIdentifier({"aa": ["ba", "bi"], "bb": ["ko", "ku"]})


def measured(sources, hypotheses, references, metrics=None, identifier=IDENTIFIER) -> Measurement:
    return measure(
        sources, hypotheses, references, target="aa", metrics=metrics or Metrics(), identifier=identifier
    )


@pytest.fixture
def subwords(tmp_path):
    train_subwords({"aa": lambda: REFERENCES}, tmp_path / "subwords.model", 40)
    return tmp_path / "subwords.model"


def test_scores_are_sacrebleus_on_raw_text():
    hypotheses, references = (
        ["The cat sat on the mat.", "Hello, world!"],
        ["The cat sits on the mat.", "Hello world!"],
    )
    scores, _ = Metrics().scores(hypotheses, references)
    bleu = sacrebleu.corpus_bleu(hypotheses, [references])
    assert scores["bleu"] == bleu.score
    assert scores["chrf"] == sacrebleu.corpus_chrf(hypotheses, [references], word_order=2).score
    assert scores["length_ratio"] == bleu.sys_len / bleu.ref_len == 11 / 10  # the comma is a word
    with pytest.raises(InputError, match="1 translations but 2 references"):
        Metrics().scores(hypotheses[:1], references)


@pytest.mark.parametrize("tokenizer", ["13a", "char", "none"])
def test_bleu_is_by_the_tokenizer_asked_for(tokenizer):
    scores, _ = Metrics(tokenizer).scores(HYPOTHESES, REFERENCES)
    assert (
        scores["bleu"]
        == sacrebleu.corpus_bleu(HYPOTHESES, [REFERENCES], tokenize=tokenizer, force=True).score
    )


@pytest.mark.parametrize("kind", [RuntimeError, ImportError, OSError])
def test_a_tokeniser_that_cannot_be_loaded_is_refused_before_anything_is_scored(monkeypatch, kind):
    """As sacreBLEU refuses one whose package is not installed, or that cannot be fetched."""

    def refuse(tokenize):
        raise kind("Please install them like so.\n\n    pip install sacrebleu[ja]\n")

    monkeypatch.setattr(metrics_module, "BLEU", refuse)
    with pytest.raises(
        InputError,
        match=r"tokeniser ja-mecab cannot be loaded \(Please .* so. pip install sacrebleu\[ja\]\); ",
    ):
        Metrics("ja-mecab")


def test_bleu_over_subwords_is_that_of_the_pieces_and_says_so(subwords):
    metrics = Metrics("subwords", subwords)
    scores, _ = metrics.scores(HYPOTHESES, REFERENCES)
    pieces = [
        [" ".join(Subwords(subwords).encode(line, "aa")) for line in lines]
        for lines in (HYPOTHESES, REFERENCES)
    ]
    expected = sacrebleu.corpus_bleu(pieces[0], [pieces[1]], tokenize="none", force=True)
    assert (scores["bleu"], scores["length_ratio"]) == (expected.score, expected.sys_len / expected.ref_len)
    plain, _ = Metrics().scores(HYPOTHESES, REFERENCES)
    assert scores["bleu"] != plain["bleu"] and scores["chrf"] == plain["chrf"]
    digest = hashlib.sha256(subwords.read_bytes()).hexdigest()
    assert f"|tok:subwords-{digest[:8]}|" in metrics.signatures()["bleu"]


@pytest.mark.parametrize("tokenizer", ["13a", "intl"])
def test_signatures_are_sacrebleus_before_and_after_scoring(tokenizer):
    bleu, chrf = BLEU(tokenize=tokenizer), CHRF(word_order=2)
    for metric in (bleu, chrf):
        metric.corpus_score(HYPOTHESES, [REFERENCES])
    expected = {"bleu": str(bleu.get_signature()), "chrf": str(chrf.get_signature())}
    metrics = Metrics(tokenizer)
    assert metrics.signatures() == expected
    metrics.scores(HYPOTHESES, REFERENCES)
    assert metrics.signatures() == expected and "nrefs:1" in expected["bleu"] and "nw:2" in expected["chrf"]


def test_references_are_read_once_for_all_that_is_scored_against_them(monkeypatch, subwords):
    read = Counter()
    for kind in (BLEU, CHRF):

        def counted(self, references, stock=kind._cache_references):
            read.update([self])
            return stock(self, references)

        monkeypatch.setattr(kind, "_cache_references", counted)
    metrics = Metrics("subwords", subwords)
    direct, pivot = (metrics.scores(spoilt(REFERENCES, share), [*REFERENCES])[0] for share in (0.1, 0.4))
    assert [*read.values()] == [1, 1] and direct["bleu"] > pivot["bleu"]
    other, _ = metrics.scores(HYPOTHESES, REFERENCES[::-1])
    assert [*read.values()] == [1] * 4 and other["bleu"] < 10  # of other references nothing is kept
    assert metrics.scores(REFERENCES, REFERENCES)[0]["bleu"] == pytest.approx(100)
    assert Metrics().scores(REFERENCES, REFERENCES)[0]["chrf"] == pytest.approx(100)


def test_off_target_is_the_share_in_another_language():
    result = measured(["x"] * 4, ["ba bi", "ko ku", "ba ko ko", ""], ["ba", "bi", "ba ba", "bi ko"])
    assert result.figures["off_target"] == 0.75 and result.figures["reference_error"] == 0.0
    assert result.identified == {"bb": 0.5, "aa": 0.25, "unknown": 0.25}
    assert measured(["x"] * 4, ["ba"] * 4, ["ba", "ku", "ba", "ku"]).figures["reference_error"] == 0.5


def test_chrf_on_target_is_that_of_the_lines_in_the_target_language_alone():
    outputs, references = ["ba bi", "ko ku", "bi", "ko ba"], ["ba ba", "ko ku", "bi bi", "ba"]
    expected = sacrebleu.corpus_chrf(["ba bi", "bi"], [["ba ba", "bi bi"]], word_order=2).score
    figures = measured(["x"] * 4, [*outputs[:3], "ko"], references).figures
    assert figures["chrf_on_target"] == expected != figures["chrf"]
    assert (
        measured(["x"], ["ba bi"], ["ba"]).figures["chrf_on_target"]
        == measured(["x"], ["ba bi"], ["ba"]).figures["chrf"]
    )
    assert "chrf_on_target" not in measured(["x"], ["ko"], ["ba"]).figures


def test_references_are_identified_once_for_all_that_is_scored_against_them():
    class Counted(LexiconIdentifier):
        calls = []

        def identify(self, lines):
            self.calls.append(len(lines))
            return super().identify(lines)

    identifier = Counted(IDENTIFIER.lexicons)
    for hypotheses in (["ba", "bi", "ba"], ["ba", "ku", "ku"]):
        assert (
            measured(["x"] * 3, hypotheses, ["ba", "bi", "ko"], identifier=identifier).figures[
                "reference_error"
            ]
            == 1 / 3
        )
    assert len(Counted.calls) == 3


def test_empty_and_copied_outputs_are_counted():
    sources = ["ko ku", "ku  ku", "ko", "ko", "ku", "Ku"]
    outputs = ["ko ku", " ku ku ", "ba", "", " \t", "ku"]
    result = measured(sources, outputs, ["ba"] * 6).figures
    assert result["lines"] == 6 and result["empty"] == 2
    assert result["copied"] == 2 / 6  # white space does not matter, case does
    assert measured(sources, [*sources], ["ba"] * 6).figures["copied"] == 1


def test_a_model_that_writes_nothing_is_scored_zero():
    figures, identified, uncertainty = measured(["ko", "ku"], ["", ""], ["ba", "bi"])
    assert (figures["bleu"], figures["chrf"], figures["length_ratio"]) == (0, 0, 0)
    assert figures["off_target"] == 1 and figures["empty"] == 2 and identified == {"unknown": 1}
    assert uncertainty.intervals == {"bleu": [0, 0], "chrf": [0, 0], "off_target": [1, 1]}


def test_intervals_are_of_the_resamples_which_are_kept():
    outputs = [line if number % 4 else "ko ku" for number, line in enumerate(HYPOTHESES)]
    words = {word.rstrip(".") for line in REFERENCES for word in line.split()}
    identifier = LexiconIdentifier({"aa": words, "bb": ["ko", "ku"]})
    figures, _, uncertainty = measured(["x"] * 20, outputs, REFERENCES, identifier=identifier)
    scores, resampled = Metrics().scores(outputs, REFERENCES)
    assert {name: figures[name] for name in scores} == scores
    assert (
        [*uncertainty.intervals] == [*uncertainty.resampled] == [*ranges()] == ["bleu", "chrf", "off_target"]
    )
    for name, (low, high) in uncertainty.intervals.items():
        back = unpack(uncertainty.resampled[name], ranges()[name])
        assert low < figures[name] < high and [low, high] == pytest.approx(
            interval(back), abs=ranges()[name] / STEPS
        )
        if name in resampled:
            assert [low, high] == interval(resampled[name])
            assert np.abs(back - resampled[name]).max() <= ranges()[name] / STEPS


@pytest.mark.parametrize("strayed", [1, 19])
def test_an_interval_ends_where_its_figure_can_be_no_lower_or_higher(strayed):
    outputs = ["ko"] * strayed + ["ba"] * (20 - strayed)
    interval_of = measured(["x"] * 20, outputs, ["ba"] * 20).uncertainty.intervals["off_target"]
    unbounded = interval(resampled_rates([output == "ko" for output in outputs]))
    assert (unbounded[0] < 0) == (strayed == 1) and (unbounded[1] > 1) == (strayed == 19)
    assert interval_of == [max(unbounded[0], 0), min(unbounded[1], 1)]
