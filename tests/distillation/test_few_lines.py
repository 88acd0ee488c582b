"""A few real lines of zero-shot directions: whence they come, what they never are, how often they come."""

import json
import math
from pathlib import Path
from types import SimpleNamespace

import pytest
from fairseq.data import indexed_dataset

from tests.distillation.conftest import DIRECTIONS, LANGUAGES, OTHERS, PIVOT
from zsnmt.corpora.overlap import normalise
from zsnmt.distillation import student_data
from zsnmt.distillation.few_lines import choose_lines, remaining_validation, untrained_pairs
from zsnmt.distillation.lesson import student_record
from zsnmt.distillation.sampling import tempered_weights
from zsnmt.distillation.settings import Distillation
from zsnmt.distillation.student_data import make_data, options_of_data
from zsnmt.errors import InputError
from zsnmt.languages import FEW_SHOT, SUPERVISED, Direction, kind_of
from zsnmt.runs.start import BEGAN_WITH, TAUGHT_BY
from zsnmt.text.lines import read_lines, write_lines
from zsnmt.training.experiment import Experiment
from zsnmt.training.steps import Steps

TRAINED = [f"{source}-{target}" for each in OTHERS for source, target in ((PIVOT, each), (each, PIVOT))]
PAIRS = untrained_pairs(LANGUAGES, TRAINED)
VALID, NUMBER = 7, 2  # lines of the validation text of the corpus


def multiway(folder, **splits):
    """Parallel text: `train` beside the pivot, the others in all languages, of lines like `one`."""
    folder.mkdir()
    for split, lines in splits.items():
        for language in ["en", "de", "fr"]:
            for name in [f"{split}.en-de", f"{split}.en-fr"] if split == "train" else [split]:
                if name == split or language in name.rpartition(".")[2]:
                    there = lines.get(name[-2:], []) if split == "train" else lines
                    write_lines(folder / f"{name}.{language}", [f"{line} {language}" for line in there])
    return folder


def chosen(text, number):
    return choose_lines(text, ["en", "de", "fr"], [Direction("de", "fr")], number=number)


def test_lines_are_joined_by_the_pivots_sentence_where_the_training_text_has_enough(tmp_path):
    lines = {"de": ["a", "b", "c", "d"], "fr": ["c", "x", "a", "d", "y"]}
    text = multiway(tmp_path / "text", train=lines, valid=["v", "w"], test=["d"])
    source, found = chosen(text, 2)
    assert source == "train" and {*found["de", "fr"]} == {("a de", "a fr"), ("c de", "c fr")}  # d is tested
    assert chosen(text, 1)[1]["de", "fr"] == found["de", "fr"][:1]


def test_else_they_come_from_validation_text_which_loses_them(tmp_path):
    text = multiway(
        tmp_path / "text", train={"de": ["a"], "fr": ["b"]}, valid=["v", "w", "t"], test=["t", "u"]
    )
    source, found = chosen(text, 1)
    ((one, other),) = found["de", "fr"]
    assert source == "valid" and (one, other) in {("v de", "v fr"), ("w de", "w fr")}
    left = remaining_validation(text, ["en", "de", "fr"], found)
    assert {*left} == {("en", "de"), ("en", "fr")}
    assert all(
        len(lines) == 2 and f"{one[0]} en" not in {line[0] for line in lines} for lines in left.values()
    )
    with pytest.raises(
        InputError, match="has not 3 lines of de-fr .*: 0 in its training text and 2 in its vali"
    ):
        chosen(text, 3)


def test_all_of_the_validation_text_is_refused_and_so_are_directions_that_all_have_text(tmp_path):
    text = multiway(tmp_path / "text", train={"de": ["a"], "fr": ["b"]}, valid=["v", "w"], test=["u"])
    with pytest.raises(InputError, match="2 lines of every pair are all the validation text of en-de"):
        remaining_validation(text, ["en", "de", "fr"], chosen(text, 2)[1])
    with pytest.raises(InputError, match="all directions have training text"):
        untrained_pairs(["en", "de", "fr"], ["fr-de"])
    with pytest.raises(InputError, match="give --sides none, or leave out --few-lines"):
        Distillation(tmp_path, sides="both", few_lines=1)


@pytest.fixture(scope="module")
def last_stage(made, tmp_path_factory):
    """The data of a last stage with a few lines, its experiment, and what was asked for."""
    folder = tmp_path_factory.mktemp("few") / "made"
    folder.mkdir()
    for name in ("text", "data"):
        (folder / name).symlink_to(made / name)
    experiment = Experiment(SimpleNamespace(languages=LANGUAGES), Path("made.conf"), folder)
    few = Distillation(folder, sides="none", few_lines=NUMBER)
    return data_of(experiment, few, authentic=TRAINED[::2]), experiment, few


def data_of(experiment, distillation, authentic=TRAINED):
    return make_data(
        Steps("distill"), experiment, distillation, teacher=None, authentic=authentic, known=TRAINED
    )


def test_the_data_are_authentic_but_for_the_lines_and_validation_without_them(last_stage, made):
    data, experiment, _ = last_stage
    assert {*map(str, DIRECTIONS)} == {*data.few} and not data.synthetic
    tested = {normalise(line) for path in (made / "text").glob("test.*") for line in read_lines(path)}
    for pair in PAIRS:
        for language in pair:
            name = f"train.{pair}.{language}"
            lines = read_lines(experiment.folder / "few_lines" / str(NUMBER) / "text" / name)
            kept = indexed_dataset.make_dataset(str(data.extra["few_lines"] / name), impl="mmap")
            assert len(kept) == len(lines) == NUMBER and not {*map(normalise, lines)} & tested
    for path in (made / "data").glob("[!v]*"):
        assert (data.main / path.name).read_bytes() == path.read_bytes()
    for language in OTHERS:
        valid = indexed_dataset.make_dataset(
            str(data.main / f"valid.{PIVOT}-{language}.{PIVOT}"), impl="mmap"
        )
        assert len(valid) == VALID - NUMBER
    # Also what this stage does not train, and nothing of the few lines.
    assert data.validation_directions() == TRAINED


@pytest.mark.parametrize("shards", [1, 3])
def test_an_epoch_is_as_long_as_that_of_the_control_and_few_lines_have_their_share(
    last_stage, tmp_path, monkeypatch, shards
):
    """A set of which an epoch has a shard counts as large as all of its shards."""
    data, experiment, distillation = last_stage
    monkeypatch.setattr(student_data, "shards_of", lambda folder: [folder] * shards)
    control = Distillation(tmp_path, sides="none")
    of_control = options_of_data(tmp_path, control, data_of(experiment, control))
    words = options_of_data(tmp_path, distillation, data)
    size = "--virtual-data-size"
    assert words[words.index(size) + 1] == of_control[of_control.index(size) + 1]
    weights = json.loads((tmp_path / "sampling.json").read_text())
    few = {name: weight for name, weight in weights.items() if name.startswith("few_lines:")}
    assert len(few) == len(DIRECTIONS) and sum(weights.values()) == pytest.approx(1)
    # Every set counts as the root of its size, also among those of the teacher.
    authentic = data.sizes(data.authentic)  # in a shard
    sizes = {name: NUMBER if name in few else shards * authentic[name] for name in weights}
    total = sum(map(math.sqrt, sizes.values()))
    assert weights == pytest.approx({name: math.sqrt(number) / total for name, number in sizes.items()})


def test_at_temperature_2_a_small_direction_counts_as_more_than_its_share():
    weights = tempered_weights({"en-de": 10000, "en-fr": 100, "few": 1})
    assert weights == pytest.approx({"en-de": 100 / 111, "en-fr": 10 / 111, "few": 1 / 111})


def test_the_record_tells_few_shot_directions_from_all_others(last_stage, tmp_path):
    data, _, distillation = last_stage
    (tmp_path / "run.json").write_text(json.dumps({"config": "c", "system": "s", "text": "t", "seed": 1}))
    origins = {TAUGHT_BY: {"system": "s"}, BEGAN_WITH: {"system": "another"}}
    said = student_record(distillation, data, start=SimpleNamespace(run=tmp_path), origins=origins)
    assert said["few_shot"] == data.few and said["synthetic"] == []
    assert {key: said[key] for key in origins} == origins
    about = said["distillation"]
    assert about["few_lines"]["from"] == "validation text" and about["few_lines"]["lines"] == NUMBER
    assert about["checkpoints_chosen_on"]["validation text by people"] == TRAINED[::2]
    few, trained = ([Direction(*each.split("-")) for each in those] for those in (data.few, TRAINED))
    assert {kind_of(each, [*trained, *few], few=few) for each in few} == {FEW_SHOT}
    assert {kind_of(each, [*trained, *few], few=few) for each in trained} == {SUPERVISED}
