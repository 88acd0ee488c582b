"""The model card of a folder: what the model is, how to use it, its scores, data and limits."""

import re
from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from zsnmt.corpora.releases.catalogue import CATALOGUE
from zsnmt.errors import InputError
from zsnmt.files.replacing import replacing
from zsnmt.inference.export.folder import EXPORT_FILE
from zsnmt.languages import Direction
from zsnmt.report.comparison import every_direction, markdown_table
from zsnmt.runs.folder import CONFIG_FILE
from zsnmt.runs.score_file import SCORES_FILE, read_scores

CARD_FILE, TEMPLATE = "README.md", "card.md.jinja"


def write_card(folder: Path, run: Path, record: dict, *, stock: bool) -> None:
    """Write the card of a run, whose record is that of the export. `stock`: the model needs no code."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    config = run / CONFIG_FILE
    words = config.read_text(encoding="utf-8") if config.is_file() else ""
    languages, trained = record["languages"], record["trained"]
    untrained = [
        str(direction)
        for one in languages
        for other in languages
        if one != other and str(direction := Direction(one, other)) not in trained
    ]
    content = environment.get_template(TEMPLATE).render(
        record,
        stock=stock,
        untrained=untrained,
        example=untrained[0].split("-") if untrained else [*languages[:2]],
        words=words,
        corpora={name: CATALOGUE[name].licence for name in find_corpora(words, record["run"])},
        code=sorted(path.name for path in folder.glob("*.py")),
        record_file=EXPORT_FILE,
        **scores_in_words(run),
    )
    with replacing(folder / CARD_FILE) as file:
        file.write(content.encode("utf-8"))


def find_corpora(words: str, run: dict) -> Sequence[str]:
    """The corpora that the settings of a config name, or the commands in its comments that fetch its text, or
    that the config or the text is called after.
    """
    settings = re.sub(r"(?m)(^|\s)#.*", "", words)
    fetched = " ".join(re.findall(r"zsnmt (?:fetch|import-corpus)\s+(\S+)", words))
    named = {*re.findall(r"[a-z0-9]+", f"{settings} {fetched} {run['config']} {run['text']}".lower())}
    return [name for name in CATALOGUE if {*name.split("_")} <= named]


def scores_in_words(run: Path) -> dict[str, str]:
    """Tables of a run's scores in Markdown; empty where it has none, with the reason."""
    if not (run / SCORES_FILE).is_file():
        return {"summary": "", "directions": "", "unscored": "the run was not scored"}
    try:
        scores = [read_scores(run)]
    except InputError as error:
        return {"summary": "", "directions": "", "unscored": str(error)}
    return {"summary": markdown_table(scores), "directions": every_direction(scores), "unscored": ""}
