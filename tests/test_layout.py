"""The shape of the project: what may import what, and what scripts refuse before they start."""

import ast
import os
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from tests.conftest import ROOT, run_command
from zsnmt.models.zs_transformer import SEAMS
from zsnmt.training.config import read_config

PACKAGE = ROOT / "zsnmt"
FLOORS = (  # from the lowest; what is in a folder imports from its own floor and below
    ("compatibility", "console", "control_groups", "errors", "files", "languages", "processes", "wheelhouse"),
    ("modules", "losses"),
    ("text", "analysis", "decoding", "seams"),
    ("corpora", "data", "runs", "scoring", "models", "terms"),
    ("tasks", "criterions", "optim", "report", "documents"),
    ("training", "inference"),
    ("evaluation", "probing", "adaptation", "distillation", "masked_lm", "serving", "benchmarks"),
    ("demo",),
    ("claims",),
    ("results",),
    ("cli", "__main__"),
)
FLOOR_OF = {room: number for number, floor in enumerate(FLOORS) for room in floor}


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


def rooms_behind(path: Path) -> set[str]:
    """The folders of `zsnmt/`, or files beside them, that a module imports from."""
    return {name.split(".")[1] for name in imported(path) if name.startswith("zsnmt.")}


def takes_any_number(node: ast.AST) -> bool:
    """Whether a function, or a class that is called, has a parameter like *rows."""
    if isinstance(node, ast.ClassDef):
        return any(takes_any_number(each) for each in node.body if getattr(each, "name", "") == "__init__")
    return isinstance(node, ast.FunctionDef) and node.args.vararg is not None


MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


VARIADIC = {
    node.name for path in MODULES for node in ast.parse(path.read_text()).body if takes_any_number(node)
}


METHODS = {
    method.name
    for path in MODULES
    for node in ast.walk(ast.parse(path.read_text()))
    if isinstance(node, ast.ClassDef)
    for method in node.body
    if isinstance(method, ast.FunctionDef) and not takes_any_number(method)
}


def test_every_folder_stands_on_one_floor():
    here = [path.stem for path in PACKAGE.glob("*.py") if path.stem != "__init__"]
    here += [path.parent.name for path in PACKAGE.glob("*/__init__.py")]
    assert {*here} == {module_name(path).split(".")[1] for path in MODULES}
    assert sorted(here) == sorted(room for floor in FLOORS for room in floor)


def test_imports_point_down():
    for path in MODULES:
        assert not {name.split(".")[0] for name in imported(path)} & {"scripts", "recipes", "tests"}, path
        floor = FLOOR_OF[module_name(path).split(".")[1]]
        above = {room for room in rooms_behind(path) if FLOOR_OF[room] > floor}
        assert not above, f"{module_name(path)} imports from {', '.join(sorted(above))}, which stand above it"


def test_folders_import_one_another_without_a_circle():
    behind: dict[str, set[str]] = {}
    for path in MODULES:
        room = module_name(path).split(".")[1]
        behind.setdefault(room, set()).update(rooms_behind(path) - {room})
    order = [*TopologicalSorter(behind).static_order()]  # CycleError names the folders of a circle
    assert order.index("errors") < order.index("evaluation")
    assert "tasks" not in behind["report"]  # tables are made without fairseq


def bound_names(node: ast.stmt) -> set[str]:
    """The names that a statement of a module defines or assigns."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return {
        name.id for target in targets if target for name in ast.walk(target) if isinstance(name, ast.Name)
    }


def test_names_of_a_module_have_no_underscore():
    for path in MODULES:
        names = set().union(*map(bound_names, ast.parse(path.read_text(encoding="utf-8")).body))
        assert not {name for name in names if name.startswith("_") and not name.startswith("__")}, path


def test_at_most_three_arguments_go_by_position():
    assert not [call for path in MODULES for call in long_calls(path)]


def long_calls(path: Path) -> list[str]:
    """Calls by name, with more than three arguments by position, to the project's functions, classes and
    methods; not to fairseq's, behind super().
    """
    tree, found = ast.parse(path.read_text(encoding="utf-8")), []
    own = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("zsnmt"):
            own |= {alias.asname or alias.name for alias in node.names}
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        if isinstance(call.func, ast.Name):
            checked = call.func.id in own - VARIADIC
        else:
            method = isinstance(call.func, ast.Attribute) and call.func.attr in METHODS
            checked = method and not ast.unparse(call.func.value).startswith("super(")
        several = len(call.args) > 3 and not any(isinstance(each, ast.Starred) for each in call.args)
        if checked and several:
            found.append(f"{path}, line {call.lineno}: {ast.unparse(call.func)}")
    return found


def test_only_registering_files_live_where_fairseq_imports_everything():
    for folder, decorator in (("models", "register_model"), ("tasks", "register_task")):
        for path in (ROOT / "zsnmt" / folder).glob("*.py"):
            assert path.name == "__init__.py" or f"@{decorator}(" in path.read_text(encoding="utf-8")


def test_every_file_of_a_seam_is_filled():
    files = {path.stem for path in (PACKAGE / "seams").glob("*.py")} - {"__init__", "layers", "options"}
    assert files == {seam.__name__.rpartition(".")[2] for seam in SEAMS}


@pytest.mark.slow
@pytest.mark.parametrize("order", ["import zsnmt.models, fairseq.models", "import fairseq.models, zsnmt"])
def test_architectures_are_registered_once_whoever_is_imported_first(order):
    code = f"""
import argparse
{order}
from fairseq import utils
utils.import_user_module(argparse.Namespace(user_dir={str(ROOT / "zsnmt")!r}))
from fairseq.models import ARCH_MODEL_REGISTRY
from fairseq.tasks import TASK_REGISTRY
import zsnmt.tasks
assert 'zs_transformer_residual' in ARCH_MODEL_REGISTRY and 'zs_translation' in TASK_REGISTRY
"""
    done = run_command("python", "-c", code, fresh=True)
    assert done.returncode == 0, done.stderr


def test_a_script_that_needs_no_fairseq_does_not_load_it():
    code = (
        "import sys; import zsnmt.corpora.invented.corpus, zsnmt.report.systems; sys.exit('fairseq' in "
        "sys.modules)"
    )
    assert run_command("python", "-c", code, fresh=True).returncode == 0


def fake_python(folder: Path, version: str) -> Path:
    path = folder / "python"
    path.write_text(f"#!/bin/sh\necho {version}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    "version, message", [("3.10", "Python 3.10 is not supported"), ("3.13", "needs 3.11 or 3.12")]
)
def test_set_up_refuses_another_python_in_one_sentence(tmp_path, version, message):
    environment = {
        **os.environ,
        "PYTHON": str(fake_python(tmp_path, version)),
        "VENV": str(tmp_path / "venv"),
    }
    stopped = subprocess.run(
        ["bash", ROOT / "scripts/setup.sh"], env=environment, capture_output=True, text=True
    )
    assert stopped.returncode == 1 and message in stopped.stderr and stopped.stderr.count("\n") == 1
    assert not (tmp_path / "venv").exists()


def test_set_up_notices_that_an_environment_is_of_another_python_than_the_one_given(tmp_path):
    (folder := tmp_path / "venv" / "bin").mkdir(parents=True)
    fake_python(folder, "3.12 of /opt")
    environment = {**os.environ, "PYTHON": sys.executable, "VENV": str(tmp_path / "venv")}
    environment |= {"PIP_NO_INDEX": "1"}
    command = ["bash", ROOT / "scripts/setup.sh"]
    stopped = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert stopped.returncode == 1 and stopped.stderr.count("\n") == 1
    assert f"venv has Python 3.12 of /opt, and PYTHON={sys.executable} is another; remove" in stopped.stderr
    fake_python(folder, f"3.{sys.version_info.minor} of {sys.base_prefix}")
    assert "is another" not in subprocess.run(command, env=environment, capture_output=True, text=True).stderr


def test_configs_name_a_loss_unless_they_adapt_and_one_module_calls_fairseq():
    for path in (ROOT / "configs").glob("*.conf"):
        if path.stem.startswith("bert_"):
            continue  # of studies with keys of their own
        adapts = "_add_" in path.stem  # a run, whose options it goes on with
        assert ("--criterion" in read_config(path, {"ROOT": str(ROOT)}).training) != adapts, path
    callers = [
        path
        for folder in ("zsnmt", "recipes", "scripts")
        for path in (ROOT / folder).rglob("*.*")
        if path.suffix in (".py", ".sh") and '"fairseq-train"' in path.read_text(encoding="utf-8")
    ]
    assert [path.name for path in callers] == ["fairseq_train.py"]


def test_a_recipe_is_a_few_lines_of_shell():
    recipes = {
        path.stem: path.read_text(encoding="utf-8").splitlines() for path in (ROOT / "recipes").glob("*.sh")
    }
    assert {*recipes} == {
        "steps",
        "train",
        "evaluate",
        "demo",
        "adapt",
        "distill",
        "direct",
        "probe",
        "ablate",
        "masked_lm",
        "compression",
        "xnli",
        "slurm",
    }
    for name, lines in recipes.items():
        code = [line for line in lines if line and not line.startswith("#")]
        assert len(code) <= (3 if name != "steps" else 20) and (name == "steps" or code[-1].endswith('"$@"'))
