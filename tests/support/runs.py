"""Run folders for tests of reports: text, hypotheses, log, validations and score file of no real run."""

import hashlib
import json
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

from tests.support.scores import made_up_scores
from zsnmt.languages import SUPERVISED
from zsnmt.runs.folder import hypotheses_file, settings_file
from zsnmt.runs.score_file import write_score_file
from zsnmt.runs.scores import Scores
from zsnmt.runs.trained_directions import TrainedDirections
from zsnmt.runs.validation import append_validation
from zsnmt.runs.ways import DIRECT

TEXT = {  # the second line must stay text on a page
    "en": [
        "The cat sleeps in the house.",
        "A sign says <script>alert('en')</script> & more.",
        "Good morning to all.",
    ],
    "de": [
        "Die Katze schläft im Haus.",
        "Ein Schild sagt <script>alert('de')</script> & mehr.",
        "Guten Morgen euch allen.",
    ],
    "fr": [
        "Le chat dort dans la maison.",
        "Un panneau dit <script>alert('fr')</script> & plus.",
        "Bonjour à vous tous, mes amis.",
    ],
}
SIGNATURE = f"py3langid {version('py3langid')}, restricted to en de fr"
STRAYED = "This sentence is in English and in no other language."


def make_text(folder: Path) -> Path:
    """A multiway test set of three lines."""
    folder.mkdir()
    for language, lines in TEXT.items():
        (folder / f"test.{language}").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return folder


def make_run(
    folder: Path, text: Path, system: str = "baseline", seed: int = 1, zero_shot: float = 5.0
) -> Path:
    """A run that copied its references, but for the first line of zero-shot directions, which is English."""
    return write_run(folder, text, made_up_scores(system, seed, zero_shot))


def write_run(folder: Path, text: Path, scores: Scores) -> Path:
    """The run of made-up scores; only direct zero-shot translations go astray."""
    system, seed = scores.system, scores.seed
    scores = replace(
        scores,
        text=str(text),
        versions={"sacrebleu": "2.6.0"},
        signatures={"bleu": "tok:13a", "chrf": "nc:6", "off_target": SIGNATURE},
        decoding={"beam": 4, "model": f"{system}{seed}", "split": "test"},
    )
    run = folder / system / f"seed{seed}"
    hypotheses = run / "hypotheses"
    hypotheses.mkdir(parents=True)
    sources = {}
    for result in scores.results:
        source, target = result.direction
        sources[str(result.direction)] = hashlib.sha256((text / f"test.{source}").read_bytes()).hexdigest()
        lines = (
            [STRAYED, *TEXT[target][1:]]
            if result.way == DIRECT and result.kind != SUPERVISED
            else TEXT[target]
        )
        path = hypotheses_file(hypotheses, result.way, result.direction)
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    for way in {result.way for result in scores.results}:
        settings_file(hypotheses, way).write_text(json.dumps({**scores.decoding, "sources": sources}))
    write_score_file(run / "scores.json", scores)
    (run / "train.log").write_text(
        "".join(log_line(updates, 8 - updates / 100) for updates in (100, 200, 300))
    )
    checkpoints = run / "checkpoints"
    checkpoints.mkdir()
    for epoch in (1, 2, 3):
        validate(checkpoints, epoch, ["de-fr", "en-de", "de-en", "fr-de"], ["en-de", "de-en"])
    return run


def validate(
    folder: Path,
    epoch: int,
    directions: list[str],
    trained: list[str],
    bleu: bool = True,
    synthetic: list[str] = (),
    **others,
) -> None:
    """A validation after each 100 updates, figures rising by place and BLEU by epoch too."""
    stats = {"num_updates": 100 * epoch, "nll_loss": 8 - epoch}
    for place, direction in enumerate(directions):
        stats[f"nll_loss_{direction}"] = 8 - epoch + place
        if bleu:
            stats[f"bleu_{direction}"] = 10 * epoch + place
    append_validation(
        folder, epoch, stats, directions, learned=TrainedDirections().after(trained, synthetic), **others
    )


def log_line(updates: int, loss: float) -> str:
    """A validation in fairseq's log."""
    entry = {
        "epoch": updates // 100,
        "valid_loss": "9",
        "valid_nll_loss": str(loss),
        "valid_num_updates": str(updates),
    }
    return f"2026-01-01 00:00:00 | INFO | valid | {json.dumps(entry)}\n"
