"""Accuracies on XNLI that the project keeps, and the block of a page made from them."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from zsnmt.masked_lm.report.runs import LABELS
from zsnmt.masked_lm.report.xnli import SCORES_FILE, accuracy_table, read
from zsnmt.report.comparison import fold
from zsnmt.report.documents import Maker, keep_of_run, kept_files
from zsnmt.report.scores import short_commit, versions_in_short
from zsnmt.report.table import Table, markdown_rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FOLDER = "xnli"  # below that of a config


def has_inference(run: Path) -> bool:
    """Whether a run was scored on XNLI."""
    return (run / SCORES_FILE).is_file()


def keep_inference(run: Path, folder: Path) -> Path:
    """Where the accuracies of a run are kept; `InputError` if they are damaged."""
    return keep_of_run(read(run / SCORES_FILE), folder, FOLDER)


def kept_inference(folder: Path, config: str) -> list[dict]:
    """The kept accuracies of a config, by encoding and seed; `InputError` if there are none."""
    runs = map(read, kept_files(folder / config / FOLDER, "accuracies; add runs of zsnmt xnli"))
    return sorted(runs, key=lambda run: ([*LABELS].index(run["system"]), run["seed"]))


def drawn_inference(folder: Path) -> Iterator[tuple[str, "Figure"]]:
    """Name and drawing of the accuracies of each config."""
    from zsnmt.masked_lm.report.xnli_bars import accuracy_bars  # loads matplotlib

    for path in sorted(folder.glob(f"*/{FOLDER}")):
        name, _, drawing = accuracy_bars(kept_inference(folder, path.parent.name))
        yield f"{name}_{path.parent.name}", drawing


def inference(folder: Path, config: str) -> str:
    """The table of accuracies, with what made the runs folded."""
    runs = kept_inference(folder, config)
    table = accuracy_table(runs)
    made = runs_table(runs)
    return "\n\n".join([markdown_rows(table), table.note, fold(made.title, markdown_rows(made))])


def runs_table(runs: Sequence[dict]) -> Table:
    """What made each run."""
    rows = [
        [
            LABELS[run["system"]],
            str(run["seed"]),
            short_commit(run["commit"]),
            versions_in_short(run["versions"]),
            run["command"],
        ]
        for run in runs
    ]
    titles = ["encoding", "seed", "commit", "versions", "command"]
    return Table("runs", "How the runs were made", titles, rows=rows, about="", headers=2)


MAKERS: dict[str, Maker] = {f":{FOLDER}": inference}
