"""Run folders and what is read from a training log."""

import json

import pytest

from zsnmt.errors import InputError
from zsnmt.runs.folder import progress_line, read_record, start_run, training_summary

LOG = """\
2026-01-01 | INFO | train_inner | {"epoch": 1, "update": 0.5, "loss": "9", "nll_loss": "8.5", "wps": "4859.6"}
2026-01-01 | INFO | valid | {"epoch": 1, "valid_nll_loss": "7.1", "valid_num_updates": "10"}
2026-01-01 | INFO | valid | {"epoch": 2, "valid_nll_loss": "6.5", "valid_num_updates": "20", "valid_best_nll_loss": "6.5"}
2026-01-01 | INFO | valid | {"epoch": 3, "valid_nll_loss": "6.9", "valid_num_updates": "30", "valid_best_nll_loss": "6.5"}
"""


def test_a_log_in_a_persons_words():
    lines = [progress_line(line) for line in LOG.split("\n")]
    assert lines == [
        "epoch 0.5, training loss 8.5, 4860 words/s",
        "epoch 1 ends, validation loss 7.1 bits a token, the best",
        "epoch 2 ends, validation loss 6.5 bits a token, the best",
        "epoch 3 ends, validation loss 6.9 bits a token",
        None,
    ]
    assert training_summary(LOG) == "3 epochs, 30 updates, best validation loss 6.5 bits a token in epoch 2"
    with pytest.raises(InputError, match="no validation"):
        training_summary("nothing")


@pytest.fixture
def made(tmp_path):
    data, config = tmp_path / "data", tmp_path / "x.conf"
    data.mkdir()
    (data / "languages.txt").write_text("en\nde\n")
    (data / "dict.en.txt").write_text("a 1\n")
    (data / "subwords.model").write_bytes(b"model")
    (data / "train.de-en.de.bin").write_bytes(b"not part of a run")
    config.write_text("LANGUAGES=x\n")

    def start():
        start_run(tmp_path / "run", config, data, tmp_path / "text", "baseline", 1, "bash recipes/train.sh x")

    start()
    return tmp_path, start


def test_a_run_keeps_the_pipeline_and_the_record_of_its_start(made):
    folder, start = made
    run = folder / "run"
    assert sorted(path.name for path in (run / "pipeline").iterdir()) == ["dict.en.txt", "languages.txt", "subwords.model"]
    record = json.loads((run / "run.json").read_text())
    record["commit"] = "0" * 40
    (run / "run.json").write_text(json.dumps(record))
    start()  # goes on: the commit at the start counts
    assert read_record(run)["commit"] == "0" * 40


def test_another_config_or_pipeline_is_refused(made):
    folder, start = made
    (folder / "data" / "subwords.model").write_bytes(b"another")
    with pytest.raises(InputError, match="other subwords"):
        start()
    (folder / "x.conf").write_text("LANGUAGES=y\n")
    with pytest.raises(InputError, match="another x.conf"):
        start()
    with pytest.raises(InputError, match="run.json is missing; make a run folder"):
        read_record(folder)
    (folder / "run.json").write_text("{")
    with pytest.raises(InputError, match="run.json is damaged"):
        read_record(folder)
