"""Tables of how well the confidence of translations ranks them, from the records of `zsnmt confidence`."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from zsnmt.errors import InputError
from zsnmt.files.records import read_json
from zsnmt.languages import kind_name
from zsnmt.report.comparison import fold
from zsnmt.report.documents import KEEP_AGAIN, Maker, keep_of_run, kept_files
from zsnmt.report.scores import short_commit
from zsnmt.report.table import markdown_grid
from zsnmt.runs.folder import CONFIDENCE_FILE
from zsnmt.runs.scores import Scores

FOLDER = "confidence"  # of what is kept of a config
RANKING = {"spearman": float, "interval": [float]}
FIGURES = {"mean_log_probability": "by mean log-probability", "agreement": "by agreement with the pivot"}
MEASURED = {"kind": str, "chrf": float, "mean_log_probability": RANKING}
RECORD_KINDS = {
    "config": str,
    "system": str,
    "seed": int,
    "commit": str,
    "decoding": {"beam": int, "engine": str | None, "lines": int | None},
    "signatures": {"chrf": str, "intervals": str},
    "directions": [{**MEASURED, "direction": str, "lines": int}],
    "means": [{**MEASURED, "directions": int}],
}
AGAIN = "measure the run again with zsnmt confidence RUN"


def check_confidence(run: Path, scores: Scores) -> None:
    """`InputError` for a record of another model than the scores of the run."""
    record = read_json(run / CONFIDENCE_FILE, AGAIN, RECORD_KINDS)
    if record["decoding"].get("model") != scores.decoding.get("model"):
        raise InputError(
            f"{run / CONFIDENCE_FILE} is of another model than {run} was scored with; {AGAIN}, or remove it"
        )


def keep_confidence(run: Path, folder: Path) -> Path:
    """Keep the record of a run; returns where."""
    return keep_of_run(read_json(run / CONFIDENCE_FILE, AGAIN, RECORD_KINDS), folder, FOLDER)


def confidence_tables(records: Sequence[Mapping[str, Any]]) -> str:
    """The means of runs, and all their directions folded below, in Markdown."""
    means = [(record, row) for record in records for row in record["means"]]
    directions = [(record, row) for record in records for row in record["directions"]]
    return "\n\n".join(
        [
            rows("directions", means, lambda row: str(row["directions"])),
            "Spearman's correlation, over the lines of a direction, of what is known of a direct translation "
            "with its sentence chrF against the reference; means over directions; in brackets 95 % intervals "
            "by bootstrap resampling of the lines.",
            "\n".join(map(provenance, records)),
            fold("every direction", rows("direction", directions, lambda row: row["direction"])),
        ]
    )


def rows(what: str, found: Sequence[tuple[Mapping, Mapping]], name: Callable[[Mapping], str]) -> str:
    """A row for each mean or direction of a run."""
    columns = {"system": False, "seed": True, "kind": False, what: True, "chrF": True}
    columns |= dict.fromkeys(FIGURES.values(), True)
    cells = [
        [
            *(record["system"], str(record["seed"]), kind_name(row["kind"]), name(row), f"{row['chrf']:.1f}"),
            *(correlation(row.get(figure)) for figure in FIGURES),
        ]
        for record, row in found
    ]
    return markdown_grid([*columns], cells, [*columns.values()])


def correlation(ranking: Mapping[str, Any] | None) -> str | None:
    """A correlation with its interval."""
    if ranking is None:
        return None
    low, high = ranking["interval"]
    return f"{ranking['spearman']:z.2f} [{low:z.2f}, {high:z.2f}]".replace("-", "−")


def provenance(record: Mapping[str, Any]) -> str:
    """How a run was measured."""
    decoding, signatures = record["decoding"], record["signatures"]
    lines = f", the first {decoding['lines']} lines of each direction" if decoding.get("lines") else ""
    return (
        f"* `{record['system']}`, seed {record['seed']}: commit {short_commit(record['commit'])}, "
        f"{decoding.get('engine') or 'float32'}, beam {decoding['beam']}{lines}; chrF: {signatures['chrf']}; "
        f"intervals: {signatures['intervals']}."
    )


def confidence_block(folder: Path, config: str) -> str:
    """The tables of what is kept of a config."""
    paths = kept_files(folder / config / FOLDER, "measures of confidence; add runs that have some")
    return confidence_tables([read_json(path, KEEP_AGAIN, RECORD_KINDS) for path in paths])


MAKERS: dict[str, Maker] = {f":{FOLDER}": confidence_block}
