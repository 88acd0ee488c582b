"""Several models that translate together: the mean of what they say at each step."""

from collections.abc import Iterable, Iterator, Sequence

import torch
from torch import Tensor

from zsnmt.decoding.beam_search import Candidates, Combination, beam_search, of_one
from zsnmt.decoding.methods.combination import mean_probabilities
from zsnmt.decoding.packed.decoder import Output
from zsnmt.decoding.pytorch_engine import PyTorchEngine
from zsnmt.decoding.search import Hypothesis, Sentence


class SeveralModels:
    """Searches with models of the same symbols and tags, each of which has an engine; what a symbol gets is
    the mean of its probabilities, as in fairseq's ensembles.

    In a search with several sentences for one output each model reads all of them, and their means by
    sentence are combined.
    """

    def __init__(self, engines: Sequence[PyTorchEngine]) -> None:
        self.engines, first = engines, engines[0]
        self.search, self.device, self.eos, self.never = first.search, first.device, first.eos, first.never
        self.longest = min(engine.longest for engine in engines)
        self.signature = " ".join(filter(None, (first.signature, f"mean of {len(engines)} models")))

    def translate(self, batches: Iterable[Sequence[Sentence]]) -> Iterator[list[list[Hypothesis]]]:
        return map(self.translate_batch, batches)

    def translate_batch(self, sentences: Sequence[Sentence]) -> list[list[Hypothesis]]:
        """The hypotheses of each sentence, best first."""
        return self.search_views([sentences])

    @torch.inference_mode()
    def search_views(
        self,
        views: Sequence[Sequence[Sentence]],
        *,
        output: Sequence[Output] | None = None,
        penalties: Tensor | None = None,
        combine: Combination | None = None,
    ) -> list[list[Hypothesis]]:
        """The hypotheses of N sentences, and of others that are read with them, as `PyTorchEngine` has
        them; an `output` has one for each model.
        """
        none: list[Output | None] = [None] * len(self.engines)
        states = [
            state
            for engine, of_engine in zip(self.engines, output or none, strict=True)
            for state in engine.begin(views, of_engine)
        ]

        def combine_means(said: Sequence[Tensor], scores: Tensor, number: int) -> Candidates:
            means = [mean_probabilities(said[view :: len(views)]) for view in range(len(views))]
            return (combine or of_one)(means, scores, number)

        return beam_search(
            states,
            [self.search.limit(len(sentence.source), self.longest) for sentence in views[0]],
            self.search,
            eos=self.eos,
            never=self.never,
            penalties=penalties,
            combine=combine_means,
        )

    def output_among(self, symbols: Tensor) -> list[Output]:
        """The output of each model's searches among some symbols (ids, in order)."""
        return [engine.output_among(symbols) for engine in self.engines]
