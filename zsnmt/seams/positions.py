"""What tells the tokens' positions: vectors in the input of a stack, or biases of its self-attention."""

from argparse import Namespace
from collections.abc import Callable, Sequence
from typing import NamedTuple

from fairseq.models.transformer import TransformerModel
from fairseq.tasks import FairseqTask

from zsnmt.errors import InputError
from zsnmt.modules.encoder import Encoder
from zsnmt.modules.position_names import ENCODINGS, INPUT_ENCODINGS, RELATIVE_KEYS, TUPE
from zsnmt.modules.positions import TupePositions, use_relative_keys, use_tupe
from zsnmt.seams.layers import chosen_layers
from zsnmt.seams.options import refuse_without

ALL, BIAS_LAYERS = "all", "--encoder-position-bias-layers"
BIASES = (*TUPE, *RELATIVE_KEYS)  # encodings that are in the attention
DEFAULTS = {
    "encoder_position_encoding": "sinusoidal",
    "encoder_position_bias_layers": ALL,
    "relative_key_query_product": False,
    "decoder_position_encoding": "sinusoidal",
}


def add_options(add: Callable) -> None:
    add(
        "--encoder-position-encoding",
        choices=ENCODINGS,
        help="what tells the encoder the positions of its tokens: vectors in its input (sinusoidal, "
        "learned), nothing, or biases of its attention (TUPE absolute or relative; BERT's relative keys, or "
        "keys and queries)",
    )
    add(
        BIAS_LAYERS,
        metavar="LAYERS",
        help="encoder layers whose attention has the bias of TUPE or of relative keys: all, middle, or "
        "numbers",
    )
    add(
        "--relative-key-query-product",
        action="store_true",
        help="let relative_key_query add the product a·a, too, as Ravishankar and Søgaard (2021) print it",
    )
    add(
        "--decoder-position-encoding",
        choices=[*INPUT_ENCODINGS, "none"],
        help="what tells the decoder the positions of its tokens, in addition to the causal mask",
    )


class PositionEncoding(NamedTuple):
    """What tells an encoder positions: `name`, of `ENCODINGS`, for at most so many tokens.

    `layers`: those, counted from 1, whose attention has the bias of TUPE or of relative keys. `first_apart`:
    for TUPE, the first token stands for the sentence. Of relative keys: `product`, whether keys and queries
    have the product of both, too; `distance`, how far apart two tokens' offset still has a vector of its own.
    """

    name: str
    max_positions: int
    layers: Sequence[int]
    first_apart: bool = False
    product: bool = False
    distance: int | None = None


def fill(model: TransformerModel, args: Namespace, task: FairseqTask) -> None:
    """Encode positions as the options say; `zs_transformer` has chosen sinusoids or a table already."""
    name = args.encoder_position_encoding
    if name != "relative_key_query":
        needed = "--encoder-position-encoding relative_key_query"
        refuse_without(needed, args, relative_key_query_product=False)
    if name not in BIASES:
        needed = f"--encoder-position-encoding {' or '.join(BIASES)}"
        refuse_without(needed, args, encoder_position_bias_layers=ALL)
    layers = biased_layers(args.encoder_position_bias_layers, len([*model.encoder.layers.children()]))
    encoding = PositionEncoding(
        name, args.max_source_positions, layers, product=args.relative_key_query_product
    )
    encode_positions(model.encoder, encoding)
    if args.decoder_position_encoding == "none":
        model.decoder.embed_positions = None


def encode_positions(encoder: Encoder, encoding: PositionEncoding) -> None:
    """Take positions from an encoder's input unless they belong there, and put those of TUPE or relative keys
    in its attention. Raises `ValueError` for a distance below 0.
    """
    name, longest = encoding.name, encoding.max_positions
    if name not in INPUT_ENCODINGS:
        encoder.embed_positions = None
    layers = [*encoder.layers.children()]
    attentions = [layers[number - 1].self_attn for number in encoding.layers]
    if name in TUPE:
        encoder.position_bias = TupePositions(
            longest,
            attentions[0].embed_dim,
            attentions[0].num_heads,
            relative=name == "tupe_relative",
            first_apart=encoding.first_apart,
        )
        for number, layer in enumerate(layers, 1):
            layer.has_position_bias = number in encoding.layers
        use_tupe(attentions)
    if name in RELATIVE_KEYS:
        use_relative_keys(attentions, name, longest, product=encoding.product, distance=encoding.distance)


def biased_layers(text: str, number_of_layers: int) -> list[int]:
    """Layers, counted from 1, whose attention an encoding biases; `InputError` for none."""
    if text == ALL:
        return [*range(1, number_of_layers + 1)]
    if layers := chosen_layers(text, number_of_layers, BIAS_LAYERS):
        return layers
    raise InputError(f"{BIAS_LAYERS} none leaves no positions; use --encoder-position-encoding none")
