"""Sentence pairs with language tags, as fairseq data sets."""

import math
from argparse import Namespace
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from fairseq import utils
from fairseq.data import (
    AppendTokenDataset,
    ConcatDataset,
    Dictionary,
    LanguagePairDataset,
    StripTokenDataset,
    TruncateDataset,
)
from fairseq.data.data_utils import collate_tokens
from fairseq.data.multilingual.multilingual_data_manager import MultilingualDatasetManager
from fairseq.data.multilingual.sampling_method import SamplingMethod
from torch.utils.data import Dataset

from zsnmt.data.binarised_folder import find_data
from zsnmt.data.language_tags import TagPlacement
from zsnmt.errors import InputError
from zsnmt.languages import Direction, language_tag, parse_direction


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


class TaggedDataManager(MultilingualDatasetManager):
    """fairseq's manager of multilingual data (sampling, shards), with the tags placed by `TaggedPairs`."""

    def __init__(
        self,
        args: Namespace,
        lang_pairs: list[str],
        valid_lang_pairs: list[str],
        langs: list[str],
        dicts: dict[str, Dictionary],
        sampling_method: SamplingMethod,
    ) -> None:
        super().__init__(args, lang_pairs, langs, dicts, sampling_method)
        self.valid_lang_pairs = valid_lang_pairs
        self.placement: TagPlacement  # which the task sets

    def get_data_paths_and_lang_pairs(self, split: str) -> tuple[dict, dict]:
        """The stock folders and directions, in validation those to validate on; `InputError` for extra data
        that only one of their two options names.
        """
        paths, lang_pairs = super().get_data_paths_and_lang_pairs(split)
        if self.is_validation(split):
            lang_pairs["main"] = self.valid_lang_pairs
        if unpaired := sorted(paths.keys() ^ lang_pairs.keys()):
            raise InputError(
                f"'{unpaired[0]}' is named by only one of --extra-data and --extra-lang-pairs, and would not "
                "be trained on; name it in both, or in neither"
            )
        return paths, {category: [*dict.fromkeys(pairs)] for category, pairs in lang_pairs.items()}

    def get_split_num_data_shards(self, split: str) -> dict[str, int]:
        """The stock numbers of shards; `InputError` for a direction without text."""
        shards = super().get_split_num_data_shards(split)
        paths, lang_pairs = self.get_data_paths_and_lang_pairs(split)
        for category, pairs in lang_pairs.items():
            for pair in pairs:
                if not shards.get(f"{category}:{pair}"):
                    raise InputError(
                        f"{paths[category]} has no binarised '{split}' text for {pair}: add the files to the "
                        "parallel text and run zsnmt prepare again, or leave the direction out"
                    )
        return shards

    def get_train_dataset_sizes(
        self, data_param_list: list[dict], datasets: list[tuple], epoch: int, shard_epoch: int | None = None
    ) -> list[int]:
        """The number of pairs of each direction in all shards, by which temperature sampling weighs it.

        fairseq guesses the sizes of shards that it has not read: a training that goes on in a later shard
        would sample otherwise than one that was not stopped.
        """
        if self.args.sampling_method == "temperature":
            for parameters in data_param_list:
                paths, _ = self.get_data_paths_and_lang_pairs(parameters["split"])
                folders = utils.split_paths(paths[parameters["data_category"]])
                known = self._training_data_sizes[parameters["key"]]
                number = self.get_split_num_data_shards(parameters["split"])[parameters["key"]]
                for shard in range(number if number > 1 else 0):
                    if shard not in known:
                        there = {**parameters, "data_path": folders[shard]}
                        known[shard] = len(self.load_a_dataset(**there, combine=True))
        return super().get_train_dataset_sizes(data_param_list, datasets, epoch, shard_epoch)

    def load_a_dataset(
        self,
        split: str,
        data_path: str,
        src: str,
        src_dict: Dictionary,
        tgt: str,
        tgt_dict: Dictionary,
        combine: bool,
        **_: object,
    ) -> TaggedPairs:
        """The pairs of a direction, with tags; those of validation are checked for their lengths."""
        direction = parse_direction(f"{src}-{tgt}")
        source, target, _ = self.load_lang_dataset(
            data_path,
            split,
            src,
            src_dict,
            tgt,
            tgt_dict,
            combine,
            self.args.dataset_impl,
            self.args.upsample_primary,
            self.args.max_source_positions - len(self.placement.source_prefix(direction)),
            truncate_source=self.args.truncate_source,
        )
        pairs = TaggedPairs(
            direction,
            self.placement,
            source,
            target=target,
            left_pad_source=self.args.left_pad_source,
            left_pad_target=self.args.left_pad_target,
            pivot=self.load_pivot(Path(data_path), split, direction, number=len(source)),
        )
        if self.is_validation(split):
            self.check_lengths(pairs, Path(data_path), split)
        return pairs

    def load_pivot(
        self, folder: Path, split: str, direction: Direction, number: int
    ) -> tuple[str, Dataset] | None:
        """The pivot language and its sentences of a direction's pairs, if the folder has them; `InputError`
        if there are not as many.
        """
        pivot = self.langs[0]
        path = None if pivot in direction else find_data(folder, split, direction, language=pivot)
        if path is None:
            return None
        dictionary = self.dicts[pivot]
        sentences = self.load_data(str(path), dictionary, self.args.dataset_impl)
        if len(sentences) != number:
            raise InputError(
                f"{path}.idx has {len(sentences)} sentences, and there are {number} pairs beside them; "
                "make it again of one sentence for each pair, or remove it"
            )
        longest, eos = self.args.max_source_positions - len(self.placement.sides), dictionary.eos()
        words = TruncateDataset(StripTokenDataset(sentences, eos), longest - 1)
        return pivot, AppendTokenDataset(words, eos)

    def is_validation(self, split: str) -> bool:
        """Whether a split is one of validation."""
        return split in getattr(self.args, "valid_subset", "").split(",")

    def check_lengths(self, pairs: TaggedPairs, folder: Path, split: str) -> None:
        """`InputError` for a sentence too long for the model or a batch, of which fairseq would say so at the
        first validation, and lose what it has trained until then. What is too long for the model alone,
        fairseq leaves out where it is told to.
        """
        direction = pairs.direction
        left_out = getattr(self.args, "skip_invalid_size_inputs_valid_test", False)
        # fairseq takes --max-tokens-valid for a word.
        batch = int(self.args.max_tokens_valid or self.args.max_tokens or 0) or math.inf
        for language, sizes, model, end in (
            (direction.source, pairs.src_sizes, "the model reads", "source"),
            (direction.target, pairs.tgt_sizes, "the model writes", "target"),
        ):
            positions = getattr(self.args, f"max_{end}_positions")
            limit, what, option = min(
                (positions, model, f"--max-{end}-positions"), (batch, "a batch has", "--max-tokens-valid")
            )
            longer = np.flatnonzero((sizes > limit) & (sizes <= positions if left_out else True))
            if len(longer):
                path = find_data(folder, split, direction, language=language)
                raise InputError(
                    f"{path}.idx: line {longer[0] + 1} of this validation text has "
                    f"{sizes[longer[0]]} tokens with its tags and its end, and {what} {limit} at most; "
                    f"shorten the line (in the text the file is {split}.{language}, or that of the pair), "
                    f"remove it in both languages, or give {option} {max(sizes)}"
                )

    def load_into_concat_dataset(
        self, split: str, datasets: list[tuple], data_param_list: list
    ) -> DirectionSets:
        """The sets of all directions as one, whose batches are of one direction each."""
        return DirectionSets(list(OrderedDict(datasets).values()))

    def _shared_collater(self) -> bool:
        return True  # the tags are in the examples
