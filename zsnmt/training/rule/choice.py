"""What a rule chooses for a config, each thing with its reason."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Choice:
    """What the rule chose: settings of a config by key, and a sentence on each thing and why."""

    settings: dict[str, str]
    reasons: list[str]

    def __or__(self, other: "Choice") -> "Choice":
        return Choice(self.settings | other.settings, self.reasons + other.reasons)


def because(reason: str, **settings: str) -> Choice:
    """Settings of a config, if there are any, for one reason."""
    return Choice(settings, [reason])


NOTHING = Choice({}, [])
