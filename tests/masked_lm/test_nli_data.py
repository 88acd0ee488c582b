"""Data of several languages to pre-train on, data of inference to fine-tune on, and the way from one model
to the other.
"""

import json
from argparse import Namespace

import numpy as np
import pytest
import torch
from fairseq.data import Dictionary, data_utils
from fairseq.tasks import setup_task

from tests.conftest import ROOT
from tests.support.nli import DEV, LANGUAGES, TEST, TRAIN, write_releases, write_text
from tests.tasks.conftest import fairseq
from zsnmt.corpora.releases.xnli import LABELS, read_multinli, read_xnli
from zsnmt.data.masked_sentences import MASK
from zsnmt.errors import InputError
from zsnmt.masked_lm import languages_data, nli_data
from zsnmt.runs.checkpoints import load_checkpoint
from zsnmt.text.subword import Subwords

VOCABULARY, LONGEST = 90, 40
SMALL = (
    "--arch zs_bert --encoder-layers 2 --encoder-embed-dim 16 --encoder-ffn-embed-dim 24 "
    "--encoder-attention-heads 2 --max-positions 50 --optimizer adam --batch-size 32 "
    "--required-batch-size-multiple 1 --max-update 1 --no-epoch-checkpoints --cpu --num-workers 0 "
    "--disable-validation"
).split()


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Folders: text, releases, pre-training, inference."""
    base = tmp_path_factory.mktemp("nli")
    text, (multinli, xnli) = write_text(base / "text"), write_releases(base / "releases")
    counts = languages_data.prepare(base / "data", text, LANGUAGES, VOCABULARY)
    pairs = nli_data.prepare(base / "nli", base / "data", multinli, xnli, LANGUAGES, LONGEST)
    return Namespace(
        text=text,
        multinli=multinli,
        xnli=xnli,
        data=base / "data",
        nli=base / "nli",
        counts=counts,
        pairs=pairs,
    )


def sentence_prediction(made):
    return setup_task(
        Namespace(
            task="sentence_prediction",
            data=str(made.nli),
            num_classes=3,
            init_token=0,
            separator_token=2,
            seed=1,
            regression_target=False,
        )
    )


def test_every_line_is_there_and_counted(made):
    splits = [("train", 150), ("valid", 7)]
    assert made.counts == {
        f"{split}.{language}": n + place for split, n in splits for place, language in enumerate(LANGUAGES)
    }
    assert made.pairs == {
        "train": TRAIN,
        "valid": DEV,
        **{f"test_{language}": TEST for language in LANGUAGES},
    }
    assert json.loads((made.data / "counts.json").read_text()) == made.counts
    assert json.loads((made.nli / "counts.json").read_text()) == made.pairs
    dictionary = Dictionary.load(str(made.data / "dict.txt"))
    for name, number in made.counts.items():
        assert len(data_utils.load_indexed_dataset(str(made.data / name), dictionary)) == number


def test_the_vocabulary_is_shared_of_the_size_asked_for_and_masks_first(made):
    dictionary = Dictionary.load(str(made.data / "dict.txt"))
    assert len(dictionary) == VOCABULARY and dictionary.index(MASK) == dictionary.nspecial
    assert (made.data / "languages.txt").read_text().split() == [*LANGUAGES]


def test_fine_tuning_has_the_ids_of_pre_training(made):
    masked = setup_task(Namespace(task="zs_masked_lm", data=str(made.data)))
    task = sentence_prediction(made)
    assert (
        task.source_dictionary.symbols == masked.source_dictionary.symbols
        and len(task.source_dictionary) == VOCABULARY
    )


def test_the_task_reads_each_pair_with_its_label(made):
    task, subwords = sentence_prediction(made), Subwords.load(made.data)
    dictionary = task.source_dictionary
    read = {"train": read_multinli(made.multinli), "test_hi": read_xnli(made.xnli, "test", ["hi"])["hi"]}
    for split, pairs in read.items():
        dataset = task.load_dataset(split)
        for place, pair in enumerate(pairs):
            sides = (
                [dictionary.index(piece) for piece in subwords.encode(side, "")]
                for side in (pair.premise, pair.hypothesis)
            )
            item = dataset[place]
            assert item["net_input.src_tokens"].tolist() == [0, *next(sides), 2, 2, *next(sides), 2]
            assert LABELS[int(item["target"])] == pair.label


@pytest.mark.parametrize(
    "premise, hypothesis, room, kept",
    [
        ("abcdef", "xyz", 9, ("abcdef", "xyz")),
        ("abcdef", "xyz", 7, ("abcd", "xyz")),
        ("abcdef", "xyz", 5, ("abc", "xy")),
        ("ab", "vwxyz", 2, ("a", "v")),
        ("a", "vwxyz", 4, ("a", "vwx")),
    ],
)
def test_the_longer_sentence_is_cut(premise, hypothesis, room, kept):
    assert nli_data.cut(premise, hypothesis, room) == kept


def test_pairs_are_cut_to_the_tokens_asked_for(made, tmp_path):
    nli_data.prepare(tmp_path / "nli", made.data, made.multinli, made.xnli, ["en", "hi"], 9)
    task = sentence_prediction(Namespace(nli=tmp_path / "nli"))
    assert np.max(task.load_dataset("test_hi").sizes) == 9
    assert not (tmp_path / "nli" / "input0" / "test_de.bin").exists()


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["learned", "sinusoidal", "tupe_absolute"])
def test_fine_tuning_starts_from_the_pre_trained_weights(made, tmp_path, encoding):
    """With a rate of 0 all weights but the new head's stay as they were pre-trained."""
    options = ["--user-dir", ROOT / "zsnmt", "--position-encoding", encoding, *SMALL]
    fairseq(
        "train",
        made.data,
        *options,
        "--task",
        "zs_masked_lm",
        "--criterion",
        "masked_lm",
        "--lr",
        0.01,
        "--save-dir",
        tmp_path / "pre",
    )
    pretrained = tmp_path / "pre" / "checkpoint_last.pt"
    inference = (
        "--task sentence_prediction --criterion sentence_prediction --num-classes 3 --init-token 0 "
        "--separator-token 2"
    ).split()
    fairseq(
        "train",
        made.nli,
        *options,
        *inference,
        "--classification-head-name",
        "nli",
        "--lr",
        0,
        "--seed",
        5,
        "--finetune-from-model",
        pretrained,
        "--save-dir",
        tmp_path / "fine",
    )
    before, after = (
        load_checkpoint(path)["model"] for path in (pretrained, tmp_path / "fine" / "checkpoint_last.pt")
    )
    added = {name for name in after if name not in before}
    assert all(name.startswith("classification_heads.nli.") for name in added) and len(added) == 4
    assert before.keys() == after.keys() - added and all(
        torch.equal(before[name], after[name]) for name in before
    )


def test_a_language_without_text_and_a_folder_without_dictionary_are_refused(made, tmp_path):
    with pytest.raises(InputError, match="train.fi is missing; each language needs text in train and valid"):
        languages_data.prepare(tmp_path / "data", made.text, ["en", "fi"], VOCABULARY)
    with pytest.raises(InputError, match="needs two or more, each once"):
        languages_data.prepare(tmp_path / "data", made.text, ["en"], VOCABULARY)
    with pytest.raises(InputError, match="dict.txt is missing; give the folder of pre-training"):
        nli_data.prepare(tmp_path / "nli", tmp_path, made.multinli, made.xnli, LANGUAGES, LONGEST)
    with pytest.raises(InputError, match="pairs of 5 tokens leave no room for two sentences; give 6 or more"):
        nli_data.prepare(tmp_path / "nli", made.data, made.multinli, made.xnli, LANGUAGES, 5)
    assert not [*tmp_path.iterdir()]


def test_folders_of_something_else_are_not_replaced(made, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="holds something else than binarised data"):
        languages_data.prepare(tmp_path, made.text, LANGUAGES, VOCABULARY)
    with pytest.raises(InputError, match="holds something else than binarised data"):
        nli_data.prepare(tmp_path, made.data, made.multinli, made.xnli, LANGUAGES, LONGEST)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_refused_release_leaves_what_was_there(made, tmp_path):
    multinli, xnli = write_releases(tmp_path / "releases")
    (xnli / "xnli.test.jsonl").write_text("{}\n")
    (made.nli.parent / "kept").mkdir()
    with pytest.raises(InputError, match="line 1 is not a JSON object"):
        nli_data.prepare(made.nli.parent / "kept", made.data, multinli, xnli, LANGUAGES, LONGEST)
    assert not [*(made.nli.parent / "kept").iterdir()]
