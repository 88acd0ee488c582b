"""Upper encoder layers that are told the target language (Sun et al. 2024, LCS)."""

from argparse import Namespace
from collections.abc import Callable

from fairseq.models.transformer import TransformerModel
from fairseq.tasks import FairseqTask

from zsnmt.errors import InputError
from zsnmt.modules.target_language import TargetLanguage
from zsnmt.seams.layers import chosen_layers
from zsnmt.seams.options import refuse_without

LAYERS_OPTION = "--encoder-target-language-layers"
NONE, UPPER = "none", "top2"
DEFAULTS = {"encoder_target_language": NONE, "encoder_target_language_layers": UPPER}


def add_options(add: Callable) -> None:
    add(
        "--encoder-target-language",
        choices=[NONE, "tag_embedding"],
        help="tell some layers of the encoder the target language, by the embedding of its tag, "
        "which must stand on the source; the other layers do not see the tag",
    )
    add(
        LAYERS_OPTION,
        metavar="LAYERS",
        help="the layers that are told: top2 (4 and 5 of 5), middle, or numbers",
    )


def fill(model: TransformerModel, args: Namespace, task: FairseqTask) -> None:
    """Let the encoder add the tag's embedding to the input of each chosen layer, and hide the tag."""
    if args.encoder_target_language == NONE:
        refuse_without("--encoder-target-language tag_embedding", args, encoder_target_language_layers=UPPER)
        return
    sides = getattr(getattr(task, "placement", None), "sides", ())
    if "target" not in sides:
        raise InputError(
            "--encoder-target-language tag_embedding reads the tag of the target on the source: give "
            "--language-tags t_enc_t_dec, of --task zs_translation"
        )
    encoder = model.encoder
    encoder.target_language = TargetLanguage(sides.index("target"), encoder.padding_idx)
    chosen = chosen_layers(args.encoder_target_language_layers, len(encoder.layers), LAYERS_OPTION)
    if not chosen:
        raise InputError(f"{LAYERS_OPTION} none tells no layer; name some, or tell none")
    for number in chosen:
        encoder.layers[number - 1].is_told = True
