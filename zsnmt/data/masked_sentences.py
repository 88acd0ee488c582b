"""Sentences whose tokens are masked anew in every epoch, as masked language models are trained."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from fairseq.data import Dictionary, FairseqDataset, data_utils
from torch import Tensor

MASK = "<mask>"


class Masking(NamedTuple):
    """How tokens are chosen and replaced (Devlin et al. 2019, section 3.1; Dufter and Schütze 2020).

    Every token but <s>, </s> and padding is chosen with probability `chosen`. Of the chosen ones, shares of
    `kept` stay, of `random` become any symbol of the dictionary, all equally probable, and the others become
    <mask>.
    """

    chosen: float = 0.15
    kept: float = 0.1
    random: float = 0.1

    @property
    def full_masking(self) -> "Masking":
        """As for a perplexity: every token that is chosen becomes <mask>."""
        return Masking(self.chosen, 0.0, 0.0)


class MaskedSentences(FairseqDataset):
    """A line each: `<s> tokens </s>`, cut to `length` tokens, right-padded in batches, masked by seed, epoch
    and line alone.

    `lines` are tokens that end in EOS, with their `sizes`. In a batch the target is padding where nothing is
    to predict.
    """

    def __init__(
        self,
        lines: Sequence[Tensor],
        sizes: Sequence[int] | np.ndarray,
        dictionary: Dictionary,
        masking: Masking,
        length: int,
        seed: int,
    ) -> None:
        super().__init__()
        self.lines, self.dictionary, self.masking, self.length, self.seed = (
            lines,
            dictionary,
            masking,
            length,
            seed,
        )
        self.sizes = np.minimum(np.asarray(sizes) + 1, length)
        self.epoch = 1

    def __getitem__(self, index: int) -> dict:
        line = self.lines[index].long()
        end = line[-1:]
        begin = end - (
            self.dictionary.eos() - self.dictionary.bos()
        )  # of a fake language, if it has special symbols of its own
        return {"id": index, "tokens": torch.cat([begin, line[:-1][: self.length - 2], end])}

    def __len__(self) -> int:
        return len(self.lines)

    def mask(self, index: int, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Source and target of a line, both T."""
        draws = np.random.default_rng((self.seed, self.epoch, index))
        chance, kind = draws.random((2, len(tokens) - 2))
        chosen = np.flatnonzero(chance < self.masking.chosen)
        kept, random = kind[chosen] < self.masking.kept, kind[chosen] >= 1 - self.masking.random
        source, target = tokens.clone(), torch.full_like(tokens, self.dictionary.pad())
        chosen += 1  # after <s>
        target[chosen] = tokens[chosen]
        source[chosen[~kept & ~random]] = self.dictionary.index(MASK)
        source[chosen[random]] = torch.from_numpy(draws.integers(len(self.dictionary), size=random.sum()))
        return source, target

    def collater(self, samples: Sequence[dict]) -> dict:
        """A batch: src_tokens and target, B×T."""
        if not samples:
            return {}
        pairs = [self.mask(sample["id"], sample["tokens"]) for sample in samples]
        sources, targets = (data_utils.collate_tokens(side, self.dictionary.pad()) for side in zip(*pairs))
        lengths = torch.tensor([len(source) for source, _ in pairs])
        return {
            "id": torch.tensor([sample["id"] for sample in samples]),
            "net_input": {"src_tokens": sources, "src_lengths": lengths},
            "target": targets,
            "nsentences": len(samples),
            "ntokens": int(lengths.sum()),
        }

    def set_epoch(self, epoch: int) -> None:
        """Mask otherwise from now on."""
        self.epoch = epoch

    @property
    def can_reuse_epoch_itr_across_epochs(self) -> bool:
        """No: each epoch has batches of its own, too."""
        return False

    def num_tokens(self, index: int) -> int:
        return self.sizes[index]

    def size(self, index: int) -> int:
        return self.sizes[index]

    def ordered_indices(self) -> np.ndarray:
        """Lines by length, those of a length at random by numpy's state."""
        order = np.random.permutation(len(self))
        return order[np.argsort(self.sizes[order], kind="mergesort")]
