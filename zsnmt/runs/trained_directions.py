"""The directions that a model was trained on, by the text that it had of each."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from zsnmt.languages import kind_of, parse_direction
from zsnmt.runs.folder import FEW, SYNTHETIC

TRAINED = "trained"


@dataclass(frozen=True)
class TrainedDirections:
    """Directions (`de-it`) of all trainings of a model so far, each once, in the order in which they came.

    `trained` are all of them, `synthetic` those that had synthetic text alone, `few` those that had a few
    lines by people.
    """

    trained: Sequence[str] = ()
    synthetic: Sequence[str] = ()
    few: Sequence[str] = ()

    @classmethod
    def of_state(cls, state: Mapping[str, Sequence[str]], synthetic: Sequence[str]) -> "TrainedDirections":
        """What a checkpoint keeps (`state`); `synthetic` are those of an older one, which does not say."""
        return cls(state.get(TRAINED, ()), state.get(SYNTHETIC, synthetic), state.get(FEW, ()))

    def state(self) -> dict[str, list[str]]:
        """What a checkpoint keeps."""
        return {TRAINED: [*self.trained], SYNTHETIC: [*self.synthetic], FEW: [*self.few]}

    def kind(self, direction: str) -> str:
        """What a direction is to the model (`kind_of`)."""
        lists = (self.trained, self.synthetic, self.few)
        return kind_of(parse_direction(direction), *([*map(parse_direction, each)] for each in lists))

    def after(
        self, main: Iterable[str], extra: Iterable[str] = (), few: Iterable[str] = ()
    ) -> "TrainedDirections":
        """Those after a further training on `main`, which have text by people, and on `extra`, which have
        synthetic text or, if they are among `few`, a few lines by people.
        """
        by_people = {*self.trained} - {*self.synthetic} | {*main, *self.few, *few}
        return TrainedDirections(
            [*dict.fromkeys([*self.trained, *main, *extra])],
            [each for each in dict.fromkeys([*self.synthetic, *extra]) if each not in by_people],
            [*dict.fromkeys([*self.few, *few])],
        )
