"""Masked language modelling with fairseq's own commands: training, validation on parts, resuming, and what
is refused.
"""

import gc
import json
import math
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from fairseq import options, tasks

from tests.conftest import ROOT, run_command
from tests.tasks.conftest import fairseq
from zsnmt.data.masked_sentences import MASK
from zsnmt.errors import InputError
from zsnmt.masked_lm.data import Vocabulary, prepare
from zsnmt.modules.cpu_bfloat16 import multiplies_bfloat16
from zsnmt.tasks.zs_masked_lm import ZeroShotMaskedLMTask
from zsnmt.text.lines import write_lines

TRAIN, VALID = 53, 11  # no multiple of 8, the default of --required-batch-size-multiple
PLUGIN = ["--user-dir", ROOT / "zsnmt", "--task", "zs_masked_lm"]
SIZES = (
    "--arch zs_bert --encoder-layers 2 --encoder-embed-dim 16 --encoder-ffn-embed-dim 24 "
    "--encoder-attention-heads 2 --max-positions 40"
)
TRAINING = (
    f"{SIZES} --criterion masked_lm --optimizer adam --lr 0.01 --batch-size 20 --tokens-per-sample 40 "
    "--seed 3 --cpu --num-workers 0 --log-format json --log-interval 1 --mask-prob 0.5"
)
TOKENS = torch.tensor([[0, 8, 9, 10, 2]])


def made_up(lines: int, seed: int) -> list[str]:
    """Lines of 3 to 9 words of few letters."""
    generator = np.random.default_rng(seed)
    words = ["".join(generator.choice([*"abcdefg"], size)) for size in generator.integers(1, 5, 40)]
    return [" ".join(generator.choice(words, size)) for size in generator.integers(3, 10, lines)]


@pytest.fixture(scope="module")
def text(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("masked")
    write_lines(folder / "train", made_up(TRAIN, 1))
    write_lines(folder / "valid", made_up(VALID, 2))
    return folder


@pytest.fixture(scope="module")
def data(text) -> Path:
    """A language and its fake copy."""
    sides = {split: text / split for split in ("train", "valid")}
    prepare(text / "data", sides, sides, Vocabulary(60))
    return text / "data"


def task_of(data: Path, *arguments: object) -> ZeroShotMaskedLMTask:
    parser = options.get_training_parser(default_task="zs_masked_lm")
    given = [*map(str, (data, *SIZES.split(), "--optimizer", "adam", *arguments))]
    return tasks.setup_task(options.parse_args_and_arch(parser, given))


def train(data: Path, run: Path, *arguments: object):
    return fairseq("train", data, *PLUGIN, *TRAINING.split(), "--save-dir", run, *arguments)


def weights(run: Path, name: str = "checkpoint_last.pt") -> dict[str, torch.Tensor]:
    return torch.load(run / name)["model"]


def batches(task: ZeroShotMaskedLMTask, split: str, epoch: int = 1, workers: int = 0) -> list[dict]:
    """All batches of an epoch, under fairseq's default --required-batch-size-multiple."""
    iterator = task.get_batch_iterator(
        task.dataset(split),
        max_sentences=20,
        required_batch_size_multiple=8,
        epoch=epoch,
        num_workers=workers,
    )
    return list(iterator.next_epoch_itr(shuffle=False))


# Training


@pytest.mark.slow
def test_it_trains_on_its_own_and_validates_on_both_languages_and_one(data, tmp_path):
    command = [
        Path(sys.prefix) / "bin" / "fairseq-train",
        data,
        "--user-dir",
        "zsnmt",
        "--task",
        "zs_masked_lm",
        *TRAINING.split(),
    ]
    done = run_command(
        *command, "--max-update", "3", "--valid-subset", "valid,valid.en", "--save-dir", tmp_path
    )
    assert done.returncode == 0, done.stderr
    figures = {}
    for line in (done.stdout + done.stderr).splitlines():
        if line.rstrip().endswith("}") and '{"' in line:
            figures |= json.loads(line[line.index('{"') :])
    both, one = float(figures["valid_loss"]), float(figures["valid.en_loss"])
    assert both != one and all(0 < bits < 2 * math.log2(120) for bits in (both, one))
    assert figures["valid_num_updates"] == figures["valid.en_num_updates"] == "3"
    assert (tmp_path / "checkpoint_best.pt").is_file()


@pytest.mark.slow
def test_training_resumes_where_it_was(data, tmp_path):
    """In the middle of an epoch, with the same masks and dropout: weights are bit for bit those of one go."""
    train(data, tmp_path / "whole", "--max-update", 8)
    train(data, tmp_path / "parts", "--max-update", 4)
    first = weights(tmp_path / "parts")
    train(data, tmp_path / "parts", "--max-update", 8)
    whole, parts = weights(tmp_path / "whole"), weights(tmp_path / "parts")
    assert whole.keys() == parts.keys() and all(torch.equal(whole[name], parts[name]) for name in whole)
    assert any(not torch.equal(first[name], parts[name]) for name in parts)


@pytest.mark.slow
@pytest.mark.parametrize(
    "system", [["--position-encoding", "tupe_relative"], ["--position-terms", "no_word_position"]]
)
def test_other_systems_train_also_in_bfloat16(data, tmp_path, system):
    losses, learned = [], []
    for precision in ([], ["--cpu-bf16"]):
        run = tmp_path / f"run{len(precision)}"
        losses.append(train(data, run, *system, *precision, "--max-update", 2).figures("train_inner", "loss"))
        learned.append(weights(run))
    assert len(losses[0]) == 2 and np.allclose(*losses, rtol=0.05)
    differ = any(not torch.equal(learned[0][name], learned[1][name]) for name in learned[0])
    assert differ == multiplies_bfloat16()
    assert all(weight.dtype == torch.float32 for weight in learned[1].values())


@pytest.mark.slow
def test_what_fairseq_preprocess_makes_will_do(text, tmp_path):
    fairseq(
        "preprocess",
        "--only-source",
        "--trainpref",
        text / "train",
        "--validpref",
        text / "valid",
        "--destdir",
        tmp_path / "data",
        "--workers",
        1,
    )
    task = task_of(tmp_path / "data")
    assert not task.languages and task.dictionary.index(MASK) == len(task.dictionary) - 1
    task.load_dataset("train")
    assert len(task.dataset("train")) == TRAIN
    output = train(tmp_path / "data", tmp_path / "run", "--max-update", 1)
    assert output.figures("valid", "valid_loss") and (tmp_path / "run" / "checkpoint_last.pt").is_file()


# Text


def test_a_split_has_all_languages_or_the_one_that_is_named(data):
    task = task_of(data)
    assert (
        task.languages == ["en", "fake"] and len(task.dictionary) == 120 and task.dictionary.index(MASK) == 4
    )
    for split in ("valid", "valid.en", "valid.fake", "train"):
        task.load_dataset(split)
    both, en, fake = (task.dataset(split) for split in ("valid", "valid.en", "valid.fake"))
    assert (len(both), len(en), len(fake), len(task.dataset("train"))) == (2 * VALID, VALID, VALID, 2 * TRAIN)
    for line in range(VALID):
        assert torch.equal(both[line]["tokens"], en[line]["tokens"])
        assert torch.equal(both[VALID + line]["tokens"], fake[line]["tokens"])


def test_validation_is_masked_as_for_a_perplexity(data):
    task = task_of(data, "--mask-prob", 0.4, "--leave-unmasked-prob", 0.2, "--random-token-prob", 0.3)
    for split in ("train", "valid", "valid.en"):
        task.load_dataset(split)
    assert task.dataset("train").masking == (0.4, 0.2, 0.3)
    assert task.dataset("valid").masking == task.dataset("valid.en").masking == (0.4, 0.0, 0.0)
    for batch in batches(task, "valid"):
        assert torch.equal(batch["net_input"]["src_tokens"].eq(4), batch["target"].ne(1))


def test_the_defaults_are_the_studys(data):
    task = task_of(data)
    task.load_dataset("train")
    assert task.dataset("train").masking == (0.15, 0.1, 0.1) and task.max_positions() == 128


@pytest.mark.parametrize("split, lines", [("train", 2 * TRAIN), ("valid", 2 * VALID)])
def test_no_line_is_lost(data, split, lines):
    """The fork drops a last batch whose size is not a multiple of 8 unless it is told otherwise."""
    task = task_of(data)
    task.load_dataset(split)
    seen = torch.cat([batch["id"] for batch in batches(task, split)])
    assert sorted(seen.tolist()) == [*range(lines)]


@pytest.mark.parametrize("workers", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_an_epoch_has_masks_and_batches_of_its_own(data, workers, monkeypatch):
    # Else garbage collection waits five seconds, in whatever test it comes, for the worker of each epoch.
    monkeypatch.setattr("torch.utils.data._utils.MP_STATUS_CHECK_INTERVAL", 0.1)
    task = task_of(data, "--mask-prob", 0.5)
    task.load_dataset("train")

    def targets(epoch: int) -> tuple[list[tuple[int, ...]], dict[int, list[int]]]:
        found = batches(task, "train", epoch, workers)
        rows = {
            int(line): row[row.ne(1)].tolist()
            for batch in found
            for line, row in zip(batch["id"], batch["target"])
        }
        return [tuple(batch["id"].tolist()) for batch in found], rows

    first, again, second = targets(1), targets(1), targets(2)
    assert first == again and first[0] != second[0]
    assert sum(first[1][line] != second[1][line] for line in first[1]) > TRAIN
    gc.collect()


# Mistakes


def test_a_folder_without_a_dictionary_is_refused(data, tmp_path):
    copy = shutil.copytree(data, tmp_path / "data")
    (copy / "dict.txt").unlink()
    with pytest.raises(
        InputError, match="dict.txt is missing; make the folder with zsnmt prepare-bert or fairseq-preprocess"
    ):
        task_of(copy)


def test_a_split_without_text_is_refused(data, tmp_path):
    copy = shutil.copytree(data, tmp_path / "data")
    for file in copy.glob("valid.fake.*"):
        file.unlink()
    task = task_of(copy)
    for split in ("valid", "valid.fake"):
        with pytest.raises(
            InputError, match="valid.fake.idx is missing; make the folder with zsnmt prepare-bert"
        ):
            task.load_dataset(split)
    with pytest.raises(InputError, match="test.en.idx is missing"):
        task.load_dataset("test")
    task.load_dataset("valid.en")


def test_languages_that_are_none_are_refused(data, tmp_path):
    copy = shutil.copytree(data, tmp_path / "data")
    for content, fault in (b"en\n../x\n", "'../x' is not a language code"), (b"en\n\xff\n", "can't decode"):
        (copy / "languages.txt").write_bytes(content)
        with pytest.raises(InputError, match=f"languages.txt: .*{fault}.*; make the folder with"):
            task_of(copy)


@pytest.mark.slow
def test_a_line_of_training_that_is_too_long_is_refused_and_not_left_out(data, tmp_path):
    for short in (["--max-positions", 9], ["--max-tokens", 9]):
        with pytest.raises(InputError, match=r"has \d+ tokens, .* allows 9; .* by --tokens-per-sample 9$"):
            train(data, tmp_path / "run", *short, "--max-update", 1)
    cut = ["--max-positions", 9, "--tokens-per-sample", 9, "--max-update", 1]
    assert train(data, tmp_path / "run", *cut).figures("train_inner", "num_updates") == [1]


@pytest.mark.parametrize(
    "arguments, message",
    [
        (
            ["--mask-prob", 1.5],
            "--mask-prob 1.5, --leave-unmasked-prob 0.1 and --random-token-prob 0.1 must be 0 to 1",
        ),
        (["--leave-unmasked-prob", -0.1], "--leave-unmasked-prob -0.1 and"),
        (
            ["--leave-unmasked-prob", 0.6, "--random-token-prob", 0.5],
            "as must the sum of the last two; change them",
        ),
        (
            ["--tokens-per-sample", 2],
            "--tokens-per-sample 2 has no room between <s> and </s>; give 3 or more",
        ),
    ],
)
def test_options_out_of_range_are_refused(data, arguments, message):
    with pytest.raises(InputError, match=message):
        task_of(data, *arguments)
