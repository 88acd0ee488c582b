"""What `zsnmt distill` refuses before it reads anything large."""

from types import SimpleNamespace

import pytest
import torch

from zsnmt.cli import ablate, distill
from zsnmt.console import WrongUse
from zsnmt.distillation.settings import default_word_level
from zsnmt.errors import InputError
from zsnmt.runs.systems import System


@pytest.mark.parametrize("control", [("--sides", "none"), ("--remedy", "consistency")])
@pytest.mark.parametrize(
    "given",
    [("--lines", "9"), ("--held-out", "9"), ("--way", "mask"), ("--beam", "2"), ("--precision", "int8")],
)
def test_options_of_translations_are_refused_where_there_are_none(tmp_path, monkeypatch, control, given):
    monkeypatch.setattr("zsnmt.runs.folder.check_trained", lambda run: None)
    with pytest.raises(
        WrongUse, match=f"^{given[0]} is of translations to learn from, and with --sides none"
    ):
        distill.main([str(tmp_path / "some.conf"), str(tmp_path), *control, *given])


@pytest.mark.parametrize("engine", [(), ("--engine", "pytorch")])
def test_a_precision_that_the_machine_has_not_is_refused_before_any_text_is_read(
    tmp_path, monkeypatch, engine
):
    monkeypatch.setattr("zsnmt.runs.folder.check_trained", lambda run: None)
    wrong, device = ("int8", "CPU") if torch.cuda.is_available() else ("float16", "GPU")
    with pytest.raises(InputError, match=f"^{wrong} is for a {device}"):
        distill.main([str(tmp_path / "none.conf"), str(tmp_path), "--precision", wrong, *engine])


def test_a_word_that_is_also_the_value_of_an_option_stays_in_the_command():
    options = ["--start-from", "runs/t", "--sides", "both"]
    for words in (
        [*options, "c.conf", "runs/t"],
        ["c.conf", "runs/t", *options],
        ["both", *options, "runs/t"],
    ):
        assert distill.own_words([*words, "--rounds", "2", "--check"]) == options


@pytest.mark.parametrize(
    ("sides", "given", "weight"),
    [
        ("both", None, 0.5),
        ("both", 0.0, 0.0),
        ("targets", 2.0, 2.0),
        ("none", None, 0.0),
        ("self", None, 0.0),
    ],
)
def test_the_weight_of_the_config_is_for_translations_of_the_pivot_and_gives_way_to_another(
    sides, given, weight
):
    assert distill.given_or(default_word_level(sides, 0.5), given) == weight


@pytest.mark.parametrize(
    ("system", "word_level", "few_lines", "words"),
    [
        (System("a", "a", sides="both"), 0.0, 0, []),
        (System("a", "a", sides="both"), 1.0, 0, ["--word-level", "0"]),
        (System("a", "a", sides="none"), 1.0, 0, []),
        (System("a", "a", sides="targets"), 1.0, 10, ["--word-level", "0"]),
        (System("a", "a", sides="none"), 1.0, 10, ["--few-lines", "0"]),
        (System("a", "a", sides="none", few_lines=10), 0.0, 30, []),
    ],
)
def test_a_study_takes_nothing_from_a_config_that_it_does_not_have(system, word_level, few_lines, words):
    """So that its record is the command that makes the same."""
    config = SimpleNamespace(word_level=word_level, few_lines=few_lines)
    assert ablate.plain_words(system, config) == words
