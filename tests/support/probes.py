"""Probes of run folders for tests of reports: figures of no real model, which fall and rise at the removed
layer.
"""

import json
from itertools import combinations
from pathlib import Path

from zsnmt.analysis import layer_figures

LAYERS = ["0", "1", "2", "3", "final"]
LANGUAGES = ["en", "de", "fr"]
LABELS = {
    "language": (1 / 3, 0.35),
    "position": (0.05, 0.08),
    "token": (0.01, 0.04),
}  # chance, majority class


def make_probes(
    run: Path,
    removed: int | None = None,
    labels: tuple[str, ...] = tuple(LABELS),
    figures: bool = True,
    **changed,
) -> Path:
    """The folder of probes of a run that was made up and scored; `changed`: what else record.json says."""
    scores = json.loads((run / "scores.json").read_text())
    folder = run / "probes"
    folder.mkdir()
    write(folder / "similarity.tsv", similarity_rows(removed, scores["seed"]))
    write(folder / "classifiers.tsv", classifier_rows(removed, scores["seed"], labels))
    if figures:
        write(folder / "layer_figures.tsv", figure_rows(removed, scores["seed"]))
    if "language" in labels:
        write(folder / "classifiers.confusion.tsv", confusion_rows(removed))
    record = {
        **{key: scores[key] for key in ("config", "system", "seed")},
        "model": scores["decoding"]["model"],
        "target": None,
        "removed_layers": [removed] if removed else [],
        "layers": LAYERS,
        "dimension": 8,
        "languages": LANGUAGES,
        "sentences": 40,
        "text": "0123456789abcdef",
        "training_text": "fedcba9876543210",
        "train_lines": 200,
        "split": "test",
        "kind": "published",
        "variance": 0.99,
        "probe_seed": 1,
        "command": f"bash recipes/probe.sh {scores['system']}",
        "commit": "b" * 40,
        "versions": {"torch": "2.0"},
    }
    (folder / "record.json").write_text(json.dumps(record | changed))
    return folder


def after(place: int, removed: int | None) -> bool:
    """Whether a layer, by its place, is the removed one or above it."""
    return removed is not None and place >= removed


def similarity_rows(removed: int | None, seed: int) -> list[list]:
    titles = (
        "layer language other svcca independent gaussian kept other_kept sentences dimensions cka "
        "forward backward chance"
    ).split()
    rows = []
    for place, layer in enumerate(LAYERS):
        for number, pair in enumerate(combinations(LANGUAGES, 2)):
            value = 0.4 + 0.02 * place + 0.01 * number + 0.005 * seed + 0.2 * after(place, removed)
            rows.append(
                [
                    layer,
                    *pair,
                    value,
                    0.3 + 0.01 * after(place, removed),
                    0.35,
                    6,
                    7,
                    40,
                    8,
                    value - 0.1,
                    value,
                    value - 0.2,
                    1 / 40,
                ]
            )
    return [titles, *rows]


def figure_rows(removed: int | None, seed: int) -> list[list]:
    names = [figure.name for figure in layer_figures.LAYER_FIGURES]
    rows = [
        [
            layer,
            *(
                0.5 - 0.1 * number - 0.01 * place - 0.2 * after(place, removed) + 0.004 * seed
                for number in range(len(names))
            ),
        ]
        for place, layer in enumerate(LAYERS)
    ]
    return [["layer", *names], *rows]


def classifier_rows(removed: int | None, seed: int, labels: tuple[str, ...]) -> list[list]:
    rows = [
        [
            layer,
            label,
            0.99 - 0.01 * place - 0.4 * after(place, removed) - 0.002 * seed,
            *LABELS[label],
            900,
            3 * (label == "token"),
        ]
        for place, layer in enumerate(LAYERS)
        for label in labels
    ]
    return ["layer label accuracy chance majority rows unseen".split(), *rows]


def confusion_rows(removed: int | None) -> list[list]:
    rows = []
    for place, layer in enumerate(LAYERS):
        right = 0.6 if after(place, removed) else 0.9
        for true in LANGUAGES:
            rows.append(
                [layer, true, *(right if true == predicted else (1 - right) / 2 for predicted in LANGUAGES)]
            )
    return [["layer", "language", *LANGUAGES], *rows]


def write(path: Path, rows: list[list]) -> None:
    path.write_text("".join("\t".join(map(str, row)) + "\n" for row in rows))
