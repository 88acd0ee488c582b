"""Paired timing: the arithmetic, that a step really trains, what memory counts, and that the forms compared do the same."""

import time

import pytest
import torch

from tests.conftest import run_command
from zsnmt.benchmark import BenchmarkTask, build, paired_times, peak_memory, ratios, training_step, use_pairwise_form
from zsnmt.bert_benchmark import STOCK, bert_models, masked_lm_step
from zsnmt.modules.positions import ENCODINGS

SMALL = dict(encoder_embed_dim=8, encoder_attention_heads=2, decoder_attention_heads=2, encoder_layers=3, decoder_layers=1,
             share_all_embeddings=True)  # fmt: skip


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
    model = build(architecture, task, **SMALL)
    before = model.encoder.layers[0].fc1.weight.clone()
    training_step(model, sentences=2, length=5, vocabulary=40)()
    assert not torch.equal(model.encoder.layers[0].fc1.weight.cpu(), before)


def test_a_vector_for_every_pair_gives_the_same_output_and_gradients():
    source, prefix = torch.randint(8, 40, (2, 3, 7), generator=torch.Generator().manual_seed(1))
    prefix[:, 0] = 4  # the first language's tag
    results = []
    for form in (lambda model: None, use_pairwise_form):
        model = build("zs_transformer", BenchmarkTask(40), **SMALL, relative_attention_distance="2").double().eval()
        form(model)
        logits, _ = model(source, torch.tensor([7, 7, 7]), prefix)
        logits.square().sum().backward()
        gradients = {name: weight.grad for name, weight in model.named_parameters()}
        results.append({"logits": logits, **gradients})
    tables = [gradient for name, gradient in results[0].items() if name.endswith("self_attn.relative_values.table.weight")]
    assert len(tables) == 4 and all(gradient.any() for gradient in tables)  # three layers and one
    torch.testing.assert_close(results[1], results[0], rtol=1e-5, atol=1e-5)  # fairseq's softmax is one of float32


def test_peak_memory_is_what_lives_at_once_and_was_not_there_before():
    device = "cuda" if torch.cuda.is_available() else "cpu"
    before = torch.zeros(4096, device=device)

    def job():
        first, second = torch.zeros(1024, device=device), before.clone()
        del first
        third = torch.zeros(512, device=device)
        del second, third
        torch.zeros(2048, device=device)

    assert peak_memory(job) == 4 * (1024 + 4096)
    assert peak_memory(lambda: None) == 0


def test_relative_attention_prints_a_table_for_each_dropout():
    printed = run_command("scripts/benchmark.py", "relative", "--size", "demo", "--lengths", "6", "12", "--tokens", "24",
                          "--dropout", "0.1", "0", "--distance", "2", "--rounds", "1")  # fmt: skip
    assert printed.returncode == 0, printed.stderr
    for row in ("6 | plain", "6 | relative, k = 2", "6 | the same by T×T×d vectors", "12 | plain"):
        assert printed.stdout.count(f"| {row} |") == 2


def test_encodings_print_a_table():
    printed = run_command("scripts/benchmark.py", "encodings", "--size", "demo", "--lengths", "6", "--tokens", "6",
                          "--dropout", "0.1", "--rounds", "1", "--cpu-seconds")  # fmt: skip
    assert printed.returncode == 0, printed.stderr
    assert "| CPU seconds a step (median) |" in printed.stdout
    assert all(f"| 6 | {encoding} |" in printed.stdout for encoding in ENCODINGS)


@pytest.mark.parametrize("bf16", [False, True])
def test_a_masked_lm_step_is_fairseqs_with_learned_positions(bf16):
    """The same update of the same weights, so that speeds compare; each encoding has one."""
    task, models = bert_models(40)
    assert [*models] == [STOCK, "zs_bert, learned", *(f"zs_bert, {name}" for name in ENCODINGS if name != "learned")]
    assert len(task.target_dictionary) == 40
    before, after = models[STOCK].encoder.lm_head.dense.weight.clone(), []
    for title in (STOCK, "zs_bert, learned"):
        torch.manual_seed(1)
        masked_lm_step(task, models[title], sentences=7, length=9, bf16=bf16)()
        after.append(models[title].cpu().state_dict())
    assert not torch.equal(before, after[0]["encoder.lm_head.dense.weight"])
    if not torch.cuda.is_available():
        assert all(torch.equal(weight, after[1][name]) for name, weight in after[0].items())


def test_masked_language_models_print_a_table():
    printed = run_command("scripts/benchmark.py", "bert", "--sentences", "3", "--length", "5", "--vocabulary", "40", "--rounds", "1",
                          "--cpu-bf16")  # fmt: skip
    assert printed.returncode == 0, printed.stderr
    assert "3 × 5 tokens, bfloat16, 1 rounds" in printed.stdout and "(above 1: faster)" in printed.stdout
    assert "| fairseq roberta | " in printed.stdout and "| 1.000 (1.000–1.000) |" in printed.stdout
    assert all(f"| zs_bert, {encoding} | " in printed.stdout for encoding in ENCODINGS)


def test_a_batch_without_room_for_a_sentence_is_refused():
    printed = run_command("scripts/benchmark.py", "relative", "--lengths", "6", "12", "--tokens", "11")
    assert printed.returncode == 1 and "--tokens 11 has no room for a sentence of 12; give more" in printed.stderr
    assert "Training step" not in printed.stdout


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
