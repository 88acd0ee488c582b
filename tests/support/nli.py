"""MultiNLI and XNLI in small, in the form of the releases, and text to pre-train on; a word of the
hypothesis decides the label.
"""

import json
import random
from collections.abc import Sequence
from pathlib import Path

from zsnmt.corpora.releases.xnli import LABELS
from zsnmt.text.lines import write_lines

LANGUAGES = ("en", "de", "hi")  # names; the words are made up
DECIDING = dict(zip(LABELS, ("surely", "perhaps", "never")))  # the same in every language
PARSES = "sentence1_binary_parse sentence2_binary_parse sentence1_parse sentence2_parse".split()
VOTES = [f"label{number}" for number in range(1, 6)]
MULTINLI_COLUMNS = ["gold_label", *PARSES, "sentence1", "sentence2", "promptID", "pairID", "genre", *VOTES]
XNLI_COLUMNS = ["language", *MULTINLI_COLUMNS, "sentence1_tokenized", "sentence2_tokenized", "match"]
MULTINLI, XNLI_DEV, XNLI_TEST = "multinli_1.0_train", "xnli.dev", "xnli.test"
TRAIN, DEV, TEST = 241, 23, 61  # pairs


def sentence(language: str, generator: random.Random, most: int = 7) -> str:
    return " ".join(
        f"{language}{generator.choice('aeiou')}{generator.choice('bcd')}"
        for _ in range(generator.randint(3, most))
    )


def records(language: str, number: int, seed: int) -> list[dict[str, str]]:
    """Pairs as a release has them: quotes that end nowhere, columns at the end of a row that are empty."""
    generator = random.Random(f"{language} {seed}")
    made = []
    for place in range(number):
        label = LABELS[place % len(LABELS)]
        premise, hypothesis = (
            f'"{sentence(language, generator)}',
            f"{sentence(language, generator, 4)} {DECIDING[label]}",
        )
        parses = dict.fromkeys(PARSES, "( so ( it is ) )")
        made.append(
            {
                "language": language,
                "gold_label": label,
                **parses,
                "sentence1": premise,
                "sentence2": hypothesis,
                "promptID": str(place),
                "pairID": f"{place}n",
                "genre": "letters",
                "label1": label,
            }
        )
    return made


def write_table(path: Path, columns: Sequence[str], rows: Sequence[dict[str, str]]) -> None:
    write_lines(
        path, ["\t".join(columns), *("\t".join(row.get(column, "") for column in columns) for row in rows)]
    )


def write_json_lines(path: Path, columns: Sequence[str], rows: Sequence[dict[str, str]]) -> None:
    write_lines(
        path, [json.dumps({column: row[column] for column in columns if column in row}) for row in rows]
    )


def write_releases(folder: Path, json_lines: bool = True) -> tuple[Path, Path]:
    """The folders of both releases."""
    multinli, xnli = folder / "multinli_1.0", folder / "XNLI-1.0"
    multinli.mkdir(parents=True)
    xnli.mkdir()
    write, endings = (write_json_lines, ("jsonl", "jsonl")) if json_lines else (write_table, ("txt", "tsv"))
    write(multinli / f"{MULTINLI}.{endings[0]}", MULTINLI_COLUMNS, records("en", TRAIN, 1))
    for name, number, seed in ((XNLI_DEV, DEV, 2), (XNLI_TEST, TEST, 3)):
        rows = [row for language in ("ar", *LANGUAGES) for row in records(language, number, seed)]
        write(xnli / f"{name}.{endings[1]}", XNLI_COLUMNS, rows)
    return multinli, xnli


def write_text(folder: Path, train: int = 150, valid: int = 7) -> Path:
    """Text of each language to pre-train on, with as many lines of one as of another but for a few."""
    folder.mkdir()
    for place, language in enumerate(LANGUAGES):
        generator = random.Random(language)
        for split, number in (("train", train), ("valid", valid)):
            deciding = [*DECIDING.values()]
            lines = [
                f"{sentence(language, generator)} {generator.choice(deciding)}" for _ in range(number + place)
            ]
            write_lines(folder / f"{split}.{language}", lines)
    return folder
