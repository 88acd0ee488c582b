"""Score files of masked LMs that the project keeps, and the block of RESULTS.md made from them."""

from pathlib import Path

from zsnmt.errors import InputError
from zsnmt.masked_lm.report.columns import FULL, ML_SCORE
from zsnmt.masked_lm.report.runs import SAME, read, sort_runs
from zsnmt.masked_lm.report.tables import encodings_table
from zsnmt.masked_lm.report.text_tables import mark_best, markdown_report
from zsnmt.masked_lm.runs import score_file
from zsnmt.masked_lm.score_file import MaskedLM
from zsnmt.report.documents import Maker, keep, kept_files, plain_name
from zsnmt.report.in_short import short_table

FOLDER = "compression"  # below that of a config; the name is that of the files kept since version 0.1


def keep_masked_lm(run: Path, folder: Path) -> Path:
    """Where the score file of a run is kept, without correlations, which only a drawing shows, and without
    text; `InputError` if it is missing or not whole.
    """
    scores = read(score_file(run))
    kept = scores.content | {"correlations": None} | ({"example": None} if scores.example else {})
    name = f"{scores.condition}.{scores.system}.seed{scores.seed}.json"
    return keep(kept, folder / plain_name(scores.config) / FOLDER / plain_name(name))


def kept_masked_lms(folder: Path, config: str) -> list[MaskedLM]:
    """The kept runs of a config in the order of tables; `InputError` if there are none or they cannot be
    compared.
    """
    return sort_runs([*map(read, kept_files(folder / config / FOLDER, "score files; add masked LMs"))])


def masked_lms(folder: Path, config: str) -> str:
    """The tables of masked LMs with different position encodings."""
    return markdown_report(kept_masked_lms(folder, config))


def masked_lms_short(folder: Path, config: str) -> str:
    """The main figures of each encoding in EN+[EN]; `InputError` where no run has that condition."""
    if (table := encodings_table(kept_masked_lms(folder, config), SAME)) is None:
        raise InputError(
            f"{folder / config} has no masked LM of the condition {SAME}; add one with zsnmt results"
        )
    about = "Perplexity: lower is better; ML score: how often sentences and words find their translation."
    columns = ["encoding", "seeds", FULL.title, "retrieval, layer 8", ML_SCORE.title]
    return short_table(mark_best(table, "**{}**"), columns, about, page=config)


MAKERS: dict[str, Maker] = {f":{FOLDER}": masked_lms, ":masked_lm_short": masked_lms_short}
