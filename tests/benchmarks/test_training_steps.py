"""Steps that are timed: that they really train, and that the forms compared do the same."""

import pytest
import torch

from tests.support.rounding import assert_alike
from zsnmt.benchmarks.bert import STOCK, bert_models, masked_lm_step
from zsnmt.benchmarks.models import BenchmarkTask, build
from zsnmt.benchmarks.training_steps import training_step, use_pairwise_form
from zsnmt.modules.position_names import ENCODINGS

SMALL = dict(
    encoder_embed_dim=8,
    encoder_attention_heads=2,
    decoder_attention_heads=2,
    encoder_layers=3,
    decoder_layers=1,
    share_all_embeddings=True,
)


@pytest.mark.parametrize("architecture", ["transformer", "zs_transformer_residual"])
def test_a_step_changes_the_weights(architecture):
    task = BenchmarkTask(40)
    assert len(task.target_dictionary) == 40
    model = build(architecture, task, **SMALL)
    before = model.encoder.layers[0].fc1.weight.clone()
    training_step(model, sentences=2, length=5, vocabulary=40)()
    assert not torch.equal(model.encoder.layers[0].fc1.weight.cpu(), before)


@pytest.mark.usefixtures("float64")
def test_a_vector_for_every_pair_gives_the_same_output_and_gradients():
    source, prefix = torch.randint(8, 40, (2, 3, 7), generator=torch.Generator().manual_seed(1))
    prefix[:, 0] = 4  # the first language's tag
    results = []
    for form in (lambda model: None, use_pairwise_form):
        model = (
            build("zs_transformer", BenchmarkTask(40), **SMALL, relative_attention_distance="2")
            .double()
            .eval()
        )
        form(model)
        logits, _ = model(source, torch.tensor([7, 7, 7]), prefix)
        logits.square().sum().backward()
        gradients = {name: weight.grad for name, weight in model.named_parameters()}
        results.append({"logits": logits, **gradients})
    tables = [
        gradient
        for name, gradient in results[0].items()
        if name.endswith("self_attn.relative_values.table.weight")
    ]
    assert len(tables) == 4 and all(gradient.any() for gradient in tables)  # three layers and one
    for name in results[0]:
        assert_alike(results[1][name], results[0][name])


@pytest.mark.slow
@pytest.mark.parametrize("bf16", [False, True])
def test_a_masked_lm_step_is_fairseqs_with_learned_positions(bf16):
    """The same update of the same weights, so that speeds compare; each encoding has one."""
    task, models = bert_models(40)
    assert [*models] == [
        STOCK,
        "zs_bert, learned",
        *(f"zs_bert, {name}" for name in ENCODINGS if name != "learned"),
    ]
    assert len(task.target_dictionary) == 40
    before, after = models[STOCK].encoder.lm_head.dense.weight.clone(), []
    for title in (STOCK, "zs_bert, learned"):
        torch.manual_seed(1)
        masked_lm_step(task, models[title], sentences=7, length=9, bf16=bf16)()
        after.append(models[title].cpu().state_dict())
    assert not torch.equal(before, after[0]["encoder.lm_head.dense.weight"])
    if not torch.cuda.is_available():
        assert all(torch.equal(weight, after[1][name]) for name, weight in after[0].items())
