"""Run folders: what is kept in them, and what is refused."""

import json

import pytest

from zsnmt.errors import InputError
from zsnmt.runs.folder import read_record, start_run


@pytest.fixture
def made(tmp_path):
    data, config = tmp_path / "data", tmp_path / "x.conf"
    data.mkdir()
    (data / "languages.txt").write_text("en\nde\n")
    (data / "dict.en.txt").write_text("a 1\n")
    (data / "subwords.model").write_bytes(b"model")
    (data / "pipeline.json").write_text("{}")
    (data / "train.de-en.de.bin").write_bytes(b"not part of a run")
    config.write_text("LANGUAGES=x\n")

    def start():
        start_run(tmp_path / "run", config, data, tmp_path / "text", "baseline", 1, "bash recipes/train.sh x")

    start()
    return tmp_path, start


def test_a_run_keeps_the_pipeline_and_the_record_of_its_start(made):
    folder, start = made
    run = folder / "run"
    assert sorted(path.name for path in (run / "pipeline").iterdir()) == [
        "dict.en.txt",
        "languages.txt",
        "pipeline.json",
        "subwords.model",
    ]
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


def test_data_without_a_pipeline_are_refused_before_a_run_is_trained_on_them(made):
    folder, start = made
    (folder / "data" / "pipeline.json").unlink()
    with pytest.raises(InputError, match="data/pipeline.json is missing; remove .*data and give the same"):
        start()
