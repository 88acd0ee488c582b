"""From pairs of sentences with a label to the folder that fairseq's task `sentence_prediction` reads.

The folder holds `input0/` (premises), `input1/` (hypotheses) and `label/`, each with `dict.txt` and
`{split}.{bin,idx}` in fairseq's mmap format, and `counts.json`. Splits are `train` (MultiNLI), `valid`
(XNLI's dev set in the language of training) and `test_{language}` (XNLI's test sets).
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from fairseq.data import Dictionary

from zsnmt.corpora.releases.xnli import LABELS, Pair, read_multinli, read_xnli
from zsnmt.data.binarised_folder import check_replaceable
from zsnmt.data.binarised_text import ids_of, write_ids
from zsnmt.data.reading import load_dictionary
from zsnmt.errors import InputError
from zsnmt.files.records import write_json
from zsnmt.files.replacing import replacing_folder
from zsnmt.languages import check_language
from zsnmt.masked_lm.runs import COUNTS_FILE
from zsnmt.processes import progress
from zsnmt.text.subword import Subwords

PREMISES, HYPOTHESES, LABEL = "input0", "input1", "label"
TEST = "test_"
SPECIALS = 4  # <s> premise </s> </s> hypothesis </s>


def prepare(
    folder: Path, pretraining: Path, multinli: Path, xnli: Path, languages: Sequence[str], longest: int
) -> dict[str, int]:
    """Make `folder` with the subword model and the dictionary of the folder of pre-training; returns the
    pairs of each split.

    `multinli` and `xnli` are folders of the releases; the first of the languages is MultiNLI's. A pair of
    more than `longest` tokens, special ones among them, is cut. Raises `InputError` for releases and folders
    that are not what they should be.
    """
    if longest <= SPECIALS + 1:
        raise InputError(
            f"pairs of {longest} tokens leave no room for two sentences; give {SPECIALS + 2} or more, often "
            "128"
        )
    check_replaceable(folder, sign=f"{LABEL}/dict.txt")
    first, *_ = map(check_language, languages)
    splits = {"train": read_multinli(multinli), "valid": read_xnli(xnli, "dev", [first])[first]}
    splits |= {f"{TEST}{language}": pairs for language, pairs in read_xnli(xnli, "test", languages).items()}
    dictionary_file = pretraining / "dict.txt"
    if not dictionary_file.is_file():
        raise InputError(
            f"{dictionary_file} is missing; give the folder of pre-training, made by zsnmt prepare-languages"
        )
    subwords, dictionary, labels = (
        Subwords.load(pretraining),
        load_dictionary(dictionary_file),
        Dictionary(),
    )
    for label in LABELS:
        labels.add_symbol(label)
    with replacing_folder(folder) as part:
        for name, symbols in {PREMISES: dictionary, HYPOTHESES: dictionary, LABEL: labels}.items():
            (part / name).mkdir()
            symbols.save(str(part / name / "dict.txt"))
        for split, pairs in splits.items():
            premises, hypotheses = encode(pairs, subwords, dictionary, room=longest - SPECIALS, title=split)
            write_ids(part / PREMISES / split, premises, len(dictionary))
            write_ids(part / HYPOTHESES / split, hypotheses, len(dictionary))
            write_ids(part / LABEL / split, (ids_of([pair.label], labels) for pair in pairs), len(labels))
        counts = {split: len(pairs) for split, pairs in splits.items()}
        write_json(part / COUNTS_FILE, counts)
    return counts


def encode(
    pairs: Sequence[Pair], subwords: Subwords, dictionary: Dictionary, room: int, title: str
) -> tuple[tuple[np.ndarray, ...], ...]:
    """The ids of the premises and of the hypotheses (T each), each with EOS, of at most `room` pieces per
    pair without it.
    """
    premises, hypotheses, _ = zip(*pairs)
    # All languages have one vocabulary.
    sides = (subwords.encode_lines(sentences, "") for sentences in (premises, hypotheses))
    together = progress(zip(*sides), title, len(pairs), unit=" pairs")
    cut_pairs = (cut(premise, hypothesis, room) for premise, hypothesis in together)
    return tuple(zip(*([ids_of(sentence, dictionary) for sentence in pair] for pair in cut_pairs)))


def cut(premise: Sequence[str], hypothesis: Sequence[str], room: int) -> tuple[Sequence[str], Sequence[str]]:
    """Pieces of a pair from which the longer sentence, the hypothesis of equal ones, loses its last until
    they have room.
    """
    premise_length, hypothesis_length = len(premise), len(hypothesis)
    while premise_length + hypothesis_length > room:
        if premise_length > hypothesis_length:
            premise_length -= 1
        else:
            hypothesis_length -= 1
    return premise[:premise_length], hypothesis[:hypothesis_length]
