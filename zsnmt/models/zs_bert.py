"""`zs_bert`: the masked language model of Ravishankar and Søgaard (2021), with one option for what encodes
positions.
"""

import math
from argparse import ArgumentParser, Namespace

from fairseq.models import register_model, register_model_architecture
from fairseq.models.roberta import RobertaModel
from fairseq.models.roberta.model import base_architecture
from fairseq.modules.transformer_sentence_encoder import init_bert_params
from fairseq.tasks import FairseqTask

from zsnmt.compatibility.options import train_in_bfloat16_without_a_tpu
from zsnmt.errors import InputError
from zsnmt.modules.bert_encoder import BertEncoder
from zsnmt.modules.position_names import ENCODINGS, RELATIVE_KEYS
from zsnmt.modules.position_terms import ALL, DROPPED_TERMS, SEPARATE, PositionTerms
from zsnmt.seams.options import (
    refuse_impossible_sizes,
    refuse_other_than_probabilities,
    refuse_sharded_layers,
    refuse_without,
    set_defaults,
    value_of,
)
from zsnmt.seams.positions import PositionEncoding, encode_positions


@register_model("zs_bert")
class ZeroShotBert(RobertaModel):
    """fairseq's RoBERTa, post-norm as BERT, with the seams of position encodings filled as the options
    say.
    """

    # Options that make another model of the same weights: a training goes on with those that it began with.
    SHAPING = (
        *("position_encoding", "position_terms", "relative_key_query_product", "relative_key_distance"),
        *("encoder_attention_heads", "activation_fn"),
    )

    @staticmethod
    def add_args(parser: ArgumentParser) -> None:
        """Add fairseq's options of RoBERTa and those of positions. An architecture sets the defaults."""
        RobertaModel.add_args(parser)
        add = parser.add_argument
        add(
            "--position-encoding",
            choices=ENCODINGS,
            help="what tells the model the positions of its tokens: vectors in its input (sinusoidal, "
            "learned), nothing, or biases of its attention (TUPE absolute or relative, with <s> apart from "
            "places; relative keys, or keys and queries)",
        )
        add(
            "--relative-key-query-product",
            action="store_true",
            help="let relative_key_query add the product a·a, too, as Ravishankar and Søgaard (2021) print "
            "it",
        )
        add(
            "--relative-key-distance",
            type=int,
            metavar="K",
            help="clip the offsets of relative keys to -K...K, as Shaw et al. (2018) do (default: every "
            "offset below --max-positions has a vector)",
        )
        add(
            "--position-terms",
            choices=[ALL, *DROPPED_TERMS, SEPARATE],
            help="which terms of positions in the input the first layer's logits have: all; all but one "
            "(position_word is the word's query and the position's key, word_position the other way"
            " round); or all, with separate parameters for positions",
        )

    @classmethod
    def build_model(cls, args: Namespace, task: FairseqTask) -> "ZeroShotBert":
        """Build the model, whose initial weights do not depend on the seams, then fill the seams.

        Raises `InputError` for options that do not go together.
        """
        zs_bert(args)
        refuse_sharded_layers(args)
        refuse_impossible_sizes(args, "encoder")
        refuse_other_than_probabilities(
            args, "dropout", "attention_dropout", "activation_dropout", "pooler_dropout"
        )
        encoding, terms = args.position_encoding, args.position_terms
        args.encoder_learned_pos = encoding == "learned"
        if encoding != "learned":
            refuse_without("--position-encoding learned", args, position_terms=ALL)
        if encoding != "relative_key_query":
            refuse_without("--position-encoding relative_key_query", args, relative_key_query_product=False)
        if encoding not in RELATIVE_KEYS:
            refuse_without(
                f"--position-encoding {' or '.join(RELATIVE_KEYS)}", args, relative_key_distance=None
            )
        if terms != ALL and args.encoder_normalize_before:
            raise InputError(
                f"--position-terms {terms} does not go with --encoder-normalize-before; leave one of them out"
            )
        model = cls(args, BertEncoder(args, task.source_dictionary))
        encoder = model.encoder.sentence_encoder
        if encoding == "sinusoidal":  # for words not to drown in it; section 3 of the paper
            encoder.embed_scale = 2 * math.sqrt(args.encoder_embed_dim)
        positions = PositionEncoding(
            encoding,
            args.max_positions,
            layers=range(1, args.encoder_layers + 1),
            first_apart=True,
            product=args.relative_key_query_product,
            distance=args.relative_key_distance,
        )
        with value_of("--relative-key-distance"):
            encode_positions(encoder, positions)
        if terms != ALL:
            encoder.position_terms = PositionTerms(terms, args.encoder_embed_dim)
            for layer in [*encoder.layers.children()][1:]:
                layer.has_position_bias = False
        for seam in (encoder.position_bias, encoder.position_terms):
            if seam is not None:
                seam.apply(init_bert_params)
        return model


@register_model_architecture("zs_bert", "zs_bert")
def zs_bert(args: Namespace) -> None:
    """The underparameterised BERT of Dufter and Schütze (2020), as the study trains it."""
    set_defaults(
        args,
        encoder_layers=12,
        encoder_embed_dim=64,
        encoder_ffn_embed_dim=256,
        encoder_attention_heads=1,
        dropout=0.1,
        attention_dropout=0.1,
        activation_dropout=0.0,
        pooler_dropout=0.1,
        max_positions=512,
        position_encoding="learned",
        position_terms=ALL,
        relative_key_query_product=False,
        relative_key_distance=None,
    )
    base_architecture(args)
    train_in_bfloat16_without_a_tpu(args)


@register_model_architecture("zs_bert", "zs_bert_base")
def zs_bert_base(args: Namespace) -> None:
    """BERT's base size, of the study's experiment with real languages."""
    set_defaults(args, encoder_embed_dim=768, encoder_ffn_embed_dim=3072, encoder_attention_heads=12)
    zs_bert(args)
