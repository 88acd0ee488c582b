"""`zs_translation`: one model for all directions, also those without training text."""

import functools
import gc
import hashlib
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from fairseq import metrics, utils
from fairseq.criterions import FairseqCriterion
from fairseq.data import Dictionary, ListDataset
from fairseq.data.iterators import EpochBatchIterating
from fairseq.logging.meters import MetersDict
from fairseq.sequence_generator import SequenceGenerator
from fairseq.sequence_scorer import SequenceScorer
from fairseq.tasks import register_task
from fairseq.tasks.translation_multi_simple_epoch import TranslationMultiSimpleEpochTask
from torch import nn

from zsnmt.data.data_manager import TaggedDataManager
from zsnmt.data.directions import choose_directions, directions_of, inference_direction
from zsnmt.data.language_tags import TagPlacement
from zsnmt.data.reading import Codec, read_dictionary
from zsnmt.data.tagged_pairs import TaggedPairs
from zsnmt.data.task_options import (
    NO_LANGTOKS,
    refuse_other_searches,
    refuse_parts_of_shards,
    refuse_stock_options,
)
from zsnmt.decoding.length_penalty import FORMS, POWER, search_penalty
from zsnmt.errors import InputError
from zsnmt.languages import Direction, language_tag, parse_direction, read_languages
from zsnmt.modules.cpu_bfloat16 import cpu_bfloat16
from zsnmt.runs.trained_directions import TrainedDirections
from zsnmt.runs.validation import append_validation
from zsnmt.runs.validation_bleu import ValidationBleu
from zsnmt.runs.validation_losses import ValidationLosses, joined
from zsnmt.text.pipeline import TextPipeline

DEFAULT_PLACEMENT = "t_dec"
FEW_LINES = "few_lines"  # the name of the extra data with a few lines of zero-shot directions
AFTER_PIPELINES = "valid_bleu_lines"  # an option younger than `pipeline.json`, which older checkpoints lack


@register_task("zs_translation")
class ZeroShotTranslationTask(TranslationMultiSimpleEpochTask):
    """fairseq's multilingual task, with what goes wrong silently there put right.

    The tag placement is kept in the checkpoint and restored from it; languages have fixed ids from
    `languages.txt` beside the data; validation has directions of its own and a loss for each; no
    sentence is lost to batch sizes.
    """

    @staticmethod
    def add_args(parser: ArgumentParser) -> None:
        """Add the options of the stock task and those for tags and validation."""
        TranslationMultiSimpleEpochTask.add_args(parser)
        parser._option_string_actions["--lang-pairs"].help = (
            "directions to train, as in de-en,en-de, or from_pivot: those with text out of the first "
            "language (default: all with text)"
        )
        parser.add_argument(
            "--language-tags",
            default=None,
            choices=TagPlacement.NAMES,
            help="where language tags stand: on the source (enc) or as the decoder's first token (dec), "
            f"source (s) or target (t) language; kept in the checkpoint (default: {DEFAULT_PLACEMENT})",
        )
        parser.add_argument(
            "--valid-lang-pairs",
            default=None,
            metavar="PAIRS",
            help="directions to validate on, with a loss for each, or 'all' with validation text; the best "
            "checkpoint is chosen on those of training alone (default: the directions of training)",
        )
        parser.add_argument(
            "--early-stopping-on-zero-shot",
            action="store_true",
            help="choose the best checkpoint, and with --patience the end, on all directions of "
            "--valid-lang-pairs; scores and tables then say that these were not quite zero-shot (default: on "
            "those of training alone)",
        )
        parser.add_argument(
            "--valid-bleu-lines",
            type=int,
            default=0,
            metavar="N",
            help="translate the first N lines of each direction greedily at every validation of a training, "
            "for its BLEU (default: 0)",
        )
        parser.add_argument(
            "--length-penalty-form",
            choices=FORMS,
            default=POWER,
            help="what the score of a translation is divided by, with its length in tokens, EOS among them: "
            "power is fairseq's length^lenpen, gnmt is ((5 + length) / 6)^lenpen (default: %(default)s)",
        )
        parser.add_argument(
            "--cpu-bf16",
            action="store_true",
            help="train in bfloat16 where it is safe (autocast) on a CPU that multiplies in it; another "
            "trains in float32, and on a GPU there are --fp16, --bf16 and --amp",
        )

    @classmethod
    def setup_task(cls, args: Namespace, **kwargs: object) -> "ZeroShotTranslationTask":
        """Read languages and dictionary from the data folder; nothing else is needed at test time.

        Raises `InputError` for unknown languages, missing tags and options of the stock task that would have
        no effect here. Options that a checkpoint lacks, since it is older than they are, get their defaults.
        """
        before_pipelines = not hasattr(args, AFTER_PIPELINES)
        parser = ArgumentParser()
        cls.add_args(parser)
        parser.parse_args([args.data], namespace=args)  # sets what is not there
        refuse_stock_options(args, {**vars(parser.parse_args([args.data])), "langtoks": NO_LANGTOKS})
        folder = Path(utils.split_paths(args.data)[0])
        languages = read_languages(folder)
        dictionary = read_dictionary(folder, languages)
        training = args.source_lang is None and args.target_lang is None
        if training:
            refuse_parts_of_shards(args)
            choose_directions(args, folder, languages)
        else:
            args.lang_pairs = [str(inference_direction(args, languages))]
            args.valid_lang_pairs = None  # a checkpoint holds those of training
        # A checkpoint holds these as booleans, which eval_bool would turn into False.
        args.left_pad_source = utils.eval_bool(str(args.left_pad_source))
        args.left_pad_target = utils.eval_bool(str(args.left_pad_target))
        args.langtoks = dict(NO_LANGTOKS)
        task = cls(args, languages, dict.fromkeys(languages, dictionary), training)
        task.before_pipelines = before_pipelines
        return task

    def __init__(
        self, args: Namespace, langs: list[str], dicts: dict[str, Dictionary], training: bool
    ) -> None:
        super().__init__(args, langs, dicts, training)
        self.valid_directions = directions_of(args.valid_lang_pairs, langs) or self.lang_pairs
        self.valid_losses = ValidationLosses(self.valid_directions)
        self.data_manager = TaggedDataManager(
            args,
            self.lang_pairs,
            self.valid_directions,
            langs=langs,
            dicts=dicts,
            sampling_method=self.sampling_method,
        )
        self.place_tags(args.language_tags or DEFAULT_PLACEMENT)
        self.learned_before = TrainedDirections()
        self.restored = False  # from a checkpoint
        self.epoch_to_record: int | None = None  # of a validation that has not been recorded
        self.before_pipelines = False  # whether the model is of a time when text was cut into subwords alone

    def place_tags(self, placement: str) -> None:
        """Choose where the language tags stand from now on."""
        self.placement = TagPlacement(placement, self.target_dictionary)
        self.data_manager.placement = self.placement

    def state_dict(self) -> dict:
        """What a checkpoint keeps of the task."""
        return {
            "language_tags": self.placement.name,
            "languages": list(self.langs),
            "dictionary": self.dictionary_hash(),
            **self.learned.state(),
        }

    @property
    def learned(self) -> TrainedDirections:
        """The directions of training, those of extra data too, and those that the model was trained on
        before this training.
        """
        main = self.lang_pairs if self.training else []  # else it is the one that is asked for
        few = directions_of((self.args.extra_lang_pairs or {}).get(FEW_LINES), self.langs)
        return self.learned_before.after(main, self.extra_directions, few)

    @property
    def extra_directions(self) -> list[str]:
        """The directions that only `--extra-data`, such as synthetic text, are for."""
        extra = directions_of(",".join((self.args.extra_lang_pairs or {}).values()), self.langs)
        return [direction for direction in dict.fromkeys(extra) if direction not in self.lang_pairs]

    def dictionary_hash(self) -> str:
        """A checksum of the dictionary's symbols in their order."""
        return hashlib.sha256("\n".join(self.target_dictionary.symbols).encode("utf-8")).hexdigest()

    def load_state_dict(self, state_dict: dict) -> None:
        """Restore the tag placement; `InputError` if options, data folder, or the checkpoint of another model
        of an ensemble contradict the checkpoint.
        """
        if not state_dict:
            return
        placement, languages = state_dict["language_tags"], state_dict["languages"]
        if self.restored and placement != self.placement.name:
            raise InputError(
                f"one of the models was trained with --language-tags {self.placement.name}, another with "
                f"{placement}, and models that translate together read the same tags; leave one of them out"
            )
        # Data that is loaded, as that of validation is when training goes on, has its tags already.
        wanted = self.args.language_tags or (self.placement.name if self.datasets else placement)
        if wanted != placement:
            raise InputError(
                f"the checkpoint was trained with --language-tags {placement}, not {wanted}; "
                f"give --language-tags {placement}"
            )
        if self.langs[: len(languages)] != languages:
            raise InputError(
                f"the checkpoint's languages are {', '.join(languages)}, in this order, but those of "
                f"{self.args.data} are {', '.join(self.langs)}; a language is added at the end, never before"
            )
        if state_dict.get("dictionary", self.dictionary_hash()) != self.dictionary_hash():
            raise InputError(
                f"the dictionary of {self.args.data} is not the one the checkpoint was trained with; give "
                "the folder of its training, or the pipeline folder of its run"
            )
        self.learned_before = TrainedDirections.of_state(state_dict, synthetic=self.extra_directions)
        self.place_tags(placement)
        self.restored = True

    # Data

    def load_dataset(self, split: str, *args: Any, **kwargs: Any) -> None:
        """As fairseq does; of the shards that were read, only the last stays in memory beside the new one.

        `InputError` for training text that is to be trained on in half precision without a GPU.
        """
        half = split == getattr(self.args, "train_subset", None) and getattr(self.args, "fp16", False)
        if half and (self.args.cpu or not torch.cuda.is_available()):
            raise InputError(
                "--fp16 is for a GPU; on a CPU leave it out, or give --cpu-bf16 where the processor has it"
            )
        self.dataset_to_epoch_iter.pop(self.datasets.get(split), None)
        if self.has_sharded_data(split):
            gc.collect()  # fairseq's iterators refer to themselves
        super().load_dataset(split, *args, **kwargs)

    def get_batch_iterator(self, *args: Any, **kwargs: Any) -> EpochBatchIterating:
        """The stock iterator with batches of any size: the fork drops a last one that 8 does not divide."""
        return super().get_batch_iterator(*args, **{**kwargs, "required_batch_size_multiple": 1})

    # Training and validation

    def begin_epoch(self, epoch: int, model: nn.Module) -> None:
        """`InputError` for a training by the options of one that translates, or by some that do not go
        together.
        """
        super().begin_epoch(epoch, model)
        if getattr(self.args, "adaptive_softmax_cutoff", None) and self.args.criterion != "adaptive_loss":
            raise InputError(
                f"--adaptive-softmax-cutoff does not give all probabilities at once, which --criterion "
                f"{self.args.criterion} needs; give --criterion adaptive_loss, or leave the cutoff out"
            )
        if not self.training:
            raise InputError(
                "-s and -t name what is translated, and a training has none; leave them out, and name the "
                f"directions to train by --lang-pairs {self.lang_pairs[0]}"
            )

    def train_step(self, sample: dict, model: nn.Module, *args: Any, **kwargs: Any) -> tuple:
        """The stock step, in mixed precision on a CPU if asked for."""
        with cpu_bfloat16(self.args.cpu_bf16, model):
            return super().train_step(sample, model, *args, **kwargs)

    def begin_valid_epoch(self, epoch: int, model: nn.Module) -> None:
        """Remember the epoch, for the record."""
        super().begin_valid_epoch(epoch, model)
        self.epoch_to_record = epoch

    def valid_step(self, sample: dict, model: nn.Module, criterion: FairseqCriterion) -> tuple:
        """The stock step, with the loss also under the name of the batch's direction."""
        loss, sample_size, log = super().valid_step(sample, model, criterion)
        of_direction = self.valid_losses.of_batch(sample.get("direction"), log)
        if sample and self.validation_bleu:
            self.validation_bleu.keep(sample)
        if sample.get("direction") not in self.decisive_directions:
            log = {
                name: torch.zeros_like(value) if torch.is_tensor(value) else 0 for name, value in log.items()
            }
        return loss, sample_size, {**log, **of_direction}

    @functools.cached_property
    def decisive_directions(self) -> list[str]:
        """Directions that choose the best checkpoint: those of training, unless validation has none of them
        or others are to choose too.
        """
        if self.args.early_stopping_on_zero_shot:
            return self.valid_directions
        trained = {*self.lang_pairs, *self.extra_directions}
        return [
            direction for direction in self.valid_directions if direction in trained
        ] or self.valid_directions

    @property
    def choosing_directions(self) -> list[str]:
        """The direction whose figure alone chooses the best checkpoint, or else those that do so together."""
        metric = self.args.best_checkpoint_metric
        return [
            direction
            for direction in self.valid_directions
            if metric in (f"nll_loss_{direction}", f"bleu_{direction}")
        ] or self.decisive_directions

    @functools.cached_property
    def validation_bleu(self) -> ValidationBleu | None:
        """What translates some lines of validation; None where none are wanted."""
        return ValidationBleu(self.codec, lines) if (lines := self.args.valid_bleu_lines) > 0 else None

    def reduce_metrics(self, logging_outputs: list[dict], criterion: FairseqCriterion) -> None:
        """Log the stock figures, and the loss (bits per token) of each direction."""
        if sum(log.get("sample_size", 1) for log in logging_outputs) > 0:
            super().reduce_metrics(logging_outputs, criterion)
        else:
            metrics.log_scalar("loss", 0, 0)  # a batch that does not count; fairseq wants a loss of each
        losses = self.valid_losses.read(logging_outputs)  # none in training
        decisive = [loss for direction, loss in losses.items() if direction in self.decisive_directions]
        if decisive and not any("nll_loss" in log for log in logging_outputs):  # not every criterion has it
            together = joined(decisive)
            metrics.log_scalar("nll_loss", together.bits, together.tokens, round=3)
        for direction, loss in losses.items():
            metrics.log_scalar(f"nll_loss_{direction}", loss.bits, loss.tokens, round=3)

    def post_validate(self, model: nn.Module, stats: dict, agg: MetersDict) -> None:
        """Add the BLEU (0–100) of each direction to the figures, if it is wanted, and record those of the
        first `--valid-subset`, which chooses checkpoints, in `validation.jsonl` beside these.

        `InputError` for a figure that is to choose checkpoints and is not there.
        """
        if self.validation_bleu:
            scores = self.validation_bleu.scores(model, self)
            stats.update({f"bleu_{direction}": score for direction, score in scores.items()})
        if (metric := self.args.best_checkpoint_metric) not in stats:
            first = self.valid_directions[0]
            raise InputError(
                f"--best-checkpoint-metric {metric} is not a figure of this validation; give loss, nll_loss, "
                f"that of a direction, as nll_loss_{first}, or, beside --valid-bleu-lines, bleu_{first}"
            )
        epoch, self.epoch_to_record = self.epoch_to_record, None
        if epoch is not None and getattr(self.args, "distributed_rank", 0) == 0:
            folder = Path(self.args.save_dir)
            folder.mkdir(parents=True, exist_ok=True)
            append_validation(
                folder,
                epoch,
                stats,
                directions=self.valid_directions,
                learned=self.learned,
                decisive=self.choosing_directions,
            )

    # Raw text

    @functools.cached_property
    def pipeline(self) -> TextPipeline:
        """The text pipeline in the data folder."""
        return TextPipeline.load(Path(utils.split_paths(self.args.data)[0]), self.before_pipelines)

    @property
    def codec(self) -> Codec:
        """What turns raw text into the model's input, and its output into raw text."""
        trained = [parse_direction(direction) for direction in self.learned.trained]
        return Codec(
            self.pipeline, self.placement, [*self.langs], trained=trained, longest=self.max_positions()[0]
        )

    # Inference

    @property
    def direction(self) -> Direction:
        """The direction given with --source-lang and --target-lang."""
        return inference_direction(self.args, self.langs)

    def inference_dataset(
        self, tokens: list[torch.Tensor], lengths: list[int], direction: Direction
    ) -> TaggedPairs:
        """Sources of a direction, from encoded lines (T each) that end in EOS."""
        return TaggedPairs(
            direction,
            self.placement,
            ListDataset(tokens, lengths),
            source_sizes=lengths,
            left_pad_source=self.args.left_pad_source,
        )

    def build_dataset_for_inference(
        self,
        src_tokens: list[torch.Tensor],
        src_lengths: list[int],
        constraints: list[torch.Tensor] | None = None,
    ) -> TaggedPairs:
        """Sources of the direction that the options ask for, from encoded lines (T each) that end in EOS;
        `InputError` for constraints.
        """
        refuse_other_searches(Namespace(constraints=constraints))
        return self.inference_dataset(src_tokens, src_lengths, self.direction)

    def build_generator(
        self,
        models: Sequence[nn.Module],
        args: Namespace,
        seq_gen_cls: Callable | None = None,
        extra_gen_cls_kwargs: dict | None = None,
        prefix_allowed_tokens_fn: Callable | None = None,
    ) -> SequenceGenerator | SequenceScorer:
        """The stock generator, which never writes a language tag, with the length penalty that was asked for.

        The form may be given with the other options of the search, as the hub does; otherwise it is the
        task's.
        """
        refuse_other_searches(args)
        tags = [language_tag(language) for language in self.langs]
        extra = {"tokens_to_suppress": tuple(tags), **(extra_gen_cls_kwargs or {})}
        # The method of the stock task's parent: its own would need a direction, and drops arguments.
        generator = super(TranslationMultiSimpleEpochTask, self).build_generator(
            models, args, seq_gen_cls, extra, prefix_allowed_tokens_fn
        )
        form = getattr(args, "length_penalty_form", self.args.length_penalty_form)
        if form != POWER and hasattr(generator, "len_penalty"):  # what scores references has none
            generator.len_penalty = search_penalty(generator.len_penalty, form)
        return generator

    def inference_step(
        self,
        generator: SequenceGenerator,
        models: Sequence[nn.Module],
        sample: dict,
        prefix_tokens: torch.Tensor | None = None,
        constraints: torch.Tensor | None = None,
    ) -> list[list[dict]]:
        """`generate` in the direction that the options ask for; prefix_tokens: B×T, or None. Constraints have
        no effect.
        """
        return self.generate(generator, models, sample, direction=self.direction, prefix_tokens=prefix_tokens)

    def generate(
        self,
        generator: SequenceGenerator,
        models: Sequence[nn.Module],
        sample: dict,
        direction: Direction | Sequence[Direction],
        prefix_tokens: torch.Tensor | None = None,
    ) -> list[list[dict]]:
        """Beam search for a batch of one direction, or of one for each sentence: hypotheses of each, best
        first. prefix_tokens: B×T, with which outputs begin, or None.
        """
        if isinstance(direction, Direction):
            start = self.placement.decoder_start(direction)
        else:
            starts = torch.tensor([self.placement.decoder_start(each) for each in direction])
            start = starts.repeat_interleave(generator.beam_size).to(sample["net_input"]["src_tokens"])
        with torch.no_grad():
            return generator.generate(models, sample, prefix_tokens=prefix_tokens, bos_token=start)
