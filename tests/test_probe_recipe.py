"""The recipe of the probes on a tiny run: what it leaves, how it goes on, what it refuses."""

import csv
import json
import shlex
import shutil
from itertools import product
from pathlib import Path

import pytest

from tests.conftest import run_command
from zsnmt.analysis.state_folder import LABELS
from zsnmt.probing.settings import Probing

TABLES = ["classifiers.confusion.tsv", "classifiers.tsv", "similarity.tsv", "layer_figures.tsv"]
PRINTED = ["classifiers.txt", "similarity.txt", "layer_figures.txt"]
VARIANCE = ["--variance", "0.5"]
OPTIONS = ["--train-lines", "40", "--kind", "exact", "--labels", "language position", "--seed", "3"]
LAYERS = ["0", "1", "2", "3", "final"]


@pytest.fixture(scope="module")
def run(tiny, tmp_path_factory) -> Path:
    """A copy of the run, with probes from earlier."""
    run = shutil.copytree(tiny.run(), tmp_path_factory.mktemp("probed") / "seed1")
    (run / "probes").mkdir()
    (run / "probes" / "record.json").write_text("earlier")
    return run


@pytest.fixture(scope="module")
def failed(run):
    """What the recipe says where SVCCA is not possible, and the record that is there then."""
    return run_command("recipes/probe.sh", run, *OPTIONS), (run / "probes" / "record.json").read_text()


@pytest.fixture(scope="module")
def done(run, failed):
    """The same call with a remedy."""
    done = run_command("recipes/probe.sh", run, *VARIANCE, *OPTIONS)
    assert done.returncode == 0, done.stderr
    return done


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return [*csv.DictReader(file, delimiter="\t")]


def test_a_failure_keeps_earlier_probes_and_the_next_call_goes_on(failed, done):
    stopped, record = failed
    assert stopped.returncode != 0 and "Traceback" not in stopped.stderr
    assert "error: layer 0: 11 sentences are too few for SVCCA" in stopped.stderr
    assert "the same command goes on from it once that is mended" in stopped.stderr and record == "earlier"
    before = [f"{name}: done before" in done.stderr for name in ("states", "training_states", "similarity")]
    assert before == [True, True, False]


def test_tables_and_their_record_are_left_and_nothing_else(run, done):
    assert sorted(path.name for path in (run / "probes").iterdir()) == sorted(
        [*TABLES, *PRINTED, "record.json"]
    )
    assert not [*run.glob("probes.*")]
    made, record = (
        json.loads(path.read_text()) for path in (run / "run.json", run / "probes" / "record.json")
    )
    assert all(record[key] == made[key] for key in ("config", "system", "seed"))
    assert (record["layers"], record["removed_layers"], record["dimension"]) == (LAYERS, [2], 16)
    assert (record["split"], record["sentences"], record["train_lines"]) == ("test", 11, 40)
    assert (record["kind"], record["variance"], record["probe_seed"]) == ("exact", 0.5, 3)
    chosen = [
        "--train-lines",
        "40",
        "--kind",
        "exact",
        "--labels",
        "language position",
        *VARIANCE,
        "--seed",
        "3",
    ]
    assert record["command"] == shlex.join(["bash", "recipes/probe.sh", str(run), *chosen])
    assert record["text"] != record["training_text"] and len(record["model"]) == 64
    assert record["commit"] and record["versions"]["torch"]


def test_the_tables_have_every_layer(run, done):
    languages = json.loads((run / "probes" / "record.json").read_text())["languages"]
    confusion, classifiers, similarity, figures = (rows(run / "probes" / name) for name in TABLES)
    assert [(row["layer"], row["language"]) for row in confusion] == [*product(LAYERS, languages)]
    assert [(row["layer"], row["label"]) for row in classifiers] == [
        *product(LAYERS, ["language", "position"])
    ]
    assert [row["layer"] for row in similarity] == [
        layer for layer in LAYERS for _ in range(6)
    ]  # pairs of four languages
    assert {(row["sentences"], row["dimensions"]) for row in similarity} == {("11", "16")}
    assert [row["layer"] for row in figures] == LAYERS
    assert all(-1 < float(row[f"{label}_variance"]) < 1 for row in figures for label in LABELS)
    # Layer 0 is piece and position alone, and a piece is a word of one language.
    assert float(figures[0]["token_variance"]) > float(figures[0]["language_variance"]) > 0


def test_a_second_call_prints_and_does_nothing(run, done):
    before = {path: path.stat().st_mtime_ns for path in (run / "probes").iterdir()}
    again = run_command("recipes/probe.sh", run, *VARIANCE, *OPTIONS)
    assert again.returncode == 0 and "probe: done before" in again.stderr
    assert before == {path: path.stat().st_mtime_ns for path in (run / "probes").iterdir()}
    assert again.stdout == done.stdout and all(
        (run / "probes" / name).read_text() in done.stdout for name in PRINTED
    )
    assert f"zsnmt report {run} --output report.html" in again.stderr


@pytest.mark.parametrize(
    "arguments, message",
    [
        ([], "the following arguments are required: RUN; see zsnmt probe --help"),
        (["runs", "--sead", "3"], "unrecognized arguments: --sead"),
        (["runs", "--lines"], "argument --lines: expected one argument"),
        (["runs", "--train-lines", "many"], "argument --train-lines: 'many' is not a whole number above 0"),
        (["runs", "--kind", "linear"], "invalid choice: 'linear' (choose from"),
        (
            ["runs", "--labels", "language word"],
            "argument --labels: 'language word' is not among token, position, language",
        ),
        (["runs/none"], "there is no folder runs/none; give a run, made by"),
    ],
)
def test_a_wrong_call_gets_one_sentence(arguments, message):
    stopped = run_command("recipes/probe.sh", *arguments)
    assert stopped.returncode != 0 and message in stopped.stderr and stopped.stderr.count("\n") == 1


def test_a_run_without_model_or_text_gets_one_sentence(tiny, tmp_path):
    run, text = tmp_path / "seed1", tmp_path / "moved"
    run.mkdir()
    record = json.loads((tiny.run() / "run.json").read_text())
    (run / "run.json").write_text(json.dumps({**record, "text": str(text)}))
    stopped = run_command("recipes/probe.sh", run)
    assert stopped.returncode != 0 and f"{run} has no model.pt" in stopped.stderr
    (run / "model.pt").touch()
    stopped = run_command("recipes/probe.sh", run)
    assert stopped.returncode != 0 and f"{text}, the text of {run}, is not there any more" in stopped.stderr
    assert sorted(path.name for path in run.iterdir()) == ["model.pt", "run.json"]


# Text in pairs


@pytest.fixture(scope="module")
def in_pairs(tiny, tmp_path_factory) -> Path:
    """A copy of the run whose test files are of pairs, which have few sentences in common."""
    base = tmp_path_factory.mktemp("in_pairs")
    run, text = shutil.copytree(tiny.run(), base / "seed1"), base / "text"
    record = json.loads((run / "run.json").read_text())
    shutil.copytree(record["text"], text)
    pivot, *others = (run / "pipeline" / "languages.txt").read_text().split()
    lines = {language: (text / f"test.{language}").read_text().splitlines() for language in (pivot, *others)}
    for place, language in enumerate(others):
        for side in (language, pivot):
            kept = [line for number, line in enumerate(lines[side]) if number != place]
            (text / f"test.{language}-{pivot}.{side}").write_text("".join(f"{line}\n" for line in kept))
    for language in lines:
        (text / f"test.{language}").unlink()
    (run / "run.json").write_text(json.dumps(record | {"text": str(text)}))
    return run


def record_of(run: Path) -> dict:
    return json.loads((run / "probes" / "record.json").read_text())


def test_pairs_are_probed_by_the_sentences_they_have_in_common_and_by_their_own(in_pairs):
    done = run_command("recipes/probe.sh", in_pairs, *VARIANCE, *OPTIONS)
    assert done.returncode == 0, done.stderr
    pivot, *others = (in_pairs / "pipeline" / "languages.txt").read_text().split()
    assert f"8 sentences are common to {pivot}, {', '.join(others)}" in done.stderr
    assert {row["sentences"] for row in rows(in_pairs / "probes" / "similarity.tsv")} == {"8"}
    record = record_of(in_pairs)
    assert (record["sentences"], record["held_out_lines"]) == (8, {pivot: 11, **dict.fromkeys(others, 10)})
    assert record["held_out_text"] != record["text"]


def test_too_few_sentences_in_common_stop_similarity_and_not_the_classifiers(in_pairs):
    stopped = run_command("recipes/probe.sh", in_pairs, *OPTIONS, "--variance", "0.98")
    assert stopped.returncode != 0 and "8 sentences are too few for SVCCA" in stopped.stderr
    assert "or probe without similarity, by --classifiers-only" in stopped.stderr
    done = run_command("recipes/probe.sh", in_pairs, *OPTIONS, "--classifiers-only")
    assert done.returncode == 0, done.stderr
    assert "similarity.tsv" not in {path.name for path in (in_pairs / "probes").iterdir()}
    assert [row["layer"] for row in rows(in_pairs / "probes" / "layer_figures.tsv")] == LAYERS
    assert "Variance by position" in done.stdout and "Variance by position" not in stopped.stdout
    assert [row["layer"] for row in rows(in_pairs / "probes" / "classifiers.tsv")][::2] == LAYERS
    assert record_of(in_pairs)["command"].endswith("--classifiers-only")


def test_some_languages_alone_are_probed_by_classifiers_that_learn_while_the_encoder_runs(in_pairs):
    _, *others = (in_pairs / "pipeline" / "languages.txt").read_text().split()
    live = ["--training-states", "live", "--train-lines", "20", "--labels", "language"]
    done = run_command("recipes/probe.sh", in_pairs, *VARIANCE, *live, "--languages", " ".join(others))
    assert done.returncode == 0, done.stderr
    record = record_of(in_pairs)
    assert (record["languages"], record["batches"], record["train_lines"]) == (others, "sentences", 20)
    confusion = rows(in_pairs / "probes" / "classifiers.confusion.tsv")
    assert [row["language"] for row in confusion[: len(others)]] == others
    assert len(rows(in_pairs / "probes" / "layer_figures.tsv")) == len(LAYERS)  # of the stored translations
    done = run_command("recipes/probe.sh", in_pairs, *live, "--classifiers-only")
    assert done.returncode == 0 and "layer_figures: left out, since no states are stored" in done.stderr
    assert not {"layer_figures.tsv", "layer_figures.txt"} & {p.name for p in (in_pairs / "probes").iterdir()}
    stopped = run_command("recipes/probe.sh", in_pairs, "--languages", "xx")
    assert stopped.returncode != 0 and "unknown language 'xx': this model knows" in stopped.stderr
    stopped = run_command("recipes/probe.sh", in_pairs, "--kind", "exact", "--training-states", "live")
    assert stopped.returncode != 0 and "an exact fit needs all states at once" in stopped.stderr


@pytest.mark.parametrize(
    "settings, live",
    [
        ({}, False),
        ({"train_lines": 5000}, False),
        ({"train_lines": 5001}, True),
        ({"train_lines": None}, True),
        ({"train_lines": None, "kind": "exact"}, False),
        ({"train_lines": None, "training_states": "stored"}, False),
        ({"training_states": "live"}, True),
    ],
)
def test_large_text_is_not_stored(settings, live):
    assert Probing(**settings).live == live


def test_the_command_says_what_is_not_the_default():
    probing = Probing(train_lines=None, languages=("de", "it"), classifiers_only=True)
    assert probing.options() == ["--train-lines", "all", "--languages", "de it", "--classifiers-only"]
