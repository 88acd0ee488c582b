"""What a folder of transformers cannot hold."""

from collections.abc import Iterator
from itertools import chain

from fairseq.models.transformer import TransformerModel

from zsnmt.data.reading import Codec
from zsnmt.decoding.packed.parts import unknown_parts
from zsnmt.errors import InputError
from zsnmt.inference.export.ctranslate2.refusals import INSTEAD
from zsnmt.inference.export.ctranslate2.refusals import KNOWN as KNOWN_THERE
from zsnmt.inference.export.ctranslate2.refusals import OPTIONS as REFUSED_THERE
from zsnmt.models.zs_transformer import ZeroShotTransformer
from zsnmt.modules.attention_residual import MeanPoolResidual
from zsnmt.modules.frozen_weights import FrozenWeights
from zsnmt.modules.growing_vocabulary import GrowingVocabulary
from zsnmt.modules.language_adapter import LanguageAdapter, LanguageAdapters
from zsnmt.modules.language_feed_forward import LanguageFeedForward
from zsnmt.modules.position_query import PositionQuery
from zsnmt.modules.positions import TupePositions
from zsnmt.modules.relative_attention import RelativeKeysAndQueries
from zsnmt.modules.target_language import TargetLanguage

KNOWN = {
    *KNOWN_THERE,
    GrowingVocabulary,
    LanguageAdapter,
    LanguageAdapters,
    LanguageFeedForward,
    MeanPoolResidual,
    PositionQuery,
    RelativeKeysAndQueries,
    TargetLanguage,
    TupePositions,
    FrozenWeights,
}
OPTIONS = {kind: option for kind, option in REFUSED_THERE.items() if kind not in KNOWN}
ACTIVATIONS = {  # as transformers calls them
    "relu": "relu",
    "gelu": "gelu",
    "gelu_fast": "gelu_new",
    "gelu_accurate": "gelu_new",
    "tanh": "tanh",
    "linear": "linear",
}


def check_expressible(model: TransformerModel, codec: Codec) -> None:
    """`InputError` with the option, or what else, that a folder of transformers cannot hold."""
    symbols = codec.dictionary.symbols
    twice = ["a dictionary with a symbol twice"] if len({*symbols}) < len(symbols) else []
    for reason in chain(reasons(model), twice):
        raise InputError(f"a folder of transformers cannot hold {reason}; {INSTEAD}")


def reasons(model: TransformerModel) -> Iterator[str]:
    """What a model has that has no place: options, and parts that nobody has looked at."""
    yield from (
        option for kind, option in OPTIONS.items() if any(isinstance(part, kind) for part in model.modules())
    )
    yield from (f"the model's part {part}" for part in unknown_parts(model, KNOWN))
    if not isinstance(model, ZeroShotTransformer):
        return
    encoder, decoder = model.encoder, model.decoder
    conditions = {
        f"--activation-fn {model.cfg.activation_fn}": model.cfg.activation_fn not in ACTIVATIONS,
        "--quant-noise-pq": encoder.quant_noise is not None or decoder.quant_noise is not None,
        "--decoder-embed-dim other than --encoder-embed-dim": encoder.layers[0].embed_dim
        != decoder.layers[0].embed_dim,
        "--decoder-output-dim other than --decoder-embed-dim": decoder.project_out_dim is not None,
        "--no-cross-attention": any(layer.encoder_attn is None for layer in decoder.layers),
        "--cross-self-attention": decoder.cross_self_attention,
        "a bias of the output": decoder.output_projection.bias is not None,
        "--encoder-normalize-before without --decoder-normalize-before": encoder.layers[0].normalize_before
        != decoder.layers[0].normalize_before,
    }
    yield from (option for option, holds in conditions.items() if holds)
