"""Several sources or tags for one output, and masks, by fairseq's search."""

from copy import copy

import torch
from fairseq.search import Search
from fairseq.sequence_generator import EnsembleModel, SequenceGenerator
from torch import Tensor

from zsnmt.decoding.beam_search import Combination, keep_only


class Views(EnsembleModel):
    """A model that reads K sentences for each of N outputs, and says something after each: `said`, K of R×V.

    The generator begins a hypothesis with the number of its output, in place of which each view has its own
    first token (`starts`, K×N). For log-probabilities it gets the `penalties` alone (N×V), with nothing but
    EOS after `limits` (N) tokens, and adds its own rules; `CombinedSearch` adds all of them to each view. An
    `output` (V), if given, is added to what each view says, which is normalised again.
    """

    def __init__(
        self,
        model: EnsembleModel,
        *,
        starts: Tensor,
        limits: Tensor,
        penalties: Tensor,
        eos: int,
        output: Tensor | None = None,
    ) -> None:
        super().__init__([model.single_model] * len(starts))
        self.model, self.starts, self.limits, self.penalties = model, starts, limits, penalties
        self.eos, self.output = eos, output
        self.said: list[Tensor] = []

    def forward_encoder(self, net_input: dict) -> list[dict[str, list[Tensor]]]:
        """That of each view (states S×N×C); all sources of the first view come first in `views`, then those
        of the next.
        """
        encoded = self.model.forward_encoder(net_input["views"])
        rows = torch.arange(self.starts.numel(), device=self.starts.device).view_as(self.starts)
        return [self.model.reorder_encoder_out(encoded, of_view)[0] for of_view in rows]

    def forward_decoder(
        self,
        tokens: Tensor,
        encoder_outs: list[dict[str, list[Tensor]]],
        incremental_states: list[dict],
        temperature: float = 1.0,
    ) -> tuple[Tensor, None]:
        """What is added to the log-probabilities of R hypotheses (R×V); `tokens`: R×step."""
        outputs, written = tokens[:, 0], tokens[:, 1:]
        self.said = []
        for starts, encoded, state in zip(self.starts, encoder_outs, incremental_states):
            read = torch.cat([starts[outputs, None], written], dim=1)
            said, _ = self.model.forward_decoder(read, [encoded], [state], temperature=temperature)
            self.said.append(said if self.output is None else (said + self.output).log_softmax(dim=-1))
        rules = self.penalties[outputs]
        keep_only(self.eos, rules[:, None], self.limits[outputs] <= written.size(1))
        return rules, None


class CombinedSearch(Search):
    """Beam search whose candidates are made of what several views say."""

    def __init__(self, generator: SequenceGenerator, views: Views, combine: Combination) -> None:
        super().__init__(generator.tgt_dict)
        self.views, self.combine = views, combine
        self.stop_on_max_len = True  # where a mask leaves fewer hypotheses than are searched for

    def step(
        self,
        step: int,
        lprobs: Tensor,
        scores: Tensor,
        prev_output_tokens: Tensor | None = None,
        original_batch_idxs: Tensor | None = None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Scores, tokens and hypotheses of the candidates (N×2W each); `lprobs`: the rules, N×W×V; `scores`:
        of the hypotheses after each step so far, N×W×step.
        """
        views = [said.view_as(lprobs) + lprobs for said in self.views.said]
        width = lprobs.size(1)
        if step == 0:  # all hypotheses are the same
            views, so_far = [view[:, :1] for view in views], lprobs.new_zeros(len(lprobs), 1)
        else:
            so_far = scores[:, :, step - 1]
        best, hypotheses, tokens = self.combine(views, so_far, 2 * width)
        return best, tokens, hypotheses


def combined(generator: SequenceGenerator, views: Views, combine: Combination) -> SequenceGenerator:
    """A generator that searches as another does, but over views."""
    other = copy(generator)
    other._modules = {**generator._modules}  # which copies of a module share
    other.model, other.search = views, CombinedSearch(generator, views, combine)
    return other
