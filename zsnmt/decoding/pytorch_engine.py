"""PyTorch's engine: a packed model and beam search over it, or, for models that cannot be packed,
fairseq's own search.
"""

from abc import abstractmethod
from collections.abc import Sequence
from copy import copy
from typing import Generic, Self, TypeVar

import torch
from fairseq.data import Dictionary
from fairseq.data.data_utils import collate_tokens
from fairseq.models import BaseFairseqModel
from torch import Tensor

from zsnmt.decoding.beam_search import Combination, beam_search
from zsnmt.decoding.gpu_memory import in_parts_that_fit
from zsnmt.decoding.methods.engine import ViewsEngine
from zsnmt.decoding.options import FLOAT16, FLOAT32
from zsnmt.decoding.packed.decoder import DecoderState, Output, PackedDecoder
from zsnmt.decoding.packed.encoder import PackedEncoder
from zsnmt.decoding.packed.linear import check_precision
from zsnmt.decoding.packed.parts import PARTS, unknown_parts
from zsnmt.decoding.search import Hypothesis, Search, Sentence, never_written
from zsnmt.modules.decoder import Decoder
from zsnmt.modules.encoder import Encoder
from zsnmt.modules.relative_attention import RelativeKeys

Among = TypeVar("Among")  # the output of searches among some symbols


class PackedSearch(ViewsEngine, Generic[Among]):
    """Beam search over one packed model or several: by `search`, of at most `longest` tokens before EOS, and
    of none in `never` (n ids).
    """

    eos: int
    never: Tensor
    longest: int

    def searching(self, search: Search) -> Self:
        """The same model or models, with another search."""
        engine = copy(self)
        engine.search = search
        return engine

    @abstractmethod
    def begin(self, views: Sequence[Sequence[Sentence]], output: Among | None = None) -> list[DecoderState]:
        """A search's beginning for N sentences, and for each list of N others that are read with them; with
        an `output` among its symbols.
        """

    @abstractmethod
    def output_among(self, symbols: Tensor) -> Among:
        """The output of searches among some symbols (n ids, in order), without those that are never
        written.
        """

    def translate_batch(self, sentences: Sequence[Sentence]) -> list[list[Hypothesis]]:
        """The hypotheses of each sentence, best first."""
        return in_parts_that_fit(lambda some: self.search_views([some]), sentences)

    @torch.inference_mode()
    def search_views(
        self,
        views: Sequence[Sequence[Sentence]],
        *,
        output: Among | None = None,
        penalties: Tensor | None = None,
        combine: Combination | None = None,
    ) -> list[list[Hypothesis]]:
        """The hypotheses of N sentences, and of others that are read with them: the first view, and more.

        They are among the symbols of an `output`; `penalties` (N×V) and `combine` are those of `beam_search`.
        """
        return beam_search(
            self.begin(views, output),
            self.limits(views[0]),
            self.search,
            eos=self.eos,
            never=self.never,
            penalties=penalties,
            combine=combine,
        )

    def limits(self, sentences: Sequence[Sentence]) -> list[int]:
        """How many tokens the output of each may have before EOS."""
        return [self.search.limit(len(sentence.source), self.longest) for sentence in sentences]


class PyTorchEngine(PackedSearch[Output]):
    """Searches with a trained model on its device; a tag of `languages` is never written.

    Equal sources of a batch are encoded once. Hypotheses depend on their companions in a batch only where
    rounding decides between two candidates: that of float32 or float16, or that of int8, whose inputs are
    scaled together. In float16 the model itself becomes so; log-probabilities are computed in float32.
    """

    def __init__(
        self,
        model: BaseFairseqModel,
        dictionary: Dictionary,
        languages: Sequence[str],
        search: Search,
        precision: str = FLOAT32,
    ) -> None:
        weight = model.decoder.output_projection.weight
        check_precision(precision, weight.device)
        if precision == FLOAT16:
            model.half()
        self.encoder = PackedEncoder(model.encoder, precision)
        self.decoder = PackedDecoder(model.decoder, precision)
        self.search, self.device = search, weight.device
        self.signature = "" if precision == FLOAT32 else f"pytorch {precision}"
        self.pad, self.eos = dictionary.pad(), dictionary.eos()
        self.never = torch.tensor(never_written(dictionary, languages), device=self.device)
        self.longest = model.max_decoder_positions() - 1

    def begin(self, views: Sequence[Sequence[Sentence]], output: Output | None = None) -> list[DecoderState]:
        """A search's beginning for N sentences, and for each list of N others that are read with them; with
        an `output` among its symbols.
        """
        rows: dict[tuple[int, ...], int] = {}  # of each source in what is encoded
        places = [
            [rows.setdefault(tuple(sentence.source), len(rows)) for sentence in sentences]
            for sentences in views
        ]
        src_tokens = collate_tokens([torch.tensor(source) for source in rows], self.pad).to(self.device)
        encoded, padding_mask = self.encoder(src_tokens)
        return [
            self.decoder.begin(
                encoded,
                padding_mask,
                torch.tensor(of_view, device=self.device),
                starts=torch.tensor([sentence.start for sentence in sentences], device=self.device),
                output=output,
            )
            for sentences, of_view in zip(views, places)
        ]

    def output_among(self, symbols: Tensor) -> Output:
        """The output of searches among some symbols (n ids, in order), without those that are never
        written.
        """
        return self.decoder.output_of(symbols[~torch.isin(symbols, self.never)])


def why_not_packed(model: BaseFairseqModel) -> str | None:
    """What a model has that packing does not know; None for a model that can be packed."""
    encoder, decoder = getattr(model, "encoder", None), getattr(model, "decoder", None)
    if not isinstance(encoder, Encoder) or not isinstance(decoder, Decoder):
        return "it is not a model of zsnmt"
    layers = [*decoder.layers.children()]
    reasons = {
        "an adaptive softmax": decoder.adaptive_softmax is not None,
        "projections around its layers": decoder.project_in_dim is not None
        or decoder.project_out_dim is not None,
        "attention across encoder and decoder": decoder.cross_self_attention
        or any(layer.encoder_attn is None for layer in layers),
        "scales of the layers": any(
            getattr(layer, name, None) is not None
            for layer in layers
            for name in ("attn_ln", "c_attn", "ffn_layernorm", "w_resid")
        ),
        "quantisation noise": decoder.quant_noise is not None,
        "a bias of the decoder's attention": any(
            not isinstance(term, RelativeKeys) for layer in layers for term in layer.self_attn.logit_terms
        ),
        **{f"the part {part}": True for part in unknown_parts(model, PARTS | {type(model)})},
    }
    return next((f"it has {what}" for what, present in reasons.items() if present), None)
