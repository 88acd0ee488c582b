"""Several models that translate together: the mean of what they say at each step."""

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

from torch import Tensor

from zsnmt.decoding.beam_search import Candidates, Combination, of_one
from zsnmt.decoding.methods.combination import mean_probabilities
from zsnmt.decoding.packed.decoder import DecoderState, Output
from zsnmt.decoding.pytorch_engine import PackedSearch, PyTorchEngine
from zsnmt.decoding.search import Hypothesis, Sentence
from zsnmt.languages import Direction


class SeveralModels(PackedSearch[Sequence[Output]]):
    """Searches with models of the same symbols and tags, each of which has an engine; what a symbol gets is
    the mean of its probabilities, as in fairseq's ensembles.

    In a search with several sentences for one output each model reads all of them, and their means by
    sentence are combined. `trained`: the directions that each was trained on, by the names of their runs.
    """

    def __init__(
        self,
        engines: Sequence[PyTorchEngine],
        trained: Mapping[str, Collection[Direction]] = MappingProxyType({}),
    ) -> None:
        self.engines, self.models, self.trained, first = engines, len(engines), trained, engines[0]
        self.search, self.device, self.eos, self.never = first.search, first.device, first.eos, first.never
        self.longest = min(engine.longest for engine in engines)
        self.signature = " ".join(filter(None, (first.signature, f"mean of {len(engines)} models")))

    def begin(
        self, views: Sequence[Sequence[Sentence]], output: Sequence[Output] | None = None
    ) -> list[DecoderState]:
        """The beginnings of each model's search, one model after the other."""
        none: list[Output | None] = [None] * len(self.engines)
        return [
            state
            for engine, of_engine in zip(self.engines, output or none, strict=True)
            for state in engine.begin(views, of_engine)
        ]

    def output_among(self, symbols: Tensor) -> Sequence[Output]:
        """That of each model, among some symbols (n ids, in order)."""
        return [engine.output_among(symbols) for engine in self.engines]

    def search_views(
        self,
        views: Sequence[Sequence[Sentence]],
        *,
        output: Sequence[Output] | None = None,
        penalties: Tensor | None = None,
        combine: Combination | None = None,
    ) -> list[list[Hypothesis]]:
        """As of one model (`penalties`: N×V); `combine` is given the mean of what the models say after each
        view.
        """

        def combine_means(said: Sequence[Tensor], scores: Tensor, number: int) -> Candidates:
            means = [mean_probabilities(said[view :: len(views)]) for view in range(len(views))]
            return (combine or of_one)(means, scores, number)

        return super().search_views(views, output=output, penalties=penalties, combine=combine_means)
