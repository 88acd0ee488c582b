"""A trained run as an export: one folder that translates as the run does."""

import json
import shutil
import sys

import pytest
import torch

from tests.conftest import run_command
from zsnmt.decoding.methods.settings import parse_method
from zsnmt.decoding.options import EngineChoice
from zsnmt.decoding.search import Search
from zsnmt.errors import InputError
from zsnmt.files.checksums import sha256
from zsnmt.files.records import read_json
from zsnmt.inference.export import run as run_module
from zsnmt.inference.export.ctranslate2 import layers, specification
from zsnmt.inference.export.ctranslate2.check import EXACT
from zsnmt.inference.export.ctranslate2.engine import CTranslate2Engine
from zsnmt.inference.export.folder import describe_export, is_export
from zsnmt.inference.export.run import export_run
from zsnmt.inference.export.samples import samples
from zsnmt.inference.trained_run import load_run
from zsnmt.inference.translator import Translator
from zsnmt.languages import Direction
from zsnmt.runs.checkpoints import load_checkpoint
from zsnmt.runs.folder import describe_run, piece_counts
from zsnmt.text.lines import read_lines

pytest.importorskip("ctranslate2")


@pytest.fixture(scope="module")
def run(tiny):
    return tiny.run()


@pytest.fixture(scope="module")
def exported(run, tmp_path_factory):
    """An export in float32, and what was found of it."""
    return export_run(run, tmp_path_factory.mktemp("exported") / "float32")


def translated(engine: CTranslate2Engine, lines: list[str], source: str, target: str) -> list[str]:
    """Raw lines translated with an export alone."""
    sentences = [*engine.codec.sources(lines, Direction(source, target))]
    return [
        engine.codec.text(best.tokens, target)
        for batch in engine.translate([sentences])
        for best, *_ in batch
    ]


def test_an_export_without_its_record_is_told_from_a_run(tmp_path):
    (tmp_path / "model.bin").touch()
    with pytest.raises(
        InputError, match="export.json is missing, without which an export cannot be used; exp"
    ):
        Translator.open(tmp_path)


def test_it_agrees_with_the_run_and_says_so(run, exported):
    folder, agreements = exported
    record = json.loads((folder / "export.json").read_text())
    assert is_export(folder) and not is_export(run)
    assert agreements["float32"].largest < EXACT and agreements["float32"].equal > 0.9
    assert agreements["mask"].largest < EXACT and agreements["mask"].equal > 0.9
    figures = {name: agreement._asdict() for name, agreement in agreements.items()}
    assert record["check"] == {"sentences": 108, **figures}
    (checked_on,) = record["checked_on"]
    assert (
        checked_on["compute_type"] == "float32"
        and checked_on["ctranslate2"] == record["versions"]["ctranslate2"]
    )
    assert (
        len(read_json(folder / "check.json", "")["translations"]) == 108 and "check.json" in record["files"]
    )
    assert record["model"] == sha256(run / "model.pt") and record["quantization"] == "float32"
    assert (
        record["run"] == describe_run(run)
        and record["run"]["text"]
        and "updates" in record["run"]["training"]
    )
    assert record["languages"] == ["inglan", "velan", "tamun", "velor"] and record["language_tags"] == "t_dec"
    assert record["max_source_positions"] == 40 and "ctranslate2" in record["versions"]


def test_it_says_of_which_weights_it_is_though_the_run_gets_others_meanwhile(own_tiny, tmp_path, monkeypatch):
    model = own_tiny.run() / "model.pt"
    read = sha256(model)

    def replaced(*arguments, **options):
        state = load_checkpoint(model)
        for weight in state["model"].values():
            weight.mul_(2)
        torch.save(state, model)
        return samples(*arguments, **options)

    monkeypatch.setattr(run_module, "samples", replaced)
    folder, _ = export_run(own_tiny.run(), tmp_path / "export")
    assert describe_export(folder)["model"] == read != sha256(model)


def test_it_translates_as_the_run_does_wherever_it_is(tiny, run, exported, tmp_path):
    moved = shutil.copytree(exported[0], tmp_path / "elsewhere")
    engine = CTranslate2Engine(moved, Search(), workers=2)
    lines = read_lines(tiny.folder / "text" / "test.velan")
    for target in ("inglan", "tamun", "velor"):
        assert translated(engine, lines, "velan", target) == Translator.open(run).translate(
            lines, target, "velan"
        )


def test_it_translates_by_a_mask_as_the_run_does(tiny, run, exported):
    lines, method = read_lines(tiny.folder / "text" / "test.velan"), parse_method("mask:renormalise=yes")
    into = [Direction("velan", target) for target in ("tamun", "velor")]
    ours, theirs = (
        Translator.open(folder, Search(), EngineChoice(workers=1))
        .by(method, piece_counts(folder))
        .translate_into_with_scores(lines, into)
        for folder in (exported[0], run)
    )
    for direction in into:
        assert [each.text for each in ours[direction]] == [each.text for each in theirs[direction]]
        for one, other in zip(ours[direction], theirs[direction]):
            assert abs(one.log_probability - other.log_probability) < EXACT * max(one.tokens, 1)


def test_the_sentences_of_the_check_are_of_all_directions_and_fit(tiny, run):
    codec = load_run(run).codec
    chosen = samples(codec, tiny.folder / "text", 60, 40)
    assert len(chosen) == 60 and len({sample.sentence.start for sample in chosen}) == 4
    assert len({tuple(sample.reference) for sample in chosen}) == 5 * 4  # lines and languages
    everything = samples(codec, tiny.folder / "text", 200, 40)
    lengths = sorted(max(len(sample.sentence.source), len(sample.reference)) for sample in everything)
    assert len(everything) == 11 * 12 and lengths[0] < lengths[-1]
    assert len(samples(codec, tiny.folder / "text", 200, lengths[-1] - 1)) == sum(
        length < lengths[-1] for length in lengths
    )
    with pytest.raises(
        InputError,
        match="has 0 test sentences .* checked on 50 or more; name a folder of parallel text with --text",
    ):
        samples(codec, run, 60, 40)


def test_int8_is_as_near_as_a_stock_model(run, exported, tmp_path):
    folder, agreements = export_run(run, tmp_path / "int8", quantization="int8")
    assert [*agreements] == ["float32", "mask", "int8", "stock"]
    assert 0 < agreements["int8"].rms < 2 * agreements["stock"].rms
    assert (folder / "model.bin").stat().st_size < (exported[0] / "model.bin").stat().st_size
    assert sorted(path.name for path in tmp_path.iterdir()) == ["int8"]


def test_a_wrong_export_is_deleted(run, tmp_path, monkeypatch):
    monkeypatch.setattr(layers, "RemoveResidual", layers.Reader)  # which no residual is
    with pytest.raises(
        InputError, match="the export is deleted, since its log-probabilities differ from PyTorch's by up to"
    ):
        export_run(run, tmp_path / "wrong")
    assert not [*tmp_path.iterdir()]


def test_a_wrong_language_is_deleted(run, tmp_path, monkeypatch):
    joined_input = specification.joined_input

    def turned(*arguments, **options):
        joined = joined_input(*arguments, **options)
        return joined._replace(additions=joined.additions[::-1].copy())

    monkeypatch.setattr(specification, "joined_input", turned)
    with pytest.raises(InputError, match="the export is deleted"):
        export_run(run, tmp_path / "wrong", quantization="int8")
    assert not [*tmp_path.iterdir()]


def test_what_is_there_stays(run, tmp_path):
    (tmp_path / "mine").mkdir()
    with pytest.raises(InputError, match="mine is there already; remove it or give another folder"):
        export_run(run, tmp_path / "mine")
    assert not [*(tmp_path / "mine").iterdir()]
    assert export_run(run, tmp_path / "mine", replace=True)[0] == tmp_path / "mine" and is_export(
        tmp_path / "mine"
    )


def test_too_few_sentences_are_refused(run, tmp_path):
    with pytest.raises(InputError, match="--sentences is 49; an export is checked on 50 or more"):
        export_run(run, tmp_path / "export", sentences=49)


def test_without_the_library_nothing_is_written(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    with pytest.raises(InputError, match="CTranslate2 is not installed; run pip install ctranslate2=="):
        export_run(run, tmp_path / "export")
    assert not [*tmp_path.iterdir()]


def test_the_script_prints_the_folder_and_the_figures(run, tmp_path):
    done = run_command(
        "scripts/export.py", run, "--to", "ctranslate2", "--output", tmp_path / "export", "--sentences", "50"
    )
    folder, figures, by_mask = done.stdout.splitlines()
    assert done.returncode == 0 and folder == str(tmp_path / "export")
    assert (
        figures.startswith("float32: log-probabilities differ by up to")
        and "100.0% of the best translations are equal" in figures
        and by_mask.startswith("mask: log-probabilities differ by up to")
    )
    again = run_command("scripts/export.py", run, "--to", "ctranslate2", "--output", tmp_path / "export")
    assert (
        again.returncode == 1
        and again.stderr.splitlines()[-1].startswith("error: ")
        and "is there already" in again.stderr
    )
