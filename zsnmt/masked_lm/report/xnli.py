"""Accuracy on XNLI by position encoding and language (Ravishankar and Søgaard 2021, Figure 3), from score
files.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from zsnmt.errors import InputError
from zsnmt.files.kinds import check_kinds
from zsnmt.files.records import damage_of, read_json
from zsnmt.masked_lm.report.runs import LABELS
from zsnmt.report.comparability import check_alike
from zsnmt.report.table import Table, numbers_in_short, seed_cell

SCORES_FILE = "xnli.json"
REMEDY = "score the run with zsnmt xnli"
KINDS = {
    **dict.fromkeys(("config", "system", "command", "commit"), str),
    "seed": int,
    "versions": Mapping[str, str],
    "pairs": Mapping[str, int],
    "accuracy": Mapping[str, float],
}


def read_runs(folders: Iterable[Path]) -> list[dict]:
    """The score files of runs, and of the runs SYSTEM/seedK in folders; raises `InputError` for one that
    is missing or damaged.
    """
    runs: list[dict] = []
    for folder in folders:
        own = folder / SCORES_FILE
        found = [own] if own.is_file() else sorted(folder.glob(f"*/seed*/{SCORES_FILE}"))
        if not found:
            raise InputError(
                f"{folder} holds no {SCORES_FILE}, neither of a run nor of runs SYSTEM/seedK; {REMEDY}"
            )
        runs += map(read, found)
    return runs


def read(path: Path) -> dict:
    """One score file; `InputError` if it is missing or damaged."""
    scores = read_json(path, REMEDY, KINDS)
    with damage_of(path, REMEDY):
        check_kinds(scores["pairs"], {"train": int})
        if not scores["accuracy"]:
            raise ValueError("it has no language")
    return scores


def accuracy_table(runs: Sequence[dict]) -> Table:
    """One row per encoding, means over its seeds; raises `InputError` for runs that were not made alike, or
    are given twice.
    """
    check_alike(
        [(name_of(run), conditions(run)) for run in runs], "train and score them alike, or make two tables"
    )
    names = [name_of(run) for run in runs]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InputError(f"a run is given twice: {', '.join(twice)}; give each once")
    languages = [*runs[0]["accuracy"]]
    rows = []
    for system in sorted({run["system"] for run in runs}, key=lambda system: [*LABELS, system].index(system)):
        of_system = sorted((run for run in runs if run["system"] == system), key=lambda run: run["seed"])
        means = [
            seed_cell("accuracy", [run["accuracy"][language] for run in of_system]) for language in languages
        ]
        rows.append([LABELS.get(system, system), numbers_in_short(run["seed"] for run in of_system), *means])
    about = (
        f"Accuracy on XNLI; fine-tuned on {runs[0]['pairs']['train']:,} pairs in {languages[0]}, chance "
        "is one of three labels."
    )
    return Table(
        "xnli", "XNLI by position encoding", ["encoding", "seeds", *languages], rows=rows, about=about
    )


def name_of(run: dict) -> str:
    """A run as tables and errors name it."""
    return f"{run['system']} seed {run['seed']}"


def conditions(run: dict) -> dict[str, set[str]]:
    """What must be equal of runs in one table, by name."""
    pairs = {f"{number:,} in {split}" for split, number in run["pairs"].items()}
    return {"configs": {run["config"]}, "languages": {*run["accuracy"]}, "numbers of pairs": pairs}
