"""The bounds of compiled kernels in the environment."""

import pytest

from zsnmt.processes import HELD, KERNELS, SHARING


def forget_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment in which neither a person nor a command has bounded kernels, until the test ends."""
    for name in (KERNELS, HELD, SHARING):
        monkeypatch.setenv(name, "")  # so that what the test sets is taken back
        monkeypatch.delenv(name)
