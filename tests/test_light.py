"""An export is translated with what the extra [translate] has: no PyTorch, no fairseq."""

import ast
import re
import shutil
import sys
from collections import Counter

import pytest

from tests.conftest import OLDER_RUN, ROOT, run_command
from zsnmt.cli import explain_missing
from zsnmt.inference.export.folder import codec as read_codec
from zsnmt.inference.export.folder import describe_export
from zsnmt.text.piece_counts import write_piece_counts
from zsnmt.text.tokenisation import load_tokeniser

pytest.importorskip("ctranslate2")

IMPORTED_AS = {"fairseq-fixed": "fairseq", "scikit-learn": "sklearn", "indic-nlp-library": "indicnlp"}
BLOCKED = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {names!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Missing())
"""
TRANSLATE = "from zsnmt.cli import main; main(sys.argv[1:])"
SERVE = """
from pathlib import Path
from zsnmt.decoding.options import EngineChoice
from zsnmt.decoding.search import Search
from zsnmt.serving.application import application
from zsnmt.serving.limits import Limits
from zsnmt.serving.systems import open_systems
systems = open_systems([Path(sys.argv[1])], Search(), EngineChoice(workers=1))
application(systems, Limits())
(system,) = systems.values()
print(*system.translator.translate(sys.stdin.read().splitlines(), "tamun"), sep="\\n")
"""


def requirements() -> dict[str, set[str]]:
    """The packages of each extra of setup.py, as they are imported."""
    (call,) = (node for node in ast.walk(ast.parse((ROOT / "setup.py").read_text())) if is_setup(node))
    extras = {each.arg: each.value for each in call.keywords}["extras_require"]
    return {
        extra: {
            IMPORTED_AS.get(name, name) for name in (re.match("[a-z0-9-]+", each)[0] for each in packages)
        }
        for extra, packages in ast.literal_eval(extras).items()
    }


def is_setup(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "setup"


@pytest.fixture(scope="module")
def lines(older) -> str:
    return "".join((older / "runs/tiny/text/test.velan").read_text().splitlines(keepends=True)[:4])


def light(code: str, *arguments, lines: str, without: set[str]):
    """A program where packages are missing."""
    blocked = BLOCKED.format(names=without)
    return run_command("python", "-c", f"{blocked}\n{code}", *arguments, input=lines)


def test_an_export_is_translated_and_served_with_what_the_light_install_has(older, lines):
    extras, export = requirements(), older / OLDER_RUN / "ctranslate2-float32"
    missing = extras["train"] - extras["translate"]
    assert missing >= {"torch", "fairseq", "sacrebleu", "scipy"}
    by_command, by_server = (
        light(TRANSLATE, "translate", export, "--to", "tamun", lines=lines, without=missing),
        light(SERVE, export, lines=lines, without=missing - {"jinja2"}),
    )
    assert by_command.returncode == 0, by_command.stderr
    assert by_command.stdout.count("\n") == 4 and by_command.stdout.strip()
    assert by_server.stdout == by_command.stdout, by_server.stderr


def test_an_export_is_translated_by_a_mask_with_what_the_light_install_has(older, lines, tmp_path):
    export = shutil.copytree(older / OLDER_RUN / "ctranslate2-float32", tmp_path / "export")
    codec = read_codec(export, describe_export(export))
    pieces = Counter(codec.dictionary.symbols[codec.dictionary.nspecial :])
    write_piece_counts(export, dict.fromkeys(codec.languages, pieces))
    words = ("translate", export, "--to", "tamun", "--way", "mask:renormalise=yes")
    done = light(TRANSLATE, *words, lines=lines, without={"torch", "fairseq"})
    assert done.returncode == 0 and done.stdout.count("\n") == 4 and done.stdout.strip(), done.stderr


@pytest.mark.parametrize(
    "words, message",
    [
        (
            ("translate", "RUN", "--to", "tamun"),
            "needs torch here.*'zsnmt.train.', or give an export of the run",
        ),
        (
            ("options",),
            "zsnmt options needs fairseq here, which is not installed; run pip install 'zsnmt.train.'$",
        ),
    ],
)
def test_what_needs_more_says_what_to_install(older, lines, words, message):
    words = [str(older / OLDER_RUN) if word == "RUN" else word for word in words]
    done = light(TRANSLATE, *words, lines=lines, without={"torch", "fairseq"})
    assert done.returncode == 1 and re.search(message, done.stderr.strip()), done.stderr


def test_text_that_needs_indic_rules_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "indicnlp", None)
    monkeypatch.delitem(sys.modules, "indicnlp.normalize.indic_normalize", raising=False)
    with pytest.raises(ModuleNotFoundError) as found:
        load_tokeniser("indic", "hi")
    assert "pip install 'zsnmt[indic]'" in str(explain_missing("translate", found.value))
