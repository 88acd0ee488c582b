"""The position tables of pretrained BERTs: how compositional they are, and how words meet them (Ravishankar
and Søgaard 2021, section 5 and Figure 9).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from zsnmt.analysis.correlations import banding, correlations
from zsnmt.analysis.position_encodings import gaussian_control, principal, sinusoids
from zsnmt.errors import InputError
from zsnmt.masked_lm.position_losses import OFFSETS, procrustes, rounded
from zsnmt.masked_lm.tensor_files import REMEDY, read_by_endings, read_npy

MODEL_FILE, VOCABULARY_FILE = "model.safetensors", "vocab.txt"
TABLES = {  # of a folder of .npy files, and how their names end in the files of BERTs
    "positions": "embeddings.position_embeddings.weight",
    "words": "embeddings.word_embeddings.weight",
    "query": "encoder.layer.0.attention.self.query.weight",
    "key": "encoder.layer.0.attention.self.key.weight",
}
WORDS = (  # frequent ones of English, whole in the vocabularies of most models
    "the of and to in a is that for it was on as with be by he at from his or are had an this not have but "
    "which they you were her one all she there would their we"
).split()


@dataclass(frozen=True, eq=False)
class Pretrained:
    """A model's tables: positions P×d; words V×d with their names, and the first layer's weights d×d, or
    None.
    """

    name: str
    positions: np.ndarray
    words: np.ndarray | None = None
    query: np.ndarray | None = None
    key: np.ndarray | None = None
    vocabulary: dict[str, int] | None = None

    @property
    def draws_words(self) -> bool:
        """Whether there is all that a heat map of words and positions needs."""
        return not any(part is None for part in (self.words, self.query, self.key, self.vocabulary))


def read_pretrained(name: str, source: Path) -> Pretrained:
    """A model from a safetensors file, a .npy file of its positions, or a folder with model.safetensors or
    positions.npy, words.npy, query.npy and key.npy; the names of its words from vocab.txt beside them.

    Raises `InputError` for files of another form, without positions, or that do not go together.
    """
    folder = source if source.is_dir() else source.parent
    if source.is_dir():
        model = source / MODEL_FILE
        files = {what: source / f"{what}.npy" for what in TABLES}
        if model.is_file():
            found = read_by_endings(model, TABLES)
        elif files["positions"].is_file():
            found = {what: read_npy(file) for what, file in files.items() if file.is_file()}
        else:
            raise InputError(f"{source} holds neither {MODEL_FILE} nor positions.npy; {REMEDY}")
    elif source.suffix == ".npy":
        found, folder = {"positions": read_npy(source)}, None
    else:
        found = read_by_endings(source, TABLES)
    if "positions" not in found:
        raise InputError(f"{source} holds no tensor whose name ends in {TABLES['positions']}; {REMEDY}")
    for what, array in found.items():
        if array.ndim != 2:
            raise InputError(
                f"the {what} of {source} have the shape {array.shape}; a table is rows × columns"
            )
    vocabulary = (
        read_vocabulary(folder / VOCABULARY_FILE, found["words"]) if folder and "words" in found else None
    )
    return Pretrained(name, **found, vocabulary=vocabulary)


def read_vocabulary(path: Path, words: np.ndarray) -> dict[str, int] | None:
    """The number of each word, from a file with one a line; None where it is not there.

    Raises `InputError` for as many lines as there are not words.
    """
    if not path.is_file():
        return None
    names = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    if len(names) != len(words):
        raise InputError(
            f"{path} has {len(names):,} lines and the model {len(words):,} words; put the model's own there"
        )
    return {name: number for number, name in enumerate(names)}


def controls(positions: int, dimensions: int) -> list[Pretrained]:
    """Tables of a shape to compare with: sinusoids, and independent vectors."""
    table = sinusoids(positions, dimensions + dimensions % 2)
    return [Pretrained("sinusoids", table), Pretrained("independent vectors", gaussian_control(table))]


def measured(model: Pretrained, dimensions: int) -> dict:
    """The Procrustes losses of a model's positions, and of positions as keys (p·W^K) where it has weights,
    along their `dimensions` largest directions, which hold the shares `kept`.

    The first position is left out: it is that of the token that stands for the sentence.
    """
    tables = {"procrustes": model.positions[1:]}
    if model.key is not None:
        tables["procrustes_keys"] = tables["procrustes"] @ np.asarray(model.key, dtype=np.float64).T
    found = {"name": model.name, "positions": len(model.positions)}
    for what, table in tables.items():
        directions, share = principal(table, dimensions)
        offsets = range(1, min(OFFSETS, len(table) // 4) + 1)
        found[what] = procrustes(directions, offsets) | {"kept": share}
    return found


def word_map(model: Pretrained, words: Sequence[str], heads: int) -> dict:
    """How words as queries meet positions as keys in the first layer, and the share of it in bands."""
    rows = model.words[[model.vocabulary[word] for word in words]]
    values = correlations(rows, model.positions, model.query, key_weight=model.key, heads=heads)
    return {"words": [*words], "values": rounded(values), "bands": banding(values).columns}


def common_words(models: Sequence[Pretrained], words: Sequence[str]) -> list[str]:
    """The words that all models have whole; `InputError` where they have fewer than two in common."""
    found = [word for word in words if all(word in model.vocabulary for model in models)]
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
