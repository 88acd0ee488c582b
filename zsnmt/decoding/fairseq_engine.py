"""fairseq's own search as an engine: the reference, and for models that cannot be packed."""

from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence

import torch
from fairseq.data.data_utils import collate_tokens
from fairseq.models import BaseFairseqModel
from fairseq.sequence_generator import SequenceGenerator

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


class FairseqEngine:
    """Searches with a generator; an output may be as long as the longest source of its batch allows."""

    def __init__(self, model: BaseFairseqModel, generator: SequenceGenerator) -> None:
        self.model, self.generator, self.signature = model, generator, ""
        self.device = next(model.parameters()).device

    def translate(self, batches: Iterable[Sequence[Sentence]]) -> Iterator[list[list[Hypothesis]]]:
        return map(self.translate_batch, batches)

    @torch.no_grad()  # in inference mode another way of multiplying is taken, with other last bits
    def translate_batch(self, sentences: Sequence[Sentence]) -> list[list[Hypothesis]]:
        """The hypotheses of each sentence, best first."""
        sources = [torch.tensor(sentence.source) for sentence in sentences]
        src_tokens = collate_tokens(sources, self.generator.pad, left_pad=True).to(self.device)
        lengths = torch.tensor([*map(len, sources)], device=self.device)
        starts = torch.tensor([sentence.start for sentence in sentences], device=self.device)
        found = self.generator.generate(
            [self.model],
            {"net_input": {"src_tokens": src_tokens, "src_lengths": lengths}},
            bos_token=starts.repeat_interleave(self.generator.beam_size),
        )
        return [
            [Hypothesis(each["tokens"].tolist(), each["score"].item()) for each in of_sentence]
            for of_sentence in found
        ]
