"""The target language's vector in the decoder's input (Liu et al. 2021, section 3.2)."""

from argparse import Namespace
from collections.abc import Callable

from fairseq.models.transformer import TransformerModel
from fairseq.tasks import FairseqTask

from zsnmt.errors import InputError
from zsnmt.languages import language_tag
from zsnmt.modules.language_embedding import LanguageEmbedding

DEFAULTS = {"decoder_language_embedding": "concat"}


def add_options(add: Callable) -> None:
    add(
        "--decoder-language-embedding",
        choices=["none", "add", "concat"],
        help="how the target language's vector joins the decoder's input",
    )


def fill(model: TransformerModel, args: Namespace, task: FairseqTask) -> None:
    """Give the decoder a vector for every language of the task."""
    combination = args.decoder_language_embedding
    if combination != "none":
        tags = decoder_tags(task, "--decoder-language-embedding", combination)
        model.decoder.language_embedding = LanguageEmbedding(
            tags, len(task.target_dictionary), args.decoder_embed_dim, combination=combination
        )


def decoder_tags(task: FairseqTask, option: str, value: str) -> list[int]:
    """Dictionary ids of the tags of the task's languages, for an option that needs them as the decoder's
    first token; `InputError` where that is something else.
    """
    if getattr(getattr(task, "args", None), "left_pad_target", False):
        raise InputError(
            f"{option} {value} reads the language from the decoder's first token, where --left-pad-target "
            "puts padding: leave that out, or set it to none"
        )
    dictionary = task.target_dictionary
    languages = getattr(task, "langs", None) or []
    placement = getattr(task, "placement", None)
    if placement is not None and not placement.starts_decoder:
        raise InputError(
            f"{option} {value} reads the language from the decoder's first token, and --language-tags "
            f"{placement.name} puts no tag there: set it to none, or use {' or '.join(placement.IN_DECODER)}"
        )
    tags = [dictionary.index(language_tag(language)) for language in languages]
    if not tags or dictionary.unk() in tags:
        raise InputError(
            f"{option} {value} needs a language tag in the dictionary for every language of the task "
            f"({', '.join(languages) or 'this task has none'}): use --task zs_translation, or set it to none"
        )
    return tags
