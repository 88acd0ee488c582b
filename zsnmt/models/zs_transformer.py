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

from zsnmt.errors import InputError
from zsnmt.modules.decoder import Decoder
from zsnmt.modules.encoder import Encoder
from zsnmt.modules.position_names import ENCODINGS, IN_INPUT
from zsnmt.modules.word_dropout import WordDropoutEmbedding
from zsnmt.seams.layers import fill_encoder_seams, share_dropout_over_time
from zsnmt.seams.options import set_defaults
from zsnmt.seams.positions import fill_position_seams
from zsnmt.seams.speed import train_fast
from zsnmt.seams.vocabulary import build_language_embedding, fill_vocabulary_seams


@register_model("zs_transformer")
class ZeroShotTransformer(TransformerModel):
    """fairseq's transformer with the seams of Liu et al. filled as the options say."""

    @classmethod
    def add_args(cls, parser: ArgumentParser) -> None:
        """Add fairseq's transformer options and those of the variants. An architecture sets the defaults."""
        super().add_args(parser)
        add = parser.add_argument
        add(
            "--encoder-residual-removal-layers",
            metavar="LAYERS",
            help="encoder layers, counted from 1, whose self-attention loses its residual connection: "
            "none, middle (3 of 5, 5 of 8), or numbers like 3 or 2,3",
        )
        add(
            "--encoder-residual-replacement",
            choices=["nothing", "mean_pool", "stochastic"],
            help="what stands in for a removed residual: nothing; the sentence's mean; the residual at "
            "random",
        )
        add(
            "--encoder-position-query-layers",
            metavar="LAYERS",
            help="encoder layers whose self-attention takes its query from positions: none, middle, or "
            "numbers",
        )
        add(
            "--position-query-base",
            type=float,
            metavar="BASE",
            help="constant that replaces 10000 in the sinusoids of the position query",
        )
        add(
            "--variational-dropout",
            action="store_true",
            help="share the dropout masks over time (attention probabilities keep the ordinary dropout)",
        )
        add(
            "--word-dropout",
            type=float,
            metavar="P",
            help="probability that a word type's embedding is zeroed",
        )
        add(
            "--decoder-language-embedding",
            choices=["none", "add", "concat"],
            help="how the target language's vector joins the decoder's input",
        )
        add(
            "--encoder-position-encoding",
            choices=ENCODINGS,
            help="what tells the encoder the positions of its tokens: vectors in its input (sinusoidal, "
            "learned), nothing, "
            "or biases of its attention (TUPE absolute or relative; BERT's relative keys, or keys and "
            "queries)",
        )
        add(
            "--encoder-position-bias-layers",
            metavar="LAYERS",
            help="encoder layers whose attention has the bias of TUPE or of relative keys: all, middle, or "
            "numbers",
        )
        add(
            "--relative-key-query-product",
            action="store_true",
            help="let relative_key_query add the product a·a, too, as Ravishankar and Søgaard (2021) print "
            "it",
        )
        add(
            "--decoder-position-encoding",
            choices=[*IN_INPUT, "none"],
            help="what tells the decoder the positions of its tokens, besides that it sees those before "
            "alone",
        )
        add(
            "--relative-attention-distance",
            metavar="K",
            help="give the self-attention of both stacks relative keys and values, for offsets clipped to "
            "-K...K "
            "(Shaw et al. 2018): a whole number, or none",
        )
        add("--normalization", choices=["pre", "post"], help="layer normalisation before or after each block")
        add(
            "--frozen-vocabulary",
            metavar="SIZES",
            help="train only the language added last: none, or the sizes that the dictionary had before "
            "each language "
            "was added this way, like 4008 or 4008,5200; older languages write what they could and no bit "
            "of them changes",
        )
        add(
            "--adapter-dim",
            type=int,
            metavar="D",
            help="width of the adapters that each language so added has after the decoder's layers; 0 for "
            "none",
        )
        add(
            "--fast-training",
            action="store_true",
            help="train faster on a CPU: the same model to rounding, but other random numbers for dropout, "
            "whose probabilities "
            "become multiples of 1/65536",
        )

    @classmethod
    def build_model(cls, args: Namespace, task: FairseqTask) -> "ZeroShotTransformer":
        """Build fairseq's model, whose initial weights do not depend on the seams, then fill the seams.

        Raises `InputError` for layers that do not exist, for a task without language tags where the
        decoder reads its language, and for sizes or options that do not go with a frozen vocabulary.
        """
        zs_transformer(args)
        refuse_stock_spelling(args)
        args.encoder_normalize_before = args.decoder_normalize_before = args.normalization == "pre"
        args.encoder_learned_pos = args.encoder_position_encoding == "learned"
        args.decoder_learned_pos = args.decoder_position_encoding == "learned"
        model = super().build_model(args, task)
        fill_encoder_seams(model.encoder, args)
        if args.decoder_language_embedding != "none":
            model.decoder.language_embedding = build_language_embedding(args, task)
        fill_position_seams(
            model, args
        )  # after all that it has in common with models of other positions was drawn
        if args.variational_dropout:
            share_dropout_over_time(model.encoder)
            share_dropout_over_time(model.decoder)
        if args.frozen_vocabulary != "none":
            fill_vocabulary_seams(model, args, task)
        elif args.adapter_dim:
            raise InputError(
                f"--adapter-dim {args.adapter_dim} is for languages added by --frozen-vocabulary; leave it "
                "out"
            )
        if args.fast_training:
            train_fast(model, args)
        return model

    @classmethod
    def build_embedding(
        cls, args: Namespace, dictionary: Dictionary, embed_dim: int, path: str | None = None
    ) -> nn.Embedding:
        return WordDropoutEmbedding(
            super().build_embedding(args, dictionary, embed_dim, path), args.word_dropout
        )

    @classmethod
    def build_encoder(cls, args: Namespace, src_dict: Dictionary, embed_tokens: nn.Embedding) -> Encoder:
        return Encoder(args, src_dict, embed_tokens)

    @classmethod
    def build_decoder(cls, args: Namespace, tgt_dict: Dictionary, embed_tokens: nn.Embedding) -> Decoder:
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
    if args.normalization != "pre" and (args.encoder_normalize_before or args.decoder_normalize_before):
        raise InputError(
            "--encoder-normalize-before contradicts --normalization post; give --normalization alone"
        )


@register_model_architecture("zs_transformer", "zs_transformer")
def zs_transformer(args: Namespace) -> None:
    """The baseline of Liu et al. (2021), section 3.2."""
    set_defaults(
        args,
        encoder_layers=5,
        decoder_layers=5,
        encoder_embed_dim=512,
        encoder_ffn_embed_dim=2048,
        encoder_attention_heads=8,
        decoder_attention_heads=8,
        dropout=0.2,
        attention_dropout=0.2,
        activation_dropout=0.2,
        share_all_embeddings=True,
        normalization="pre",
        encoder_residual_removal_layers="none",
        encoder_residual_replacement="nothing",
        encoder_position_query_layers="none",
        position_query_base=100.0,
        variational_dropout=False,
        word_dropout=0.1,
        decoder_language_embedding="concat",
        encoder_position_encoding="sinusoidal",
        encoder_position_bias_layers="all",
        relative_key_query_product=False,
        decoder_position_encoding="learned" if getattr(args, "decoder_learned_pos", False) else "sinusoidal",
        relative_attention_distance="none",
        frozen_vocabulary="none",
        adapter_dim=0,
        fast_training=False,
    )
    base_architecture(args)


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
