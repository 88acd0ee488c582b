"""What `zsnmt distill` refuses before it reads anything large."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from zsnmt.cli import ablate, distill
from zsnmt.cli.common.team import TEAM_OPTIONS
from zsnmt.console import WrongUse
from zsnmt.decoding.methods.settings import parse_method
from zsnmt.decoding.options import EngineChoice
from zsnmt.decoding.search import Search
from zsnmt.distillation.command import command_words, option_values
from zsnmt.distillation.settings import Distillation, SyntheticSettings, choose_distillation
from zsnmt.errors import InputError
from zsnmt.runs.systems import System

RUN = Path("run")


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
    config = config_with(word_level=0.5)
    assert choose_distillation(config, RUN, sides=sides, word_level=given).word_level == weight


def config_with(*, word_level: float = 0.0, few_lines: int = 0) -> SimpleNamespace:
    return SimpleNamespace(word_level=word_level, few_lines=few_lines, identifier="py3langid")


@pytest.mark.parametrize(
    ("system", "word_level", "few_lines", "words"),
    [
        (System("a", "a", sides="both"), 0.0, 0, ""),
        (System("a", "a", sides="both"), 1.0, 0, "--word-level 0"),
        (System("a", "a", sides="none"), 1.0, 0, "--sides none"),
        (System("a", "a", sides="targets"), 1.0, 10, "--sides targets --word-level 0"),
        (System("a", "a", sides="none"), 1.0, 10, "--sides none --few-lines 0"),
        (System("a", "a", sides="none", few_lines=10), 0.0, 30, "--sides none --few-lines 10"),
        (System("a", "a", sides="none", few_lines=10), 0.0, 10, "--sides none --few-lines 10"),
        (System("a", "a", sides="none", remedy="consistency"), 1.0, 0, "--remedy consistency"),
        (System("a", "a", sides="none", remedy="denoising"), 0.0, 10, "--remedy denoising --few-lines 0"),
    ],
)
def test_a_study_takes_nothing_from_a_config_that_it_does_not_have(
    monkeypatch, system, word_level, few_lines, words
):
    """So that its record is the command that makes the same."""
    made = {}
    monkeypatch.setattr("zsnmt.distillation.rounds.distill_rounds", lambda *_, **how: made.update(how))
    config = config_with(word_level=word_level, few_lines=few_lines)
    experiment = SimpleNamespace(config=config, run=lambda name, seed: RUN / name / f"seed{seed}")
    ablate.make_student(None, experiment, ablate.Planned(system, 1, RUN, (False, ())))
    assert made["words"] == words.split()


ENSEMBLE = SyntheticSettings(way=parse_method("ensemble"), identifier="py3langid")
SEARCHED = SyntheticSettings(
    way=parse_method("mask:pieces=3,renormalise=yes"),
    lines=9,
    held_out=0,
    identifier="none",
    search=Search(beam=2, length_penalty=0.6, length_penalty_form="gnmt"),
    engine=EngineChoice("pytorch", "float32", beside=(Path("runs/v2.0"), Path("other"))),
)


@pytest.mark.parametrize("config", [config_with(), config_with(word_level=0.5, few_lines=10)])
@pytest.mark.parametrize(
    "given",
    [
        {},
        {"sides": "none", "few_lines": 3},
        {"sides": "none", "few_lines": 10, "epochs": 2, "share": 0.25, "student": "zs_transformer_residual"},
        {"remedy": "consistency+denoising"},
        {"remedy": "consistency", "sides": "sources", "word_level": 1.0, "from_scratch": True},
        {"sides": "self", "synthetic": SyntheticSettings(identifier="lexicon")},
        {"word_level": 0.0, "start": Path("student"), "synthetic": ENSEMBLE},
        {"sides": "all", "word_level": 0.125, "synthetic": SEARCHED},
    ],
)
def test_the_words_of_a_distillation_ask_for_it(config, given):
    distillation = choose_distillation(config, RUN, **given)
    words = command_words(distillation, config, name="x")
    options = distill.make_parser().parse_args(["some.conf", str(RUN), *words])
    assert distill.chosen_distillation(options, config) == distillation and options.name == "x"
    fewer = choose_distillation(config, RUN, sides=given.get("sides"), remedy=given.get("remedy", ""))
    assert len(words) >= len(command_words(fewer, config, name="x"))


def test_every_option_of_a_student_has_its_place_in_the_command():
    """But for those that change nothing of it, and the seed, which the folder of the run has."""
    there = {option for action in distill.make_parser()._actions for option in action.option_strings}
    elsewhere = {"-h", "--help", "--seed", "--rounds", "--workers", "--check", "--slurm", *TEAM_OPTIONS}
    assert there - elsewhere == {*option_values(Distillation(RUN))}
