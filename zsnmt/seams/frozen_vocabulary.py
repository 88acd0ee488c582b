"""Languages added to a model whose older languages do not change: frozen vocabulary, language adapters."""

from argparse import Namespace
from collections.abc import Callable, Sequence

from fairseq.models.transformer import TransformerModel
from fairseq.tasks import FairseqTask
from torch import nn

from zsnmt.errors import InputError
from zsnmt.modules.frozen_weights import FrozenWeights, freeze_rows
from zsnmt.modules.growing_vocabulary import GrowingVocabulary
from zsnmt.modules.language_adapter import LanguageAdapters
from zsnmt.modules.language_feed_forward import LanguageFeedForward
from zsnmt.seams.language_embedding import decoder_tags
from zsnmt.seams.options import refuse_without, spelt, value_of

DEFAULTS = {"frozen_vocabulary": "none", "adapter_dim": 0}


def add_options(add: Callable) -> None:
    add(
        "--frozen-vocabulary",
        metavar="SIZES",
        help="train only the language added last: none, or the sizes that the dictionary had before "
        "each language was added this way, like 4008 or 4008,5200; the output of older "
        "languages stays the same to the bit",
    )
    add(
        "--adapter-dim",
        type=int,
        metavar="D",
        help="width of the adapters that each such language has after the decoder's layers; 0 for none",
    )


def fill(model: TransformerModel, args: Namespace, task: FairseqTask) -> None:
    """Let each language write what the dictionary held when it was complete, and train only what came
    last.
    """
    if args.frozen_vocabulary != "none":
        freeze_older_languages(model, args, task)
    else:
        refuse_without("--frozen-vocabulary", args, adapter_dim=0)


def freeze_older_languages(model: TransformerModel, args: Namespace, task: FairseqTask) -> None:
    refuse_what_frozen_weights_forbid(args)
    decoder, tags = model.decoder, decoder_tags(task, "--frozen-vocabulary", args.frozen_vocabulary)
    sizes = vocabulary_sizes(args.frozen_vocabulary, tags, len(task.target_dictionary))
    first, last = sizes[0], sizes[-2]
    decoder.vocabulary = GrowingVocabulary(sizes)
    if args.adapter_dim:
        added, layers = [tag for tag in tags if tag >= first], range(len(decoder.layers))
        with value_of("--adapter-dim"):
            decoder.adapters = nn.ModuleList(
                LanguageAdapters(added, args.decoder_embed_dim, args.adapter_dim) for _ in layers
            )
    tables = {
        model.encoder.embed_tokens.weight,
        decoder.embed_tokens.weight,
        decoder.output_projection.weight,
    }
    for table in tables:
        freeze_rows(table, last)
    if decoder.language_embedding is not None:
        freeze_rows(decoder.language_embedding.table.weight, sum(tag < last for tag in tags))
        tables.add(decoder.language_embedding.table.weight)
    new_parts = [adapter for adapters in decoder.adapters or [] for adapter in adapters.since(last)]
    for blocks in decoder.modules():
        if isinstance(blocks, LanguageFeedForward):
            freeze_rows(blocks.weights, sum(tag < last for tag in blocks.tags))
            tables.add(blocks.weights)
            new_parts += blocks.since(last)
    trained = tables.union(*(part.parameters() for part in new_parts))
    model.frozen = FrozenWeights(weight for weight in model.parameters() if weight not in trained)


def refuse_what_frozen_weights_forbid(args: Namespace) -> None:
    """`InputError` for an option under which old languages would not stay as they are."""
    reasons = {
        "weight_decay": "it changes the old rows, too",
        "fp16": "it rounds the old weights; --amp does not",
        "bf16": "it rounds the old weights; --amp does not",
        "adaptive_softmax_cutoff": "its output is not a table whose rows could be added to",
    }
    if args.adapter_dim:
        reasons["decoder_layerdrop"] = "each adapter follows a layer of its own"
    for name, reason in reasons.items():
        if getattr(args, name, None):
            raise InputError(
                f"{spelt(name)} does not go with --frozen-vocabulary, since {reason}; leave it out"
            )


def vocabulary_sizes(text: str, tags: Sequence[int], size: int) -> list[int]:
    """The sizes that an option names, and the present one; `InputError` unless each adds a language, with
    its tag.
    """
    named = text.split(",")
    if not all(number.isdecimal() for number in named):
        raise InputError(
            f"--frozen-vocabulary is '{text}': write none, or sizes of the dictionary with commas between"
        )
    sizes = [*map(int, named), size]
    if sizes != sorted(set(sizes)):
        raise InputError(
            f"--frozen-vocabulary {text} must ascend, below the dictionary's present size, {size}"
        )
    for start, end in zip([0, *sizes], sizes):
        if not any(start <= tag < end for tag in tags):
            raise InputError(
                f"--frozen-vocabulary {text}: there is no language tag among the symbols {start} to "
                f"{end - 1} of the dictionary; name the sizes it had before each language was added"
            )
    if list(tags) != sorted(tags):
        raise InputError(
            "--frozen-vocabulary needs the languages in the order of their tags in the dictionary"
        )
    return sizes
