"""What a teacher must be, and by which engine it translates."""

import json
import shutil
from copy import copy
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.conftest import OLDER_RUN
from tests.distillation.conftest import DIRECTIONS, OTHERS, PIVOT
from zsnmt.decoding.methods.settings import parse_method
from zsnmt.decoding.options import EngineChoice
from zsnmt.decoding.search import Search
from zsnmt.distillation import synthetic_text
from zsnmt.distillation.filtered_text import make_synthetic_text
from zsnmt.distillation.lesson import ANOTHER_START, check_start, check_teacher
from zsnmt.distillation.settings import Distillation
from zsnmt.distillation.synthetic_text import with_engine
from zsnmt.distillation.teacher import Interpreter, Teacher
from zsnmt.errors import InputError
from zsnmt.languages import Direction
from zsnmt.runs.checkpoints import load_checkpoint, write_checkpoint
from zsnmt.training.steps import Steps

OF_PIVOT = {Direction(PIVOT, other) for other in OTHERS}


@pytest.fixture
def run(older, tmp_path) -> Path:
    """A copy of the run, without its checkpoints."""
    return shutil.copytree(
        older / OLDER_RUN, tmp_path / "run", ignore=shutil.ignore_patterns("checkpoints", "exports")
    )


def test_a_model_that_was_made_anew_while_it_taught_is_not_gone_on_from(run):
    teacher = Teacher(run)
    teacher.check_unchanged()
    with (run / "model.pt").open("ab") as file:
        file.write(b"more")
    with pytest.raises(InputError, match="model.pt was made anew after it was read; run the same command"):
        teacher.check_unchanged()


def test_a_teacher_whose_record_does_not_say_its_commit_can_be_described(run):
    record = json.loads((run / "run.json").read_text())
    del record["commit"]
    (run / "run.json").write_text(json.dumps(record))
    described = Teacher(run).describe()
    assert described["system"] == record["system"] and described["commit"] is None


def test_data_of_another_pipeline_are_refused(run, tmp_path):
    teacher, data = Teacher(run), tmp_path / "data"
    shutil.copytree(teacher.pipeline, data)
    teacher.check_pipeline(data)
    (data / "languages.txt").write_text("inglan\nvelan\n")
    with pytest.raises(InputError, match="data has another languages.txt than .*run was trained with"):
        teacher.check_pipeline(data)


def test_a_run_to_start_from_is_of_the_teachers_languages_and_text(run, tmp_path):
    """Not the config is to be changed then, which goes with the teacher."""
    start, config = Teacher(run), SimpleNamespace(languages=["inglan", "velan", "tamun"])
    experiment = SimpleNamespace(file=Path("x.conf"), config=config)
    with pytest.raises(InputError, match="run was trained on inglan velan .*; give --start-from a run of"):
        check_start(start, experiment, Distillation(Path("teacher"), start=run))
    with pytest.raises(InputError, match="data has another .*; give --start-from a run of the same text"):
        start.check_pipeline(tmp_path / "data", remedy=ANOTHER_START)


def test_an_adaptations_config_does_not_say_how_to_train_from_scratch(run):
    start = Teacher(run)
    config = SimpleNamespace(languages=start.languages)
    experiment = SimpleNamespace(file=Path("x.conf"), config=config, is_adaptation=True)
    with pytest.raises(InputError, match="x.conf says only what an adaptation has besides .* leave that out"):
        check_start(start, experiment, Distillation(run, from_scratch=True))


def test_a_model_of_two_languages_teaches_nothing_and_can_be_trained_further(run):
    """As zsnmt train says at its end, where it can learn more."""
    teacher = Teacher(run)
    teacher.languages = [PIVOT, OTHERS[0]]
    config = SimpleNamespace(languages=teacher.languages)
    experiment = SimpleNamespace(file=Path("x.conf"), config=config)
    check_teacher(teacher, experiment, Distillation(run, sides="none"))
    with pytest.raises(InputError, match="x.conf has only inglan velan: .* further by --sides none"):
        check_teacher(teacher, experiment, Distillation(run))


def test_models_that_cannot_translate_together_are_refused(run, tmp_path):
    """Which is said before any text is made."""
    same = shutil.copytree(run, tmp_path / "same")
    for beside in (run, same):
        with pytest.raises(InputError, match=f"{beside} has the same model as {run}, and together"):
            Teacher(run, [beside])
    for number, (reason, options, symbols) in enumerate(
        (
            ("its tags stand by s_enc_t_dec and not by t_dec", {"language_tags": "s_enc_t_dec"}, ""),
            ("it reads 50 tokens at most and not ", {"max_source_positions": 50}, ""),
            ("it has another dict.velan.txt; give runs of the same text, subwords", {}, "a 1\n"),
        )
    ):
        other = shutil.copytree(run, tmp_path / f"other{number}")
        (other / "checksums.json").unlink(missing_ok=True)
        state = load_checkpoint(other / "model.pt")
        vars(state["cfg"]["task"]).update(options)
        state["task_state"] |= {name: options[name] for name in state["task_state"] if name in options}
        write_checkpoint(state | {"other": True}, other / "model.pt")
        (other / "checksums.json").unlink(missing_ok=True)
        if symbols:
            (other / "pipeline" / "dict.velan.txt").write_text(symbols)
        with pytest.raises(InputError, match=f"{other} cannot translate together with {run}: {reason}"):
            Teacher(run, [other])


def test_no_student_goes_on_from_frozen_weights(run):
    teacher = Teacher(run)
    teacher.check_going_on()
    teacher.frozen = "158"
    with pytest.raises(InputError, match="was adapted with --frozen, .*; adapt without --frozen, or train"):
        teacher.check_going_on()


def test_each_model_that_translates_has_learned_all_directions(run):
    """Not only the first, nor only when a direction's turn has come."""
    teacher = Teacher(run)
    assert teacher.trained > OF_PIVOT and not {*DIRECTIONS} & teacher.trained
    other = copy(teacher)
    other.run, other.trained = Path("other"), teacher.trained - {Direction("inglan", "velor")}
    teacher.beside = [other]
    teacher.check_learned(other.trained, remedy="give another")
    ordered = sorted(OF_PIVOT)
    assert teacher.learned_of([*ordered, *DIRECTIONS]) == [each for each in ordered if each.target != "velor"]
    with pytest.raises(InputError, match="other was not trained on inglan-velor; give another"):
        teacher.check_learned(OF_PIVOT, remedy="give another")


@pytest.mark.parametrize(
    "settings, asked",
    [
        ({}, [OF_PIVOT]),
        ({"direct": True}, []),
        ({"way": parse_method("ensemble")}, [OF_PIVOT, {*DIRECTIONS}]),
    ],
)
def test_what_a_teacher_must_have_learned(synthetic, settings, asked):
    text, told = synthetic(**settings), []
    text.teacher.check_learned = lambda directions, remedy: told.append({*directions})
    text.check_teacher()
    assert told == asked


def test_what_a_teacher_has_not_learned_is_said_before_anything_is_translated(synthetic):
    def refuse(directions, remedy):
        raise InputError(f"it was not trained on {directions[-1]}; {remedy}")

    text = synthetic()
    text.teacher.check_learned = refuse
    with pytest.raises(InputError, match="was not trained on .*; give a teacher of all directions from"):
        make_synthetic_text(Steps("distill"), text)
    assert not (text.folder / "translations").exists()


AUTO = EngineChoice("auto")


def test_an_engine_is_chosen_once(synthetic, monkeypatch):
    """With an export that is made when a text has begun, the rest of it is by the same engine."""
    text = synthetic(engine=AUTO)
    by_pytorch, by_ctranslate2 = (synthetic(engine=EngineChoice(name)) for name in ("pytorch", "ctranslate2"))
    assert with_engine(text).folder == by_pytorch.folder  # there is no export
    monkeypatch.setattr(synthetic_text, "open_present_export", lambda *_: None)
    chosen = with_engine(text)
    assert chosen.folder == by_ctranslate2.folder and chosen.settings.engine.engine == "ctranslate2"
    by_pytorch.folder.mkdir(parents=True)
    assert with_engine(text).folder == by_pytorch.folder
    assert with_engine(by_ctranslate2) == by_ctranslate2


def test_what_pytorch_alone_can_do_is_done_by_it(synthetic, monkeypatch):
    monkeypatch.setattr(synthetic_text, "open_present_export", lambda *_: None)
    for settings in (
        {"engine": AUTO, "way": parse_method("ensemble")},
        {"engine": EngineChoice("auto", beside=(Path("other"),))},
    ):
        assert with_engine(synthetic(**settings)).settings.engine.engine == "pytorch"
    with pytest.raises(InputError, match="--engine ctranslate2 cannot translate by ensemble"):
        with_engine(synthetic(engine=EngineChoice("ctranslate2"), way=parse_method("ensemble")))


def test_text_that_auto_has_made_to_the_end_stays(synthetic):
    text = synthetic(engine=AUTO)
    make_synthetic_text(Steps("distill"), text)
    assert with_engine(text) == text


def test_a_long_line_is_named_by_its_beginning(run, caplog):
    """Its number would be that among the sentences of a block."""
    interpreter = Interpreter(SimpleNamespace(run=run), search=Search(), engine=EngineChoice(workers=1))
    long = "Kata " * 60
    with caplog.at_level("WARNING"):
        interpreter.translate([(long,)], Direction("inglan", "velan"), float)
    assert f"what begins '{long[:40]}' has" in caplog.text and "line 1" not in caplog.text
