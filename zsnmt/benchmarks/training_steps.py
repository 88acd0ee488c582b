"""One update of a translation model, to be timed, and relative attention in a form to be compared with."""

from collections.abc import Callable

import torch
from fairseq.criterions.label_smoothed_cross_entropy import label_smoothed_nll_loss
from fairseq.models import BaseFairseqModel
from torch import Tensor, nn
from torch.nn import functional as F

from zsnmt.modules.relative_attention import OffsetTable
from zsnmt.modules.self_attention import SelfAttention


class PairwiseKeys(nn.Module):
    """Relative keys as the equations have them, by a vector for every pair of positions (Tensor2Tensor's
    form): the same logits as `RelativeKeys` has from its table.
    """

    def __init__(self, table: OffsetTable) -> None:
        super().__init__()
        self.table = table

    def forward(self, q: Tensor, k: Tensor, scale: float) -> Tensor:
        """q: B×H×Tq×d; k: B×H×Tk×d. Returns B×H×Tq×Tk."""
        vectors, index = self.table(q.size(2), k.size(2))
        return torch.einsum("bhid,ijd->bhij", q * scale, F.embedding(index, vectors))


class PairwiseValues(nn.Module):
    """Relative values likewise: the same result as `RelativeValues` has from its table."""

    def __init__(self, table: OffsetTable) -> None:
        super().__init__()
        self.table = table

    def forward(self, probabilities: Tensor) -> Tensor:
        """From probabilities (B×H×Tq×Tk) to B×H×Tq×d."""
        vectors, index = self.table(*probabilities.shape[2:])
        return torch.einsum("bhij,ijd->bhid", probabilities, F.embedding(index, vectors))


def use_pairwise_form(model: BaseFairseqModel) -> None:
    """Let the relative attention of a model gather a vector for every pair of positions, from the tables
    it has.
    """
    for attention in model.modules():
        if isinstance(attention, SelfAttention) and attention.relative_values is not None:
            keys, values = attention.logit_terms[0].table, attention.relative_values.table
            attention.logit_terms[0], attention.relative_values = PairwiseKeys(keys), PairwiseValues(values)


def training_step(
    model: BaseFairseqModel, sentences: int, length: int, vocabulary: int
) -> Callable[[], None]:
    """A call that does one update on a fixed batch: label-smoothed loss, backward pass, Adam."""
    generator = torch.Generator().manual_seed(1)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = model.to(device).train()
    tag = 4  # the first language's
    tokens = torch.randint(8, vocabulary, (2, sentences, length), generator=generator).to(device)
    source, target = tokens
    prefix = torch.cat([torch.full_like(target[:, :1], tag), target[:, :-1]], dim=1)
    lengths = torch.full((sentences,), length, device=device)

    def loss() -> Tensor:
        output = model(source, lengths, prefix)
        log_probabilities = model.get_normalized_probs(output, log_probs=True)
        return label_smoothed_nll_loss(
            log_probabilities.flatten(0, 1), target.flatten(), 0.1, ignore_index=1
        )[0]

    return update(model, loss)


def update(model: BaseFairseqModel, loss: Callable[[], Tensor]) -> Callable[[], None]:
    """A call that computes a loss, its backward pass and a step of Adam."""
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9)

    def step() -> None:
        loss().backward()
        optimizer.step()
        optimizer.zero_grad()
        if torch.cuda.is_available():
            torch.cuda.synchronize()

    return step
