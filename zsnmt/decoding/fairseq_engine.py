"""fairseq's own search as an engine: the reference, and for models that cannot be packed."""

from argparse import Namespace
from collections.abc import Sequence
from copy import copy
from itertools import chain

import torch
from fairseq.data.data_utils import collate_tokens
from fairseq.models import BaseFairseqModel
from fairseq.sequence_generator import SequenceGenerator
from torch import Tensor

from zsnmt.decoding.beam_search import Combination, of_one
from zsnmt.decoding.fairseq_views import Views, combined
from zsnmt.decoding.gpu_memory import in_parts_that_fit
from zsnmt.decoding.methods.engine import ViewsEngine
from zsnmt.decoding.search import Hypothesis, Search, Sentence


def fairseq_options(search: Search) -> Namespace:
    """A search as `build_generator` of the task takes it."""
    return Namespace(
        beam=search.beam,
        lenpen=search.length_penalty,
        length_penalty_form=search.length_penalty_form,
        max_len_a=search.max_len_a,
        max_len_b=search.max_len_b,
    )


class FairseqEngine(ViewsEngine):
    """Searches with a generator; an output may be as long as the longest source of its batch allows.

    `signature`: a name where it was chosen in place of the packed engine, whose hypotheses differ where
    rounding decides.
    """

    def __init__(self, model: BaseFairseqModel, generator: SequenceGenerator, signature: str = "") -> None:
        self.model, self.generator, self.signature = model, generator, signature
        self.device = next(model.parameters()).device
        self.of_source = Search(max_len_a=generator.max_len_a, max_len_b=generator.max_len_b)

    def searching(self, search: Search) -> "FairseqEngine":
        """The same model, with another beam; all else of a search is that of this one."""
        generator = copy(self.generator)
        generator.beam_size = min(search.beam, generator.vocab_size - 1)
        return FairseqEngine(self.model, generator, self.signature)

    def translate_batch(self, sentences: Sequence[Sentence]) -> list[list[Hypothesis]]:
        """The hypotheses of each sentence, best first."""
        return in_parts_that_fit(self.search_at_once, sentences)

    @torch.no_grad()  # in inference mode another way of multiplying is taken, with other last bits
    def search_at_once(self, sentences: Sequence[Sentence]) -> list[list[Hypothesis]]:
        """The same."""
        return hypotheses(self.generator, self.net_input(sentences), self.starts(sentences))

    @torch.no_grad()
    def search_views(
        self,
        views: Sequence[Sequence[Sentence]],
        *,
        output: Tensor | None = None,
        penalties: Tensor | None = None,
        combine: Combination | None = None,
    ) -> list[list[Hypothesis]]:
        """The hypotheses of N sentences, and of others that are read with them, as the packed engine's
        `search_views`; limits are those of the sentences themselves. `output`: V, of `output_among`;
        `penalties`: N×V.
        """
        first, generator = views[0], self.generator
        if penalties is None:
            penalties = torch.zeros(len(first), generator.vocab_size, device=self.device)
        model = Views(
            generator.model,
            starts=torch.stack([*map(self.starts, views)]),
            limits=torch.tensor([*map(self.limit, first)], device=self.device),
            penalties=penalties,
            eos=generator.eos,
            output=output,
        )
        net_input = {**self.net_input(first), "views": self.net_input([*chain(*views)])}
        rows = torch.arange(len(first), device=self.device)
        return hypotheses(combined(generator, model, combine or of_one), net_input, rows)

    def output_among(self, symbols: Tensor) -> Tensor:
        """What leaves a search only some symbols (n ids), without those that are never written: V."""
        generator = self.generator
        output = torch.full((generator.vocab_size,), -torch.inf, device=self.device)
        output[symbols] = 0
        output[generator.pad] = -torch.inf
        if generator.token_indices_to_suppress is not None:
            output[generator.token_indices_to_suppress] = -torch.inf
        return output

    def net_input(self, sentences: Sequence[Sentence]) -> dict[str, Tensor]:
        """Their sources (N×S, padded on the left) and the lengths of these (N)."""
        sources = [torch.tensor(sentence.source) for sentence in sentences]
        return {
            "src_tokens": collate_tokens(sources, self.generator.pad, left_pad=True).to(self.device),
            "src_lengths": torch.tensor([*map(len, sources)], device=self.device),
        }

    def starts(self, sentences: Sequence[Sentence]) -> Tensor:
        """The first token of each output (N)."""
        return torch.tensor([sentence.start for sentence in sentences], device=self.device)

    def limit(self, sentence: Sentence) -> int:
        """How many tokens its output may have before EOS."""
        return self.of_source.limit(len(sentence.source), self.generator.max_len - 1)


def hypotheses(generator: SequenceGenerator, net_input: dict, starts: Tensor) -> list[list[Hypothesis]]:
    """Those of each sentence, which begin with its first token of `starts` (N), best first."""
    found = generator.generate(
        [], {"net_input": net_input}, bos_token=starts.repeat_interleave(generator.beam_size)
    )
    return [
        [Hypothesis(each["tokens"].tolist(), each["score"].item()) for each in of_sentence]
        for of_sentence in found
    ]
