"""fairseq is loaded without what it imports for classifiers, until that is called."""

import sys

import pytest

from tests.conftest import run_command
from zsnmt import DEFERRED, deferred


def test_a_function_of_a_deferred_module_imports_it_when_it_is_called(monkeypatch):
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    with deferred(("colorsys",)):
        from colorsys import hsv_to_rgb
    assert "colorsys" not in sys.modules
    assert hsv_to_rgb(0.0, 0.0, v=0.5) == (0.5, 0.5, 0.5)
    assert sys.modules["colorsys"].hsv_to_rgb is not hsv_to_rgb


def test_a_module_that_is_there_stays():
    with deferred(("sys", "os.path")):
        import os.path

        assert os.path.join("a", "b") == "a/b"
    assert sys.modules["sys"] is sys


@pytest.mark.slow
def test_fairseq_loads_without_them_and_scores_classifiers_all_the_same():
    code = """
import sys, zsnmt, fairseq
from fairseq.criterions.sentence_prediction import f1_score, pearsonr
from fairseq.tasks.audio_classification import sklearn_metrics
print([name for name in zsnmt.DEFERRED if name in sys.modules])
print(f1_score([1, 0], [1, 1]) == sklearn_metrics.f1_score([1, 0], [1, 1]), pearsonr([1, 2], [2, 4])[0])
print([name for name in zsnmt.DEFERRED if name not in sys.modules])
"""
    done = run_command("python", "-c", code, fresh=True)
    assert done.stdout.split("\n")[:3] == ["[]", "True 1.0", "[]"], (done.stdout, done.stderr)
    assert len(DEFERRED) == 3
