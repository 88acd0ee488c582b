"""Whether the models of several runs can translate together."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from zsnmt.errors import InputError
from zsnmt.runs.folder import PIPELINE_FOLDER, differing


class Member(NamedTuple):
    """A run, the checksum of its model, the placement of its tags, and how many tokens it reads at most."""

    run: Path
    checksum: str
    tags: str
    longest: int


def check_together(members: Sequence[Member]) -> None:
    """`InputError` for a model that is there twice, which would count and take its time twice, and for one
    that does not read and write what the first does.
    """
    first, *others = members
    runs: dict[str, Path] = {}  # by the checksums of their models
    for each in members:
        if each.checksum in runs:
            raise InputError(
                f"{each.run} has the same model as {runs[each.checksum]}, and together they translate as one "
                "does, in twice its time; leave one of them out"
            )
        runs[each.checksum] = each.run
    for each in others:
        if changed := differing(first.run / PIPELINE_FOLDER, each.run / PIPELINE_FOLDER):
            reason = f"it has another {changed[0]}"
        elif each.tags != first.tags:
            reason = f"its tags stand by {each.tags} and not by {first.tags}"
        elif each.longest != first.longest:
            reason = f"it reads {each.longest} tokens at most and not {first.longest}"
        else:
            continue
        raise InputError(
            f"{each.run} cannot translate together with {first.run}: {reason}; give runs of the same text, "
            "subwords and tags to --with"
        )
