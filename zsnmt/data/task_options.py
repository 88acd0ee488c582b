"""Options of fairseq's multilingual task that `zs_translation` refuses, since they would have no effect."""

from argparse import Namespace
from collections.abc import Mapping

from fairseq import utils

from zsnmt.errors import InputError
from zsnmt.seams.options import spelt

STOCK_OPTIONS = (
    "encoder_langtok decoder_langtok lang_tok_replacing_bos_eos langs lang_dict source_dict target_dict "
    "fixed_dictionary langtoks langtoks_specs lang_tok_style enable_lang_ids load_alignments "
    "enable_reservsed_directions_shared_datasets keep_inference_langtok"
).split()
# Options of fairseq's other searches, and what this one lacks for them.
OTHER_SEARCHES = {
    "constraints": "constrained decoding",
    "retain_iter_history": "iterations, each of which writes a whole translation",
    "print_step": "iterations, each of which writes a whole translation",
}
NO_LANGTOKS = {"main": (None, None)}  # to fairseq: no tags by its own options
CHANGED_OPTIONS = ["lang_pairs"]  # options of the stock task that take other words here


def refuse_stock_options(args: Namespace, harmless: Mapping[str, object]) -> None:
    """`InputError` for options of the stock task that would have no effect, unless they are as in
    `harmless`.
    """
    if refused := [
        spelt(name) for name in STOCK_OPTIONS if getattr(args, name) not in (None, False, harmless[name])
    ]:
        raise InputError(
            f"leave out {', '.join(refused)}: zs_translation places tags by --language-tags and reads "
            "languages and dictionary from the data folder"
        )


def refuse_other_searches(args: Namespace) -> None:
    """`InputError` for options of another search, with some of which fairseq fails after the first batch."""
    for name, lacking in OTHER_SEARCHES.items():
        if (value := getattr(args, name, None)) is not None and value is not False:
            raise InputError(f"zs_translation has no {lacking}; leave out {spelt(name)}")


def refuse_parts_of_shards(args: Namespace) -> None:
    """`InputError` for epochs that end before the folder of data that each reads, one of several."""
    if len(utils.split_paths(args.data)) > 1 and args.virtual_epoch_size is not None:
        raise InputError(
            "leave out --virtual-epoch-size beside several folders of data: each epoch reads one of "
            "them, and fairseq would leave out a part of each"
        )
