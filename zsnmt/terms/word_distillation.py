"""Word-level distillation (Kim and Rush 2016) from the pivot's sentence (Chen et al. 2017)."""

from dataclasses import dataclass, field
from pathlib import Path

import torch
from fairseq import utils
from fairseq.dataclass import ChoiceEnum, FairseqDataclass
from fairseq.tasks import FairseqTask
from torch import Tensor, finfo, nn

from zsnmt.data.tag_surgery import stack
from zsnmt.errors import InputError
from zsnmt.losses.consistency import TRANSLATION, consistency
from zsnmt.runs.checkpoints import load_state
from zsnmt.terms.term import Predictions, Rows, Term, sum_over_tokens

SYNTHETIC, ALL = KINDS_OF_PAIRS = ("synthetic", "all")


@dataclass
class WordDistillationOptions(FairseqDataclass):
    """The options of the term."""

    word_distillation_weight: float = field(
        default=0.0,
        metadata={
            "help": "weight of the term that brings what the model says of a synthetic pair's target closer "
            "to what its teacher says, who reads the pivot's sentence; 1 is usual"
        },
    )
    word_distillation_model: str = field(
        default="", metadata={"help": "checkpoint of the teacher, of the same dictionary"}
    )
    word_distillation_pairs: ChoiceEnum([*KINDS_OF_PAIRS]) = field(  # type: ignore[valid-type]
        default=SYNTHETIC,
        metadata={
            "help": "the pairs of which the teacher says something: synthetic, those with the pivot's "
            "sentence beside them; or all, also pairs with the pivot, of which it reads the source"
        },
    )


class WordDistillation(Term):
    """The rows whose sentence in the pivot language is known, with it as their source, for the teacher; if it
    is to say something of all pairs, also the rows that come from the pivot or go into it, as they are.

    The teacher's weights stay as they are, and it has no dropout.
    """

    option = "--word-distillation-weight"
    reads_translation = True

    def __init__(self, options: WordDistillationOptions, task: FairseqTask) -> None:
        super().__init__(options.word_distillation_weight, task)
        if not options.word_distillation_model:
            self.refuse("needs a teacher", "give its checkpoint by --word-distillation-model")
        self.reads_all = str(options.word_distillation_pairs) == ALL
        if not self.reads_all and not has_pivot_sides(task):
            self.refuse(
                f"needs sentences of {task.langs[0]} beside pairs of other languages, and the data have none",
                "make them with zsnmt distill --word-level, or leave it out",
            )
        self.reader = load_teacher(Path(options.word_distillation_model), task)

    def rows(self, sample: dict) -> Rows:
        given, target, parts = sample["net_input"], sample["target"], []
        if read := sample.get("pivot"):
            parts.append((read["rows"], read["src_tokens"], read["src_lengths"]))
        if self.reads_all:
            whole = sample["languages"].eq(self.tags[0]).any(dim=1)
            parts.append((whole, given["src_tokens"][whole], given["src_lengths"][whole]))
        if not parts:
            return Rows({}, target[:0])
        of_parts, tokens, lengths = zip(*parts)
        chosen = torch.stack(of_parts).any(dim=0)
        order = torch.cat([rows.nonzero().squeeze(1) for rows in of_parts]).argsort()
        inputs = {
            "src_tokens": stack([*tokens], self.pad, self.task.args.left_pad_source)[order],
            "src_lengths": torch.cat(lengths)[order],
            "prev_output_tokens": given["prev_output_tokens"][chosen],
        }
        return Rows(inputs, target[chosen], chosen=chosen)

    def loss(self, translated: Predictions, own: Predictions) -> Tensor:
        """KL(teacher ‖ student), a sum over tokens in nats."""
        return sum_over_tokens(distance_from_teacher, translated, own)


def distance_from_teacher(_: Tensor, student: Tensor, teacher: Tensor) -> Tensor:
    """The sum over tokens of KL(teacher ‖ student), in nats, from log-probabilities (n×V each); what the
    teacher cannot write, -inf in a vocabulary that grew, adds nothing.
    """
    finite = teacher.clamp_min(finfo(teacher.dtype).min)  # 0 times infinity is not a number
    return consistency(finite, student, TRANSLATION)


def load_teacher(path: Path, task: FairseqTask) -> nn.Module:
    """The model of a checkpoint, without dropout or gradients; `InputError` unless it reads and writes what
    the task does.
    """
    state = load_state(path, {})
    of_teacher, own = state.get("task_state", {}), task.state_dict()
    if "languages" not in of_teacher:
        raise InputError(f"{path} is no translation model of this project; give a run of zsnmt train")
    for name in ("dictionary", "languages", "language_tags"):
        if of_teacher.get(name, own[name]) != own[name]:  # older ones do not name the dictionary
            raise InputError(
                f"{path} was trained with other {name.replace('_', ' ')} than this training has; give a "
                "teacher of the same data and tags"
            )
    options = state["cfg"]["model"]
    model = task.build_model(options)
    try:
        model.load_state_dict(state["model"], strict=True, model_cfg=options)
    except RuntimeError as error:  # of weights of other names or shapes
        raise InputError(
            f"{path} does not fit the dictionary of this training, or its own options; give a teacher of the "
            "same data and tags"
        ) from error
    return model.eval().requires_grad_(False)


def has_pivot_sides(task: FairseqTask) -> bool:
    """Whether some data of a training have the pivot's sentence beside pairs without the pivot."""
    pivot = task.langs[0]
    folders = [*utils.split_paths(task.args.data), *(getattr(task.args, "extra_data", None) or {}).values()]
    found = (path for folder in folders for path in Path(folder).glob(f"train.*.{pivot}.idx"))
    return any(pivot not in path.name.split(".")[1].split("-") for path in found)
