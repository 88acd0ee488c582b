"""Translation of raw text by a method: what is read beside each line, and what is refused."""

import logging
import re
from dataclasses import replace
from types import SimpleNamespace

import pytest

from tests.conftest import OLDER_RUN
from tests.support.rounding import open_in_float64
from zsnmt import cli
from zsnmt.cli import translate
from zsnmt.data.language_tags import TagPlacement
from zsnmt.decoding.methods.bundle import Bundle
from zsnmt.decoding.methods.settings import parse_method
from zsnmt.decoding.options import CTRANSLATE2, FAIRSEQ, EngineChoice
from zsnmt.decoding.search import Search
from zsnmt.distillation.teacher import Interpreter
from zsnmt.errors import InputError
from zsnmt.inference.bundles import Bundler, next_lines
from zsnmt.inference.engines import check_method
from zsnmt.inference.parts import Part
from zsnmt.inference.translator import Translator
from zsnmt.languages import Direction
from zsnmt.text.lines import read_lines

SEARCH = Search(beam=2)
VELAN_TAMUN, VELAN_PIVOT = Direction("velan", "tamun"), Direction("velan", "inglan")


@pytest.fixture(scope="module")
def translator(older) -> Translator:
    """In float64, where a batch decides nothing."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        open_in_float64(monkeypatch)
        return Translator.open(older / OLDER_RUN, SEARCH, EngineChoice(workers=1))


@pytest.fixture(scope="module")
def lines(older) -> list[str]:
    return read_lines(older / "runs/tiny/text/test.velan")


@pytest.fixture(scope="module")
def counts(translator, older) -> dict[str, dict[str, int]]:
    """Of the test text's pieces; each language has a few of its own."""
    pipeline, counts = translator.pipeline, {}
    for language in translator.languages:
        text = read_lines(older / f"runs/tiny/text/test.{language}")
        pieces = [piece for line in text for piece in pipeline.encode(line, language)]
        counts[language] = {piece: pieces.count(piece) for piece in pieces}
    return counts


def bundles_for(translator: Translator, way: str, lines: list[str], direction: Direction) -> list[Bundle]:
    """What a translator by a method would search with, in the order of the lines."""
    by = translator.by(parse_method(way))
    return by.engine_inputs([*by.parts_of(lines, [direction], 1)], lines, 1)


def test_an_ensemble_reads_the_line_and_its_translations(translator, lines):
    codec, text = translator.codec, lines[:4]
    through = {language: translator.translate(text, language, "velan") for language in ("inglan", "velor")}
    bundles = bundles_for(translator, "ensemble:through=pivot+velor", text, VELAN_TAMUN)
    for row, bundle in enumerate(bundles):
        assert bundle == Bundle(
            "tamun",
            (
                codec.source(text[row], VELAN_TAMUN),
                *(codec.source(made[row], Direction(by, "tamun")) for by, made in through.items()),
            ),
        )
    into_pivot = bundles_for(translator, "ensemble:through=inglan+velor", text, VELAN_PIVOT)
    assert [each.sentences[1] for each in into_pivot] == [
        codec.source(line, Direction("velor", "inglan")) for line in through["velor"]
    ]


def texts_through(by, lines, through):
    """Translations into tamun by an ensemble that is given the lines in its other languages."""
    found = by.translate_into_with_scores(lines, [VELAN_TAMUN], through=through)
    return [each.text for each in found[VELAN_TAMUN]]


def test_an_ensemble_reads_what_it_is_given_in_place_of_its_own_translations(translator, lines):
    by, text = translator.by(parse_method("ensemble:by=average")), lines[:6]
    own = translator.translate(text, "inglan", "velan")
    assert texts_through(by, text, {"inglan": own}) == by.translate(text, "tamun", "velan")
    bundles = by.engine_inputs([*by.parts_of(text, [VELAN_TAMUN], 1)], text, 1, {"inglan": own[::-1]})
    assert [bundle.sentences[1] for bundle in bundles] == [
        translator.codec.source(line, Direction("inglan", "tamun")) for line in own[::-1]
    ]


def test_a_teacher_of_two_sources_reads_both(translator, lines):
    teacher = Interpreter(SimpleNamespace(run="teacher"), SEARCH, EngineChoice())
    by = teacher.translator = translator.by(parse_method("ensemble"))
    english = translator.translate(lines[:3], "inglan", "velan")
    assert teacher.translate([*zip(lines, english)], VELAN_TAMUN, float) == texts_through(
        by, lines[:3], {"inglan": english}
    )


def test_an_ensemble_translates_as_its_engine_does_with_these(translator, lines):
    by = translator.by(parse_method("ensemble"))
    hypotheses = by.engine.translate_batch(bundles_for(translator, "ensemble", lines, VELAN_TAMUN))
    expected = [translator.codec.text(best.tokens, "tamun") for best, *_ in hypotheses]
    assert by.translate(lines, "tamun", "velan") == expected
    assert len({*expected}) > 3 and expected != translator.translate(lines, "tamun", "velan")


def test_a_contrast_reads_the_line_into_other_languages_and_the_next_line(translator, lines):
    codec, text = translator.codec, lines[:3]
    bundles = bundles_for(translator, "contrast:source_weight=0.5", text, VELAN_TAMUN)
    for row, bundle in enumerate(bundles):
        assert bundle == Bundle(
            "tamun",
            (
                codec.source(text[row], VELAN_TAMUN),
                codec.source(text[row], VELAN_PIVOT),
                codec.source(text[row], Direction("velan", "velan")),
                codec.source(text[(row + 1) % 3], VELAN_TAMUN),
            ),
            (0.1, 0.1, 0.5),
        )
    assert [len(each.sentences) for each in bundles_for(translator, "contrast", text, VELAN_PIVOT)] == [3] * 3
    only = bundles_for(translator, "contrast:languages=inglan,source_weight=0", text, VELAN_TAMUN)
    assert [len(each.sentences) for each in only] == [2] * 3


@pytest.mark.parametrize("name", TagPlacement.NAMES)
def test_a_contrast_is_in_the_tags_of_any_placement(translator, lines, name):
    dictionary = translator.codec.dictionary
    codec = replace(translator.codec, placement=TagPlacement(name, dictionary))
    method = parse_method("contrast:languages=inglan,source_weight=0").of(codec.languages)
    tokens = codec.tokens(lines[0], "velan")
    (bundle,) = Bundler(codec, method, lines, {}).bundles([Part(0, VELAN_TAMUN, tokens)])
    assert bundle.sentences == tuple(
        codec.source(lines[0], direction) for direction in (VELAN_TAMUN, VELAN_PIVOT)
    )
    asked, other = bundle.sentences
    tags = [dictionary.index(f"__{language}__") for language in ("tamun", "inglan")]
    changed = [(one, two) for one, two in zip([*asked.source, asked.start], [*other.source, other.start])]
    assert {pair for pair in changed if pair[0] != pair[1]} == {tuple(tags)}


def test_what_changes_nothing_translates_directly_bit_for_bit(older, lines, counts):
    translator = Translator.open(older / OLDER_RUN, SEARCH, EngineChoice(workers=1))  # in float32
    directly = translator.translate_into(lines, [VELAN_TAMUN, VELAN_PIVOT])
    for way in ("contrast:language_weight=0,source_weight=0", "mask:penalty=0", "contrast:penalty=0"):
        way += "" if way != "contrast:penalty=0" else ",language_weight=0,source_weight=0"
        assert (
            translator.by(parse_method(way), counts).translate_into(lines, [VELAN_TAMUN, VELAN_PIVOT])
            == directly
        )


@pytest.mark.slow
def test_methods_change_translations_and_the_batch_does_not(translator, lines, counts):
    directly = translator.translate(lines, "tamun", "velan")
    for way in ("ensemble:by=average", "contrast", "mask:pieces=3", "ensemble:penalty=1.5"):
        method = parse_method(way)
        translations = translator.by(method, counts).translate(lines, "tamun", "velan")
        assert len(translations) == len(lines) and translations != directly, way
        small = Translator(translator.engine, translator.codec, settings=SEARCH, batch_tokens=30)
        small = small.by(method, counts)
        assert small.translate(lines, "tamun", "velan") == translations, way


@pytest.mark.slow
def test_several_processes_translate_as_one(translator, older, lines):
    choice, method = EngineChoice(workers=2), parse_method("ensemble")
    alone, shared = (
        Translator.open(older / OLDER_RUN, SEARCH, each, batch_tokens=30).by(method)
        for each in (EngineChoice(workers=1), choice)
    )
    assert shared.translate(lines, "tamun", "velan") == alone.translate(lines, "tamun", "velan")


@pytest.mark.parametrize("way", ["search", "mask:pieces=3,", "mask:renormalise=yes,", "contrast:"])
def test_a_way_may_have_a_beam_of_its_own(translator, lines, counts, way):
    """What is found is what the way finds where all searches have that beam."""
    greedy = replace(SEARCH, beam=1)
    same = Translator(translator.engine.searching(greedy), translator.codec, settings=greedy)
    by = translator.by(parse_method(f"{way}beam=1" if ":" in way else f"{way}:beam=1"), counts)
    expected = same if way == "search" else same.by(parse_method(way.rstrip(",:")), counts)
    wanted = expected.translate_with_scores(lines, "tamun", "velan")
    assert by.translate_with_scores(lines, "tamun", "velan") == wanted
    wider = translator.translate_with_scores(lines, "tamun", "velan")
    assert wanted != wider and translator.settings == SEARCH and by.settings == greedy
    assert by.by(parse_method("search:beam=2")).translate_with_scores(lines, "tamun", "velan") == wider


def test_what_an_ensemble_reads_is_of_the_search_of_all_ways(translator, lines):
    first, second = (
        bundles_for(translator, way, lines, VELAN_TAMUN) for way in ("ensemble", "ensemble:beam=1")
    )
    assert first == second


def test_a_sample_needs_a_beam_of_1(translator, lines):
    with pytest.raises(InputError, match="a sample is one hypothesis, not 2; give sample:beam=1"):
        translator.by(parse_method("sample"))
    sampled = translator.by(parse_method("sample:beam=1,symbols=1")).translate(lines, "tamun", "velan")
    assert sampled == translator.by(parse_method("search:beam=1")).translate(lines, "tamun", "velan")


def test_a_search_of_its_own_goes_through_another_language(translator, lines):
    by = translator.by(parse_method("search:beam=1"))
    first = by.translate(lines, "inglan", "velan")
    assert by.translate(lines, "tamun", "velan", via="inglan") == by.translate(first, "tamun", "inglan")


def test_a_mask_leaves_the_pieces_of_the_target(translator, lines, counts):
    by = translator.by(parse_method("mask"), counts)
    for target in ("tamun", "velor", "inglan"):
        bundles = by.engine_inputs([*by.parts_of(lines, [Direction("velan", target)], 1)], lines, 1)
        written = {token for best, *_ in by.engine.translate_batch(bundles) for token in best.tokens[:-1]}
        assert written and all(translator.codec.dictionary[token] in counts[target] for token in written)
    everything = {target: dict.fromkeys(translator.codec.dictionary.symbols, 1) for target in counts}
    assert translator.by(parse_method("mask"), everything).translate(
        lines, "tamun", "velan"
    ) == translator.translate(lines, "tamun", "velan")


def test_lines_that_a_method_cannot_read_whole_are_translated_directly(translator, lines, caplog):
    """A long line is cut into parts, of which there are no translations; an empty one stays so."""
    text = [lines[0], " ".join(lines * 3), ""]
    translated = translator.by(parse_method("ensemble")).translate(text, "tamun", "velan")
    parts = re.findall(r"(\d+) translations have one source alone", caplog.text)
    assert parts and int(parts[0]) > 1
    directly = translator.translate(text, "tamun", "velan")
    assert translated[1:] == directly[1:] and translated[2] == ""
    with caplog.at_level(logging.WARNING):
        caplog.clear()
        assert len(translator.by(parse_method("contrast")).translate(text, "tamun", "velan")) == 3
    assert "one source alone" not in caplog.text


def test_a_part_of_a_line_is_not_read_with_a_translation_of_the_whole(translator, lines):
    """Also where that would be short enough to be read."""
    ensemble, direction = translator.by(parse_method("ensemble")), Direction("velan", "tamun")
    text, through = [" ".join(lines * 3)], {translator.pivot: lines[:1]}
    found = ensemble.translate_into_with_scores(text, [direction], through=through)
    assert [each.text for each in found[direction]] == translator.translate(text, "tamun", "velan")


@pytest.mark.parametrize(
    "lines, companions",
    [
        (["a", "b", "c"], ["b", "c", "a"]),
        (["a", "a", "", "b", " ", "b"], ["b", "b", "b", "a", "b", "a"]),
        (["", "a", "a", "b", "c", "a"], ["a", "b", "b", "c", "a", "b"]),
        (["", " "], ["", ""]),
        ([], []),
    ],
)
def test_the_companion_of_a_line_is_the_next_that_says_something_else(lines, companions):
    assert next_lines(lines) == companions


@pytest.mark.parametrize("lines", [["a"], ["a", "", "a"]])
def test_a_text_of_one_line_has_no_contrast_of_sources(lines):
    with pytest.raises(InputError, match="all of this one are alike; give it two .* or source_weight=0"):
        next_lines(lines)


@pytest.mark.parametrize(
    "way, arguments, message",
    [
        ("ensemble", ("inglan", "velan"), "through inglan has no second source from velan into inglan"),
        ("ensemble", ("tamun", "inglan"), "no second source from inglan into tamun"),
        ("ensemble", ("tamun",), "a translation by ensemble must be told the source language"),
        ("contrast", ("tamun",), "a translation by contrast must be told the source language"),
        (
            "contrast:languages=inglan,source_weight=0",
            ("inglan", "velan"),
            "a contrast of inglan with inglan is none",
        ),
        ("ensemble", ("ensemble", "velan"), "unknown language 'ensemble'"),
        ("mask", ("tamun", "tamun"), "source and target are both 'tamun'"),
    ],
)
def test_what_a_method_cannot_translate_is_refused_before_it_begins(
    translator, lines, counts, way, arguments, message
):
    by = translator.by(parse_method(way), counts)
    with pytest.raises(InputError, match=message):
        by.translate(lines, *arguments)


def test_a_method_with_another_way_is_refused(translator, lines, counts):
    for way, reason in {
        "sample:beam=1": "by sample is not made through inglan: .* two; leave out one of the two, or",
        "contrast": "by contrast is not made through inglan: .* and what comes of it by contrast",
        "ensemble": "the translation alone would be left; .* give --way ensemble:through=inglan",
    }.items():
        with pytest.raises(InputError, match=reason):
            translator.by(parse_method(way), counts).translate(lines, "tamun", "velan", via="inglan")
    with pytest.raises(InputError, match="unknown language 'xx': this model knows inglan, "):
        translator.by(parse_method("ensemble:through=xx"))
    with pytest.raises(InputError, match="there are none of inglan, .*; count them with zsnmt count-pieces"):
        translator.by(parse_method("mask"))
    without = {language: of for language, of in counts.items() if language != "tamun"}
    with pytest.raises(InputError, match="a mask needs the counts .* there are none of tamun;"):
        translator.by(parse_method("mask"), without)


@pytest.mark.parametrize("way", ["mask", "mask:renormalise=yes,beam=1"])
def test_both_translations_through_another_language_have_the_mask(translator, lines, counts, way):
    by = translator.by(parse_method(way), counts)
    first = by.translate_with_scores(lines, "inglan", "velan")
    second = by.translate_with_scores([each.text for each in first], "tamun", "inglan")
    found = by.translate_with_scores(lines, "tamun", "velan", via="inglan")
    assert [each.text for each in found] == [each.text for each in second]
    plain = translator.translate(lines, "tamun", "velan", via="inglan")
    assert [each.text for each in found] != plain  # the mask changes something here


def test_engines_and_exports_that_cannot_say_so(older):
    run = older / OLDER_RUN
    with pytest.raises(InputError, match="--engine ctranslate2 cannot translate by mask; .* pytorch"):
        check_method(run, parse_method("mask"), EngineChoice(CTRANSLATE2))
    with pytest.raises(InputError, match="an export, cannot translate by ensemble; give a run folder"):
        check_method(run / "ctranslate2-int8", parse_method("ensemble"), EngineChoice())
    check_method(run, parse_method("search:beam=1"), EngineChoice(CTRANSLATE2))
    for choice in (EngineChoice(), EngineChoice(FAIRSEQ)):
        check_method(run, parse_method("ensemble"), choice)


@pytest.mark.slow
@pytest.mark.parametrize(
    "way", ["ensemble", "contrast:pieces=3", "mask:renormalise=yes", "search:beam=1", "ensemble:beam=3"]
)
def test_fairseqs_search_translates_as_the_packed_model(translator, older, lines, counts, monkeypatch, way):
    """By two processes."""
    open_in_float64(monkeypatch)
    choice, method = EngineChoice(FAIRSEQ, workers=2), parse_method(way)
    by_fairseq = Translator.open(older / OLDER_RUN, SEARCH, choice, batch_tokens=30).by(method, counts)
    expected = translator.by(method, counts).translate(lines, "tamun", "velan")
    assert by_fairseq.translate(lines, "tamun", "velan") == expected


@pytest.mark.parametrize(
    "words, message",
    [
        (["--from", "auto", "--way", "ensemble"], "by ensemble must be told the source language"),
        (["--way", "contrast"], "by contrast must be told the source language"),
        (
            ["--from", "velan", "--via", "inglan", "--way", "contrast"],
            "contrast is not made through",
        ),
        (["--way", "mask"], "piece_counts.tsv is missing, .* zsnmt count-pieces"),
        (["--engine", "ctranslate2", "--way", "mask"], "--engine ctranslate2 cannot translate by mask"),
        (["--way", "vote"], "no way 'vote' to translate"),
    ],
)
def test_the_command_refuses_before_any_text_is_read(older, words, message):
    with pytest.raises(InputError, match=message):
        cli.run(["translate", str(older / OLDER_RUN), "--to", "tamun", "--input", "/nowhere", *words])


@pytest.mark.slow
def test_the_command_reads_the_whole_text_for_a_contrast(older, monkeypatch, capfd, lines):
    """However many lines it reads at a time otherwise."""
    monkeypatch.setattr(translate, "LINES_AT_A_TIME", 2)
    text = older / "runs/tiny/text/test.velan"
    words = ["translate", str(older / OLDER_RUN), "--from", "velan", "--to", "tamun", "--beam", "2"]
    cli.run([*words, "--workers", "1", "--way", "contrast", "--input", str(text)])
    by = Translator.open(older / OLDER_RUN, SEARCH, EngineChoice(workers=1)).by(parse_method("contrast"))
    assert capfd.readouterr().out.splitlines() == by.translate(lines, "tamun", "velan")


@pytest.mark.slow
@pytest.mark.parametrize(
    "way, before", [(None, 2), ("ensemble", 2), ("contrast:source_weight=0", 2), ("contrast", 0)]
)
def test_the_command_translates_some_lines_before_it_reads_the_next(
    older, monkeypatch, capfd, lines, way, before
):
    """Unless a line needs another one. So text without end is translated too, in as much memory as some lines
    take.
    """

    def reading(name):
        yield from lines[:3]
        raise InputError("the third line was read")

    monkeypatch.setattr(translate, "LINES_AT_A_TIME", 2)
    monkeypatch.setattr(translate, "iterate_input", reading)
    words = ["translate", str(older / OLDER_RUN), "--from", "velan", "--to", "tamun", "--beam", "2"]
    with pytest.raises(InputError, match="the third line"):
        cli.run([*words, "--workers", "1", *(["--way", way] if way else [])])
    assert len(capfd.readouterr().out.splitlines()) == before
