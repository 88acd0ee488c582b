"""A trained run as a folder of transformers: what it holds, when it is refused, and its card."""

import json
import math
import os
import shutil
from dataclasses import replace

import pytest
import torch

from tests.conftest import OLDER_RUN, toy_options
from tests.support.exports import OTHER_TRANSFORMERS, needs_transformers, run_without_zsnmt
from zsnmt.errors import InputError
from zsnmt.files.records import read_json
from zsnmt.inference.export import run as run_module
from zsnmt.inference.export.folder import is_export, read_export
from zsnmt.inference.export.huggingface import conversion
from zsnmt.inference.export.huggingface.card import CARD_FILE, find_corpora, scores_in_words, write_card
from zsnmt.inference.export.huggingface.self_check import check_agreement, run_check
from zsnmt.inference.export.run import export_run
from zsnmt.inference.trained_run import load_run
from zsnmt.inference.translator import Translator
from zsnmt.models.zs_transformer import ZeroShotTransformer
from zsnmt.text.lines import read_lines

pytestmark = [needs_transformers, pytest.mark.slow]


@pytest.fixture(scope="module")
def exported(older, tmp_path_factory):
    """An export of a run without residual, and how far it agrees."""
    folder = tmp_path_factory.mktemp("exported") / "folder"
    return export_run(
        older / OLDER_RUN, folder, to="huggingface", text=older / "runs/tiny/text", sentences=50
    )


def translated(folder, home, path: str = "") -> list[list[str]]:
    """What the folder makes of lines, in a process without zsnmt: directly, and through a language; what it
    says without a start, and after it was saved again.
    """
    script = home / "translated.py"
    script.write_text("""
import json, sys
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer
folder, text, copy = sys.argv[1:]
lines = [*open(text).read().splitlines(), "", " ".join(["ba"] * 60)]
model = AutoModelForSeq2SeqLM.from_pretrained(folder, trust_remote_code=True)
made = [model.translate(lines, "tamun"), model.translate(lines, "tamun", source="velan", via="inglan")]
tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=True)
try:
    model.generate(**tokenizer(["ba"], return_tensors="pt"))
except ValueError as error:
    made.append(str(error))
model.save_pretrained(copy)
tokenizer.save_pretrained(copy)
model = AutoModelForSeq2SeqLM.from_pretrained(copy, trust_remote_code=True)
made.append(AutoTokenizer.from_pretrained(copy, trust_remote_code=True).translate(model, lines, "tamun"))
print(json.dumps(made))
""")
    text = folder.parent / "lines"
    return json.loads(run_without_zsnmt(script, folder, text, home / "copy", home=home, path=path))


def test_it_agrees_with_the_run_and_says_so(older, exported):
    folder, agreements = exported
    record = read_export(folder)
    assert is_export(folder) and record["format"] == "huggingface" and not record["stock"]
    assert agreements["float32"].largest < 1e-4 and agreements["float32"].equal > 0.9
    assert record["run"]["text"] == "text" and str(older) not in (folder / "export.json").read_text()
    assert {"transformers", "torch", "fairseq-fixed"} <= {*record["versions"]}
    config = read_json(folder / "config.json", "")
    assert config["encoder_attention_residuals"] == ["keep", "remove", "keep"]
    assert not {name for name in config if name.startswith("encoder_position")}  # what M2M100 has, too
    settings = read_json(folder / "generation_config.json", "")
    assert settings["num_beams"] == 4 and settings["decoder_start_token_id"] is None
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert '- "velan"' in card and "| zs_transformer_residual | 1 | 2.2 " in card and "custom_code" in card
    assert "The run does not say what its text (`text`) may be used for." in card
    with pytest.raises(InputError, match="is for transformers .* translate with the run folder"):
        Translator.open(folder)


@pytest.mark.parametrize("path", ["", *OTHER_TRANSFORMERS])
def test_it_translates_as_the_run_does(older, exported, tmp_path, path):
    folder, _ = exported
    lines = read_lines(older / "runs/tiny/text/test.velan")
    shutil.copyfile(older / "runs/tiny/text/test.velan", folder.parent / "lines")
    direct, through, refused, again = translated(folder, tmp_path, path)
    *found, empty, long = direct
    translator = Translator.open(older / OLDER_RUN)
    assert found == translator.translate(lines, "tamun", "velan") and empty == "" and long
    assert through[: len(lines)] == translator.translate(lines, "tamun", "velan", via="inglan")
    assert again == direct and "`decoder_start_token_id` or `bos_token_id` has to be defined" in refused


@pytest.mark.parametrize("path", OTHER_TRANSFORMERS)
def test_other_versions_of_transformers_agree(exported, path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([path, os.environ.get("PYTHONPATH", "")]))
    _, versions = run_check(exported[0])
    assert f"-{versions['transformers']}.dist-info" in "".join(os.listdir(path))


def test_a_stock_model_needs_no_code(older, tmp_path, monkeypatch, warm_python):
    trained = load_run(older / OLDER_RUN)
    options = toy_options(decoder_language_embedding="none", share_all_embeddings=True)
    torch.manual_seed(1)  # some untrained models have near ties, which two searches break differently
    model = ZeroShotTransformer.build_model(options, trained.task).eval()
    monkeypatch.setattr(run_module, "load_run", lambda run: replace(trained, model=model))
    folder, _ = export_run(
        older / OLDER_RUN, tmp_path / "x", to="huggingface", text=older / "runs/tiny/text", sentences=50
    )
    config = read_json(folder / "config.json", "")
    assert config["model_type"] == "m2m_100" and "auto_map" not in config and read_export(folder)["stock"]
    assert {path.name for path in folder.glob("*.py")} == {
        *("check_zsnmt.py", "tokenization_zsnmt.py", "piece_restriction.py", "unspaced.py")
    }
    assert "custom_code" not in (folder / "README.md").read_text(encoding="utf-8")


def test_what_differs_is_found_out():
    near = {"largest": 1e-5, "score": 1e-5, "equal": 0.99, "text": []}
    check_agreement(near)
    for wrong, reason in (
        ({"largest": 2e-4}, "its log-probabilities differ from PyTorch's by up to 0.0002, more than 0.0001"),
        ({"largest": math.nan}, "its log-probabilities differ"),
        ({"score": 0.1}, "1.0% of its best translations are others than fairseq's"),
        ({"score": math.nan}, "1.0% of its best translations are others than fairseq's"),
        ({"text": ["en-de 'x': source is 1"]}, "its tokenizer differs: en-de 'x'"),
    ):
        with pytest.raises(InputError, match=f"the export is deleted, since {reason}"):
            check_agreement(near | wrong)


@pytest.mark.parametrize(
    "wrong, status",
    [
        *(({}, 0), ({"text": ["en-de 'x': source is 1"]}, 1), ({"score": 0.1}, 1)),
        *(({"largest": math.nan}, 1), ({"score": math.nan}, 1)),
    ],
)
def test_the_check_of_a_folder_says_by_its_exit_status_whether_it_agrees(wrong, status, monkeypatch):
    from zsnmt.inference.export.huggingface.remote import check_zsnmt as script

    near = {"largest": 1e-5, "score": 1e-5, "equal": 0.99, "text": [], "transformers": "1", "allowed": 1e-4}
    found = near | wrong
    monkeypatch.setattr(script, "check", lambda folder: found)
    monkeypatch.setattr("sys.argv", ["check_zsnmt.py"])
    with pytest.raises(SystemExit) as ended:
        script.main()
    assert ended.value.code == status


def test_a_wrong_export_is_deleted(older, tmp_path, monkeypatch, warm_python):
    monkeypatch.setitem(conversion.RESIDUALS, conversion.RemoveResidual, "mean_pool")
    with pytest.raises(InputError, match="the export is deleted, since its log-probabilities differ"):
        export_run(
            older / OLDER_RUN, tmp_path / "x", to="huggingface", text=older / "runs/tiny/text", sentences=50
        )
    assert not [*tmp_path.iterdir()]


def test_other_precisions_are_refused_before_anything_is_read(tmp_path):
    with pytest.raises(InputError, match="int8 is not of --to huggingface, which keeps float32"):
        export_run(tmp_path, to="huggingface", quantization="int8")


MINE = {"config": "mine", "text": "mine"}


def test_the_card_names_corpora_and_says_why_there_are_no_scores(tmp_path):
    run = {"config": "europarl_multiway", "text": "text"}
    assert find_corpora("# Talks: zsnmt fetch iwslt17", run) == ["iwslt17", "europarl"]
    assert find_corpora("# as europarl has them\nRELEASE=data/ted  # not iwslt17", MINE) == []
    assert find_corpora("", MINE | {"text": "tatoeba"}) == ["tatoeba"]
    assert scores_in_words(tmp_path)["unscored"] == "the run was not scored"


@pytest.mark.parametrize("trained, expected", [(["en-de"], True), (["en-de", "de-en"], False)])
def test_the_card_speaks_of_zero_shot_directions_where_there_are_some(tmp_path, trained, expected):
    run = dict.fromkeys(("system", "config", "seed", "command", "commit", "training", "text"), "a word")
    limits = {"max_source_positions": 9, "max_target_positions": 9}
    record = {"languages": ["en", "de"], "trained": trained, "language_tags": "t_dec", "run": run, **limits}
    write_card(tmp_path, tmp_path, record, stock=True)
    assert ("seen no text of" in (tmp_path / CARD_FILE).read_text(encoding="utf-8")) == expected
