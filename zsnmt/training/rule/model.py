"""The size of model that goes with a text and a machine, by the configs that were trained."""

from dataclasses import dataclass

from zsnmt.corpora.own_text.survey import Survey
from zsnmt.training.machine import Machine
from zsnmt.training.rule.choice import Choice, because

LITTLE_TEXT = 200_000  # words: with 55,000 a model did not learn to translate, with 320,000 it did
LITTLE_TEXTS_DROPOUT = 0.1  # at least; a model that reads little text knows it by heart sooner


@dataclass(frozen=True)
class Size:
    """A size of model: from how many words of training text, both sides counted, it is for, and what it
    needs.

    `batch`: tokens of a batch on a CPU, 0 for a model that only a GPU trains. `memory` is in GB.
    """

    words: int
    encoder_layers: int
    decoder_layers: int
    width: int
    heads: int
    dropout: float
    batch: int
    memory: float

    def __str__(self) -> str:
        return f"{self.encoder_layers}+{self.decoder_layers} layers of width {self.width}"


SIZES = (
    Size(0, 5, 2, width=64, heads=2, dropout=0.1, batch=600, memory=0.5),
    Size(30_000, 5, 2, width=128, heads=4, dropout=0.05, batch=1800, memory=1),
    Size(3_000_000, 5, 2, width=256, heads=4, dropout=0.1, batch=3600, memory=3),
    Size(10_000_000, 5, 5, width=512, heads=8, dropout=0.2, batch=0, memory=6),
    Size(40_000_000, 8, 8, width=512, heads=8, dropout=0.2, batch=0, memory=8),
)


def choose_size(words: int, machine: Machine) -> Size:
    """The largest size that a text has the words for, and the machine the memory and the processor."""
    room = machine.gpu or machine.memory * 7 / 8  # `kernel_limit` leaves the rest to compiled kernels
    able = [size for size in SIZES if size.memory <= room and (machine.gpu or size.batch)]
    return max((size for size in able if size.words <= words), key=SIZES.index, default=SIZES[0])


def choose_model(text: Survey, machine: Machine, size: Size) -> Choice:
    sides = (("encoder", size.encoder_layers), ("decoder", size.decoder_layers))
    options = [f"--{side}-layers {layers}" for side, layers in sides]
    for name, value in (
        ("embed-dim", size.width),
        ("ffn-embed-dim", 4 * size.width),
        ("attention-heads", size.heads),
    ):
        options += [f"--{side}-{name} {value}" for side, _ in sides]
    options += dropout_options(dropout_of(text, size))
    larger = SIZES[SIZES.index(size) + 1 :]
    held_back = bool(larger) and larger[0].words <= text.words
    bound = f"; more text than {larger[0].words:,} words would have a larger model" if larger else ""
    if held_back:
        bound = "; the words would do for a larger model, which the machine is too small for"
    return because(
        f"The model has {size}, for {text.words:,} words and {machine}{bound}.", MODEL=" ".join(options)
    )


def dropout_of(text: Survey, size: Size) -> float:
    return max(size.dropout, LITTLE_TEXTS_DROPOUT) if text.words < LITTLE_TEXT else size.dropout


def dropout_options(dropout: float) -> list[str]:
    return [f"--{kind}dropout {dropout:g}" for kind in ("", "attention-", "activation-")]
