"""Sentence pairs with language tags, as fairseq data sets."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from fairseq.data import ConcatDataset, LanguagePairDataset
from fairseq.data.data_utils import collate_tokens
from torch.utils.data import Dataset

from zsnmt.data.language_tags import TagPlacement
from zsnmt.languages import Direction, language_tag


class TaggedPairs(LanguagePairDataset):
    """Sentence pairs of one direction, tags in place; pairs of several directions mix in a batch.

    `source`, `target`: indexable sets of token id vectors that end in EOS, with `sizes`; `target`
    is None at inference. `pivot`: where they are known, the pivot language and its sentences, of which both
    sides of the pairs are translations.
    """

    def __init__(
        self,
        direction: Direction,
        placement: TagPlacement,
        source: Dataset,
        target: Dataset | None = None,
        source_sizes: Sequence[int] | None = None,
        left_pad_source: bool = True,
        left_pad_target: bool = False,
        pivot: tuple[str, Dataset] | None = None,
    ) -> None:
        self.direction = direction
        self.prefix = source_prefix(placement, direction)
        if pivot:
            language, self.pivot = pivot
            self.pivot_prefix = source_prefix(placement, Direction(language, direction.target))
        else:
            self.pivot = None
        self.start = torch.tensor([placement.decoder_start(direction)])
        self.languages = torch.tensor([placement.dictionary.index(language_tag(each)) for each in direction])
        sizes = np.asarray(source.sizes if source_sizes is None else source_sizes)
        dictionary = placement.dictionary
        super().__init__(
            source,
            sizes + len(self.prefix),
            dictionary,
            target,
            None if target is None else target.sizes,
            dictionary,
            left_pad_source=left_pad_source,
            left_pad_target=left_pad_target,
        )

    def __getitem__(self, index: int) -> dict:
        example = super().__getitem__(index)
        example["direction"] = self.direction
        if len(self.prefix):
            example["source"] = torch.cat([self.prefix, example["source"]])
        if example["target"] is not None:
            example["prev_output_tokens"] = torch.cat([self.start, example["target"][:-1]])
            example["languages"] = self.languages
            known = self.pivot is not None
            example["pivot"] = torch.cat([self.pivot_prefix, self.pivot[index]]) if known else None
        return example

    def collater(self, samples: list[dict], pad_to_length: dict | None = None) -> dict:
        """The stock batch, with `languages`: tags of each row's source and target (B×2).

        Where some rows have a sentence of the pivot, `pivot` has these as sources, `src_tokens` and
        `src_lengths`, and which `rows` they are (a mask of B).
        """
        batch = super().collater(samples, pad_to_length)
        if batch and "languages" in samples[0]:
            lengths = torch.LongTensor([len(sample["source"]) for sample in samples])
            _, order = lengths.sort(descending=True)  # as fairseq sorts them
            samples = [samples[place] for place in order.tolist()]
            batch["languages"] = torch.stack([sample["languages"] for sample in samples])
            if sentences := [sample["pivot"] for sample in samples if sample["pivot"] is not None]:
                tokens = collate_tokens(sentences, self.src_dict.pad(), left_pad=self.left_pad_source)
                batch["pivot"] = {
                    "src_tokens": tokens,
                    "src_lengths": tokens.ne(self.src_dict.pad()).sum(dim=1),
                    "rows": torch.tensor([sample["pivot"] is not None for sample in samples]),
                }
        return batch

    def random_choice_in_dataset(self, generator: np.random.RandomState, number: int) -> np.ndarray:
        """The indices of so many pairs at random; fairseq asks for it where directions are sampled.

        A direction that gives more pairs than it has gives each of them before any of them again, where
        fairseq would draw some three times and others never.
        """
        if number <= len(self):
            return generator.choice(len(self), number, replace=False)
        passes, rest = divmod(number, len(self))
        whole = [generator.permutation(len(self)) for _ in range(passes)]
        return np.concatenate([*whole, generator.choice(len(self), rest, replace=False)])


def source_prefix(placement: TagPlacement, direction: Direction) -> torch.Tensor:
    """Ids of the tags at the head of the source (n, 0 to 2)."""
    return torch.tensor(placement.source_prefix(direction), dtype=torch.long)


class DirectionSets(ConcatDataset):
    """Data sets of several directions, one after the other, each batch of one direction only.

    A batch names its direction, so that validation reports a loss per direction.
    """

    def ordered_indices(self) -> np.ndarray:
        """All indices, direction by direction, each sorted by length."""
        of_direction = np.repeat(np.arange(len(self.datasets)), self.real_sizes)
        lengths = np.array(self.sizes).reshape(len(self), -1)
        return np.lexsort((*lengths.T[::-1], of_direction))

    def batch_by_size(self, indices: np.ndarray, **limits: Any) -> list[list[int]]:
        """The stock batches, cut at the borders between directions; nothing is lost or reordered."""
        pieces = []
        for batch in super().batch_by_size(indices, **limits):
            which = np.searchsorted(self.cumulative_sizes, batch, side="right")
            pieces += [
                list(piece) for piece in np.split(np.asarray(batch), np.flatnonzero(np.diff(which)) + 1)
            ]
        return pieces

    def collater(self, samples: list[dict], **extra_args: Any) -> dict:
        """The stock batch, with the name of its `direction`."""
        batch = super().collater(samples, **extra_args)
        if samples:
            batch["direction"] = str(samples[0]["direction"])
        return batch
