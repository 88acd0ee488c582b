"""Score files of masked LMs, which `zsnmt.masked_lm.scores` measures and writes: what they say."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple, get_type_hints

from zsnmt.files.kinds import check_kinds


class Perplexity(NamedTuple):
    """That of the masked tokens of all text, and of the first language's."""

    full: float
    first: float


class Curves(NamedTuple):
    """Dimensions of a table of positions, from 0, and the values of each by position."""

    dimensions: Sequence[int]
    values: Sequence[Sequence]


class Correlations(NamedTuple):
    """Words as queries, and how each meets positions as keys."""

    words: Sequence[str]
    values: Sequence[Sequence]


class Losses(NamedTuple):
    """Procrustes losses by offset: mean and median of the relative ones, and the mean of those that are not
    divided, which older files lack. `noise`: the median of independent vectors, None of positions as keys.
    """

    offsets: Sequence[int]
    mean: Sequence[float]
    median: Sequence[float]
    undivided: Sequence[float] | None = None
    noise: float | None = None


class Example(NamedTuple):
    """A sentence of the first language, and what the second makes of it."""

    first: str
    second: str | None = None


@dataclass(frozen=True, kw_only=True)
class MaskedLM:
    """A run as its score file has it: what it is, how it was trained, and its figures.

    What the model does not have, such as positions, and what older files lack is None. `retrieval` of
    sentences and `translation` of words: P@1 (0–1) by layer, the mean of both ways, empty for one language
    alone. `content` is all that the file says.
    """

    config: str
    condition: str
    system: str
    seed: int
    command: str
    commit: str
    versions: Mapping[str, str]
    updates: int
    epochs: float
    sentences: Mapping[str, int]  # of a split, in all languages
    perplexity: Perplexity
    retrieval: Mapping[str, float]
    translation: Mapping[str, float]
    ml_score: float | None
    curves: Curves | None
    procrustes: Losses | None
    correlations: Correlations | None
    procrustes_keys: Losses | None = None  # of positions as keys
    bands: float | None = None  # the share of the correlations that positions explain
    example: Example | None = None
    trees: Mapping[str, Mapping[str, int]] | None = None  # of a split, by whether they were left out and why
    content: dict[str, Any] = field(repr=False, compare=False)

    @property
    def name(self) -> str:
        """Condition, system and seed."""
        return f"{self.condition} {self.system} seed {self.seed}"

    @property
    def accuracy(self) -> dict[str, Mapping[str, float]]:
        """P@1 by measure and layer."""
        return {measure: getattr(self, measure) for measure in MEASURES}


MEASURES = "retrieval", "translation"
RECORDED = [each for each in fields(MaskedLM) if each.name != "content"]
REQUIRED = [each.name for each in RECORDED if each.default is not None]
HINTS = get_type_hints(MaskedLM)
KINDS = {each.name: HINTS[each.name] for each in RECORDED} | {  # and what has another form in the file
    "sentences": {"train": int, "valid": int},
    **dict.fromkeys(MEASURES, ({str: {"mean": float}}, None)),
    "procrustes": ({**get_type_hints(Losses), "noise": float}, None),
    "bands": ({"positions": float}, None),
}
PARTS: dict[str, Any] = {
    **dict(perplexity=Perplexity, curves=Curves, correlations=Correlations, example=Example),
    **dict.fromkeys(("procrustes", "procrustes_keys"), Losses),
}
ROWS = (  # of a part, and what they are of
    ("curves", "values", "dimensions"),
    ("correlations", "values", "words"),
    ("procrustes", "mean", "offsets"),
    ("procrustes", "median", "offsets"),
    ("procrustes_keys", "median", "offsets"),
)


def parse_scores(content: dict[str, Any]) -> MaskedLM:
    """What the JSON of a score file says; an error that `damage_of` knows where it is not one."""
    for name, values, names in ROWS:
        if (part := content.get(name)) is not None and (rows := len(part[values])) != len(part[names]):
            raise ValueError(f"it has {rows} rows of {name} for {len(part[names])} names of them")
    check_kinds(content, KINDS)
    found: dict[str, Any] = {name: content.get(name) for name in KINDS}
    for name, kind in PARTS.items():
        found[name] = found[name] and kind._make(map(found[name].get, kind._fields))
    for name in MEASURES:
        found[name] = {layer: of["mean"] for layer, of in (found[name] or {}).items()}
    found["bands"] = found["bands"] and found["bands"]["positions"]
    return MaskedLM(**found, content=content)
