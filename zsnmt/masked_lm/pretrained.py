"""The position tables of pretrained BERTs: how compositional they are, and how words meet them (Ravishankar
and Søgaard 2021, section 5 and Figure 9).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from zsnmt.analysis.correlations import band_shares, correlations
from zsnmt.analysis.position_encodings import gaussian_control, principal_coordinates, sinusoids
from zsnmt.errors import InputError
from zsnmt.masked_lm.position_losses import OFFSETS, procrustes, round_values
from zsnmt.masked_lm.score_file import Correlations, Losses
from zsnmt.masked_lm.tensor_files import REMEDY, read_by_endings, read_npy

MODEL_FILE, VOCABULARY_FILE = "model.safetensors", "vocab.txt"
TABLES = {  # of a folder of .npy files, and how their names end in the files of BERTs
    "positions": "embeddings.position_embeddings.weight",
    "words": "embeddings.word_embeddings.weight",
    "query": "encoder.layer.0.attention.self.query.weight",
    "key": "encoder.layer.0.attention.self.key.weight",
}
FEWEST_POSITIONS = 6  # the first, which is left out, and two chunks that are not the same, shifted by 1
WORDS = (  # frequent ones of English, whole in the vocabularies of most models
    "the of and to in a is that for it was on as with be by he at from his or are had an this not have but "
    "which they you were her one all she there would their we"
).split()


@dataclass(frozen=True, eq=False)
class Words:
    """What a heat map needs beside positions: words V×d and their numbers by name, and the first layer's
    weights, d×d.
    """

    vectors: np.ndarray
    numbers: Mapping[str, int]
    query: np.ndarray
    key: np.ndarray


@dataclass(frozen=True, eq=False)
class Pretrained:
    """A model's tables: positions P×d, and, unless they are None, the weight of keys in the first layer (d×d)
    and all that a heat map needs.
    """

    name: str
    positions: np.ndarray
    key: np.ndarray | None = None
    words: Words | None = None


class PositionLosses(NamedTuple):
    """How many positions a model has, their losses along the directions that were `kept`, which hold such a
    share of the table (0–1), and those of positions as keys; None without weights of these.
    """

    name: str
    positions: int
    kept: float
    procrustes: Losses
    procrustes_keys: Losses | None = None


class WordMap(NamedTuple):
    """How words meet positions, and the share of it in bands, 0–1."""

    correlations: Correlations
    bands: float


def read_pretrained(name: str, source: Path) -> Pretrained:
    """A model from a safetensors file, a .npy file of its positions, or a folder with model.safetensors or
    positions.npy, words.npy, query.npy and key.npy; the names of its words from vocab.txt beside them.

    Raises `InputError` for files of another form, without positions, or that do not go together.
    """
    tables = read_tables(source)
    if "positions" not in tables:
        raise InputError(f"{source} holds no tensor whose name ends in {TABLES['positions']}; {REMEDY}")
    for what, array in tables.items():
        if array.ndim != 2:
            raise InputError(
                f"the {what} of {source} have the shape {array.shape}; a table is rows × columns"
            )
    size = tables["positions"].shape[1]
    for what, array in tables.items():
        if array.shape[1] != size or what in ("query", "key") and len(array) != size:
            raise InputError(
                f"the {what} of {source} have the shape {array.shape}, and positions have {size} dimensions; "
                "give tables of one model"
            )
    words, vocabulary = None, (source if source.is_dir() else source.parent) / VOCABULARY_FILE
    if {*tables} == {*TABLES} and vocabulary.is_file():
        numbers = read_vocabulary(vocabulary, tables["words"])
        words = Words(tables["words"], numbers, tables["query"], key=tables["key"])
    return Pretrained(name, tables["positions"], tables.get("key"), words=words)


def read_tables(source: Path) -> dict[str, np.ndarray]:
    """Those of `TABLES` that a file or folder holds; `InputError` for a folder without positions."""
    if not source.is_dir():
        return {"positions": read_npy(source)} if source.suffix == ".npy" else read_by_endings(source, TABLES)
    if (model := source / MODEL_FILE).is_file():
        return read_by_endings(model, TABLES)
    files = {what: source / f"{what}.npy" for what in TABLES}
    if not files["positions"].is_file():
        raise InputError(f"{source} holds neither {MODEL_FILE} nor positions.npy; {REMEDY}")
    return {what: read_npy(file) for what, file in files.items() if file.is_file()}


def read_vocabulary(path: Path, words: np.ndarray) -> dict[str, int]:
    """The number of each word, from a file with one per line; `InputError` unless it is UTF-8 and has as many
    as the model's table of words (V×d).
    """
    content = path.read_bytes()
    try:
        names = content.decode("utf-8").removesuffix("\n").split("\n")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}, line {line} is not UTF-8; put the model's own there") from None
    if len(names) != len(words):
        raise InputError(
            f"{path} has {len(names):,} lines and the model {len(words):,} words; put the model's own there"
        )
    return {name: number for number, name in enumerate(names)}


def controls(positions: int, dimensions: int) -> list[Pretrained]:
    """Tables of a shape to compare with: sinusoids, and independent vectors."""
    table = sinusoids(positions, dimensions + dimensions % 2)
    return [Pretrained("sinusoids", table), Pretrained("independent vectors", gaussian_control(table))]


def measure_positions(model: Pretrained, dimensions: int) -> PositionLosses:
    """The Procrustes losses of a model's positions, and of positions as keys (p·W^K) where it has weights,
    along their `dimensions` largest directions.

    The first position is left out: it is that of the token that stands for the sentence. Raises `InputError`
    for fewer than `FEWEST_POSITIONS` positions.
    """
    if len(model.positions) < FEWEST_POSITIONS:
        raise InputError(
            f"{model.name} has {len(model.positions)} positions to measure, too few for two chunks and an "
            f"offset; take {FEWEST_POSITIONS} or more"
        )
    tables = [model.positions[1:]]
    if model.key is not None:
        tables.append(tables[0] @ np.asarray(model.key, dtype=np.float64).T)
    offsets = range(1, min(OFFSETS, len(tables[0]) // 4) + 1)
    directions, shares = zip(*(principal_coordinates(table, dimensions) for table in tables))
    losses = [Losses(**procrustes(table, offsets)) for table in directions]
    return PositionLosses(model.name, len(model.positions), shares[0], *losses)


def word_map(words: Words, positions: np.ndarray, chosen: Sequence[str], heads: int) -> WordMap:
    """How chosen words (W) as queries meet positions (P×d) as keys in the first layer, W×P."""
    rows = words.vectors[[words.numbers[word] for word in chosen]]
    values = correlations(rows, positions, words.query, key_weight=words.key, heads=heads)
    return WordMap(Correlations([*chosen], round_values(values)), band_shares(values).columns)


def common_words(models: Sequence[Words], words: Sequence[str]) -> list[str]:
    """The words that all models have whole; `InputError` where they have fewer than two in common."""
    found = [word for word in words if all(word in model.numbers for model in models)]
    if len(found) < 2:
        raise InputError(
            f"of the words {' '.join(words)} fewer than two are in {VOCABULARY_FILE} of all models; name "
            "others with --words"
        )
    return found


def check_shapes(models: Sequence[Pretrained], dimensions: int) -> None:
    """`InputError` unless all tables are measured alike: as many positions, in as many directions."""
    shapes = {
        model.name: (len(model.positions), min(model.positions.shape[1], dimensions)) for model in models
    }
    if len({*shapes.values()}) > 1:
        listed = ", ".join(f"{name} {rows} in {size} directions" for name, (rows, size) in shapes.items())
        raise InputError(
            f"losses compare between tables of one shape: {listed}; give --positions and --dimensions that "
            "all have"
        )
