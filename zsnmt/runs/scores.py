"""Score files: one JSON per run, from which every table is made.

A result is of a direction. Its *kind* says what the direction is to the model (`zsnmt.languages.kind_of`),
its *way* says how it was decoded. The two are independent: a zero-shot direction may be decoded directly,
through the pivot, and in any other way.
"""

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

from zsnmt.decoding.methods.settings import OWN_PIVOT_NAME, Method
from zsnmt.errors import InputError
from zsnmt.files.kinds import check_kinds
from zsnmt.files.records import damage_of, read_json, write_json
from zsnmt.languages import KINDS, ZERO_SHOT, Direction, parse_direction

SCORES_FILE = "scores.json"
FORMAT = 2  # those of format 1 do not say so; they have the way in place of the kind (`"kind": "pivot"`)
NAME = re.compile("[a-z][a-z0-9_]*")
OLD_MEANS = ("intervals", "resampled")  # of format 1, by kind


@dataclass(frozen=True)
class Way:
    """How a direction was decoded: the name of a method, and the settings that tell it from others of the
    same name.

    Settings are words, numbers and lists of them. They are given as a mapping and kept in the order of their
    names, so that equal ways are equal and can be keys.
    """

    name: str
    settings: tuple[tuple[str, object], ...] = ()

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):  # it begins the names of files
            raise InputError(f"'{self.name}' cannot name a way: give small letters, digits and underscores")
        object.__setattr__(
            self,
            "settings",
            tuple(sorted((name, hashable(value)) for name, value in dict(self.settings).items())),
        )

    @classmethod
    def of_method(cls, method: Method) -> "Way":
        """The way that a method is."""
        return cls(method.name, tuple(method.settings.items()))

    @property
    def label(self) -> str:
        """The way in a few words: `pivot`, `mask (keep 0.9)`."""
        listed = ", ".join(f"{name} {setting_in_words(value)}" for name, value in self.settings)
        name = self.name.replace("_", " ")
        return f"{name} ({listed})" if listed else name

    @property
    def phrase(self) -> str:
        """What tables say after the name of a figure: nothing of direct translation, `through pivot`, `by
        mask (keep 0.9)`.
        """
        if self == DIRECT:
            return ""
        return f"{'through' if self.name in (PIVOT.name, OWN_PIVOT.name) else 'by'} {self.label}"

    @property
    def file_name(self) -> str:
        """The beginning of the names of its files: `direct`; with settings also their checksum."""
        if not self.settings:
            return self.name
        return f"{self.name}-{hashlib.sha256(json.dumps(self.settings).encode('utf-8')).hexdigest()[:8]}"

    def to_json(self) -> str | dict:
        """The name alone, or with its settings."""
        return {"name": self.name, "settings": dict(self.settings)} if self.settings else self.name

    @classmethod
    def from_json(cls, content: str | dict) -> "Way":
        """What `to_json` gave."""
        return cls(content) if isinstance(content, str) else cls(content["name"], content["settings"])


def hashable(value: object) -> object:
    return tuple(map(hashable, value)) if isinstance(value, (list, tuple)) else value


def setting_in_words(value: object) -> str:
    """A setting as `--ways` takes it: `en+de`, `yes`."""
    if isinstance(value, tuple):
        return "+".join(map(str, value))
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)


DIRECT, PIVOT = Way("direct"), Way("pivot")
OWN_PIVOT = Way(OWN_PIVOT_NAME)  # through the pivot by the run itself, where another run is the pivot's
INTO_PIVOT, INTO_OWN_PIVOT = Way("into_pivot"), Way("into_own_pivot")  # first halves, which no score is of
# What `decoding` says of translations through the pivot alone: the model and the engine of `pivot_by`.
OF_PIVOT = "pivot_model", "pivot_engine"


Shares = Mapping[str, float]


class Uncertainty(NamedTuple):
    """What resampling the test lines says of figures: 95 % intervals, and the resamples as text (see
    `zsnmt.scoring.bootstrap`).
    """

    intervals: Mapping[str, Sequence[float]] = {}
    resampled: Mapping[str, str] = {}


@dataclass(frozen=True)
class Result:
    """The figures of a direction of some kind, decoded in some way; `zsnmt.scoring.figures` says what the
    figures are.

    `identified`: the share (0–1) of each language among the outputs.
    """

    direction: Direction
    kind: str
    way: Way
    figures: Mapping[str, float]
    identified: Shares = field(default_factory=dict)
    uncertainty: Uncertainty = Uncertainty()


@dataclass(frozen=True, kw_only=True)
class Scores:
    """What a score file says of a run: what the run is, how it was decoded and scored, and its results.

    What older score files lack is empty or None. `means`: intervals and resamples of the means over the
    directions of a kind in a way. An adapted run names the run that it goes on from, `adapted_from`, and has
    its results as `before`, with the share of translations that are `unchanged`. `others` is what no table
    reads.
    """

    config: str
    system: str
    seed: int
    command: str = "unknown"
    commit: str = "unknown"
    versions: Mapping[str, str] = field(default_factory=dict)
    text: str | None = None
    training_text: str | None = None  # a checksum of the text that it was trained on, all pairs together
    overlap: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    adapted_from: Mapping | None = None
    training: str | None = None
    chosen_on: Sequence[str] | None = None  # zero-shot directions whose validation text chose checkpoints
    pivot_by: str | None = None  # the run that translates through the pivot, where it is another
    languages: Sequence[str]
    pivot: str
    families: Mapping[str, str] = field(default_factory=dict)  # of languages, beyond those that are known
    word_orders: Mapping[str, str] = field(default_factory=dict)
    decoding: Mapping[str, Any] = field(default_factory=dict)
    test_set: str | None = None  # a checksum: scores with the same one can be compared line by line
    signatures: Mapping[str, str]
    scripts: Mapping[str, str] = field(default_factory=dict)  # in which languages are written
    others: Mapping[str, object] = field(default_factory=dict)
    results: Sequence[Result]
    before: Sequence[Result] = field(default_factory=list)
    means: Mapping[tuple[str, Way], Uncertainty] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """System and seed."""
        return f"{self.system} seed {self.seed}"

    def select(self, kind: str, way: Way = DIRECT) -> Mapping[Direction, Result]:
        """The results of the directions of a kind that were decoded in a way."""
        return self._groups.get((kind, way), {})

    @cached_property
    def groups(self) -> list[tuple[str, Way]]:
        """The kinds and ways of its results, in the order of `order_groups`."""
        return order_groups(self._groups)

    @cached_property
    def kinds(self) -> dict[Direction, str]:
        """What each direction is to the run."""
        return {result.direction: result.kind for result in reversed(self.results)}

    @cached_property
    def _groups(self) -> dict[tuple[str, Way], dict[Direction, Result]]:
        groups: dict[tuple[str, Way], dict[Direction, Result]] = {}
        for result in self.results:
            groups.setdefault((result.kind, result.way), {})[result.direction] = result
        return groups

    @cached_property
    def base(self) -> "Scores":
        """The run before its adaptation, as far as this score file knows it."""
        return replace(self, results=self.before, before=[], means={}, adapted_from=None)


def order_groups(groups: Iterable[tuple[str, Way]]) -> list[tuple[str, Way]]:
    """Kinds and ways as tables list them, each once: by kind, direct ones first, then those through the
    pivot, others as they come.
    """
    known = {DIRECT: 0, PIVOT: 1}
    return sorted(
        dict.fromkeys(groups), key=lambda group: (KINDS.index(group[0]), known.get(group[1], len(known)))
    )


def read_scores(run: Path) -> Scores:
    """The scores of a run; `InputError` if it has none of its present model."""
    from zsnmt.runs.checksums import MODEL_FILE, read_checksums  # loads SentencePiece

    scores = read_score_file(run / SCORES_FILE, f"score the run with zsnmt evaluate {run}")
    scored, present = scores.decoding.get("model"), read_checksums(run).get(MODEL_FILE)
    if scored and present and scored != present:
        raise InputError(
            f"{run / SCORES_FILE} is of another model than {run / MODEL_FILE}; score the run again with "
            f"zsnmt evaluate {run}"
        )
    return scores


def read_score_file(path: Path, remedy: str) -> Scores:
    """What a score file of this or an older version says; `InputError` with the remedy if it is missing or
    damaged.
    """
    content = read_json(path, remedy)
    if (number := content.get("format", 1)) not in (1, FORMAT):
        known = f"this version reads formats up to {FORMAT}"
        raise InputError(f"{path} is of format {number}, and {known}; update zsnmt, or {remedy}")
    with damage_of(path, remedy):
        return parse_scores(content)


def write_score_file(path: Path, scores: Scores) -> None:
    """Write a score file that `read_score_file` reads."""
    write_json(path, content_of(scores))


LISTS = {"results": "directions", "before": "before"}  # of results, by their names in score files
RECORD = [each for each in fields(Scores) if each.name not in (*LISTS, "means", "others")]


SHOWN = {  # what tables show of it besides, as far as there is a kind for it
    LISTS["results"]: Sequence[Mapping],
    "signatures": {"bleu": str, "off_target": str},
    "decoding": {
        "beam": int,
        "lines": int | None,
        "length_penalty": float | None,
        **dict.fromkeys(("model", "length_penalty_form", "engine", "split"), str | None),
    },
    "overlap": {str: {"lines": int, "removed": int}},
}


def record_fields(record: Mapping) -> dict:
    """What a record says, as arguments of `Scores`: what `Scores` does not know is in `others`."""
    known = {each.name for each in RECORD}
    return {
        **{name: value for name, value in record.items() if name in known},
        "others": {name: value for name, value in record.items() if name not in known},
    }


def parse_scores(content: Mapping) -> Scores:
    """The scores that the JSON of a score file holds; an error that `damage_of` knows where it is not one."""
    required = {each.name for each in RECORD if each.default is MISSING and each.default_factory is MISSING}
    hints = hints_of(Scores)
    kinds = {each.name: hints[each.name] for each in RECORD if each.name in content or each.name in required}
    check_kinds({"overlap": {}, **content}, kinds | SHOWN)
    if content.get("adapted_from"):
        check_kinds(
            content["adapted_from"],
            {"mode": str, "languages": Sequence[str], "config": str, "system": str, "seed": int},
        )
    if not content[LISTS["results"]]:
        raise ValueError("it has no direction")
    apart = ("format", "means", *OLD_MEANS, *LISTS.values())
    results, before = ([parse_result(result) for result in content.get(key, [])] for key in LISTS.values())
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
    record = {each.name: getattr(scores, each.name) for each in RECORD}
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


def parse_result(content: Mapping) -> Result:
    figures = dict(content)
    kind, way = parse_group(figures.pop("kind"), figures.pop("way", DIRECT.name))
    direction = parse_direction(figures.pop("direction"))
    identified, *uncertainty = (figures.pop(name, {}) for name in ("identified", *Uncertainty._fields))
    kinds = dict.fromkeys(("bleu", "reference_error", *figures), float) | {"identified": Shares}
    check_kinds({"identified": identified, **figures}, kinds)
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
    if odd := [figure for figure, ends in intervals.items() if len(ends) != 2]:
        raise ValueError(f"the interval of {odd[0]} does not have two ends")
    for figure, text in resampled.items():
        if (size := decoded_size(text)) < 4 or size % 2:
            raise ValueError(f"the resamples of {figure} are not two or more numbers of 16 bits")
    return Uncertainty(intervals, resampled)


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
