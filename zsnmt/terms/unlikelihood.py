"""Unlikelihood of a translation under the tag of another language (Zan et al. 2023)."""

from dataclasses import dataclass, field
from pathlib import Path

import torch
from fairseq import utils
from fairseq.dataclass import ChoiceEnum, FairseqDataclass
from fairseq.tasks import FairseqTask
from torch import Tensor

from zsnmt.losses.unlikelihood import unlikelihood
from zsnmt.terms.term import Predictions, Rows, Term
from zsnmt.text.piece_counts import read_piece_counts

ALIGNED, FIRST_WORD = FORMS = "aligned", "first_word"
PUNISH, SPARE = SHARED = "punish", "spare"


@dataclass
class UnlikelihoodOptions(FairseqDataclass):
    """The options of the term."""

    unlikelihood_weight: float = field(
        default=0.0,
        metadata={
            "help": "weight of the term that lowers the probability of a target under the tag of a language "
            "that it is not in; 1 is usual"
        },
    )
    unlikelihood_form: ChoiceEnum([*FORMS]) = field(  # type: ignore[valid-type]
        default=ALIGNED, metadata={"help": "tokens of the target that it lowers: all, or the first alone"}
    )
    unlikelihood_shared_tokens: ChoiceEnum([*SHARED]) = field(  # type: ignore[valid-type]
        default=PUNISH,
        metadata={"help": "whether it lowers tokens, too, that the other language uses in training"},
    )


class Unlikelihood(Term):
    """The batch with a wrong tag for each row: any language but its source and its target."""

    option = "--unlikelihood-weight"

    def __init__(self, options: UnlikelihoodOptions, task: FairseqTask) -> None:
        super().__init__(options.unlikelihood_weight, task)
        self.first_word = str(options.unlikelihood_form) == FIRST_WORD
        if len(self.task.langs) < 3:
            self.refuse("needs a third language, whose tag is wrong", "train on three languages or more")
        spares = str(options.unlikelihood_shared_tokens) == SPARE
        self.spared = self.symbols_by_language() if spares else None

    def symbols_by_language(self) -> Tensor:
        """Which symbols each language uses in training (N×V), EOS and special ones by all."""
        dictionary = self.task.target_dictionary
        counts = read_piece_counts(Path(utils.split_paths(self.task.args.data)[0]))
        used = torch.zeros(len(self.task.langs), len(dictionary), dtype=torch.bool)
        used[:, : dictionary.nspecial] = True
        for row, language in zip(used, self.task.langs):
            row[[dictionary.index(piece) for piece in counts.get(language, ())]] = True
        return used

    def rows(self, sample: dict) -> Rows:
        wrong = self.wrong_languages(sample["languages"])  # B
        tags = torch.tensor(self.tags).to(wrong)
        target = sample["target"]
        if self.first_word:
            target = torch.where(target.ne(self.pad).cumsum(dim=1) > 1, self.pad, target)
        if self.spared is not None:
            spared = self.spared.to(wrong.device)[wrong.unsqueeze(1), target]  # B×T
            target = target.masked_fill(spared, self.pad)
        return Rows(self.surgery.replace_target_language(sample["net_input"], tags[wrong]), target)

    def wrong_languages(self, languages: Tensor) -> Tensor:
        """For each row, of tags of source and target (B×2), the number of a language that is neither."""
        tags = torch.tensor(self.tags).to(languages)  # N
        wrong = languages.unsqueeze(2).ne(tags).all(dim=1)  # B×N
        return torch.multinomial(wrong.float(), 1).squeeze(1)

    def loss(self, translated: Predictions, own: Predictions) -> Tensor:
        """-log(1 - p) of the target under the wrong tag, a sum over tokens in nats."""
        return own.sum_on_target(unlikelihood)
