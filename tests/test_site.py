"""The documentation site is built of the pages as they are, with warnings as errors."""

import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(tmp_path):
    for package in ("mkdocs", "material"):
        pytest.importorskip(package, reason="the site needs MkDocs: pip install -e '.[docs]'")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", tmp_path / "site"],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stderr
    site = tmp_path / "site"
    search = (site / "search/search_index.json").read_text(encoding="utf-8")
    for page in (
        "index",
        "readme",
        "tutorial",
        "RESULTS",
        "which_option",
        "results/claims",
        "results/index",
        "licences",
    ):
        assert (site / f"{page}.html").is_file() and f'"{page}.html' in search
    assert 'href="RESULTS.html"' in (site / "index.html").read_text(encoding="utf-8")
    folded = (site / "results/demo.html").read_text(encoding="utf-8").partition("<details>")[2]
    assert "<table>" in folded.partition("</details>")[0]
