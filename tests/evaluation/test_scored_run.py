"""How a run is scored: what is given goes before its config, and that before the defaults."""

import json
from pathlib import Path

import pytest

from zsnmt.decoding.search import Search
from zsnmt.errors import InputError
from zsnmt.evaluation.scored_run import chosen, settings_of
from zsnmt.evaluation.text import TextChoice
from zsnmt.scoring.options import Scoring

CONFIG = """\
TEXT=text
LANGUAGES="en de fr"
BEAM=2
BLEU_TOKENIZER=subwords
TEST_LINES=60
"""


@pytest.fixture
def run(tmp_path) -> Path:
    (tmp_path / "config.conf").write_text(CONFIG)
    (tmp_path / "run.json").write_text(json.dumps({"text": "text"}))
    return tmp_path


def test_what_is_given_goes_before_the_config_and_that_before_the_defaults(run):
    given = dict.fromkeys(("identifier", "bleu_tokenizer", "beam", "length_penalty", "lines", "comet"))
    settings = settings_of(run, {}, given | {"bleu_tokenizer": "intl", "split": "valid"})
    assert chosen(Search, settings) == Search(beam=2)
    assert chosen(Scoring, settings) == Scoring(bleu_tokenizer="intl")
    assert chosen(TextChoice, settings) == TextChoice(split="valid", lines=60)
    assert chosen(Scoring, settings_of(run, {}, {})) == Scoring(bleu_tokenizer="subwords")


def test_a_tokeniser_that_there_is_not_is_refused_before_anything_is_loaded(run):
    with pytest.raises(InputError, match="there is no BLEU tokeniser '14a'; choose 13a, "):
        settings_of(run, {}, {"bleu_tokenizer": "14a"})
