"""COMET, with a made-up package in the place of its own."""

import sys
from types import ModuleType, SimpleNamespace

import pytest

from tests.conftest import run_command
from zsnmt.errors import InputError
from zsnmt.scoring import comet
from zsnmt.scoring.comet import MODEL, Comet


class MadeUpModel:
    """Scores the share of equal words, and keeps what it was given."""

    def __init__(self, path: str) -> None:
        self.path, self.given = path, []

    def predict(self, samples, batch_size, gpus, progress_bar):
        assert batch_size > 0 and gpus >= 0 and not progress_bar
        self.given.append(samples)
        scores = [float(sample["mt"] == sample["ref"]) for sample in samples]
        return SimpleNamespace(scores=scores, system_score=sum(scores) / len(scores))


@pytest.fixture
def package(monkeypatch):
    """The made-up package, where Python looks for the real one."""
    module = ModuleType("comet")
    module.download_model = lambda name: f"path/of/{name}"
    module.load_from_checkpoint = MadeUpModel
    monkeypatch.setitem(sys.modules, "comet", module)
    monkeypatch.setattr(comet, "version", lambda name: {"unbabel-comet": "2.2.7"}[name])


def test_the_score_is_the_models_of_raw_text(package):
    measure = Comet()
    assert measure.score(["Ein Haus."], ["A house."], ["A house."]) == 1
    assert measure.score(["Ein Haus.", "Ja"], ["A house .", "Yes"], ["A house.", "Yes"]) == 0.5
    assert measure.model.given[1] == [
        {"src": "Ein Haus.", "mt": "A house .", "ref": "A house."},
        {"src": "Ja", "mt": "Yes", "ref": "Yes"},
    ]
    with pytest.raises(ValueError):
        measure.score(["Ein Haus."], [], [])


def test_model_and_version_are_in_the_signature(package):
    assert Comet().signature == f"{MODEL}|version:2.2.7" and Comet().model.path == f"path/of/{MODEL}"
    assert Comet("Unbabel/wmt20-comet-da").signature == "Unbabel/wmt20-comet-da|version:2.2.7"


def test_a_model_that_cannot_be_fetched_is_refused(package, monkeypatch):
    def fail(name: str) -> str:
        raise KeyError(f"Model '{name}' not supported by COMET.")

    monkeypatch.setattr(sys.modules["comet"], "download_model", fail)
    with pytest.raises(
        InputError, match="model a/b cannot be fetched .*not supported.*; correct its name, or"
    ):
        Comet("a/b")


def test_without_the_package_the_error_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "comet", None)
    with pytest.raises(InputError, match="COMET is not installed .*: pip install unbabel-comet$"):
        Comet()


def test_the_command_says_so_before_it_translates(tmp_path):
    (tmp_path / "comet.py").write_text("raise ImportError('not here')\n")
    program = (
        f"import runpy, sys; sys.path.insert(0, {str(tmp_path)!r}); sys.argv = ['evaluate', 'RUN', "
        "'--comet']; "
    )
    refused = run_command(
        "python", "-c", program + "runpy.run_path('scripts/evaluate.py', run_name='__main__')"
    )
    assert refused.returncode == 1 and refused.stderr.count("\n") == 1
    assert "COMET is not installed (not here); install it with: pip install unbabel-comet" in refused.stderr
