"""Importing this skips a test where the extra [serve] is not installed."""

import pytest

from zsnmt.cli.serve import PACKAGES

for package in PACKAGES:
    pytest.importorskip(package, reason="the extra [serve] is not installed: the server was not tested")
