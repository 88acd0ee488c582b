"""Training text in several folders, of which the task reads one in each epoch."""

import gc
import itertools
import shutil
import weakref
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from fairseq.data.iterators import EpochBatchIterator

from tests.tasks.conftest import LANGUAGES, PAIRS, PIVOT, SECOND, SUPERVISED, task_of
from zsnmt.data.binarised_folder import shards_of
from zsnmt.errors import InputError
from zsnmt.tasks.zs_translation import ZeroShotTranslationTask
from zsnmt.text.lines import read_lines, write_lines
from zsnmt.text.settings import TextSettings
from zsnmt.training.binarised import prepare

SHARDS, FEWER = 3, 40  # lines of the second pair, so that shards and directions differ in size
SIZES = {0: (21, 14), 1: (20, 13), 2: (20, 13)}  # of each shard: lines of the first and the second pair
LIMITS = {"max_tokens": 200, "seed": 3}


@pytest.fixture(scope="module")
def folders(text, tmp_path_factory) -> dict[int, Path]:
    """By the number of their shards, the data of one text."""
    base = tmp_path_factory.mktemp("shards")
    shutil.copytree(text, base / "text")
    for path in (base / "text").glob(f"train.{SECOND}-{PIVOT}.*"):
        write_lines(path, read_lines(path)[:FEWER])
    for number in (1, SHARDS):
        prepare(base / "text", base / str(number), LANGUAGES, TextSettings(150), shards=number)
    return {number: base / str(number) for number in (1, SHARDS)}


def task_on(folder: Path, *arguments: str) -> ZeroShotTranslationTask:
    """The task of a training, which is told of all shards."""
    return task_of(":".join(map(str, shards_of(folder))), *arguments)


def iterator(task: ZeroShotTranslationTask, epoch: int, **settings: int) -> EpochBatchIterator:
    """The batches of an epoch, as a training asks for them."""
    task.load_dataset("train", epoch=epoch)
    return task.get_batch_iterator(task.dataset("train"), epoch=epoch, **LIMITS, **settings)


def lines(batches: Sequence[dict]) -> Iterator[tuple]:
    """Each pair of sentences of some batches, with its direction."""
    for batch in filter(None, batches):  # a process of several may have an empty one
        sides = batch["languages"], batch["net_input"]["src_tokens"], batch["target"]
        for row in zip(*(side.tolist() for side in sides)):
            yield tuple(tuple(token for token in part if token != 1) for part in row)  # without padding


@pytest.mark.parametrize("processes", [1, 2])
def test_as_many_epochs_as_shards_read_every_line_once(folders, processes):
    tasks = [task_on(folders[SHARDS]) for _ in range(processes)]
    epochs = [
        Counter(
            line
            for rank, task in enumerate(tasks)
            for line in lines([*iterator(task, epoch, num_shards=processes, shard_id=rank).next_epoch_itr()])
        )
        for epoch in range(1, SHARDS + 2)
    ]
    whole = Counter(lines([*iterator(task_on(folders[1]), 1).next_epoch_itr()]))
    assert sum(epochs[:SHARDS], start=Counter()) == whole and whole.total() == 2 * (PAIRS + FEWER)
    assert [epoch.total() for epoch in epochs] == [2 * sum(SIZES[number % SHARDS]) for number in range(4)]
    assert epochs[SHARDS] == epochs[0]


@pytest.mark.parametrize("sampling", ["concat", "temperature", "RoundRobin"])
def test_a_training_goes_on_in_the_second_shard_as_if_it_had_not_stopped(folders, sampling):
    chosen = ("--sampling-method", sampling, "--sampling-temperature", "5")
    task = task_on(folders[SHARDS], *chosen)
    assert [*iterator(task, 1).next_epoch_itr()]
    batches = iterator(task, 2)
    begun = batches.next_epoch_itr()
    assert len([*itertools.islice(begun, 2)]) == 2
    state, rest = batches.state_dict(), [*begun]
    assert state["epoch"] == 2 and state["iterations_in_epoch"] == 2 and rest

    again = task_on(folders[SHARDS], *chosen)
    batches = iterator(again, state["epoch"])
    batches.load_state_dict(state)
    assert [*map(list, map(lines, ([batch] for batch in batches.next_epoch_itr())))] == [
        [*lines([batch])] for batch in rest
    ]
    if sampling == "temperature":  # by the sizes of all shards, known to both
        ratios = [each.dataset("train").sample_ratios.tolist() for each in (task, again)]
        shares = [(size / (2 * (PAIRS + FEWER))) ** (1 / 5) for size in (PAIRS, FEWER, PAIRS, FEWER)]
        assert ratios == [shares, shares]


@pytest.mark.parametrize("sampling", ["concat", "RoundRobin"])
def test_no_more_than_two_shards_are_in_memory(folders, sampling):
    task, loaded = task_on(folders[SHARDS], "--sampling-method", sampling), []
    gc.disable()  # as it happens to be where there are few objects
    try:
        for epoch in range(1, SHARDS + 2):
            batches = iterator(task, epoch)  # in the place of the last one, once it is made: as fairseq does
            assert [*batches.next_epoch_itr()]
            loaded.append(weakref.ref(task.dataset("train")))
            assert sum(each() is not None for each in loaded) <= 2
    finally:
        gc.enable()


def test_validation_text_is_that_of_the_first_shard(folders):
    task = task_on(folders[SHARDS])
    task.load_dataset("valid", epoch=2)
    assert task.lang_pairs == SUPERVISED and task.dataset("valid").real_sizes == [11] * len(SUPERVISED)


def test_epochs_that_are_parts_of_a_shard_are_refused(folders):
    with pytest.raises(InputError, match="leave out --virtual-epoch-size beside several folders"):
        task_on(folders[SHARDS], "--virtual-epoch-size", "9")
    assert task_on(folders[1], "--virtual-epoch-size", "9").args.virtual_epoch_size == 9


def test_a_shard_that_is_missing_is_told_of(folders, tmp_path):
    shutil.copytree(folders[SHARDS], tmp_path / "data")
    shutil.rmtree(tmp_path / "data" / "shard2")
    with pytest.raises(InputError, match="shard2 is missing, a part of the training text; remove .*data and"):
        shards_of(tmp_path / "data")
