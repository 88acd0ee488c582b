"""Run folders for tests of reports: text, hypotheses, log and score file of no real run."""

import hashlib
import json
from importlib.metadata import version
from pathlib import Path

from tests.report.made_up import made_up_scores

TEXT = {  # the second line must stay text on a page
    "en": ["The cat sleeps in the house.", "A sign says <script>alert('en')</script> & more.", "Good morning to all."],
    "de": ["Die Katze schläft im Haus.", "Ein Schild sagt <script>alert('de')</script> & mehr.", "Guten Morgen euch allen."],
    "fr": ["Le chat dort dans la maison.", "Un panneau dit <script>alert('fr')</script> & plus.", "Bonjour à vous tous, mes amis."],
}
SIGNATURE = f"py3langid {version('py3langid')}, restricted to en de fr"
STRAYED = "This sentence is in English and in no other language."


def make_text(folder: Path) -> Path:
    """A multiway test set of three lines."""
    folder.mkdir()
    for language, lines in TEXT.items():
        (folder / f"test.{language}").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return folder


def make_run(folder: Path, text: Path, system: str = "baseline", seed: int = 1, zero_shot: float = 5.0) -> Path:
    """A run that copied its references, but for the first line of zero-shot directions, which is English."""
    scores = made_up_scores(system, seed, zero_shot)
    scores |= {
        "text": str(text),
        "versions": {"sacrebleu": "2.6.0"},
        "signatures": {"bleu": "tok:13a", "chrf": "nc:6", "off_target": SIGNATURE},
        "decoding": {"beam": 4, "model": f"{system}{seed}", "split": "test"},
    }
    run = folder / system / f"seed{seed}"
    hypotheses = run / "hypotheses"
    hypotheses.mkdir(parents=True)
    sources = {}
    for result in scores["directions"]:
        source, target = result["direction"].split("-")
        sources[result["direction"]] = hashlib.sha256((text / f"test.{source}").read_bytes()).hexdigest()
        lines = [STRAYED, *TEXT[target][1:]] if result["kind"] == "zero_shot" else TEXT[target]
        name = "pivot" if result["kind"] == "pivot" else "direct"
        (hypotheses / f"{name}.{result['direction']}.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    (hypotheses / "settings.json").write_text(json.dumps({**scores["decoding"], "sources": sources}))
    (run / "scores.json").write_text(json.dumps(scores))
    (run / "train.log").write_text("".join(log_line(updates, 8 - updates / 100) for updates in (100, 200, 300)))
    return run


def log_line(updates: int, loss: float) -> str:
    """A validation in fairseq's log."""
    entry = {"epoch": updates // 100, "valid_loss": "9", "valid_nll_loss": str(loss), "valid_num_updates": str(updates)}
    return f"2026-01-01 00:00:00 | INFO | valid | {json.dumps(entry)}\n"
