"""Score files: one JSON a run, from which every table is made."""

import json
from pathlib import Path

from zsnmt.errors import InputError
from zsnmt.files import replacing

SCORES_FILE = "scores.json"


def write_scores(path: Path, scores: dict) -> None:
    """Write a score file, beside and renamed."""
    with replacing(path) as file:
        file.write(json.dumps(scores, indent=1, ensure_ascii=False).encode("utf-8"))


def read_scores(run: Path) -> dict:
    """A run's scores; `InputError` if it has none."""
    path = run / SCORES_FILE
    if not path.is_file():
        raise InputError(f"{path} is missing; score the run with recipes/evaluate.sh {run}")
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{path} is damaged ({error}); remove it and score the run again") from error
