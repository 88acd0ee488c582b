"""`chunked_label_smoothed_cross_entropy`: fairseq's label-smoothed cross-entropy with less memory and
time.
"""

from fairseq.criterions import register_criterion
from fairseq.criterions.label_smoothed_cross_entropy import (
    LabelSmoothedCrossEntropyCriterion,
    LabelSmoothedCrossEntropyCriterionConfig,
)
from fairseq.distributed import FullyShardedDataParallel
from fairseq.models.transformer import TransformerDecoderBase, TransformerModelBase
from torch import Tensor, nn

from zsnmt.losses.chunked_loss import ChunkedLoss


@register_criterion(
    "chunked_label_smoothed_cross_entropy", dataclass=LabelSmoothedCrossEntropyCriterionConfig
)
class ChunkedLabelSmoothedCrossEntropy(LabelSmoothedCrossEntropyCriterion):
    """The stock criterion, to rounding: same options, loss, gradients and figures.

    Padding is not projected to the vocabulary, and log-probabilities exist for some tokens at a time. A model
    whose output is more than a projection of the decoder's features has the stock computation.
    """

    def projecting_decoder(self, model: nn.Module) -> TransformerDecoderBase | None:
        """The decoder whose features the criterion has projected itself; None where the model does it all."""
        return projecting_decoder(model)

    def forward(self, model: nn.Module, sample: dict, reduce: bool = True) -> tuple[Tensor, int, dict]:
        """The stock method, on the decoder's features where the criterion has them projected itself: the loss
        (a scalar, in nats), the sample size and the log.
        """
        if reduce and self.projecting_decoder(model) is not None:
            sample = {**sample, "net_input": {**sample["net_input"], "features_only": True}}
        return super().forward(model, sample, reduce)

    def compute_loss(
        self, model: nn.Module, net_output: tuple, sample: dict, reduce: bool = True
    ) -> tuple[Tensor, Tensor]:
        """The stock method; from features (B×T×C), the loss of all tokens and their negative
        log-likelihood, in nats.
        """
        decoder = self.projecting_decoder(model) if "features_only" in sample["net_input"] else None
        if decoder is None:
            return super().compute_loss(model, net_output, sample, reduce)
        features, extra = net_output
        target = model.get_targets(sample, net_output)[:, self.ignore_prefix_size :].flatten()  # BT
        counted = target.ne(self.padding_idx).nonzero().squeeze(1)  # N
        features = features[:, self.ignore_prefix_size :].flatten(0, 1).index_select(0, counted)  # N×C
        return self.loss_of_logits(decoder.output_layer(features), target[counted], extra)

    def loss_of_logits(self, logits: Tensor, target: Tensor, extra: dict) -> tuple[Tensor, Tensor]:
        """What `compute_loss` returns, from logits (N×V), which are gone after it, and targets (N); what it
        counts goes into `extra`.
        """
        loss, nll_loss, correct = ChunkedLoss.apply(logits, target, self.eps, self.report_accuracy)
        extra["accuracy"] = correct, target.new_tensor(len(target))
        return loss, nll_loss

    def compute_accuracy(self, model: nn.Module, net_output: tuple, sample: dict) -> tuple[Tensor, Tensor]:
        """The stock method: how many tokens are the likeliest ones, of how many (both scalars)."""
        if "features_only" not in sample["net_input"]:
            return super().compute_accuracy(model, net_output, sample)
        return net_output[1]["accuracy"]


# fairseq goes on with a run only if its criterion has the same name
ChunkedLabelSmoothedCrossEntropy.__name__ = LabelSmoothedCrossEntropyCriterion.__name__


def projecting_decoder(model: nn.Module) -> TransformerDecoderBase | None:
    """A transformer's decoder, if `output_layer` alone makes the logits of its features; None otherwise.

    None, too, where the model hides its weights from all but its own forward pass (FSDP, DDP that looks for
    unused ones).
    """
    while hasattr(model, "module"):
        if isinstance(model, FullyShardedDataParallel) or getattr(model, "find_unused_parameters", False):
            return None
        model = model.module
    if type(model).forward is not TransformerModelBase.forward:
        return None
    decoder = model.decoder
    stock = (
        type(decoder).output_layer is TransformerDecoderBase.output_layer and decoder.adaptive_softmax is None
    )
    return decoder if stock and getattr(decoder, "vocabulary", None) is None else None
