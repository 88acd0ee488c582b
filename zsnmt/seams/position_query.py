"""Encoder layers whose self-attention takes its query from positions (Liu et al. 2021, section 2.2)."""

from argparse import Namespace
from collections.abc import Callable

from fairseq.models.transformer import TransformerModel
from fairseq.tasks import FairseqTask

from zsnmt.modules.position_query import PositionQuery
from zsnmt.seams.layers import chosen_layers
from zsnmt.seams.options import refuse_without, value_of

OPTION, BASE = "--encoder-position-query-layers", 100.0
DEFAULTS = {"encoder_position_query_layers": "none", "position_query_base": BASE}


def add_options(add: Callable) -> None:
    add(
        OPTION,
        metavar="LAYERS",
        help="encoder layers whose self-attention takes its query from positions: none, middle, or numbers",
    )
    add(
        "--position-query-base",
        type=float,
        metavar="BASE",
        help="constant that replaces 10000 in the sinusoids of the position query",
    )


def fill(model: TransformerModel, args: Namespace, task: FairseqTask) -> None:
    """Give each chosen layer the sinusoids of its tokens' positions as query."""
    layers = model.encoder.layers
    chosen = chosen_layers(args.encoder_position_query_layers, len(layers), OPTION)
    if not chosen:
        refuse_without(OPTION, args, position_query_base=BASE)
    for number in chosen:
        with value_of("--position-query-base"):
            query = PositionQuery(args.encoder_embed_dim, args.position_query_base)
        layers[number - 1].use_position_query(query)
