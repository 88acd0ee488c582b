"""A trained model as the configuration and the weights of a model of transformers."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from fairseq.models.transformer import TransformerModel
from fairseq.modules import SinusoidalPositionalEmbedding
from torch import Tensor, nn

from zsnmt.data.reading import Codec
from zsnmt.inference.export.huggingface.refusals import ACTIVATIONS
from zsnmt.modules.attention_residual import (
    KeepResidual,
    MeanPoolResidual,
    RemoveResidual,
    StochasticResidual,
)
from zsnmt.modules.encoder_layer import EncoderLayer
from zsnmt.modules.language_feed_forward import LanguageFeedForward
from zsnmt.modules.relative_attention import RelativeKeys
from zsnmt.modules.self_attention import SelfAttention

# Of the names of parameters; what is computed anew is left out.
RENAMED = {
    "encoder.embed_tokens.weight": "model.shared.weight",
    "decoder.output_projection.weight": "lm_head.weight",
}
COMPUTED = ("_float_tensor", ".version")
RESIDUALS: dict[type[nn.Module], str] = {
    KeepResidual: "keep",
    StochasticResidual: "keep",  # in evaluation
    RemoveResidual: "remove",
    MeanPoolResidual: "mean_pool",
}
TIED = ("decoder.embed_tokens.weight", "decoder.output_projection.weight")


class Converted(NamedTuple):
    """What a folder says of a model. `seams`: settings that M2M100 does not have; none where it is one."""

    config: dict
    seams: dict
    weights: dict[str, Tensor]


def convert(model: TransformerModel, codec: Codec) -> Converted:
    """The model, which a folder can hold (`check_expressible`), in the terms of transformers."""
    stacks = {"encoder": model.encoder, "decoder": model.decoder}
    sizes = {
        f"{name}_{size}": value
        for name, stack in stacks.items()
        for size, value in (
            ("layers", len(stack.layers)),
            ("attention_heads", stack.layers[0].self_attn.num_heads),
            ("ffn_dim", stack.layers[0].fc1.out_features),
            ("layerdrop", 0.0),
        )
    }
    config = {
        **sizes,
        "vocab_size": len(codec.dictionary),
        "d_model": model.encoder.layers[0].embed_dim,
        "activation_function": ACTIVATIONS[model.cfg.activation_fn],
        "scale_embedding": model.encoder.embed_scale != 1.0,
        "tie_word_embeddings": is_tied(model),
        "max_position_embeddings": max(stack.max_positions() for stack in stacks.values()),
        "dropout": model.cfg.dropout,
        "attention_dropout": model.cfg.attention_dropout,
        "activation_dropout": model.cfg.activation_dropout,
    }
    return Converted(config, filled_seams(model), weights(model))


def is_tied(model: TransformerModel) -> bool:
    """Whether both inputs and the output have one table."""
    inputs = (stack.embed_tokens for stack in (model.encoder, model.decoder))
    return one_table(*inputs, model.decoder.output_projection)


def one_table(*modules: nn.Module) -> bool:
    """Whether modules have one weight."""
    return len({module.weight.data_ptr() for module in modules}) == 1


def filled_seams(model: TransformerModel) -> dict:
    """What of a model is not as in M2M100, in the words of `ZsnmtConfig`."""
    encoder, decoder = model.encoder, model.decoder
    layers: list[EncoderLayer] = [*encoder.layers]
    neutral = {
        "normalization": ("pre" if layers[0].normalize_before else "post", "pre"),
        "layernorm_embedding": (encoder.layernorm_embedding is not None, False),
        "decoder_final_norm": (decoder.layer_norm is not None, True),
        "encoder_positions": (positions(encoder.embed_positions), "sinusoidal"),
        "decoder_positions": (positions(decoder.embed_positions), "sinusoidal"),
        "separate_embeddings": (not one_table(encoder.embed_tokens, decoder.embed_tokens), False),
        "encoder_attention_residuals": omit_neutral(
            [RESIDUALS[type(layer.attention_residual)] for layer in layers], "keep"
        ),
        "encoder_feed_forward_residuals": omit_neutral(
            [RESIDUALS[type(layer.feed_forward_residual)] for layer in layers], "keep"
        ),
        "encoder_position_queries": omit_neutral(
            [layer.position_query and layer.position_query.base for layer in layers], None
        ),
        "decoder_language_feed_forward": omit_neutral(
            [language_blocks(layer.language_feed_forward) for layer in decoder.layers], None
        ),
        "encoder_relative": omit_neutral([relative(layer.self_attn) for layer in layers], None),
        "decoder_relative": omit_neutral([relative(layer.self_attn) for layer in decoder.layers], None),
    }
    seams: dict[str, Any] = {
        name: value for name, (value, otherwise) in neutral.items() if value != otherwise
    }
    if encoder.position_bias is not None:
        seams["encoder_position_bias"] = "absolute" if encoder.position_bias.buckets is None else "relative"
        seams["encoder_position_bias_layers"] = [layer.has_position_bias for layer in layers]
    if (language := decoder.language_embedding) is not None:
        seams["language_embedding"] = "add" if language.project is None else "concat"
        rows = language.row_of_token
        known = (rows >= 0).nonzero().squeeze(1)
        seams["language_tags"] = known[rows[known].argsort()].tolist()
    if encoder.target_language is not None:
        seams["encoder_target_language"] = encoder.target_language.place
        seams["encoder_told_layers"] = [layer.is_told for layer in layers]
    if decoder.adapters is not None:
        first = decoder.adapters[0]
        seams["decoder_adapters"] = {"tags": [*first.tags], "dim": first.adapters[0].down.out_features}
    if decoder.vocabulary is not None:
        seams["vocabulary_sizes"] = [*decoder.vocabulary.sizes]
    if seams:
        seams["max_source_positions"] = encoder.max_positions()
        seams["max_target_positions"] = decoder.max_positions()
    return seams


def language_blocks(blocks: LanguageFeedForward | None) -> dict | None:
    """Tags and width of the languages' blocks of a decoder layer, if it has any."""
    return blocks and {"tags": [*blocks.tags], "dim": blocks.widen[0].out_features}


def omit_neutral(values: list, neutral: object) -> tuple[list, list]:
    """Values of layers, none where all are neutral; beside what is neutral."""
    return (values if any(value != neutral for value in values) else [], [])


def positions(module: nn.Module | None) -> str:
    """What the input of a stack has of positions."""
    if module is None:
        return "none"
    return "sinusoidal" if isinstance(module, SinusoidalPositionalEmbedding) else "learned"


def relative(attention: SelfAttention) -> dict | None:
    """The tables of relative positions of an attention, if it has any."""
    terms = [(kind_of_term(term), term.table.distance) for term in attention.logit_terms]
    values = attention.relative_values
    if not terms and values is None:
        return None
    return {"terms": terms, "values": values and values.table.distance}


def kind_of_term(term: nn.Module) -> str:
    """The name of a term of the logits."""
    if isinstance(term, RelativeKeys):
        return "key"
    return "key_query_product" if term.product else "key_query"


def weights(model: TransformerModel) -> dict[str, Tensor]:
    """The parameters by their names in transformers, in memory of their own; of one table one copy."""
    state: Mapping[str, Tensor] = model.state_dict()
    left_out = TIED if is_tied(model) else ()
    found = {
        RENAMED.get(name, f"model.{name}"): weight.detach().cpu().float().clone()
        for name, weight in state.items()
        if not name.endswith(COMPUTED) and name not in left_out
    }
    if not left_out:
        found["model.encoder.embed_tokens.weight"] = found["model.shared.weight"].clone()
    if model.decoder.language_embedding is not None:
        rows = model.decoder.language_embedding.row_of_token
        found["model.decoder.language_embedding.row_of_token"] = rows.cpu().clone()
    return found
