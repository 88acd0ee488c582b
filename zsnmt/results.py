"""What the project keeps of runs in docs/results/, and the documents and drawings that are made of it."""

import logging
from itertools import chain
from pathlib import Path

from zsnmt.claims import table as claims
from zsnmt.files.project import ROOT
from zsnmt.files.records import lay_out
from zsnmt.files.replacing import replacing
from zsnmt.masked_lm.report import kept_inference as natural_language_inference
from zsnmt.masked_lm.report import kept_scores as masked_lms
from zsnmt.masked_lm.report import papers as masked_lm_papers
from zsnmt.masked_lm.report.kept_inference import drawn_inference, has_inference, keep_inference
from zsnmt.masked_lm.report.kept_scores import keep_masked_lm
from zsnmt.masked_lm.runs import score_file
from zsnmt.report import confidence, config_pages, in_short
from zsnmt.report import documents as translation
from zsnmt.report.confidence import FOLDER as CONFIDENCE
from zsnmt.report.confidence import check_confidence, keep_confidence
from zsnmt.report.config_pages import configs_without_page, new_page
from zsnmt.report.documents import (
    KEEP_AGAIN,
    Maker,
    fill_file,
    keep_probes,
    keep_scores,
    kept_before,
    kept_score_path,
)
from zsnmt.report.figures import png
from zsnmt.report.kept_figures import kept_figures
from zsnmt.report.papers import tables as papers
from zsnmt.report.probes.folder import has_probes, probes_of
from zsnmt.report.scores import Run
from zsnmt.runs.folder import CONFIDENCE_FILE
from zsnmt.runs.probe_folder import PROBES
from zsnmt.runs.score_file import read_scores
from zsnmt.runs.scores import Scores, ways_lost, with_ways_of

logger = logging.getLogger(__name__)

FIGURES = ROOT / "docs" / "figures"
MAKING = (
    *(translation, in_short, config_pages, confidence, papers, claims),
    *(masked_lms, masked_lm_papers, natural_language_inference),
)


def documents() -> list[Path]:
    """What may have tables of kept results."""
    return [ROOT / "README.md", ROOT / "RESULTS.md", *sorted((ROOT / "docs").rglob("*.md"))]


def makers() -> dict[str, Maker]:
    """What makes each block of a document, of all studies."""
    return {name: maker for module in MAKING for name, maker in module.MAKERS.items()}


def keep_run(run: Path, folder: Path, *, replace: bool = False) -> list[Path]:
    """Keep the scores of a run and what else was measured of it; returns where. `InputError`, before anything
    is kept, for what is of another model than the scores.

    Where more is kept of an earlier run of this name, say by further ways, that stays, unless it is to be
    replaced: a run that was made again for one figure takes no other figures from the tables.
    """
    if score_file(run).is_file():
        return [keep_masked_lm(run, folder)]
    if has_inference(run):
        return [keep_inference(run, folder)]
    scores, has_confidence = read_scores(run), (run / CONFIDENCE_FILE).is_file()
    probes_of([Run(run, scores)])
    if has_confidence:
        check_confidence(run, scores)
    if not replace and (lost := lost_by_keeping(run, scores, folder)):
        logger.warning(
            "%s stays as it is: %s would be lost, which %s has not; measure that of this run, too, or take "
            "this run in its place with --replace",
            kept_score_path(scores, folder),
            ", ".join(lost),
            run,
        )
        return []
    kept = [keep_scores(scores, folder)]
    if has_confidence:
        kept.append(keep_confidence(run, folder))
    if has_probes(run):
        kept.append(keep_probes(run, folder))
    return kept


def lost_by_keeping(run: Path, scores: Scores, folder: Path) -> list[str]:
    """What is kept of another run of this name and was not measured of this one, in words."""
    kept = kept_before(scores, folder)
    if kept is None:
        return []
    lost = [f"translation {way.phrase}".strip() for way in ways_lost(kept, with_ways_of(kept, scores))]
    if kept.decoding.get("model") != scores.decoding.get("model"):
        path = kept_score_path(scores, folder)
        measured = {CONFIDENCE: (run / CONFIDENCE_FILE).is_file(), PROBES: has_probes(run)}
        missing = [what for what, there in measured.items() if not there]
        lost += [what for what in missing if (path.parent / what / path.name).is_file()]
    return lost


def make_tables(folder: Path) -> None:
    """Make the tables of all documents from what is kept, and a page for each config that has none."""
    for path in sorted(folder.rglob("*.json")):
        lay_out(path, KEEP_AGAIN)
    for config in configs_without_page(folder):
        with replacing(folder / f"{config}.md") as file:
            file.write(new_page(folder, config).encode("utf-8"))
    by_name = makers()
    for path in documents():
        fill_file(path, folder, by_name)


def make_drawings(folder: Path) -> None:
    """Make the drawings of what is kept."""
    for name, drawing in chain(kept_figures(folder), drawn_inference(folder)):
        with replacing(FIGURES / f"{name}.png") as file:
            file.write(png(drawing))
