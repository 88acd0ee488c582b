"""Score files: one JSON a run, from which every table is made."""

from pathlib import Path

from zsnmt.files import read_json

SCORES_FILE = "scores.json"


def read_scores(run: Path) -> dict:
    """The scores of a run; `InputError` if it has none."""
    return read_json(run / SCORES_FILE, f"score the run with recipes/evaluate.sh {run}")
