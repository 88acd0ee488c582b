"""How runs of one config learn: validation loss by epoch, the seeds of a system together."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean, stdev

from zsnmt.errors import InputError
from zsnmt.languages import KINDS, kind_name
from zsnmt.runs.folder import CHECKPOINTS, read_record
from zsnmt.runs.validation import read_validations


def curves(runs: Sequence[Path]) -> Iterator[str]:
    """A table for each kind of direction: the mean loss (bits a token) over its directions, mean and
    deviation over seeds.

    Raises `InputError` for runs that were not validated in the same epochs.
    """
    records = {run: read_record(run) for run in runs}
    validations = {
        run: {entry["epoch"]: entry["directions"] for entry in read_validations(run / CHECKPOINTS)}
        for run in runs
    }
    epochs = [*validations[runs[0]]]
    for run, entries in validations.items():
        if [*entries] != epochs:
            raise InputError(
                f"{run} was validated in the epochs {[*entries]}, and {runs[0]} in {epochs}; give whole runs "
                "of one config"
            )
    systems: dict[str, list[Path]] = defaultdict(list)
    for run, record in records.items():
        systems[record["system"]].append(run)
    for kind in KINDS:
        if not any(each["kind"] == kind for each in validations[runs[0]][epochs[0]].values()):
            continue
        yield f"\nValidation loss of {kind_name(kind)} directions, bits a token:\n"
        yield (
            "| epoch | "
            + " | ".join(
                f"{system}, {len(of_system)} seed{'s' * (len(of_system) > 1)}"
                for system, of_system in systems.items()
            )
            + " |"
        )
        yield "|---:" + "|---:" * len(systems) + "|"
        for epoch in epochs:
            losses = [
                [loss(validations[run][epoch], kind) for run in of_system] for of_system in systems.values()
            ]
            yield f"| {epoch} | " + " | ".join(map(format_mean, losses)) + " |"


def loss(directions: dict[str, dict], kind: str) -> float:
    """The mean loss over directions of a kind."""
    return fmean(each["nll_loss"] for each in directions.values() if each["kind"] == kind)


def format_mean(losses: Sequence[float]) -> str:
    """The mean over the seeds, with their deviation where there are several."""
    return f"{fmean(losses):.3f}" + (f" ± {stdev(losses):.3f}" if len(losses) > 1 else "")
