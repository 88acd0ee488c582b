"""A new language joins a finished run: the recipe from start to end, in both modes, and what it refuses."""

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest
import torch

from tests.conftest import run_command
from zsnmt.adaptation.checkpoint import TABLES
from zsnmt.files.checksums import sha256
from zsnmt.inference.export.ctranslate2.models import models_in
from zsnmt.inference.export.run import export_run
from zsnmt.inference.translator import Translator
from zsnmt.languages import language_tag, read_languages
from zsnmt.runs.checkpoints import load_checkpoint

PIVOT, *OTHERS = KNOWN = ["inglan", "velan", "tamun", "velor"]
NEW = "tamek"
# until outputs are as long as sentences, without validation in between
TEACHER = "--max-epoch 8 --validate-interval 8 --save-interval 8 --lr 2e-2 --warmup-updates 20".split()
BLOCKS = "--decoder-language-feed-forward-layers middle --decoder-language-feed-forward-dim 16".split()
SHARE = "--share", "0.4"
ADDED_CONFIG = f"""\
SYNTHETIC="--number 4 --concepts 40 --pairs 60 --valid 6 --test 11 --longest 6"
LANGUAGES="{PIVOT} {NEW}"
PAIRS=40
VOCABULARY=120
IDENTIFIER=lexicon
AVERAGE=2
BEAM=2
TRAINING="--lr 1e-2 --max-epoch 2"
"""


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    path = tmp_path_factory.mktemp("added") / "added.conf"
    path.write_text(ADDED_CONFIG)
    return path


@pytest.fixture(scope="module")
def runs(config):
    return config.parent / "runs"


def adapt(config, run, runs, *options):
    return run_command("recipes/adapt.sh", config, run, "--allow-unknown", "0.3", *options, runs=runs)


@pytest.fixture(scope="module")
def full(tiny, config, runs):
    """The residual run with a new language, and what the recipe printed."""
    printed = adapt(config, tiny.run(), runs)
    assert printed.returncode == 0, printed.stderr
    return runs / "added" / "zs_transformer_residual" / "seed1", printed


@pytest.fixture(scope="module")
def student(tiny, config):
    """A student of three of the languages, with blocks of theirs, adapted, and what the recipe printed; with
    the folder of runs.
    """
    runs = config.parent / "runs_of_student"
    shutil.copytree(tiny.folder, runs / "tiny", ignore=shutil.ignore_patterns("seed1"))
    teacher = runs / "tiny" / "teacher"
    made = [
        run_command(
            "recipes/train.sh",
            tiny.config,
            *("zs_transformer", "--name", "teacher", "--", *TEACHER, *BLOCKS),
            runs=runs,
        ),
        run_command(
            "recipes/distill.sh",
            tiny.config,
            teacher / "seed1",
            *("--identifier", "none", "--beam", "1", "--name", "student", "--", "--max-epoch", "1"),
            runs=runs,
        ),
        adapt(config, runs / "tiny" / "student" / "seed1", runs, *SHARE),
    ]
    for printed in made:
        assert printed.returncode == 0, printed.stderr
    return runs, made[-1]


@pytest.fixture(scope="module")
def frozen(tiny, config, runs):
    printed = adapt(config, tiny.run(), runs, "--frozen", "--adapter-dim", "4")
    assert printed.returncode == 0, printed.stderr
    return runs / "added" / "zs_transformer_residual_frozen" / "seed1"


def scores_of(run, runs) -> dict:
    scored = run_command("recipes/evaluate.sh", run, runs=runs)
    assert scored.returncode == 0, scored.stderr
    return json.loads((run / "scores.json").read_text()) | {"printed": scored.stdout}


def test_an_adapted_run_is_a_run_folder_that_says_where_it_comes_from(tiny, full, runs):
    run, printed = full
    assert read_languages(run / "pipeline") == [*KNOWN, NEW]
    record = json.loads((run / "run.json").read_text())
    assert record["adapted_from"] | {"commit": None} == {
        "config": "tiny",
        "system": "zs_transformer_residual",
        "seed": 1,
        "commit": None,
        "model": sha256(tiny.run() / "model.pt"),
        "languages": KNOWN,
        "mode": "full",
    }
    assert (
        record["command"].startswith(f"bash recipes/adapt.sh {runs.parent / 'added.conf'} {tiny.run()} ")
        and record["overlap"][f"{PIVOT}-{NEW}"]["kept"] == 40
    )
    assert f"test.{NEW}" in printed.stderr and "% unknown" in printed.stderr
    translated = run_command("scripts/translate.py", run, "--to", NEW, "--from", "velan", input="Ba.\n")
    assert translated.returncode == 0 and translated.stdout.count("\n") == 1, translated.stderr


def test_training_starts_from_the_old_rows_byte_for_byte(tiny, full):
    run, _ = full
    old, initial = (load_checkpoint(path)["model"] for path in (tiny.run() / "model.pt", run / "initial.pt"))
    assert old.keys() == initial.keys()
    for name, weight in old.items():
        assert torch.equal(initial[name][: len(weight)] if name in TABLES else initial[name], weight), name
        assert (len(initial[name]) > len(weight)) == (name in TABLES)
    trained = load_checkpoint(run / "model.pt")
    assert not torch.equal(
        trained["model"]["encoder.layers.0.fc1.weight"], old["encoder.layers.0.fc1.weight"]
    )


def test_scores_say_what_was_before_and_what_is_zero_shot(tiny, full, runs):
    run, _ = full
    scores, base = scores_of(run, runs), json.loads((tiny.run() / "scores.json").read_text())
    kinds = {result["direction"]: result["kind"] for result in scores["directions"]}
    assert kinds == {
        f"{a}-{b}": "supervised" if PIVOT in (a, b) else "zero_shot"
        for a in [*KNOWN, NEW]
        for b in [*KNOWN, NEW]
        if a != b
    }
    before, then = (
        {(result["direction"], result["way"]): result["bleu"] for result in results}
        for results in (scores["before"], base["directions"])
    )
    assert before == then
    assert all(0 <= result["unchanged"] <= 1 for result in scores["before"])
    assert scores["adapted_from"]["mode"] == "full" and "before" in scores["printed"]


def test_a_frozen_run_translates_between_old_languages_as_before_to_the_letter(tiny, frozen, runs):
    scores = scores_of(frozen, runs)
    assert len(scores["before"]) == 18 and {result["unchanged"] for result in scores["before"]} == {1}
    old, new = (load_checkpoint(run / "model.pt")["model"] for run in (tiny.run(), frozen))
    for name, weight in old.items():
        assert torch.equal(new[name][: len(weight)] if name in TABLES else new[name], weight), name
    start = load_checkpoint(frozen / "initial.pt")["model"]
    changed = {name for name, weight in new.items() if not torch.equal(weight, start[name])}
    assert changed >= {*TABLES} and all(name in TABLES or "adapters" in name for name in changed)


def test_a_frozen_run_with_adapters_exports_to_ctranslate2_and_translates_as_the_run(frozen, tmp_path):
    pytest.importorskip("ctranslate2")
    folder, _ = export_run(frozen, tmp_path / "export")
    assert [*models_in(folder)] == [language_tag(NEW)]
    text = Path(json.loads((frozen / "run.json").read_text())["text"])
    sentences = (text / f"test.{PIVOT}").read_text(encoding="utf-8").splitlines()[:20]
    exported, run = map(Translator.open, (folder, frozen))
    for target in (NEW, OTHERS[0]):
        one, other = (each.translate_with_scores(sentences, target, PIVOT) for each in (exported, run))
        assert [each.text for each in one] == [each.text for each in other]
        assert [each.mean_log_probability for each in one] == pytest.approx(
            [each.mean_log_probability for each in other], abs=1e-4
        )


def test_a_student_goes_on_learning_from_translations(student):
    """On text whose data have the ids of before; in what validates and chooses, and in all kinds."""
    runs, printed = student
    run, before = (runs / config / "student" / "seed1" for config in ("added", "tiny"))
    assert "may forget" not in printed.stderr
    record, of_student = (json.loads((each / "run.json").read_text()) for each in (run, before))
    text = json.loads((before / "synthetic.json").read_text())
    assert record["synthetic"] == of_student["synthetic"] and record["synthetic_from"] == text["folder"]
    again = json.loads((run / "synthetic.json").read_text())
    assert again == {
        **text,
        "folder": str((runs / "added" / "synthetic" / Path(text["folder"]).name).resolve()),
    }
    words = {each: shlex.split((each / "train.command").read_text()) for each in (run, before)}
    extra, of_before = (json.loads(of_run[of_run.index("--extra-data") + 1]) for of_run in words.values())
    assert {*extra} == {"targets", "sources"} and "--word-distillation-weight" not in words[run]
    for use, folder in extra.items():
        files = sorted(Path(of_before[use]).glob("*.bin"))
        assert files and all((Path(folder) / file.name).read_bytes() == file.read_bytes() for file in files)
    trained = load_checkpoint(run / "model.pt")["task_state"]["trained"]
    assert {*record["synthetic"], f"{PIVOT}-{NEW}", f"{NEW}-{PIVOT}"} < {*trained}
    lines = (run / "checkpoints" / "validation.jsonl").read_text().splitlines()
    kinds = {direction: of["kind"] for direction, of in json.loads(lines[-1])["directions"].items()}
    assert {*kinds.values()} == {"supervised", "zero_resource"} and f"{PIVOT}-{NEW}" in kinds
    weights = json.loads((run / "sampling.json").read_text())
    assert sum(weights.values()) == pytest.approx(1)
    assert weights[f"main:{PIVOT}-{NEW}"] + weights[f"main:{NEW}-{PIVOT}"] == pytest.approx(0.4)
    assert {name.partition(":")[0] for name in weights} == {"main", "targets", "sources"}


def test_what_a_student_learned_stays_zero_resource_in_scores(student):
    runs, _ = student
    run = runs / "added" / "student" / "seed1"
    kinds = {each["direction"]: each["kind"] for each in scores_of(run, runs)["directions"]}
    synthetic = json.loads((run / "run.json").read_text())["synthetic"]
    assert {each for each, kind in kinds.items() if kind == "zero_resource"} == {*synthetic}
    assert kinds[f"{NEW}-{OTHERS[0]}"] == "zero_shot"


def test_an_adapted_student_that_is_run_again_does_nothing_and_needs_its_text(student, config):
    runs, _ = student
    base, run = (runs / name / "student" / "seed1" for name in ("tiny", "added"))
    made = {
        path: path.stat().st_mtime_ns
        for path in (runs / "added").rglob("*.*")
        if path.suffix in (".pt", ".bin")
    }
    again = adapt(config, base, runs, *SHARE)
    assert again.returncode == 0, again.stderr
    assert again.stderr.count("done before") == 8, again.stderr
    assert made == {path: path.stat().st_mtime_ns for path in made}
    text = Path(json.loads((base / "synthetic.json").read_text())["folder"])
    text.rename(text.with_name("away"))
    gone = adapt(config, base, runs, *SHARE)
    other = adapt(config, base, runs, "--name", "other", "--", "--max-epoch", "1")
    text.with_name("away").rename(text)
    assert (
        gone.returncode == 1 and f"{text}, which has the synthetic text of them, is not there" in gone.stderr
    )
    assert (
        other.returncode == 0
        and f"{text}, which has the synthetic text of them, is not there" in other.stderr
    )
    assert "synthetic_from" not in json.loads((run.parents[1] / "other/seed1/run.json").read_text())


def test_a_finished_adaptation_that_is_run_again_does_nothing(tiny, full, config, runs):
    run, _ = full
    before = {path: path.stat().st_mtime_ns for path in run.rglob("*.pt")}
    again = adapt(config, tiny.run(), runs)
    assert again.returncode == 0, again.stderr
    assert [
        f"adapt: {name}: done before" in again.stderr
        for name in ("text", "data", "extend", "train", "average")
    ] == [True] * 5
    assert before == {path: path.stat().st_mtime_ns for path in run.rglob("*.pt")}


def test_an_adapted_run_learns_another_language(frozen, config, runs, tmp_path):
    """Frozen, as before: the languages of both stages keep what they wrote."""
    further = tmp_path / "further.conf"
    further.write_text(ADDED_CONFIG.replace("--number 4", "--number 5").replace(NEW, fifth_language()))
    printed = adapt(further, frozen, runs, "--frozen", "--name", "twice")
    assert printed.returncode == 0, printed.stderr
    run = runs / "further" / "twice" / "seed1"
    assert read_languages(run / "pipeline") == [*KNOWN, NEW, fifth_language()]
    scores = scores_of(run, runs)
    assert {result["unchanged"] for result in scores["before"]} == {1}
    assert {result["direction"] for result in scores["before"]} == {
        f"{a}-{b}" for a in [*KNOWN, NEW] for b in [*KNOWN, NEW] if a != b
    }


def fifth_language() -> str:
    from zsnmt.corpora.invented.languages import standard_languages

    return standard_languages(5)[-1].name


@pytest.fixture
def unscored(tiny, tmp_path):
    """A trained run without scores."""
    left_out = shutil.ignore_patterns("scores.json", "hypotheses")
    return shutil.copytree(tiny.run(), tmp_path / "base" / "seed1", ignore=left_out)


@pytest.mark.parametrize(
    "options, change, words",
    [
        (["--adapter-dim", "4"], (), "adapt this run with --frozen, or without adapters"),
        ([], (f"{PIVOT} {NEW}", f"{OTHERS[0]} {NEW}"), f"has the pivot {OTHERS[0]}, the run has {PIVOT}"),
        ([], (f"{PIVOT} {NEW}", f"{PIVOT} {OTHERS[0]}"), "name a language that it lacks"),
        ([], ("--lr 1e-2", "--lr 1e-2 --no-such-option"), "fairseq refuses an option .*--no-such-option"),
        (
            ["--frozen"],
            ("--lr 1e-2", "--decoder-layerdrop 0.1 --fp16"),
            "it rounds the old weights; --amp does",
        ),
        (["--frozen"], (), r"has --consistency-weight, a remedy .*; adapt it without --frozen"),
        (["--text"], (), "is not there any more, and without it the model forgets its languages"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_made_or_scored(
    unscored, tmp_path, options, change, words
):
    config, runs = tmp_path / "refused.conf", tmp_path / "runs"
    config.write_text(ADDED_CONFIG.replace(*change) if change else ADDED_CONFIG)
    if "--consistency-weight" in words:
        command = unscored / "train.command"
        command.write_text(f"{command.read_text()} --criterion zs_cross_entropy --consistency-weight 0.25")
    if "--text" in options:
        options = []
        record = json.loads((unscored / "run.json").read_text())
        (unscored / "run.json").write_text(json.dumps(record | {"text": str(tmp_path / "gone")}))
    refused = adapt(config, unscored, runs, *options)
    assert refused.returncode == 1 and re.search(words, refused.stderr), refused.stderr
    assert not runs.exists() and not (unscored / "scores.json").exists()


def test_other_text_in_the_place_of_that_of_the_run_is_refused(tiny, unscored, tmp_path):
    """As where a run was moved away and its experiment made again."""
    config, runs = tmp_path / "refused.conf", tmp_path / "runs"
    config.write_text(ADDED_CONFIG)
    text = shutil.copytree(tiny.folder / "text", tmp_path / "text")
    record = json.loads((unscored / "run.json").read_text())
    (unscored / "run.json").write_text(json.dumps(record | {"text": str(text)}))
    for file in sorted(text.glob("train.*"))[:2]:
        file.write_text("".join(file.read_text().splitlines(keepends=True)[:-1]))
    refused = adapt(config, unscored, runs)
    assert refused.returncode == 1
    assert f"{text} has other training text than {unscored} was trained on" in refused.stderr
    assert not runs.exists() and not (unscored / "scores.json").exists()


def test_another_run_or_another_base_than_that_of_a_run_is_refused_at_once(tiny, full, config, runs):
    run, _ = full
    other = adapt(config, tiny.run(), runs, "--noise", "none")
    assert other.returncode == 1 and f"{run} is another run, made by" in other.stderr
    record, text = run / "run.json", (run / "run.json").read_text()
    content = json.loads(text)
    record.write_text(json.dumps(content | {"adapted_from": content["adapted_from"] | {"model": "0" * 64}}))
    anew = adapt(config, tiny.run(), runs)
    record.write_text(text)
    assert anew.returncode == 1
    assert f"was adapted from another model than is now at {tiny.run()}; choose another name" in anew.stderr
    assert "done before" not in other.stderr + anew.stderr


@pytest.mark.parametrize(
    "change, words",
    [
        (
            ('LANGUAGES="inglan tamek"', 'LANGUAGES="inglan velan"'),
            "the run knows inglan, velan already .* name a language that it lacks",
        ),
        (('LANGUAGES="inglan tamek"', 'LANGUAGES="velan tamek"'), "has the pivot velan, the run has inglan"),
        (("VOCABULARY=120", "VOCABULARY=5"), "a vocabulary of 5 pieces cannot hold all characters"),
    ],
)
def test_a_config_that_adds_nothing_is_refused(tiny, runs, tmp_path, change, words):
    config = tmp_path / "refused.conf"
    config.write_text(ADDED_CONFIG.replace(*change))
    refused = adapt(config, tiny.run(), tmp_path / "runs")
    assert refused.returncode == 1
    assert re.search(words, refused.stderr), refused.stderr
    assert not (tmp_path / "runs" / "refused" / "zs_transformer_residual").exists()


def test_without_the_original_text_only_the_frozen_mode_goes_on(tiny, config, tmp_path):
    run = shutil.copytree(tiny.run(), tmp_path / "base" / "seed1")
    record = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps(record | {"text": str(tmp_path / "gone")}))
    refused = adapt(config, run, tmp_path / "runs")
    assert (
        refused.returncode == 1
        and f"{tmp_path / 'gone'}, the text that {run} was trained on, is not there any more"
        in refused.stderr
    )
    assert "--frozen" in refused.stderr
    done = adapt(config, run, tmp_path / "runs", "--frozen")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "runs" / "added" / "zs_transformer_residual_frozen" / "seed1" / "model.pt").is_file()


def test_what_is_no_finished_run_is_refused(tiny, config, tmp_path):
    missing = adapt(config, tmp_path, tmp_path / "runs")
    assert missing.returncode == 1 and "is not a run folder; give one made by zsnmt train" in missing.stderr
    run = shutil.copytree(tiny.run(), tmp_path / "seed1", ignore=shutil.ignore_patterns("*.pt"))
    untrained = adapt(config, run, tmp_path / "runs")
    assert untrained.returncode == 1 and "has no model.pt" in untrained.stderr
    unknown = run_command("recipes/adapt.sh", config, run, "--forzen", runs=tmp_path / "runs")
    assert unknown.returncode == 2 and "unrecognized arguments: --forzen" in unknown.stderr
