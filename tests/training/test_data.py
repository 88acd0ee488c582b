"""When the text and the data of an experiment are made, and when not."""

from itertools import product
from pathlib import Path

import pytest

from zsnmt.adaptation.adapt import MADE_FOR
from zsnmt.corpora.releases import foreign_text
from zsnmt.data.binarised_folder import name_shards
from zsnmt.errors import InputError
from zsnmt.files.locks import locked
from zsnmt.training import data
from zsnmt.training.config import Config
from zsnmt.training.data import changed_settings, prepare_data
from zsnmt.training.experiment import Experiment, read_experiment
from zsnmt.training.steps import Steps


def test_data_of_one_shard_depend_on_what_they_did_before_there_were_shards(tmp_path):
    file = tmp_path / "x.conf"
    for key, settings in {"": {}, "SHARDS=1\n": {}, "SHARDS=4\n": {"shards": 4}}.items():
        file.write_text(f'TEXT=text\nLANGUAGES="en de"\n{key}')
        assert changed_settings(read_experiment(file, tmp_path, {}).config) == settings
    file.write_text('TEXT=text\nLANGUAGES="en de"\nSHARDS=0\n')
    with pytest.raises(InputError, match="line 3, sets SHARDS=0; it must be a whole number above 0"):
        read_experiment(file, tmp_path, {})


def test_the_data_of_an_adaptation_are_not_made_anew(tmp_path):
    """They have the subwords of the run that was adapted, and new ones would be learned of the text."""
    file, folder = tmp_path / "x.conf", tmp_path / "runs" / "x"
    file.write_text(f'TEXT={tmp_path}\nLANGUAGES="en de"\n')
    folder.mkdir(parents=True)
    (folder / MADE_FOR).touch()
    before = {*folder.iterdir()}
    with pytest.raises(InputError, match="has the text and the data of an adaptation.* go on from its runs"):
        prepare_data(Steps("train"), read_experiment(file, tmp_path / "runs", {}))
    assert {path.name for path in {*folder.iterdir()} - before} <= {".lock"}


@pytest.mark.parametrize("shards", [1, 2])
def test_shards_are_not_made_anew_while_a_run_is_trained_on_them(tmp_path, monkeypatch, shards):
    """It opens the next one at each epoch; a folder without further ones it has open from the start."""
    made = []
    monkeypatch.setattr("zsnmt.training.binarised.prepare", lambda *_, **__: made.append(1))
    monkeypatch.setattr(foreign_text, "warn_of_foreign_text", lambda *_: None)
    experiment = Experiment(Config(("en", "de"), text="text"), Path("x.conf"), tmp_path)
    for folder in name_shards(experiment.data, shards):
        folder.mkdir(parents=True)
    run = experiment.run("zs_transformer", 1)
    with locked(run):
        if shards == 1:
            data.binarise(experiment)
        else:
            with pytest.raises(
                InputError, match=f"{experiment.data} is to be made anew .* at work in {run} .process"
            ):
                data.binarise(experiment)
    made.clear()
    data.binarise(experiment)
    assert made


def test_text_is_cleaned_once_and_again_when_the_rules_change(tmp_path, monkeypatch, capsys):
    text = tmp_path / "text"
    text.mkdir()
    for split, lines in {"train": ["same", "other", "other"], "valid": ["sentence"]}.items():
        for language in ("en", "de"):
            own = [line if line == "same" else f"{line} {language}" for line in lines]
            (text / f"{split}.de-en.{language}").write_text("".join(f"{line}\n" for line in own))
    file = tmp_path / "x.conf"
    monkeypatch.setattr(data, "binarise", lambda experiment: experiment.data.mkdir(exist_ok=True))

    def prepared(cleaning: str) -> tuple[str, int]:
        """What is said, and how many lines are left."""
        file.write_text(f'TEXT={text}\nLANGUAGES="en de"\n{cleaning}')
        (tmp_path / "runs" / "x" / "config.conf").unlink(missing_ok=True)
        prepare_data(Steps("train"), read_experiment(file, tmp_path / "runs", {}))
        lines = (tmp_path / "runs" / "x" / "text" / "train.de-en.de").read_text().splitlines()
        return capsys.readouterr().err, len(lines)

    assert prepared("") == ("train: text\ntrain: data\n", 3)
    said = "cleaning leaves out 1 of 3 training pairs: 1 (copy); cleaning.tsv beside the text lists them"
    assert prepared("CLEANING=copy\n") == (f"train: text\n{said}\ntrain: data\n", 2)
    assert prepared("CLEANING=copy\n") == ("train: text: done before\ntrain: data: done before\n", 2)
    assert prepared('CLEANING="copy duplicate"\n')[1] == 1
    assert prepared("")[1] == 3 and not (tmp_path / "runs" / "x" / "text" / "cleaning.json").exists()
    with pytest.raises(InputError, match="line 3, sets CLEANING=spotless: 'spotless' is not a rule"):
        prepared("CLEANING=spotless\n")


def test_runs_in_the_folder_of_the_text_do_not_have_it_made_anew(tmp_path, monkeypatch, capsys):
    for split, language in product(("train", "valid"), ("en", "de")):
        (tmp_path / f"{split}.de-en.{language}").write_text(f"{split} {language}\n")
    (file := tmp_path / "x.conf").write_text(f'TEXT={tmp_path}\nLANGUAGES="en de"\n')
    monkeypatch.setattr(data, "binarise", lambda experiment: experiment.data.mkdir(exist_ok=True))
    for _ in range(2):
        prepare_data(Steps("train"), read_experiment(file, tmp_path / "runs", {}))
    said = capsys.readouterr().err.splitlines()
    assert said[-2:] == ["train: text: done before", "train: data: done before"]
