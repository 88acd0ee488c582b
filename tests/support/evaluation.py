"""A made-up test set, and models that translate it word by word: for tests of scores."""

import copy
import json
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from zlib import crc32

from tests.conftest import LANGUAGES
from zsnmt.decoding.methods.settings import Method
from zsnmt.decoding.options import EngineChoice
from zsnmt.decoding.search import Search
from zsnmt.languages import Direction, supervised_directions
from zsnmt.text.lines import write_lines

WORDS = 30


def sentences(language: str, lines: int = 40, seed: int = 1) -> list[str]:
    """Sentences of a made-up language; those of one seed say the same in every language."""
    generator = random.Random(seed)
    return [
        " ".join(f"{language}{generator.randrange(WORDS)}" for _ in range(generator.randint(4, 9))) + "."
        for _ in range(lines)
    ]


def spoilt(lines: Sequence[str], share: float, seed: int = 1) -> list[str]:
    """The lines with about a share of their words put into disorder, or said twice."""
    generator = random.Random(seed)

    def spoil(word: str) -> str:
        return generator.choice([word[::-1], f"{word} {word}"]) if generator.random() < share else word

    return [" ".join(map(spoil, line.split())) for line in lines]


def write_text(folder: Path) -> Path:
    """A multiway test set with lexicons."""
    folder.mkdir()
    for language in LANGUAGES:
        write_lines(folder / f"test.{language}", sentences(language))
        write_lines(folder / f"lexicon.{language}", [f"{language}{word}" for word in range(WORDS)])
    return folder


def write_run(folder: Path, text: Path, system: str) -> Path:
    """As much of a run folder as an evaluation reads; the model is no more than a name."""
    (folder / "pipeline").mkdir(parents=True)
    (folder / "model.pt").write_text(system)
    (folder / "run.json").write_text(
        json.dumps({"config": "made_up", "system": system, "seed": 1, "text": str(text)})
    )
    validation = {"epoch": 3, "valid_num_updates": "70", "valid_nll_loss": "2.5"}
    (folder / "train.log").write_text(f"2026-01-01 | INFO | valid | {json.dumps(validation)}\n")
    return folder


class MadeUpTranslator:
    """Puts the words of the source language into the target's, but for some that its model cannot
    translate.
    """

    languages, pivot = LANGUAGES, LANGUAGES[0]
    trained = supervised_directions(LANGUAGES, LANGUAGES[0])

    def __init__(self, run: Path, search: Search = Search(), choice: EngineChoice = EngineChoice()) -> None:
        self.model, self.search, self.choice = (run / "model.pt").read_text(), search, choice
        self.signature = "" if choice.precision is None else f"{choice.engine} {choice.precision}"
        self.pipeline = self
        self.asked: list[list[str]] = []  # directions of each call

    def by(self, method: Method, counts: Mapping | None = None) -> "MadeUpTranslator":
        """The model by a method, which has other words that it cannot translate."""
        other = copy.copy(self)
        other.model, other.asked = f"{self.model} {method.name}", []
        return other

    def normalise(self, line: str, language: str) -> str:
        return line.upper()

    def translate_into(
        self,
        lines: Sequence[str],
        directions: Sequence[Direction],
        *,
        first_line: int = 1,
        finished: Callable[[float], object] = lambda number: None,
    ) -> dict[Direction, list[str]]:
        self.asked.append([*map(str, directions)])
        finished(len(lines) * len(directions))
        return {direction: [self.translation(line, direction) for line in lines] for direction in directions}

    def translation(self, line: str, direction: Direction) -> str:
        return " ".join(self.word(word, direction) for word in line.split())

    def word(self, word: str, direction: Direction) -> str:
        if crc32(f"{self.model} {direction} {word}".encode()) % 3 == 0:
            return word
        return word.replace(direction.source, direction.target)
