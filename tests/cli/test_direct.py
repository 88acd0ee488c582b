"""`zsnmt direct`: four trainings by the commands that it prints, and how their last model compares."""

import json
import re
import shlex
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from tests.conftest import TINY_CONFIG, changed, run_command
from zsnmt.cli import direct, distill, train
from zsnmt.cli.common.words import split_options
from zsnmt.console import WrongUse
from zsnmt.distillation.direct import OF_ALL_PAIRS
from zsnmt.errors import InputError
from zsnmt.training.steps import Steps

LANGUAGES = "inglan velan tamun"
CONFIG = changed(
    TINY_CONFIG,
    SYNTHETIC="--number 2 --concepts 40 --pairs 60 --valid 6 --test 11 --longest 6",
    LANGUAGES=LANGUAGES,
    TRAINING="--optimizer adam --lr 2e-2 --warmup-updates 20 --criterion label_smoothed_cross_entropy "
    "--max-tokens 400 --max-epoch 12 --validate-interval 12 --save-interval 12",
    DISTILLATION="--max-epoch 1",
)


@pytest.fixture
def config(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("RUNS", str(tmp_path / "runs"))
    file = tmp_path / "small.conf"
    file.write_text(CONFIG)
    return file


def plan(config: Path, capsys, *options: str) -> list[list[str]]:
    direct.main([str(config), "--plan", *options])
    return [shlex.split(line) for line in capsys.readouterr().out.splitlines()]


def test_the_plan_is_four_trainings_of_each_seed_and_how_they_compare(config, capsys):
    commands = plan(config, capsys, "--seeds", "1", "2")
    verbs = 2 * ["train", "distill", "distill", "distill", "evaluate", "evaluate"] + ["report"]
    assert [words[:2] for words in commands] == [["zsnmt", verb] for verb in verbs]
    runs = config.parent / "runs" / "small"
    baseline, student, further = (
        str(runs / f"zs_transformer{end}" / "seed2") for end in ("", "_direct_first", "_continued")
    )
    assert commands[6][2:] == [str(config), "--seeds", "2"]
    assert all("--" not in words for words in commands)  # without WORD_LEVEL
    lessons = [distill.make_parser().parse_args(words[2:]) for words in commands[7:10]]
    assert [lesson.teacher for lesson in lessons] == [baseline, baseline, further]
    assert [lesson.sides for lesson in lessons] == [None, "none", "sources"]
    assert lessons[2].start_from == Path(student) and lessons[2].beside == [Path(student)]
    assert commands[11][2:5] == [str(runs / "zs_transformer_direct" / "seed2"), "--pivot", further]
    systems, seeds = ("zs_transformer_continued", "zs_transformer_direct"), ("seed1", "seed2")
    shown = [str(runs / system / seed) for system in systems for seed in seeds]
    assert commands[12][2:] == [*shown, "--output", str(runs / "report.html")]
    assert not runs.exists()


def test_a_name_is_that_of_all_runs_but_the_baselines(config, capsys):
    commands = plan(config, capsys, "--name", "other")
    named = [words[words.index("--name") + 1] for words in commands[1:4]]
    assert named == ["other_first", "other_continued", "other"]
    runs = config.parent / "runs" / "small"
    assert commands[1][3] == str(runs / "zs_transformer" / "seed1")
    assert commands[3][3] == str(runs / "other_continued" / "seed1") == commands[4][2]
    assert commands[5][2] == str(runs / "other" / "seed1")


def test_with_language_blocks_the_first_run_has_them_and_all_others_come_from_it(config, capsys):
    commands = plan(config, capsys, "--language-blocks", "--processes", "2")
    first, runs = commands[0], config.parent / "runs" / "small"
    assert first[2:] == [
        *(str(config), "zs_transformer", "--name", "blocks", "--seeds", "1", "--processes", "2", "--"),
        *("--decoder-language-feed-forward-layers", "middle", "--decoder-language-feed-forward-dim", "12"),
    ]
    options = train.make_parser().parse_args(split_options(first[2:])[0])
    assert options.name == "blocks" and options.processes == 2
    lessons = [distill.make_parser().parse_args(words[2:]) for words in commands[1:4]]
    assert [lesson.teacher for lesson in lessons] == [
        str(runs / name / "seed1") for name in ("blocks", "blocks", "blocks_continued")
    ]
    assert [lesson.name for lesson in lessons] == ["blocks_direct_first", "blocks_continued", "blocks_direct"]
    assert commands[5][2:5] == [
        str(runs / "blocks_direct" / "seed1"),
        "--pivot",
        str(runs / "blocks_continued" / "seed1"),
    ]
    for name in ("blocks", "zs_transformer"):
        with pytest.raises(WrongUse, match=f"--name {name} is the name of the baseline's runs"):
            plan(config, capsys, "--language-blocks", "--name", name)


def test_word_by_word_the_last_student_learns_of_all_pairs(config, capsys):
    config.write_text(f"{CONFIG}WORD_LEVEL=1\n")
    commands = plan(config, capsys)
    assert [words[-3:] == ["--", *OF_ALL_PAIRS] for words in commands] == [0, 0, 0, 1, 0, 0, 0]


def test_a_third_round_has_the_student_for_its_teacher_which_reads_two_sentences(config, capsys):
    config.write_text(f"{CONFIG}WORD_LEVEL=1\n")
    two, three = (plan(config, capsys, "--rounds", rounds) for rounds in ("2", "3"))
    assert three[:4] == two[:4] and len(three) == len(two) + 1
    lesson = distill.make_parser().parse_args(three[4][2:-3])
    runs = config.parent / "runs" / "small"
    assert (lesson.teacher, lesson.way) == (str(runs / "zs_transformer_direct" / "seed1"), "ensemble")
    assert lesson.name == "zs_transformer_direct_third" and three[4][-3:] == ["--", *OF_ALL_PAIRS]
    assert three[6][2] == str(runs / "zs_transformer_direct_third" / "seed1") == three[7][3]
    further = str(runs / "zs_transformer_continued" / "seed1")
    assert further == three[5][2] == three[6][4] == three[7][2]


def test_only_what_translates_has_the_precision(config, capsys):
    commands = plan(config, capsys, "--precision", "int8")
    assert [words[-2:] == ["--precision", "int8"] for words in commands] == [0, 1, 0, 1, 1, 1, 0]


def test_the_commands_of_the_plan_are_by_as_many_processes(config, capsys):
    commands = plan(config, capsys, "--processes", "2")
    assert [("--processes" in words) for words in commands] == [1, 1, 1, 1, 0, 0, 0]
    lesson = distill.make_parser().parse_args(commands[3][2:])
    assert lesson.processes == 2 and lesson.teacher.endswith("zs_transformer_continued/seed1")


def test_a_precision_that_the_machine_has_not_is_refused_before_the_first_training(config):
    wrong, device = ("int8", "CPU") if torch.cuda.is_available() else ("float16", "GPU")
    with pytest.raises(InputError, match=f"{wrong} is for a {device}"):
        direct.main([str(config), "--precision", wrong])
    assert not (config.parent / "runs").exists()


def test_it_needs_languages_to_translate_between(config):
    config.write_text(changed(CONFIG, LANGUAGES="inglan velan"))
    with pytest.raises(InputError, match="the languages inglan and velan alone, .* with zsnmt train"):
        direct.main([str(config)])


def test_text_of_all_pairs_leaves_nothing_to_teach_and_is_refused_before_the_first_training(config):
    text, without_source = config.parent / "text", re.sub(r"SYNTHETIC=.*\n", "", CONFIG)
    text.mkdir()
    for pair in ("velan-inglan", "inglan-tamun", "velan-tamun"):
        for language in pair.split("-"):
            for split, number in (("train", 60), ("valid", 6), ("test", 6)):
                lines = (f"{language}{place % 9} {split}{place}{language}.\n" for place in range(number))
                (text / f"{split}.{pair}.{language}").write_text("".join(lines))
    config.write_text(changed(without_source, TEXT=str(text), VOCABULARY="90"))
    with pytest.raises(InputError, match="so that translations of a teacher have nothing to teach"):
        direct.main([str(config)])
    assert not [*(config.parent / "runs").rglob("train.log")]


def test_a_student_does_not_take_the_name_of_the_baseline(config, capsys):
    with pytest.raises(WrongUse, match="--name zs_transformer is the name of the baseline's runs; give"):
        plan(config, capsys, "--name", "zs_transformer")


def test_commands_that_are_proposed_can_be_given_as_they_stand(capsys):
    """The folder of a text gives runs its name, which may have a space."""
    run = Path("runs/my text/zs_transformer_direct/seed1")
    direct.say_how_to_translate(SimpleNamespace(steps=Steps("direct")), run, "de", "fr")
    for line in capsys.readouterr().err.splitlines():
        _, _, proposed = line.split(": ", 2)
        assert shlex.split(proposed)[:3] == ["zsnmt", "translate", str(run)]


def test_options_of_students_that_there_are_not_are_refused_before_the_first_training(config, capsys):
    config.write_text(changed(CONFIG, DISTILLATION="--leraning-rate 1"))
    with pytest.raises(InputError, match="unrecognized arguments: --leraning-rate 1"):
        direct.main([str(config)])


def test_blocks_that_no_tag_chooses_are_refused_before_the_first_training(config):
    config.write_text(changed(CONFIG, MODEL="--language-tags t_enc --decoder-language-embedding none"))
    with pytest.raises(InputError, match="--decoder-language-feed-forward-layers middle reads the language"):
        direct.main([str(config), "--language-blocks"])
    assert not (config.parent / "runs").exists()


@pytest.mark.parametrize(
    "distillation, options, fault",
    [
        ("--encoder-embed-dim 48", [], "cannot begin with the weights of .*/zs_transformer/seed1: "),
        ("--encoder-layers 5 --encoder-normalize-after", [], "unrecognized arguments"),
        ("--decoder-layers 1 --encoder-attention-heads 5", [], "must be a multiple of"),
        ("--maximize-best-checkpoint-metric", [], "a run is the mean of the checkpoints with the lowest"),
        ("--decoder-layers 1", [], None),  # as many as the baseline has
        (
            "--decoder-layers 5",
            ["--language-blocks"],
            "a student with --decoder-language-feed-forward-layers cannot have more layers",
        ),
    ],
)
def test_students_that_cannot_begin_are_refused_before_the_first_training(
    config, capsys, distillation, options, fault
):
    config.write_text(changed(CONFIG, DISTILLATION=distillation))
    if fault is None:
        assert plan(config, capsys, *options)
        return
    with pytest.raises(InputError, match=fault):
        direct.main([str(config), *options])
    assert not (config.parent / "runs").exists()


def test_a_run_of_another_command_in_a_students_place_is_found_before_the_first_training(config, capsys):
    """Such as the student of a baseline without language blocks."""
    (commands, runs) = plan(config, capsys), config.parent / "runs" / "small"
    student = runs / "zs_transformer_direct_first" / "seed1"
    student.mkdir(parents=True)
    (student / "model.pt").touch()
    made = f"bash recipes/distill.sh {shlex.join(commands[1][2:])}"
    (student / "run.json").write_text(
        json.dumps({"config": "small", "system": student.parent.name, "seed": 1, "command": made, "text": ""})
    )
    assert plan(config, capsys) == commands
    with pytest.raises(InputError, match=f"{student} is another run, made by 'bash recipes/distill.sh"):
        direct.main([str(config), "--language-blocks", "--name", "zs_transformer_direct"])
    assert not (runs / "blocks").exists()


def test_options_of_text_are_refused_with_a_config(config):
    with pytest.raises(WrongUse, match="^--pattern belongs to text of your own"):
        direct.main([str(config), "--pattern", "a.{language}"])


@pytest.mark.slow
def test_four_trainings_are_those_of_the_plan_and_are_not_made_twice(config, capsys):
    config.write_text(f"{CONFIG}WORD_LEVEL=1\n")
    runs = config.parent / "runs"
    printed = run_command("recipes/direct.sh", config, runs=runs)
    assert printed.returncode == 0, printed.stderr
    for number in ("first", "second", "third", "fourth"):
        assert f"direct: seed 1: the {number} of four trainings" in printed.stderr
    said = " ".join(printed.stdout.split())
    assert "zs_transformer_direct between languages other than inglan, BLEU: directly " in said
    assert "; through inglan by zs_transformer_continued " in said and "; by ensemble " in said
    assert "; by mask (beam 2, pieces 1, renormalise yes) " in said
    assert (runs / "small" / "report.html").is_file()
    made = {path: path.stat().st_mtime_ns for path in runs.rglob("*.pt")}
    for words in plan(config, capsys)[1:4]:
        again = run_command("recipes/distill.sh", *words[2:], runs=runs)
        assert again.returncode == 0, again.stderr
        assert "distill: train: done before" in again.stderr
    record = json.loads((runs / "small" / "zs_transformer_direct" / "seed1" / "run.json").read_text())
    command = (runs / "small" / "zs_transformer_direct" / "seed1" / "train.command").read_text()
    assert "--word-distillation-pairs all" in command
    assert record["began_with"]["run"] == str(runs / "small" / "zs_transformer_direct_first" / "seed1")
    again = run_command("recipes/direct.sh", config, runs=runs)
    assert again.returncode == 0, again.stderr
    assert again.stdout == printed.stdout
    assert made == {path: path.stat().st_mtime_ns for path in runs.rglob("*.pt")}
    third = run_command("recipes/direct.sh", config, "--rounds", "3", runs=runs)
    assert third.returncode == 0, third.stderr
    assert third.stderr.count("train: done before") == 4 and "the fifth of five trainings" in third.stderr
    assert "zs_transformer_direct_third between languages other than inglan" in " ".join(third.stdout.split())
    assert made.items() <= {path: path.stat().st_mtime_ns for path in runs.rglob("*.pt")}.items()
