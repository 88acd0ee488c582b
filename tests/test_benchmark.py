"""Paired timing: the arithmetic, and that a step really trains."""

import time

import pytest
import torch

from tests.conftest import run_command
from zsnmt.benchmark import BenchmarkTask, build, paired_times, ratios, training_step


def test_jobs_take_turns_and_ratios_are_paired():
    calls = []
    jobs = {name: lambda name=name: (calls.append(name), time.sleep(0.001)) for name in "ab"}
    times = paired_times(jobs, rounds=3)
    assert calls == list("ab") * 4 and [len(values) for values in times.values()] == [3, 3]
    assert ratios({"a": [1.0, 2.0, 4.0], "b": [2.0, 2.0, 2.0]}, "b") == {"a": (1.0, 0.5, 2.0), "b": (1.0, 1.0, 1.0)}


@pytest.mark.parametrize("architecture", ["transformer", "zs_transformer_residual"])
def test_a_step_changes_the_weights(architecture):
    task = BenchmarkTask(40)
    assert len(task.target_dictionary) == 40
    model = build(architecture, task, encoder_embed_dim=8, encoder_attention_heads=2, decoder_attention_heads=2,
                  encoder_layers=3, decoder_layers=1, share_all_embeddings=True)  # fmt: skip
    before = model.encoder.layers[0].fc1.weight.clone()
    training_step(model, sentences=2, length=5, vocabulary=40)()
    assert not torch.equal(model.encoder.layers[0].fc1.weight.cpu(), before)


def test_direct_against_pivot_prints_a_table(tiny):
    printed = run_command("scripts/benchmark.py", "pivot", tiny.run(), "--from", "velan", "--to", "tamun",
                          "--text", tiny.folder / "text" / "test.velan", "--rounds", "1")  # fmt: skip
    assert printed.returncode == 0, printed.stderr
    assert "| direct |" in printed.stdout and "| through inglan |" in printed.stdout


def test_one_language_into_all_others_prints_a_table(tiny):
    printed = run_command("scripts/benchmark.py", "directions", tiny.run(), "--from", "velan",
                          "--text", tiny.folder / "text" / "test.velan", "--rounds", "1")  # fmt: skip
    assert printed.returncode == 0, printed.stderr
    assert "velan to 3 languages, 11 sentences" in printed.stdout
    assert "| all at once, encoded once |" in printed.stdout and "| one direction after another |" in printed.stdout


def test_tokenisation_by_processes_prints_a_table(tiny):
    text = tiny.folder / "text" / "test.velan"
    printed = run_command("scripts/benchmark.py", "tokenisation", "--text", text, "--language", "en", "--workers", "1", "2", "--rounds", "1")
    assert printed.returncode == 0, printed.stderr
    assert "| a plain loop |" in printed.stdout and "| 2 processes |" in printed.stdout


def test_probes_print_a_table():
    printed = run_command("scripts/benchmark.py", "probes", "--size", "demo", "--sentences", "260", "--length", "4")
    assert printed.returncode == 0, printed.stderr
    assert "4 languages × 260 sentences" in printed.stdout and printed.stdout.count("| classifier of ") == 3
