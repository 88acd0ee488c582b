"""Where the project's own files are: those of a checkout, or those that were installed from a wheel."""

from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]  # which fairseq takes as --user-dir
BESIDE = PACKAGE.parent
CHECKOUT = BESIDE if (BESIDE / "setup.py").is_file() else None
ROOT = CHECKOUT or PACKAGE  # the folder with configs/, which a wheel has in the package
RESULTS = "docs/results"  # as README.md links to it
KEPT_RESULTS = ROOT / RESULTS
