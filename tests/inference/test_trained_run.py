"""A run that is opened is the run that was trained."""

import shutil
from pathlib import Path

import pytest
import torch

from tests.conftest import OLDER_RUN
from zsnmt.decoding.search import Search
from zsnmt.errors import InputError
from zsnmt.files.checksums import sha256
from zsnmt.files.records import read_json
from zsnmt.inference import trained_run
from zsnmt.inference.trained_run import load_run
from zsnmt.inference.translator import Translator
from zsnmt.runs.checkpoints import average_checkpoints, load_checkpoint
from zsnmt.runs.checksums import CHECKSUMS_FILE, renew_checksums

WEIGHT = "encoder.layers.1.fc1.weight"


@pytest.fixture
def run(older, tmp_path) -> Path:
    """As much of a run as a model needs, of a time when runs kept no checksums."""
    run = tmp_path / "run"
    shutil.copytree(older / OLDER_RUN / "pipeline", run / "pipeline")
    shutil.copyfile(older / OLDER_RUN / "model.pt", run / "model.pt")
    return run


@pytest.fixture
def recorded(run) -> Path:
    """The same as today's training leaves it."""
    average_checkpoints([run / "model.pt"], run / "model.pt")
    return run


def save(state: dict, model: Path) -> None:
    """Write another model of the run on purpose."""
    with renew_checksums(model):
        torch.save(state, model)


def flip(path: Path, place: int) -> None:
    """Change a bit of a file."""
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)


def in_weight(model: Path) -> int:
    """A place in the file that is within a weight."""
    weight = load_checkpoint(model)["model"][WEIGHT].numpy().tobytes()
    return model.read_bytes().index(weight) + len(weight) // 2


def test_a_training_leaves_checksums_of_what_the_run_is_made_of(recorded):
    kept = read_json(recorded / CHECKSUMS_FILE, "")
    files = [recorded / "model.pt", *(recorded / "pipeline").iterdir()]
    assert kept == {str(path.relative_to(recorded)): sha256(path) for path in files} and len(kept) == 8
    assert load_run(recorded).checksum == kept["model.pt"]


def test_a_run_is_opened_wherever_it_is_copied(recorded, tmp_path):
    copied = shutil.copytree(recorded, tmp_path / "copied", copy_function=shutil.copyfile)
    assert load_run(copied).checksum == load_run(recorded).checksum


def test_a_run_whose_folder_has_any_name_but_one_with_a_colon_is_opened(recorded, tmp_path):
    for name in ("two, words", "[1]*|?"):
        assert load_run(shutil.copytree(recorded, tmp_path / name)).checksum == load_run(recorded).checksum
    with pytest.raises(
        InputError, match="12:30 cannot be the folder of a run, for to fairseq a path ends at"
    ):
        load_run(shutil.copytree(recorded, tmp_path / "12:30"))


def test_checkpoints_that_are_averaged_anew_have_new_checksums(recorded):
    before = read_json(recorded / CHECKSUMS_FILE, "")
    other = recorded / "other.pt"
    state = load_checkpoint(recorded / "model.pt")
    state["model"][WEIGHT] += 1
    torch.save(state, other)
    average_checkpoints([recorded / "model.pt", other], recorded / "model.pt")
    now = read_json(recorded / CHECKSUMS_FILE, "")
    assert {name for name in now if now[name] != before[name]} == {"model.pt"}
    assert load_run(recorded).checksum == now["model.pt"]


def test_an_average_elsewhere_has_none(run, tmp_path):
    for output in (run / "average.pt", tmp_path / "model.pt"):
        average_checkpoints([run / "model.pt"], output)
    assert not [*tmp_path.rglob(CHECKSUMS_FILE)]


@pytest.mark.parametrize(
    "name",
    ["pipeline.json", "subwords.model", "languages.txt", "dict.inglan.txt", "dict.velor.txt"],
)
def test_a_file_of_the_pipeline_that_changed_or_is_gone_is_named(recorded, name):
    path = recorded / "pipeline" / name
    flip(path, path.stat().st_size // 2)
    with pytest.raises(InputError, match=f"pipeline/{name} is damaged, or another: .*; copy it again from"):
        load_run(recorded)
    path.unlink()
    with pytest.raises(InputError, match=f"pipeline/{name} is missing; copy it again from where the run"):
        load_run(recorded)


@pytest.mark.parametrize("has_checksums", [True, False])
@pytest.mark.parametrize("damage", ["flipped", "appended", "doubled"])
def test_a_damaged_model_is_refused_though_pytorch_takes_it(run, has_checksums, damage):
    model = run / "model.pt"
    if has_checksums:
        average_checkpoints([model], model)
    whole = model.read_bytes()
    if damage == "flipped":
        flip(model, in_weight(model))
    else:
        model.write_bytes(whole + (whole if damage == "doubled" else b"more"))
    torch.load(model)
    with pytest.raises(InputError, match="model.pt is damaged"):
        load_run(run)


def test_the_model_of_another_run_is_refused_unless_it_is_there_on_purpose(recorded):
    state = load_checkpoint(recorded / "model.pt")
    state["model"][WEIGHT] += 1
    torch.save(state, recorded / "model.pt")
    with pytest.raises(
        InputError,
        match=f"model.pt is damaged, or another: .*if you changed it on purpose, remove {CHECKSUMS_FILE}",
    ):
        load_run(recorded)
    (recorded / CHECKSUMS_FILE).unlink()
    assert load_run(recorded).checksum == sha256(recorded / "model.pt")


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_weights_that_are_not_finite_are_refused_always(run, number):
    state = load_checkpoint(run / "model.pt")
    state["model"][WEIGHT][1, 2] = number
    torch.save(state, run / "model.pt")
    for load in (
        lambda: load_run(run),
        lambda: load_checkpoint(run / "model.pt"),
        lambda: average_checkpoints([run / "model.pt"], run / "model.pt"),
    ):
        with pytest.raises(
            InputError, match=f"model.pt holds numbers that are not finite, in {WEIGHT}: .*--lr"
        ):
            load()


def test_large_weights_are_finite(run):
    state = load_checkpoint(run / "model.pt")
    state["model"][WEIGHT].fill_(torch.finfo(torch.float32).max)
    torch.save(state, run / "model.pt")
    assert torch.equal(load_run(run).model.state_dict()[WEIGHT], state["model"][WEIGHT])


def test_a_lost_pipeline_is_subwords_alone_only_where_there_were_no_pipelines(run):
    (run / "pipeline/pipeline.json").unlink()
    with pytest.raises(InputError, match="pipeline.json is missing; copy it from the data folder of the run"):
        load_run(run)
    state = load_checkpoint(run / "model.pt")
    for name in ("valid_bleu_lines", "length_penalty_form"):  # younger than pipelines
        delattr(state["cfg"]["task"], name)
    save(state, run / "model.pt")
    assert load_run(run).codec.pipeline.decode(["▁Ba", "▁nit", "."], "velan") == "Ba nit."
    (run / CHECKSUMS_FILE).unlink()
    assert load_run(run).codec.pipeline.decode(["▁Ba", "▁nit", "."], "velan") == "Ba nit."


def test_a_model_that_is_replaced_while_it_is_read_is_refused(recorded, monkeypatch):
    load_state = trained_run.load_state

    def load(path, overrides):
        state = load_state(path, overrides)
        save(load_checkpoint(path), path)
        return state

    monkeypatch.setattr(trained_run, "load_state", load)
    with pytest.raises(
        InputError, match="model.pt was replaced while it was read; run the same command again"
    ):
        Translator.open(recorded, Search(beam=2))


def test_what_is_wrong_with_a_pipeline_is_not_said_of_the_model(run):
    dictionary = run / "pipeline/dict.inglan.txt"
    content = dictionary.read_text()
    for path in (run / "pipeline").glob("dict.*"):
        path.write_text(content + "no number\n")
    with pytest.raises(InputError, match="dict.inglan.txt is not a dictionary"):
        load_run(run)
    for path in (run / "pipeline").glob("dict.*"):
        path.write_text(content + "more 1\n")
    with pytest.raises(
        InputError, match="the dictionary of .* is not the one the checkpoint was trained with"
    ):
        load_run(run)
    dictionary.unlink()
    with pytest.raises(InputError, match="dict.inglan.txt is missing: a folder has one dictionary"):
        load_run(run)


def test_what_fairseq_cannot_make_a_model_of_is_said_in_one_sentence(run, monkeypatch):
    def fail(*arguments, **options):
        raise RuntimeError("size mismatch for\n  decoder.embed_tokens.weight")

    monkeypatch.setattr(trained_run.checkpoint_utils, "load_model_ensemble_and_task", fail)
    message = "model.pt and .*pipeline do not make a model: .*size mismatch for decoder.*; copy both again"
    with pytest.raises(InputError, match=message):
        load_run(run)


@pytest.mark.parametrize("content", ["{", "[]", '{"model.pt": 1}'])
def test_damaged_checksums_are_named(recorded, content):
    (recorded / CHECKSUMS_FILE).write_text(content)
    with pytest.raises(
        InputError, match=f"{CHECKSUMS_FILE} (is damaged|does not hold checksums).* without it"
    ):
        load_run(recorded)
