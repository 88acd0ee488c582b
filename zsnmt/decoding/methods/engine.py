"""The packed engine with a method: it searches with several sentences for one output, and with a mask."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import torch
from torch import Tensor

from zsnmt.decoding.beam_search import beam_search
from zsnmt.decoding.methods.bundle import Bundle
from zsnmt.decoding.methods.combination import combination
from zsnmt.decoding.methods.settings import Ensemble, Method
from zsnmt.decoding.pytorch_engine import PyTorchEngine
from zsnmt.decoding.search import Hypothesis


class MethodEngine:
    """Searches with an engine's model for bundles of sentences. Limits are those of their first sentences.

    `penalties`: what is added to the log-probabilities of each symbol (V) in an output of a language. With a
    mask that renormalises, the symbols that they forbid are not computed.
    """

    def __init__(
        self, engine: PyTorchEngine, method: Method, penalties: Mapping[str, Tensor] | None = None
    ) -> None:
        self.engine, self.method, self.signature = engine, method, engine.signature
        self.device = engine.device
        penalties = {language: values.to(self.device) for language, values in (penalties or {}).items()}
        only = method.renormalises
        self.penalties = {} if only else penalties
        self.outputs = {  # of bundles into a language; all symbols for one without
            language: engine.output_among(values.isfinite().nonzero().flatten())
            for language, values in (penalties if only else {}).items()
        }

    def translate(self, batches: Iterable[Sequence[Bundle]]) -> Iterator[list[list[Hypothesis]]]:
        return map(self.translate_batch, batches)

    @torch.inference_mode()
    def translate_batch(self, bundles: Sequence[Bundle]) -> list[list[Hypothesis]]:
        """The hypotheses of each bundle, best first. Those with as many sentences are one search, where they
        are written with the same symbols.
        """
        alike: dict[tuple[int, tuple[float, ...], str], list[int]] = {}
        for place, bundle in enumerate(bundles):
            written = bundle.target if self.outputs else ""
            alike.setdefault((len(bundle.sentences), bundle.weights, written), []).append(place)
        hypotheses: dict[int, list[Hypothesis]] = {}
        for (number, weights, written), places in alike.items():
            chosen = [bundles[place] for place in places]
            views = [[bundle.sentences[view] for bundle in chosen] for view in range(number)]
            several = self.method.several if isinstance(self.method.several, Ensemble) else None
            penalties = None
            if self.penalties:
                penalties = torch.stack([self.penalties[bundle.target] for bundle in chosen])  # N×V
            results = beam_search(
                self.engine.begin(views, self.outputs.get(written)),
                self.engine.limits(views[0]),
                self.engine.search,
                eos=self.engine.eos,
                never=self.engine.never,
                penalties=penalties,
                combine=combination(several, weights) if number > 1 else None,
            )
            hypotheses |= zip(places, results, strict=True)
        return [hypotheses[place] for place in range(len(bundles))]
