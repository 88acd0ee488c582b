"""Score files of the masked-LM study for tests: figures by formulas, of no real run."""

import json
import math
from pathlib import Path

from zsnmt.masked_lm.report.runs import ABLATIONS, ENCODINGS, LABELS, NONE, SAME, SCORES_FILE
from zsnmt.masked_lm.score_file import MaskedLM, parse_scores

CONDITIONS, SEEDS, LAYERS = (NONE, SAME, "de"), (0, 42, 100), (0, 8)
OFFSETS, POSITIONS, DIMENSIONS = range(1, 33), range(32), (0, 4, 8, 16)
WORDS = "the and of to in that he was with for they said God people when king land day house son".split()
POSITIONED = ("sinusoidal", "learned", "tupe_absolute", "tupe_relative", *ABLATIONS)


def made_up_content(system: str = "learned", condition: str = SAME, seed: int = 0, **others) -> dict:
    """A score file in which no two figures are alike: perplexity falls and ML score falls from system to
    system.
    """
    place, harder = [*LABELS].index(system), {NONE: 0, SAME: 1}.get(condition, 2)
    noise = math.sin(7 * place + 3 * harder + seed)
    first = 200 - 9 * place - 4 * harder + 3 * noise
    found = {
        measure: {
            str(layer): directions(base - 0.05 * place - 0.04 * harder + 0.01 * noise)
            for layer, base in bases.items()
        }
        for measure, bases in (("retrieval", {0: 0.55, 8: 0.95}), ("translation", {8: 0.66, 0: 0.75}))
    }
    means = [found[measure][layer]["mean"] for measure in found for layer in found[measure]]
    bilingual = condition != NONE
    scores = {
        "config": "made_up",
        "condition": condition,
        "system": system,
        "seed": seed,
        "commit": "b" * 40,
        "epochs": 10,
        "command": f"bash recipes/masked_lm.sh configs/made_up.conf {condition} {system} {seed}",
        "versions": {"torch": "9.9", "python": "3.11"},
        "updates": 1200 if bilingual else 600,
        "sentences": {"train": 5000, "valid": 300} if bilingual else {"train": 2500, "valid": 150},
        "perplexity": {
            "full": first + 20,
            "first": first,
            "full_by_token": first + 21,
            "first_by_token": first + 1,
        },
        "retrieval": found["retrieval"] if bilingual else None,
        "translation": found["translation"] if bilingual else None,
        "ml_score": sum(means) / len(means) if bilingual else None,
        "curves": {
            "dimensions": [*DIMENSIONS],
            "values": [[curve(system, seed, one, at) for at in POSITIONS] for one in DIMENSIONS],
        },
        "procrustes": None,
        "correlations": None,
    }
    if system == "none":
        scores["curves"] = None
    if system in POSITIONED:
        scores["procrustes"] = losses(system, harder, seed)
        scores["correlations"] = {
            "words": WORDS,
            "values": [[correlation(harder, row, at) for at in POSITIONS] for row in range(len(WORDS))],
        }
    return {**scores, **others}


def made_up_masked_lm(system: str = "learned", condition: str = SAME, seed: int = 0, **others) -> MaskedLM:
    """A run with such a score file."""
    return parse_scores(made_up_content(system, condition, seed, **others))


def directions(mean: float) -> dict[str, float]:
    return {"forward": mean + 0.01, "backward": mean - 0.01, "mean": mean}


def losses(system: str, harder: int, seed: int) -> dict:
    """Nearly 0 of sinusoids; of the others between, lower with two languages, the most so of absolute
    positions.
    """
    level = {"sinusoidal": 0.02, "learned": 1.2 - 0.35 * harder}.get(system, 1.4 - 0.05 * harder)
    mean = [level * (1 + k / 100) + 0.02 * math.sin(k + seed) * level for k in OFFSETS]
    return {"offsets": [*OFFSETS], "mean": mean, "median": [0.9 * loss for loss in mean], "noise": 1.5}


def curve(system: str, seed: int, dimension: int, at: int) -> float:
    wave = math.sin(at / 1.6 ** (dimension / 4))
    return (
        wave
        if system == "sinusoidal"
        else 0.05 * (wave + [*LABELS].index(system) * math.sin(3.1 * at * at + seed))
    )


def correlation(harder: int, row: int, at: int) -> float:
    return harder * math.cos(0.5 * at + 0.1 * row) / 2 + 0.1 * math.sin(row * at)


def grid(systems=tuple(ENCODINGS), conditions=CONDITIONS, seeds=SEEDS) -> list[MaskedLM]:
    """Each run of a grid."""
    return [
        made_up_masked_lm(system, condition, seed)
        for condition in conditions
        for system in systems
        for seed in seeds
    ]


def write_runs(folder: Path, runs: list[MaskedLM]) -> list[Path]:
    """The folders of the runs."""
    folders = [folder / run.condition / run.system / f"seed{run.seed}" for run in runs]
    for path, run in zip(folders, runs):
        path.mkdir(parents=True)
        (path / SCORES_FILE).write_text(json.dumps(run.content), encoding="utf-8")
    return folders
