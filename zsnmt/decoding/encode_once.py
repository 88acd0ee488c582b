"""An encoder that reads each sentence of a batch once, however many languages it is translated into."""

import torch
from fairseq.sequence_generator import EnsembleModel
from torch import Tensor


class EncodeOnce(EnsembleModel):
    """Models for beam search that encode equal rows of a batch once.

    Where the encoder does not see the target language, a sentence into several languages is the same row
    several times. Sources that carry a tag of their target differ, so nothing is shared, and nothing lost.
    """

    def forward_encoder(self, net_input: dict[str, Tensor]) -> list[dict[str, list[Tensor]]]:
        """The encoder outputs of the batch's rows (B×T tokens), in their order."""
        rows, places = torch.unique(net_input["src_tokens"], dim=0, return_inverse=True)
        if len(rows) == len(places):
            return super().forward_encoder(net_input)
        lengths = torch.empty_like(net_input["src_lengths"][: len(rows)])
        lengths[places] = net_input["src_lengths"]
        return self.reorder_encoder_out(
            super().forward_encoder({"src_tokens": rows, "src_lengths": lengths}), places
        )
