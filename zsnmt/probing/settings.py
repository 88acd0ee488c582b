"""What a probe of a run is asked for."""

from dataclasses import dataclass, fields

from zsnmt.analysis.state_folder import EXACT, LABELS
from zsnmt.errors import InputError

STORED, LIVE = ("stored", "live")
TRAIN = "train"  # the split that classifiers are trained on
MOST_STORED_LINES = 5000  # of each language; the states of more are not stored, unless that is asked for


@dataclass(frozen=True)
class Probing:
    """What is measured: the first `lines` (None: all) of a split, in some `languages` (none: all of the
    model), by classifiers that are trained on random training lines (`train_lines` of each language, None:
    all).

    `kind` is the procedure of the classifiers, `variance` the share (0–1) of the variance that SVCCA keeps,
    `target` the language asked for, where sources bear its tag; `training_states` says whether those that
    classifiers learn from are stored or live (None: what suits `train_lines`). Raises `InputError` for
    settings that are impossible.
    """

    split: str = "test"
    lines: int | None = None
    train_lines: int | None = 2000
    kind: str = "published"
    labels: tuple[str, ...] = LABELS
    variance: float = 0.99
    target: str | None = None
    seed: int = 1
    languages: tuple[str, ...] = ()
    classifiers_only: bool = False
    training_states: str | None = None

    def __post_init__(self) -> None:
        if self.split == TRAIN:
            raise InputError(
                "classifiers are trained on lines of train, and cannot be measured on them; give another "
                "--split, or compare the languages of train with zsnmt probe-states and probe-similarity"
            )
        if not 0 < self.variance <= 1:  # which no NaN is
            raise InputError(
                f"--variance {self.variance:g} is not a share of the variance; give one above 0, up to 1"
            )
        if self.classifiers_only and self.variance != Probing.variance:
            raise InputError(
                "--variance is of similarity, which --classifiers-only leaves out; leave out one of them"
            )
        if self.kind == EXACT and self.live:
            raise InputError(
                "an exact fit needs all states at once; ask for stored ones, of no more training lines than "
                "the disk and the memory can hold"
            )

    @property
    def live(self) -> bool:
        """Whether classifiers learn while the encoder runs."""
        many = self.train_lines is None or self.train_lines > MOST_STORED_LINES
        return self.training_states == LIVE or self.training_states is None and many and self.kind != EXACT

    def options(self) -> list[str]:
        """The words of a command for what is not the default."""
        chosen = [each for each in fields(self) if getattr(self, each.name) != each.default]
        words = {f"--{each.name.replace('_', '-')}": getattr(self, each.name) for each in chosen}
        return [
            word
            for name, value in words.items()
            for word in (name, *([] if value is True else [format_setting(value)]))
        ]


def format_setting(value: object) -> str:
    """A setting as a word of a command."""
    return " ".join(value) if isinstance(value, tuple) else "all" if value is None else str(value)
