"""Keep scores and probes of runs in docs/results/ and make the tables of README.md and RESULTS.md from them.

    python scripts/results.py RUN [RUN ...]     # add runs, then make all tables anew
    python scripts/results.py                   # only make them anew
"""

import argparse
from pathlib import Path

from zsnmt import console
from zsnmt.files import replacing
from zsnmt.masked_lm.report.runs import SCORES_FILE as COMPRESSION_FILE
from zsnmt.report.documents import fill, keep_compression, keep_probes, keep_scores
from zsnmt.report.probes.folder import has_probes
from zsnmt.runs.scores import read_scores

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "docs" / "results"
DOCUMENTS = (ROOT / "README.md", ROOT / "RESULTS.md")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="*", help="run folders with scores.json, and probes if they have some, or with compression.json")
    for run in parser.parse_args().runs:
        if (run / COMPRESSION_FILE).is_file():
            print(keep_compression(run, KEPT))
            continue
        print(keep_scores(read_scores(run), KEPT))
        if has_probes(run):
            print(keep_probes(run, KEPT))
    for path in DOCUMENTS:
        document = fill(path.read_text(encoding="utf-8"), KEPT)
        with replacing(path) as file:
            file.write(document.encode("utf-8"))


if __name__ == "__main__":
    console.run(main)
