"""Directions by the names of options, and by the files of a folder."""

from argparse import Namespace
from pathlib import Path

import pytest

from zsnmt.data.directions import FROM_PIVOT, directions_of, directions_with_data, inference_direction
from zsnmt.errors import InputError
from zsnmt.languages import Direction

LANGUAGES = ["en", "de", "fr"]


@pytest.mark.parametrize("pairs", ["de-en,en-fr", ["de-en", "en-fr"], "de-en,en-fr,de-en", " de-en, en-fr"])
def test_directions_are_named_in_their_order_and_each_counts_once(pairs):
    assert directions_of(pairs, LANGUAGES) == ["de-en", "en-fr"]


def test_a_word_stands_for_the_directions_out_of_the_pivot_and_nothing_for_none():
    assert directions_of(FROM_PIVOT, LANGUAGES) == ["en-de", "en-fr"]
    assert (
        directions_of(None, LANGUAGES) == directions_of("", LANGUAGES) == directions_of([], LANGUAGES) == []
    )


@pytest.mark.parametrize(
    "pairs, message",
    [("de-xx", "unknown language 'xx': this model knows en, de, fr"), ("de", "not a direction")],
)
def test_what_is_not_a_direction_of_the_languages_is_refused(pairs, message):
    with pytest.raises(InputError, match=message):
        directions_of(pairs, LANGUAGES)


def test_both_directions_of_every_pair_with_text_are_found(tmp_path):
    for pair in ("en-fr", "de-en"):
        for language in pair.split("-"):
            Path(tmp_path / f"train.{pair}.{language}.idx").touch()
    assert directions_with_data(tmp_path, "train", LANGUAGES) == ["en-de", "en-fr", "de-en", "fr-en"]
    with pytest.raises(InputError, match="no binarised 'valid' text .*zsnmt prepare"):
        directions_with_data(tmp_path, "valid", LANGUAGES)


def test_a_direction_of_inference_has_two_known_sides():
    assert inference_direction(Namespace(source_lang="de", target_lang="fr"), LANGUAGES) == Direction(
        "de", "fr"
    )
    for source, target, message in (("de", None, "give both"), ("de", "xx", "unknown language 'xx'")):
        with pytest.raises(InputError, match=message):
            inference_direction(Namespace(source_lang=source, target_lang=target), LANGUAGES)
