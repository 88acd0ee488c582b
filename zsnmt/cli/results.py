"""Keep scores and probes of runs in docs/results/ and make the tables of README.md and RESULTS.md from them.

zsnmt results RUN [RUN ...]     # add runs, then make all tables anew
zsnmt results                   # only make them anew
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from zsnmt import console

if TYPE_CHECKING:
    from zsnmt.report.documents import Maker

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "docs" / "results"
DOCUMENTS = (ROOT / "README.md", ROOT / "RESULTS.md")


def makers() -> "dict[str, Maker]":
    """What makes each block of a document, of all studies."""
    from zsnmt.masked_lm.report import kept
    from zsnmt.masked_lm.report import papers as masked_lm_papers
    from zsnmt.report import documents  # loads sacreBLEU
    from zsnmt.report.papers import tables as papers

    return documents.MAKERS | kept.MAKERS | papers.MAKERS | masked_lm_papers.MAKERS


def main(arguments: Sequence[str] | None = None) -> None:
    parser = console.Parser(prog="zsnmt results", description=__doc__)
    parser.add_argument(
        "runs",
        type=Path,
        nargs="*",
        help="run folders with scores.json, and probes if they have some, or with masked_lm.json",
    )
    options = parser.parse_args(arguments)
    from zsnmt.files.replacing import replacing
    from zsnmt.masked_lm.report.kept import keep_masked_lm
    from zsnmt.masked_lm.runs import score_file
    from zsnmt.report.documents import fill, keep_probes, keep_scores
    from zsnmt.report.probes.folder import has_probes
    from zsnmt.runs.scores import read_scores

    for run in options.runs:
        if score_file(run).is_file():
            print(keep_masked_lm(run, KEPT))
            continue
        print(keep_scores(read_scores(run), KEPT))
        if has_probes(run):
            print(keep_probes(run, KEPT))
    for path in DOCUMENTS:
        document = fill(path.read_text(encoding="utf-8"), KEPT, makers())
        with replacing(path) as file:
            file.write(document.encode("utf-8"))
