"""Whole trainings: the options of each, what is read from a log, and one that is real."""

import json
import sys

import pytest

from zsnmt.benchmarks import training_speed as module
from zsnmt.benchmarks.training_speed import Speed, after, model_options, train, training_speed
from zsnmt.errors import InputError
from zsnmt.languages import LANGUAGES_FILE
from zsnmt.training.machine import GIGABYTE, Machine

SETTINGS = dict(
    data=None, size="demo", updates=6, max_tokens=200, dropout=0.2, threads=1, rounds=2, output=None
)


@pytest.fixture(autouse=True)
def without_gpu(monkeypatch):
    monkeypatch.setattr(module, "this_machine", lambda: Machine(2, 16, bfloat16=True))


def fake_training(folder, monkeypatch, says: str, status: int) -> None:
    (folder / LANGUAGES_FILE).write_text("en\nde\n")
    python = folder / "python"
    python.write_text(f"#!/bin/sh\ncat <<'END'\n{says}\nEND\nexit {status}\n")
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))


def test_a_processor_without_bfloat16_trains_in_float32_alone(monkeypatch):
    monkeypatch.setattr(module, "this_machine", lambda: Machine(2, 16))
    trained = []
    monkeypatch.setattr(
        module, "train", lambda data, options, threads: trained.append(options) or Speed(100.0, 7.5)
    )
    assert "bfloat16" not in "".join(training_speed(**SETTINGS))
    assert len(trained) == 8 and not any("--cpu-bf16" in options for options in trained)
    with pytest.raises(InputError, match="^bfloat16 is not trained in here; choose float32$"):
        [*training_speed(**SETTINGS, precisions=["bfloat16"])]


def test_each_training_has_one_option_more_in_either_precision(monkeypatch, tmp_path):
    trained = []
    monkeypatch.setattr(
        module,
        "train",
        lambda data, options, threads: trained.append(options) or Speed(100.0 * len(trained), 7.5),
    )
    printed = [*training_speed(**{**SETTINGS, "output": tmp_path / "speed.json"})]
    first, second = trained[:8], trained[8:]
    assert first == second  # in turn
    assert ["--cpu-bf16" in options for options in first] == [False] * 4 + [True] * 4
    assert ["--fast-training" in options for options in first] == [False, True, True, True] * 2
    for option, stock, last in (
        ("--criterion", "label_smoothed_cross_entropy", "chunked_label_smoothed_cross_entropy"),
        ("--optimizer", "adam", "fused_adam"),
    ):
        chosen = [options[-1 - options[::-1].index(option) + 1] for options in (first[0], first[3], first[7])]
        assert chosen == [stock, last, last]
    assert printed[3] == "| float32 | fairseq's | 500 | 1.00 (1.00–1.00) | 7.500 |"
    assert printed[4].endswith("| 600 | 1.56 (1.11–2.00) | 7.500 |")  # 200 to 100, and 1,000 to 900
    found = json.loads((tmp_path / "speed.json").read_text())["trainings"]
    assert len(found) == 8 and found["float32 | fairseq's"] == [
        {"words": 100.0, "loss": 7.5, "left": None},
        {"words": 900.0, "loss": 7.5, "left": None},
    ]


def test_on_a_gpu_trainings_are_in_its_precisions_and_its_memory_is_told(monkeypatch):
    trained = []
    monkeypatch.setattr(module, "this_machine", lambda: Machine(16, 128, gpu=80 * 2**30 / GIGABYTE))
    monkeypatch.setattr(
        module,
        "train",
        lambda data, options, threads: trained.append(options) or Speed(100.0, 7.5, 80 - len(trained) / 2),
    )
    printed = [*training_speed(**{**SETTINGS, "rounds": 1})]
    precisions = ([], ["--fp16"], ["--bf16"])
    assert [[each for each in options if each in ("--fp16", "--bf16")] for options in trained] == [
        of_precision for of_precision in precisions for _ in range(3)
    ]
    assert not any({"--cpu", "--cpu-bf16", "--fast-training"} & {*options} for options in trained)
    assert printed[1].endswith("| loss, bits a token | memory, GiB |")
    assert printed[3] == "| float32 | fairseq's | 100 | 1.00 (1.00–1.00) | 7.500 | 0.5 |"
    assert printed[-1].endswith(" 4.5 |")


def test_the_speed_is_that_of_the_logs_last_updates(tmp_path, monkeypatch):
    lines = [
        f'2026 | INFO | train_inner | {{"loss": "{loss}", "wps": "{words}"}}'
        for loss, words in ((9, 100), (8.25, 200.5))
    ]
    fake_training(
        tmp_path, monkeypatch, "\n".join(["loading", *lines, '2026 | INFO | train | {"train_loss": "1"}']), 0
    )
    assert train(tmp_path, [], 1) == Speed(200.5, 8.25)


def test_a_training_that_fails_is_told_of_by_what_it_said_last(tmp_path, monkeypatch):
    fake_training(tmp_path, monkeypatch, "Traceback\nRuntimeError: no data", 1)
    with pytest.raises(InputError, match="fairseq-train failed: RuntimeError: no data"):
        train(tmp_path, [], 1)


def test_a_folder_without_binarised_data_is_refused_with_what_makes_them(tmp_path):
    with pytest.raises(InputError, match=f"{tmp_path}/languages.txt is missing: .* with zsnmt prepare"):
        next(training_speed(**{**SETTINGS, "data": tmp_path}))


def test_some_precisions_alone(monkeypatch):
    trained = []
    monkeypatch.setattr(
        module, "train", lambda data, options, threads: trained.append(options) or Speed(100.0, 7.5)
    )
    [*training_speed(**{**SETTINGS, "rounds": 1, "precisions": ["bfloat16"]})]
    assert ["--cpu-bf16" in options for options in trained] == [True] * 4
    with pytest.raises(InputError, match="float8 is not trained in here; choose float32 or bfloat16"):
        next(training_speed(**{**SETTINGS, "precisions": ["bfloat16", "float8"]}))


@pytest.mark.parametrize("updates", [0, 7])
def test_updates_without_a_second_half_are_refused(updates):
    with pytest.raises(InputError, match=f"--updates is {updates}; give an even number"):
        next(training_speed(**{**SETTINGS, "updates": updates}))


def test_fairseq_knows_the_options(tiny, warm_python):
    options = [
        *module.RECIPE,
        "--cpu",
        *model_options("demo", 0.1),
        *after(2),
        "--max-tokens",
        "200",
        "--cpu-bf16",
    ]
    found = train(
        tiny.folder / "data",
        [*options, *(option for more in module.OPTIONS.values() for option in more)],
        threads=1,
    )
    assert found.words > 0 and found.loss > 0
