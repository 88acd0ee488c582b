"""Importing this skips a test where the extra [serve] is not installed."""

import pytest

from zsnmt.cli.serve import NEEDED

for package in NEEDED:
    pytest.importorskip(package, reason="the extra [serve] is not installed: the server was not tested")
