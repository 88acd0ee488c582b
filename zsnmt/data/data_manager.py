"""fairseq's manager of multilingual data, with tags, directions of validation and checks of its own."""

import math
from argparse import Namespace
from collections import OrderedDict
from pathlib import Path
from weakref import WeakValueDictionary

import numpy as np
from fairseq import utils
from fairseq.data import AppendTokenDataset, Dictionary, StripTokenDataset, TruncateDataset
from fairseq.data.indexed_dataset import MMapIndexedDataset
from fairseq.data.multilingual.multilingual_data_manager import MultilingualDatasetManager
from fairseq.data.multilingual.sampling_method import SamplingMethod
from torch.utils.data import Dataset

from zsnmt.data.binarised_folder import find_data
from zsnmt.data.language_tags import TagPlacement
from zsnmt.data.tagged_pairs import DirectionSets, TaggedPairs
from zsnmt.errors import InputError
from zsnmt.files.checksums import identity
from zsnmt.languages import Direction, parse_direction


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
        self.texts = WeakValueDictionary[tuple, MMapIndexedDataset]()  # those in use, by their files

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

    def load_data(self, path: str, vdict: Dictionary, impl: str | None) -> Dataset:
        """The stock text; a text of several names, as each direction has one of a multiway set, is opened
        once.
        """
        files = [Path(f"{path}.{ending}") for ending in ("bin", "idx")]
        key = tuple(identity(file) for file in files if file.is_file())
        if (text := self.texts.get(key)) is not None:
            return text
        text = super().load_data(path, vdict, impl)
        if isinstance(text, MMapIndexedDataset):  # others keep what one reader asked for last
            self.texts[key] = text
        return text

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
