"""What tells the tokens' positions: vectors in the input of a stack, or biases of its self-attention."""

from argparse import Namespace
from collections.abc import Callable, Sequence

from fairseq.models.transformer import TransformerModel
from fairseq.tasks import FairseqTask

from zsnmt.errors import InputError
from zsnmt.modules.encoder import Encoder
from zsnmt.modules.position_names import ENCODINGS, INPUT_ENCODINGS, RELATIVE_KEYS, TUPE
from zsnmt.modules.positions import TupePositions, use_relative_keys, use_tupe
from zsnmt.seams.layers import chosen_layers

DEFAULTS = {
    "encoder_position_encoding": "sinusoidal",
    "encoder_position_bias_layers": "all",
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
        "--encoder-position-bias-layers",
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


def fill(model: TransformerModel, args: Namespace, task: FairseqTask) -> None:
    """Encode positions as the options say; `zs_transformer` has chosen sinusoids or a table already."""
    encoder, encoding = model.encoder, args.encoder_position_encoding
    biased = biased_layers(args.encoder_position_bias_layers, encoding, len([*encoder.layers.children()]))
    encode_positions(
        encoder, encoding, args.max_source_positions, biased=biased, product=args.relative_key_query_product
    )
    if args.decoder_position_encoding == "none":
        model.decoder.embed_positions = None


def encode_positions(
    encoder: Encoder,
    encoding: str,
    max_positions: int,
    biased: Sequence[int],
    first_apart: bool = False,
    product: bool = False,
    distance: int | None = None,
) -> None:
    """Take positions from an encoder's input unless they belong there, and put those of TUPE or relative keys
    in its attention.

    `biased`: the layers, counted from 1, that have them; `first_apart`: for TUPE, the first token stands for
    the sentence; `product`: relative keys and queries have the product of both, too; `distance`: how far
    apart two tokens' offset still has a vector of its own in the tables of relative keys. Raises `InputError`
    for a product or a distance of other encodings, and for a distance below 0.
    """
    if product and encoding != "relative_key_query":
        raise InputError(
            f"--relative-key-query-product has no effect on the position encoding {encoding}; leave it out"
        )
    if distance is not None and encoding not in RELATIVE_KEYS:
        raise InputError(
            f"--relative-key-distance has no effect on the position encoding {encoding}; leave it out"
        )
    if distance is not None and distance < 0:
        raise InputError(f"--relative-key-distance is {distance}; give a whole number, 0 or more")
    if encoding not in INPUT_ENCODINGS:
        encoder.embed_positions = None
    layers = [*encoder.layers.children()]
    attentions = [layers[number - 1].self_attn for number in biased]
    if encoding in TUPE:
        sizes = max_positions, attentions[0].embed_dim, attentions[0].num_heads
        encoder.position_bias = TupePositions(
            *sizes, relative=encoding == "tupe_relative", first_apart=first_apart
        )
        for number, layer in enumerate(layers, 1):
            layer.has_position_bias = number in biased
        use_tupe(attentions)
    if encoding in RELATIVE_KEYS:
        use_relative_keys(attentions, encoding, max_positions, product=product, distance=distance)


def biased_layers(text: str, encoding: str, number_of_layers: int) -> list[int]:
    """Layers, counted from 1, whose attention an encoding biases; `InputError` for some of an encoding
    that has no bias.
    """
    if text == "all":
        return [*range(1, number_of_layers + 1)]
    if encoding not in (*TUPE, *RELATIVE_KEYS):
        raise InputError(
            f"--encoder-position-bias-layers {text} has no effect on --encoder-position-encoding "
            f"{encoding}; leave it out"
        )
    if layers := chosen_layers(text, number_of_layers):
        return layers
    raise InputError(
        "--encoder-position-bias-layers none leaves no positions; use --encoder-position-encoding none"
    )
