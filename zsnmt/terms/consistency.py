"""Consistency between translation and copy: CrossConST (Gao et al. 2023)."""

from dataclasses import dataclass, field

from fairseq.dataclass import ChoiceEnum, FairseqDataclass
from fairseq.tasks import FairseqTask
from torch import Tensor

from zsnmt.losses.consistency import NONE, STOPPED_SIDES, consistency
from zsnmt.terms.term import Predictions, Rows, Term, sum_over_tokens


@dataclass
class ConsistencyOptions(FairseqDataclass):
    """The options of the term."""

    consistency_weight: float = field(
        default=0.0,
        metadata={
            "help": "weight of CrossConST's term, which brings together what the model says of a target from "
            "its source and from the target itself; 0.25 in the paper"
        },
    )
    consistency_stop_gradient: ChoiceEnum([*STOPPED_SIDES]) = field(  # type: ignore[valid-type]
        default=NONE,
        metadata={"help": "the side of that term that the gradient does not change: translation or copy"},
    )


class Consistency(Term):
    """The copy reads the target sentence as its source, in the target's language, and writes it, too."""

    option = "--consistency-weight"
    reads_translation = True

    def __init__(self, options: ConsistencyOptions, task: FairseqTask) -> None:
        super().__init__(options.consistency_weight, task)
        self.stopped = str(options.consistency_stop_gradient)

    def rows(self, sample: dict) -> Rows:
        limit = self.task.args.max_source_positions
        return Rows(self.surgery.target_as_source(sample, limit), sample["target"])

    def loss(self, translated: Predictions, own: Predictions) -> Tensor:
        """KL(translation ‖ copy), a sum over tokens in nats."""
        return sum_over_tokens(
            lambda _, translation, copy: consistency(translation, copy, self.stopped), translated, own
        )
