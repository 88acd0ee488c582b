"""An engine with a method: it searches with several sentences for one output, and with a mask."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, Self

import torch
from torch import Tensor

from zsnmt.decoding.beam_search import Combination
from zsnmt.decoding.gpu_memory import in_parts_that_fit
from zsnmt.decoding.methods.bundle import Bundle
from zsnmt.decoding.methods.combination import combination
from zsnmt.decoding.methods.pieces import check_counts
from zsnmt.decoding.methods.settings import Method
from zsnmt.decoding.methods.vocabulary import penalties
from zsnmt.decoding.search import BatchEngine, Engine, Hypothesis, Search, Sentence, Vocabulary, WrapperEngine
from zsnmt.text.piece_counts import PieceCounts


class ViewsEngine(BatchEngine, Protocol):
    """An engine that can search with several sentences for one output: the packed model's, and fairseq's."""

    device: torch.device

    def searching(self, search: Search) -> Self:
        """The same model or models, with another search."""

    def output_among(self, symbols: Tensor) -> Any:
        """The output of searches among some symbols (n ids, in order)."""

    def search_views(
        self,
        views: Sequence[Sequence[Sentence]],
        *,
        output: Any = None,
        penalties: Tensor | None = None,
        combine: Combination | None = None,
    ) -> list[list[Hypothesis]]:
        """The hypotheses of N sentences, which are the first view, read with those of the others;
        `penalties`: N×V.
        """

    def by(
        self, method: Method, codec: Vocabulary, *, search: Search, counts: PieceCounts | None = None
    ) -> Engine:
        """Bundles are searched for, unless the method is nothing but a search."""
        searching = self.searching(search)
        if method.is_search:
            return searching
        masks = None
        if method.mask:
            check_counts(counts or {}, codec.languages)
            masks = penalties(method.mask, counts or {}, codec.dictionary)
        return MethodEngine(searching, method, masks)


class MethodEngine(WrapperEngine, BatchEngine):
    """Searches with an engine's model for bundles of sentences. Limits are those of their first sentences.

    `penalties`: what is added to the log-probabilities of each symbol (V) in an output of a language. With a
    mask that renormalises, the symbols that they forbid have no probability.
    """

    engine: ViewsEngine

    def __init__(
        self, engine: ViewsEngine, method: Method, penalties: Mapping[str, Tensor] | None = None
    ) -> None:
        super().__init__(engine)
        self.method = method
        penalties = {language: values.to(self.device) for language, values in (penalties or {}).items()}
        only = method.renormalises
        self.penalties = {} if only else penalties
        self.outputs = {  # of bundles into a language; all symbols for one without
            language: engine.output_among(values.isfinite().nonzero().flatten())
            for language, values in (penalties if only else {}).items()
        }

    def translate_batch(self, bundles: Sequence[Bundle]) -> list[list[Hypothesis]]:
        """The hypotheses of each bundle, best first."""
        return in_parts_that_fit(self.search_at_once, bundles)

    def search_at_once(self, bundles: Sequence[Bundle]) -> list[list[Hypothesis]]:
        """The same. Bundles with as many sentences are one search, where they are written with the same
        symbols.
        """
        alike: dict[tuple[int, tuple[float, ...], str], list[int]] = {}
        for place, bundle in enumerate(bundles):
            written = bundle.target if self.outputs else ""
            alike.setdefault((len(bundle.sentences), bundle.weights, written), []).append(place)
        hypotheses: dict[int, list[Hypothesis]] = {}
        for (number, weights, written), places in alike.items():
            chosen = [bundles[place] for place in places]
            views = [[bundle.sentences[view] for bundle in chosen] for view in range(number)]
            penalties = None
            if self.penalties:
                penalties = torch.stack([self.penalties[bundle.target] for bundle in chosen])  # N×V
            results = self.engine.search_views(
                views,
                output=self.outputs.get(written),
                penalties=penalties,
                combine=combination(self.method.kind, views, weights),
            )
            hypotheses |= zip(places, results, strict=True)
        return [hypotheses[place] for place in range(len(bundles))]
