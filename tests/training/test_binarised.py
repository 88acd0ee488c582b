"""The folder that fairseq trains on: what is in it, and that it is whole or not there."""

import os
import shutil
from collections import Counter
from pathlib import Path

import pytest
from fairseq.data import Dictionary, data_utils

from tests.conftest import run_command
from zsnmt.cli import prepare as prepare_command
from zsnmt.corpora.invented.corpus import SyntheticCorpus, write_corpus
from zsnmt.corpora.invented.languages import standard_languages
from zsnmt.data.binarised_folder import shards_of
from zsnmt.errors import InputError
from zsnmt.languages import language_tag, read_languages
from zsnmt.text.lines import read_lines, write_lines
from zsnmt.text.piece_counts import read_piece_counts
from zsnmt.text.pipeline import TextPipeline
from zsnmt.text.settings import TextSettings
from zsnmt.text.subword import Subwords
from zsnmt.training import piece_counts
from zsnmt.training.binarised import learn_dictionary, prepare
from zsnmt.training.piece_counts import count_pieces_of

PAIRS, VALID, TEST = 53, 7, 9
PIVOT, FIRST, SECOND = LANGUAGES = ["inglan", "velan", "tamun"]  # as they are not in the alphabet
SETTINGS = TextSettings(vocabulary_size=150)


@pytest.fixture(scope="module")
def text(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("corpus") / "text"
    write_corpus(
        SyntheticCorpus(standard_languages(2), concepts=60, pairs=PAIRS, valid=VALID, test=TEST), folder
    )
    return folder


@pytest.fixture(scope="module")
def folder(text) -> Path:
    prepare(text, text.with_name("data"), LANGUAGES, SETTINGS)
    return text.with_name("data")


@pytest.fixture
def own_text(text, tmp_path) -> Path:
    """A copy of the text that a test may change."""
    return shutil.copytree(text, tmp_path / "text")


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def sentences(folder: Path, name: str) -> list[list[str]]:
    """The pieces of each sentence of a binarised file, EOS included."""
    dictionary = Dictionary.load(str(folder / f"dict.{PIVOT}.txt"))
    encoded = data_utils.load_indexed_dataset(str(folder / name), dictionary)
    return [[dictionary[token] for token in ids] for ids in encoded]


@pytest.mark.parametrize(
    "name, file, number",
    [
        (f"train.{PIVOT}-{FIRST}.{FIRST}", f"train.{FIRST}-{PIVOT}.{FIRST}", PAIRS),
        (f"train.{PIVOT}-{SECOND}.{PIVOT}", f"train.{SECOND}-{PIVOT}.{PIVOT}", PAIRS),
        (f"valid.{PIVOT}-{SECOND}.{PIVOT}", f"valid.{PIVOT}", VALID),
        (f"test.{FIRST}-{SECOND}.{SECOND}", f"test.{SECOND}", TEST),
    ],
)
def test_binarised_text_decodes_to_the_text(text, folder, name, file, number):
    subwords = Subwords.load(folder)
    lines, encoded = read_lines(text / file), sentences(folder, name)
    assert len(lines) == len(encoded) == number
    assert all(pieces[-1] == "</s>" and "<unk>" not in pieces for pieces in encoded)
    assert [subwords.decode(pieces[:-1]) for pieces in encoded] == lines


def test_counts_are_those_of_the_text(text, tmp_path):
    counts = prepare(text, tmp_path / "data", LANGUAGES, SETTINGS)
    pairs = [f"{PIVOT}-{FIRST}", f"{PIVOT}-{SECOND}"]
    assert counts["train"] == dict.fromkeys(pairs, PAIRS)
    assert counts["valid"] == dict.fromkeys([*pairs, f"{FIRST}-{SECOND}"], VALID)
    assert counts["test"] == dict.fromkeys([*pairs, f"{FIRST}-{SECOND}"], TEST)


def test_the_pivot_is_first_and_the_order_is_as_given(text, folder, tmp_path):
    assert read_languages(folder) == LANGUAGES
    prepare(text, tmp_path / "data", LANGUAGES[::-1], SETTINGS)
    assert read_languages(tmp_path / "data") == LANGUAGES[::-1]


def test_languages_share_a_dictionary_that_begins_with_their_tags(folder):
    files = [(folder / f"dict.{language}.txt").read_bytes() for language in LANGUAGES]
    assert len(set(files)) == 1
    dictionary = Dictionary.load(str(folder / f"dict.{PIVOT}.txt"))
    assert dictionary.symbols[: dictionary.nspecial] == ["<s>", "<pad>", "</s>", "<unk>"]
    assert dictionary.symbols[dictionary.nspecial :][:3] == [language_tag(language) for language in LANGUAGES]


def test_a_piece_that_training_does_not_show_is_split(folder, text):
    """BPE makes pieces on the way to longer ones that no word of the training text may end up with."""
    dictionary, subwords = Dictionary.load(str(folder / f"dict.{PIVOT}.txt")), Subwords.load(folder)
    unseen = [piece for piece in subwords._pieces if len(piece) > 1 and piece not in dictionary]
    assert unseen
    for piece in unseen:
        assert all(part in dictionary or len(part) == 1 for part in subwords.encode(piece, PIVOT))


def test_the_dictionary_holds_the_pieces_of_training_and_no_other(text, folder):
    dictionary, subwords = Dictionary.load(str(folder / f"dict.{PIVOT}.txt")), Subwords.load(folder)
    pieces, counts = (column[dictionary.nspecial + 3 :] for column in (dictionary.symbols, dictionary.count))
    counted = (
        TextPipeline(subwords).piece_counts(read_lines(path), path.suffix[1:])
        for path in text.glob("train.*")
    )
    expected = sum(counted, start=Counter())
    assert dict(zip(pieces, counts)) == expected
    assert list(zip(pieces, counts)) == sorted(expected.items(), key=lambda item: (-item[1], item[0]))


def test_pieces_are_counted_in_the_training_text_of_each_language(text, folder):
    pipeline, counts = TextPipeline(Subwords.load(folder)), read_piece_counts(folder)
    assert [*counts] == LANGUAGES
    for language in LANGUAGES:
        files = [*text.glob(f"train.*.{language}")]
        counted = (pipeline.piece_counts(read_lines(path), language) for path in files)
        assert counts[language] == sum(counted, start=Counter()) and len(files) == 1 + (language == PIVOT)
    dictionary = Dictionary.load(str(folder / f"dict.{PIVOT}.txt"))
    written = dict(zip(dictionary.symbols, dictionary.count))
    of_all = sum(counts.values(), start=Counter())
    assert of_all == {piece: number for piece, number in written.items() if piece in of_all}
    assert len(of_all) == len(dictionary) - dictionary.nspecial - len(LANGUAGES)


def test_pieces_are_counted_where_they_are_cut_and_not_read_again(text, tmp_path, monkeypatch):
    monkeypatch.delattr(piece_counts, "count_ids")
    prepare(text, tmp_path / "data", LANGUAGES, SETTINGS)


def test_unknown_words_are_not_counted(text, tmp_path):
    prepare(text, tmp_path / "data", LANGUAGES, TextSettings(vocabulary_size=20, model_type="word"))
    dictionary = Dictionary.load(str(tmp_path / "data" / f"dict.{PIVOT}.txt"))
    counts = read_piece_counts(tmp_path / "data")
    assert len(dictionary) == dictionary.nspecial + len(LANGUAGES) + 20
    assert {piece for each in counts.values() for piece in each} == {*dictionary.symbols[-20:]}


@pytest.fixture(scope="module")
def dealt(text) -> Path:
    """The same data with their training text in three shards."""
    prepare(text, text.with_name("dealt"), LANGUAGES, SETTINGS, shards=3)
    return text.with_name("dealt")


def test_training_text_is_dealt_to_shards_line_by_line(folder, dealt):
    def ids(prefix: Path) -> list[list[int]]:
        return [sentence.tolist() for sentence in data_utils.load_indexed_dataset(str(prefix))]

    assert shards_of(folder) == [folder]
    shards = shards_of(dealt)
    assert shards == [dealt, dealt / "shard2", dealt / "shard3"]
    training = {path.stem for path in folder.glob("train.*.idx")}
    assert len(training) == 4
    for name in training:
        assert [ids(shard / name) for shard in shards] == [ids(folder / name)[first::3] for first in range(3)]
    for shard in shards[1:]:
        assert contents(shard).keys() == {f"{name}.{kind}" for name in training for kind in ("bin", "idx")}
    first, whole = (
        {name: content for name, content in contents(each).items() if not name.startswith("train.")}
        for each in (dealt, folder)
    )
    assert first == whole  # also how often each piece occurs in all of the training text


def test_pieces_of_a_run_are_counted_in_all_shards(dealt, tmp_path):
    shutil.copytree(dealt, tmp_path / "pipeline")
    for name, content in {
        "run.json": '{"config": "x", "system": "y", "text": "text", "seed": 1}',
        "model.pt": "",
        "train.command": f"fairseq-train {dealt}:{dealt}/shard2:{dealt}/shard3 --lr 1",
    }.items():
        (tmp_path / name).write_text(content)
    count_pieces_of(tmp_path)
    assert read_piece_counts(tmp_path) == read_piece_counts(dealt)


def test_each_shard_has_a_line_of_each_pair(text, tmp_path):
    words = [*map(str, (text, tmp_path / "data", "--languages", *LANGUAGES))]
    too_few = rf"train\.\S+ has {PAIRS} lines, and each of 54 shards needs one; choose at most {PAIRS} "
    for number, message in {54: too_few, 0: "there cannot be 0 shards; give a whole number above 0"}.items():
        with pytest.raises(InputError, match=message):
            prepare_command.main([*words, "--shards", str(number)])
    assert not (tmp_path / "data").exists()


def test_a_multiway_set_is_binarised_once_for_all_its_pairs(folder):
    def inodes(language: str, split: str) -> list[int]:
        return [path.stat().st_ino for path in folder.glob(f"{split}.*-*.{language}.bin")]

    for language in LANGUAGES:
        assert len(inodes(language, "test")) == 2 and len(set(inodes(language, "test"))) == 1
    pivot = inodes(PIVOT, "train")
    assert len(pivot) == len(set(pivot)) == 2
    bilingual = {path.name for path in folder.glob("train.*.idx")}
    assert bilingual == {
        f"train.{PIVOT}-{other}.{side}.idx" for other in LANGUAGES[1:] for side in (PIVOT, other)
    }


def test_a_file_system_without_links_has_copies(folder, text, tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError("Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    prepare(text, tmp_path / "data", LANGUAGES, SETTINGS)
    assert contents(tmp_path / "data") == contents(folder)


def test_a_pair_with_files_of_its_own_does_not_use_the_multiway_set(own_text):
    for language in (FIRST, SECOND):
        write_lines(
            own_text / f"test.{SECOND}-{FIRST}.{language}", read_lines(own_text / f"valid.{language}")
        )
    counts = prepare(own_text, own_text.with_name("data"), LANGUAGES, SETTINGS)
    assert counts["test"] == {f"{PIVOT}-{FIRST}": TEST, f"{PIVOT}-{SECOND}": TEST, f"{FIRST}-{SECOND}": VALID}
    subwords = Subwords.load(own_text.with_name("data"))
    encoded = sentences(own_text.with_name("data"), f"test.{FIRST}-{SECOND}.{SECOND}")
    assert [subwords.decode(pieces[:-1]) for pieces in encoded] == read_lines(own_text / f"valid.{SECOND}")


def test_a_threshold_restricts_each_language_to_its_frequent_pieces(text, folder, tmp_path):
    threshold = 20
    prepare(text, tmp_path / "data", LANGUAGES, TextSettings(vocabulary_size=150, threshold=threshold))
    free, restricted = Subwords.load(folder), Subwords.load(tmp_path / "data")
    assert not free.vocabularies and sorted(restricted.vocabularies) == sorted(LANGUAGES)
    for language in LANGUAGES:
        lines = [line for path in text.glob(f"train.*.{language}") for line in read_lines(path)]
        before, after = (
            TextPipeline(subwords).piece_counts(lines, language) for subwords in (free, restricted)
        )
        frequent = {piece for piece, count in before.items() if count >= threshold}
        assert {piece for piece in after if len(piece) > 1} <= frequent
        assert any(len(piece) > 1 and piece not in frequent for piece in before)
    name = f"test.{PIVOT}-{FIRST}.{FIRST}"
    used = [restricted.encode(line, FIRST) + ["</s>"] for line in read_lines(text / f"test.{FIRST}")]
    assert sentences(tmp_path / "data", name) == used != sentences(folder, name)


@pytest.mark.parametrize("settings", [SETTINGS, TextSettings(90, "unigram", balance=5.0, threshold=3)])
def test_the_number_of_processes_changes_no_byte(text, tmp_path, settings):
    for workers in (1, 2):
        prepare(text, tmp_path / str(workers), LANGUAGES, settings, workers=workers)
    first, second = contents(tmp_path / "1"), contents(tmp_path / "2")
    assert first == second and {"languages.txt", "subwords.model"} < first.keys()


# Mistakes


def fails(text: Path, message: str, languages=LANGUAGES, settings=SETTINGS) -> None:
    """Preparing fails with the message, leaves nothing, and the folder that was there before stays as it
    was.
    """
    folder = text.with_name("data")
    folder.mkdir(exist_ok=True)
    (folder / "languages.txt").write_text("old\n")
    with pytest.raises(InputError, match=message):
        prepare(text, folder, languages, settings, workers=2)
    assert contents(folder) == {"languages.txt": b"old\n"}
    assert {path.name for path in text.parent.iterdir()} == {"text", "data"}


def test_a_language_without_training_text_is_refused(own_text):
    fails(own_text, "no training text for koral", [*LANGUAGES, "koral"])
    fails(own_text, f"no training text for {FIRST}, {SECOND}", [FIRST, SECOND])


def test_a_set_of_languages_must_be_one(own_text):
    fails(own_text, "two or more, each once", [PIVOT, FIRST, FIRST])
    fails(own_text, "two or more, each once", [PIVOT])
    fails(own_text, "is not a language code", [PIVOT, "../x"])


@pytest.mark.parametrize("spelled", ["<s>", "<pad>", "</s>", "<unk>", "__velan__"])
def test_a_piece_that_spells_a_reserved_symbol_is_refused(spelled):
    with pytest.raises(InputError, match=f"spells {spelled}, which stands for"):
        learn_dictionary(Counter(["a", spelled, "b"]), LANGUAGES)


def test_words_that_spell_reserved_symbols_are_none(own_text):
    """In training text, in a test set (here) and in what is translated."""
    spelled = "<pad> </s> __velan__ <unk> x"
    for split, name in (("train", f"{FIRST}-{PIVOT}.{FIRST}"), ("test", FIRST)):
        write_lines(own_text / f"{split}.{name}", [spelled for _ in read_lines(own_text / f"{split}.{name}")])
    folder = own_text.with_name("data")
    prepare(own_text, folder, LANGUAGES, TextSettings(vocabulary_size=1000, model_type="word"))
    encoded = sentences(folder, f"test.{PIVOT}-{FIRST}.{FIRST}")
    assert all(pieces == [*spelled.replace(" ", ""), "</s>"] for pieces in encoded)


def test_text_that_spells_reserved_symbols_stays_text(own_text):
    spelled = "<pad> </s> __velan__"
    for path in own_text.glob(f"*.{FIRST}"):
        write_lines(path, [f"{line} {spelled}x{spelled}" for line in read_lines(path)])
    folder = own_text.with_name("data")
    prepare(own_text, folder, LANGUAGES, SETTINGS)
    for split, name in (("train", f"{FIRST}-{PIVOT}.{FIRST}"), ("test", FIRST)):
        encoded = sentences(folder, f"{split}.{PIVOT}-{FIRST}.{FIRST}")
        assert not {"<pad>", "</s>", "__velan__"} & {piece for pieces in encoded for piece in pieces[:-1]}
        decoded = [Subwords.load(folder).decode(pieces[:-1]) for pieces in encoded]
        assert decoded == read_lines(own_text / f"{split}.{name}")


def test_text_that_breaks_the_contract_is_refused(own_text):
    path = own_text / f"valid.{SECOND}"
    write_lines(path, read_lines(path)[1:])
    fails(own_text, f"valid.{PIVOT} has {VALID} lines and .*valid.{SECOND} has {VALID - 1}")


def test_a_pair_of_which_there_are_two_is_refused(own_text):
    for side in (PIVOT, FIRST):
        shutil.copy(own_text / f"train.{FIRST}-{PIVOT}.{side}", own_text / f"train.{PIVOT}-{FIRST}.{side}")
    fails(own_text, f"train.{PIVOT}-{FIRST}.{PIVOT} and train.{FIRST}-{PIVOT}.{FIRST}.*keep one")


def test_a_vocabulary_that_the_text_does_not_support_is_refused(own_text):
    fails(own_text, "does not support a vocabulary of 5000 pieces", settings=TextSettings(5000))


def test_a_failure_in_another_process_leaves_the_old_folder(own_text, monkeypatch):
    def link(*_):
        raise InputError("the disk is full")

    monkeypatch.setattr(os, "link", link)  # the processes are forks of this one
    fails(own_text, "the disk is full")


@pytest.mark.parametrize(
    "option, value, message",
    [
        ("--threshold", "few", "argument --threshold: invalid int value: 'few'"),
        ("--balance", "much", "argument --balance: invalid float value: 'much'"),
        ("--subword-type", "bp", "argument --subword-type: invalid choice: 'bp'"),
    ],
)
def test_an_option_that_cannot_be_read_is_one_sentence(own_text, option, value, message):
    data = own_text.with_name("data")
    stopped = run_command("scripts/prepare.py", own_text, data, "--languages", *LANGUAGES, option, value)
    assert (stopped.returncode, stopped.stderr.count("\n")) == (2, 1) and stopped.stderr.startswith(
        f"error: {message}"
    )
    assert not data.exists()


def test_after_a_failure_preparing_works(own_text):
    fails(own_text, "does not support", settings=TextSettings(5000))
    prepare(own_text, own_text.with_name("data"), LANGUAGES, SETTINGS)
    assert read_languages(own_text.with_name("data")) == LANGUAGES
    assert {path.name for path in own_text.parent.iterdir()} == {"text", "data"}


def test_a_folder_of_something_else_is_not_replaced(own_text):
    before = contents(own_text)
    with pytest.raises(InputError, match="holds something else than binarised data"):
        prepare(own_text, own_text, LANGUAGES, SETTINGS)
    assert contents(own_text) == before
    (own_text.parent / "empty").mkdir()
    prepare(own_text, own_text.parent / "empty", LANGUAGES, SETTINGS)
