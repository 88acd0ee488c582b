"""Options by which there is no model are refused before data are made."""

import re

import pytest
import torch

from zsnmt.errors import InputError
from zsnmt.runs.checkpoints import load_checkpoint
from zsnmt.runs.folder import MODEL_FILE
from zsnmt.training import model_check
from zsnmt.training.config import read_config
from zsnmt.training.train import check_options

LANGUAGES = "inglan", "velan", "tamun"
SIZES = (
    "--encoder-layers 3 --decoder-layers 2 --encoder-embed-dim 16 --decoder-embed-dim 16 "
    "--encoder-ffn-embed-dim 32 --decoder-ffn-embed-dim 32 --encoder-attention-heads 2 "
    "--decoder-attention-heads 2"
).split()
NO_TAG = "reads the language from the decoder's first token, and --language-tags t_enc puts no tag there"


@pytest.mark.parametrize(
    "options, message",
    [
        ("--encoder-residual-removal-layers 4", "'4' names no layers of 3"),
        ("--encoder-attention-heads 3", "--encoder-embed-dim 16 must be a multiple of"),
        ("--language-tags t_enc", f"--decoder-language-embedding concat {NO_TAG}"),
        (
            "--language-tags t_enc --decoder-language-embedding none "
            "--decoder-language-feed-forward-layers middle",
            f"--decoder-language-feed-forward-layers middle {NO_TAG}",
        ),
        ("--lang-pairs inglan-sorok", "unknown language 'sorok': this model knows inglan, velan, tamun"),
        ("--encoder-langtok tgt", "leave out --encoder-langtok"),
        ("--early-stopping-on-zero-shot", "all directions of validation are trained"),
        ("--criterion zs_cross_entropy --consistency-weight -1", "--consistency-weight"),
    ],
)
def test_what_a_training_would_refuse_is_refused_without_data(options, message):
    with pytest.raises(InputError, match=re.escape(message)):
        check_options("zs_transformer", [*SIZES, *options.split()], LANGUAGES)


@pytest.mark.parametrize(
    "architecture, options",
    [
        ("zs_transformer", ""),
        ("zs_transformer_residual_query", ""),
        ("zs_transformer_relative", "--lang-pairs velan-inglan"),
        ("zs_transformer", "--language-tags t_enc --decoder-language-embedding none"),
        ("zs_transformer", "--early-stopping-on-zero-shot --valid-lang-pairs all"),
        ("zs_transformer", "--criterion zs_cross_entropy --consistency-weight 0.5"),
        ("zs_transformer", "--criterion zs_cross_entropy --denoising-weight 1 --translation-weight 0.5"),
        ("zs_transformer", "--frozen-vocabulary 4008"),  # the sizes are those of data
        ("transformer", "--task translation"),  # another project's
    ],
)
def test_what_a_training_takes_is_taken(architecture, options):
    check_options(architecture, [*SIZES, *options.split()], LANGUAGES)


def test_the_model_that_is_tried_is_that_of_the_training(tiny, monkeypatch):
    """All sizes but those of tables of symbols are those of the trained model."""
    tried = []
    build = model_check.build_model
    monkeypatch.setattr(model_check, "build_model", lambda options: tried.append(build(options)))
    config = read_config(tiny.config, {})
    check_options("zs_transformer_residual", config.fairseq_options, config.languages)
    trained = load_checkpoint(tiny.run() / MODEL_FILE)["model"]
    assert sizes(tried[0].state_dict()) == sizes(trained)


def test_a_model_that_would_not_fit_into_memory_is_checked_without_any():
    """Of a trillion weights."""
    wide = [f"--{stack}-embed-dim=131072" for stack in ("encoder", "decoder")]
    wide += ["--encoder-layers", "9", "--decoder-layers", "9"]
    check_options("zs_transformer", [*SIZES, *wide], LANGUAGES)
    with pytest.raises(InputError, match="'10' names no layers of 9"):
        check_options("zs_transformer", [*SIZES, *wide, "--encoder-residual-removal-layers", "10"], LANGUAGES)


def sizes(weights: dict[str, torch.Tensor]) -> dict[str, torch.Size]:
    tables = "embed_tokens", "output_projection"
    return {name: weight.shape for name, weight in weights.items() if not any(map(name.count, tables))}
