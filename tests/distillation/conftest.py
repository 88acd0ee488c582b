"""A small corpus with a teacher whose translations are made up, of words of the target's lexicon."""

from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from zlib import crc32

import pytest

from zsnmt.corpora.invented.corpus import SyntheticCorpus, write_corpus
from zsnmt.corpora.invented.languages import standard_languages
from zsnmt.corpora.training_text import make_training_text
from zsnmt.distillation import student_data, translation
from zsnmt.distillation.settings import Distillation, SyntheticSettings
from zsnmt.distillation.student_data import StudentData, make_data
from zsnmt.distillation.synthetic_text import SyntheticText
from zsnmt.languages import Direction
from zsnmt.text.lines import read_lines
from zsnmt.text.settings import TextSettings
from zsnmt.training.binarised import prepare
from zsnmt.training.experiment import Experiment
from zsnmt.training.steps import Steps

PIVOT, *OTHERS = LANGUAGES = ["inglan", "velan", "tamun", "velor"]
DIRECTIONS = [Direction(source, target) for source in OTHERS for target in OTHERS if source != target]
AUTHENTIC = [f"{PIVOT}-{other}" for other in OTHERS] + [f"{other}-{PIVOT}" for other in OTHERS]
PAIRS, HELD_OUT = 83, 5


def made_up(line: str, direction: Direction, text: Path) -> str:
    """A sentence in the language of the target, the same each time."""
    words = read_lines(text / f"lexicon.{direction.target}")
    return " ".join(words[crc32(f"{direction} {word}".encode()) % len(words)] for word in line.split()) + "."


class MadeUpInterpreter:
    """Translates in no time, and remembers what it was asked."""

    def __init__(self, translate: Callable[[str, Direction], str], stop_before: int | None = None) -> None:
        self.translation, self.stop_before = translate, stop_before
        self.asked: list[tuple[Direction, list[str]]] = []

    def __call__(self, teacher, search, engine, way) -> "MadeUpInterpreter":
        return self

    def describe(self) -> dict[str, str]:
        return {"engine": "made up"}

    def translate(self, lines: Sequence[tuple[str, ...]], direction: Direction, finished) -> list[str]:
        if len(self.asked) == self.stop_before:
            raise KeyboardInterrupt
        self.asked.append((direction, [*lines]))
        return [self.translation(line, direction) for line, *_ in lines]


@pytest.fixture(scope="session")
def made(tmp_path_factory) -> Path:
    """The folder of an experiment: its text and its data."""
    folder = tmp_path_factory.mktemp("distillation") / "made"
    corpus = SyntheticCorpus(standard_languages(3), concepts=60, pairs=PAIRS, valid=7, test=9, longest=8)
    write_corpus(corpus, folder / "source")
    make_training_text(folder / "source", folder / "text", LANGUAGES)
    prepare(folder / "text", folder / "data", LANGUAGES, TextSettings(vocabulary_size=200))
    return folder


@pytest.fixture
def translate(made):
    """What the teacher makes of a sentence."""
    return lambda line, direction: made_up(line, direction, made / "text")


@pytest.fixture
def synthetic(made, tmp_path, translate, monkeypatch) -> Callable[..., SyntheticText]:
    """Makes the synthetic text of the teacher, in a folder of the test, with some settings."""

    def make(
        interpreter: MadeUpInterpreter | None = None, folder: Path = tmp_path / "made", **settings
    ) -> SyntheticText:
        folder.mkdir(exist_ok=True)
        for name in ("text", "data"):
            if not (folder / name).exists():
                (folder / name).symlink_to(made / name)
        (folder / "model.pt").write_text("weights")
        monkeypatch.setattr(translation, "Interpreter", interpreter or MadeUpInterpreter(translate))
        teacher = SimpleNamespace(
            run=folder,
            model=folder / "model.pt",
            pipeline=made / "data",
            record={"system": "baseline", "seed": 3},
            checksum="0123",
            beside=(),
            checksums=lambda: {"model": "0123"},
            learned_of=list,
            check_learned=lambda directions, remedy: None,
            longest=100,
            describe=lambda: {"run": "baseline", "model": "0123"},
        )
        experiment = Experiment(SimpleNamespace(languages=LANGUAGES), Path("made.conf"), folder)
        chosen = SyntheticSettings(**{"held_out": HELD_OUT, "identifier": "lexicon", **settings})
        return SyntheticText(experiment, teacher, chosen)

    return make


@pytest.fixture
def text(synthetic, monkeypatch) -> SyntheticText:
    """The synthetic text of an experiment, which the student's data are made of."""
    made = synthetic()
    monkeypatch.setattr(student_data, "SyntheticText", lambda *given: made)
    return made


def data_of(text: SyntheticText, sides: str) -> StudentData:
    """The data of a student with these sides."""
    distillation = Distillation(text.experiment.folder, sides=sides)
    return make_data(
        Steps("distill"), text.experiment, distillation, teacher=SimpleNamespace(), authentic=AUTHENTIC
    )
