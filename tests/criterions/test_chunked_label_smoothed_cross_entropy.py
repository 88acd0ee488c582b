"""The chunked criterion against fairseq's: the same loss, gradients and figures, to rounding."""

import gc

import pytest
import torch
from fairseq.criterions.label_smoothed_cross_entropy import LabelSmoothedCrossEntropyCriterion
from fairseq.distributed import ModuleProxyWrapper
from fairseq.models import ARCH_CONFIG_REGISTRY, ARCH_MODEL_REGISTRY
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from tests.conftest import toy_options
from tests.support.rounding import assert_as_near
from zsnmt.criterions.chunked_label_smoothed_cross_entropy import (
    ChunkedLabelSmoothedCrossEntropy,
    projecting_decoder,
)
from zsnmt.losses import chunked_loss

pytestmark = pytest.mark.usefixtures("float64")
PAD, EOS = 1, 2
SUMMED = 11 * 31 * 2**-24  # a rounding of float32 for each term of the loss: 11 tokens, 31 symbols
NO_DROPOUT = dict(dropout=0.0, attention_dropout=0.0, activation_dropout=0.0, word_dropout=0.0)
APART = dict(share_all_embeddings=False)
OUTPUT_LAYERS = {
    "tied to both embeddings": {},
    "tied to the decoder's": dict(APART, share_decoder_input_output_embed=True),
    "of its own": dict(APART, share_decoder_input_output_embed=False),
    "with a bias": APART,
    "trained fast": dict(fast_training=True),
    "vocabulary that grew": dict(frozen_vocabulary="7"),
}


def build(task, architecture: str = "zs_transformer", **options) -> nn.Module:
    torch.manual_seed(1)
    args = toy_options(**{**NO_DROPOUT, **options})
    ARCH_CONFIG_REGISTRY[architecture](args)
    return ARCH_MODEL_REGISTRY[architecture].build_model(args, task)


def build_with(task, layer: str) -> nn.Module:
    """A model with one of the output layers above."""
    model = build(task, **OUTPUT_LAYERS[layer])
    if layer == "with a bias":
        model.decoder.output_projection = nn.Linear(8, len(task.target_dictionary))
    return model


@pytest.fixture
def sample(source_batch, target_batch) -> dict:
    """Three sentences of 4, 3 and 4 target tokens with EOS."""
    target = torch.tensor([[8, 9, 10, EOS], [11, 12, EOS, PAD], [13, 14, 15, EOS]])
    lengths = source_batch.ne(PAD).sum(1)
    inputs = {"src_tokens": source_batch, "src_lengths": lengths, "prev_output_tokens": target_batch}
    return {"net_input": inputs, "target": target, "ntokens": 11}


def criterions(
    task, smoothing: float = 0.1, sentence_avg: bool = False, **options
) -> list[LabelSmoothedCrossEntropyCriterion]:
    kinds = LabelSmoothedCrossEntropyCriterion, ChunkedLabelSmoothedCrossEntropy
    return [kind(task, sentence_avg, smoothing, **options) for kind in kinds]


def gradients(
    model: nn.Module, criterion, *samples: dict, scale: float = 1.0
) -> tuple[list[dict], dict[str, Tensor]]:
    """What the criterion logs of each batch, and the model's gradients of all of them, multiplied by
    `scale`.
    """
    model.zero_grad()
    logs = []
    for sample in samples:
        loss, _, log = criterion(model, sample)
        (loss * scale).backward()
        logs.append(log)
    return logs, {
        name: weight.grad.clone() for name, weight in model.named_parameters() if weight.grad is not None
    }


def assert_as_near_as_fairseqs(
    model: nn.Module, exact: nn.Module, kinds: list, *samples: dict, **options
) -> None:
    """Figures and gradients are as near as those of the stock criterion to what that has in float64."""
    stock, ours = kinds
    (logs, found), (stock_logs, by_stock) = (
        gradients(model, criterion, *samples, **options) for criterion in (ours, stock)
    )
    true_logs, true = gradients(exact.double(), stock, *samples, **options)
    for log, stock_log, true_log in zip(logs, stock_logs, true_logs, strict=True):
        assert log.keys() == true_log.keys()
        for name, value in true_log.items():
            if not isinstance(value, Tensor) or not value.is_floating_point():
                assert float(log[name]) == float(value), name
            else:
                assert_as_near(log[name], stock_log[name], value.double(), float(value))
    assert [*found] == [*by_stock] == [*true]
    assert_as_near(
        *(torch.cat([gradient.flatten() for gradient in each.values()]) for each in (found, by_stock, true))
    )


def assert_equal(ours: tuple, stock: tuple, tolerance: float) -> None:
    """The same figures and gradients; a gradient's error counts in parts of the largest gradient."""
    for log, expected in zip(*(logs for logs, _ in (ours, stock)), strict=True):
        assert log.keys() == expected.keys()
        for name in expected:
            assert float(log[name]) == pytest.approx(float(expected[name]), rel=tolerance), name
    assert ours[1].keys() == stock[1].keys()
    largest = max(float(gradient.abs().max()) for gradient in stock[1].values())
    for name, expected in stock[1].items():
        assert expected.dtype is ours[1][name].dtype
        assert float((ours[1][name] - expected).abs().max()) <= tolerance * largest, name


@pytest.mark.slow
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("layer", OUTPUT_LAYERS)
def test_loss_gradients_and_figures_are_fairseqs(toy_task, sample, layer, smoothing):
    model = build_with(toy_task, layer)
    assert (projecting_decoder(model) is None) == (layer == "vocabulary that grew")
    assert_as_near_as_fairseqs(
        model, build_with(toy_task, layer), criterions(toy_task, smoothing, report_accuracy=True), sample
    )


@pytest.mark.parametrize(
    "options", [dict(sentence_avg=True), dict(ignore_prefix_size=1), dict(ignore_prefix_size=4)]
)
def test_every_option_of_fairseqs_criterion_works(toy_task, sample, options):
    assert_as_near_as_fairseqs(
        build(toy_task), build(toy_task), criterions(toy_task, report_accuracy=True, **options), sample
    )


def test_fairseqs_own_transformer_has_it_too(toy_task, sample):
    model = build(toy_task, "transformer")
    assert projecting_decoder(model) is model.decoder
    assert_as_near_as_fairseqs(model, build(toy_task, "transformer"), criterions(toy_task), sample)


def test_gradients_add_up_over_batches_and_keep_a_scale(toy_task, sample):
    """As under --update-freq, and under the loss scale of mixed precision."""
    other = {**sample, "target": sample["target"].flip(0)}
    assert_as_near_as_fairseqs(
        build(toy_task), build(toy_task), criterions(toy_task), sample, other, scale=128.0
    )


@pytest.mark.parametrize("rows", [1, 2, 4, 100])
def test_any_number_of_tokens_at_a_time_gives_the_same(toy_task, sample, monkeypatch, rows):
    monkeypatch.setitem(chunked_loss.CHUNK, "cpu", rows * len(toy_task.target_dictionary) + 1)
    assert_as_near_as_fairseqs(
        build(toy_task), build(toy_task), criterions(toy_task, report_accuracy=True), sample
    )


def test_mixed_precision_differs_by_its_rounding(toy_task, sample):
    model = build(toy_task)
    stock, ours = criterions(toy_task, report_accuracy=True)
    exact = gradients(model, stock, sample)
    with torch.autocast("cpu", torch.bfloat16):
        rounding = 2**-8  # of bfloat16
        assert_equal(gradients(model, ours, sample), gradients(model, stock, sample), 4 * rounding)
        assert_equal(gradients(model, ours, sample), exact, 8 * rounding)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_a_model_in_half_precision_has_gradients_of_its_type(toy_task, sample, dtype):
    """With the loss scale of float16: gradients of most of a large vocabulary would vanish without it."""
    model = build(toy_task).to(dtype)
    stock, ours = (gradients(model, each, sample, scale=2.0**7) for each in criterions(toy_task))
    assert_equal(ours, stock, 4 * 2**-8)  # roundings of bfloat16


def test_the_logits_are_all_that_is_kept_of_their_size(toy_task, sample):
    model, size = build(toy_task), len(toy_task.target_dictionary)
    counts = []
    for criterion in criterions(toy_task):
        kept: list[Tensor] = []
        with torch.autograd.graph.saved_tensors_hooks(
            lambda tensor: kept.append(tensor) or tensor, lambda tensor: tensor
        ):
            criterion(model, sample)
        counts.append(sum(tensor.numel() >= sample["ntokens"] * size for tensor in kept))
    assert counts[1] == 1 < counts[0]


def test_validation_keeps_nothing(toy_task, sample):
    model, (stock, ours) = build(toy_task).eval(), criterions(toy_task, report_accuracy=True)
    with torch.no_grad():
        (loss, size, log), (expected, expected_size, expected_log) = (
            each(model, sample) for each in (ours, stock)
        )
        exact, _, _ = stock(model.double(), sample)
    assert not loss.requires_grad and size == expected_size and log.keys() == expected_log.keys()
    assert_as_near(loss, expected, exact.double(), float(exact))


def test_a_loss_for_each_token_is_fairseqs(toy_task, sample):
    """`reduce=False`, which no command of fairseq asks for in training."""
    model = build(toy_task).eval()
    stock, ours = (each(model, sample, reduce=False)[0] for each in criterions(toy_task))
    assert torch.equal(ours, stock) and ours.numel() == sample["target"].numel()


def test_a_batch_that_does_not_count_has_zero_gradients(toy_task, sample):
    """The trainer's dummy batch, whose loss it multiplies by zero in place; and one of nothing but
    padding.
    """
    model = build(toy_task)
    _, criterion = criterions(toy_task, report_accuracy=True)
    loss, _, _ = criterion(model, sample)
    loss *= 0
    loss.backward()
    assert all(not weight.grad.any() for weight in model.parameters() if weight.grad is not None)
    padding = {**sample, "target": torch.full_like(sample["target"], PAD)}
    [log], empty = gradients(model, criterion, padding)
    assert float(log["loss"]) == log["total"] == 0 and all(not gradient.any() for gradient in empty.values())


def test_a_second_backward_pass_is_the_first_or_says_that_there_is_none(toy_task, sample):
    """What a scale has changed in place is no longer there for a second one."""
    model, (_, criterion) = build(toy_task), criterions(toy_task)
    loss, _, _ = criterion(model, sample)
    loss.backward(retain_graph=True)
    once = {name: weight.grad.clone() for name, weight in model.named_parameters() if weight.grad is not None}
    loss.backward()
    assert all(
        torch.equal(weight.grad, 2 * once[name]) for name, weight in model.named_parameters() if name in once
    )
    loss = criterion(model, sample)[0] * 3
    loss.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


@pytest.fixture
def process_group():
    """A group of this process alone. It outlives what a test made with it, which would wait for the group's
    threads while these wait for Python.
    """
    torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    yield
    gc.collect()
    torch.distributed.destroy_process_group()


@pytest.mark.slow
@pytest.mark.parametrize("find_unused", [False, True])
def test_gradients_reach_the_output_layer_under_data_parallel_training(
    toy_task, sample, find_unused, process_group
):
    model = build_with(toy_task, "of its own")
    stock, ours = criterions(toy_task)
    expected = gradients(model, stock, sample)
    parallel = ModuleProxyWrapper(DistributedDataParallel(model, find_unused_parameters=find_unused))
    assert (projecting_decoder(parallel) is None) == find_unused
    logs, found = gradients(parallel, ours, sample)
    assert_equal(
        (logs, {name.removeprefix("module.module."): value for name, value in found.items()}),
        expected,
        SUMMED,
    )


def test_outputs_that_are_no_projection_of_features_are_left_to_fairseq(toy_task):
    adaptive = build(toy_task, **APART, adaptive_softmax_cutoff="9,20")
    aligned = build(toy_task, "transformer_align")
    assert projecting_decoder(adaptive) is projecting_decoder(aligned) is None


@pytest.mark.slow
def test_twenty_updates_have_the_same_losses(toy_task, sample):
    losses = []
    for criterion in criterions(toy_task):
        model = build(toy_task)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        losses.append([])
        for _ in range(20):
            [log], _ = gradients(model, criterion, sample)
            optimizer.step()
            losses[-1].append(float(log["loss"]))
    stock, ours = losses
    assert ours == pytest.approx(stock, rel=1e-4) and ours[-1] < 0.6 * ours[0]
