"""What each target language writes of a vocabulary that grew at its end, language by language."""

import math
from collections.abc import Callable, Sequence

import torch
from fairseq import utils
from torch import Tensor, nn


class GrowingVocabulary(nn.Module):
    """The output layer of a model to which languages were added with everything else frozen.

    A language writes what the vocabulary held when it was complete: one whose tag is below the first size
    writes the rows below that size, one whose tag lies between two sizes those below the second, and so on.
    Rows beyond are not computed, so a batch into languages of one stage is, bit for bit, that of the model
    of that stage.
    """

    def __init__(self, sizes: Sequence[int]) -> None:
        """`sizes`: of the vocabulary after each stage of its growth; the last is its own, V. Raises
        ValueError unless they are two or more and ascend.
        """
        super().__init__()
        if list(sizes) != sorted(set(sizes)) or len(sizes) < 2:
            raise ValueError(
                f"sizes of the vocabulary are {list(sizes)}; they must be two or more, and ascend"
            )
        self.sizes = tuple(sizes)
        self.register_buffer("borders", torch.tensor(self.sizes[:-1]), persistent=False)

    def size_for(self, tag: int | None) -> int:
        """How many rows the language of a tag writes, or any of the first stage for None."""
        return self.sizes[0 if tag is None else sum(tag >= size for size in self.sizes[:-1])]

    def forward(self, features: Tensor, prev_output_tokens: Tensor, table: Tensor) -> Tensor:
        """From features (B×T×C) and the output table (V×C) to logits (B×T×V), -inf where the language cannot
        write.

        The language is read from the first token of the prefix (B×≥T), its tag.
        """
        stages = prev_output_tokens[:, :1].ge(self.borders).sum(-1)  # B

        def project(x: Tensor, size: int) -> Tensor:
            # As in the stock layer: a product with three axes may differ in the last bits.
            flat = x.flatten(0, 1)  # BT×C
            logits = nn.functional.linear(flat, table[:size]).unflatten(0, x.shape[:2])  # B×T×size
            return self.widen(logits, logits.new_tensor(-math.inf))

        return self.apply_by_stage(project, features, stages)

    def normalize(self, logits: Tensor, log_probs: bool, mean_beyond: bool = False) -> Tensor:
        """From logits (…×V) to (log-)probabilities over what each position's language writes; 0 (-inf)
        beyond.

        With `mean_beyond` the log-probabilities beyond are the mean of those within. Label smoothing, which
        takes the mean over the whole vocabulary, then takes that over what the language writes.
        """
        stages = logits[..., self.borders].ne(-math.inf).sum(-1)  # the logits tell how far a language writes

        def normalize_within(x: Tensor, size: int) -> Tensor:
            within = (utils.log_softmax if log_probs else utils.softmax)(x[..., :size], dim=-1)
            if log_probs and mean_beyond:
                return self.widen(within, within.mean(-1, keepdim=True))
            return self.widen(within, within.new_tensor(-math.inf if log_probs else 0))

        return self.apply_by_stage(normalize_within, logits, stages)

    def apply_by_stage(self, function: Callable[[Tensor, int], Tensor], x: Tensor, stages: Tensor) -> Tensor:
        """`function(x, size)` for x of each stage: `stages` has the leading axes of x; the result ends in
        V.
        """
        present = stages.unique().tolist()
        if len(present) == 1:
            return function(x, self.sizes[present[0]])
        results = {stage: function(x[stages == stage], self.sizes[stage]) for stage in present}
        result = results[present[0]].new_empty((*x.shape[:-1], self.sizes[-1]))
        for stage, values in results.items():
            result[stages == stage] = values
        return result

    def widen(self, x: Tensor, value: Tensor) -> Tensor:
        """x (…×size) with `value` (…×1, or a single one) in the columns up to V."""
        return torch.cat([x, value.expand(*x.shape[:-1], self.sizes[-1] - x.size(-1))], dim=-1)

    def extra_repr(self) -> str:
        return ", ".join(map(str, self.sizes))
