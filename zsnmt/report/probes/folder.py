"""What the probes found in a run: read from its folder `probes`, and checked."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path
from typing import NamedTuple

from zsnmt.analysis import layer_figures
from zsnmt.analysis.layer_figures import LayerFigure
from zsnmt.analysis.similarities import Similarity
from zsnmt.analysis.state_folder import FINAL, LABELS
from zsnmt.errors import InputError
from zsnmt.files.kinds import check_kinds
from zsnmt.files.records import damage_of, read_json
from zsnmt.report.comparability import check_alike
from zsnmt.report.scores import Run
from zsnmt.runs.commands import verb_command
from zsnmt.runs.probe_folder import CLASSIFIERS, CONFUSION, FIGURES, PROBE_RECORD, PROBES, SIMILARITY, TABLES
from zsnmt.text.lines import read_lines

REMEDY = "make the probes again with zsnmt probe"
# What record.json says of a run.
RUN_KEYS = ("config", "system", "seed", "removed_layers", "model", "command", "commit", "versions")
PROBE_KEYS = {  # what else it says, which must be equal in one table, and what that is called
    "text": "probed texts",
    "split": "probed splits",
    "sentences": "numbers of probed sentences",
    "languages": "probed languages",
    "target": "target languages",
    "layers": "layers",
    "dimension": "dimensions",
    "variance": "shares of the variance that SVCCA keeps",
    "kind": "kinds of classifiers",
    "training_text": "texts that classifiers are trained on",
    "train_lines": "numbers of lines that classifiers are trained on",
    "probe_seed": "seeds of the probes",
}
LATER_PROBE_KEYS = {  # and what older ones do not say, see `older_defaults`
    "held_out_text": "texts that classifiers are measured on",
    "held_out_lines": "numbers of lines that classifiers are measured on",
    "batches": "batches of classifiers",
    "classifiers_only": "probes without similarity",
}
KINDS = {
    **dict.fromkeys(("config", "system", "command", "commit", "model"), str),
    "seed": int,
    "versions": Mapping[str, str],
    "removed_layers": Sequence[int],
    **dict.fromkeys(("text", "split", "kind", "training_text"), str),
    "target": str | None,
    "variance": float | None,
    **dict.fromkeys(("dimension", "probe_seed"), int),
    **dict.fromkeys(("sentences", "train_lines"), int | Mapping[str, int]),
    **dict.fromkeys(("layers", "languages", CLASSIFIERS), Sequence[str]),
    **dict.fromkeys((SIMILARITY, FIGURES, CONFUSION), Sequence[str] | None),
}


Columns = Mapping[str, type | LayerFigure]  # of a TSV, and what their cells hold


class ClassifierRow(NamedTuple):
    """A linear classifier of one layer's states; shares are 0–1, see `zsnmt.analysis.held_out.Accuracy`."""

    layer: str
    label: str
    accuracy: float
    chance: float
    majority: float
    rows: int
    unseen: int


@dataclass(frozen=True)
class Probes:
    """What was found in a run: `record`, then by layer similarities of each two languages, figures by name
    (some of `LAYER_FIGURES`), classifiers by label (some of `LABELS`), and how languages are confused: for
    each true one the shares 0–1 of its tokens by predicted language.
    """

    record: dict
    similarities: dict[str, list[Similarity]]
    figures: dict[str, dict[str, float | None]]
    classified: dict[str, dict[str, ClassifierRow]]
    confusions: dict[str, dict[str, list[float]]]

    @property
    def system(self) -> str:
        return self.record["system"]

    @property
    def seed(self) -> int:
        return self.record["seed"]

    @property
    def name(self) -> str:
        """System and seed."""
        return f"{self.system} seed {self.seed}"


def probes_of(runs: Sequence[Run]) -> list[Probes]:
    """The probes of those runs that have some.

    `InputError` for damaged ones, and for those of another model than was scored. See `comparable` for those
    that can stand side by side.
    """
    found = []
    for run in runs:
        if has_probes(run.folder):
            found.append(parse(read(run.folder), run.folder / PROBES))
            if found[-1].record["model"] != run.scores.decoding.get("model"):
                raise InputError(
                    f"{run.folder / PROBES} is of another model than {run.folder} was scored with; {REMEDY}"
                )
    return found


def comparable(found: Sequence[Probes]) -> tuple[list[Probes], str]:
    """The probes with the settings of the first, and a sentence on the others, which cannot stand beside
    them: a deeper student has other layers.
    """
    if not found:
        return [], ""
    apart = {one.name: differing_settings(found[0], one) for one in found}
    alike = [one for one in found if not apart[one.name]]
    others = [f"{name} (other {', '.join(what)})" for name, what in apart.items() if what]
    return alike, f"Not shown here, probed otherwise: {'; '.join(others)}." if others else ""


def has_probes(run: Path) -> bool:
    """Whether a run was probed to the end."""
    return (run / PROBES / PROBE_RECORD).is_file()


def read(run: Path) -> dict:
    """The record of a run's probes, with the lines of each table by the name of its file."""
    folder = run / PROBES
    record = read_json(folder / PROBE_RECORD, f"make it with {verb_command('probe', run)}")
    return record | {
        name: read_lines(folder / name) for name in TABLES if name == CLASSIFIERS or (folder / name).is_file()
    }


def parse(found: dict, source: Path) -> Probes:
    """Probes from what `read` gives of `source`; `InputError` unless record and tables are whole."""
    found = older_defaults(found) | found
    check_record(found, source)
    layers, languages = found["layers"], found["languages"]
    labels = [
        label for label in LABELS if any(line.split("\t")[1:2] == [label] for line in found[CLASSIFIERS])
    ]

    def rows(name: str, columns: Columns, keys: Iterable[tuple[str, ...]]) -> list[list]:
        return table(found.get(name, []), columns, [*keys], name=f"{name} in {source}")

    pairs = [] if found["classifiers_only"] else [*combinations(languages, 2)]
    of_pairs = [(layer, *pair) for layer, pair in product(layers, pairs)]
    similar = rows(SIMILARITY, Similarity.__annotations__, of_pairs) if pairs else []
    columns = figure_columns(found.get(FIGURES) or [])
    figures = rows(FIGURES, columns, product(layers)) if found.get(FIGURES) else [[layer] for layer in layers]
    classified = rows(CLASSIFIERS, ClassifierRow.__annotations__, product(layers, labels or LABELS))
    confused = {"layer": str, "language": str, **dict.fromkeys(languages, float)}
    confusions = rows(CONFUSION, confused, product(layers, languages)) if "language" in labels else []
    return Probes(
        record={key: found[key] for key in (*RUN_KEYS, *PROBE_KEYS, *LATER_PROBE_KEYS)},
        similarities={layer: [Similarity(*row) for row in similar if row[0] == layer] for layer in layers},
        figures={layer: dict(zip([*columns][1:], values)) for layer, *values in figures},
        classified={
            layer: {row[1]: ClassifierRow(*row) for row in classified if row[0] == layer} for layer in layers
        },
        confusions={
            layer: {language: shares for of, language, *shares in confusions if of == layer}
            for layer in layers
        },
    )


def check_record(found: Mapping, source: Path) -> None:
    """`InputError` unless the record says all that it must, of all layers and of languages enough."""
    tables = [CLASSIFIERS] if found["classifiers_only"] else [SIMILARITY, CLASSIFIERS]
    if missing := [key for key in (*RUN_KEYS, *PROBE_KEYS, *tables) if key not in found]:
        raise InputError(f"{source} does not say {', '.join(missing)}; {REMEDY}")
    with damage_of(source, REMEDY):
        check_kinds(found, KINDS)
        fewest = 1 if found["classifiers_only"] else 2  # languages: similarity is of pairs
        if FINAL not in found["layers"] or len(found["languages"]) < fewest:
            raise ValueError("it is not of all layers, or of too few languages")


def older_defaults(found: dict) -> dict:
    """What was true of all probes before their record said so: one text, and batches of rows."""
    text, sentences = found.get("text"), found.get("sentences")
    return {"held_out_text": text, "held_out_lines": sentences, "batches": "rows", "classifiers_only": False}


def figure_columns(lines: Sequence[str]) -> Columns:
    """The columns of a file of figures: those of `LAYER_FIGURES` that its first line names, in its order."""
    known = {figure.name: figure for figure in layer_figures.LAYER_FIGURES}
    titles = lines[0].split("\t")[1:] if lines else []
    return {"layer": str} | {title: known[title] for title in titles if title in known}


def table(lines: Sequence[str], columns: Columns, keys: Sequence[tuple[str, ...]], name: str) -> list[list]:
    """The rows of a TSV; `InputError` unless it has these columns, and a row for each of the keys, its
    first cells.
    """
    titles, *rows = [line.split("\t") for line in lines] or [["none"]]
    if titles != [*columns]:
        raise InputError(f"{name} has the columns {', '.join(titles)}, not {', '.join(columns)}; {REMEDY}")
    read = []
    for number, row in enumerate(rows, start=2):
        try:
            read.append([value(cell, kind) for cell, kind in zip(row, columns.values(), strict=True)])
        except ValueError as error:
            raise InputError(f"{name}, line {number} is damaged ({error}); {REMEDY}") from error
    wanted: Counter[tuple] = Counter(keys)
    there: Counter[tuple] = Counter(tuple(row[: len(keys[0])]) for row in read)
    if odd := [*(wanted - there), *(there - wanted)]:
        raise InputError(f"{name} has no row, or one too many, for {' '.join(map(str, odd[0]))}; {REMEDY}")
    return read


def value(cell: str, kind: type | LayerFigure) -> str | int | float | None:
    """A cell as text, as a number of things, as a figure, or as a share or correlation; `ValueError` if it is
    none.
    """
    if kind is str:
        return cell
    if isinstance(kind, LayerFigure):
        return kind.read(cell)
    if not cell and isinstance(None, kind):
        return None
    number = int(cell) if kind is int else float(cell)
    if not (number >= 0 if kind is int else abs(number) <= 1 + 1e-9):  # which no NaN is
        raise ValueError(f"{cell} is out of range")
    return number


def check_probed_alike(found: Sequence[Probes]) -> None:
    """`InputError` unless the probes are of one text with equal settings."""
    if found:
        remedy = "probe them alike with zsnmt probe, or leave out a run"
        check_alike([(one.name, common_settings(one)) for one in found], remedy)


def differing_settings(one: Probes, other: Probes) -> list[str]:
    """What probes in one table must have in common and these do not."""
    settings, others = common_settings(one), common_settings(other)
    return [what for what, values in settings.items() if others[what] != values]


def common_settings(one: Probes) -> dict[str, set[str]]:
    """What must be equal of probes in one table, by name."""
    said = {what: one.record[key] for key, what in (PROBE_KEYS | LATER_PROBE_KEYS).items()}
    tokens = {
        f"{row.rows} for {row.label} ({row.majority:.4f} of one class)"
        for row in one.classified[FINAL].values()
    }
    return {
        **{
            what: {" ".join(value) if isinstance(value, list) else str(value)} for what, value in said.items()
        },
        "held-out tokens": tokens,
    }
