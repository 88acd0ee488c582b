"""How runs of one config learn: validation loss by updates, the seeds of a system together."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean, stdev

from zsnmt.errors import InputError
from zsnmt.languages import KINDS, kind_name
from zsnmt.runs.folder import CHECKPOINTS, read_record
from zsnmt.runs.validation import VALIDATION_FILE, read_validations

Losses = Mapping[int, Mapping[str, float]]  # by updates and kind of direction


def curves(runs: Sequence[Path]) -> Iterator[str]:
    """A table for each kind of direction: the mean loss (bits a token) over its directions, mean and
    deviation over seeds.

    Raises `InputError` for runs of several configs, and for those that were not validated, or not after the
    same updates in the same kinds.
    """
    records = {run: read_record(run) for run in runs}
    if len(configs := {record["config"]: run for run, record in records.items()}) > 1:
        raise InputError(
            f"{' and '.join(map(str, configs.values()))} are of the configs {' and '.join(configs)}; give "
            "runs of one config"
        )
    losses = {run: read_losses(run) for run in runs}
    first = losses[runs[0]]
    for run, of_run in losses.items():
        if [*of_run] != [*first]:
            raise InputError(
                f"{run} was validated after the updates {[*of_run]}, and {runs[0]} after {[*first]}; give "
                "whole runs of one config"
            )
        if unlike := [updates for updates in first if of_run[updates].keys() != first[updates].keys()]:
            raise InputError(
                f"{run} and {runs[0]} were not validated in the same kinds of directions after {unlike[0]} "
                "updates; give whole runs of one config"
            )
    systems: dict[str, list[Path]] = defaultdict(list)
    for run, record in records.items():
        systems[record["system"]].append(run)
    for kind in KINDS:
        validated = [updates for updates, of_kinds in first.items() if kind in of_kinds]
        if not validated:
            continue
        yield f"\nValidation loss of {kind_name(kind)} directions, bits a token:\n"
        yield (
            "| updates | "
            + " | ".join(
                f"{system}, {len(of_system)} seed{'s' * (len(of_system) > 1)}"
                for system, of_system in systems.items()
            )
            + " |"
        )
        yield "|---:" + "|---:" * len(systems) + "|"
        for updates in validated:
            of_systems = [[losses[run][updates][kind] for run in of_system] for of_system in systems.values()]
            yield f"| {updates} | " + " | ".join(map(format_mean, of_systems)) + " |"


def read_losses(run: Path) -> Losses:
    """The mean loss over the directions of each kind, of every validation of a run; `InputError` where there
    is none, and for one without the loss of a direction.
    """
    path, found = run / CHECKPOINTS / VALIDATION_FILE, {}
    for entry in read_validations(run / CHECKPOINTS):
        of_kinds: dict[str, list[float]] = defaultdict(list)
        for direction, figures in entry["directions"].items():
            if figures.get("nll_loss") is None:
                raise InputError(
                    f"{path} has no loss of {direction} after {entry['updates']} updates; leave the run out"
                )
            of_kinds[figures["kind"]].append(figures["nll_loss"])
        found[entry["updates"]] = {kind: fmean(of_kind) for kind, of_kind in of_kinds.items()}
    if not found:
        raise InputError(f"{path}, with the validations of the training, is not there or is empty")
    return found


def format_mean(losses: Sequence[float]) -> str:
    """The mean over the seeds, with their deviation where there are several."""
    return f"{fmean(losses):.3f}" + (f" ± {stdev(losses):.3f}" if len(losses) > 1 else "")
