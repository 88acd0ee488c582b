"""The config of a person's own text: made once, kept, and never that of another text."""

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conftest import ROOT, run_command
from zsnmt.cli import run
from zsnmt.console import WrongUse
from zsnmt.corpora.own_text.survey import Survey
from zsnmt.errors import InputError
from zsnmt.training import own_text
from zsnmt.training.config import read_config
from zsnmt.training.experiment import Experiment
from zsnmt.training.machine import Machine
from zsnmt.training.own_text import OwnText, config_file, config_text, describe, ensure_config, setting_line
from zsnmt.training.rule.whole import choose
from zsnmt.training.sources import make_source
from zsnmt.training.steps import Steps
from zsnmt.training.team import Team

MACHINE = Machine(cores=2, memory=8)
EXAMPLE = Survey(  # of configs/own.conf
    ("en", "de", "fr"),
    {"en-de": 30_000, "en-fr": 30_000},
    words=900_000,
    different_words=60_000,
    characters=150,
    scripts=dict.fromkeys(("en", "de", "fr"), "Latin"),
)


@pytest.fixture
def text(tmp_path) -> Path:
    """120 sentences of German and of French with English, without held-out sets."""
    folder = tmp_path / "my text"
    folder.mkdir()
    for language in ("de", "fr"):
        for side in (language, "en"):
            lines = "".join(f"This is line {number} of {side}.\n" for number in range(120))
            (folder / f"talks.{language}-en.{side}").write_text(lines)
    return folder


@pytest.fixture
def ensured(tmp_path, monkeypatch):
    """Ensures the config of a text; what was said, and the config."""
    monkeypatch.setattr(own_text, "this_machine", lambda: MACHINE)
    runs = tmp_path / "runs"

    def ensure(text: OwnText, file: Path | None = None, team: Team = Team()):
        said: list[str] = []
        file = file or config_file(text, runs)
        ensure_config(text, file, {"ROOT": str(ROOT)}, runs=runs, say=said.append, team=team)
        return said, file, read_config(file, {"ROOT": str(ROOT)})

    return ensure


PATTERN = "talks.{pair}.{language}"


@pytest.mark.parametrize(
    ("has_model", "said"), [(True, "does not set MODEL, .* with"), (False, "sets MODEL, .* without")]
)
def test_the_config_that_another_command_made_of_the_text_is_not_taken(
    text, ensured, tmp_path, has_model, said
):
    """zsnmt train would train a model of any size by that of zsnmt adapt, which has another schedule."""
    _, file, _ = ensured(OwnText(text, PATTERN))
    content = file.read_text()
    if has_model:
        file.write_text(re.sub(r'\nMODEL="[^"]*"', "", content))
    purpose = replace(own_text.TRAIN, command="zsnmt this", has_model=has_model)
    with pytest.raises(InputError, match=f"my text.conf {said} it: another command made it .*--config FILE"):
        ensure_config(OwnText(text), file, {}, runs=tmp_path / "runs", say=print, purpose=purpose)


def test_a_config_is_made_with_its_reasons_and_kept(text, ensured, tmp_path):
    said, file, config = ensured(OwnText(text, PATTERN))
    assert file == tmp_path / "runs" / "my text.conf"
    assert (config.text, config.pattern, config.held_out) == (str(text), PATTERN, 500)
    assert config.languages == ("en", "de", "fr")
    comments = " ".join(re.sub("^# ", "", line) for line in file.read_text().split("\n") if line[:1] == "#")
    reasons = said[1:-1]
    assert len(reasons) > 4 and all(reason in " ".join(comments.split()) for reason in reasons)
    before = file.read_bytes()
    again, *_ = ensured(OwnText(text))
    assert len(again) == 1 and f"the config is {file}, made before" in again[0]
    file.write_bytes(before + b"BEAM=2\n")
    assert ensured(OwnText(text, PATTERN, ("en", "de", "fr")))[2].beam == 2


def test_what_of_a_folder_is_not_read_is_said_and_what_came_later(text, ensured):
    for name in ("train.pt-BR-en.en", "README"):
        (text / name).write_text("A line.\n")
    said, *_ = ensured(OwnText(text, PATTERN))
    (unread,) = [each for each in said if each.startswith("not read")]
    assert "train.pt-BR-en.en" in unread and "README" not in unread
    for language in ("en", "it"):
        (text / f"talks.it-en.{language}").write_text("A line.\n" * 200)
    assert "the text also has it, which the config leaves out" in ensured(OwnText(text, PATTERN))[0]


def test_text_of_other_pairs_in_rows_with_the_pivot_is_named_with_what_to_do():
    found = Survey(("en", "de", "fr"), {"en-de": 9}, 9, 9, 9, scripts={}, beside_pivot=("de-fr",))
    said = describe(found)
    assert "There is text of de-fr that is not trained on; with --all-pairs it is" in said
    many = replace(found, beside_pivot=tuple(f"de-x{number}" for number in range(7)))
    assert "de-x4 and 2 more that is not trained on" in describe(many)


def test_a_pivot_that_others_have_no_text_with_is_named_with_a_better_one():
    found = Survey(("fi", "en", "sv"), {"fi-en": 9, "en-sv": 9}, 9, 9, 9, scripts={})
    assert "There is no text of sv with fi, so that" in describe(found)
    assert describe(found).endswith("en has text with all: --languages en fi sv.")
    assert "no text of" not in describe(replace(found, languages=("en", "fi", "sv")))
    apart = replace(found, languages=("fi", "en", "sv", "da"), pairs={"fi-en": 9, "en-sv": 9, "sv-da": 9})
    assert describe(apart).endswith(
        "There is no text of sv, da with fi, so that translation through it and "
        "students of all directions leave them out."
    )


def test_rows_in_several_languages_train_all_pairs_on_request(ensured, tmp_path):
    rows = [f"Word {n} is here.\tWort {n} ist da.\tMot {n} est ici." for n in range(300)]
    (tmp_path / "rows.tsv").write_text("\n".join(["en\tde\tfr", *rows, ""]), encoding="utf-8")
    said, file, config = ensured(OwnText(tmp_path / "rows.tsv", all_pairs=True))
    assert config.all_pairs and "en-de 300, en-fr 300, de-fr 300" in " ".join(said)
    assert "not trained on" not in " ".join(said)
    with pytest.raises(InputError, match="was made with --languages"):
        ensured(OwnText(tmp_path / "rows.tsv", languages=("en", "de"), all_pairs=True))
    source = make_source(Steps("train"), Experiment(replace(config, held_out=None), file, tmp_path / "made"))
    assert {path.name for path in source.glob("train.de-fr.*")} == {"train.de-fr.de", "train.de-fr.fr"}
    file.unlink()
    said, _, config = ensured(OwnText(tmp_path / "rows.tsv"))
    assert not config.all_pairs and "There is text of de-fr that is not trained on" in " ".join(said)


def test_processes_without_gpu_have_a_model_for_none(text, ensured, tmp_path, monkeypatch):
    monkeypatch.setattr(own_text, "this_machine", lambda: replace(MACHINE, gpu=80))
    of_text = OwnText(text, PATTERN)
    for place, team in enumerate((Team(), Team(2, gpus=False))):
        said, _, config = ensured(of_text, tmp_path / f"{place}.conf", team)
        assert ("no GPU" in " ".join(said)) == bool(place)
        assert ("--fast-training" in config.fairseq_options) == bool(place)


def test_a_config_for_one_process_is_not_taken_by_two(text, ensured, tmp_path):
    _, file, _ = ensured(OwnText(text, PATTERN))
    with pytest.raises(InputError) as refused:
        ensured(OwnText(text, PATTERN), team=Team(2, gpus=False))
    assert f"{file} was made for another number of processes. To choose anew for 2, remove" in str(
        refused.value
    )
    assert f"To choose anew for 2, remove {file}, and" in str(refused.value)
    (made := tmp_path / "runs" / "my text").mkdir()
    with pytest.raises(InputError, match=re.escape(f"To choose anew for 2, remove {file} and {made}, and")):
        ensured(OwnText(text, PATTERN), team=Team(2, gpus=False))
    made.rmdir()
    file.unlink()
    ensured(OwnText(text, PATTERN), team=Team(2, gpus=False))
    assert "made before" in ensured(OwnText(text, PATTERN), team=Team(2, gpus=False))[0][0]
    assert "made before" in ensured(OwnText(text, PATTERN))[0][0], (
        "one process makes both batches of an update"
    )


def test_the_config_of_another_text_is_not_taken(text, ensured, tmp_path):
    _, file, _ = ensured(OwnText(text, PATTERN))
    other = tmp_path / "other" / text.name
    other.mkdir(parents=True)
    with pytest.raises(InputError, match=f"my text.conf is of another text, {text}; say by --config FILE"):
        ensured(OwnText(other))
    with pytest.raises(InputError, match="was made with --languages en de fr, not en de; give the config of"):
        ensured(OwnText(text, PATTERN, ("en", "de")))
    with pytest.raises(InputError, match="was made with --pattern talks"):
        ensured(OwnText(text, "x.{pair}.{language}"))
    assert ensured(OwnText(text, PATTERN, ("de", "en")), tmp_path / "small.conf")[2].languages == ("de", "en")
    file.rename(tmp_path / "elsewhere.conf")
    (tmp_path / "runs" / "my text").mkdir()
    with pytest.raises(InputError, match="has runs of another my text.conf; give this config another name"):
        ensured(OwnText(text, PATTERN))


def test_a_place_that_fairseq_could_not_read_has_no_config_either(text, tmp_path):
    runs = tmp_path / "12:30"
    with pytest.raises(InputError, match="12:30/my text cannot be the folder of a run"):
        ensure_config(OwnText(text, PATTERN), runs / "my text.conf", {}, runs=runs, say=print)
    assert not runs.exists()


def test_a_text_that_was_moved_keeps_its_config(text, ensured, tmp_path):
    _, file, _ = ensured(OwnText(text, PATTERN))
    before = file.read_text()
    moved = tmp_path / "other" / text.name
    moved.parent.mkdir()
    text.rename(moved)
    said, _, config = ensured(OwnText(moved, PATTERN))
    assert said[0] == f"the text was at {text}; {file} now says that it is at {moved}"
    assert config.text == str(moved) and file.read_text() == before.replace(str(text), str(moved))
    renamed = moved.rename(tmp_path / "another name")
    with pytest.raises(InputError, match="my text.conf is of another text"):
        ensured(OwnText(renamed, PATTERN), file)


def test_a_name_that_a_config_cannot_have_is_refused(text, ensured):
    (folder := text.parent / os.fsdecode(b"t\xebxt")).mkdir()
    with pytest.raises(InputError, match="'~{pair}.txt' cannot stand in a config"):
        ensured(OwnText(text, "~{pair}.txt"))
    for place in (text.with_name('my "text"'), folder / "text"):
        text = text.rename(place)
        with pytest.raises(InputError, match="which is UTF-8 and in which quotes, .* have a meaning; rename"):
            ensured(OwnText(text, PATTERN))
    with pytest.raises(InputError, match="'.text' cannot name an experiment; say where its config is to be"):
        config_file(OwnText(text.parent / ".text"), text.parent)
    assert config_file(OwnText(Path(__file__)), Path("runs")) == Path("runs/test_own_text.conf")


def test_the_text_of_a_config_is_made_once_with_its_sets_and_again_when_it_changes(
    text, ensured, tmp_path, capsys
):
    _, file, config = ensured(OwnText(text, PATTERN))
    experiment = Experiment(config, file, tmp_path / "runs" / "mine")

    def made() -> str:
        make_source(Steps("train"), experiment)
        return capsys.readouterr().err

    assert [made(), made()] == ["train: source\n", "train: source: done before\n"]
    source = experiment.folder / "source"
    counts = {path.name: len(path.read_text().splitlines()) for path in source.glob("*.en")}
    assert counts == {
        f"{split}.en-{language}.en": lines
        for language in ("de", "fr")
        for split, lines in {"train": 108, "valid": 6, "test": 6}.items()
    }
    assert [*source.glob("test.de-fr.de")]
    for side in ("de", "en"):
        with (text / f"talks.de-en.{side}").open("a") as opened:
            opened.write("One more.\n")
    assert made() == "train: source\n"


def test_own_conf_is_what_the_rule_chooses():
    choice = choose(EXAMPLE, MACHINE)
    settings = {"TEXT": "path/to/text", "LANGUAGES": "en de fr", **choice.settings}
    made = config_text("", [describe(EXAMPLE), *choice.reasons], settings)
    text = (ROOT / "configs" / "own.conf").read_text(encoding="utf-8")
    assert text.endswith(made), made


def test_a_setting_is_wrapped_between_options_alone():
    value = " ".join(f"--option-{number} {number}" for number in range(30))
    lines = setting_line("MODEL", value).splitlines()
    assert len(lines) > 2 and all(line.startswith("  --") and len(line) <= 110 for line in lines[1:])
    assert " ".join(line.strip() for line in lines) == f'MODEL="{value}"'
    long = "/a --b" * 50
    assert setting_line("TEXT", long) == f'TEXT="{long}"\n' and setting_line("TEXT", "/a") == "TEXT=/a\n"


@pytest.mark.parametrize(
    "words, message",
    [
        (
            ["text/mytxt"],
            "there is no text/mytxt; give the folder of your text, a file .*[.]ods.*, or a config",
        ),
        (["configs/demo.conf", "zs_transformer", "--plan"], "--plan belongs to text of your own"),
        (["x.conf", "a", "--pattern", "p", "--languages", "en"], "--pattern, --languages belongs to text"),
        ([".", "--", "--lr", "1"], "needs a --name"),
    ],
)
def test_wrong_words_get_one_sentence(words, message):
    with pytest.raises(WrongUse, match=message):
        run(["train", *words])


@pytest.mark.parametrize("verb", ["train", "direct", "adapt"])
def test_a_run_in_the_place_of_text_is_refused(verb, tmp_path):
    (tmp_path / "run.json").write_text("{}")
    with pytest.raises(WrongUse, match="is the folder of a run; give the folder of your text, or a config"):
        run([verb, str(tmp_path), *["RUN"] * (verb == "adapt")])


def test_no_config_is_made_for_an_architecture_that_there_is_not(text, tmp_path, monkeypatch):
    monkeypatch.setenv("RUNS", str(tmp_path / "runs"))
    with pytest.raises(InputError, match="there is no architecture 'zs_transfromer'; did you mean zs_"):
        run(["train", str(text), "zs_transfromer", "--pattern", "talks.{pair}.{language}"])
    assert not (tmp_path / "runs").exists()


def test_keys_of_text_belong_to_text(tmp_path):
    config = tmp_path / "x.conf"
    for key in ("PATTERN=x", "HELD_OUT=3", "ALL_PAIRS=yes"):
        config.write_text(f'MULTIWAY=x\nLANGUAGES="en de"\n{key}\n')
        with pytest.raises(InputError, match=f"line 3, sets {key.split('=')[0]}, which belongs to TEXT"):
            read_config(config, {})
    missing = replace(EXAMPLE_CONFIG, text=str(tmp_path / "none"))
    with pytest.raises(InputError, match=f"TEXT={tmp_path}/none is not there; it must hold parallel text"):
        make_source(Steps("train"), Experiment(missing, config, tmp_path / "runs"))


EXAMPLE_CONFIG = read_config(ROOT / "configs" / "own.conf", {"ROOT": str(ROOT)})


@pytest.mark.slow
def test_from_files_to_a_translated_sentence(tmp_path):
    """Invented text under other names: planned, trained, gone on with, scored and translated."""
    invented, text, runs = tmp_path / "invented", tmp_path / "mine", tmp_path / "runs"
    made = run_command(
        "python",
        "-m",
        "zsnmt",
        "make-synthetic",
        invented,
        "--number",
        "2",
        "--concepts",
        "40",
        "--pairs",
        "300",
    )
    assert made.returncode == 0, made.stderr
    text.mkdir()
    for file in [*invented.glob("train.*"), *invented.glob("lexicon.*")]:
        file.rename(text / file.name.replace("train.", "talks."))
    zsnmt = ("python", "-m", "zsnmt")
    call = [*zsnmt, "train", text, "--pattern", "talks.{pair}.{language}", "--name", "quick"]
    plan = run_command(*call, "--languages", "inglan", "velan", "tamun", "--plan", runs=runs)
    assert plan.returncode == 0 and "The model has 5+2 layers of width 64" in plan.stderr, plan.stderr
    assert [path.name for path in runs.iterdir()] == ["mine.conf"]
    few = ["--", "--max-update", "4", "--log-interval", "2", "--no-save-optimizer-state"]
    done = run_command(*call, *few, runs=runs)
    assert done.returncode == 0, done.stderr
    assert re.search(r"quick, seed 1: epoch .*, \d+ words/s, at most \d+ (s|min) left\n", done.stderr)
    assert "quick, seed 1: the loss still fell when the training ended" in done.stderr
    again = run_command(*call, *few, runs=runs)
    assert again.returncode == 0 and again.stderr.count(": done before") == 5, again.stderr
    folder = runs / "mine" / "quick" / "seed1"
    call = f"zsnmt translate {folder} --from velan --to tamun --via inglan < lines.txt"
    assert f"to translate: {call}\n" in done.stderr
    assert f"zsnmt distill {runs / 'mine.conf'} {folder} --sides none\n" in done.stderr
    assert f"zsnmt distill {runs / 'mine.conf'} {folder}\n" in done.stderr
    by_config = run_command(
        *zsnmt, "train", runs / "mine.conf", "zs_transformer", "--name", "quick", *few, runs=runs
    )
    assert by_config.returncode == 0 and by_config.stderr.count(": done before") == 5, by_config.stderr
    words = (text / "talks.velan-inglan.velan").read_text().splitlines()[0]
    translated = run_command(
        *zsnmt, "translate", folder, "--from", "velan", "--to", "tamun", input=f"{words}\n"
    )
    assert translated.returncode == 0 and translated.stdout.count("\n") == 1, translated.stderr
    scored = run_command(*zsnmt, "evaluate", folder, "--identifier", "lexicon", "--beam", "1", runs=runs)
    assert scored.returncode == 0, scored.stderr
