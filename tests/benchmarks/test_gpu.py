"""Searches on a GPU, measured here on a CPU, and their table."""

import json

import pytest
import torch

from zsnmt.benchmarks import gpu as module
from zsnmt.benchmarks import sizes, subjects
from zsnmt.decoding import pytorch_engine
from zsnmt.errors import InputError

LINES, OUTPUT = 5, 4


def test_without_a_gpu_it_says_what_measures_a_cpu(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(InputError, match="there is no GPU; zsnmt benchmark translation measures engines on"):
        next(module.gpu("demo", LINES, 3, [2], rounds=1, output=None))


@pytest.mark.slow
def test_each_search_is_measured_in_both_precisions_and_all_sizes_of_batch(monkeypatch, tmp_path):
    size = dict(encoder_layers=3, decoder_layers=1, width=16, feed_forward=24, heads=2, vocabulary=300)
    monkeypatch.setitem(sizes.SIZES, "demo", size)
    monkeypatch.setattr(subjects, "OUTPUT", OUTPUT)
    monkeypatch.setattr(module, "DEVICE", "cpu")
    monkeypatch.setattr(module, "cores", lambda: 1)
    monkeypatch.setattr(pytorch_engine, "check_precision", lambda precision, device: precision)
    output = tmp_path / "figures.json"
    *_, header, _, first, _, _, _, _, _, _, last = module.searches(
        "demo", LINES, 3, batches=[2, 5], rounds=2, output=output
    )
    assert header.endswith("| memory, GiB |")
    assert first.startswith("| fairseq-generate | float32 | 2 | ") and "| 1.00 (1.00–1.00) |" in first
    assert last.startswith("| zsnmt | float16 | 5 | ")
    found = json.loads(output.read_text())
    assert {*found["tokens"].values()} == {LINES * (OUTPUT + 1)} and len(found["tokens"]) == 8
    assert all(len(seconds) == 2 for seconds in found["seconds"].values())
    assert all(used > 0 for used in found["memory"].values())
