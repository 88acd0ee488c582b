"""How sure translations are: their probability by every engine and in every way, and their agreement."""

import json
import sys

import pytest
from sacrebleu import sentence_chrf

from tests.conftest import OLDER_RUN
from zsnmt import cli
from zsnmt.decoding.likeness import log_probabilities
from zsnmt.decoding.methods.settings import parse_method
from zsnmt.decoding.options import CTRANSLATE2, FAIRSEQ, PYTORCH, EngineChoice
from zsnmt.decoding.search import Search
from zsnmt.errors import InputError
from zsnmt.inference.confidence import agreement_score, check_scores, chrf, scored_lines
from zsnmt.inference.trained_run import load_run
from zsnmt.inference.translation import JSONL, TSV, Legs, Translation, join_translations, row
from zsnmt.inference.translator import Line, Translator
from zsnmt.languages import Direction
from zsnmt.text.lines import read_lines

SEARCH = Search(beam=2, length_penalty=0.5)  # whose scores are not the means
VELAN_TAMUN = Direction("velan", "tamun")
CLOSE = 1e-4  # as near as exports must be


@pytest.fixture(scope="module")
def lines(older) -> list[str]:
    return ["", *read_lines(older / "runs/tiny/text/test.velan")[:3]]


@pytest.fixture(scope="module")
def trained(older):
    return load_run(older / OLDER_RUN)


@pytest.fixture(scope="module")
def translator(older) -> Translator:
    return Translator.open(older / OLDER_RUN, SEARCH, EngineChoice(workers=1))


def exact(trained, found: Translation, line: str, direction: Direction) -> float:
    """The log-probability of the tokens of a translation's text by fairseq's model."""
    codec = trained.codec
    (tokens,) = codec.parts(found.text, direction.target, 100)
    return sum(log_probabilities(trained.model, codec.source(line, direction), tokens))


@pytest.mark.parametrize(
    "engine, export", [(PYTORCH, ""), (FAIRSEQ, ""), (CTRANSLATE2, "ctranslate2-float32")]
)
def test_the_mean_is_that_of_the_tokens_of_a_translation_with_its_end(older, trained, lines, engine, export):
    if export:
        pytest.importorskip("ctranslate2")
    translator = Translator.open(older / OLDER_RUN / export, SEARCH, EngineChoice(engine, workers=1))
    found = translator.translate_with_scores(lines, "tamun", "velan")
    assert [each.text for each in found] == translator.translate(lines, "tamun", "velan")
    assert found[0] == Translation("") and found[0].mean_log_probability is None
    for line, each in zip(lines[1:], found[1:], strict=True):
        (tokens,) = translator.codec.parts(each.text, "tamun", 100)
        assert each.tokens == len(tokens)
        assert each.log_probability == pytest.approx(exact(trained, each, line, VELAN_TAMUN), abs=CLOSE)
        assert each.mean_log_probability == each.log_probability / len(tokens) < 0


def test_through_the_pivot_both_translations_count(trained, translator, lines):
    found = translator.translate_with_scores(lines, "tamun", "velan", via="inglan")
    first = translator.translate_with_scores(lines, "inglan", "velan")
    second = translator.translate_with_scores([each.text for each in first], "tamun", "inglan")
    for both, one, other in zip(found, first, second, strict=True):
        assert both.text == other.text and both.tokens == one.tokens + other.tokens
        assert both.log_probability == one.log_probability + other.log_probability


def test_a_line_in_parts_has_the_tokens_of_all(translator, lines):
    long_line = " ".join(lines[1:] * 4)
    parts = [part.tokens for part in translator.parts_of([long_line], [VELAN_TAMUN], 1)]
    texts = [translator.codec.text(tokens, "velan") for tokens in parts]
    alone = translator.translate_with_scores(texts, "tamun", "velan")
    (found,) = translator.translate_with_scores([long_line], "tamun", "velan")
    assert len(parts) > 1 and found.tokens == sum(each.tokens for each in alone)
    assert found.log_probability == pytest.approx(sum(each.log_probability for each in alone), abs=CLOSE)


def test_what_methods_search_with_is_what_they_say(translator, lines):
    """A mask that costs nothing says what the model says; a contrast has no probabilities."""
    counts = dict.fromkeys(translator.languages, dict.fromkeys(translator.codec.dictionary.symbols, 1))
    masked = translator.by(parse_method("mask:penalty=0"), counts).translate_with_scores(
        lines, "tamun", "velan"
    )
    assert masked == translator.translate_with_scores(lines, "tamun", "velan")
    for each in translator.by(parse_method("ensemble")).translate_with_scores(lines[1:], "tamun", "velan"):
        assert each.tokens and each.mean_log_probability < 0
    for each in translator.by(parse_method("contrast")).translate_with_scores(lines[1:], "tamun", "velan"):
        assert each.text and each.mean_log_probability is None


def test_n_best_have_theirs(translator, lines):
    asked = [Line(line, VELAN_TAMUN, 2) for line in lines]
    found, best = translator.n_best(asked), translator.translate_with_scores(lines, "tamun", "velan")
    for several, one in zip(found, best, strict=True):
        assert several[0].text == one.text and several[0].tokens == one.tokens
        assert several[0].log_probability == pytest.approx(one.log_probability, abs=CLOSE)
        scores = [each.log_probability / each.tokens**0.5 for each in several if each.tokens]
        assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("way", ["ensemble", "contrast", "mask"])
def test_a_method_translates_lines_of_their_own_as_it_does_a_text(translator, lines, way):
    counts = {
        language: dict.fromkeys(translator.codec.dictionary.symbols[::2], 1)
        for language in translator.languages
    }
    by = translator.by(parse_method(way), counts)
    beside = [*lines[2:], lines[1]]  # the next
    into = [VELAN_TAMUN, Direction("velan", "velor")]
    asked = [
        Line(line, direction, companion=next_one)
        for line, next_one in zip(lines[1:], beside)
        for direction in into
    ]
    together = by.translate_into(lines[1:], into)
    expected = [together[direction][place] for place in range(len(beside)) for direction in into]
    assert [best.text for best, *_ in by.n_best(asked)] == expected


# Agreement


def test_agreement_is_sentence_chrf_with_the_other_way(translator, lines):
    direct, through = (translator.translate(lines, "tamun", "velan", via=via) for via in (None, "inglan"))
    found = scored_lines(translator, lines, Legs("velan", "tamun"), agreement=True)
    assert [each.text for each in found] == direct and found[0].agreement is None
    expected = [sentence_chrf(one, [other]).score for one, other in zip(direct[1:], through[1:])]
    assert [each.agreement for each in found[1:]] == expected and min(expected) < 100
    others = scored_lines(translator, lines, Legs("velan", "tamun", "inglan"), agreement=True)
    assert [each.text for each in others] == through
    assert [each.agreement for each in others[1:]] == [
        sentence_chrf(other, [one]).score for one, other in zip(direct[1:], through[1:])
    ]
    (into_pivot,) = scored_lines(translator, lines[1:2], Legs("velan", "inglan"), agreement=True)
    assert into_pivot.agreement is None


def test_what_a_method_translates_is_compared_with_a_translation_through_the_pivot_without_it(
    translator, lines
):
    counts = {
        language: dict.fromkeys(translator.codec.dictionary.symbols, 1) for language in translator.languages
    }
    by = translator.by(parse_method("mask"), counts)
    found = scored_lines(by, lines[1:], Legs("velan", "tamun"), agreement=True)
    through = translator.translate(lines[1:], "tamun", "velan", via="inglan")
    assert [each.agreement for each in found] == [
        agreement_score(each.text, other) for each, other in zip(found, through)
    ]


def test_the_agreement_of_two_ends():
    assert agreement_score("so it is", "so it is") == pytest.approx(100)
    assert (
        agreement_score("so it is", "xyz") == 0 == agreement_score("", "so it is")
        and agreement_score(" ", "") is None
    )


def test_a_light_installation_is_told_what_the_agreement_needs(translator, monkeypatch):
    monkeypatch.setitem(sys.modules, "sacrebleu.metrics", None)
    chrf.cache_clear()
    with pytest.raises(InputError, match="the agreement needs sacrebleu; install it"):
        check_scores(translator, Legs("velan", "tamun"), agreement=True)
    check_scores(translator, Legs("velan", "tamun"), agreement=False)


# Rows


def test_a_row_has_the_figures_before_the_text():
    sure, empty = Translation("so\tit is", -0.5, 4, 71.236), Translation("")
    assert (
        row(sure, TSV, True) == "-0.1250\t71.24\tso\tit is" and row(sure, TSV, False) == "-0.1250\tso\tit is"
    )
    assert row(empty, TSV, True) == "\t\t"
    assert json.loads(row(sure, JSONL, True)) == {
        "translation": "so\tit is",
        "mean_log_probability": -0.125,
        "agreement": 71.24,
    }
    assert json.loads(row(empty, JSONL, False)) == {"translation": "", "mean_log_probability": None}
    assert join_translations(
        [Translation("a", -1, 2), Translation(""), Translation("b", -2, 3)]
    ) == Translation("a b", -3, 5)


def test_the_command_writes_rows_of_a_file(older, tmp_path, lines, translator):
    (tmp_path / "text").write_text("\n".join(lines) + "\n")
    found = scored_lines(translator, lines, Legs("velan", "tamun"), agreement=True)
    words = ["--to", "tamun", "--from", "velan", "--beam", "2", "--length-penalty", "0.5", "--workers", "1"]
    words += ["--input", str(tmp_path / "text"), "--output", str(tmp_path / "out")]
    for form in (TSV, JSONL):
        cli.run(["translate", str(older / OLDER_RUN), *words, "--scores", form, "--agreement"])
        assert read_lines(tmp_path / "out", allow_empty_lines=True) == [
            row(each, form, agreement=True) for each in found
        ]


@pytest.mark.parametrize(
    "words, message",
    [
        (["--agreement"], "choose their form, as in --scores tsv"),
        (["--scores", "tsv", "--input", "page.html"], "a document has no place for --scores"),
        (["--scores", "tsv", "--way", "contrast"], "by differences of probabilities, and has none"),
        (["--scores", "jsonl", "--agreement", "--to", "inglan"], "from or into inglan, the pivot, has no"),
    ],
)
def test_scores_that_there_are_not_are_refused_before_any_text_is_read(older, words, message):
    command = ["translate", str(older / OLDER_RUN), "--to", "tamun", "--from", "velan", "--input", "/nowhere"]
    with pytest.raises(InputError, match=message):
        cli.run([*command, *words])
