"""A student learns from its teacher's translations: the recipe from start to end, controls, refusals."""

import json
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest
import torch

from tests.conftest import TINY_CONFIG, changed, run_command
from zsnmt.distillation.layers import LAST_PROJECTION, depths, fit_layers
from zsnmt.errors import InputError
from zsnmt.inference.trained_run import load_run
from zsnmt.languages import kind_name
from zsnmt.runs.checkpoints import load_checkpoint
from zsnmt.runs.remedies import REMEDIES
from zsnmt.terms.word_distillation import load_teacher
from zsnmt.training.option_words import options_of

PIVOT, *OTHERS = LANGUAGES = ["inglan", "velan", "tamun", "velor"]
DIRECTIONS = [f"{source}-{target}" for source in OTHERS for target in OTHERS if source != target]
# until outputs are as long as sentences, without validation in between
TEACHER = "--max-epoch 8 --validate-interval 8 --save-interval 8 --lr 2e-2 --warmup-updates 20".split()
STUDENT = "--max-epoch 2 --validate-interval 1 --save-interval 1".split()
TEXT = ("--identifier", "none", "--beam", "1")  # the teacher is too small to write a language


@pytest.fixture(scope="module")
def runs(tiny, tmp_path_factory):
    """A folder of runs with the text and data of the demo, and a teacher."""
    runs = tmp_path_factory.mktemp("distill") / "runs"
    shutil.copytree(tiny.folder, runs / "tiny", ignore=shutil.ignore_patterns("seed1"))
    made = run_command(
        "recipes/train.sh", tiny.config, "zs_transformer", "--name", "teacher", "--", *TEACHER, runs=runs
    )
    assert made.returncode == 0, made.stderr
    return runs


def distill(tiny, runs, *options, further=STUDENT, teacher="teacher"):
    without = "none" in options or "--remedy" in options
    return run_command(
        "recipes/distill.sh",
        tiny.config,
        runs / "tiny" / teacher / "seed1",
        *([] if without else TEXT),
        *options,
        "--",
        *further,
        runs=runs,
    )


@pytest.fixture(scope="module")
def student(tiny, runs):
    """The student's run, and what the recipe printed."""
    printed = distill(tiny, runs)
    assert printed.returncode == 0, printed.stderr
    return runs / "tiny" / "teacher_distilled" / "seed1", printed


def test_a_student_is_a_run_folder_that_says_what_it_learned_from(student, runs):
    run, printed = student
    record, synthetic = (json.loads((run / name).read_text()) for name in ("run.json", "synthetic.json"))
    teacher = runs / "tiny" / "teacher" / "seed1"
    assert record["distilled_from"] == synthetic["teacher"]
    assert record["distilled_from"]["run"] == str(teacher.resolve())
    assert {*record["synthetic"]} <= {*DIRECTIONS} and len(record["synthetic"]) >= 4
    assert (record["distillation"]["sides"], synthetic["sides"], synthetic["share"]) == ("both", "both", 0.5)
    chosen_on = record["distillation"]["checkpoints_chosen_on"]
    assert all(PIVOT in direction for direction in chosen_on["validation text by people"])
    assert {*chosen_on["held-out pairs with a synthetic source"]} <= {*record["synthetic"]}
    assert "of 6 directions are left to translate, about" in printed.stderr
    assert "translations are left out (" in printed.stderr
    assert f"next: zsnmt evaluate {run} --pivot {teacher} --ways own_pivot\n" in printed.stderr
    assert [*synthetic["directions"]] == DIRECTIONS


def test_training_begins_with_the_teacher_and_validates_each_kind(student, runs):
    run, _ = student
    command = (run / "train.command").read_text()
    assert f"--finetune-from-model {(runs / 'tiny' / 'teacher' / 'seed1' / 'model.pt').resolve()}" in command
    trained = load_checkpoint(run / "model.pt")
    record = json.loads((run / "run.json").read_text())
    assert {*trained["task_state"]["trained"]} == {
        *record["synthetic"],
        *(pair for language in OTHERS for pair in (f"{PIVOT}-{language}", f"{language}-{PIVOT}")),
    }
    lines = (run / "checkpoints" / "validation.jsonl").read_text().splitlines()
    kinds = {direction: of["kind"] for direction, of in json.loads(lines[-1])["directions"].items()}
    assert Counter(kinds.values())["supervised"] == 6
    assert all((kind == "supervised") == (PIVOT in direction) for direction, kind in kinds.items())
    assert {*kinds.values()} == {"supervised", "zero_resource"}


def test_directions_of_synthetic_text_are_called_zero_resource_everywhere(student, runs, tmp_path):
    run, _ = student
    teacher, page = runs / "tiny" / "teacher" / "seed1", tmp_path / "report.html"
    scored = run_command("recipes/evaluate.sh", run, "--pivot", teacher, "--report", page, runs=runs)
    assert scored.returncode == 0, scored.stderr
    record = json.loads((run / "run.json").read_text())
    scores = json.loads((run / "scores.json").read_text())
    kinds = {result["direction"]: result["kind"] for result in scores["directions"]}
    assert {direction for direction, kind in kinds.items() if kind == "zero_resource"} == {
        *record["synthetic"]
    }
    assert scores["pivot_by"] == "teacher, seed 1"
    assert ("zero_resource", "pivot") in {(result["kind"], result["way"]) for result in scores["directions"]}
    html = page.read_text(encoding="utf-8")
    for text in (scored.stdout, html):
        assert ("zero-shot" in text) == ("zero_shot" in kinds.values())
        assert kind_name("zero_resource") in text
    both = run_command("scripts/table.py", teacher, run, runs=runs)
    assert both.returncode != 0 and "score the run" in both.stderr  # the teacher was not scored
    assert run_command("recipes/evaluate.sh", teacher, run, "--pivot", teacher, runs=runs).returncode == 0
    both = run_command("scripts/table.py", teacher, run, runs=runs)
    assert both.returncode == 0 and "are zero-shot to teacher" in " ".join(both.stdout.split()), both.stderr


def test_a_finished_distillation_that_is_run_again_does_nothing(tiny, student, runs):
    run, _ = student
    before = {path: path.stat().st_mtime_ns for path in runs.rglob("*.pt")}
    again = distill(tiny, runs)
    assert again.returncode == 0, again.stderr
    steps = [*(f"translate.{direction}" for direction in DIRECTIONS), "text", "data", "train", "average"]
    assert all(f"distill: {step}: done before" in again.stderr for step in steps)
    assert before == {path: path.stat().st_mtime_ns for path in runs.rglob("*.pt")}


@pytest.mark.parametrize(
    "options, name, added",
    [
        (("--sides", "none"), "teacher_continued", ()),
        (("--remedy", "consistency"), "teacher_consistency", REMEDIES["consistency"]),
    ],
)
def test_the_control_and_a_remedy_have_the_authentic_data_and_as_many_pairs_an_epoch(
    tiny, student, runs, options, name, added
):
    run = runs / "tiny" / name / "seed1"
    run.mkdir(parents=True)
    (run / "synthetic.json").write_text("{}")  # of a student of that name that was never trained
    printed = distill(tiny, runs, *options)
    assert printed.returncode == 0, printed.stderr
    assert not (run / "synthetic.json").exists()
    command, of_student = ((each / "train.command").read_text().split() for each in (run, student[0]))
    assert command[1] == str(runs / "tiny" / "data") and "--extra-data" not in command
    size = "--virtual-data-size"
    assert command[command.index(size) + 1] == of_student[of_student.index(size) + 1]
    assert json.loads((run / "run.json").read_text())["synthetic"] == []
    assert " ".join(added) in " ".join(command) and ("zs_cross_entropy" in command) == bool(added)
    assert f"next: zsnmt evaluate {run}\n" in printed.stderr
    assert (f"to let it teach a student: zsnmt distill {tiny.config} {run}\n" in printed.stderr) != bool(
        added
    )


def test_one_synthetic_text_serves_other_students(tiny, student, runs):
    printed = distill(tiny, runs, "--sides", "targets", "--student", "zs_transformer_residual", "--seed", "5")
    assert printed.returncode == 0, printed.stderr
    run = runs / "tiny" / "zs_transformer_residual_distilled_targets" / "seed5"
    assert (
        "distill: text: done before" in printed.stderr
        and len([*(runs / "tiny" / "synthetic").iterdir()]) == 1
    )
    sampling = json.loads((run / "sampling.json").read_text())
    assert {name.partition(":")[0] for name in sampling} == {"main", "targets"}
    assert load_checkpoint(run / "model.pt")["cfg"]["model"].arch == "zs_transformer_residual"


def test_a_name_that_is_taken_is_refused_before_anything_is_translated(tiny, student, runs):
    texts = {*(runs / "tiny" / "synthetic").iterdir()}
    refused = distill(tiny, runs, "--lines", "20")
    assert refused.returncode == 1 and "is another run, made by" in refused.stderr
    assert "translate." not in refused.stderr and texts == {*(runs / "tiny" / "synthetic").iterdir()}
    shortened = distill(tiny, runs, "--round", "2")  # a record of it would not be known by its name
    assert shortened.returncode == 2 and "unrecognized arguments: --round 2" in shortened.stderr


def test_a_student_of_a_model_that_is_not_there_any_more_is_not_gone_on_with(tiny, student, runs):
    record = student[0] / "run.json"
    text = record.read_text()
    content = json.loads(text)
    record.write_text(json.dumps(content | {"distilled_from": {"model": "0" * 64}}))
    refused = distill(tiny, runs)
    record.write_text(text)
    assert refused.returncode == 1
    assert "teacher_distilled/seed1 was taught by another model than is now at" in refused.stderr


def test_a_student_learns_what_its_teacher_says_of_each_piece(tiny, student, runs):
    printed = distill(tiny, runs, "--word-level", "0.5", further=[*STUDENT, "--log-interval", "1"])
    assert printed.returncode == 0, printed.stderr
    run = runs / "tiny" / "teacher_distilled_words" / "seed1"
    command, teacher = (run / "train.command").read_text(), runs / "tiny" / "teacher" / "seed1" / "model.pt"
    assert "--criterion zs_cross_entropy" in command and "--word-distillation-weight 0.5" in command
    assert f"--word-distillation-model {teacher.resolve()}" in command
    losses = [
        *map(float, re.findall(r'"word_distillation_loss": "([\d.]+)"', (run / "train.log").read_text()))
    ]
    assert max(losses) > 0
    assert json.loads((run / "run.json").read_text())["distillation"]["word_level"] == 0.5
    assert not [option for option in options_of(run) if "word-distillation" in option], "for what goes on"
    weights = load_checkpoint(run / "model.pt")["model"]
    assert weights.keys() == load_checkpoint(student[0] / "model.pt")["model"].keys(), (
        "the teacher is not kept"
    )


def test_runs_that_translate_together_are_one_teacher(tiny, student, runs):
    """They translate otherwise than each alone, and the text is another one, with a record of both."""
    teacher = runs / "tiny" / "teacher" / "seed1"
    printed = distill(tiny, runs, "--with", student[0], further=["--max-epoch", "1"])
    assert printed.returncode == 0, printed.stderr
    run = runs / "tiny" / "teacher_distilled_of_2" / "seed1"
    (beside,) = json.loads((run / "run.json").read_text())["distilled_from"]["beside"]
    assert beside["system"] == "teacher_distilled" and beside["run"] == str(student[0].resolve())
    record = json.loads((run / "synthetic.json").read_text())
    assert record["teacher"]["beside"] == [beside] and record["teacher"]["run"] == str(teacher.resolve())
    assert f"--with {student[0]}" in json.loads((run / "run.json").read_text())["command"]
    alone = json.loads((student[0] / "synthetic.json").read_text())
    assert record["folder"] != alone["folder"] and "beside" not in alone["teacher"]
    texts = [[*(Path(each["folder"]) / "translations").glob("*.tamun")] for each in (record, alone)]
    together, by_one = (sorted(path.read_text() for path in of_one) for of_one in texts)
    assert len(together) == len(by_one) > 0 and together != by_one


def test_a_student_goes_on_from_another_run_than_its_teacher(tiny, student, runs):
    """Weights and options are that run's, translations and probabilities the teacher's."""
    teacher, start = runs / "tiny" / "teacher" / "seed1", student[0]
    options = ("--start-from", start, "--sides", "sources", "--word-level", "0.5")
    printed = distill(tiny, runs, *options, further=["--max-epoch", "1"])
    assert printed.returncode == 0, printed.stderr
    run = runs / "tiny" / "teacher_distilled_distilled_sources_words" / "seed1"
    command, record = (run / "train.command").read_text(), json.loads((run / "run.json").read_text())
    assert f"--finetune-from-model {(start / 'model.pt').resolve()}" in command
    assert f"--word-distillation-model {(teacher / 'model.pt').resolve()}" in command
    assert record["distilled_from"]["system"] == "teacher" and f"--start-from {start}" in record["command"]
    assert record["began_with"]["run"] == str(start.resolve())
    before = json.loads((start / "run.json").read_text())
    assert record["synthetic"] == before["synthetic"] and "began_with" not in before
    translated = [line for line in printed.stderr.splitlines() if "translate." in line]
    assert translated and all(line.endswith("done before") for line in translated), "for the first student"
    assert (
        f"loading pretrained model from {(start / 'model.pt').resolve()}" in (run / "train.log").read_text()
    )
    (run / "run.json").write_text(json.dumps(record | {"began_with": {"model": "0" * 64}}))
    refused = distill(tiny, runs, *options, further=["--max-epoch", "1"])
    assert refused.returncode == 1
    assert f"{run} began with another model than is now at {start.resolve()}" in refused.stderr
    own_place = distill(tiny, runs, "--start-from", start, "--name", "teacher_distilled")
    assert own_place.returncode == 1 and f"would take the place of {start}; give it" in own_place.stderr


def test_a_teacher_is_loaded_without_dropout_for_its_own_data_and_tags_alone(runs, tmp_path, monkeypatch):
    path = runs / "tiny" / "teacher" / "seed1" / "model.pt"
    task = load_run(path.parent).task
    model, state = load_teacher(path, task), load_checkpoint(path)
    assert all(torch.equal(weight, state["model"][name]) for name, weight in model.state_dict().items())
    assert not any(module.training for module in model.modules())
    assert not any(weight.requires_grad for weight in model.parameters())
    torch.save({**state, "task_state": {}}, tmp_path / "other.pt")
    with pytest.raises(InputError, match=r"other.pt is no translation model of this project; give a run"):
        load_teacher(tmp_path / "other.pt", task)
    task.place_tags("t_enc")
    with pytest.raises(InputError, match="was trained with other language tags than this training has"):
        load_teacher(path, task)


@pytest.mark.parametrize(("layers", "name"), [(1, "shallow"), (5, "deep")])
def test_a_student_of_fewer_or_more_layers_begins_with_the_teachers(tiny, student, runs, layers, name):
    other = ["--encoder-layers", str(layers), "--lr", "0", "--max-update", "1"]  # weights stay as they begin
    printed = distill(tiny, runs, "--name", name, further=[*STUDENT, *other])
    assert printed.returncode == 0, printed.stderr
    teacher, begun = (
        load_checkpoint(runs / "tiny" / system / "seed1" / "model.pt")["model"]
        for system in ("teacher", name)
    )
    assert depths(begun)["encoder"] == layers != depths(teacher)["encoder"]
    expected, copies = fit_layers(teacher, {"encoder": layers})
    assert begun.keys() == expected.keys() and bool(copies) == (name == "deep")
    silent = {each for each in copies if LAST_PROJECTION.search(each)}
    assert all(torch.equal(weight, expected[each]) for each, weight in begun.items() if each not in silent)
    assert not any(begun[each].any() for each in silent)
    assert not (runs / "tiny" / name / "seed1" / "beginning.pt").exists()


def test_a_student_gains_language_blocks_that_add_nothing_at_first(tiny, student, runs):
    """Half as wide as its decoder's own block; a later round has them from the first."""
    name, none = ("--name", "with_blocks", "--language-blocks"), ["--lr", "0", "--max-update", "1"]
    printed = distill(tiny, runs, *name, further=[*STUDENT, *none])
    assert printed.returncode == 0, printed.stderr
    run = runs / "tiny" / "with_blocks" / "seed1"
    teacher, begun = (
        load_checkpoint(path / "model.pt") for path in (runs / "tiny" / "teacher" / "seed1", run)
    )
    model, blocks = begun["cfg"]["model"], begun["model"].keys() - teacher["model"].keys()
    assert model.decoder_language_feed_forward_layers == "middle"
    assert 2 * model.decoder_language_feed_forward_dim == model.decoder_ffn_embed_dim
    assert blocks and all(".language_feed_forward." in each for each in blocks)
    assert all(torch.equal(begun["model"][each], weight) for each, weight in teacher["model"].items())
    assert not any(begun["model"][each].any() for each in blocks if ".narrow." in each)
    assert json.loads((run / "run.json").read_text())["distillation"]["language_blocks"] is True


def test_a_config_says_what_all_students_of_translations_are(tmp_path):
    """Deeper, with the residual removed in the teacher's layer, and taught word by word; but not what is
    trained on without translations.
    """
    config, system = tmp_path / "deep.conf", "zs_transformer_residual"
    config.write_text(changed(TINY_CONFIG, STUDENT_LAYERS="5", WORD_LEVEL="0.5"))
    teacher = tmp_path / "deep" / system / "seed1"
    commands = [
        ("recipes/train.sh", config, system, "--name", system, "--", *TEACHER),
        ("recipes/distill.sh", config, teacher, *TEXT, "--", *STUDENT),
        ("recipes/distill.sh", config, teacher, "--sides", "none", "--", *STUDENT),
    ]
    for command in commands:
        made = run_command(*command, runs=tmp_path)
        assert made.returncode == 0, made.stderr
    student, continued = (
        load_checkpoint(tmp_path / "deep" / f"{system}_{name}" / "seed1" / "model.pt")["cfg"]
        for name in ("distilled", "continued")
    )
    assert (student["model"].encoder_layers, continued["model"].encoder_layers) == (5, 3)
    assert student["model"].encoder_residual_removal_layers == "3"
    assert student["criterion"]["word_distillation_weight"] == 0.5
    words = (tmp_path / "deep" / f"{system}_continued" / "seed1" / "train.command").read_text()
    assert "word-distillation" not in words


def test_a_last_stage_out_of_the_pivot_with_a_few_lines(tiny, student, runs):
    """Its directions with few lines are few-shot everywhere, and it has as many pairs an epoch as others."""
    name = ("--sides", "none", "--few-lines", "2", "--name", "last_stage")
    made = distill(tiny, runs, *name, further=[*STUDENT, "--lang-pairs", "from_pivot"])
    assert made.returncode == 0, made.stderr
    run = runs / "tiny" / "last_stage" / "seed1"
    record, command = json.loads((run / "run.json").read_text()), (run / "train.command").read_text().split()
    assert {*record["few_shot"]} == {*DIRECTIONS} and record["synthetic"] == []
    assert record["distillation"]["few_lines"]["lines"] == 2
    trained = load_checkpoint(run / "model.pt")
    assert {*trained["cfg"]["task"].lang_pairs} == {f"{PIVOT}-{language}" for language in OTHERS}
    assert {*DIRECTIONS} < {*trained["task_state"]["trained"]}
    of_student = (student[0] / "train.command").read_text().split()
    size = "--virtual-data-size"
    assert command[command.index(size) + 1] == of_student[of_student.index(size) + 1]
    lines = (run / "checkpoints" / "validation.jsonl").read_text().splitlines()
    kinds = {direction: of["kind"] for direction, of in json.loads(lines[-1])["directions"].items()}
    assert len(kinds) == 2 * len(OTHERS) and f"{OTHERS[0]}-{PIVOT}" in kinds
    scored = run_command(
        "recipes/evaluate.sh", run, "--pivot", runs / "tiny" / "teacher" / "seed1", runs=runs
    )
    assert scored.returncode == 0 and "few-shot" in scored.stdout and "zero-shot" not in scored.stdout
    scores = json.loads((run / "scores.json").read_text())
    kinds = {result["direction"]: result["kind"] for result in scores["directions"]}
    assert {each for each, kind in kinds.items() if kind == "few_shot"} == {*DIRECTIONS}
    assert {kind for each, kind in kinds.items() if PIVOT in each} == {"supervised"}


@pytest.mark.parametrize(
    "options, message",
    [
        (["--few-lines", "3"], "3 lines of people and --sides both are for the same directions"),
        (
            ["--few-lines", "900", "--sides", "none"],
            "has not 900 lines of velan-tamun apart from test sentence",
        ),
        (["--sides", "self", "--rounds", "2"], "leave out --rounds, or choose other sides"),
        (["--with", "nowhere"], "there is no folder nowhere; give a run, made by zsnmt train"),
        (
            ["--with", "nowhere", "--rounds", "2"],
            "leave one of them out, and give each round its own command",
        ),
        (["--with", "nowhere", "--engine", "ctranslate2"], "--engine ctranslate2 searches with one model"),
        (["--sides", "left"], "argument --sides: invalid choice: 'left'"),
        (["--lines", "0"], "argument --lines: '0' is not a whole number above 0"),
        (["--way", "sample", "--beam", "4"], "--way sample draws one translation, not 4; give --beam 1, or"),
        (
            ["--engine", "ctranslate2", "--way", "ensemble"],
            "--engine ctranslate2 cannot translate by ensemble",
        ),
        (["--share", "1.5"], "a share of 1.5 leaves out authentic or synthetic text; give one above 0"),
        (["--student", "zs_bert"], "there is no architecture 'zs_bert' that translates; choose"),
        (["--student", "zs_transformer_relative"], "cannot begin with the weights of"),
        (["--name", "teacher"], "the student would take the place of"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(tiny, runs, options, message):
    refused = distill(tiny, runs, *options)
    assert refused.returncode in (1, 2) and message in refused.stderr
    assert "Traceback" not in refused.stderr


def test_what_the_training_would_refuse_is_refused_before_anything_is_made(tiny, runs):
    teacher, before = runs / "tiny" / "teacher" / "seed1", {*runs.rglob("*")}
    for options, further, message in (
        (["--remedy", "consistency"], ["--ignore-prefix-size", "1"], "--ignore-prefix-size is for targets"),
        (["--from-scratch"], ["--encoder-position-query-layers", "9"], "'9' names no layers of 3"),
        (["--with", teacher], [], "and together they translate as one does"),
    ):
        refused = distill(tiny, runs, *options, further=[*STUDENT, *further])
        assert refused.returncode == 1 and message in refused.stderr, refused.stderr
    assert {*runs.rglob("*")} - before == set()


def test_an_adapted_run_teaches_all_its_languages_from_the_text_of_its_adaptation(tiny, runs, tmp_path):
    config = tmp_path / "added.conf"
    settings = {"SYNTHETIC": "--number 4 --concepts 40 --pairs 60 --valid 6 --test 11 --longest 6"}
    settings |= {"LANGUAGES": f"{PIVOT} tamek", "PAIRS": "40", "MODEL": "", "TRAINING": " ".join(STUDENT)}
    config.write_text(changed(TINY_CONFIG, **settings))
    base, folder = runs / "tiny" / "teacher" / "seed1", tmp_path / "added"
    adapted, student = folder / "teacher" / "seed1", folder / "teacher_distilled" / "seed1"
    made = run_command("recipes/adapt.sh", config, base, "--allow-unknown", "0.3", runs=tmp_path)
    assert made.returncode == 0, made.stderr
    data = {path: path.stat().st_mtime_ns for path in (folder / "data").rglob("*")}
    own = ("--name", "anew", "--", "--criterion", "label_smoothed_cross_entropy")
    refused = run_command("recipes/train.sh", config, "zs_transformer", *own, runs=tmp_path)
    assert refused.returncode == 1 and "the text and the data of an adaptation" in refused.stderr
    distilled = ("recipes/distill.sh", config, adapted, *TEXT, "--", *STUDENT)
    printed = run_command(*distilled, runs=tmp_path)
    assert printed.returncode == 0, printed.stderr
    assert data == {path: path.stat().st_mtime_ns for path in (folder / "data").rglob("*")}
    record = json.loads((student / "run.json").read_text())
    assert {"tamek-velan", "velan-tamek", "tamun-velor"} <= {*record["synthetic"]}
    assert load_checkpoint(student / "model.pt")["cfg"]["optimization"]["lr"] == [1e-2]  # half of the base's
    shutil.rmtree(folder / "data")
    refused = run_command(*distilled, runs=tmp_path)
    assert refused.returncode == 1 and "added/data is not there, or was not made to the end" in refused.stderr


def test_a_student_with_other_tags_than_its_teacher_does_not_learn_word_by_word(tiny, runs):
    before = {*runs.rglob("*")}
    refused = distill(
        tiny, runs, "--word-level", "1", "--from-scratch", further=[*STUDENT, "--language-tags", "t_enc"]
    )
    assert refused.returncode == 1 and {*runs.rglob("*")} - before == set()
    assert "the student has --language-tags t_enc, and its teacher t_dec: word by word a" in refused.stderr


def test_a_teacher_that_is_none_is_refused(tiny, runs, tmp_path):
    missing = run_command("recipes/distill.sh", tiny.config, tmp_path, runs=runs)
    assert missing.returncode == 1 and "is not a run folder; give one made by" in missing.stderr
    run = shutil.copytree(
        runs / "tiny" / "teacher" / "seed1", tmp_path / "seed1", ignore=shutil.ignore_patterns("*.pt")
    )
    untrained = run_command("recipes/distill.sh", tiny.config, run, runs=runs)
    assert untrained.returncode == 1 and "has no model.pt" in untrained.stderr
    config = tmp_path / "tiny.conf"
    config.write_text(tiny.config.read_text().replace("velan tamun velor", "velan tamun"))
    other = run_command("recipes/distill.sh", config, runs / "tiny" / "teacher" / "seed1", runs=tmp_path)
    assert other.returncode == 1 and "has the languages inglan velan tamun, and" in other.stderr
    assert "give the config that the teacher was trained with" in other.stderr
