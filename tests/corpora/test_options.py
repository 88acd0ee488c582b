"""The settings of corpora as configs have them."""

import pytest

from zsnmt.corpora.invented.corpus import SyntheticCorpus
from zsnmt.corpora.invented.languages import standard_languages
from zsnmt.corpora.invented.options import parse_corpus, parse_treebanks
from zsnmt.corpora.releases.europarl import read_release
from zsnmt.corpora.releases.options import parse_release
from zsnmt.errors import InputError


def test_words_of_a_config_are_an_artificial_corpus():
    assert parse_corpus([]) == SyntheticCorpus()
    assert parse_corpus("--number 2 --pairs 7 --sound-change 0".split()) == SyntheticCorpus(
        standard_languages(2), pairs=7, sound_change=0.0
    )
    assert parse_treebanks("--number 1 --sentences 90 --valid 30".split()) == (
        SyntheticCorpus(standard_languages(1), valid=30),
        90,
    )


def test_words_of_a_config_are_a_reader_and_its_settings():
    reader, settings = parse_release("europarl --condition full --held-out 4".split())
    assert reader is read_release and (settings["condition"], settings["held_out"]) == ("full", 4)
    assert parse_release(["iwslt17"])[1].keys() < settings.keys()


@pytest.mark.parametrize(
    "parse, words, message",
    [
        (parse_corpus, "--pears 3", "unrecognized arguments: --pears 3; see zsnmt make-synthetic --help"),
        (parse_corpus, "--pairs many", "argument --pairs: invalid int value: 'many'"),
        (parse_treebanks, "--test 3", "unrecognized arguments: --test 3"),
        (parse_release, "opus", "invalid choice: 'opus'"),
        (parse_release, "pmindia --condition full", "unrecognized arguments: --condition full"),
    ],
)
def test_what_no_corpus_has_is_refused(parse, words, message):
    with pytest.raises(InputError, match=message):
        parse(words.split())
