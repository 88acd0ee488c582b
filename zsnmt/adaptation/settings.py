"""What is adapted, and how."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from zsnmt.adaptation.joined_text import new_languages
from zsnmt.adaptation.modes import FROZEN, FULL, MULTIPLICATIVE, NO_NOISE
from zsnmt.errors import InputError
from zsnmt.languages import read_languages
from zsnmt.runs.folder import PIPELINE_FOLDER, read_record

LARGEST_NOISE = 100  # in deviations of what is there; one is usual
SYNTHETIC_FROM = "synthetic_from"  # what run.json calls the folder of synthetic text that is learned again


@dataclass(frozen=True)
class Adaptation:
    """How the run `base` goes on: everything is trained, or in the mode `frozen` what is new alone.

    `adapter_dim`: the size of adapters in the decoder, 0 for none; `noise` and `noise_scale` are those of new
    rows; `allow_unknown`: the share (0–1) of the pieces of a file that the model may not know, None for the
    usual one; `without_synthetic`: also where the run learned from synthetic text; `share` (0–1): of the
    pairs that are trained on, those with a new language, None for as many as there are. Raises InputError for
    numbers out of range, and for options that have no effect beside others.
    """

    base: Path
    mode: str = FULL
    adapter_dim: int = 0
    noise: str = MULTIPLICATIVE
    noise_scale: float = 1.0
    allow_unknown: float | None = None
    without_synthetic: bool = False
    share: float | None = None

    def __post_init__(self) -> None:
        if self.share is not None and not 0 < self.share < 1:
            raise InputError(f"--share is {self.share:g}; it is a share of the pairs, between 0 and 1")
        if self.share is not None and self.mode == FROZEN:
            raise InputError(
                "--frozen trains on the new text alone, of which --share is all; leave one of them out"
            )
        if not 0 <= self.noise_scale <= LARGEST_NOISE:  # which no NaN is
            raise InputError(f"--noise-scale is {self.noise_scale:g}; it must be from 0 to {LARGEST_NOISE}")
        if self.noise == NO_NOISE and self.noise_scale != 1:
            raise InputError(
                "--noise-scale scales the noise, and --noise none has none; leave one of them out"
            )
        if self.without_synthetic and self.mode == FROZEN:
            raise InputError(
                "--frozen trains on the new text alone, which --without-synthetic leaves as it is; leave one "
                "of them out"
            )
        if self.allow_unknown is not None and not 0 <= self.allow_unknown <= 1:
            raise InputError(f"--allow-unknown is {self.allow_unknown:g}; it is a share, from 0 to 1")

    @property
    def pipeline(self) -> Path:
        """The text pipeline of the run."""
        return self.base / PIPELINE_FOLDER

    @property
    def text(self) -> Path | None:
        """The text that the run was trained on; None where it is not there any more."""
        text = Path(read_record(self.base)["text"])
        return text if text.is_dir() else None

    def new_languages(self, languages: Sequence[str]) -> list[str]:
        """Those that the run does not know."""
        return new_languages(languages, read_languages(self.pipeline))
