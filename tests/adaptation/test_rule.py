"""The rule by which languages of a person's own text join a run."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conftest import ROOT
from zsnmt.adaptation import share as share_module
from zsnmt.adaptation.modes import FROZEN, FULL
from zsnmt.adaptation.rule import FEWEST_UPDATES, Base, choose
from zsnmt.adaptation.settings import Adaptation
from zsnmt.adaptation.share import with_share
from zsnmt.corpora.own_text.survey import Survey
from zsnmt.errors import InputError
from zsnmt.training.config import read_config
from zsnmt.training.fairseq_options import training_options

TEXT = Survey(
    ("en", "hu"),
    {"en-hu": 2000},
    words=21_414,
    different_words=4_600,
    characters=91,
    scripts={"en": "Latin", "hu": "Latin"},
)
ALL = replace(TEXT, pairs={"en-hu": 11_892}, words=129_910, different_words=20_000, characters=109)
BASE = Base(width=128, falls=True, tokens=1800)


def options(base: Base, mode: str, text: Survey = TEXT) -> dict:
    """What fairseq reads in the options of a training that goes on."""
    words = choose(text, base, mode).settings["TRAINING"].split()
    scheduler = "polynomial_decay" if base.falls else "inverse_sqrt"
    return vars(training_options("zs_transformer", ["--lr-scheduler", scheduler, *words]))


@pytest.mark.parametrize("name, text", [("tatoeba_nordic_add_hu", TEXT), ("tatoeba_nordic_add_hu_all", ALL)])
def test_the_configs_of_hungarian_are_what_the_rule_chooses(name, text):
    config = read_config(ROOT / "configs" / f"{name}.conf", {})
    chosen = choose(text, BASE, FULL).settings
    assert [*config.training] == chosen["TRAINING"].split() and config.average == int(chosen["AVERAGE"])
    assert config.vocabulary == int(chosen["VOCABULARY"])
    assert str(config.cleaning) == (chosen["CLEANING"] if text is ALL else "")


def test_what_is_known_of_a_run_is_that_of_its_training(tiny):
    run = tiny.run()
    known = Base.of(run)
    read = vars(training_options("zs_transformer", (run / "train.command").read_text().split()[2:]))
    assert (known.width, known.tokens) == (read["encoder_embed_dim"], read["max_tokens"])
    assert known.falls == (read["lr_scheduler"] == "polynomial_decay")


def test_everything_is_trained_until_the_new_text_was_read_often():
    few, many = options(BASE, FULL), options(BASE, FULL, replace(TEXT, words=10 * TEXT.words))
    assert few["max_update"] == FEWEST_UPDATES and many["max_update"] == 6700
    for read in (few, many):
        assert int(read["total_num_update"]) == read["max_update"] and read["max_epoch"] == 0
        assert read["lr"] == [0.001] and read["warmup_updates"] < read["max_update"] / 10


def test_with_a_smaller_share_it_takes_longer_until_the_new_text_was_read_as_often():
    (_, half), (said, eighth) = (
        (chosen.reasons, chosen.settings["TRAINING"].split())
        for chosen in (choose(ALL, BASE, FULL, share=share) for share in (0.5, 0.125))
    )
    updates = [int(words[words.index("--max-update") + 1]) for words in (half, eighth)]
    assert updates[1] == pytest.approx(4 * updates[0], rel=0.02)
    assert any("12.5% on the new text, which is read about 12 times" in reason for reason in said)


def test_what_is_new_is_trained_for_epochs_of_the_new_text_and_a_larger_one_takes_longer():
    little, much = options(BASE, FROZEN), options(BASE, FROZEN, replace(TEXT, words=20 * TEXT.words))
    assert little["max_update"] == 900 and much["max_update"] == 14_000
    assert little["validate_interval"] == 4 and much["validate_interval"] == 1
    assert little["lr"] == [0.002]


@pytest.mark.parametrize("mode", [FULL, FROZEN])
def test_a_run_keeps_the_schedule_of_its_training_and_a_wide_model_learns_more_slowly(mode):
    wide = replace(BASE, width=512, falls=False)
    assert options(wide, mode)["lr"][0] == pytest.approx(options(BASE, mode)["lr"][0] / 4)
    assert "AVERAGE" not in choose(TEXT, wide, mode).settings
    assert choose(TEXT, BASE, mode).settings["AVERAGE"] == "1"


def test_several_languages_share_the_words_by_which_each_gets_its_pieces():
    one, three = (
        int(choose(replace(TEXT, languages=("en", *"abc"[:number])), BASE, FULL).settings["VOCABULARY"])
        for number in (1, 3)
    )
    assert one == 900 and 91 + (one - 91) / 2 < three < one


def test_a_share_of_what_is_sampled_is_that_of_the_new_languages_and_the_rest_stays_in_proportion():
    weights = {"main:en-de": 6, "main:de-en": 6, "sources:fr-de": 12, "main:hu-en": 1, "targets:de-hu": 3}
    shared = with_share(weights, ["hu"], 0.4)
    assert sum(shared.values()) == pytest.approx(1)
    assert shared["main:hu-en"] == pytest.approx(0.1) and shared["targets:de-hu"] == pytest.approx(0.3)
    assert shared["sources:fr-de"] == pytest.approx(0.3) == pytest.approx(2 * shared["main:en-de"])


def test_a_share_is_of_the_directions_that_are_trained(tmp_path, monkeypatch):
    monkeypatch.setattr(share_module, "pairs_in", lambda data, direction: 10)
    monkeypatch.setattr(share_module, "read_languages", lambda data: ["en", "de", "fr", "hu"])
    chosen = ["--lang-pairs", "en-de,de-en,en-hu"]
    _, path = share_module.write_share(
        tmp_path, tmp_path, ["hu"], share=0.5, is_student=False, options=chosen
    )
    weights = json.loads(Path(path).read_text())
    assert weights == {"main:en-de": 0.25, "main:de-en": 0.25, "main:en-hu": 0.5}


@pytest.mark.parametrize("share", [0, 1, -1, float("nan")])
def test_a_share_that_is_none_is_refused(share):
    with pytest.raises(InputError, match="--share is .*; it is a share of the pairs, between 0 and 1"):
        Adaptation(Path("run"), share=share)


def test_a_share_of_the_new_text_alone_is_refused():
    with pytest.raises(InputError, match="--frozen trains on the new text alone, of which --share is all"):
        Adaptation(Path("run"), FROZEN, share=0.5)
