"""The command `zsnmt`: every verb explains itself at once, and says in one sentence what it cannot read."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, run_command
from zsnmt import cli
from zsnmt.cli.common.argument_types import output_file
from zsnmt.console import WrongUse
from zsnmt.errors import InputError

HEAVY = (
    "torch",
    "fairseq",
    "sklearn",
    "scipy",
    "matplotlib",
    "sacrebleu",
    "sacremoses",
    "sentencepiece",
    "py3langid",
)
FILES = {
    path.stem
    for path in Path(cli.__file__).parent.glob("*.py")
    if "\ndef main(" in path.read_text(encoding="utf-8")
} - {"__init__"}
BY_FILE = {verb: verb.replace("-", "_") for verb in cli.VERBS}
DOORS = sorted(
    path
    for path in (ROOT / "scripts").glob("*.py")
    if "from zsnmt.cli import" in path.read_text(encoding="utf-8")
)


def help_of_all(verbs: list[str]) -> dict[str, tuple[str, list[str]]]:
    """What `--help` of each verb prints and which heavy packages it loads, each in a process of its own."""
    program = f"""
import contextlib, io, os, sys
from zsnmt.cli import main
for verb in {verbs!r}:
    if child := os.fork():
        os.waitpid(child, 0)
        continue
    with contextlib.redirect_stdout(io.StringIO()) as shown, contextlib.suppress(SystemExit):
        main([verb, "--help"] if verb else ["--help"])
    loaded = [name for name in {HEAVY!r} if name in sys.modules]
    print(repr((verb, shown.getvalue(), loaded)), flush=True)
    os._exit(0)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return {verb: (shown, loaded) for verb, shown, loaded in map(ast.literal_eval, done.stdout.splitlines())}


@pytest.mark.parametrize("name", ["", "folder"])
@pytest.mark.parametrize(
    "words",
    [
        ("translate", "RUN", "--to", "de", "--output"),
        ("report", "RUN", "--output"),
        ("evaluate", "RUN", "--output"),
        ("evaluate", "RUN", "--report"),
        ("round-trip", "text", "--languages", "de", "--output"),
        ("benchmark", "translation", "RUN", "--output"),
        ("check-overlap", "text", "--languages", "en", "de", "--list"),
        ("probe-similarity", "states"),
        ("probe-figures", "states"),
        ("probe-classifiers", "states"),
    ],
    ids=lambda words: " ".join((words[0], words[-1])),
)
def test_a_folder_is_refused_as_a_file_to_write_before_anything_is_done(words, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    with pytest.raises(
        WrongUse, match=f"{name or '.'} is a folder; name a file to write; see zsnmt {words[0]}"
    ):
        cli.run([*words, name])
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


@pytest.mark.parametrize(
    "words, kept",
    [
        ("evaluate RUN --split=valid --output", "scores.json"),
        ("evaluate RUN --lines=2 --output", "run.json"),
        ("confidence RUN --lines=2 --output", "confidence.json"),
        ("translate RUN --to fr --output", "model.pt"),
        ("report RUN --output", "train.log"),
    ],
)
def test_no_output_takes_the_place_of_what_a_run_keeps_for_itself(words, kept, tmp_path):
    for name in ("run.json", kept):
        (tmp_path / name).write_text("mine")
    with pytest.raises(WrongUse, match=f"{kept} is a file that .* keeps for itself; name another"):
        cli.run([*words.replace("RUN", str(tmp_path)).split(), str(tmp_path / kept)])
    assert (tmp_path / kept).read_text() == "mine"


def test_another_file_in_a_run_and_a_file_of_such_a_name_elsewhere_may_be_written(tmp_path):
    assert output_file(str(tmp_path / "scores.json")) == tmp_path / "scores.json"
    (tmp_path / "run.json").touch()
    assert output_file(str(tmp_path / "report.html")) == tmp_path / "report.html"


@pytest.fixture(scope="module")
def shown() -> dict[str, tuple[str, list[str]]]:
    return help_of_all(["", *cli.VERBS])


def test_every_file_is_a_verb_and_every_verb_is_listed_once(shown):
    assert {*BY_FILE.values()} == FILES
    assert sum(map(len, cli.GROUPS.values())) == len(cli.VERBS)
    assert re.findall(r"^  ([a-z-]+)  +[a-z1]", shown[""][0], re.MULTILINE) == [*cli.VERBS]


@pytest.mark.parametrize("verb", ["", *cli.VERBS])
def test_help_loads_nothing_heavy_and_fits_a_terminal(verb, shown):
    text, loaded = shown[verb]
    assert not loaded
    assert text.startswith(f"usage: zsnmt {verb or 'VERB'} ") and len(text.splitlines()) > 5
    assert max(map(len, text.splitlines())) <= 130


def test_help_says_every_default(shown):
    for option, default in (("--vocabulary-size", "8000"), ("--seed", "1"), ("--tokenisation", "raw")):
        explained = re.search(rf"^  {option}\b.*?(?=^  --|\Z)", shown["prepare"][0], re.MULTILINE | re.DOTALL)
        assert f"(default: {default})" in " ".join(explained.group().split())
    assert shown["prepare"][0].count("(default: None)") == shown["prepare"][0].count("(default: False)") == 0


def test_a_verb_that_goes_on_after_a_stop_says_so_in_its_help_and_when_it_is_stopped(shown):
    says_so = [verb for verb in cli.VERBS if "go on after a stop" in " ".join(shown[verb][0].split())]
    assert {*says_so} == {*cli.RESUMED}


@pytest.mark.parametrize("option", ["--lines", "--random-lines"])
def test_states_of_fewer_lines_than_one_are_refused(option):
    with pytest.raises(WrongUse, match=f"argument {option}: '-3' is not a whole number above 0"):
        cli.run(["probe-states", "RUN", "states", f"{option}=-3"])


@pytest.mark.parametrize("seed", [-1, 2**32])
@pytest.mark.parametrize(
    "words",
    [
        ("train", "configs/demo.conf", "--seeds"),
        ("adapt", "configs/demo.conf", "RUN", "--seed"),
        ("distill", "configs/demo.conf", "RUN", "--seed"),
        ("prepare", "text", "folder", "--languages", "de", "en", "--seed"),
        ("cut-multiway", "text", "folder", "--condition", "multiway", "--languages", "de", "en", "--seed"),
        ("check-overlap", "text", "--languages", "de", "en", "--seed"),
        ("galactic", "apply", "trees", "--order", "fi", "--own", "en", "--output", "out", "--seed"),
        ("probe-states", "RUN", "states", "--seed"),
        ("probe-similarity", "states", "similarity.tsv", "--seed"),
        ("probe-classifiers", "states", "probes.tsv", "--seed"),
        ("report", "RUN", "--output", "report.html", "--seed"),
    ],
    ids=lambda words: words[0],
)
def test_a_seed_that_some_generator_of_random_numbers_does_not_take_is_refused_at_once(words, seed):
    *others, option = words
    with pytest.raises(
        WrongUse, match=f"argument {option}: '{seed}' is not a (whole number, 0 or|seed; give)"
    ):
        cli.run([*others, f"{option}={seed}"])


@pytest.mark.parametrize("words", [["ablate", "query"], ["direct"], ["slurm", "zs_transformer"], ["train"]])
def test_a_seed_that_is_named_twice_is_refused_at_once(words):
    """Two runs in one place, of which the second would have nothing to do, or wait for the first."""
    verb, *named = words
    with pytest.raises(WrongUse, match=r"--seeds: 2 is there twice; name each once; see zsnmt"):
        cli.run([verb, "configs/demo.conf", *named, "--seeds", "2", "1", "2"])


@pytest.mark.parametrize(
    "words, fault",
    [
        (
            "prepare-bert DATA --train train --valid valid --shift-specials",
            "--shift-specials is of the fake language",
        ),
        *(
            (f"ablate configs/demo.conf query --train-only {option}", "are of scores, and --train-only makes")
            for option in ("--report FILE", "--comet")
        ),
        ("probe-states FOLDER states --data DATA", "--data belongs to a checkpoint of fairseq's"),
        ("probe-states FILE states --data DATA --text TEXT --target de", "--target belongs to a run folder"),
        (
            "probe-states FILE states --data DATA --text TEXT --checkpoint a.pt",
            "--checkpoint belongs to a run folder",
        ),
    ],
)
def test_an_option_that_nothing_would_read_is_refused(words, fault, tmp_path):
    (tmp_path / "file").touch()
    places = {"FOLDER": str(tmp_path), "FILE": str(tmp_path / "file")}
    with pytest.raises(WrongUse, match=fault):
        cli.run([places.get(word, word) for word in words.split()])


def test_a_report_of_text_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(InputError, match="nowhere is not a folder; name the one of the test set by --text"):
        cli.run(["report", "RUN", "--output", str(tmp_path / "report.html"), "--text", "nowhere"])


def test_an_unknown_verb_is_one_sentence_with_the_nearest_name():
    with pytest.raises(
        WrongUse, match="^there is no verb 'trian'; did you mean train[?] zsnmt --help lists all$"
    ):
        cli.run(["trian"])
    with pytest.raises(WrongUse, match="^there is no verb '--sing'; zsnmt --help lists all$"):
        cli.run(["--sing"])


def test_wrong_options_are_one_sentence_and_status_2():
    done = run_command("python", "-m", "zsnmt", "check", "--show", "5")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: the following arguments are required: path; see zsnmt check --help\n"


def test_a_fault_in_what_is_read_is_one_sentence_and_status_1(tmp_path):
    done = run_command("python", "-m", "zsnmt", "check", tmp_path, "--pairs", "de-en", "--splits", "train")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert done.stderr.startswith("error: ") and str(tmp_path) in done.stderr


@pytest.mark.parametrize("door", DOORS, ids=lambda path: path.stem)
def test_a_script_opens_the_verb_that_it_names(door):
    text = door.read_text(encoding="utf-8")
    verb = re.search(r'"""The same as `zsnmt ([a-z-]+)`."""', text).group(1)
    assert verb in cli.VERBS and f'main(["{verb}", *sys.argv[1:]])' in text and len(text.splitlines()) < 10


@pytest.fixture(scope="module")
def text(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "text"
    cli.run(["make-synthetic", str(folder), "--number", "2", "--pairs", "9", "--valid", "2", "--test", "2"])
    return folder


@pytest.mark.parametrize(
    "script, options",
    [
        ("make_synthetic", ["OUT", "--number", "2", "--pairs", "9", "--valid", "2", "--test", "2"]),
        ("check_parallel_text", ["TEXT", "--pairs", "velan-inglan,tamun-inglan"]),
        (
            "check_overlap",
            ["TEXT", "--languages", "inglan", "velan", "tamun", "--remove-to", "OUT", "--pairs", "5"],
        ),
        ("galactic", ["text", "TREES", "--output", "OUT/train"]),
    ],
)
def test_a_script_does_what_its_verb_does(script, options, text, tmp_path, capsys):
    trees = tmp_path / "trees.conllu"
    trees.write_text("1\tso\tso\tNOUN\t_\t_\t0\troot\t_\t_\n\n")
    door = ROOT / f"scripts/{script}.py"
    verb = re.search(r"zsnmt ([a-z-]+)", door.read_text(encoding="utf-8")).group(1)
    made, printed = [], []
    for folder, run in (
        (tmp_path / "by_script", lambda *words: run_command(door, *words)),
        (tmp_path / "by_verb", lambda *words: cli.run([verb, *words])),
    ):
        places = {"TEXT": text, "TREES": trees, "OUT": folder / "new", "OUT/train": folder / "new" / "train"}
        folder.mkdir()
        capsys.readouterr()
        done = run(*(str(places.get(word, word)) for word in options))
        assert done is None or done.returncode == 0, done.stderr
        printed.append(done.stdout if done else capsys.readouterr().out)
        made.append({path.name: path.read_bytes() for path in (folder / "new").rglob("*")})
    assert made[0] == made[1] and printed[0] == printed[1] != ""


def test_cut_multiway_cuts_pairs(text, tmp_path, capsys):
    languages = ["inglan", "velan", "tamun"]
    for split, language in (
        (split, language) for split in ("train", "valid", "test") for language in languages
    ):
        (tmp_path / f"{split}.{language}").write_text(
            "".join(f"{language} {number}\n" for number in range(6))
        )
    cli.run(
        [
            "cut-multiway",
            str(tmp_path),
            str(tmp_path / "cut"),
            "--languages",
            *languages,
            "--condition",
            "multiway",
        ]
    )
    assert len(capsys.readouterr().out.splitlines()) == 2
    assert (tmp_path / "cut" / "train.velan-inglan.velan").is_file()


@pytest.mark.parametrize(
    "words",
    [
        ("check-overlap", "text", "--languages", "en", "de"),
        ("clean", "text", "clean", "--languages", "en", "de"),
        ("prepare", "text", "data", "--languages", "en", "de"),
    ],
)
def test_verbs_of_zsnmts_own_form_pass_over_no_set_that_has_another_name(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text").mkdir()
    for split in ("train", "dev"):
        for language in ("de", "en"):
            (tmp_path / "text" / f"{split}.de-en.{language}").write_text("one\n")
    with pytest.raises(InputError, match="text has sets named dev .*; name sets valid and test"):
        cli.run(words)
    assert [path.name for path in tmp_path.iterdir()] == ["text"]
