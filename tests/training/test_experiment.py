"""An experiment's folder, and what the names of its systems may be."""

import json
from pathlib import Path

import pytest

from zsnmt.adaptation.adapt import MADE_FOR
from zsnmt.corpora.own_text.forms import read_tables
from zsnmt.corpora.releases import foreign_text
from zsnmt.data.binarised_folder import name_shards
from zsnmt.errors import InputError
from zsnmt.files.locks import locked
from zsnmt.training import data
from zsnmt.training.cleaned_text import check_validation, clean, rows_of_list
from zsnmt.training.config import Config
from zsnmt.training.data import changed_settings, prepare_data
from zsnmt.training.experiment import Experiment, read_experiment
from zsnmt.training.sources import make_source, rewrite
from zsnmt.training.steps import Steps

EXPERIMENT = Experiment(Config(("en", "de"), text="text"), Path("x.conf"), Path("runs/x"))


def test_a_run_has_a_folder_by_system_and_seed():
    assert EXPERIMENT.run("it's my name", 3) == Path("runs/x/it's my name/seed3")


@pytest.mark.parametrize(
    "name", ["../../x", "a/b", "a\nb", "/x", "..", ".", "", ".done", "data", "text", "source"]
)
def test_a_system_is_not_named_as_another_folder_or_one_elsewhere(name):
    with pytest.raises(InputError, match=f"'{name}' cannot name a system"):
        EXPERIMENT.run(name, 1)


@pytest.mark.parametrize("folder, system", [("runs/x", "lr:0.1"), ("runs/my:x", "x"), ("a:b/x", "x")])
def test_a_run_that_fairseq_could_not_open_is_refused_before_it_is_trained(folder, system):
    with pytest.raises(InputError, match=f"{folder}/{system}/seed1 cannot be the folder of a run, for to f"):
        Experiment(EXPERIMENT.config, EXPERIMENT.file, Path(folder)).run(system, 1)


def test_missing_validation_text_is_told_of_before_the_data_are_made(tmp_path):
    for name in (
        "train.de-en.de",
        "train.de-en.en",
        "train.en-it.en",
        "train.en-it.it",
        "valid.de",
        "valid.en",
    ):
        (tmp_path / name).write_text("a\n")
    with pytest.raises(
        InputError, match="has training text for en-it, but no validation text; add valid.en-it.en"
    ):
        check_validation(tmp_path, ("en", "de", "it"), ["--lr", "1"])
    check_validation(tmp_path, ("en", "de"), ["--lr", "1"])
    for option in (["--valid-lang-pairs", "en-de"], ["--lang-pairs=en-de"], ["--disable-validation"]):
        check_validation(tmp_path, ("en", "de", "it"), option)
    (tmp_path / "valid.it").write_text("a\n")
    check_validation(tmp_path, ("en", "de", "it"), [])


def test_a_language_without_training_text_is_named_before_the_text_is_made(tmp_path):
    for language in ("de", "en"):
        (tmp_path / f"train.de-en.{language}").write_text("A line.\n")
    file = tmp_path / "x.conf"
    file.write_text(f'TEXT={tmp_path}\nLANGUAGES="en de se"\n')
    with pytest.raises(InputError, match="has no training text for se: .*; languages there: de, en$"):
        clean(tmp_path, read_experiment(file, tmp_path / "runs", {}))


def test_text_that_a_run_was_not_trained_on_does_not_take_the_place_of_its_own(tmp_path):
    source, file = tmp_path / "source", tmp_path / "x.conf"
    source.mkdir()
    for language in ("de", "en"):
        for split, numbers in {
            "train": range(100),
            "valid": range(100, 110),
            "test": range(110, 120),
        }.items():
            lines = "".join(f"Line {number} of {language}.\n" for number in numbers)
            (source / f"{split}.de-en.{language}").write_text(lines)
    for language in ("fr", "en"):
        for split, number in ("train", 200), ("valid", 210):
            (source / f"{split}.fr-en.{language}").write_text(f"Line {number} of {language}.\n")
    file.write_text(f'TEXT={source}\nLANGUAGES="en de fr"\n')
    experiment = read_experiment(file, tmp_path / "runs", {})
    clean(source, experiment)
    run = experiment.folder / "zs_transformer" / "seed1"
    run.mkdir(parents=True)
    (run / "model.pt").touch()
    (source / "test.de-fr.de").write_text("Line 111 of de.\nA new line.\n")  # one of a test set
    (source / "test.de-fr.fr").write_text("Une.\nDeux.\n")
    clean(source, experiment)
    assert (experiment.text / "test.de-fr.fr").is_file()
    (source / "test.de-fr.de").write_text("A new line.\nLine 6 of de.\n")
    with pytest.raises(InputError) as refused:
        clean(source, experiment)
    assert (
        f"test.de-fr.de, line 2 is 'Line 6 of de.', which {run} was trained on (train.de-en.de, line 7"
        in str(refused.value)
    )
    assert (experiment.text / "test.de-fr.de").read_text().startswith("Line 111")
    (source / "test.de-fr.de").write_text("Line 111 of de.\nA new line.\n")
    for language in ("de", "en"):
        with (source / f"train.de-en.{language}").open("a") as opened:
            opened.write("More.\n")
    with pytest.raises(
        InputError, match="has other training text than .*/seed1 was trained on; give .* anew"
    ):
        clean(source, experiment)


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


@pytest.mark.parametrize(
    "name, settings, advice",
    [
        ("train", "HELD_OUT=20", "put test.de-fr.de and test.de-fr.fr beside the text"),
        ("talks", "PATTERN=talks.{pair}.{language}\nHELD_OUT=20", "add one in the form of the text"),
    ],
)
def test_how_a_direction_gets_a_test_set_depends_on_the_form_of_the_text(tmp_path, name, settings, advice):
    for pair in ("de-en", "fr-en"):
        for language in pair.split("-"):
            lines = "".join(f"Line {number} of {pair}, {language}.\n" for number in range(100))
            (tmp_path / f"{name}.{pair}.{language}").write_text(lines)
    file, said = tmp_path / "x.conf", []
    file.write_text(f'TEXT={tmp_path}\nLANGUAGES="en de fr"\n{settings}\n')
    config = read_experiment(file, tmp_path / "runs", {}).config
    (tmp_path / "new").mkdir()
    tables = read_tables(tmp_path, config.pattern)
    rewrite(tables, config, said.append, folder=tmp_path / "new")
    assert said == ["de-fr will have no scores, as there is no test set for them; to have some, " + advice]


def test_invented_text_is_made_again_when_the_file_of_its_languages_changes(tmp_path, capsys):
    rows = [{"name": "en", "family": "x"}, {"name": "b", "family": "x"}]
    languages, file = tmp_path / "languages.json", tmp_path / "x.conf"
    options = f"--languages={languages} --pairs 20 --valid 5 --test 5"
    file.write_text(f'SYNTHETIC="{options}"\nLANGUAGES="en b"\n')
    experiment, texts = read_experiment(file, tmp_path / "runs", {}), []
    for order in ("SVO", "SVO", "SOV"):
        languages.write_text(json.dumps([rows[0], rows[1] | {"word_order": order}]))
        source = make_source(Steps("train"), experiment)
        texts.append((source / "train.b-en.b").read_text())
    assert capsys.readouterr().err.splitlines() == [
        "train: source",
        "train: source: done before",
        "train: source",
    ]
    assert texts[0] == texts[1] != texts[2]


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


def test_a_separator_of_lines_within_a_sentence_ends_no_row_of_a_list(tmp_path):
    (tmp_path / "overlap.tsv").write_text("train.de-en.de\t1\ttest.de\t2\tOne\u2028two.\n", encoding="utf-8")
    assert [row.split("\t")[4] for row in rows_of_list(tmp_path / "overlap.tsv")] == ["One\u2028two."]
    (tmp_path / "overlap.tsv").write_text("")
    assert rows_of_list(tmp_path / "overlap.tsv") == rows_of_list(tmp_path / "none") == []
