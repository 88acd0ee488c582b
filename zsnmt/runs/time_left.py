"""How long a training goes on, from its log and its options."""

import math
from collections.abc import Mapping

from zsnmt.runs.log import entries_of

# The updates in which the learning rate falls: patience seldom ends a training before.
UPDATES_OPTION = "--total-num-update"
BOUNDS, PATIENCE = ("--max-update", "--max-epoch"), "--patience"


class TimeLeft:
    """Says after each entry of fairseq's log (`--log-format json`) how long it is to the end that its options
    give, at the speed of all entries so far: validations, and whatever else the machine does, are in it.
    `given`: the options by name, with their values as a command has them.
    """

    def __init__(self, given: Mapping[str, str]) -> None:
        self.patient = int(given.get(PATIENCE, -1)) > 0  # to fairseq -1 is none
        values = {name: float(given[name]) for name in (UPDATES_OPTION, *BOUNDS) if name in given}
        self.bounds = {name: value for name, value in values.items() if value > 0}  # to fairseq 0 is none
        self.first: tuple[float, float] | None = None  # updates and seconds at the first entry

    def after(self, log_line: str) -> str:
        """What to say after a line of the log; nothing where no option tells of an end."""
        entry = next(entries_of("train_inner", log_line), {})
        if not {"num_updates", "wall", "ups", "update"} <= entry.keys():
            return ""
        updates, seconds, epochs = (float(entry[name]) for name in ("num_updates", "wall", "update"))
        speed = float(entry["ups"])
        if self.first is None:
            self.first = updates, seconds
        elif seconds > self.first[1]:  # fairseq's clock may stand where a training goes on after a stop
            speed = (updates - self.first[0]) / (seconds - self.first[1])
        if not speed or not epochs:
            return ""
        ends = {
            name: (bound * (updates / epochs if name == "--max-epoch" else 1) - updates) / speed
            for name, bound in self.bounds.items()
        }
        return self.sentence(ends.pop(UPDATES_OPTION, 0), min(ends.values(), default=math.inf))

    def sentence(self, fall: float, end: float) -> str:
        """What is left, by the seconds in which the learning rate falls and those to the last update."""
        if end <= 0:
            return ""
        if not self.patient:
            return f", about {duration(end)} left" if end < math.inf else ""
        if end == math.inf:
            return f", at least {duration(fall)} left" if fall > 0 else ", and on as long as validation gains"
        if 0 < fall < end and duration(fall) != duration(end):
            return f", {duration(fall)} to {duration(end)} left"
        return f", at most {duration(end)} left"


def duration(seconds: float) -> str:
    """A time as people say it: `40 s`, `12 min`, `1 h 20 min`, `2 days 3 h`."""
    minutes = round(seconds / 60)
    if minutes < 1:
        return f"{max(1, round(seconds))} s"
    if minutes < 60:
        return f"{minutes} min"
    if (hours := minutes // 60) < 48:
        return f"{hours} h {minutes % 60} min"
    return f"{hours // 24} days {hours % 24} h"
