"""Score files: one JSON per run, of this format or of the first."""

import base64
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, fields
from functools import cache
from pathlib import Path
from typing import get_type_hints

from zsnmt.errors import InputError
from zsnmt.files.kinds import check_kinds
from zsnmt.files.records import damage_of, read_any_json, write_json
from zsnmt.languages import KINDS, ZERO_SHOT, Direction, kind_name, parse_direction
from zsnmt.runs.checksums import read_checksums
from zsnmt.runs.commands import verb_command
from zsnmt.runs.folder import EXPORT_FILE, MODEL_FILE, PIPELINE_FOLDER, RECORD_FILE, no_run
from zsnmt.runs.scores import Result, Scores, Shares, Uncertainty
from zsnmt.runs.translated_files import has_translations
from zsnmt.runs.ways import DIRECT, PIVOT, Way

SCORES_FILE = "scores.json"
FORMAT = 2  # those of format 1 do not say so; they have the way in place of the kind (`"kind": "pivot"`)
ROUNDING = 1e-6  # how far a figure may be above its range: sacreBLEU has a BLEU of 100.00000000000004
RANGES = {  # of figures; those of others begin at 0
    **dict.fromkeys(("bleu", "chrf", "chrf_on_target"), (0, 100)),
    **dict.fromkeys(("off_target", "copied", "reference_error", "unchanged"), (0, 1)),
    "comet": (-math.inf, math.inf),
}
OLD_MEANS = ("intervals", "resampled")  # of format 1, by kind
LISTS = {"results": "directions", "before": "before"}  # of results, by their names in score files
RECORDED = [each for each in fields(Scores) if each.name not in (*LISTS, "means", "others")]
SHOWN = {  # what tables show of it besides, as far as there is a kind for it
    LISTS["results"]: Sequence[Mapping],
    "signatures": {"bleu": str, "off_target": str},
    "decoding": {
        **dict.fromkeys(("beam", "lines"), int | None),
        "length_penalty": float | None,
        **dict.fromkeys(("model", "length_penalty_form", "engine", "split"), str | None),
    },
    "overlap": {str: {"lines": int, "removed": int}},
}


def read_scores(run: Path) -> Scores:
    """The scores of a run, of an export, or of translations of another toolkit; `InputError` if it has none
    of its present model.
    """
    command = scoring_command(run)
    if not any((run / name).exists() for name in (SCORES_FILE, PIPELINE_FOLDER)):
        if has_translations(run):
            raise InputError(f"{run} has translations without scores; score them with {command}")
        raise no_run(run)
    scores = read_score_file(run / SCORES_FILE, f"score the run with {command}")
    scored, present = scores.decoding.get("model"), read_checksums(run).get(MODEL_FILE)
    if scored and present and scored != present:
        raise InputError(
            f"{run / SCORES_FILE} is of another model than {run / MODEL_FILE}; score the run again with "
            + command
        )
    return scores


def scoring_command(folder: Path) -> str:
    """The command that scores a run or an export again, or, in another folder, translations of another
    toolkit.
    """
    if any((folder / name).exists() for name in (RECORD_FILE, EXPORT_FILE, PIPELINE_FOLDER)):
        return verb_command("evaluate", folder)
    return verb_command("score", "RUN", folder)


def read_score_file(path: Path, remedy: str) -> Scores:
    """What a score file of this or an older version says; `InputError` with the remedy if it is missing,
    damaged or a file of another kind.
    """
    content = read_any_json(path, remedy)
    if not isinstance(content, dict) or LISTS["results"] not in content:
        raise InputError(f"{path} is not a score file; give one, or move it elsewhere, then {remedy}")
    if (number := content.get("format", 1)) not in (1, FORMAT):
        known = f"this version reads formats up to {FORMAT}"
        raise InputError(f"{path} is of format {number}, and {known}; update zsnmt, or {remedy}")
    with damage_of(path, remedy):
        return parse_scores(content)


def write_score_file(path: Path, scores: Scores) -> None:
    """Write a score file that `read_score_file` reads."""
    write_json(path, content_of(scores))


def record_fields(record: Mapping) -> dict:
    """What a record says, as arguments of `Scores`: what `Scores` does not know is in `others`."""
    known = {each.name for each in RECORDED}
    return {
        **{name: value for name, value in record.items() if name in known},
        "others": {name: value for name, value in record.items() if name not in known},
    }


def parse_scores(content: Mapping) -> Scores:
    """The scores that the JSON of a score file holds; an error that `damage_of` knows where it is not one."""
    required = {each.name for each in RECORDED if each.default is MISSING and each.default_factory is MISSING}
    hints = hints_of(Scores)
    kinds = {
        each.name: hints[each.name] for each in RECORDED if each.name in content or each.name in required
    }
    check_kinds({"overlap": {}, **content}, kinds | SHOWN)
    if content.get("adapted_from"):
        check_kinds(
            content["adapted_from"],
            {"mode": str, "languages": Sequence[str], "config": str, "system": str, "seed": int},
        )
    if not content[LISTS["results"]]:
        raise ValueError("it has no direction")
    apart = ("format", "means", *OLD_MEANS, *LISTS.values())
    results, before = (parse_results(content.get(key, [])) for key in LISTS.values())
    return Scores(
        **record_fields({name: value for name, value in content.items() if name not in apart}),
        results=results,
        before=before,
        means=parse_means(content),
    )


@cache
def hints_of(kind: type) -> Mapping[str, object]:
    """The kinds of the fields of a class, which Python looks up by name each time that it is asked."""
    return get_type_hints(kind)


def content_of(scores: Scores) -> dict:
    """The JSON of a score file."""
    record = {each.name: getattr(scores, each.name) for each in RECORDED}
    return {
        "format": FORMAT,
        **{name: value for name, value in record.items() if value not in (None, {})},
        **scores.others,
        "directions": [*map(result_content, scores.results)],
        **({"before": [*map(result_content, scores.before)]} if scores.before else {}),
        "means": [
            group_content(*group) | uncertainty._asdict() for group, uncertainty in scores.means.items()
        ],
    }


def parse_results(listed: Iterable[Mapping]) -> list[Result]:
    """Results of a score file; `ValueError` for a direction that is there twice in one way, or of two
    kinds.
    """
    results: dict[tuple[Direction, Way], Result] = {}
    kinds: dict[Direction, str] = {}
    for result in map(parse_result, listed):
        direction, kind = result.direction, kinds.setdefault(result.direction, result.kind)
        if (direction, result.way) in results:
            raise ValueError(f"{direction} is there twice by one way, {result.way.label}")
        if result.kind != kind:
            raise ValueError(f"{direction} is both {kind_name(kind)} and {kind_name(result.kind)}")
        results[direction, result.way] = result
    return [*results.values()]


def parse_result(content: Mapping) -> Result:
    figures = dict(content)
    kind, way = parse_group(figures.pop("kind"), figures.pop("way", DIRECT.name))
    direction = parse_direction(figures.pop("direction"))
    identified, *uncertainty = (figures.pop(name, {}) for name in ("identified", *Uncertainty._fields))
    kinds = dict.fromkeys(("bleu", "reference_error", *figures), float) | {"identified": Shares}
    check_kinds({"identified": identified, **figures}, kinds)
    for name, value in figures.items():
        check_range(name, value, RANGES.get(name))
    for language, share in identified.items():
        check_range(f"the share of {language}", share, (0, 1))
    return Result(
        direction,
        kind,
        way,
        figures=figures,
        identified=identified,
        uncertainty=parse_uncertainty(*uncertainty),
    )


def parse_uncertainty(intervals: Mapping, resampled: Mapping) -> Uncertainty:
    check_kinds({"intervals": intervals, "resampled": resampled}, hints_of(Uncertainty))
    for figure, ends in intervals.items():
        if len(ends) != 2:
            raise ValueError(f"the interval of {figure} does not have two ends")
        for end in ends:
            check_range(f"an end of the interval of {figure}", end, RANGES.get(figure))
        if ends[0] > ends[1]:
            raise ValueError(f"the interval of {figure} ends below its beginning")
    for figure, text in resampled.items():
        if (size := decoded_size(text)) < 4 or size % 2:
            raise ValueError(f"the resamples of {figure} are not two or more numbers of 16 bits")
    return Uncertainty(intervals, resampled)


def check_range(what: str, value: float, bounds: tuple[float, float] | None) -> None:
    """`ValueError` for a number that is not finite, or below or above what it can be."""
    least, most = bounds or (0, math.inf)
    if not (abs(value) <= sys.float_info.max and least <= value <= most + ROUNDING):
        within = "" if math.isinf(least) else f" from {least:g}" + f" to {most:g}" * math.isfinite(most)
        raise ValueError(f"{what} is a number{within}, not {str(value)[:12]}")


def decoded_size(text: str) -> int:
    """The bytes that a text in base64 stands for; none if it is not one."""
    try:
        return len(base64.b64decode(text, validate=True))
    except ValueError:
        return 0


def result_content(result: Result) -> dict:
    parts = {"identified": result.identified, **result.uncertainty._asdict()}
    return {
        "direction": str(result.direction),
        **group_content(result.kind, result.way),
        **result.figures,
        **{name: part for name, part in parts.items() if part},
    }


def parse_group(kind: str, way: str | dict) -> tuple[str, Way]:
    if kind == PIVOT.name:  # format 1, which pivots zero-shot directions alone
        return ZERO_SHOT, PIVOT
    if kind not in KINDS:
        raise ValueError(f"'{kind}' is not a kind of direction; there are {', '.join(KINDS)}")
    return kind, Way.from_json(way)


def group_content(kind: str, way: Way) -> dict:
    return {"kind": kind, "way": way.to_json()}


def parse_means(content: Mapping) -> dict[tuple[str, Way], Uncertainty]:
    if "means" in content:
        return {
            parse_group(mean["kind"], mean["way"]): parse_uncertainty(mean["intervals"], mean["resampled"])
            for mean in content["means"]
        }
    intervals, resampled = (content.get(name, {}) for name in OLD_MEANS)
    kinds = dict.fromkeys((*intervals, *resampled))
    return {
        parse_group(kind, DIRECT.name): parse_uncertainty(intervals.get(kind, {}), resampled.get(kind, {}))
        for kind in kinds
    }
