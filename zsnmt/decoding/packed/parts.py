"""The parts of a model that packing knows, so that a new one is never passed over in silence."""

from collections.abc import Set

from fairseq.modules import (
    FairseqDropout,
    LayerDropModuleList,
    LearnedPositionalEmbedding,
    SinusoidalPositionalEmbedding,
)
from torch import nn

from zsnmt.modules.attention_residual import (
    KeepResidual,
    MeanPoolResidual,
    RemoveResidual,
    StochasticResidual,
)
from zsnmt.modules.decoder import Decoder
from zsnmt.modules.decoder_layer import DecoderLayer
from zsnmt.modules.encoder import Encoder
from zsnmt.modules.encoder_layer import EncoderLayer
from zsnmt.modules.frozen_weights import FrozenWeights
from zsnmt.modules.growing_vocabulary import GrowingVocabulary
from zsnmt.modules.language_adapter import LanguageAdapter, LanguageAdapters
from zsnmt.modules.language_embedding import LanguageEmbedding
from zsnmt.modules.language_feed_forward import LanguageFeedForward
from zsnmt.modules.onednn_linear import OneDnnLinear, OneDnnReluLinear
from zsnmt.modules.position_query import PositionQuery
from zsnmt.modules.positions import TupePositions
from zsnmt.modules.relative_attention import OffsetTable, RelativeKeys, RelativeKeysAndQueries, RelativeValues
from zsnmt.modules.self_attention import SelfAttention
from zsnmt.modules.target_language import TargetLanguage
from zsnmt.modules.variational_dropout import VariationalDropout
from zsnmt.modules.word_dropout import WordDropoutEmbedding

PARTS = frozenset(
    {
        Encoder,
        Decoder,
        EncoderLayer,
        DecoderLayer,
        SelfAttention,
        KeepResidual,
        MeanPoolResidual,
        RemoveResidual,
        StochasticResidual,
        PositionQuery,
        TupePositions,
        OffsetTable,
        RelativeKeys,
        RelativeKeysAndQueries,
        RelativeValues,
        LanguageEmbedding,
        LanguageFeedForward,
        LanguageAdapter,
        LanguageAdapters,
        TargetLanguage,
        GrowingVocabulary,
        FrozenWeights,
        WordDropoutEmbedding,
        VariationalDropout,
        SinusoidalPositionalEmbedding,
        LearnedPositionalEmbedding,
        OneDnnLinear,
        OneDnnReluLinear,
        nn.Linear,
        nn.LayerNorm,
        nn.Embedding,
        nn.Identity,
        nn.ModuleList,
        LayerDropModuleList,
    }
)


def unknown_parts(model: nn.Module, known: Set[type[nn.Module]]) -> list[str]:
    """The parts of a model, itself among them, that are of no known type, by name; dropout, which translation
    is without, is none.
    """
    return [
        f"{name or 'root'} ({type(part).__name__})"
        for name, part in model.named_modules()
        if not (type(part) in known or isinstance(part, FairseqDropout))
    ]
