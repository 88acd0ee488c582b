"""The text of an experiment before it is cleaned."""

import json

import pytest

from zsnmt.corpora.own_text.forms import read_tables
from zsnmt.training.experiment import read_experiment
from zsnmt.training.sources import files_beside_runs, make_source, rewrite
from zsnmt.training.steps import Steps


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


@pytest.mark.parametrize("runs", ["runs", ".", "../runs"])
def test_runs_in_the_folder_of_the_text_are_not_what_it_is_made_from(tmp_path, runs):
    text, file = tmp_path / "mine", tmp_path / "x.conf"
    (text / runs / "x" / "text").mkdir(parents=True)
    (text / "gone").symlink_to("nowhere")
    file.write_text(f'TEXT={text}\nLANGUAGES="en b"\n')
    experiment, made_from = read_experiment(file, text / runs, {}), []
    for changed in ("train.b-en.b", "x/text/train.b-en.b", "train.b-en.b"):
        path = (text / runs if "/" in changed else text) / changed
        path.write_text(f"{len(made_from)}\n")
        inputs = files_beside_runs(text, experiment)
        made_from.append(Steps("train").made_from(inputs, {}).made_from)
    assert made_from[0] == made_from[1] != made_from[2]
