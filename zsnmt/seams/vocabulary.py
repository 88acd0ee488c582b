"""Fills the seams of a model as its options say.

A seam is a place where fairseq's layer or stack takes another module, or one more. All of them are neutral until they are
filled, so that a model's initial weights do not depend on them.
"""

from argparse import Namespace
from typing import Optional, Sequence

from fairseq.models.transformer import TransformerModel
from fairseq.modules.fairseq_dropout import FairseqDropout
from fairseq.tasks import FairseqTask
from torch import nn

from zsnmt.errors import InputError
from zsnmt.languages import language_tag
from zsnmt.modules.attention_residual import MeanPoolResidual, RemoveResidual, StochasticResidual
from zsnmt.modules.cheap_dropout import CheapDropout
from zsnmt.modules.encoder import Encoder
from zsnmt.modules.frozen_weights import FrozenWeights, freeze_rows
from zsnmt.modules.growing_vocabulary import GrowingVocabulary
from zsnmt.modules.language_adapter import LanguageAdapters
from zsnmt.modules.language_embedding import LanguageEmbedding
from zsnmt.modules.onednn_linear import OneDnnLinear
from zsnmt.modules.position_query import PositionQuery
from zsnmt.modules.positions import ENCODINGS, IN_INPUT, RELATIVE_KEYS, TUPE, TupePositions, use_relative_keys, use_tupe
from zsnmt.modules.relative_attention import use_relative_attention
from zsnmt.modules.self_attention import SelfAttention
from zsnmt.modules.variational_dropout import VariationalDropout


def set_defaults(args: Namespace, **defaults) -> None:
    """Set the options that were not given."""
    for name, value in defaults.items():
        setattr(args, name, getattr(args, name, value))


def chosen_layers(text: str, number_of_layers: int) -> list[int]:
    """Layers, counted from 1, that an option names: none, middle (L//2 + 1), or numbers like 2,3."""
    if text == "none":
        return []
    if text == "middle":
        return [number_of_layers // 2 + 1]
    layers = text.split(",")
    if not all(layer.isdecimal() and 1 <= int(layer) <= number_of_layers for layer in layers):
        raise InputError(
            f"'{text}' names no layers of {number_of_layers}: write none, middle, or numbers from 1 to "
            f"{number_of_layers} with commas between"
        )
    return sorted({int(layer) for layer in layers})


def fill_encoder_seams(encoder: Encoder, args: Namespace) -> None:
    """Set the attention residual and the position query of the chosen layers."""
    number_of_layers = len(encoder.layers)
    for number in chosen_layers(args.encoder_residual_removal_layers, number_of_layers):
        encoder.layers[number - 1].attention_residual = {
            "nothing": RemoveResidual,
            "mean_pool": MeanPoolResidual,
            "stochastic": lambda: StochasticResidual(0.5 * number / number_of_layers),
        }[args.encoder_residual_replacement]()
    for number in chosen_layers(args.encoder_position_query_layers, number_of_layers):
        encoder.layers[number - 1].use_position_query(
            PositionQuery(args.encoder_embed_dim, args.position_query_base)
        )


def fill_position_seams(model: TransformerModel, args: Namespace) -> None:
    """Encode positions in the input of each stack, or in its self-attention, as the options say."""
    encoder, encoding = model.encoder, args.encoder_position_encoding
    biased = biased_layers(args.encoder_position_bias_layers, encoding, len([*encoder.layers.children()]))
    encode_positions(encoder, encoding, args.max_source_positions, biased, product=args.relative_key_query_product)
    if args.decoder_position_encoding == "none":
        model.decoder.embed_positions = None
    distance = clip_distance(str(args.relative_attention_distance))
    if distance is not None:
        if args.cross_self_attention:
            raise InputError("--relative-attention-distance does not go with --cross-self-attention; leave one of them out")
        layers = *encoder.layers.children(), *model.decoder.layers.children()
        use_relative_attention([layer.self_attn for layer in layers], distance)


def encode_positions(
    encoder: Encoder, encoding: str, max_positions: int, biased: Sequence[int], first_apart: bool = False, product: bool = False
) -> None:
    """Take positions from an encoder's input unless they belong there, and put those of TUPE or relative keys in its attention.

    `biased`: the layers, counted from 1, that have them; `first_apart`: for TUPE, the first token stands for the sentence;
    `product`: relative keys and queries have the product of both, too. Raises `InputError` for a product of other encodings.
    """
    if product and encoding != "relative_key_query":
        raise InputError(f"--relative-key-query-product has no effect on the position encoding {encoding}; leave it out")
    if encoding not in IN_INPUT:
        encoder.embed_positions = None
    layers = [*encoder.layers.children()]
    attentions = [layers[number - 1].self_attn for number in biased]
    if encoding in TUPE:
        sizes = max_positions, attentions[0].embed_dim, attentions[0].num_heads
        encoder.position_bias = TupePositions(*sizes, relative=encoding == "tupe_relative", first_apart=first_apart)
        for number, layer in enumerate(layers, 1):
            layer.has_position_bias = number in biased
        use_tupe(attentions)
    if encoding in RELATIVE_KEYS:
        use_relative_keys(attentions, encoding, max_positions, product)


def biased_layers(text: str, encoding: str, number_of_layers: int) -> list[int]:
    """Layers, counted from 1, whose attention an encoding biases; `InputError` for some of an encoding that has no bias."""
    if text == "all":
        return [*range(1, number_of_layers + 1)]
    if encoding not in (*TUPE, *RELATIVE_KEYS):
        raise InputError(f"--encoder-position-bias-layers {text} has no effect on --encoder-position-encoding {encoding}; leave it out")
    if layers := chosen_layers(text, number_of_layers):
        return layers
    raise InputError("--encoder-position-bias-layers none leaves no positions; use --encoder-position-encoding none")


def clip_distance(text: str) -> Optional[int]:
    """The distance that an option names; None for none."""
    if text == "none":
        return None
    if not text.isdecimal():
        raise InputError(f"--relative-attention-distance is '{text}': write a whole number, 0 or more, or none")
    return int(text)


def share_dropout_over_time(stack: nn.Module) -> None:
    """Swap the dropout of embeddings and blocks, not of attention probabilities, for the variational one."""
    stack.dropout_module = VariationalDropout(stack.dropout_module.p, time_axis=1)
    for layer in stack.layers.children():  # iterating would skip layers at random under layer drop
        layer.dropout_module = VariationalDropout(layer.dropout_module.p, time_axis=0)
        layer.activation_dropout_module = VariationalDropout(layer.activation_dropout_module.p, time_axis=0)


def train_fast(model: nn.Module, args: Namespace) -> None:
    """Let a model train, on a CPU, by cheap masks of dropout, products of oneDNN, and attention without fairseq's detours."""
    if args.quant_noise_pq:
        raise InputError("--quant-noise-pq does not go with --fast-training, which takes linear layers' place; leave one of them out")
    for module in [*model.modules()]:
        if isinstance(module, SelfAttention):
            module.fast_training = True
        for name, child in module.named_children():
            if isinstance(child, FairseqDropout):
                setattr(module, name, CheapDropout(child.p, child.module_name))
            elif type(child) is nn.Linear:
                setattr(module, name, OneDnnLinear(child))


def build_language_embedding(args: Namespace, task: FairseqTask) -> LanguageEmbedding:
    """A vector for every language of the task."""
    tags = decoder_tags(task, "--decoder-language-embedding", args.decoder_language_embedding)
    return LanguageEmbedding(tags, len(task.target_dictionary), args.decoder_embed_dim, args.decoder_language_embedding)


def decoder_tags(task: FairseqTask, option: str, value: str) -> list[int]:
    """Dictionary ids of the tags of the task's languages, for an option that needs them as the decoder's first token."""
    dictionary = task.target_dictionary
    languages = getattr(task, "langs", None) or []
    placement = getattr(task, "placement", None)
    if placement is not None and not placement.starts_decoder:
        raise InputError(
            f"{option} {value} reads the language from the decoder's first token, and --language-tags {placement.name} "
            "puts no tag there: set it to none, or use t_dec or s_enc_t_dec"
        )
    tags = [dictionary.index(language_tag(language)) for language in languages]
    if not tags or dictionary.unk() in tags:
        raise InputError(
            f"{option} {value} needs a language tag in the dictionary for every language of the task "
            f"({', '.join(languages) or 'this task has none'}): use --task zs_translation, or set it to none"
        )
    return tags


def fill_vocabulary_seams(model: TransformerModel, args: Namespace, task: FairseqTask) -> None:
    """Let each language write what the dictionary held when it was complete, and train only what came last."""
    refuse_what_frozen_weights_forbid(args)
    decoder, tags = model.decoder, decoder_tags(task, "--frozen-vocabulary", args.frozen_vocabulary)
    sizes = vocabulary_sizes(args.frozen_vocabulary, tags, len(task.target_dictionary))
    first, last = sizes[0], sizes[-2]
    decoder.vocabulary = GrowingVocabulary(sizes)
    if args.adapter_dim:
        added, layers = [tag for tag in tags if tag >= first], range(len(decoder.layers))
        decoder.adapters = nn.ModuleList(LanguageAdapters(added, args.decoder_embed_dim, args.adapter_dim) for _ in layers)
    tables = {model.encoder.embed_tokens.weight, decoder.embed_tokens.weight, decoder.output_projection.weight}
    for table in tables:
        freeze_rows(table, last)
    if decoder.language_embedding is not None:
        freeze_rows(decoder.language_embedding.table.weight, sum(tag < last for tag in tags))
        tables.add(decoder.language_embedding.table.weight)
    new_adapters = [adapter for adapters in decoder.adapters or [] for adapter in adapters.since(last)]
    trained = tables.union(*(adapter.parameters() for adapter in new_adapters))
    model.frozen = FrozenWeights(weight for weight in model.parameters() if weight not in trained)


def refuse_what_frozen_weights_forbid(args: Namespace) -> None:
    """`InputError` for an option under which old languages would not stay as they are."""
    reasons = {
        "weight_decay": "it changes the old rows, too",
        "fp16": "it rounds the old weights; --amp does not",
        "bf16": "it rounds the old weights; --amp does not",
        "adaptive_softmax_cutoff": "its output is no table whose rows could be added to",
    }
    if args.adapter_dim:
        reasons["decoder_layerdrop"] = "each adapter follows a layer of its own"
    for name, reason in reasons.items():
        if getattr(args, name, None):
            raise InputError(f"--{name.replace('_', '-')} does not go with --frozen-vocabulary, since {reason}; leave it out")


def vocabulary_sizes(text: str, tags: Sequence[int], size: int) -> list[int]:
    """The sizes that an option names, and the present one; `InputError` unless each adds a language, with its tag."""
    named = text.split(",")
    if not all(number.isdecimal() for number in named):
        raise InputError(f"--frozen-vocabulary is '{text}': write none, or sizes of the dictionary with commas between")
    sizes = [*map(int, named), size]
    if sizes != sorted(set(sizes)):
        raise InputError(f"--frozen-vocabulary {text} must ascend, below the dictionary's present size, {size}")
    for start, end in zip([0, *sizes], sizes):
        if not any(start <= tag < end for tag in tags):
            raise InputError(
                f"--frozen-vocabulary {text}: there is no language tag among the symbols {start} to {end - 1} of the "
                "dictionary; name the sizes it had before each language was added"
            )
    if list(tags) != sorted(tags):
        raise InputError("--frozen-vocabulary needs the languages in the order of their tags in the dictionary")
    return sizes
