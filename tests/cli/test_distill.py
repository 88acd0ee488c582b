"""What `zsnmt distill` refuses before it reads anything large."""

import pytest

from zsnmt.cli import distill
from zsnmt.console import WrongUse


@pytest.mark.parametrize("control", [("--sides", "none"), ("--remedy", "consistency")])
@pytest.mark.parametrize(
    "given",
    [("--lines", "9"), ("--held-out", "9"), ("--way", "mask"), ("--beam", "2"), ("--precision", "int8")],
)
def test_options_of_translations_are_refused_where_there_are_none(tmp_path, monkeypatch, control, given):
    monkeypatch.setattr("zsnmt.runs.folder.check_trained", lambda run: None)
    with pytest.raises(
        WrongUse, match=f"^{given[0]} is of translations to learn from, and with --sides none"
    ):
        distill.main([str(tmp_path / "some.conf"), str(tmp_path), *control, *given])
