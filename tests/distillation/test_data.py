"""Binarised data with a synthetic half: the two sides are one another's swap, and the rest is authentic."""

import pytest
from fairseq.data import Dictionary, indexed_dataset

from tests.distillation.conftest import DIRECTIONS, LANGUAGES, OTHERS, PIVOT
from tests.tasks.conftest import task_of
from zsnmt.data.binarised_folder import shards_of
from zsnmt.data.reading import encode
from zsnmt.distillation.data import binarise_synthetic, link_data, reverse
from zsnmt.distillation.filtered_text import make_synthetic_text
from zsnmt.distillation.settings import Distillation
from zsnmt.distillation.student_data import StudentData, make_data, options_of_data
from zsnmt.languages import Direction
from zsnmt.text.lines import read_lines
from zsnmt.text.pipeline import TextPipeline
from zsnmt.text.settings import TextSettings
from zsnmt.training.binarised import prepare
from zsnmt.training.steps import Steps


@pytest.fixture
def text(synthetic):
    text = synthetic()
    make_synthetic_text(Steps("distill"), text)
    binarise_synthetic(text.text, text.data, authentic=text.experiment.data, directions=text.directions())
    return text


def sides(folder, split, direction):
    """The files of a direction's source and target."""
    return [folder / f"{split}.{direction}.{language}" for language in direction]


def content(path):
    return path.with_name(f"{path.name}.bin").read_bytes(), path.with_name(f"{path.name}.idx").read_bytes()


def test_the_sides_are_one_anothers_swap(text):
    for direction in DIRECTIONS:
        targets, sources = (
            [content(file) for file in sides(text.data / name, "train", each)]
            for name, each in (("targets", direction), ("sources", reverse(direction)))
        )
        assert targets == sources[::-1] and targets[0] != targets[1]
    assert {path.name.split(".")[1] for path in (text.data / "sources").iterdir()} == {*map(str, DIRECTIONS)}


def test_ids_are_those_of_the_authentic_pipeline(text, made):
    pipeline, dictionary = (
        TextPipeline.load(made / "data"),
        Dictionary.load(str(made / "data" / "dict.velan.txt")),
    )
    direction = DIRECTIONS[0]
    for file, language in zip(sides(text.data / "targets", "train", direction), direction):
        lines = read_lines(text.text / direction.source / file.name)
        ids = indexed_dataset.make_dataset(str(file), impl="mmap")
        assert [row.tolist() for row in ids] == [
            encode(pieces, dictionary) for pieces in pipeline.encode_lines(lines, language)
        ]


def test_the_main_data_are_authentic_but_for_held_out_text_of_synthetic_directions(text, made):
    main, authentic = text.data / "main", made / "data"
    with_pivot = {
        path.name for path in authentic.iterdir() if not path.name.startswith("valid") or PIVOT in path.name
    }
    assert all((main / name).read_bytes() == (authentic / name).read_bytes() for name in with_pivot)
    others = {path.name for path in main.iterdir()} - with_pivot
    assert {name.split(".")[0] for name in others} == {"valid"}
    assert {name.split(".")[1] for name in others} == {*map(str, DIRECTIONS)}
    for direction in DIRECTIONS:
        source, target = sides(main, "valid", direction)
        held_out = sides(text.text / direction.target, "valid", reverse(direction))
        assert len(indexed_dataset.make_dataset(str(target), impl="mmap")) == len(read_lines(held_out[0]))
        assert content(source) != content(target)
        people = authentic / f"valid.{direction}.{direction.source}.bin"
        assert not people.is_file() or people.read_bytes() != content(source)[0]


def test_an_epoch_of_a_student_has_a_shard_of_the_authentic_text_and_all_synthetic_text(made, text, tmp_path):
    prepare(made / "text", tmp_path / "data", LANGUAGES, TextSettings(vocabulary_size=200), shards=2)
    link_data(tmp_path / "data", tmp_path / "main", [f"valid.{PIVOT}-velor."])
    linked = [[*shard.iterdir()] for shard in shards_of(tmp_path / "main")]
    for shard, files in zip(shards_of(tmp_path / "data"), linked):
        left_out = {file.name for file in shard.iterdir()} - {file.name for file in files}
        assert all(name.startswith(f"valid.{PIVOT}-velor.") for name in left_out)
        assert all(file.is_dir() or file.samefile(shard / file.name) for file in files)
    authentic = [f"{PIVOT}-{OTHERS[0]}", f"{OTHERS[0]}-{PIVOT}"]
    data = StudentData(
        tmp_path / "main",
        authentic,
        {"targets": text.data / "targets"},
        directions={"targets": [Direction(*OTHERS[:2])]},
    )
    words = options_of_data(tmp_path, Distillation(tmp_path, share=0.5), data)
    task = task_of(":".join(map(str, shards_of(data.main))), "--lang-pairs", ",".join(authentic), *words)
    sizes = []
    for epoch in (1, 2, 3):
        task.load_dataset("train", epoch=epoch)
        sizes.append([len(each) for each in task.dataset("train").datasets])
        assert len(task.dataset("train")) == 4 * sizes[0][0]  # half of it is synthetic
    (first, _, synthetic), (second, _, _) = sizes[:2]
    all_lines = len(read_lines(next((made / "text").glob(f"train.{OTHERS[0]}-{PIVOT}.{PIVOT}"))))
    assert (first, second) == ((all_lines + 1) // 2, all_lines // 2)
    assert sizes == [[first, first, synthetic], [second, second, synthetic], [first, first, synthetic]]


def test_without_sides_the_data_are_the_authentic_ones(synthetic):
    experiment = synthetic().experiment
    distillation = Distillation(experiment.folder, sides="none")
    data = make_data(Steps("distill"), experiment, distillation, teacher=None, authentic=["inglan-velan"])
    assert data == StudentData(experiment.data, ["inglan-velan"])
    assert not data.synthetic and data.validation_directions() == ["inglan-velan"]


def test_directions_are_validated_on_the_text_that_there_is(text):
    data = StudentData(
        text.data / "main", ["inglan-velan", "velan-inglan"], directions={"targets": DIRECTIONS[:2]}
    )
    assert data.validation_directions() == ["inglan-velan", "velan-inglan", *map(str, DIRECTIONS[:2])]
    for path in (text.data / "main").glob(f"valid.{DIRECTIONS[1]}.*"):
        path.unlink()
    assert data.validation_directions() == ["inglan-velan", "velan-inglan", str(DIRECTIONS[0])]
