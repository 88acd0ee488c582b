"""`zs_transformer`: the multilingual transformer of Liu et al. (2021) and its variants.

Sizes and variants are options that combine freely; an architecture is a named set of defaults.
"""

from argparse import ArgumentParser, Namespace

from fairseq.data import Dictionary
from fairseq.models import register_model, register_model_architecture
from fairseq.models.transformer import TransformerModel
from fairseq.models.transformer.transformer_legacy import base_architecture
from fairseq.tasks import FairseqTask
from torch import nn

from zsnmt.compatibility.options import train_in_bfloat16_without_a_tpu
from zsnmt.errors import InputError
from zsnmt.modules.decoder import Decoder
from zsnmt.modules.encoder import Encoder
from zsnmt.modules.word_dropout import WordDropoutEmbedding
from zsnmt.seams import (
    fast_training,
    frozen_vocabulary,
    language_embedding,
    language_feed_forward,
    position_query,
    positions,
    relative_attention,
    residual_removal,
    target_language,
    variational_dropout,
)
from zsnmt.seams.options import (
    refuse_impossible_sizes,
    refuse_other_than_probabilities,
    refuse_pruning,
    refuse_sharded_layers,
    refuse_what_embeddings_cannot,
    set_defaults,
    spelt,
)

# In the order in which they are filled: what draws initial weights comes after what all models have in
# common, and what takes a module's place comes after all that made it.
SEAMS = (
    residual_removal,
    position_query,
    target_language,
    language_embedding,
    positions,
    relative_attention,
    language_feed_forward,
    variational_dropout,
    frozen_vocabulary,
    fast_training,
)
WIDTH = 512  # of embeddings and layers
FREE_SEAMS = variational_dropout, fast_training  # of the training alone, and not of the model


@register_model("zs_transformer")
class ZeroShotTransformer(TransformerModel):
    """fairseq's transformer with the seams of Liu et al. filled as the options say."""

    # Options that make another model of the same weights: a training goes on with those that it began with.
    SHAPING = (
        *(name for seam in SEAMS if seam not in FREE_SEAMS for name in seam.DEFAULTS),
        *("normalization", "encoder_attention_heads", "decoder_attention_heads", "activation_fn"),
        *("no_scale_embedding", "cross_self_attention"),
    )

    @classmethod
    def add_args(cls, parser: ArgumentParser) -> None:
        """Add fairseq's transformer options and those of the variants. An architecture sets the defaults."""
        super().add_args(parser)
        for seam in SEAMS:
            seam.add_options(parser.add_argument)
        parser.add_argument(
            "--word-dropout",
            type=float,
            metavar="P",
            help="probability that a word type's embedding is zeroed",
        )
        parser.add_argument(
            "--normalization", choices=["pre", "post"], help="layer normalisation before or after each block"
        )

    @classmethod
    def build_model(cls, args: Namespace, task: FairseqTask) -> "ZeroShotTransformer":
        """Build fairseq's model, whose initial weights do not depend on the seams, then fill the seams.

        Raises `InputError` for layers that do not exist, for a task without language tags where the
        decoder reads its language, for values that an option cannot have, and for sizes or options that do
        not go with a frozen vocabulary.
        """
        zs_transformer(args)
        refuse_stock_spelling(args)
        refuse_sharded_layers(args)
        refuse_pruning(args, {name: default for seam in SEAMS for name, default in seam.DEFAULTS.items()})
        refuse_what_embeddings_cannot(args)
        refuse_impossible_sizes(args, "encoder", "decoder")
        refuse_other_than_probabilities(
            args, "dropout", "attention_dropout", "activation_dropout", "word_dropout"
        )
        args.encoder_normalize_before = args.decoder_normalize_before = args.normalization == "pre"
        args.encoder_learned_pos = args.encoder_position_encoding == "learned"
        args.decoder_learned_pos = args.decoder_position_encoding == "learned"
        model = super().build_model(args, task)
        for seam in SEAMS:
            seam.fill(model, args, task)
        return model

    @classmethod
    def build_embedding(
        cls, args: Namespace, dictionary: Dictionary, embed_dim: int, path: str | None = None
    ) -> nn.Embedding:
        """fairseq's table of a dictionary (V×C), with word dropout."""
        return WordDropoutEmbedding(
            super().build_embedding(args, dictionary, embed_dim, path), args.word_dropout
        )

    @classmethod
    def build_encoder(cls, args: Namespace, src_dict: Dictionary, embed_tokens: nn.Embedding) -> Encoder:
        """The encoder with seams."""
        return Encoder(args, src_dict, embed_tokens)

    @classmethod
    def build_decoder(cls, args: Namespace, tgt_dict: Dictionary, embed_tokens: nn.Embedding) -> Decoder:
        """The decoder with seams."""
        return Decoder(args, tgt_dict, embed_tokens, no_encoder_attn=args.no_cross_attention)


def refuse_stock_spelling(args: Namespace) -> None:
    """`InputError` where an option of fairseq contradicts the one of this model that stands for it."""
    if args.encoder_learned_pos and args.encoder_position_encoding != "learned":
        raise InputError("--encoder-learned-pos has no effect here; use --encoder-position-encoding learned")
    if args.decoder_learned_pos and args.decoder_position_encoding != "learned":
        raise InputError(
            "--decoder-learned-pos contradicts --decoder-position-encoding; give the latter alone"
        )
    if args.no_token_positional_embeddings:
        raise InputError(
            "--no-token-positional-embeddings is, here, --encoder-position-encoding none "
            "--decoder-position-encoding none"
        )
    for name in ("encoder_normalize_before", "decoder_normalize_before"):
        if args.normalization != "pre" and getattr(args, name):
            raise InputError(f"{spelt(name)} contradicts --normalization post; give --normalization alone")


def shares_all(args: Namespace) -> bool:
    """Whether encoder and decoder have one table by default: unless other options of fairseq say that they
    differ.
    """
    width = getattr(args, "encoder_embed_dim", WIDTH)
    of_decoder = "share_decoder_input_output_embed", "decoder_embed_path"
    return getattr(args, "decoder_embed_dim", width) == width and not any(
        getattr(args, name, None) for name in of_decoder
    )


@register_model_architecture("zs_transformer", "zs_transformer")
def zs_transformer(args: Namespace) -> None:
    """The baseline of Liu et al. (2021), section 3.2."""
    if getattr(args, "decoder_learned_pos", False):  # fairseq's way to say it
        set_defaults(args, decoder_position_encoding="learned")
    for seam in SEAMS:
        set_defaults(args, **seam.DEFAULTS)
    set_defaults(
        args,
        encoder_layers=5,
        decoder_layers=5,
        encoder_embed_dim=WIDTH,
        encoder_ffn_embed_dim=2048,
        encoder_attention_heads=8,
        decoder_attention_heads=8,
        dropout=0.2,
        attention_dropout=0.2,
        activation_dropout=0.2,
        share_all_embeddings=shares_all(args),
        normalization="pre",
        word_dropout=0.1,
    )
    base_architecture(args)
    train_in_bfloat16_without_a_tpu(args)


@register_model_architecture("zs_transformer", "zs_transformer_residual")
def zs_transformer_residual(args: Namespace) -> None:
    """The attention residual of the middle encoder layer is removed."""
    set_defaults(args, encoder_residual_removal_layers="middle")
    zs_transformer(args)


@register_model_architecture("zs_transformer", "zs_transformer_residual_query")
def zs_transformer_residual_query(args: Namespace) -> None:
    """And the query of that layer is made from positions."""
    set_defaults(args, encoder_position_query_layers="middle")
    zs_transformer_residual(args)


@register_model_architecture("zs_transformer", "zs_transformer_relative")
def zs_transformer_relative(args: Namespace) -> None:
    """Li (2019): relative positions in both stacks, and no other; one language to another, without tags in
    the model.
    """
    set_defaults(
        args,
        encoder_layers=6,
        decoder_layers=6,
        encoder_ffn_embed_dim=1024,
        decoder_ffn_embed_dim=1024,
        dropout=0.1,
        attention_dropout=0.1,
        activation_dropout=0.1,
        word_dropout=0.0,
        decoder_language_embedding="none",
        encoder_position_encoding="none",
        decoder_position_encoding="none",
        relative_attention_distance="16",
    )
    zs_transformer(args)
