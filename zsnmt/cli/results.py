"""Keep scores and probes of runs in docs/results/ and make all tables of README.md, RESULTS.md and docs/ from
them, and the drawings in docs/figures/: direct translation against the pivot, remedies, probes. A new config
gets a page.

zsnmt results RUN [RUN ...]               # add runs, then make all tables
zsnmt results RUN [RUN ...] --keep-only   # add runs alone
zsnmt results                             # only make the tables
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from zsnmt import console
from zsnmt.errors import InputError
from zsnmt.files.project import CHECKOUT, KEPT_RESULTS, ROOT

if TYPE_CHECKING:
    from zsnmt.report.documents import Maker

FIGURES = ROOT / "docs" / "figures"


def documents() -> list[Path]:
    """What may have tables of kept results."""
    return [ROOT / "README.md", ROOT / "RESULTS.md", *sorted((ROOT / "docs").rglob("*.md"))]


def makers() -> "dict[str, Maker]":
    """What makes each block of a document, of all studies."""
    from zsnmt.claims import table as claims
    from zsnmt.masked_lm.report import kept_scores as masked_lms
    from zsnmt.masked_lm.report import papers as masked_lm_papers
    from zsnmt.report import confidence, config_pages, documents, in_short  # loads sacreBLEU
    from zsnmt.report.papers import tables as papers

    modules = documents, in_short, config_pages, confidence, masked_lms, papers, masked_lm_papers, claims
    return {name: maker for module in modules for name, maker in module.MAKERS.items()}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = console.Parser(prog="zsnmt results", description=__doc__)
    parser.add_argument(
        "runs",
        type=Path,
        nargs="*",
        help="run folders with scores.json and other measurements, or with masked_lm.json",
    )
    parser.add_argument(
        "--keep-only", action="store_true", help="keep the runs, and leave tables and drawings as they are"
    )
    options = parser.parse_args(arguments)
    if options.keep_only and not options.runs:
        parser.error("--keep-only keeps runs; name some, or leave it out to make the tables")
    if CHECKOUT is None:
        raise InputError("results are kept in docs/ of a checkout; give this command in one")
    for run in options.runs:
        print(*keep_run(run), sep="\n")
    if not options.keep_only:
        make_tables()
        make_drawings()


def keep_run(run: Path) -> list[Path]:
    """Keep the scores of a run and what else was measured of it; returns where. `InputError`, before anything
    is kept, for what is of another model than the scores.
    """
    from zsnmt.masked_lm.report.kept_scores import keep_masked_lm
    from zsnmt.masked_lm.runs import score_file
    from zsnmt.report.confidence import check_confidence, keep_confidence
    from zsnmt.report.documents import keep_probes, keep_scores
    from zsnmt.report.probes.folder import has_probes, probes_of
    from zsnmt.report.scores import Run
    from zsnmt.runs.folder import CONFIDENCE_FILE
    from zsnmt.runs.score_file import read_scores

    if score_file(run).is_file():
        return [keep_masked_lm(run, KEPT_RESULTS)]
    scores, has_confidence = read_scores(run), (run / CONFIDENCE_FILE).is_file()
    probes_of([Run(run, scores)])
    if has_confidence:
        check_confidence(run, scores)
    kept = [keep_scores(scores, KEPT_RESULTS)]
    if has_confidence:
        kept.append(keep_confidence(run, KEPT_RESULTS))
    if has_probes(run):
        kept.append(keep_probes(run, KEPT_RESULTS))
    return kept


def make_tables() -> None:
    """Make the tables of all documents from what is kept, and a page for each config that has none."""
    from zsnmt.files.records import lay_out
    from zsnmt.files.replacing import replacing
    from zsnmt.report.config_pages import configs_without_page, new_page
    from zsnmt.report.documents import KEEP_AGAIN, fill_file

    for path in sorted(KEPT_RESULTS.rglob("*.json")):
        lay_out(path, KEEP_AGAIN)
    for config in configs_without_page(KEPT_RESULTS):
        with replacing(KEPT_RESULTS / f"{config}.md") as file:
            file.write(new_page(KEPT_RESULTS, config).encode("utf-8"))
    by_name = makers()
    for path in documents():
        fill_file(path, KEPT_RESULTS, by_name)


def make_drawings() -> None:
    """Make the drawings of what is kept."""
    from zsnmt.files.replacing import replacing
    from zsnmt.report.figures import png
    from zsnmt.report.in_short import kept_figures

    for name, drawing in kept_figures(KEPT_RESULTS):
        with replacing(FIGURES / f"{name}.png") as file:
            file.write(png(drawing))
