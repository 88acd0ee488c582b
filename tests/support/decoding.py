"""Small random models whose translations end, sentences for them, and fairseq's own search to compare
with.
"""

from collections.abc import Callable, Sequence

import torch
from fairseq.data import Dictionary
from fairseq.sequence_generator import EnsembleModel, SequenceGenerator
from torch.profiler import ProfilerActivity, profile

from tests.conftest import LANGUAGES, make_dictionary, toy_options
from zsnmt.decoding.length_penalty import search_penalty
from zsnmt.decoding.pytorch_engine import PyTorchEngine
from zsnmt.decoding.search import Hypothesis, Search, Sentence
from zsnmt.languages import language_tag
from zsnmt.models import zs_transformer as architectures
from zsnmt.models.zs_transformer import ZeroShotTransformer

PAD, EOS = 1, 2
UNIT = torch.finfo(torch.float32).eps / 2
WORDS = 23
FIRST_WORD = 4 + len(LANGUAGES)
TAGS = range(4, FIRST_WORD)

OF_MATRICES = {"aten::mm", "aten::addmm", "mkldnn::_linear_pointwise"}
PRODUCTS = {*OF_MATRICES, "aten::bmm", "aten::baddbmm", "aten::mv", "aten::addmv"}

ARCHITECTURES = [
    "zs_transformer",
    "zs_transformer_residual",
    "zs_transformer_residual_query",
    "zs_transformer_relative",
]
SIZES = dict(
    encoder_embed_dim=12,
    encoder_ffn_embed_dim=20,
    decoder_ffn_embed_dim=14,
    encoder_attention_heads=2,
    decoder_attention_heads=3,
    encoder_layers=3,
    decoder_layers=2,
)
TWO_WIDTHS = dict(encoder_embed_dim=10, decoder_embed_dim=12, share_all_embeddings=False)
SEAMS = {
    "language none": dict(decoder_language_embedding="none"),
    "language added": dict(decoder_language_embedding="add"),
    "encoder learned": dict(encoder_position_encoding="learned"),
    "encoder without": dict(encoder_position_encoding="none"),
    "tupe absolute": dict(encoder_position_encoding="tupe_absolute"),
    "tupe relative, middle": dict(
        encoder_position_encoding="tupe_relative", encoder_position_bias_layers="middle"
    ),
    "relative keys": dict(encoder_position_encoding="relative_key"),
    "relative keys and queries, two layers": dict(
        encoder_position_encoding="relative_key_query", encoder_position_bias_layers="1,3"
    ),
    "their product": dict(encoder_position_encoding="relative_key_query", relative_key_query_product=True),
    "mean pool": dict(encoder_residual_removal_layers="middle", encoder_residual_replacement="mean_pool"),
    "stochastic": dict(encoder_residual_removal_layers="1,3", encoder_residual_replacement="stochastic"),
    "feed-forward residual": dict(encoder_feed_forward_residual_removal_layers="middle"),
    "blocks of languages": dict(
        decoder_language_feed_forward_layers="top2", decoder_language_feed_forward_dim=5
    ),
    "shaw 0": dict(relative_attention_distance="0"),
    "shaw 2, residual": dict(relative_attention_distance="2", encoder_residual_removal_layers="middle"),
    "shaw 16, position query": dict(relative_attention_distance="16", encoder_position_query_layers="2"),
    "decoder learned": dict(decoder_position_encoding="learned"),
    "decoder without": dict(decoder_position_encoding="none"),
    "post-norm": dict(normalization="post"),
    "post-norm, all": dict(
        normalization="post", encoder_residual_removal_layers="2", encoder_position_query_layers="2"
    ),
    "gelu": dict(activation_fn="gelu"),
    "untied": dict(share_all_embeddings=False),
    "decoder tied": dict(share_all_embeddings=False, share_decoder_input_output_embed=True),
    "two widths": TWO_WIDTHS,
    "two widths, language added": dict(**TWO_WIDTHS, decoder_language_embedding="add"),
    "norm of embeddings": dict(layernorm_embedding=True, no_scale_embedding=True),
    "no last norm": dict(no_decoder_final_norm=True),
    "layer drop": dict(encoder_layerdrop=0.5, decoder_layerdrop=0.5),
}


class SmallTask:
    """As much of a task as a model reads."""

    def __init__(self, words: int = WORDS) -> None:
        self.langs = LANGUAGES
        self.source_dictionary = self.target_dictionary = make_dictionary(words)


def build(
    architecture: str = "zs_transformer_residual",
    words: int = WORDS,
    seed: int = 2,
    ends: float = 2.5,
    dtype: torch.dtype = torch.float64,
    **options,
) -> ZeroShotTransformer:
    """A model of random weights, biases and norms included, with the layers of a small one whatever the
    architecture's.

    In float64 rounding decides between no two hypotheses.
    """
    args = toy_options(**{**SIZES, **options})
    getattr(architectures, architecture)(args)
    return randomise(ZeroShotTransformer.build_model(args, SmallTask(words)), seed, ends).to(dtype)


def randomise(model: ZeroShotTransformer, seed: int = 2, ends: float = 2.5) -> ZeroShotTransformer:
    """Draw all weights, so that no two heads, positions or languages are alike; the more it `ends`, the
    shorter are translations.
    """
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            deviation = (
                0.7
                if "embed" in name or "table" in name
                else 0.3
                if weight.dim() == 1
                else 1.3 * weight.size(-1) ** -0.5
            )
            weight.normal_(0, deviation, generator=generator).add_("norm" in name and name.endswith("weight"))
        decoder = model.decoder
        norm = decoder.layers[-1].final_layer_norm if decoder.layer_norm is None else decoder.layer_norm
        decoder.output_projection.weight[EOS] += ends * norm.bias / norm.bias.norm()
    return model.eval()


def made_sentences(
    number: int, words: int = WORDS, tags: Sequence[int] = TAGS, longest: int = 9, seed: int = 3
) -> list[Sentence]:
    """Random sources of mixed lengths into mixed languages."""
    generator = torch.Generator().manual_seed(seed)

    def below(limit: int, count: int) -> list[int]:
        return torch.randint(limit, (count,), generator=generator).tolist()

    sources = [[FIRST_WORD + word for word in below(words, 1 + length)] for length in below(longest, number)]
    return [Sentence([*source, EOS], tags[tag]) for source, tag in zip(sources, below(len(tags), number))]


def padded(rows: Sequence[Sequence[int]], left: bool) -> torch.Tensor:
    """Rows of ids as B×T."""
    longest = max(map(len, rows))
    fill = [[PAD] * (longest - len(row)) for row in rows]
    return torch.tensor([[*pad, *row] if left else [*row, *pad] for pad, row in zip(fill, rows)])


def make_generator(
    model, search: Search, dictionary: Dictionary, languages: Sequence[str] = LANGUAGES
) -> SequenceGenerator:
    """fairseq's search."""
    return SequenceGenerator(
        EnsembleModel([model]),
        dictionary,
        search.beam,
        max_len_a=search.max_len_a,
        max_len_b=search.max_len_b,
        len_penalty=search_penalty(search.length_penalty, search.length_penalty_form),
        tokens_to_suppress=tuple(map(language_tag, languages)),
    )


def found_by_fairseq(
    model,
    given: Sequence[Sentence],
    search: Search,
    dictionary: Dictionary,
    languages: Sequence[str] = LANGUAGES,
) -> list[list[Hypothesis]]:
    """What fairseq finds, best first. There all sentences of a batch have the limit of the longest."""
    generator = make_generator(model, search, dictionary, languages)
    src_tokens = padded([sentence.source for sentence in given], left=True)
    starts = torch.tensor([sentence.start for sentence in given]).repeat_interleave(generator.beam_size)
    net_input = dict(src_tokens=src_tokens, src_lengths=src_tokens.ne(PAD).sum(1))
    found = generator.generate([model], {"net_input": net_input}, bos_token=starts)
    return [
        [Hypothesis(each["tokens"].tolist(), each["score"].item()) for each in best_first]
        for best_first in found
    ]


def assert_same(found: Sequence[Sequence[Hypothesis]], expected: Sequence[Sequence[Hypothesis]]) -> None:
    """The same n-best lists, with the same scores but for a rounding of float32 at each log-probability
    and each sum of both.
    """
    for of_sentence, others in zip(found, expected, strict=True):
        assert [each.tokens for each in of_sentence] == [each.tokens for each in others]
        for each, other in zip(of_sentence, others):
            assert abs(each.score - other.score) <= (4 * len(each.tokens) + 2) * UNIT * abs(other.score)


def plain(beam: int = 4, limit: int = 13, **options) -> Search:
    """A search in which all sentences have one limit, as in a batch of fairseq's."""
    return Search(beam, max_len_a=0, max_len_b=limit, **options)


def engine_of(model, search: Search = plain(), words: int = WORDS, **options) -> PyTorchEngine:
    return PyTorchEngine(model, SmallTask(words).target_dictionary, LANGUAGES, search, **options)


def assert_found_by_fairseq(model, given, search: Search, words: int = WORDS) -> list[list[Hypothesis]]:
    """The packed engine finds the same n-best lists for a model in float64; returns them."""
    assert model.decoder.output_projection.weight.dtype == torch.float64
    found = engine_of(model, search, words).translate_batch(given)
    assert_same(found, found_by_fairseq(model, given, search, SmallTask(words).target_dictionary))
    return found


def lengths(found: Sequence[Sequence[Hypothesis]]) -> set[int]:
    """The lengths that occur among hypotheses, EOS counted."""
    return {len(each.tokens) for of_sentence in found for each in of_sentence}


def kernels_of_vocabulary(symbols: int, run: Callable[[], object]) -> list[str]:
    """The kernels of the products of which one factor has an axis of the vocabulary's size, in their
    order.
    """
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as profiler:
        run()
    return [
        event.name
        for event in profiler.events()
        if event.name in PRODUCTS and any(symbols in shape for shape in event.input_shapes)
    ]
