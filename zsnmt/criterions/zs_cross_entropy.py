"""`zs_cross_entropy`: fairseq's label-smoothed cross-entropy, chunked or not, and terms of remedies."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

import torch
from fairseq import metrics
from fairseq.criterions import register_criterion
from fairseq.criterions.label_smoothed_cross_entropy import (
    LabelSmoothedCrossEntropyCriterion,
    LabelSmoothedCrossEntropyCriterionConfig,
)
from fairseq.dataclass import FairseqDataclass
from fairseq.models.transformer import TransformerDecoderBase
from fairseq.tasks import FairseqTask
from torch import Tensor, nn

from zsnmt.criterions.chunked_label_smoothed_cross_entropy import ChunkedLabelSmoothedCrossEntropy
from zsnmt.data.tag_surgery import stack
from zsnmt.errors import InputError
from zsnmt.seams.options import refuse_without
from zsnmt.terms.agreement import Agreement, AgreementOptions
from zsnmt.terms.consistency import Consistency, ConsistencyOptions
from zsnmt.terms.denoising import Denoising, DenoisingOptions
from zsnmt.terms.term import Predictions, Rows, Term
from zsnmt.terms.unlikelihood import Unlikelihood, UnlikelihoodOptions
from zsnmt.terms.word_distillation import WordDistillation, WordDistillationOptions


class Kind(NamedTuple):
    """A term and its options, of which the first is its weight."""

    term: type[Term]
    options: type[FairseqDataclass]


TERMS = {
    "consistency": Kind(Consistency, ConsistencyOptions),
    "unlikelihood": Kind(Unlikelihood, UnlikelihoodOptions),
    "denoising": Kind(Denoising, DenoisingOptions),
    "agreement": Kind(Agreement, AgreementOptions),
    "word_distillation": Kind(WordDistillation, WordDistillationOptions),
}
# Terms that a model which ignores its source does not make 0.
TEACHING = {"unlikelihood", "denoising", "word_distillation"}


@dataclass
class ZeroShotCrossEntropyConfig(
    WordDistillationOptions,
    AgreementOptions,
    DenoisingOptions,
    UnlikelihoodOptions,
    ConsistencyOptions,
    LabelSmoothedCrossEntropyCriterionConfig,
):
    """fairseq's options of the loss, those of the terms, and what joins them."""

    chunked_loss: bool = field(
        default=False,
        metadata={"help": "less memory and time, to rounding, as chunked_label_smoothed_cross_entropy"},
    )
    translation_weight: float = field(
        default=1.0,
        metadata={"help": "weight of the translation loss beside the terms; 0 trains by these alone"},
    )


@register_criterion("zs_cross_entropy", dataclass=ZeroShotCrossEntropyConfig)
class ZeroShotCrossEntropy(ChunkedLabelSmoothedCrossEntropy):
    """The stock loss and terms, sums over tokens, with their weights. Validation has the stock loss alone.

    The model reads a batch and the rows of all terms at once, but for those that another model reads. `loss`
    and `nll_loss` of the log are those of the translation; each term has a figure of its own, in bits per
    target token of the batch.

    Raises InputError for a weight that is not a number of 0 or more, for one of the translation that does not
    go with the terms there are, and for a prefix to be ignored beside terms.
    """

    def __init__(self, cfg: ZeroShotCrossEntropyConfig, task: FairseqTask) -> None:
        super().__init__(
            task, cfg.sentence_avg, cfg.label_smoothing, cfg.ignore_prefix_size, cfg.report_accuracy
        )
        self.chunked, self.translation_weight = cfg.chunked_loss, cfg.translation_weight
        self.terms = {name: kind.term(cfg, task) for name, kind in TERMS.items() if has_weight(kind, cfg)}
        if self.terms and cfg.ignore_prefix_size:
            raise InputError(
                "--ignore-prefix-size is for targets that begin with a tag, and those of zs_translation do "
                "not; leave it out"
            )
        weighted = 0 <= self.translation_weight < math.inf
        if not weighted or (self.translation_weight != 1 and not self.terms):
            raise InputError(
                f"--translation-weight {self.translation_weight:g} must be a number, 0 or more, and goes "
                "only with other terms; give one of them a weight, or leave it out"
            )
        if not self.translation_weight and self.terms and not {*self.terms} & TEACHING:
            raise InputError(
                "--translation-weight 0 leaves terms that are 0 for a model that ignores its source, and it "
                "would learn that; give it a weight above 0"
            )

    def projecting_decoder(self, model: nn.Module) -> TransformerDecoderBase | None:
        """That of the chunked criterion; None where the loss is not chunked."""
        return super().projecting_decoder(model) if self.chunked else None

    def forward(self, model: nn.Module, sample: dict, reduce: bool = True) -> tuple[Tensor, int, dict]:
        """The stock method, and in training the terms with a weight: the loss (a scalar, in nats), the sample
        size and the log.
        """
        if not (model.training and reduce and self.terms):
            return super().forward(model, sample, reduce)
        asked = {name: term.rows(sample) for name, term in self.terms.items()}
        own = [name for name in asked if self.terms[name].reader is None]
        batch = Rows(sample["net_input"], sample["target"])
        (of_batch, *said), extra = self.read(model, [batch, *(asked[name] for name in own)])
        of_terms = dict(zip(own, said)) | self.read_elsewhere(asked, next(model.parameters()))
        loss, size, log = self.translation(model, of_batch, extra, sample=sample)
        total = self.translation_weight * loss
        log |= {f"{name}_loss": loss.new_zeros(()) for name in asked}
        for name, of_term in of_terms.items():
            term = self.terms[name]
            value = term.loss(of_batch.of_rows(asked[name].chosen), of_term)
            total = total + term.weight * value
            log[f"{name}_loss"] = value.data
        return total, size, log

    def read_elsewhere(self, asked: Mapping[str, Rows], like: Tensor) -> dict[str, Predictions]:
        """What other models than the one in training say of the rows of terms, where there are any, on the
        device and in the precision that a tensor (of any shape) has.
        """
        found = {}
        for name, rows in asked.items():
            if (reader := self.terms[name].reader) is not None and len(rows.target):
                (found[name],), _ = self.read(reader.to(like), [rows])
        return found

    def read(self, model: nn.Module, batches: list[Rows]) -> tuple[list[Predictions], dict]:
        """What a model says of each batch, from one pass, and what else it returns."""
        sides = {"src_tokens": self.task.args.left_pad_source, "prev_output_tokens": False}
        inputs = {
            name: stack([rows.inputs[name] for rows in batches], self.padding_idx, left)
            for name, left in sides.items()
        }
        inputs["src_lengths"] = torch.cat([rows.inputs["src_lengths"] for rows in batches])
        states, extra = model(**inputs, **self.model_arguments(model))
        parts = states.split([len(rows.target) for rows in batches])
        project = self.projection(model)
        return [
            Predictions(part[:, : rows.target.size(1)], rows.target, pad=self.padding_idx, project=project)
            for part, rows in zip(parts, batches)
        ], extra

    def model_arguments(self, model: nn.Module) -> dict:
        """What the model is told besides its inputs: whether the criterion has features projected itself."""
        return {} if self.projecting_decoder(model) is None else {"features_only": True}

    def projection(self, model: nn.Module) -> Callable[[Tensor], Tensor] | None:
        """What makes logits (N×V) of features that the model returns (N×C); None where it returns logits."""
        decoder = self.projecting_decoder(model)
        return None if decoder is None else decoder.output_layer

    def translation(
        self, model: nn.Module, said: Predictions, extra: dict, *, sample: dict
    ) -> tuple[Tensor, int, dict[str, Any]]:
        """What the stock method returns for a batch, of which the model said this, and `extra`: the loss (a
        scalar, in nats), the sample size and the log.
        """
        sample = {**sample, "net_input": {**sample["net_input"], **self.model_arguments(model)}}
        net_output = said.states, extra
        if said.project is None:
            loss, nll_loss = self.compute_loss(model, net_output, sample)
        else:
            again = any(term.reads_translation for term in self.terms.values())
            loss, nll_loss = self.loss_of_logits(said.logits(again), said.target, extra)
        size = len(sample["target"]) if self.sentence_avg else sample["ntokens"]
        log = {
            "loss": loss.data,
            "nll_loss": nll_loss.data,
            "ntokens": sample["ntokens"],
            "nsentences": len(sample["target"]),
            "sample_size": size,
        }
        if self.report_accuracy:
            correct, counted = self.compute_accuracy(model, net_output, sample)
            log |= {"n_correct": int(correct), "total": int(counted)}
        return loss, size, log

    @classmethod
    def reduce_metrics(cls, logging_outputs: list[dict]) -> None:
        """Log the stock figures, and each term in bits per target token."""
        super().reduce_metrics(logging_outputs)
        tokens = sum(log.get("ntokens", 0) for log in logging_outputs)
        for name in (f"{term}_loss" for term in TERMS):
            if any(name in log for log in logging_outputs):
                value = sum(log.get(name, 0) for log in logging_outputs)
                metrics.log_scalar(name, value / tokens / math.log(2), tokens, round=3)


# fairseq goes on with a run only if its criterion has the same name
ZeroShotCrossEntropy.__name__ = LabelSmoothedCrossEntropyCriterion.__name__


def has_weight(kind: Kind, cfg: ZeroShotCrossEntropyConfig) -> bool:
    """Whether a term has a weight; `InputError` for what is not a number of 0 or more, and for other options
    of a term without.
    """
    weight, *others = [option for option in fields(kind.options) if option.name != "_name"]
    value = getattr(cfg, weight.name)
    if not 0 <= value < math.inf:  # which no NaN is
        raise InputError(
            f"{kind.term.option} {value:g} is not a weight; give a number, 0 or more (one below 0 would "
            "teach the opposite)"
        )
    if not value:
        refuse_without(kind.term.option, cfg, **{option.name: option.default for option in others})
    return value > 0
