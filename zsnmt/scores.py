"""Score files: one JSON a run, from which every table is made."""

import json
from pathlib import Path

from zsnmt.files import read_json, replacing

SCORES_FILE = "scores.json"


def write_scores(path: Path, scores: dict) -> None:
    """Write a score file, beside and renamed."""
    with replacing(path) as file:
        file.write(json.dumps(scores, indent=1, ensure_ascii=False).encode("utf-8"))


def read_scores(run: Path) -> dict:
    """The scores of a run; `InputError` if it has none."""
    return read_json(run / SCORES_FILE, f"score the run with recipes/evaluate.sh {run}")
