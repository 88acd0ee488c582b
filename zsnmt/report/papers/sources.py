"""What tables of papers are filled from: scores, and probes of the encoder."""

from collections.abc import Sequence
from pathlib import Path

from zsnmt.errors import InputError, no_file
from zsnmt.files.records import read_json
from zsnmt.report.comparability import check_comparable
from zsnmt.report.comparison import provenance
from zsnmt.report.documents import KEEP_AGAIN, kept_score_file
from zsnmt.report.notes import pivot_note, search_note
from zsnmt.report.papers.layout import Source
from zsnmt.report.probes import tables as probe_tables
from zsnmt.report.probes.folder import Probes, check_probed_alike, parse, read
from zsnmt.report.scores import runs_by_system, seeds, short_commit
from zsnmt.runs.probe_folder import PROBES
from zsnmt.runs.score_file import read_scores
from zsnmt.runs.scores import Scores


def scores_of(path: Path) -> Scores:
    """The scores of a run folder, or of a score file."""
    return kept_score_file(path) if is_kept(path) else read_scores(path)


def is_kept(path: Path) -> bool:
    """Whether a path is a file of kept results, and not a run folder; `InputError` for another file, and for
    one that is not there.
    """
    if path.suffix == ".json" and not path.exists():
        raise no_file(path)
    if path.is_file() and path.suffix != ".json":
        raise InputError(f"{path} is not a score file; give a run folder, or a .json of zsnmt results")
    return path.is_file()


def signature(runs: Sequence[Scores]) -> str:
    """What the scores of a config depend on: metric, search, lines, runs, and who pivots."""
    first = runs[0]
    said = [
        f"BLEU {first.signatures['bleu']}",
        search_note(first),
        number_of_lines(runs),
        list_seeds(runs),
        pivot_note(runs).strip().removesuffix("."),
    ]
    return "; ".join(filter(None, said))


def number_of_lines(runs: Sequence[Scores]) -> str:
    """How many lines the directions have, as far as the score files say it."""
    figures = [result.figures for scores in runs for result in scores.results]
    lines = sorted({int(of_result["lines"]) for of_result in figures if "lines" in of_result})
    if not lines:
        return ""
    ends = dict.fromkeys([lines[0], lines[-1]])
    return f"{' to '.join(f'{end:,}' for end in ends)} lines a direction"


def list_seeds(runs: Sequence[Scores | Probes]) -> str:
    """The systems and their seeds."""
    return "; ".join(
        f"{system} seed {seeds(of_system)}" for system, of_system in runs_by_system(runs).items()
    )


def probes_of(path: Path) -> Probes:
    """The probes of a run folder, or of a file of kept ones."""
    if is_kept(path):
        return parse(read_json(path, KEEP_AGAIN), path)
    return parse(read(path), path / PROBES)


def probe_provenance(found: Sequence[Probes]) -> str:
    """What made each run's probes, a Markdown item each."""
    return "\n".join(
        f"* `{one.system}`, seed {one.seed}: commit {short_commit(one.record['commit'])}, "
        f"`{one.record['command']}`"
        for one in found
    )


SCORES = Source(
    read=scores_of,
    config=lambda scores: scores.config,
    system=lambda scores: scores.system,
    seed=lambda scores: scores.seed,
    check=check_comparable,
    signature=signature,
    provenance=provenance,
    kept="*/*.seed*.json",
    training="zsnmt ablate",
    remedy="score them with zsnmt evaluate",
    chosen_on_zero_shot=lambda scores: bool(scores.chosen_on),
)
PROBED = Source(
    read=probes_of,
    config=lambda one: one.record["config"],
    system=lambda one: one.system,
    seed=lambda one: one.seed,
    check=check_probed_alike,
    signature=lambda found: f"{probe_tables.settings(found).removesuffix('.')}; {list_seeds(found)}",
    provenance=probe_provenance,
    kept=f"*/{PROBES}/*.json",
    training="zsnmt ablate",
    remedy="probe them for it with zsnmt probe",
)
