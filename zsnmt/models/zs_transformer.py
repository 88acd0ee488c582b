"""`zs_transformer`: the multilingual transformer of Liu et al. (2021) and its variants.

Sizes and variants are options that combine freely; an architecture is a named set of defaults.
"""

from argparse import ArgumentParser, Namespace
from typing import Optional, Sequence

from fairseq.data import Dictionary
from fairseq.models import register_model, register_model_architecture
from fairseq.models.transformer import TransformerModel
from fairseq.models.transformer.transformer_legacy import base_architecture
from fairseq.tasks import FairseqTask
from torch import nn

from zsnmt.errors import InputError
from zsnmt.languages import language_tag
from zsnmt.modules.attention_residual import MeanPoolResidual, RemoveResidual, StochasticResidual
from zsnmt.modules.decoder import Decoder
from zsnmt.modules.encoder import Encoder
from zsnmt.modules.frozen_weights import FrozenWeights, freeze_rows
from zsnmt.modules.growing_vocabulary import GrowingVocabulary
from zsnmt.modules.language_adapter import LanguageAdapters
from zsnmt.modules.language_embedding import LanguageEmbedding
from zsnmt.modules.position_query import PositionQuery
from zsnmt.modules.positions import ENCODINGS, IN_INPUT, RELATIVE_KEYS, TUPE, TupePositions, use_relative_keys, use_tupe
from zsnmt.modules.relative_attention import use_relative_attention
from zsnmt.modules.variational_dropout import VariationalDropout
from zsnmt.modules.word_dropout import WordDropoutEmbedding


@register_model("zs_transformer")
class ZeroShotTransformer(TransformerModel):
    """fairseq's transformer with the seams of Liu et al. filled as the options say."""

    @classmethod
    def add_args(cls, parser: ArgumentParser) -> None:
        """Add fairseq's transformer options and those of the variants. An architecture sets the defaults."""
        super().add_args(parser)
        add = parser.add_argument
        add("--encoder-residual-removal-layers", metavar="LAYERS",
            help="encoder layers, counted from 1, whose self-attention loses its residual connection: "
            "none, middle (3 of 5, 5 of 8), or numbers like 3 or 2,3")  # fmt: skip
        add("--encoder-residual-replacement", choices=["nothing", "mean_pool", "stochastic"],
            help="what stands in for a removed residual: nothing; the sentence's mean; the residual at random")
        add("--encoder-position-query-layers", metavar="LAYERS",
            help="encoder layers whose self-attention takes its query from positions: none, middle, or numbers")
        add("--position-query-base", type=float, metavar="BASE",
            help="constant that replaces 10000 in the sinusoids of the position query")
        add("--variational-dropout", action="store_true",
            help="share the dropout masks over time (attention probabilities keep the ordinary dropout)")
        add("--word-dropout", type=float, metavar="P", help="probability that a word type's embedding is zeroed")
        add("--decoder-language-embedding", choices=["none", "add", "concat"],
            help="how the target language's vector joins the decoder's input")
        add("--encoder-position-encoding", choices=ENCODINGS,
            help="what tells the encoder the positions of its tokens: vectors in its input (sinusoidal, learned), nothing, "
            "or biases of its attention (TUPE absolute or relative; BERT's relative keys, or keys and queries)")
        add("--encoder-position-bias-layers", metavar="LAYERS",
            help="encoder layers whose attention has the bias of TUPE or of relative keys: all, middle, or numbers")
        add("--relative-key-query-product", action="store_true",
            help="let relative_key_query add the product a·a, too, as Ravishankar and Søgaard (2021) print it")
        add("--decoder-position-encoding", choices=[*IN_INPUT, "none"],
            help="what tells the decoder the positions of its tokens, besides that it sees those before alone")
        add("--relative-attention-distance", metavar="K",
            help="give the self-attention of both stacks relative keys and values, for offsets clipped to -K...K "
            "(Shaw et al. 2018): a whole number, or none")
        add("--normalization", choices=["pre", "post"], help="layer normalisation before or after each block")
        add("--frozen-vocabulary", metavar="SIZES",
            help="train only the language added last: none, or the sizes that the dictionary had before each language "
            "was added this way, like 4008 or 4008,5200; older languages write what they could and no bit of them changes")
        add("--adapter-dim", type=int, metavar="D",
            help="width of the adapters that each language so added has after the decoder's layers; 0 for none")

    @classmethod
    def build_model(cls, args: Namespace, task: FairseqTask) -> "ZeroShotTransformer":
        """Build fairseq's model, whose initial weights do not depend on the seams, then fill the seams.

        Raises `InputError` for layers that do not exist, for a task without language tags where the
        decoder reads its language, and for sizes or options that do not go with a frozen vocabulary.
        """
        zs_transformer(args)
        refuse_stock_spelling(args)
        args.encoder_normalize_before = args.decoder_normalize_before = args.normalization == "pre"
        args.encoder_learned_pos = args.encoder_position_encoding == "learned"
        args.decoder_learned_pos = args.decoder_position_encoding == "learned"
        model = super().build_model(args, task)
        fill_encoder_seams(model.encoder, args)
        if args.decoder_language_embedding != "none":
            model.decoder.language_embedding = build_language_embedding(args, task)
        fill_position_seams(model, args)  # after all that it has in common with models of other positions was drawn
        if args.variational_dropout:
            share_dropout_over_time(model.encoder)
            share_dropout_over_time(model.decoder)
        if args.frozen_vocabulary != "none":
            fill_vocabulary_seams(model, args, task)
        elif args.adapter_dim:
            raise InputError(f"--adapter-dim {args.adapter_dim} is for languages added by --frozen-vocabulary; leave it out")
        return model

    @classmethod
    def build_embedding(cls, args, dictionary: Dictionary, embed_dim: int, path: Optional[str] = None) -> nn.Embedding:
        return WordDropoutEmbedding(super().build_embedding(args, dictionary, embed_dim, path), args.word_dropout)

    @classmethod
    def build_encoder(cls, args, src_dict: Dictionary, embed_tokens: nn.Embedding) -> Encoder:
        return Encoder(args, src_dict, embed_tokens)

    @classmethod
    def build_decoder(cls, args, tgt_dict: Dictionary, embed_tokens: nn.Embedding) -> Decoder:
        return Decoder(args, tgt_dict, embed_tokens, no_encoder_attn=args.no_cross_attention)


def refuse_stock_spelling(args: Namespace) -> None:
    """`InputError` where an option of fairseq contradicts the one of this model that stands for it."""
    if args.encoder_learned_pos and args.encoder_position_encoding != "learned":
        raise InputError("--encoder-learned-pos has no effect here; use --encoder-position-encoding learned")
    if args.decoder_learned_pos and args.decoder_position_encoding != "learned":
        raise InputError("--decoder-learned-pos contradicts --decoder-position-encoding; give the latter alone")
    if args.no_token_positional_embeddings:
        raise InputError("--no-token-positional-embeddings is, here, --encoder-position-encoding none --decoder-position-encoding none")
    if args.normalization != "pre" and (args.encoder_normalize_before or args.decoder_normalize_before):
        raise InputError("--encoder-normalize-before contradicts --normalization post; give --normalization alone")


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


def fill_position_seams(model: ZeroShotTransformer, args: Namespace) -> None:
    """Encode positions in the input of each stack, or in its self-attention, as the options say."""
    encoder, encoding = model.encoder, args.encoder_position_encoding
    attentions = [layer.self_attn for layer in encoder.layers.children()]
    if args.relative_key_query_product and encoding != "relative_key_query":
        raise InputError(f"--relative-key-query-product has no effect on --encoder-position-encoding {encoding}; leave it out")
    biased = biased_layers(args.encoder_position_bias_layers, encoding, len(attentions))
    if encoding not in IN_INPUT:
        encoder.embed_positions = None
    if args.decoder_position_encoding == "none":
        model.decoder.embed_positions = None
    if encoding in TUPE:
        sizes = args.max_source_positions, args.encoder_embed_dim, args.encoder_attention_heads
        encoder.position_bias = TupePositions(*sizes, relative=encoding == "tupe_relative")
        for number, layer in enumerate(encoder.layers.children(), 1):
            layer.has_position_bias = number in biased
        use_tupe(attentions[number - 1] for number in biased)
    if encoding in RELATIVE_KEYS:
        use_relative_keys((attentions[number - 1] for number in biased), encoding, args.max_source_positions, args.relative_key_query_product)
    distance = clip_distance(str(args.relative_attention_distance))
    if distance is not None:
        if args.cross_self_attention:
            raise InputError("--relative-attention-distance does not go with --cross-self-attention; leave one of them out")
        use_relative_attention([*attentions, *(layer.self_attn for layer in model.decoder.layers.children())], distance)


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


def fill_vocabulary_seams(model: ZeroShotTransformer, args: Namespace, task: FairseqTask) -> None:
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


def share_dropout_over_time(stack: nn.Module) -> None:
    """Swap the dropout of embeddings and blocks, not of attention probabilities, for the variational one."""
    stack.dropout_module = VariationalDropout(stack.dropout_module.p, time_axis=1)
    for layer in stack.layers.children():  # iterating would skip layers at random under layer drop
        layer.dropout_module = VariationalDropout(layer.dropout_module.p, time_axis=0)
        layer.activation_dropout_module = VariationalDropout(layer.activation_dropout_module.p, time_axis=0)


def set_defaults(args: Namespace, **defaults) -> None:
    """Set the options that were not given."""
    for name, value in defaults.items():
        setattr(args, name, getattr(args, name, value))


@register_model_architecture("zs_transformer", "zs_transformer")
def zs_transformer(args: Namespace) -> None:
    """The baseline of Liu et al. (2021), section 3.2."""
    set_defaults(
        args,
        encoder_layers=5,
        decoder_layers=5,
        encoder_embed_dim=512,
        encoder_ffn_embed_dim=2048,
        encoder_attention_heads=8,
        decoder_attention_heads=8,
        dropout=0.2,
        attention_dropout=0.2,
        activation_dropout=0.2,
        share_all_embeddings=True,
        normalization="pre",
        encoder_residual_removal_layers="none",
        encoder_residual_replacement="nothing",
        encoder_position_query_layers="none",
        position_query_base=100.0,
        variational_dropout=False,
        word_dropout=0.1,
        decoder_language_embedding="concat",
        encoder_position_encoding="sinusoidal",
        encoder_position_bias_layers="all",
        relative_key_query_product=False,
        decoder_position_encoding="learned" if getattr(args, "decoder_learned_pos", False) else "sinusoidal",
        relative_attention_distance="none",
        frozen_vocabulary="none",
        adapter_dim=0,
    )
    base_architecture(args)


@register_model_architecture("zs_transformer", "zs_transformer_residual")
def zs_transformer_residual(args: Namespace) -> None:
    """The attention residual of the middle encoder layer is removed."""
    set_defaults(args, encoder_residual_removal_layers="middle")
    zs_transformer(args)


@register_model_architecture("zs_transformer", "zs_transformer_residual_query")
def zs_transformer_residual_query(args: Namespace) -> None:
    """And the query of that layer is made from positions."""
    set_defaults(args, encoder_position_query_layers="middle")
    zs_transformer_residual(args)


@register_model_architecture("zs_transformer", "zs_transformer_relative")
def zs_transformer_relative(args: Namespace) -> None:
    """Li (2019): relative positions in both stacks, and no other; one language to another, without tags in the model."""
    set_defaults(
        args,
        encoder_layers=6,
        decoder_layers=6,
        encoder_ffn_embed_dim=1024,
        decoder_ffn_embed_dim=1024,
        dropout=0.1,
        attention_dropout=0.1,
        activation_dropout=0.1,
        word_dropout=0.0,
        decoder_language_embedding="none",
        encoder_position_encoding="none",
        decoder_position_encoding="none",
        relative_attention_distance="16",
    )
    zs_transformer(args)
