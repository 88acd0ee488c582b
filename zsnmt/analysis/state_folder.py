"""A folder of states: what an encoder makes of each token of a text, layer by layer.

It holds `{layer}.npy` for each layer (float32, rows × d), `tokens.npz` with the labels of the rows, and
`states.json`. Layer `0` is the input of the first layer (embedding and position), `1` to `L` are the outputs
of the layers before the final layer normalisation, `final` is what the decoder reads. A row is a source
token: language after language, sentence after sentence, in order. Language tags and the end-of-sentence
symbol are left out.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from zipfile import BadZipFile

import numpy as np

from zsnmt.errors import InputError
from zsnmt.files.checksums import sha256
from zsnmt.files.records import read_json

STATES_FILE = "states.json"
LABELS_FILE = "tokens.npz"
FINAL = "final"
BATCHES = ROWS, SENTENCES = "rows", "sentences"  # what classifiers' batches are made of
EXACT = "exact"  # a kind of classifiers; the other is `published`
LABELS = ("token", "position", "language")  # those of a row that classifiers are fitted for

RECORD_KINDS = {  # what states.json says; those of a model that is not of a run have no target
    "model": str,
    "text": str,
    "target": str | None,
    "translations": bool,
    "dimension": int,
    "tokens": int | None,
    "sentences": int | Mapping[str, int],
    **dict.fromkeys(("layers", "languages"), Sequence[str]),
    "removed_layers": Sequence[int] | None,
}
SENTENCES_AT_A_TIME = 256
REMEDY = "make it with zsnmt probe-states"


class Labels(NamedTuple):
    """Labels of the rows, an integer each: `language` (its place in `languages`), `token` (id in the
    dictionary), `position` in the sentence and `sentence` (line of the text), both from 0.
    """

    languages: list[str]
    language: np.ndarray
    token: np.ndarray
    position: np.ndarray
    sentence: np.ndarray


class States(NamedTuple):
    """States of each layer (memory-mapped, rows × d), in the order 0, 1, ..., L, final; their labels;
    states.json.
    """

    layers: dict[str, np.ndarray]
    labels: Labels
    record: dict


def layer_file(folder: Path, layer: str) -> Path:
    """The states of a layer."""
    return folder / f"{layer}.npy"


def allocate(folder: Path, layers: Sequence[str], shape: tuple[int, int]) -> None:
    """A file of float32 for each layer; `InputError` if the disk cannot hold them: writing to mapped
    memory would crash.
    """
    try:
        for path in (layer_file(folder, layer) for layer in layers):
            np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=shape)
            with path.open("r+b") as file:
                os.posix_fallocate(file.fileno(), 0, path.stat().st_size)
    except OSError as error:
        size = len(layers) * shape[0] * shape[1] * 4 / 1e9
        raise InputError(
            f"{folder.parent} cannot hold {size:.2g} GB of states ({error.strerror}); make room, or give "
            "fewer lines"
        ) from error


def read_states(folder: Path) -> States:
    """What is in a folder of states. Raises `InputError` if it is missing, or is not as it was written.

    Folders of version 0.1 have no checksums.
    """
    record = read_json(folder / STATES_FILE, REMEDY, RECORD_KINDS)
    try:
        for name, checksum in record.pop("files", {}).items():
            if sha256(folder / name) != checksum:
                raise ValueError(f"{name} is not what was written")
        layers = {layer: np.load(layer_file(folder, layer), mmap_mode="r") for layer in record["layers"]}
        with np.load(folder / LABELS_FILE) as arrays:
            labels = Labels(**arrays)._replace(languages=arrays["languages"].tolist())
    except (OSError, ValueError, EOFError, KeyError, TypeError, BadZipFile) as error:
        raise InputError(f"{folder} holds damaged states ({error}); remove it, then {REMEDY}") from error
    return States(layers, labels, record)


def sentence_means(states: np.ndarray, labels: Labels) -> dict[str, np.ndarray]:
    """The mean state of each sentence's tokens, N×d in float64, by language; row n of each is the same
    sentence.

    `states`: one layer, rows × d, read in blocks; `labels`: of its rows.
    """
    starts = np.flatnonzero(np.diff(labels.sentence, prepend=-1) | np.diff(labels.language, prepend=-1))
    ends = np.append(starts[1:], len(states))
    means = np.empty((len(starts), states.shape[1]))
    for first in range(0, len(starts), SENTENCES_AT_A_TIME):
        block = slice(first, first + SENTENCES_AT_A_TIME)
        rows = np.asarray(states[starts[first] : ends[block][-1]], np.float64)
        means[block] = np.add.reduceat(rows, starts[block] - starts[first])
    means /= (ends - starts)[:, None]
    language_of_sentence = labels.language[starts]
    return {language: means[language_of_sentence == place] for place, language in enumerate(labels.languages)}
