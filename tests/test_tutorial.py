"""The tutorial: its notebook is made of it, and every command of it runs, on text that takes seconds."""

import json
import os
import re
import socket
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT, TINY_CONFIG, changed
from tests.support import warm
from tests.support.releases import write_tatoeba_export
from zsnmt.corpora.parallel_text import FEWEST_TO_TEST
from zsnmt.runs.score_file import read_scores

NOTEBOOK = json.loads((ROOT / "docs" / "tutorial.ipynb").read_text(encoding="utf-8"))
CELLS = ["".join(cell["source"]) for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]
BASH = "%%bash\n"
SYSTEMS = ("zs_transformer", "zs_transformer_residual", "zs_transformer_distilled")
MODEL, TRAINING = re.findall(r'^(?:MODEL|TRAINING)="(.*?)"', TINY_CONFIG, re.DOTALL | re.MULTILINE)
# Until outputs are as long as sentences, without validation in between.
LONGER = "--max-epoch 8 --validate-interval 8 --save-interval 8 --lr 2e-2 --warmup-updates 20"


def test_the_notebook_is_made_of_the_tutorial():
    made = subprocess.run(
        [warm.environment() / "bin/python", "-c", MAKE], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert json.loads(made.stdout) == NOTEBOOK, "run: python scripts/make_notebook.py"


MAKE = """
import json, sys
sys.path.insert(0, "scripts")
from make_notebook import TUTORIAL, notebook
print(json.dumps(notebook(TUTORIAL.read_text(encoding="utf-8"))))
"""


def in_small(cell: str, export: Path, port: int) -> str:
    """A cell with what makes it a matter of seconds: an export at hand, small sets, a teacher that any
    translation will do of.
    """
    for command, further in (
        ("zsnmt fetch tatoeba", f"--from-dir {export}"),
        ("zsnmt import-corpus tatoeba", "--test 11 --valid 6"),
        ("zsnmt distill", "--identifier none"),
        ("zsnmt serve", f"--port {port}"),
    ):
        cell = cell.replace(command, f"{command} {further}")
    cell = cell.replace(":5000", f":{port}").replace("en pt ru fi hu", "en pt ru")
    return cell.replace("5000", "100").replace("--epochs 4", "--epochs 1")


def free_port() -> int:
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        return opened.getsockname()[1]


@pytest.mark.slow
def test_every_command_of_the_tutorial_runs(tmp_path, monkeypatch):
    """The cells of the notebook, in order, in a folder like the checkout."""
    commands = tmp_path / ".venv" / "bin"
    commands.mkdir(parents=True)
    (commands / "zsnmt").write_text(f'#!/bin/sh\nexec {warm.environment()}/bin/python -m zsnmt "$@"\n')
    (commands / "zsnmt").chmod(0o755)
    write_tatoeba_export(tmp_path / "export", ["en", "pt", "ru"], trained=130, tested=FEWEST_TO_TEST)
    (tmp_path / "docs").mkdir()
    monkeypatch.chdir(tmp_path / "docs")
    monkeypatch.setenv("PATH", os.environ["PATH"])  # which the first cell changes
    monkeypatch.setenv("RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    first, *cells = CELLS
    exec(compile(first, "tutorial.ipynb", "exec"), {})
    printed, port = {}, free_port()
    for cell in cells:
        assert cell.startswith(BASH)
        words = in_small(cell.removeprefix(BASH), tmp_path / "export", port)
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", words], capture_output=True, text=True, timeout=600
        )
        assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
        printed[cell] = done.stdout
        if "--plan" in cell:
            config = tmp_path / "runs" / "everyday.conf"
            small = changed(
                config.read_text(),
                CLEANING="empty",  # the words are invented
                VOCABULARY="160",
                MODEL=MODEL,
                TRAINING=f"{TRAINING} {LONGER}",
            )
            config.write_text(small)
    runs = [tmp_path / "runs" / "everyday" / system / "seed1" for system in SYSTEMS]
    assert [read_scores(run).system for run in runs] == [*SYSTEMS]
    assert (tmp_path / "report.html").is_file()
    assert set(json.loads(printed[cells[-1]])) == {"translatedText"}
