"""`zs_masked_lm`: one masked language model for the text of several languages, line by line."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fairseq import utils
from fairseq.data import ConcatDataset, Dictionary, FairseqDataset, data_utils
from fairseq.data.iterators import EpochBatchIterating
from fairseq.dataclass import FairseqDataclass
from fairseq.tasks import FairseqTask, register_task
from omegaconf import II, MISSING
from torch import nn

from zsnmt.data.masked_sentences import MASK, MaskedSentences, Masking
from zsnmt.data.reading import load_dictionary
from zsnmt.errors import InputError
from zsnmt.languages import LANGUAGES_FILE, check_language
from zsnmt.modules.cpu_bfloat16 import cpu_bfloat16

TRAIN = "train"  # begins the names of splits that are trained on


@dataclass
class MaskedLanguageModelConfig(FairseqDataclass):
    """Options of the task, by fairseq's names and with the study's defaults."""

    data: str = field(default=MISSING, metadata={"help": "folder with dict.txt and binarised text"})
    tokens_per_sample: int = field(
        default=128, metadata={"help": "tokens of a line, <s> and </s> among them; the rest is cut off"}
    )
    mask_prob: float = field(default=0.15, metadata={"help": "probability that a token is to be predicted"})
    leave_unmasked_prob: float = field(default=0.1, metadata={"help": "share of these that stay as they are"})
    random_token_prob: float = field(
        default=0.1, metadata={"help": "share of these that become any symbol, all equally probable"}
    )
    cpu_bf16: bool = field(
        default=False,
        metadata={
            "help": "train in bfloat16 where it is safe (autocast) on a CPU that multiplies in it; another "
            "trains in float32"
        },
    )
    seed: int = II("common.seed")


@register_task("zs_masked_lm", dataclass=MaskedLanguageModelConfig)
class ZeroShotMaskedLMTask(FairseqTask):
    """Masked language modelling as Dufter and Schütze (2020) and Ravishankar and Søgaard (2021) train it.

    The text of a split is `{split}.{language}` for all languages of `languages.txt`, after one another, or
    `{split}` alone where there is no such file, as fairseq-preprocess writes it. A split may also be named
    with its language: after training on `train`, `--valid-subset valid,valid.en` gives the loss of all
    languages and of one.

    Raises `InputError` for what is missing in the folder, and for options out of range.
    """

    def __init__(self, cfg: MaskedLanguageModelConfig, dictionary: Dictionary) -> None:
        super().__init__(cfg)
        self.dictionary = dictionary
        self.languages = languages_in(Path(utils.split_paths(cfg.data)[0]))

    @classmethod
    def setup_task(cls, cfg: MaskedLanguageModelConfig, **kwargs: object) -> "ZeroShotMaskedLMTask":
        """The task, with the mask's symbol added to the dictionary of the data folder; `InputError` without
        this dictionary.
        """
        path = Path(utils.split_paths(cfg.data)[0]) / "dict.txt"
        if not path.is_file():
            raise InputError(
                f"{path} is missing; make the folder with zsnmt prepare-bert or fairseq-preprocess "
                "--only-source"
            )
        check_options(cfg)
        dictionary = load_dictionary(path)
        dictionary.add_symbol(MASK)
        return cls(cfg, dictionary)

    def load_dataset(self, split: str, epoch: int = 1, combine: bool = False, **kwargs: object) -> None:
        """Load the text of a split, masked anew in every epoch; that of validation is masked as for a
        perplexity.
        """
        cfg = self.cfg
        masking = Masking(cfg.mask_prob, cfg.leave_unmasked_prob, cfg.random_token_prob)
        if not split.startswith(TRAIN):
            masking = masking.full_masking
        folders = utils.split_paths(cfg.data)
        text = self.text(Path(folders[(epoch - 1) % len(folders)]), split)
        self.datasets[split] = MaskedSentences(
            text, text.sizes, self.dictionary, masking=masking, length=cfg.tokens_per_sample, seed=cfg.seed
        )

    def text(self, folder: Path, split: str) -> ConcatDataset:
        """The lines of a split, in the order of languages; `InputError` where there are none."""
        names = (
            [split]
            if "." in split or not self.languages
            else [f"{split}.{language}" for language in self.languages]
        )
        parts = [data_utils.load_indexed_dataset(str(folder / name), self.dictionary) for name in names]
        if None in parts:
            raise InputError(
                f"{folder / names[parts.index(None)]}.idx is missing; make the folder with zsnmt prepare-bert"
            )
        return ConcatDataset(parts)

    def get_batch_iterator(
        self, dataset: FairseqDataset, *args: Any, max_positions: int | None = None, **kwargs: Any
    ) -> EpochBatchIterating:
        """The stock iterator with batches of any size: the fork drops a last one that 8 does not divide.

        Raises `InputError` for a line of training that is too long, which fairseq would leave out.
        """
        trained = any(dataset is text for split, text in self.datasets.items() if split.startswith(TRAIN))
        if trained and max_positions is not None and (longest := dataset.sizes.max()) > max_positions:
            raise InputError(
                f"a line of training has {longest} tokens, <s> and </s> among them, and --max-positions or "
                f"--max-tokens allows {max_positions}; give more, or cut lines by --tokens-per-sample "
                f"{max_positions}"
            )
        options = {**kwargs, "max_positions": max_positions, "required_batch_size_multiple": 1}
        return super().get_batch_iterator(dataset, *args, **options)

    def train_step(self, sample: dict, model: nn.Module, *args: Any, **kwargs: Any) -> tuple:
        """The stock step, in mixed precision on a CPU if asked for."""
        with cpu_bfloat16(self.cfg.cpu_bf16, model):
            return super().train_step(sample, model, *args, **kwargs)

    @property
    def source_dictionary(self) -> Dictionary:
        """The symbols of the text, and the mask."""
        return self.dictionary

    @property
    def target_dictionary(self) -> Dictionary:
        """The symbols of what is predicted, which are those of the source."""
        return self.dictionary

    def max_positions(self) -> int:
        """How many tokens a line has at most."""
        return self.cfg.tokens_per_sample


def languages_in(folder: Path) -> list[str]:
    """The languages that `languages.txt` of a folder lists, which may be one; none without the file.
    `InputError` for a file that lists something else.
    """
    path = folder / LANGUAGES_FILE
    try:
        return [*map(check_language, path.read_text(encoding="utf-8").split())] if path.is_file() else []
    except ValueError as error:  # also of bytes that are not UTF-8
        raise InputError(f"{path}: {error}; make the folder with zsnmt prepare-bert") from error


def check_options(cfg: MaskedLanguageModelConfig) -> None:
    """`InputError` for probabilities that are none, and lines without room for a token."""
    replaced = cfg.leave_unmasked_prob + cfg.random_token_prob
    if not (
        0 <= cfg.mask_prob <= 1 and min(cfg.leave_unmasked_prob, cfg.random_token_prob) >= 0 and replaced <= 1
    ):
        raise InputError(
            f"--mask-prob {cfg.mask_prob}, --leave-unmasked-prob {cfg.leave_unmasked_prob} and "
            f"--random-token-prob {cfg.random_token_prob} must be 0 to 1, as must the sum of the last two; "
            "change them"
        )
    if cfg.tokens_per_sample < 3:
        raise InputError(
            f"--tokens-per-sample {cfg.tokens_per_sample} has no room between <s> and </s>; give 3 or more"
        )
