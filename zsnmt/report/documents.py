"""Documents whose tables are made from score files: text between `<!-- begin NAME -->` and
`<!-- end NAME -->`.

A block is filled by the maker that is registered for its name, or for its form, which follows a colon.
`MAKERS` are those of translation; each other study has its own.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from zsnmt.corpora.left_out import read_overlap
from zsnmt.errors import InputError
from zsnmt.files.names import is_plain
from zsnmt.files.records import damage_of, read_json, write_json
from zsnmt.files.replacing import replacing
from zsnmt.report.comparison import (
    every_direction,
    fold,
    markdown_table,
    probes_markdown,
    study_markdown,
    text_in_short,
)
from zsnmt.report.overlap import overlap_table, round_trip_table
from zsnmt.report.pivots import share_pivots
from zsnmt.report.probes.folder import Probes, comparable, parse, read
from zsnmt.report.scores import RunResult, own_first
from zsnmt.report.systems import STUDY_TABLES, runs_table
from zsnmt.report.table import markdown_rows
from zsnmt.runs.probe_folder import PROBES, TABLES
from zsnmt.runs.score_file import read_score_file, write_score_file
from zsnmt.runs.scores import Result, Scores, with_ways_of
from zsnmt.runs.systems import BASELINE, RESIDUAL

ROUND_TRIPS, OVERLAPS = "round_trip", "overlap"  # folders of what is kept
KEEP_AGAIN = "keep the run again with zsnmt results RUN"
OVERLAP_REMEDY = "make it with zsnmt check-overlap --remove-to"
Maker = Callable[[Path, str], str]  # the text of a block, of the folder of what is kept and a config
# A path with spaces stands in quotes, others behind a space, a bracket or an equals sign, too.
ABSOLUTE = re.compile(r"""(?<=['"])/[^'"]+(?=['"])|(?<![^\s='"([])/[^\s'")\]]+""")
BLOCK = re.compile(r"<!-- begin ([^\n]+?) -->\n.*?<!-- end \1 -->", re.DOTALL)  # names may have spaces
MARK = re.compile(r"^<!-- (begin|end) ([^\n]+?) -->", re.MULTILINE)


def kept_scores(folder: Path, config: str) -> list[Scores]:
    """The kept score files of a config, by system and seed, those of other toolkits last; a system has one
    pivot, whatever the seed.
    """
    paths = kept_files(folder / config, "score files; add runs")
    return own_first(share_pivots(sorted(map(kept_score_file, paths), key=sort_key)))


def kept_score_file(path: Path) -> Scores:
    """What a kept score file says; many tables are made of the same files."""
    state = path.stat()
    return read_once(path, (state.st_mtime_ns, state.st_size))


@lru_cache(maxsize=1024)
def read_once(path: Path, state: tuple[int, int]) -> Scores:
    """The same, once for each time of change and size (`state`) of a file."""
    return read_score_file(path, KEEP_AGAIN)


def kept_files(folder: Path, lacking: str) -> list[Path]:
    """The kept files of a folder; `InputError` if there are none, with what is lacking and what to add."""
    paths = sorted(folder.glob("*.json"))
    if not paths:
        raise InputError(f"{folder} holds no {lacking} with zsnmt results RUN")
    return paths


def sort_key(run: RunResult) -> tuple[int, str, int]:
    """A key that sorts runs by system, the baseline with its short name first, and seed."""
    return len(run.system), run.system, run.seed


def keep_scores(scores: Scores, folder: Path) -> Path:
    """Where the score file of a run is kept, without what names a machine and without the resamples of
    directions. What is kept of other ways of the same model stays, if it was decoded and scored alike.
    """
    path = kept_score_path(scores, folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    if kept := kept_before(scores, folder):
        scores = with_ways_of(kept, scores)
    results, before = map(drop_resamples, (scores.results, scores.before))
    said = {
        name: make_portable(getattr(scores, name))
        for name in ("command", "adapted_from", "pivot_by", "others")
    }
    write_score_file(path, replace(scores, text=None, results=results, before=before, **said))
    return path


def kept_score_path(scores: Scores, folder: Path) -> Path:
    """Where the score file of a run is kept."""
    return folder / plain_name(scores.config) / f"{plain_name(scores.system)}.seed{scores.seed}.json"


def kept_before(scores: Scores, folder: Path) -> Scores | None:
    """What is kept of a run of this name; None where nothing is, or where that is damaged."""
    with suppress(InputError, FileNotFoundError):
        return read_score_file(kept_score_path(scores, folder), KEEP_AGAIN)
    return None


def make_portable(content: Any) -> Any:
    """What a record says, with absolute paths as they are in any project: a run's from `runs/` on, of
    another its name.
    """
    if isinstance(content, str):
        return ABSOLUTE.sub(lambda path: portable_path(Path(path[0])), content)
    if isinstance(content, Mapping):
        return {key: make_portable(value) for key, value in content.items()}
    return [*map(make_portable, content)] if isinstance(content, list) else content


def portable_path(path: Path) -> str:
    """An absolute path, from `runs/` on if it is that of a run, or its name."""
    return "/".join(("runs", *path.parts[-3:])) if re.fullmatch(r"seed\d+", path.name) else path.name


def plain_name(name: str) -> str:
    """The name of a config or system, for a path; `InputError` for one that leads elsewhere."""
    if not is_plain(name):
        raise InputError(f"'{name}' cannot name a file of results; score the run again under another name")
    return name


def drop_resamples(results: Sequence[Result]) -> list[Result]:
    """The results with their intervals alone."""
    return [replace(result, uncertainty=result.uncertainty._replace(resampled={})) for result in results]


def keep(content: dict, path: Path) -> Path:
    """Write a record where the project keeps it, without what names a machine, and say where."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, make_portable(content))
    return path


def keep_of_run(record: dict, folder: Path, kind: str) -> Path:
    """Keep what a record says of a run, by its name, among those of a `kind`; returns where."""
    name = f"{plain_name(record['system'])}.seed{record['seed']}.json"
    return keep(record, folder / plain_name(record["config"]) / kind / name)


def keep_probes(run: Path, folder: Path) -> Path:
    """Where the probes of a run are kept, their tables as lists of lines; `InputError` if it has none or
    they are damaged.
    """
    found = read(run)
    record = parse(found, run / PROBES).record
    return keep_of_run(record | {name: found[name] for name in TABLES if name in found}, folder, PROBES)


def kept_probes(folder: Path, config: str) -> list[Probes]:
    """The kept probes of a config, by system and seed, that can be compared with the first; `InputError` if
    there are none.
    """
    return comparable_probes(folder, config)[0]


def comparable_probes(folder: Path, config: str) -> tuple[list[Probes], str]:
    """The same, and a sentence on the others."""
    paths = kept_files(folder / config / PROBES, "probes; add runs that have some")
    return comparable(sorted((parse(read_json(path, KEEP_AGAIN), path) for path in paths), key=sort_key))


def fill(document: str, folder: Path, makers: Mapping[str, Maker]) -> str:
    """The document with every block made anew from the score files kept in `folder`.

    `makers` are by the name of a block, or by a colon and its form: `:probes` makes the block `NAME:probes`
    from what is kept of the config NAME, the maker without a name the block `NAME`. `InputError` for a form
    that nothing makes, and for a block that has no end or no beginning.
    """
    if alone := MARK.search(BLOCK.sub("", document)):
        raise InputError(
            f"'{alone[0]}' stands alone, so that its block would not be filled; write "
            f"'<!-- begin {alone[2]} -->' at the end of a line, and '<!-- end {alone[2]} -->' below"
        )

    def block(match: re.Match) -> str:
        name = match[1]
        config, colon, form = name.partition(":")
        maker = makers.get(name) or makers.get(colon + form)
        if maker is None:
            forms = ", ".join(f"{config}{key}" for key in makers if key.startswith(":"))
            raise InputError(f"the block '{name}' has a form that nothing makes; write {config}, {forms}")
        return f"<!-- begin {name} -->\n{maker(folder, config)}\n<!-- end {name} -->"

    return BLOCK.sub(block, document)


def fill_file(path: Path, folder: Path, makers: Mapping[str, Maker]) -> None:
    """Fill a document that is a file; its path stands before the message of an `InputError`."""
    try:
        document = fill(path.read_text(encoding="utf-8"), folder, makers)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    with replacing(path) as file:
        file.write(document.encode("utf-8"))


def scores_block(folder: Path, config: str) -> str:
    """The Markdown table with commands, and all directions and versions folded below it."""
    scores = kept_scores(folder, config)
    versions = markdown_rows(runs_table(scores).only(["system", "seed", "versions"]))
    folded = fold("every direction", every_direction(scores)), fold("versions", versions)
    return "\n\n".join([markdown_table(scores), *folded])


def demo(folder: Path, config: str) -> str:
    """The table that `recipes/demo.sh` prints, of the two systems that it trains without a teacher."""
    shown = [
        scores for scores in kept_scores(folder, config) if scores.system in (BASELINE.name, RESIDUAL.name)
    ]
    return f"```\n{text_in_short(shown)}\n```"


def probes(folder: Path, config: str) -> str:
    """What probes found, with the tables of layers and languages folded."""
    return probes_markdown(*comparable_probes(folder, config))


def study(form: str, folder: Path, config: str) -> str:
    """The table of a study."""
    return study_markdown(form, kept_scores(folder, config))


def round_trip(folder: Path, config: str) -> str:
    """What the text pipeline of a config gives back."""
    path, remedy = folder / ROUND_TRIPS / f"{config}.json", "make it with zsnmt round-trip"
    content = read_json(path, remedy)
    with damage_of(path, remedy):
        return round_trip_table(content)


def overlap(folder: Path, name: str) -> str:
    """What was found of held-out sentences in the training text of each corpus."""
    return overlap_table(
        {path.stem: read_overlap(path, OVERLAP_REMEDY) for path in sorted((folder / name).glob("*.json"))}
    )


MAKERS: dict[str, Maker] = {
    "": scores_block,
    ":demo": demo,
    ":probes": probes,
    **{f":{form}": partial(study, form) for form in STUDY_TABLES},
    f":{ROUND_TRIPS}": round_trip,
    OVERLAPS: overlap,
}
