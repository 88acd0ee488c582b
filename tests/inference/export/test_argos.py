"""Packages for Argos Translate, read as it reads them."""

import json
import shutil
import zipfile

import ctranslate2
import pytest
from sentencepiece import SentencePieceProcessor

from tests.conftest import LANGUAGES as TOY_LANGUAGES
from tests.conftest import OLDER_RUN, make_dictionary, run_command
from tests.support.exports import export, random_model
from zsnmt.decoding.options import INT8
from zsnmt.decoding.search import Search
from zsnmt.errors import InputError
from zsnmt.files.records import read_json, write_json
from zsnmt.inference.export import argos
from zsnmt.inference.export.argos import BEAM, LENGTH_PENALTY, check_packable, check_packages, export_packages
from zsnmt.inference.export.ctranslate2.models import model_for
from zsnmt.inference.export.folder import codec, read_export
from zsnmt.inference.translator import Translator
from zsnmt.languages import Direction
from zsnmt.text.lines import read_lines

LANGUAGES = ("inglan", "velan", "tamun", "velor")
WAY = Direction("velan", "tamun")


@pytest.fixture(scope="module")
def run(tiny, tmp_path_factory):
    copy = tmp_path_factory.mktemp("argos") / "run"
    shutil.copytree(tiny.run(), copy, ignore=shutil.ignore_patterns("checkpoints", "hypotheses"))
    return copy


@pytest.fixture(scope="module")
def packages(run):
    return export_packages(run, quantization=INT8, sentences=60)


def installed(package, folder):
    """A package as Argos Translate unpacks it: its one folder."""
    with zipfile.ZipFile(package) as packed:
        packed.extractall(folder)
    (top,) = folder.iterdir()
    return top


class Letters:
    """Cuts text in another way."""

    def __init__(self, model_file):
        pass

    def encode(self, line, out_type):
        return [*line]


def test_there_is_a_package_for_each_direction(packages, run):
    names = {package.name for package in packages}
    assert names == {
        f"translate-{one}_{other}-1_0.argosmodel" for one in LANGUAGES for other in LANGUAGES if one != other
    }
    assert {package.parent for package in packages} == {run / "argos-int8"}


def test_argos_translate_gets_what_the_toolkit_translates(packages, run, tiny, tmp_path):
    package = next(package for package in packages if f"{WAY.source}_{WAY.target}" in package.name)
    top = installed(package, tmp_path)
    metadata = json.loads((top / "metadata.json").read_text())
    assert (metadata["from_code"], metadata["to_code"], metadata["type"]) == (*WAY, "translate")
    assert "without training text" in (top / "README.md").read_text()
    lines = read_lines(tiny.folder / "text" / "test.velan")
    # What argostranslate.translate.apply_packaged_translation does of each sentence.
    processor = SentencePieceProcessor(model_file=str(top / "sentencepiece.model"))
    results = ctranslate2.Translator(str(top / "model")).translate_batch(
        [processor.encode(line, out_type=str) for line in lines],
        target_prefix=[[metadata["target_prefix"]]] * len(lines),
        replace_unknowns=True,
        beam_size=4,
        num_hypotheses=4,
        length_penalty=0.2,
        return_scores=True,
    )
    translations = [processor.decode_pieces(result.hypotheses[0]) for result in results]
    assert (BEAM, LENGTH_PENALTY) == (4, 0.2)
    translator = Translator.open(run / "ctranslate2-int8", Search(4, 0.2))
    expected = translator.translate(lines, WAY.target, WAY.source)
    same = sum(one.strip() == other for one, other in zip(translations, expected, strict=True))
    assert same >= len(lines) - 1  # the toolkit also keeps tags from being written


def test_directions_can_be_chosen_and_unknown_ones_are_refused(run, tmp_path):
    printed = run_command(
        *("scripts/export.py", run, "--to", "argos", "--quantization", "int8", "--sentences", "60"),
        *("--output", tmp_path / "some", "--directions", "velan-tamun"),
    )
    assert printed.returncode == 0, printed.stderr
    assert [path.name for path in (tmp_path / "some").iterdir()] == ["translate-velan_tamun-1_0.argosmodel"]
    refused = run_command("scripts/export.py", run, "--to", "argos", "--directions", "velan-xx")
    assert refused.returncode == 1 and "does not translate velan-xx" in refused.stderr
    misplaced = run_command("scripts/export.py", run, "--to", "ctranslate2", "--directions", "velan-tamun")
    assert misplaced.returncode == 2 and "--directions is of --to argos" in misplaced.stderr


@pytest.mark.parametrize(
    "options, message",
    [
        (dict(sentences=0), "--sentences is 0; an export is checked on 50 or more"),
        (dict(quantization="bfloat16"), "bfloat16 is not offered for --to argos: choose float32 or int8"),
    ],
)
def test_what_packages_do_not_have_is_refused_before_anything_is_read(tmp_path, options, message):
    with pytest.raises(InputError, match=message):
        export_packages(tmp_path, **{"quantization": INT8, "sentences": 60, **options})


def test_an_export_is_refused_in_the_place_of_its_run(packages, run, tmp_path):
    export = run / "ctranslate2-int8"
    with pytest.raises(InputError, match=f"is an export, .* give the folder of its run, {run}"):
        export_packages(export, tmp_path / "packages", quantization=INT8, sentences=60)
    assert not (tmp_path / "packages").exists()


def test_models_that_argos_translate_cannot_tell_enough_are_refused(packages, run):
    export = run / "ctranslate2-int8"
    reading = codec(export, read_export(export))
    check_packable(run, reading)
    reading.placement.name = "t_enc"
    with pytest.raises(InputError, match="its language tags are t_enc"):
        check_packable(run, reading)
    reading.placement.name = "t_dec"
    reading.pipeline.mark_tokens = True
    with pytest.raises(InputError, match="SentencePiece alone"):
        check_packable(run, reading)


def test_a_package_has_the_model_of_the_language_that_it_translates_into(tmp_path):
    blocks = random_model(decoder_language_feed_forward_layers="2")
    folder = export(blocks, make_dictionary(), tmp_path / "export")
    (folder / "pipeline" / argos.MODEL_FILE).write_text("pieces")
    (tmp_path / "models").mkdir()
    argos.write_models(folder, tmp_path / "models")
    record = {"run": {"system": "blocks", "config": "toy"}, "trained": []}
    packed = set()
    for target in TOY_LANGUAGES[1:]:
        package = tmp_path / f"into_{target}.argosmodel"
        argos.write_package(
            package, tmp_path / "models", record, direction=Direction(TOY_LANGUAGES[0], target)
        )
        top = installed(package, tmp_path / target)
        assert (top / "model" / "model.bin").read_bytes() == (
            model_for(folder, target) / "model.bin"
        ).read_bytes()
        assert json.loads((top / "model" / "config.json").read_text())["add_source_eos"]
        packed.add((top / "model" / "model.bin").read_bytes())
    assert len(packed) == len(TOY_LANGUAGES) - 1


def test_a_line_longer_than_the_model_reads_is_not_compared(older, tmp_path):
    export = older / OLDER_RUN / "ctranslate2-float32"
    argos.write_models(export, tmp_path)
    line = read_lines(older / "runs" / "tiny" / "text" / "test.velan")[0]
    lines = [(WAY, line), (WAY, " ".join([line] * 20))]
    check_packages(export, tmp_path, lines, codec=codec(export, read_export(export)))


def test_a_package_that_translates_otherwise_is_refused(packages, run, tiny, tmp_path, monkeypatch):
    export = run / "ctranslate2-int8"
    argos.write_models(export, tmp_path)
    lines = [(WAY, line) for line in read_lines(tiny.folder / "text" / "test.velan")]
    reading = codec(export, read_export(export))
    check_packages(export, tmp_path, lines, codec=reading)
    with monkeypatch.context() as patched, pytest.raises(InputError, match="would read"):
        patched.setattr(argos, "SentencePieceProcessor", Letters)
        check_packages(export, tmp_path, lines, codec=reading)
    config = read_json(tmp_path / "config.json", "")
    write_json(tmp_path / "config.json", config | {"add_source_eos": False})
    with pytest.raises(InputError, match="the package translates"):
        check_packages(export, tmp_path, lines, codec=reading)
