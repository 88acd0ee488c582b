"""`zsnmt options`: what it lists is what fairseq-train and a model built without options have."""

import re
from argparse import Namespace

import pytest
from fairseq import options as fairseq_options
from fairseq.models import ARCH_CONFIG_REGISTRY, ARCH_MODEL_NAME_REGISTRY, ARCH_MODEL_REGISTRY

from zsnmt.cli import options
from zsnmt.criterions.zs_cross_entropy import TERMS
from zsnmt.errors import InputError
from zsnmt.modules.attention_residual import RemoveResidual

OURS = [name for name, model in ARCH_MODEL_REGISTRY.items() if model.__module__.startswith("zsnmt.")]


def listed(capsys, *arguments: str) -> dict[str, str | None]:
    """The default of each option that is printed; None where none is."""
    options.main(arguments)
    entries = re.split(r"^  (?=-)", capsys.readouterr().out, flags=re.MULTILINE)[1:]
    names = (re.search(r"--([a-z0-9-]+)", entry).group(1).replace("-", "_") for entry in entries)
    defaults = (re.search(r"\(default: ([^()]*)\)", " ".join(entry.split())) for entry in entries)
    return {name: default and default.group(1) for name, default in zip(names, defaults)}


@pytest.mark.parametrize("architecture", OURS)
def test_defaults_are_those_of_training(architecture, capsys):
    task = options.TASKS[ARCH_MODEL_NAME_REGISTRY[architecture]]
    parser = fairseq_options.get_training_parser()
    args = fairseq_options.parse_args_and_arch(parser, ["data", "--arch", architecture, "--task", task])
    shown = listed(capsys, architecture)
    compared = [name for name, default in shown.items() if getattr(args, name, None) not in (None, False)]
    assert len(compared) > 20
    for name in compared:
        value = getattr(args, name)
        assert shown[name] == (" ".join(value) if isinstance(value, list) else str(value)), name


def test_defaults_are_those_of_a_model_that_is_built(capsys, toy_task):
    shown = listed(capsys, "zs_transformer_residual")
    args = Namespace()
    ARCH_CONFIG_REGISTRY["zs_transformer_residual"](args)
    model = ARCH_MODEL_REGISTRY["zs_transformer_residual"].build_model(args, toy_task)
    removed = [isinstance(layer.attention_residual, RemoveResidual) for layer in model.encoder.layers]
    assert shown["encoder_residual_removal_layers"] == "middle" and removed.index(True) == len(removed) // 2
    assert len(model.encoder.layers) == int(shown["encoder_layers"]) == 5
    assert model.decoder.embed_tokens.embedding_dim == int(shown["decoder_embed_dim"])
    assert model.decoder.layers[0].dropout_module.p == float(shown["dropout"]) == 0.2
    assert model.encoder.max_source_positions == int(shown["max_source_positions"])
    assert model.encoder.layers[0].normalize_before == (shown["normalization"] == "pre")


def test_own_options_are_without_those_of_fairseq(capsys):
    own = listed(capsys, "zs_transformer", "--own")
    assert {"word_dropout", "frozen_vocabulary", "language_tags", "valid_lang_pairs"} <= {*own}
    assert not {"encoder_layers", "dropout", "sampling_method"} & {*own}
    everything = listed(capsys, "zs_transformer")
    assert {*own, "encoder_layers", "dropout", "sampling_method"} <= {*everything}
    assert "encoder_langtok" not in everything  # which the task refuses


def test_the_options_of_remedies_are_those_of_their_criterion(capsys):
    shown = listed(capsys, "zs_transformer", "--own")
    assert {f"{term}_weight" for term in TERMS} | {"chunked_loss", "denoising_share"} <= {*shown}
    assert shown["consistency_weight"] == "0.0" and "label_smoothing" not in shown
    assert not {f"{term}_weight" for term in TERMS} & {*listed(capsys, "zs_bert", "--own")}


def test_architectures_are_listed_with_task_and_what_they_are(capsys):
    options.main([])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == OURS
    assert all(line.split()[1] in options.TASKS.values() and len(line.split()) > 4 for line in lines)


def test_an_unknown_architecture_is_refused_with_those_that_exist():
    with pytest.raises(
        InputError, match="there is no architecture 'transformer' in zsnmt; choose .*zs_transformer_residual"
    ):
        options.main(["transformer"])
