"""How often each language uses each piece, counted in the binarised text that a run is trained on."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from fairseq import utils
from fairseq.data import Dictionary

from zsnmt.data.binarised_folder import shards_of
from zsnmt.data.binarised_text import count_ids
from zsnmt.data.reading import load_dictionary
from zsnmt.errors import InputError
from zsnmt.files.locks import locked
from zsnmt.languages import read_languages
from zsnmt.runs.folder import COMMAND_FILE, PIPELINE_FOLDER, check_trained, same_bytes, training_words
from zsnmt.text.piece_counts import (
    PIECE_COUNTS_FILE,
    merge_piece_counts,
    read_piece_counts,
    write_piece_counts,
)


def count_training_pieces(
    folder: Path, dictionary: Dictionary, languages: Sequence[str]
) -> dict[str, Counter[str]]:
    """How often each language uses each piece in the training text of a folder, in all of its shards, without
    languages that have none.
    """
    counts = {}
    for language in languages:
        if texts := [path for shard in shards_of(folder) for path in shard.glob(f"train.*.{language}.idx")]:
            ids = np.sum([count_ids(path.with_suffix(""), len(dictionary)) for path in texts], axis=0)
            counts[language] = Counter(
                {dictionary[id]: int(ids[id]) for id in np.flatnonzero(ids) if id >= dictionary.nspecial}
            )
    return counts


def count_pieces_of(run: Path) -> None:
    """Write `piece_counts.tsv` into a run that is older than that file.

    `InputError` where the data that it was trained on are not there any more, or are others, and where
    another process is at work in the run.
    """
    check_trained(run)
    with locked(run):
        write_counts_of(run)


def write_counts_of(run: Path) -> None:
    """The same, where no other process is at work in the run."""
    pipeline, command = run / PIPELINE_FOLDER, run / COMMAND_FILE
    if not command.is_file():
        raise InputError(f"{command} is missing, which names the data of the run; train the run again")
    _, folders, *_ = training_words(run)
    data = Path(utils.split_paths(folders)[0])
    languages = read_languages(pipeline)
    of_dictionary = f"dict.{languages[0]}.txt"
    if not same_bytes(data / of_dictionary, pipeline / of_dictionary):
        raise InputError(
            f"{data}, on which {run} was trained, is not there any more or holds other data; bring it back, "
            "or train the run again"
        )
    dictionary = load_dictionary(pipeline / of_dictionary)
    there = (pipeline / PIECE_COUNTS_FILE).is_file()  # of a run that was adapted without its first text
    before = read_piece_counts(pipeline) if there else {}
    counts = count_training_pieces(data, dictionary, languages)
    write_piece_counts(run, merge_piece_counts(before, counts, languages))
