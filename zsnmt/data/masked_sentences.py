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

    `lines` are tokens (T each) that end in EOS, with their `sizes`. In a batch the target is padding where
    nothing is to predict.
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
        self.lines, self.dictionary, self.masking = lines, dictionary, masking
        self.length, self.seed = length, seed
        self.sizes = np.minimum(np.asarray(sizes) + 1, length)
        self.epoch = 1

    def __getitem__(self, index: int) -> dict:
        line = self.lines[index].long()
        end = line[-1:]
        # Of a fake language, if it has special symbols of its own.
        begin = end - (self.dictionary.eos() - self.dictionary.bos())
        return {"id": index, "tokens": torch.cat([begin, line[:-1][: self.length - 2], end])}

    def __len__(self) -> int:
        return len(self.lines)

    def collater(self, samples: Sequence[dict]) -> dict:
        """A batch: src_tokens and target, B×T."""
        if not samples:
            return {}
        lines = [sample["tokens"] for sample in samples]
        tokens = data_utils.collate_tokens(lines, self.dictionary.pad())
        numbers = [sample["id"] for sample in samples]
        source, target = self.mask(numbers, [*map(len, lines)], tokens.numpy())
        return {
            "id": torch.tensor(numbers),
            "net_input": {
                "src_tokens": torch.from_numpy(source),
                "src_lengths": torch.tensor([*map(len, lines)]),
            },
            "target": torch.from_numpy(target),
            "nsentences": len(lines),
            "ntokens": sum(map(len, lines)),
        }

    def mask(
        self, numbers: Sequence[int], lengths: Sequence[int], tokens: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Source and target of lines by number, with their lengths and tokens, all B×T; each line has draws
        of its own.
        """
        chance, kind = np.ones(tokens.shape), np.zeros(tokens.shape)
        draws = [np.random.default_rng((self.seed, self.epoch, number)) for number in numbers]
        for row, (own, length) in enumerate(zip(draws, lengths)):
            chance[row, 1 : length - 1], kind[row, 1 : length - 1] = own.random((2, length - 2))
        chosen = chance < self.masking.chosen
        kept, random = kind < self.masking.kept, chosen & (kind >= 1 - self.masking.random)
        source = np.where(chosen & ~kept, self.dictionary.index(MASK), tokens)
        symbols = [
            own.integers(len(self.dictionary), size=number)
            for own, number in zip(draws, np.count_nonzero(random, axis=1))
            if number
        ]
        source[random] = np.concatenate(symbols) if symbols else []
        return source, np.where(chosen, tokens, self.dictionary.pad())

    def set_epoch(self, epoch: int) -> None:
        """Mask otherwise from now on."""
        self.epoch = epoch

    @property
    def can_reuse_epoch_itr_across_epochs(self) -> bool:
        """No: each epoch has batches of its own, too."""
        return False

    def num_tokens(self, index: int) -> int:
        """How many tokens a line has, <s> and </s> among them."""
        return self.sizes[index]

    def size(self, index: int) -> int:
        """How many tokens a line adds to the size of a batch: all of its own."""
        return self.sizes[index]

    def ordered_indices(self) -> np.ndarray:
        """Lines by length, those of a length at random by numpy's state."""
        order = np.random.permutation(len(self))
        return order[np.argsort(self.sizes[order], kind="mergesort")]
