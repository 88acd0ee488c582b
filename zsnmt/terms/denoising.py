"""Denoising of the pivot language's sentences (Wang et al. 2021)."""

from dataclasses import dataclass, field

import torch
from fairseq.dataclass import FairseqDataclass
from fairseq.tasks import FairseqTask
from torch import Tensor

from zsnmt.data.span_noise import SpanNoise
from zsnmt.errors import InputError
from zsnmt.languages import parse_direction
from zsnmt.terms.term import Predictions, Rows, Term
from zsnmt.text.words import Words


@dataclass
class DenoisingOptions(FairseqDataclass):
    """The options of the term."""

    denoising_weight: float = field(
        default=0.0,
        metadata={
            "help": "weight of the term that trains the model to restore sentences of the pivot, the first "
            "language, in which spans are masked; 1 is usual"
        },
    )
    denoising_share: float = field(
        default=0.3, metadata={"help": "share of the tokens that are masked, about; below 1"}
    )
    denoising_span: float = field(default=3.0, metadata={"help": "mean length of a masked span in tokens"})


class Denoising(Term):
    """The rows that are translated into the pivot, with their target, masked, as the source.

    A span's mask is the symbol of unknown words, which the text of a model of subwords does not have. Raises
    InputError for a share or a span out of range, too.
    """

    option = "--denoising-weight"

    def __init__(self, options: DenoisingOptions, task: FairseqTask) -> None:
        super().__init__(options.denoising_weight, task)
        dictionary, pivot = self.task.target_dictionary, self.task.langs[0]
        into_pivot = [each for each in self.task.learned.trained if parse_direction(each).target == pivot]
        if not into_pivot:
            self.refuse(f"needs directions into {pivot}", "train on some, or leave it out")
        if isinstance(self.task.pipeline.units, Words):
            self.refuse("masks by the symbol of unknown words, which text in whole words has", "use subwords")
        try:
            self.noise = SpanNoise(
                options.denoising_share,
                options.denoising_span,
                mask=dictionary.unk(),
                kept=(dictionary.pad(), dictionary.eos()),
            )
        except ValueError as error:
            raise InputError(f"--denoising-share, --denoising-span: {error}") from error

    def rows(self, sample: dict) -> Rows:
        chosen = sample["languages"][:, 1].eq(self.tags[0])  # B
        target = sample["target"][chosen]
        pivot = torch.full_like(target[:, 0], self.tags[0])
        limit = self.task.args.max_source_positions - len(self.surgery.sides)
        noisy = self.noise(self.surgery.cut(target, limit), self.pad)
        inputs = self.surgery.from_sentences(noisy, source=pivot, target=pivot)
        inputs["prev_output_tokens"] = sample["net_input"]["prev_output_tokens"][chosen]
        return Rows(inputs, target)

    def loss(self, translated: Predictions, own: Predictions) -> Tensor:
        """The negative log-likelihood of the unmasked sentences, a sum over tokens in nats."""
        return -own.sum_on_target(torch.sum)
