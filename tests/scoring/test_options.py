"""Settings of scoring: one default each, and refusals."""

import argparse
from dataclasses import fields

import pytest

from zsnmt.errors import InputError
from zsnmt.scoring.options import Scoring, add_scoring_options, given_scoring


def parsed(*arguments: str) -> dict[str, object]:
    parser = argparse.ArgumentParser()
    add_scoring_options(parser)
    return given_scoring(parser.parse_args(arguments))


def test_what_is_not_given_is_left_to_a_config_or_to_the_defaults():
    assert parsed() == {} and parsed("--bootstrap-samples", "50") == {"bootstrap_samples": 50}


def test_every_setting_has_an_option():
    given = parsed(
        "--identifier",
        "lexicon",
        "--bleu-tokenizer",
        "subwords",
        "--normalise-references",
        "--comet",
        "--bootstrap-samples",
        "50",
    )
    assert Scoring(**given) == Scoring("lexicon", "subwords", True, "Unbabel/wmt22-comet-da", 50)
    assert all(given[setting.name] != setting.default for setting in fields(Scoring))


@pytest.mark.parametrize(
    "settings, message",
    [
        (dict(identifier="guess"), "there is no identifier 'guess'; choose py3langid, lexicon"),
        (dict(bleu_tokenizer="12a"), "there is no BLEU tokeniser '12a'; choose 13a, .*, subwords"),
        (dict(bootstrap_samples=1), "1 bootstrap samples are not possible; give 2 to 10000, such as 1000"),
        (dict(bootstrap_samples=10**21), "bootstrap samples are not possible"),
    ],
)
def test_what_there_is_not_is_refused(settings, message):
    with pytest.raises(InputError, match=message):
        Scoring(**settings)
