"""The shape of the project: what may import what, and what scripts refuse before they start."""

import ast
import os
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT, run_command

FLOORS = [
    ("zsnmt.errors", "zsnmt.files", "zsnmt.console", "zsnmt.compatibility", "zsnmt.scores", "zsnmt.bootstrap", "zsnmt.comet",
     "zsnmt.length_penalty"),
    ("zsnmt.languages", "zsnmt.systems"),
    ("zsnmt.modules", "zsnmt.corpora", "zsnmt.text",
     *(f"zsnmt.analysis.{name}" for name in "arrays classifiers correlations held_out ml_score position_encodings procrustes "
       "retrieval similarities similarity state_folder svcca".split())),
    ("zsnmt.averaging", "zsnmt.binarised", "zsnmt.binarised_bert", "zsnmt.binarised_languages", "zsnmt.binarised_nli", "zsnmt.masked_sentences", "zsnmt.tagged_pairs",
     "zsnmt.language_identification", "zsnmt.runs", "zsnmt.compression_runs", "zsnmt.validation", "zsnmt.metrics", "zsnmt.seams",
     "zsnmt.adaptation.joined_text", "zsnmt.adaptation.data", "zsnmt.decoding", "zsnmt.data", "zsnmt.criterions", "zsnmt.optim"),
    ("zsnmt.models", "zsnmt.tasks", "zsnmt.report"),
    ("zsnmt.trained_run", "zsnmt.translation", "zsnmt.engines", "zsnmt.export", "zsnmt.trained_model", "zsnmt.nli", "zsnmt.adaptation", "zsnmt.ablations"),
    ("zsnmt.hypotheses", "zsnmt.analysis", "zsnmt.benchmarks"),
    ("zsnmt.evaluation", "zsnmt.compression"),
]  # from the lowest; a module imports from its own floor and below


def floor_of(module: str) -> int:
    for number, floor in enumerate(FLOORS):
        if any(module == name or module.startswith(name + ".") for name in floor):
            return number
    raise AssertionError(f"{module} stands on no floor; give it one in this test")


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imported(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


@pytest.mark.parametrize("path", sorted((ROOT / "zsnmt").rglob("*.py")), ids=lambda path: module_name(path))
def test_imports_point_down(path):
    module = module_name(path)
    if module == "zsnmt":
        return
    for name in imported(path):
        assert name.split(".")[0] not in ("scripts", "recipes", "tests"), f"{module} imports {name}"
        if name.startswith("zsnmt."):
            assert floor_of(name) <= floor_of(module), f"{module} imports {name}, which stands above it"


def test_only_registering_files_live_where_fairseq_imports_everything():
    for folder, decorator in (("models", "register_model"), ("tasks", "register_task")):
        for path in (ROOT / "zsnmt" / folder).glob("*.py"):
            assert path.name == "__init__.py" or f"@{decorator}(" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("order", ["import zsnmt.models, fairseq.models", "import fairseq.models, zsnmt"])
def test_architectures_are_registered_once_whoever_is_imported_first(order):
    code = f"""
import argparse
{order}
from fairseq import utils
utils.import_user_module(argparse.Namespace(user_dir={str(ROOT / 'zsnmt')!r}))
from fairseq.models import ARCH_MODEL_REGISTRY
from fairseq.tasks import TASK_REGISTRY
import zsnmt.tasks
assert 'zs_transformer_residual' in ARCH_MODEL_REGISTRY and 'zs_translation' in TASK_REGISTRY
"""
    done = run_command("python", "-c", code)
    assert done.returncode == 0, done.stderr


def test_a_script_that_needs_no_fairseq_does_not_load_it():
    code = "import sys; import zsnmt.corpora.synthetic, zsnmt.report.table; sys.exit('fairseq' in sys.modules)"
    assert run_command("python", "-c", code).returncode == 0


@pytest.mark.parametrize("path", sorted((ROOT / "scripts").glob("*.py")), ids=lambda path: path.name)
def test_every_script_explains_itself(path):
    shown = run_command(path, "--help")
    assert shown.returncode == 0 and "usage:" in shown.stdout and len(shown.stdout.split("\n")) > 5


def fake_python(folder: Path, version: str) -> Path:
    path = folder / "python"
    path.write_text(f"#!/bin/sh\necho {version}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("version, message", [("3.10", "Python 3.10 is not supported"), ("3.13", "needs 3.11 or 3.12")])
def test_set_up_refuses_another_python_in_one_sentence(tmp_path, version, message):
    environment = {**os.environ, "PYTHON": str(fake_python(tmp_path, version)), "VENV": str(tmp_path / "venv")}
    stopped = subprocess.run(["bash", ROOT / "scripts/setup.sh"], env=environment, capture_output=True, text=True)
    assert stopped.returncode == 1 and message in stopped.stderr and stopped.stderr.count("\n") == 1
    assert not (tmp_path / "venv").exists()


def test_configs_load_and_only_steps_call_fairseq():
    for config in (ROOT / "configs").glob("*.conf"):
        if config.stem.startswith("bert_"):
            continue  # of studies with keys of their own
        loaded = run_command("bash", "-c", f'source recipes/steps.sh; load_config "{config}"; echo "$LANGUAGES|$TRAINING"')
        assert loaded.returncode == 0, loaded.stderr
        adapts = "_add_" in config.stem  # a run, whose options it goes on with
        assert ("--criterion" in loaded.stdout) != adapts, config
    callers = [path for path in (ROOT / "recipes").iterdir() if "fairseq-" in path.read_text(encoding="utf-8")]
    assert [path.name for path in callers] == ["steps.sh"]


def test_the_readmes_paths_and_commands_exist():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for word in readme.replace("`", " ").replace("(", " ").replace(")", " ").split():
        if word.startswith(("recipes/", "scripts/", "docs/", "configs/", "zsnmt/")) and "mine" not in word:
            assert (ROOT / word.rstrip(".,:")).exists(), word
