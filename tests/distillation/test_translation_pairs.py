"""Translations of one English sentence as pairs of each other."""

from itertools import permutations

import pytest

from tests.distillation.conftest import AUTHENTIC, OTHERS, PIVOT, data_of
from zsnmt.corpora.overlap import held_out_sentences, normalise
from zsnmt.distillation.filters import lengths_of
from zsnmt.distillation.settings import Distillation
from zsnmt.distillation.student_data import options_of_data, sampled_sizes
from zsnmt.errors import InputError
from zsnmt.languages import Direction
from zsnmt.text.lines import read_lines
from zsnmt.text.pipeline import TextPipeline

THIRD = {other: tuple(each for each in OTHERS if each != other) for other in OTHERS}  # of three languages


def pairs_of(folder, other):
    first, second = THIRD[other]
    files = [folder / other / f"train.{first}-{second}.{language}" for language in (first, second)]
    return [*zip(*map(read_lines, files), strict=True)]


def test_each_is_the_translations_of_one_sentence_of_the_pivot(text, translate):
    data_of(text, "between")
    for other, languages in THIRD.items():
        english, _ = text.lines(other)
        train = [english[place] for place in text.selection(other).train]
        directions = [Direction(PIVOT, language) for language in languages]
        expected = [tuple(translate(line, direction) for direction in directions) for line in train]
        pairs = pairs_of(text.folder / "between", other)
        assert pairs and {*pairs} <= {*expected}
        held_out = {english[place] for place in text.selection(other).held_out} - {*train}
        assert not {*pairs} & {tuple(translate(line, each) for each in directions) for line in held_out}


def test_both_translations_were_kept_and_the_lengths_are_alike(text, made):
    data_of(text, "between")
    pipeline = TextPipeline.load(made / "data")
    unseen = held_out_sentences(text.authentic, text.experiment.config.languages)
    for other, languages in THIRD.items():
        pairs = pairs_of(text.folder / "between", other)
        for language, sentences in zip(languages, zip(*pairs)):
            assert {*sentences} <= {*read_lines(text.text / other / f"train.{other}-{language}.{language}")}
            assert not {*map(normalise, sentences)} & {*unseen}
        lengths = zip(*(lengths_of(side, each, pipeline) for side, each in zip(zip(*pairs), languages)))
        assert all(max(both) <= 2.5 * min(both) for both in lengths)


def test_pairs_of_unlike_lengths_are_left_out(text, monkeypatch):
    other, (first, second) = next(iter(THIRD.items()))
    data_of(text, "both")
    kept = type(text).kept

    def with_a_long_one(synthetic, direction):
        rows = kept(synthetic, direction)
        if direction == (other, second):
            rows[0] = rows[0]._replace(synthetic=" ".join([rows[0].synthetic] * 9))
        return rows

    all_pairs = {row.line for row in kept(text, Direction(other, first))} & {
        row.line for row in kept(text, Direction(other, second))
    }
    monkeypatch.setattr(type(text), "kept", with_a_long_one)
    data_of(text, "between")
    assert len(pairs_of(text.folder / "between", other)) < len(all_pairs)


def test_sentences_that_are_held_out_of_either_language_are_left_out(text, monkeypatch):
    """Their translations validate the directions of that language."""
    other, (first, second) = next(iter(THIRD.items()))
    data_of(text, "both")
    row = text.kept(Direction(other, first))[0]
    held_out = {first: set(), second: {normalise(row.pivot)}}
    monkeypatch.setattr(
        "zsnmt.distillation.translation_pairs.held_out_of",
        lambda synthetic, language: held_out.get(language, {}),
    )
    data_of(text, "between")
    pivots = {normalise(each.pivot) for each in text.kept(Direction(other, first))}
    assert normalise(row.pivot) in pivots
    others = {each.synthetic for each in text.kept(Direction(other, first)) if each.pivot != row.pivot}
    assert {one for one, _ in pairs_of(text.folder / "between", other)} <= others


def test_where_nothing_can_be_paired_it_is_said_before_anything_is_translated(text, monkeypatch):
    """Of four languages, too, where people have given text between most of them."""
    one, other, _ = OTHERS
    monkeypatch.setattr(type(text), "directions", lambda _: [Direction(one, other), Direction(other, one)])
    with pytest.raises(InputError, match="--sides between adds nothing to --sides both here"):
        data_of(text, "between")
    assert not text.folder.exists()


def test_where_the_filters_leave_nothing_to_pair_it_is_said(text, monkeypatch):
    monkeypatch.setattr("zsnmt.distillation.student_data.make_further_text", lambda *given, **named: {})
    with pytest.raises(InputError, match="--sides between adds nothing to --sides both here: the filters"):
        data_of(text, "between")


def test_each_pair_is_read_both_ways(text, tmp_path):
    data, both = data_of(text, "between"), data_of(text, "both")
    assert {*both.extra} == {"targets", "sources"}
    for other, languages in THIRD.items():
        assert {*data.directions[f"between_{other}"]} == {
            Direction(*each) for each in permutations(languages)
        }
    assert data.synthetic == both.synthetic and not {*data.synthetic} & {*AUTHENTIC}
    assert data.validation_directions() == both.validation_directions()
    words = [
        options_of_data(tmp_path, Distillation(tmp_path, sides="between"), each) for each in (data, both)
    ]
    sizes = [each[each.index("--virtual-data-size") + 1] for each in words]
    assert sizes[0] == sizes[1]  # as many updates


def test_together_they_come_as_often_as_synthetic_targets(text):
    sizes = sampled_sizes(data_of(text, "between"))
    by_use = {
        use: sum(size for name, size in sizes.items() if name.startswith(use))
        for use in ("targets:", "sources:", "between_")
    }
    assert (
        by_use["between_"] == pytest.approx(by_use["targets:"]) and by_use["sources:"] == by_use["targets:"]
    )
    both = sampled_sizes(data_of(text, "both"))
    assert {name: sizes[name] for name in both} == both  # and those of the others stay as they are
