"""What cannot be distilled is refused before anything is read."""

import json
import re
from argparse import Namespace
from pathlib import Path

import pytest

from zsnmt.cli.distill import OF_SYNTHETIC_TEXT, refuse_what_nothing_reads
from zsnmt.console import WrongUse
from zsnmt.decoding.methods.settings import parse_method
from zsnmt.decoding.options import EngineChoice
from zsnmt.decoding.search import Search
from zsnmt.distillation.rounds import check_places, default_name, distill_rounds
from zsnmt.distillation.settings import SIDES, Distillation, SyntheticSettings
from zsnmt.distillation.student_options import stretch
from zsnmt.errors import InputError
from zsnmt.files.checksums import sha256
from zsnmt.runs.grid import second_stage
from zsnmt.runs.remedies import REMEDIES, remedy_options
from zsnmt.runs.systems import System

RUN = Path("run")


@pytest.mark.parametrize("share", [0, 1, -0.1, 1.5])
def test_a_share_leaves_room_for_both(share):
    with pytest.raises(InputError, match="give one above 0 and below 1, or --sides none"):
        Distillation(RUN, share=share)


def test_sides_and_lines_that_there_are_not_are_refused():
    with pytest.raises(
        InputError, match="no sides 'left'; choose all, both, between, targets, sources, none, self"
    ):
        Distillation(RUN, sides="left")
    with pytest.raises(InputError, match="learns to read no other language; leave one of them out"):
        Distillation(RUN, remedy="from_pivot", from_scratch=True)
    with pytest.raises(InputError, match="0 lines teach nothing; give 1 or more"):
        SyntheticSettings(lines=0)
    with pytest.raises(InputError, match="-1 lines cannot be held out"):
        SyntheticSettings(held_out=-1)
    with pytest.raises(InputError, match="an ensemble reads two; leave out --way, or choose other sides"):
        SyntheticSettings(direct=True, way=parse_method("ensemble"))
    with pytest.raises(InputError, match="and no other language; leave out through="):
        SyntheticSettings(way=parse_method("ensemble:through=fr"))
    with pytest.raises(InputError, match="--way sample draws one translation, not 4; give --beam 1, or"):
        SyntheticSettings(way=parse_method("sample"))


def test_settings_of_older_text_are_those_of_now():
    """What was made before a setting was there is not made again."""
    assert "way" not in SyntheticSettings().to_json()
    sample = SyntheticSettings(way=parse_method("sample:symbols=5"), search=Search(beam=1))
    assert sample.to_json()["way"] == {"name": "sample", "symbols": 5, "seed": 1}
    assert SyntheticSettings(way=parse_method("ensemble:by=average,pieces=2")).ensemble


def test_a_second_round_of_a_models_own_translations_is_refused():
    with pytest.raises(InputError, match="leave out --rounds, or choose other sides"):
        distill_rounds(None, None, Distillation(RUN, sides="self"), rounds=2, name=None, seed=None, words=[])


def test_weights_to_start_from_are_for_students_that_have_a_teacher_and_weights():
    assert Distillation(RUN, start=Path("student"), sides="sources").start == Path("student")
    with pytest.raises(InputError, match="names the weights .* and --from-scratch wants none"):
        Distillation(RUN, start=Path("student"), from_scratch=True)
    with pytest.raises(InputError, match="name other sides, or leave out --start-from and give student as"):
        Distillation(RUN, start=Path("student"), sides="none")


def test_a_share_without_translations_is_the_length_of_an_epoch():
    given = dict.fromkeys([*OF_SYNTHETIC_TEXT, "share"])
    refuse_what_nothing_reads(Namespace(**{**given, "share": 0.8}, sides="none"))
    with pytest.raises(WrongUse, match="--lines is of translations to learn from, and with --sides none"):
        refuse_what_nothing_reads(Namespace(**{**given, "lines": 3}, sides="none"))


def write_student(run: Path, command: str, model: str) -> Path:
    """A run with a checkpoint, which a model has taught."""
    (run / "checkpoints").mkdir(parents=True)
    (run / "checkpoints" / "checkpoint_last.pt").touch()
    teacher = {"run": "teacher", "model": model}
    content = {"config": "x", "system": "x", "text": "text", "seed": 1, "command": command}
    (run / "run.json").write_text(json.dumps(content | {"distilled_from": teacher}))
    return run


def test_what_is_in_the_place_of_a_later_round_is_seen_before_the_first(tmp_path):
    first, second = tmp_path / "deep" / "seed1", tmp_path / "deep_round2" / "seed1"
    commands = {first: "bash recipes/distill.sh x", second: "bash recipes/distill.sh x --rounds 2"}
    check_places(commands, tmp_path)
    with pytest.raises(InputError, match=f"the student would take the place of {second}; give it another"):
        check_places(commands, second)
    first.mkdir(parents=True)
    (first / "model.pt").write_text("weights")
    write_student(second, commands[second], sha256(first / "model.pt"))
    check_places(commands, tmp_path)
    with pytest.raises(InputError, match="deep_round2/seed1 is another run, made by"):
        check_places({**commands, second: "bash recipes/distill.sh y --rounds 2"}, tmp_path)
    (first / "model.pt").unlink()
    with pytest.raises(InputError, match="deep_round2/seed1 was taught by another model than is now at"):
        check_places(commands, tmp_path)


class Baseline:
    architecture, record = "zs_transformer", {"system": "baseline"}


def test_each_kind_of_student_has_a_name_of_its_own():
    students = [
        Distillation(RUN, sides=sides, student=student, from_scratch=scratch)
        for sides in SIDES
        for student, scratch in ((None, False), ("zs_transformer_residual", False), (None, True))
    ]
    names = [default_name(student, Baseline()) for student in students]
    assert len({*names}) == len(names) == 21
    assert names[3:6] == [
        "baseline_distilled",
        "zs_transformer_residual_distilled",
        "zs_transformer_distilled_from_scratch",
    ]
    assert "baseline_continued" in names


def test_a_remedy_is_named_as_in_the_grid_and_after_what_is_learned_besides():
    alone, both, few = (
        Distillation(RUN, sides=sides, few_lines=lines, remedy="consistency")
        for sides, lines in (("none", 0), ("both", 0), ("none", 10))
    )
    assert default_name(alone, Baseline()) == "baseline_consistency"
    assert second_stage(System("baseline", ""), "consistency").name == "baseline_consistency"
    assert default_name(both, Baseline()) == "baseline_distilled_consistency"
    assert default_name(few, Baseline()) == "baseline_few_10_consistency"


def test_students_with_language_blocks_are_named_for_what_they_are():
    names = [
        default_name(Distillation(RUN, sides=sides, language_blocks=True), Baseline())
        for sides in ("both", "none")
    ]
    assert names == ["baseline_blocks_distilled", "baseline_blocks_continued"]


def test_word_level_distillation_has_a_name_and_a_place_in_the_order():
    names = [
        default_name(Distillation(RUN, sides=sides, word_level=1, remedy=remedy), Baseline())
        for sides, remedy in (("both", ""), ("targets", "consistency"))
    ]
    assert names == ["baseline_distilled_words", "baseline_distilled_targets_words_consistency"]


def test_students_of_an_ensemble_are_named_for_it():
    together = SyntheticSettings(engine=EngineChoice(beside=(Path("second"), Path("third"))))
    assert default_name(Distillation(RUN, word_level=1, synthetic=together), Baseline()) == (
        "baseline_distilled_of_3_words"
    )
    with pytest.raises(InputError, match="--sides none has no translations; leave one of them out"):
        Distillation(RUN, sides="none", synthetic=together)


@pytest.mark.parametrize("sides", ["none", "self"])
def test_word_level_distillation_without_translations_of_the_pivot_is_refused(sides):
    with pytest.raises(InputError, match=f"of translations of the pivot, and --sides {sides} has none"):
        Distillation(RUN, sides=sides, word_level=1)


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf")])
def test_a_weight_of_word_level_distillation_is_a_number(weight):
    with pytest.raises(InputError, match="is not a weight; give a number, 0 or more"):
        Distillation(RUN, word_level=weight)


def test_a_remedy_that_there_is_not_is_refused():
    with pytest.raises(InputError, match="no remedy 'consistancy'; choose consistency, unlikelihood"):
        Distillation(RUN, sides="none", remedy="consistancy")


def test_a_schedule_of_other_epochs_keeps_its_form():
    schedule = "--lr 1e-3 --max-epoch 9 --max-epoch 6 --total-num-update 12000 --warmup-updates 500".split()
    assert stretch(schedule, None) == []
    assert stretch(schedule, 3) == "--max-epoch 3 --warmup-updates 250 --total-num-update 6000".split()
    assert stretch(["--max-epoch", "2"], 4) == stretch(["--max-epoch", "2"], 4, 100) == ["--max-epoch", "4"]
    only_patience = "--patience 3 --warmup-updates 500".split()
    assert stretch(only_patience, 4) == "--max-epoch 4 --warmup-updates 500".split()
    joined = "--max-epoch=6 --warmup-updates=500".split()
    assert stretch(joined, 3) == "--max-epoch 3 --warmup-updates 250".split()


def test_a_learning_rate_has_fallen_at_the_end_of_so_many_epochs():
    """Where the schedule counts updates, by the updates of an epoch, not by what the config takes for one."""
    by_epochs = "--max-epoch 9 --total-num-update 15500 --warmup-updates 310".split()
    stretched = "--max-epoch 6 --warmup-updates 156 --total-num-update 7800".split()
    assert stretch(by_epochs, 6, 1300) == stretched
    by_updates = "--max-epoch 0 --total-num-update 15500 --max-update 15500 --warmup-updates 310".split()
    assert stretch(by_updates, 6, 1300) == [*stretched, "--max-update", "7800"]
    with pytest.raises(InputError, match="--epochs 6: the schedule counts updates.*leave out --epochs"):
        stretch(by_updates, 6)


def test_what_the_config_asks_of_all_students_is_not_in_their_names():
    names = [
        default_name(Distillation(RUN, word_level=1), Baseline(), of_config) for of_config in (0, 1, 0.5)
    ]
    assert names == ["baseline_distilled_words", "baseline_distilled", "baseline_distilled_words"]


def test_remedies_of_one_stage_have_the_options_of_each_once():
    both = remedy_options("denoising+unlikelihood", [])
    terms = ["--criterion", "zs_cross_entropy"]
    assert both == [*terms, "--denoising-weight", "1", "--unlikelihood-weight", "1"]
    assert remedy_options("from_pivot+consistency", ["chunked_label_smoothed_cross_entropy"])[-1:] == [
        "--chunked-loss"
    ]
    assert default_name(Distillation(RUN, sides="none", remedy="denoising+unlikelihood"), Baseline()) == (
        "baseline_denoising_unlikelihood"
    )
    for wrong in ("unlikelihood+first_word", "consistency+consistency"):
        with pytest.raises(InputError, match=f"{re.escape(wrong)} is two forms of one remedy"):
            Distillation(RUN, sides="none", remedy=wrong)
    for sides in SIDES:
        with pytest.raises(InputError, match="which from_pivot leaves out; leave one of them out"):
            Distillation(RUN, sides=sides, remedy="from_pivot+consistency+denoising")
    with pytest.raises(InputError, match="--remedy from_pivot trains on translations of the pivot alone"):
        Distillation(RUN, sides="both", remedy="consistency+from_pivot", from_scratch=True)


def test_a_remedy_keeps_a_chunked_loss_chunked():
    chunked = ["--criterion", "chunked_label_smoothed_cross_entropy"]
    assert remedy_options("consistency", chunked) == [*REMEDIES["consistency"], "--chunked-loss"]
    assert remedy_options("consistency", []) == [*REMEDIES["consistency"]]
    assert remedy_options("from_pivot", chunked) == ["--lang-pairs", "from_pivot"]
    assert remedy_options("", chunked) == []
