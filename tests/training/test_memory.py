"""How memory grows with the training text until it is binarised: by the bytes that docs/data.md names."""

import random
import tracemalloc
from collections.abc import Callable
from concurrent.futures import Executor
from pathlib import Path

import pytest

from zsnmt.corpora import judging
from zsnmt.corpora.cleaning import parse_cleaning
from zsnmt.corpora.judging import check_overlap
from zsnmt.corpora.training_text import make_training_text
from zsnmt.text.settings import TextSettings
from zsnmt.training import binarised, segmented
from zsnmt.training.binarised import prepare

LANGUAGES = ["en", "de"]
LINES = 1500, 15_000
# Bytes of a line at the moment of most memory, as docs/data.md has them.
OVERLAP, REPETITIONS, BINARISING = 2, 26, 57


class InThisProcess(Executor):
    """Does all work where memory is measured."""

    map = staticmethod(map)  # type: ignore[assignment]


def write_text(folder: Path, lines: int) -> Path:
    """Parallel text of so many short training pairs."""
    folder.mkdir()
    generator = random.Random(1)
    for split, number in (("train", lines), ("valid", 5), ("test", 5)):
        for language in LANGUAGES:
            words = (" ".join(generator.choices("abcdefgh", k=3)) for _ in range(number))
            text = "".join(f"{line} {split} {language} {place}\n" for place, line in enumerate(words))
            (folder / f"{split}.de-en.{language}").write_text(text)
    return folder


def read_overlaps(text: Path) -> None:
    _, overlaps = check_overlap(text, LANGUAGES)
    assert not [*overlaps]


def make_text(text: Path) -> None:
    make_training_text(text, text.with_name(f"{text.name}.made"), LANGUAGES)


def clean_text(text: Path) -> None:
    rules = parse_cleaning("duplicate near_duplicate")
    make_training_text(text, text.with_name(f"{text.name}.clean"), LANGUAGES, cleaning=rules)


def binarise(text: Path) -> None:
    prepare(text, text.with_name(f"{text.name}.data"), LANGUAGES, TextSettings(vocabulary_size=50))


def peak_memory(work: Callable[[Path], None], text: Path) -> int:
    tracemalloc.start()
    work(text)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


@pytest.mark.slow
@pytest.mark.parametrize(
    "work, bytes_a_line",
    [(read_overlaps, OVERLAP), (make_text, OVERLAP), (clean_text, REPETITIONS), (binarise, BINARISING)],
)
def test_memory_grows_by_some_bytes_a_line(tmp_path, monkeypatch, work, bytes_a_line):
    """Both texts are larger than what is read at once, which is less here than it is elsewhere."""
    monkeypatch.setattr(judging, "BLOCK", 100)
    monkeypatch.setattr(segmented, "TOGETHER", 100)
    monkeypatch.setattr(segmented, "READ", 1000)
    monkeypatch.setattr(binarised, "worker_pool", lambda workers: InThisProcess())
    work(write_text(tmp_path / "first", 200))  # loads what is loaded once
    few, many = (peak_memory(work, write_text(tmp_path / str(lines), lines)) for lines in LINES)
    assert many - few <= bytes_a_line * (LINES[1] - LINES[0])
