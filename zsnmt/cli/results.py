"""Keep scores and probes of runs in docs/results/ and make the tables of README.md and RESULTS.md from them.

zsnmt results RUN [RUN ...]     # add runs, then make all tables anew
zsnmt results                   # only make them anew
"""

from collections.abc import Sequence
from pathlib import Path

from zsnmt import console

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "docs" / "results"
DOCUMENTS = (ROOT / "README.md", ROOT / "RESULTS.md")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = console.Parser(prog="zsnmt results", description=__doc__)
    parser.add_argument(
        "runs",
        type=Path,
        nargs="*",
        help="run folders with scores.json, and probes if they have some, or with compression.json",
    )
    options = parser.parse_args(arguments)
    from zsnmt.files import replacing
    from zsnmt.masked_lm.report.runs import SCORES_FILE as COMPRESSION_FILE
    from zsnmt.report.documents import fill, keep_compression, keep_probes, keep_scores  # loads sacreBLEU
    from zsnmt.report.probes.folder import has_probes
    from zsnmt.runs.scores import read_scores

    for run in options.runs:
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
