"""How the training of a run goes on."""

from argparse import Namespace
from functools import partial

import pytest
import torch

from tests.adaptation.conftest import KNOWN, LANGUAGES, NEW, PIVOT
from zsnmt.adaptation import extended_run
from zsnmt.adaptation.extended_run import adaptation_options, model_options
from zsnmt.adaptation.modes import FROZEN, FULL
from zsnmt.adaptation.settings import Adaptation
from zsnmt.errors import InputError
from zsnmt.runs.checkpoints import load_checkpoint
from zsnmt.training.option_words import given_values


@pytest.mark.parametrize(
    "setting, message",
    [
        ({"noise_scale": float("nan")}, "--noise-scale is nan; it must be from 0 to 100"),
        ({"noise_scale": -1.0}, "--noise-scale is -1; it must be"),
        ({"noise_scale": 1e308}, "--noise-scale is 1e.308; it must be"),
        ({"noise": "none", "noise_scale": 2.0}, "scales the noise, and --noise none has none; leave one"),
        (
            {"mode": FROZEN, "without_synthetic": True},
            "--frozen trains on the new text alone, which --without-synthetic leaves as it is; leave one",
        ),
        ({"allow_unknown": float("nan")}, "--allow-unknown is nan; it is a share, from 0 to 1"),
        ({"allow_unknown": 1.5}, "--allow-unknown is 1.5; it is a share"),
    ],
)
def test_numbers_out_of_range_and_options_without_effect_are_refused(tmp_path, setting, message):
    with pytest.raises(InputError, match=message):
        Adaptation(tmp_path, **setting)


@pytest.fixture
def data(tmp_path):
    """As much of a folder of data as says which directions have training text."""
    (tmp_path / "data").mkdir()
    for language in LANGUAGES[1:]:
        (tmp_path / "data" / f"train.{PIVOT}-{language}.{PIVOT}.idx").touch()
    return tmp_path / "data"


@pytest.fixture
def run(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "train.command").write_text(
        r"/env/fairseq-train /old/data --cpu --arch zs_transformer --adam-betas \(0.9\,0.98\) --lr 2e-3 "
        r"--cpu-bf16 "
    )
    return tmp_path / "run"


def test_training_goes_on_with_the_options_it_had_but_for_data_and_device(run, data):
    options = adaptation_options(Adaptation(run), data, [NEW], LANGUAGES, {"frozen_vocabulary": "none"})
    assert options[:7] == [
        "--arch",
        "zs_transformer",
        "--adam-betas",
        "(0.9,0.98)",
        "--lr",
        "2e-3",
        "--cpu-bf16",
    ]
    assert options[7:9] == ["--frozen-vocabulary", "none"]


@pytest.mark.parametrize("mode, trained", [(FULL, KNOWN[1:] + [NEW]), (FROZEN, [NEW])])
def test_a_mode_trains_its_directions(run, data, mode, trained):
    *_, name, directions = adaptation_options(Adaptation(run, mode), data, [NEW], LANGUAGES, {})
    assert name == "--lang-pairs"
    assert {*directions.split(",")} == {
        pair for language in trained for pair in (f"{PIVOT}-{language}", f"{language}-{PIVOT}")
    }


def test_directions_that_a_student_validated_are_those_of_its_own_data(run, data):
    """Where they stayed, the new language's would not be validated; the word for all of them stays."""
    command, old = run / "train.command", KNOWN[1]
    written = command.read_text()
    options = partial(adaptation_options, Adaptation(run), data, [NEW], LANGUAGES, {})
    before = options()
    for language in (old, NEW):  # another one has no validation text
        (data / f"valid.{PIVOT}-{language}.{PIVOT}.idx").touch()
    (data / f"valid.{KNOWN[1]}-{KNOWN[2]}.{KNOWN[1]}.idx").touch()
    named = f"--valid-lang-pairs {KNOWN[1]}-{KNOWN[2]},{PIVOT}-{KNOWN[2]}"
    own = {f"{PIVOT}-{old}", f"{old}-{PIVOT}", f"{PIVOT}-{NEW}", f"{NEW}-{PIVOT}"}
    for further, also in (("", set()), ("--early-stopping-on-zero-shot", {f"{KNOWN[1]}-{KNOWN[2]}"})):
        command.write_text(f"{written} {named} {further}")
        found = options()
        assert found[-2:] == before[-2:] and found[-4] == "--valid-lang-pairs"  # of two, the last counts
        assert {*found[-3].split(",")} == own | also
    command.write_text(f"{written} --valid-lang-pairs all")
    assert options() == [*before[:-2], "--valid-lang-pairs", "all", *before[-2:]]


def test_a_run_that_does_not_say_how_it_was_trained_is_refused(run, data):
    for damaged in ("", "'half", "fairseq-train"):
        (run / "train.command").write_text(damaged)
        with pytest.raises(InputError, match="train.command is damaged .*; remove it, then train the run"):
            adaptation_options(Adaptation(run), data, [NEW], LANGUAGES, {})
    (run / "train.command").unlink()
    with pytest.raises(InputError, match="train.command is missing: .* give a run made by zsnmt train"):
        adaptation_options(Adaptation(run), data, [NEW], LANGUAGES, {})


def test_what_would_round_or_shrink_old_weights_is_left_out_in_mode_frozen(run, data):
    path = run / "train.command"
    path.write_text(path.read_text() + "--weight-decay 0.01 --fp16 --patience 5 ")
    frozen, full = (
        adaptation_options(each, data, [NEW], LANGUAGES, model_options(Namespace(), each, 120))
        for each in (Adaptation(run, FROZEN), Adaptation(run))
    )
    assert "--fp16" in full and "--fp16" not in frozen and "--patience" in frozen
    last = {
        mode: options[len(options) - options[::-1].index("--weight-decay")]
        for mode, options in ((FULL, full), (FROZEN, frozen))
    }
    assert last == {FULL: "0.01", FROZEN: "0.0"}


def test_each_epoch_is_validated_whatever_the_training_of_the_run_did(run, data):
    """That one may have had more epochs from one validation to the next than its adaptation has."""
    path = run / "train.command"
    path.write_text(path.read_text() + "--validate-interval 3 --save-interval=4 ")
    options = adaptation_options(Adaptation(run), data, [NEW], LANGUAGES, {})
    given = given_values(options)
    assert given["--validate-interval"] == given["--save-interval"] == "1"


def test_a_run_whose_residual_is_to_come_back_is_not_frozen(own_tiny, monkeypatch):
    state = load_checkpoint(own_tiny.run() / "model.pt")
    state["model"]["encoder.layers.1.attention_residual.back"] = torch.zeros(1)
    monkeypatch.setattr(extended_run, "load_checkpoint", lambda path: state)
    with pytest.raises(InputError, match="is of a time before its residual came back, .* without --frozen"):
        extended_run.check_options(Adaptation(own_tiny.run(), FROZEN), given=[])
    extended_run.check_options(Adaptation(own_tiny.run()), given=[])


def test_freezing_begins_behind_the_present_dictionary_each_time(tmp_path):
    full, frozen = Adaptation(tmp_path), Adaptation(tmp_path, FROZEN)
    once = model_options(Namespace(), frozen, 120)
    assert once == {"frozen_vocabulary": "120", "adapter_dim": 0, "weight_decay": 0}
    twice = model_options(Namespace(**once), frozen, 150)
    assert twice == {"frozen_vocabulary": "120,150", "adapter_dim": 0, "weight_decay": 0}
    assert model_options(Namespace(**once), full, 150) == {"frozen_vocabulary": "none", "adapter_dim": 0}


def test_adapters_stay_with_the_frozen_mode(tmp_path):
    with_adapters = model_options(Namespace(), Adaptation(tmp_path, FROZEN, 4), 120)
    assert with_adapters["adapter_dim"] == 4
    assert model_options(Namespace(**with_adapters), Adaptation(tmp_path, FROZEN), 150)["adapter_dim"] == 4
    with pytest.raises(InputError, match="give --adapter-dim 4, or leave it out"):
        model_options(Namespace(**with_adapters), Adaptation(tmp_path, FROZEN, 5), 150)
    for trained, dimension in ((Namespace(**with_adapters), 0), (Namespace(), 4)):
        with pytest.raises(InputError, match="adapt this run with --frozen, or without adapters"):
            model_options(trained, Adaptation(tmp_path, FULL, dimension), 150)
