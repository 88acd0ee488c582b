"""Documents whose tables are made from score files: text between `<!-- begin NAME -->` and `<!-- end NAME
-->`.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from zsnmt.errors import InputError
from zsnmt.files import read_json, write_json
from zsnmt.masked_lm.report.runs import SCORES_FILE as COMPRESSION_FILE
from zsnmt.masked_lm.report.runs import in_order
from zsnmt.masked_lm.report.runs import read as read_compression
from zsnmt.masked_lm.report.tables import markdown_report
from zsnmt.report.markdown import (
    every_direction,
    folded,
    markdown_table,
    probes_markdown,
    study_markdown,
    text_systems,
)
from zsnmt.report.overlap import overlap_table, round_trip_table
from zsnmt.report.probes.folder import FOLDER as PROBES
from zsnmt.report.probes.folder import TABLES, Probes, check_probed_alike, parse, read
from zsnmt.report.scores import OfSystem
from zsnmt.report.systems import STUDY_TABLES
from zsnmt.runs.scores import Result, Scores, read_score_file, write_score_file
from zsnmt.runs.systems import BASELINE, RESIDUAL

ROUND_TRIPS, OVERLAPS, COMPRESSION = (
    "round_trip",
    "overlap",
    "compression",
)  # folders, the last one below that of a config
KEEP_AGAIN = "keep the run again with zsnmt results RUN"
OVERLAP_REMEDY = "make it with zsnmt check-overlap --remove-to"
_BLOCK = re.compile(r"<!-- begin (\S+) -->\n.*?<!-- end \1 -->", re.DOTALL)


def kept_scores(folder: Path, config: str) -> list[Scores]:
    """The kept score files of a config, by system and seed."""
    paths = kept_files(folder / config, "score files; add runs")
    return sorted([read_score_file(path, KEEP_AGAIN) for path in paths], key=by_length)


def kept_files(folder: Path, lacking: str) -> list[Path]:
    """The kept files of a folder; `InputError` if there are none, with what is lacking and what to add."""
    paths = sorted(folder.glob("*.json"))
    if not paths:
        raise InputError(f"{folder} holds no {lacking} with zsnmt results RUN")
    return paths


def by_length(run: OfSystem) -> tuple[int, str, int]:
    """A key that sorts runs by system, the baseline with its short name first, and seed."""
    return len(run.system), run.system, run.seed


def keep_scores(scores: Scores, folder: Path) -> Path:
    """Where the score file of a run is kept, without what names a machine and without the resamples of
    directions.
    """
    path = folder / scores.config / f"{scores.system}.seed{scores.seed}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    results, before = map(without_resamples, (scores.results, scores.before))
    write_score_file(path, replace(scores, text=None, results=results, before=before))
    return path


def without_resamples(results: Sequence[Result]) -> list[Result]:
    """The results with their intervals alone."""
    return [replace(result, uncertainty=result.uncertainty._replace(resampled={})) for result in results]


def keep(content: dict, path: Path) -> Path:
    """Write a score file where the project keeps it, and say where."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, content)
    return path


def keep_probes(run: Path, folder: Path) -> Path:
    """Where the probes of a run are kept, their tables as lists of lines; `InputError` if it has none or
    they are damaged.
    """
    found = read(run)
    record = parse(found, run / PROBES).record
    kept = record | {name: found[name] for name in TABLES if name in found}
    path = folder / record["config"] / PROBES / f"{record['system']}.seed{record['seed']}.json"
    return keep(kept, path)


def kept_probes(folder: Path, config: str) -> list[Probes]:
    """The kept probes of a config, by system and seed; `InputError` if there are none or they cannot be
    compared.
    """
    paths = kept_files(folder / config / PROBES, "probes; add runs that have some")
    found = [parse(read_json(path, KEEP_AGAIN), path) for path in paths]
    check_probed_alike(found)
    return sorted(found, key=by_length)


def keep_compression(run: Path, folder: Path) -> Path:
    """Where the score file of a masked LM is kept, without what only drawings show; `InputError` if it is
    missing or not whole.
    """
    scores = read_compression(run / COMPRESSION_FILE)
    kept = scores | {"curves": None, "correlations": None}
    path = (
        folder
        / scores["config"]
        / COMPRESSION
        / f"{scores['condition']}.{scores['system']}.seed{scores['seed']}.json"
    )
    return keep(kept, path)


def kept_compression(folder: Path, config: str) -> list[dict]:
    """The kept masked LMs of a config in the order of tables; `InputError` if there are none or they
    cannot be compared.
    """
    return in_order(
        [*map(read_compression, kept_files(folder / config / COMPRESSION, "score files; add masked LMs"))]
    )


def fill(document: str, folder: Path) -> str:
    """The document with every block made anew from the score files kept in `folder`.

    A block is named for its config; `NAME:demo` is the first table that `recipes/demo.sh` prints, of the two
    systems that it trains, `NAME` the Markdown table with commands, and all directions folded below it;
    `NAME:round_trip` is what the text pipeline gives back, `NAME:probes` what probes found, with the tables
    of layers and languages folded, `NAME:clip_distance` and `NAME:encodings` the tables of these studies,
    `NAME:compression` those of masked LMs with different position encodings, `overlap` what was found of
    held-out sentences in the training text of each corpus.
    """

    def block(match: re.Match) -> str:
        config, _, form = match[1].partition(":")
        if config == OVERLAPS:
            content = overlap_table(
                {
                    path.stem: read_json(path, OVERLAP_REMEDY)
                    for path in sorted((folder / OVERLAPS).glob("*.json"))
                }
            )
        elif form == "round_trip":
            content = round_trip_table(
                read_json(folder / ROUND_TRIPS / f"{config}.json", "make it with zsnmt round-trip")
            )
        elif form == "probes":
            content = probes_markdown(kept_probes(folder, config))
        elif form == "compression":
            content = markdown_report(kept_compression(folder, config))
        elif form in STUDY_TABLES:
            content = study_markdown(form, kept_scores(folder, config))
        elif form == "demo":
            kept = kept_scores(folder, config)
            shown = [scores for scores in kept if scores.system in (BASELINE.name, RESIDUAL.name)]
            content = f"```\n{text_systems(shown)}\n```"
        else:
            scores = kept_scores(folder, config)
            content = f"{markdown_table(scores)}\n\n{folded('every direction', every_direction(scores))}"
        return f"<!-- begin {match[1]} -->\n{content}\n<!-- end {match[1]} -->"

    return _BLOCK.sub(block, document)
