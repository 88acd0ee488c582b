"""Agreement of what is said from a sentence and from its translation (Gu and Feng 2022)."""

from dataclasses import dataclass, field

import torch
from fairseq.dataclass import FairseqDataclass
from fairseq.tasks import FairseqTask
from torch import Tensor

from zsnmt.data.tag_surgery import move_padding, stack
from zsnmt.losses.consistency import consistency
from zsnmt.terms.term import Predictions, Rows, Term, sum_over_tokens

TARGET_BETA = 6.0, 3.0  # the Beta distribution of the share of a prefix that is the target's


@dataclass
class AgreementOptions(FairseqDataclass):
    """The option of the term."""

    agreement_weight: float = field(
        default=0.0,
        metadata={
            "help": "weight of the term that brings together what the model says from the source and from "
            "the target itself, after prefixes mixed of both; 0.001 to 0.01 in the paper"
        },
    )


class Agreement(Term):
    """The batch and its copy (the target as the source), each with the same mixed prefixes."""

    option = "--agreement-weight"

    def __init__(self, options: AgreementOptions, task: FairseqTask) -> None:
        super().__init__(options.agreement_weight, task)

    def rows(self, sample: dict) -> Rows:
        given = sample["net_input"]
        copied = self.surgery.target_as_source(sample, self.task.args.max_source_positions)
        sources = [given["src_tokens"], copied["src_tokens"]]
        inputs = {
            "src_tokens": stack(sources, self.pad, self.task.args.left_pad_source),
            "src_lengths": torch.cat([given["src_lengths"], copied["src_lengths"]]),
            "prev_output_tokens": self.mix(given).repeat(2, 1),
        }
        return Rows(inputs, sample["target"].repeat(2, 1))

    def mix(self, inputs: dict) -> Tensor:
        """Prefixes (B×T) in which words of the source stand in places of the target's; tags stay."""
        prefix = inputs["prev_output_tokens"]
        words = self.surgery.remove_tags(inputs["src_tokens"])
        words = words.masked_fill(words.eq(self.surgery.eos), self.pad)
        places = torch.full_like(prefix, self.pad)  # of the source's words, the first after the tag
        width = min(words.size(1), prefix.size(1) - 1)
        places[:, 1 : width + 1] = move_padding(words, self.pad, left=False)[:, :width]
        replaced = ~self.draw_kept(prefix) & places.ne(self.pad) & prefix.ne(self.pad)
        return torch.where(replaced, places, prefix)

    def draw_kept(self, prefix: Tensor) -> Tensor:
        """Which tokens of the target's prefixes (B×T) stay, with a probability drawn for the batch."""
        share = torch.distributions.Beta(*TARGET_BETA).sample()
        return torch.rand(prefix.shape, device=prefix.device) < share.to(prefix.device)

    def loss(self, translated: Predictions, own: Predictions) -> Tensor:
        """KL between what is said from the two sources, both ways, a sum over tokens in nats."""
        return sum_over_tokens(both_ways, *own.halves())


def both_ways(_: Tensor, one: Tensor, other: Tensor) -> Tensor:
    """The distance of each of two readings (log-probabilities, n×V each) from the other."""
    return consistency(one, other) + consistency(other, one)
