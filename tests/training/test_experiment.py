"""An experiment's folder, and what the names of its systems may be."""

from pathlib import Path

import pytest

from zsnmt.errors import InputError
from zsnmt.training.config import Config
from zsnmt.training.experiment import Experiment, check_validation

EXPERIMENT = Experiment(Config(("en", "de"), text="text"), Path("x.conf"), Path("runs/x"))


def test_a_run_has_a_folder_by_system_and_seed():
    assert EXPERIMENT.run("it's my name", 3) == Path("runs/x/it's my name/seed3")


@pytest.mark.parametrize(
    "name", ["../../x", "a/b", "a\nb", "/x", "..", ".", "", ".done", "data", "text", "source"]
)
def test_a_system_is_not_named_as_another_folder_or_one_elsewhere(name):
    with pytest.raises(InputError, match=f"'{name}' cannot name a system"):
        EXPERIMENT.run(name, 1)


def test_missing_validation_text_is_told_of_before_the_data_are_made(tmp_path):
    for name in (
        "train.de-en.de",
        "train.de-en.en",
        "train.en-it.en",
        "train.en-it.it",
        "valid.de",
        "valid.en",
    ):
        (tmp_path / name).write_text("a\n")
    with pytest.raises(
        InputError, match="has training text for en-it, but no validation text; add valid.en-it.en"
    ):
        check_validation(tmp_path, ("en", "de", "it"), ["--lr", "1"])
    check_validation(tmp_path, ("en", "de"), ["--lr", "1"])
    for option in (["--valid-lang-pairs", "en-de"], ["--lang-pairs=en-de"], ["--disable-validation"]):
        check_validation(tmp_path, ("en", "de", "it"), option)
    (tmp_path / "valid.it").write_text("a\n")
    check_validation(tmp_path, ("en", "de", "it"), [])
