"""Decoder layers with a feed-forward block for each target language (Qu and Watanabe 2022)."""

from argparse import Namespace
from collections.abc import Callable

from fairseq.models.transformer import TransformerModel
from fairseq.modules.fairseq_dropout import FairseqDropout
from fairseq.tasks import FairseqTask

from zsnmt.modules.language_feed_forward import LanguageFeedForward
from zsnmt.seams.language_embedding import decoder_tags
from zsnmt.seams.layers import chosen_layers
from zsnmt.seams.options import refuse_without, value_of

OPTION = "--decoder-language-feed-forward-layers"
WIDTH = 1024
DEFAULTS = {"decoder_language_feed_forward_layers": "none", "decoder_language_feed_forward_dim": WIDTH}


def add_options(add: Callable) -> None:
    add(
        OPTION,
        metavar="LAYERS",
        help="decoder layers that have, besides their own feed-forward block, one for each target "
        "language but the pivot: none, middle, top2, or numbers",
    )
    add("--decoder-language-feed-forward-dim", type=int, metavar="D", help="width of these blocks")


def fill(model: TransformerModel, args: Namespace, task: FairseqTask) -> None:
    """Give each chosen layer blocks for the languages of the task, the pivot left out."""
    layers = model.decoder.layers
    chosen = chosen_layers(args.decoder_language_feed_forward_layers, len(layers), OPTION)
    if not chosen:
        refuse_without(OPTION, args, decoder_language_feed_forward_dim=WIDTH)
        return
    tags = decoder_tags(task, OPTION, args.decoder_language_feed_forward_layers)[1:]
    width = args.decoder_language_feed_forward_dim
    for number in chosen:
        dropout = FairseqDropout(args.dropout, module_name=LanguageFeedForward.__name__)
        with value_of("--decoder-language-feed-forward-dim"):
            blocks = LanguageFeedForward(tags, args.decoder_embed_dim, width, dropout=dropout)
        layers[number - 1].language_feed_forward = blocks
