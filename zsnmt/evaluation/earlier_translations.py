"""Which translations of the run that an adapted one goes on from can be compared with its own."""

import logging
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path

from zsnmt.decoding.search import Search
from zsnmt.evaluation.hypotheses import kept_ways
from zsnmt.runs.ways import PIVOT, Way

logger = logging.getLogger(__name__)

COMPARED = (*(setting.name for setting in fields(Search)), "engine", "pivot_engine", "split", "lines")


def comparable_ways(
    folder: Path, base: str | None, *, direct: Mapping, pivot: Mapping
) -> Iterator[tuple[Way, Mapping]]:
    """The ways of the translations in a folder that were made as those of now, and what they were made with;
    of others a warning says why not.

    `base`: the checksum of the model that the run goes on from, None where older runs do not say. What
    translations of now are made with: `pivot` of those through the pivot, else `direct`.
    """
    for way, settings in kept_ways(folder, "adapt the run again").items():
        if reason := difference(way, settings, base, now=pivot if way == PIVOT else direct):
            logger.warning(
                "no scores of before, %s: the run that this one goes on from %s", way.label, reason
            )
        else:
            yield way, settings


def difference(way: Way, settings: Mapping, base: str | None, now: Mapping) -> str:
    """Why translations of before cannot be compared with those of now, in words behind a run; empty where
    they can.
    """
    if base and settings.get("model") != base:
        return "has got another model since it was scored"
    if any(settings.get(name) != now.get(name) for name in COMPARED):
        return "was scored with another beam, length penalty, engine, split or number of lines"
    if way == PIVOT and ("pivot_model" in settings) != ("pivot_model" in now):
        return "had another run for its pivot when it was scored"
    return ""
