"""Dropout of whole word types in the embedding table (Gal and Ghahramani 2016; NMTGMinor)."""

from fairseq.modules import FairseqDropout
from torch import Tensor, nn


class WordDropoutEmbedding(nn.Embedding):
    """An embedding table that, in training, and where fairseq's `--retain-dropout` asks for it, zeroes the
    rows of random types for a whole batch.

    The draw is fresh in every call, so encoder and decoder drop different types of a shared table;
    a projection tied to `weight` is not touched.
    """

    def __init__(self, embedding: nn.Embedding, p: float) -> None:
        """Takes over the table of `embedding` (V×C) and its padding index; no random number is drawn. Raises
        ValueError for a probability that is not at least 0 and below 1.
        """
        super().__init__(
            embedding.num_embeddings,
            embedding.embedding_dim,
            embedding.padding_idx,
            _weight=embedding.weight.data,
        )
        if not 0 <= p < 1:
            raise ValueError(f"word dropout is {p}; it must be at least 0 and below 1")
        self.p = p
        self.module_name, self.apply_during_inference = type(self).__name__, False

    make_generation_fast_ = FairseqDropout.make_generation_fast_

    def forward(self, tokens: Tensor) -> Tensor:
        """From token ids of any shape to their embeddings, shape × C."""
        embedded = super().forward(tokens)
        if self.p == 0 or not (self.training or self.apply_during_inference):
            return embedded
        kept = embedded.new_empty(self.num_embeddings).bernoulli_(1 - self.p).div_(1 - self.p)  # V
        return embedded * kept[tokens].unsqueeze(-1)
