"""What CTranslate2 cannot run exactly."""

from collections.abc import Iterator

from fairseq.models.transformer import TransformerModel
from fairseq.modules import AdaptiveSoftmax
from torch import nn

from zsnmt.decoding.options import FLOAT32
from zsnmt.decoding.packed.parts import PARTS, unknown_parts
from zsnmt.errors import InputError
from zsnmt.models.zs_transformer import ZeroShotTransformer
from zsnmt.modules.attention_residual import MeanPoolResidual, RemoveResidual
from zsnmt.modules.position_names import TUPE
from zsnmt.modules.position_query import PositionQuery
from zsnmt.modules.positions import TupePositions
from zsnmt.modules.relative_attention import RelativeKeysAndQueries
from zsnmt.modules.target_language import TargetLanguage

INSTEAD = "translate with --engine pytorch"

ACTIVATIONS = {"relu": "RELU", "gelu": "GELU", "gelu_fast": "GELUTanh", "gelu_accurate": "GELUTanh"}

# How a person asked for what is not known.
OPTIONS = {
    PositionQuery: "--encoder-position-query-layers",
    MeanPoolResidual: "--encoder-residual-replacement mean_pool",
    TupePositions: f"--encoder-position-encoding {' or '.join(TUPE)}",
    RelativeKeysAndQueries: "--encoder-position-encoding relative_key_query",
    TargetLanguage: "--encoder-target-language",
    AdaptiveSoftmax: "--adaptive-softmax-cutoff",
}
KNOWN = {ZeroShotTransformer, *PARTS} - OPTIONS.keys()


def check_exportable(model: TransformerModel, quantization: str = FLOAT32) -> None:
    """`InputError` with the option that CTranslate2 has no counterpart of, or the precision that cannot
    hold the model.
    """
    if found := reason(model):
        raise InputError(f"CTranslate2 has no counterpart of {found}; {INSTEAD}")
    if quantization == "float16" and removes_residual(model):
        raise InputError(
            "--quantization float16 cannot hold the large factor by which an export removes a residual; "
            "choose bfloat16, float32 or int8"
        )


def removes_residual(model: TransformerModel) -> bool:
    """Whether some layer of the encoder has no attention residual."""
    return any(isinstance(layer.attention_residual, RemoveResidual) for layer in model.encoder.layers)


def reason(model: nn.Module) -> str | None:
    """What a model has that CTranslate2 cannot run exactly; None for a model that it can."""
    return next(reasons(model), None)


def reasons(model: nn.Module) -> Iterator[str]:
    """All of it: what has an option of its own, combinations of options, and parts that nobody has looked
    at.
    """
    yield from (
        option for kind, option in OPTIONS.items() if any(isinstance(part, kind) for part in model.modules())
    )
    yield from (f"the model's part {part}" for part in unknown_parts(model, KNOWN))
    if not isinstance(model, ZeroShotTransformer):
        return
    encoder, decoder = model.encoder, model.decoder
    joins_language = decoder.language_embedding is not None
    post_norm = not encoder.layers[0].normalize_before
    conditions = {
        f"--activation-fn {model.cfg.activation_fn}": model.cfg.activation_fn not in ACTIVATIONS,
        "--quant-noise-pq": encoder.quant_noise is not None or decoder.quant_noise is not None,
        "--decoder-output-dim other than --decoder-embed-dim": decoder.project_out_dim is not None,
        "--no-cross-attention": any(layer.encoder_attn is None for layer in decoder.layers),
        "--encoder-feed-forward-residual-removal-layers": any(
            isinstance(layer.feed_forward_residual, RemoveResidual) for layer in encoder.layers
        ),
        "--cross-self-attention": decoder.cross_self_attention,
        "--encoder-residual-removal-layers with --normalization post": post_norm and removes_residual(model),
        "--decoder-language-embedding with --normalization post": post_norm and joins_language,
        "--normalization post with relative attention and positions in the input": post_norm
        and any(
            stack.embed_positions is not None and len(stack.layers[0].self_attn.logit_terms)
            for stack in (encoder, decoder)
        ),
        "--decoder-language-embedding with --layernorm-embedding": joins_language
        and decoder.layernorm_embedding is not None,
        "--decoder-language-embedding concat with another --activation-fn than relu": joins_language
        and decoder.language_embedding.project is not None
        and model.cfg.activation_fn != "relu",
        "--decoder-language-feed-forward-layers with another --activation-fn than relu": any(
            layer.language_feed_forward is not None for layer in decoder.layers
        )
        and model.cfg.activation_fn != "relu",
        "--adapter-dim with another --activation-fn than relu": decoder.adapters is not None
        and model.cfg.activation_fn != "relu",
        "--adapter-dim with --normalization post": decoder.adapters is not None and post_norm,
    }
    yield from (option for option, holds in conditions.items() if holds)
