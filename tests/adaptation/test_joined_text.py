"""The text of a run and that of a new language, in one folder."""

import json
import shutil
from types import SimpleNamespace

import pytest

from tests.adaptation.conftest import FIRST, KNOWN, LANGUAGES, NEW, PAIRS, PIVOT, SECOND, only
from zsnmt.adaptation import adapt
from zsnmt.adaptation.adapt import write_joined_text
from zsnmt.adaptation.joined_text import files_of, join_text, new_languages
from zsnmt.adaptation.settings import Adaptation
from zsnmt.corpora.cleaning import Cleaning
from zsnmt.corpora.parallel_text import SPLITS, find_pair, pairs_of_split
from zsnmt.corpora.training_text import copy_beside
from zsnmt.errors import InputError
from zsnmt.evaluation.text import word_orders
from zsnmt.text.lines import read_lines, write_lines
from zsnmt.training.config import Config
from zsnmt.training.experiment import Experiment
from zsnmt.training.steps import Steps
from zsnmt.training.team import Team


@pytest.fixture
def original(corpus, tmp_path):
    """The text of the known languages, as a run has it."""
    (tmp_path / "original").mkdir()
    for file in files_of(corpus, KNOWN):
        shutil.copy(file, tmp_path / "original" / file.name)
    copy_beside(corpus, tmp_path / "original", KNOWN)
    return tmp_path / "original"


def test_a_language_that_the_run_lacks_is_new_whatever_else_is_named():
    assert new_languages([PIVOT, NEW], KNOWN) == [NEW]
    assert new_languages([PIVOT, SECOND, NEW, FIRST, "other"], KNOWN) == [NEW, "other"]


@pytest.mark.parametrize(
    "languages, words",
    [
        ([PIVOT, FIRST], f"knows {PIVOT}, {FIRST} already"),
        ([FIRST, NEW], f"has the pivot {FIRST}, the run has {PIVOT}"),
        ([PIVOT, NEW, NEW], "each once"),
    ],
)
def test_languages_that_cannot_be_added_are_refused(languages, words):
    with pytest.raises(InputError, match=words):
        new_languages(languages, KNOWN)


def test_the_files_of_some_languages_are_of_no_other(corpus):
    found = {file.name for file in files_of(corpus, KNOWN)}
    names = {file.name for split in SPLITS for file in corpus.glob(f"{split}.*")}
    assert found == {name for name in names if NEW not in name} < names


def test_the_text_of_the_run_stays_as_it_is_and_a_multiway_set_grows(corpus, original, tmp_path):
    join_text(corpus, tmp_path / "joined", KNOWN, [NEW], original, {})
    joined = tmp_path / "joined"
    for file in original.iterdir():
        assert (joined / file.name).read_bytes() == file.read_bytes(), file.name
    for name in (f"test.{NEW}", f"valid.{NEW}", f"lexicon.{NEW}", f"word_order.{NEW}"):
        assert (joined / name).read_bytes() == (corpus / name).read_bytes()
    assert all((NEW, other) in pairs_of_split(joined, "test", [NEW, *KNOWN]) for other in KNOWN)
    assert not [path for path in tmp_path.iterdir() if "joined." in path.name], "what was joined stays behind"
    assert word_orders(joined, LANGUAGES).keys() == {*LANGUAGES}  # which scores then say of all


def test_a_language_whose_sets_the_run_has_in_files_of_pairs_has_them_with_a_new_one(
    corpus, original, tmp_path
):
    for language in (PIVOT, FIRST):
        shutil.copy(original / f"test.{language}", original / f"test.{FIRST}-{PIVOT}.{language}")
    (original / f"test.{FIRST}").unlink()
    join_text(corpus, tmp_path / "joined", KNOWN, [NEW], original, {})
    assert (FIRST, NEW) in pairs_of_split(tmp_path / "joined", "test", [*KNOWN, NEW])


def test_new_pairs_are_bounded_and_old_ones_are_not(corpus, original, tmp_path):
    counts = join_text(corpus, tmp_path / "joined", KNOWN, [NEW], original, {"": 20})
    assert {pair: of_pair["kept"] for pair, of_pair in counts.items()} == {
        f"{PIVOT}-{FIRST}": PAIRS,
        f"{PIVOT}-{SECOND}": PAIRS,
        f"{PIVOT}-{NEW}": 20,
    }


@pytest.mark.parametrize("pair", [f"{PIVOT}-{FIRST}", f"{FIRST}-{NEW}"])
def test_a_bound_for_a_pair_that_is_not_new_is_refused(corpus, original, tmp_path, pair):
    """It would change nothing, and a person would take it for kept."""
    with pytest.raises(InputError, match=f"no training text of a new language for {pair}, of which a number"):
        join_text(corpus, tmp_path / "joined", KNOWN, [NEW], original, {pair: 20})
    assert [path.name for path in tmp_path.iterdir()] == ["original"]
    counts = join_text(corpus, tmp_path / "joined", KNOWN, [NEW], original, {f"{NEW}-{PIVOT}": 20})
    assert [of_pair["kept"] for of_pair in counts.values()] == [PAIRS, PAIRS, 20]


def test_another_test_set_than_the_runs_keeps_its_pairs_apart(corpus, original, tmp_path):
    """Where the known languages' sentences differ, a line of the new one does not translate the run's."""
    lines = read_lines(original / f"test.{PIVOT}")
    write_lines(original / f"test.{PIVOT}", lines[:-1] + ["something else"])
    join_text(corpus, tmp_path / "joined", KNOWN, [NEW], original, {})
    assert (tmp_path / "joined" / f"test.{PIVOT}").read_bytes() == (original / f"test.{PIVOT}").read_bytes()
    assert not (tmp_path / "joined" / f"test.{NEW}").exists()
    for other in KNOWN:
        found = find_pair(tmp_path / "joined", "test", other, NEW)
        assert [file.read_bytes() for file in found] == [
            (corpus / f"test.{language}").read_bytes() for language in (other, NEW)
        ]


def test_without_the_runs_text_only_new_pairs_are_there(corpus, tmp_path):
    join_text(corpus, tmp_path / "joined", KNOWN, [NEW], None, {})
    for split in SPLITS:
        assert {NEW in pair for pair in pairs_of_split(tmp_path / "joined", split, LANGUAGES)} == {True}


def test_a_new_test_sentence_is_taken_out_of_the_old_training_text(corpus, original, tmp_path):
    source, target = find_pair(original, "train", FIRST, PIVOT)
    write_lines(source, [*read_lines(source), "a sentence of its own"])
    write_lines(target, [*read_lines(target), read_lines(corpus / f"test.{PIVOT}")[0]])
    counts = join_text(corpus, tmp_path / "joined", KNOWN, [NEW], original, {})
    assert counts[f"{PIVOT}-{FIRST}"]["removed"] == 1 and counts[f"{PIVOT}-{FIRST}"]["kept"] == PAIRS


def test_a_language_without_training_text_is_refused_and_nothing_is_left(corpus, original, tmp_path):
    with pytest.raises(InputError, match="no training text for other: files are named train.xx-yy.xx"):
        join_text(corpus, tmp_path / "joined", KNOWN, [NEW, "other"], original, {})
    assert [path.name for path in tmp_path.iterdir()] == ["original"]


def test_new_pairs_are_cleaned_and_the_runs_own_stay_as_they_are(corpus, original, tmp_path):
    """A copy and a repetition in a pair of each kind: the old one was cleaned, or not, when it was made."""
    for folder, other in ((original, FIRST), (added := only(corpus, tmp_path / "added", PIVOT, NEW), NEW)):
        for file in find_pair(folder, "train", PIVOT, other):
            lines = read_lines(file)
            write_lines(file, [*lines, "the same on both sides", lines[0]])
    cleaning = Cleaning(("copy", "duplicate"))
    counts = join_text(added, tmp_path / "joined", KNOWN, [NEW], original, {}, cleaning=cleaning)
    kept = {pair: (of_pair["lines"], of_pair["kept"]) for pair, of_pair in counts.items()}
    assert kept == {
        f"{PIVOT}-{FIRST}": (PAIRS + 2, PAIRS + 2),
        f"{PIVOT}-{SECOND}": (PAIRS, PAIRS),
        f"{PIVOT}-{NEW}": (PAIRS + 2, PAIRS),
    }
    for language in (PIVOT, FIRST):
        name = next((tmp_path / "joined").glob(f"train.*.{language}")).name
        assert (tmp_path / "joined" / name).read_bytes() == (original / name).read_bytes()
    record = json.loads((tmp_path / "joined" / "cleaning.json").read_text())
    assert record["rules"] == "copy duplicate" and record["pairs"].keys() == {f"{PIVOT}-{NEW}"}
    of_new = record["pairs"][f"{PIVOT}-{NEW}"]
    assert (of_new["copy"], of_new["duplicate"], of_new["kept"]) == (1, 1, PAIRS)
    listed = (tmp_path / "joined" / "cleaning.tsv").read_text().splitlines()
    assert [row.split("\t")[:3] for row in listed] == [
        ["copy", f"{PIVOT}-{NEW}", str(PAIRS + 1)],
        ["duplicate", f"{PIVOT}-{NEW}", str(PAIRS + 2)],
    ]


@pytest.mark.parametrize("whose", ["original", "added"])
def test_the_file_that_is_wrong_is_named_and_not_the_one_beside_others(corpus, original, tmp_path, whose):
    added = only(corpus, tmp_path / "added", PIVOT, NEW)
    folder, other = (original, FIRST) if whose == "original" else (added, NEW)
    files = find_pair(folder, "train", PIVOT, other)
    write_lines(files[1], read_lines(files[1])[:-1])
    with pytest.raises(InputError, match="line n of one must be the translation of line n") as error:
        join_text(added, tmp_path / "joined", KNOWN, [NEW], original, {})
    assert all(str(file) in str(error.value) for file in files) and "joined" not in str(error.value)


def test_joined_text_does_not_take_the_place_of_that_of_a_run(corpus, original, tmp_path):
    """As of one that zsnmt train made with the config, or of an adapted one of which a file has changed."""
    added = only(corpus, tmp_path / "added", PIVOT, NEW)
    experiment = Experiment(Config((PIVOT, NEW), text=str(added)), tmp_path / "x.conf", tmp_path / "x")
    (pipeline := tmp_path / "pipeline").mkdir()
    write_lines(pipeline / "languages.txt", KNOWN)
    adaptation = SimpleNamespace(text=original, pipeline=pipeline, new_languages=lambda languages: [NEW])
    shutil.copytree(added, experiment.text)
    before = {path.name: path.read_bytes() for path in experiment.text.iterdir()}
    run = tmp_path / "x" / "zs_transformer" / "seed1"
    run.mkdir(parents=True)
    (run / "model.pt").touch()
    with pytest.raises(InputError, match=f"other training text than {run} was trained on; give .* another"):
        write_joined_text(added, experiment, adaptation, [])
    assert {path.name: path.read_bytes() for path in experiment.text.iterdir()} == before
    (run / "model.pt").unlink()
    for _ in range(2):  # the same text again may take its place
        write_joined_text(added, experiment, adaptation, [])
        (run / "model.pt").touch()
    assert pairs_of_split(experiment.text, "train", KNOWN)


def test_updates_that_cannot_be_shared_are_refused(tmp_path, monkeypatch):
    for name in ("check_trained", "check_pipeline", "check_training"):
        monkeypatch.setattr(adapt, name, lambda *_, **__: None)
    monkeypatch.setattr(adapt, "options_of", lambda run: ["--update-freq", "3"])
    monkeypatch.setattr(Adaptation, "new_languages", lambda self, languages: [NEW])
    monkeypatch.setattr(Adaptation, "text", tmp_path)
    experiment = Experiment(Config((PIVOT, NEW), text="text"), tmp_path / "x.conf", tmp_path / "x")
    steps = Steps("adapt", team=Team(2, gpus=False))
    (model := tmp_path / "model.pt").touch()
    with pytest.raises(InputError, match="2 processes cannot share the batches of an update evenly"):
        adapt.check_adaptation(steps, experiment, Adaptation(tmp_path), run=tmp_path / "x", recipe="")
    assert [*tmp_path.iterdir()] == [model]
