"""The config of the study of inference: what its keys say may not be said by options, too."""

from dataclasses import replace

import pytest

from tests.conftest import ROOT
from zsnmt.errors import InputError
from zsnmt.masked_lm.config import RELEASES, XnliConfig, read_xnli_config
from zsnmt.masked_lm.nli_study import NliStudy, prepare_nli
from zsnmt.masked_lm.runs import read_counts
from zsnmt.training.config_file import ConfigFile, keys_of
from zsnmt.training.steps import Steps

PUBLISHED = ROOT / "configs" / "bert_xnli.conf"


@pytest.mark.parametrize(
    "key, option, message",
    [
        # the first two would be every run's, whatever its system and seed
        ("PRETRAINING", "--position-encoding learned", "--position-encoding, which SYSTEMS says already"),
        ("FINETUNING", "--seed 7", "--seed, which SEEDS says already"),
        ("FINETUNING", "--max-epoch=9", "--max-epoch, which the keys of batches and epochs say already"),
        ("MODEL", "--update-freq 2", "--update-freq, which the keys of batches and epochs say already"),
        ("PRETRAINING", "--lr-scheduler fixed", "--lr-scheduler, which the study sets itself"),
    ],
)
def test_an_option_that_a_key_says_is_refused(tmp_path, key, option, message):
    file = ConfigFile(PUBLISHED, keys_of(XnliConfig), {"ROOT": str(ROOT)})
    path = tmp_path / "some.conf"
    values = {each: " ".join(file.value(each).split()) for each in file.keys}  # each on a line
    values[key] += f" {option}"
    path.write_text("".join(f'{each}="{value}"\n' for each, value in values.items()))
    line = 1 + file.keys.index(key)
    with pytest.raises(InputError, match=f"some.conf, line {line}, has {message}; leave it out"):
        read_xnli_config(path, {})


@pytest.mark.parametrize(
    "given, message",
    [
        ({}, "does not set TEXT, or SYNTHETIC in place of it; configs/bert_xnli.conf shows every key"),
        (
            {"SYNTHETIC": "--number 1", "XNLI": "x"},
            "line 1, sets SYNTHETIC, which makes text and pairs: leave out XNLI",
        ),
        (
            {"TEXT": "{folder}", "MULTINLI": "{folder}", "XNLI": "nowhere"},
            "line 3, sets XNLI=nowhere, which is not a",
        ),
    ],
)
def test_text_and_pairs_are_made_up_or_named(tmp_path, given, message):
    with pytest.raises(InputError, match=message):
        read_xnli_config(config_with(tmp_path, given), {})
    made_up = read_xnli_config(config_with(tmp_path, {"SYNTHETIC": "--number 1 --pairs 9"}), {})
    assert made_up.synthetic == ("--number", "1", "--pairs", "9") and made_up.text == ""


def config_with(folder, given):
    """The published config with other keys of text and pairs, these first."""
    file = ConfigFile(PUBLISHED, keys_of(XnliConfig), {"ROOT": str(ROOT)})
    others = {
        key: " ".join(file.value(key).split()) for key in file.keys if key not in ("SYNTHETIC", *RELEASES)
    }
    path = folder / "some.conf"
    lines = [f'{key}="{value.format(folder=folder)}"' for key, value in (given | others).items()]
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def test_made_up_text_and_pairs_become_the_data_of_both_trainings(tmp_path):
    path = config_with(
        tmp_path,
        {"SYNTHETIC": "--number 1 --concepts 40 --sentences 60 --pairs 30 --valid 6 --test 9 --longest 6"},
    )
    config = replace(read_xnli_config(path, {}), languages=("inglan", "velan"), vocabulary=90)
    study = NliStudy(config, path, tmp_path / "runs")
    prepare_nli(Steps("xnli"), study)
    assert read_counts(study.nli, "") == {"train": 30, "valid": 6, "test_inglan": 9, "test_velan": 9}
    counts = read_counts(study.data, "")
    assert {name: counts[name] for name in counts if name.startswith("train")} == {
        "train.inglan": 60,
        "train.velan": 60,
    }
    made = [file.stat().st_mtime_ns for file in (study.made_up / "train.velan", study.nli / "counts.json")]
    prepare_nli(Steps("xnli"), study)
    assert made == [
        file.stat().st_mtime_ns for file in (study.made_up / "train.velan", study.nli / "counts.json")
    ]
