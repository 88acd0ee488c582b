"""What the demo shows of test sets that are small, or that it cannot use."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from zsnmt.demo import side_by_side as demo
from zsnmt.errors import InputError
from zsnmt.languages import Direction
from zsnmt.runs.folder import HYPOTHESES, hypotheses_file
from zsnmt.runs.ways import DIRECT, PIVOT
from zsnmt.text.lines import write_lines
from zsnmt.training.steps import Steps


def experiment(folder: Path, test_lines: int | None = None) -> SimpleNamespace:
    config = SimpleNamespace(languages=["en", "de", "fr"], synthetic=None, test_lines=test_lines)
    return SimpleNamespace(
        text=folder, config=config, run=lambda system, seed: folder / system / f"seed{seed}"
    )


def write_test_set(folder: Path, lines: int) -> None:
    """A test set, with the translations of one system."""
    for language in ("de", "fr"):
        write_lines(folder / f"test.de-fr.{language}", [f"{language} {number}" for number in range(lines)])
    for way in (DIRECT, PIVOT):
        for direction in (Direction("de", "fr"), Direction("fr", "de")):
            file = hypotheses_file(folder / "system" / "seed1" / HYPOTHESES, way, direction)
            file.parent.mkdir(parents=True, exist_ok=True)
            write_lines(file, [f"{way.phrase} {number}" for number in range(lines)])


@pytest.mark.parametrize("lines, test_lines, shown", [(5, None, 3), (2, None, 2), (5, 1, 1)])
def test_it_shows_as_many_sentences_as_there_are_at_most_three(tmp_path, lines, test_lines, shown):
    write_test_set(tmp_path, lines)
    said = [*demo.examples(experiment(tmp_path, test_lines), ["system"])]
    assert said.count("") == shown  # a sentence ends with an empty line


def test_text_without_a_test_set_between_other_languages_is_refused_before_training(tmp_path, monkeypatch):
    monkeypatch.setattr(demo, "prepare_data", lambda steps, experiment: None)
    monkeypatch.setattr(demo, "finish_all", pytest.fail)
    for language in ("de", "en"):
        write_lines(tmp_path / f"test.de-en.{language}", ["one"])
    with pytest.raises(InputError, match="has no test set between two languages other than en"):
        demo.train_and_score(Steps("demo"), experiment(tmp_path), {})
