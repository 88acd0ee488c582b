"""The folder of a masked language model: what is in it for each condition, and what is refused."""

import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from fairseq.data import Dictionary, data_utils

from tests.conftest import run_command
from zsnmt.data.masked_sentences import MASK, MaskedSentences, Masking
from zsnmt.errors import InputError
from zsnmt.languages import check_language
from zsnmt.masked_lm.data import SPECIALS, Vocabulary, learn_dictionary, prepare
from zsnmt.text.lines import read_lines, write_lines
from zsnmt.text.subword import Subwords

LINES = {"train": 53, "valid": 11}
SIZE = 60


def made_up(lines: int, seed: int) -> list[str]:
    """Lines of 3 to 9 words of few letters."""
    generator = np.random.default_rng(seed)
    words = ["".join(generator.choice([*"abcdefg"], size)) for size in generator.integers(1, 5, 40)]
    return [" ".join(generator.choice(words, size)) for size in generator.integers(3, 10, lines)]


@pytest.fixture(scope="module")
def sides(tmp_path_factory) -> dict[str, Path]:
    """The text of each split."""
    folder = tmp_path_factory.mktemp("bert")
    for seed, (split, lines) in enumerate(LINES.items()):
        write_lines(folder / f"{split}.en", made_up(lines, seed))
    return {split: folder / f"{split}.en" for split in LINES}


@pytest.fixture(scope="module")
def reordered(sides) -> dict[str, Path]:
    """The same sentences with their words the other way round, as another language may have them."""
    found = {split: path.with_name(f"{split}.reordered") for split, path in sides.items()}
    for split, path in found.items():
        write_lines(path, [" ".join(line.split()[::-1]) for line in read_lines(sides[split])])
    return found


@pytest.fixture(scope="module")
def same(sides) -> Path:
    folder = sides["train"].with_name("same")
    prepare(folder, sides, sides, Vocabulary(SIZE))
    return folder


def dictionary_of(folder: Path) -> Dictionary:
    return Dictionary.load(str(folder / "dict.txt"))


def encoded(folder: Path, name: str) -> list[torch.Tensor]:
    return [
        line.long() for line in data_utils.load_indexed_dataset(str(folder / name), dictionary_of(folder))
    ]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


# What is there


def test_the_dictionary_is_that_of_a_language_and_its_copy(same):
    dictionary, pieces = dictionary_of(same), Subwords.load(same).pieces
    assert len(dictionary) == 2 * SIZE and dictionary.index(MASK) == SPECIALS - 1
    assert dictionary.symbols[SPECIALS:SIZE] == pieces and len(pieces) == SIZE - SPECIALS
    assert dictionary.symbols[SIZE:] == [f"[{symbol}]" for symbol in dictionary.symbols[:SIZE]]
    assert [*map(check_language, read_lines(same / "languages.txt"))] == ["en", "fake"]


@pytest.mark.parametrize("split", LINES)
def test_the_copy_says_the_same_line_by_line(sides, same, split):
    lines, en, fake = read_lines(sides[split]), encoded(same, f"{split}.en"), encoded(same, f"{split}.fake")
    dictionary, subwords = dictionary_of(same), Subwords.load(same)
    assert len(lines) == len(en) == len(fake) == LINES[split]
    for line, one, other in zip(lines, en, fake):
        assert subwords.decode([dictionary[token] for token in one[:-1]]) == line
        assert torch.equal(other[:-1], one[:-1] + SIZE) and one[-1] == other[-1] == dictionary.eos()


@pytest.mark.parametrize("split", LINES)
def test_a_reordered_copy_is_of_its_own_text(reordered, sides, tmp_path, split):
    prepare(tmp_path / "data", sides, reordered, Vocabulary(SIZE))
    dictionary, subwords = dictionary_of(tmp_path / "data"), Subwords.load(tmp_path / "data")
    lines, fake = read_lines(reordered[split]), encoded(tmp_path / "data", f"{split}.fake")
    assert [subwords.decode([dictionary[token - SIZE] for token in line[:-1]]) for line in fake] == lines


def test_conditions_share_the_language_and_its_symbols(same, sides, reordered, tmp_path):
    """So that perplexities compare: the same ids for the same text, whatever the second language."""
    prepare(tmp_path / "none", sides, {}, Vocabulary(SIZE))
    prepare(tmp_path / "de", sides, reordered, Vocabulary(SIZE))
    same, none, de = (contents(folder) for folder in (same, tmp_path / "none", tmp_path / "de"))
    assert same["dict.txt"] == de["dict.txt"] and same["dict.txt"].startswith(none["dict.txt"])
    assert len(dictionary_of(tmp_path / "none")) == SIZE and none["languages.txt"] == b"en\n"
    for name in ("subwords.model", "train.en.idx", "valid.en.idx", "train.en.bin", "valid.en.bin"):
        assert same[name] == none[name] == de[name]
    assert not any("fake" in name for name in none) and same["train.fake.bin"] != de["train.fake.bin"]


def test_special_symbols_can_be_shifted_too(sides, same, tmp_path):
    """The fake language then begins and ends its sentences, and spells what it does not know, in its own
    way.
    """
    text = dict(sides, valid=tmp_path / "valid")
    write_lines(text["valid"], ["a b", "☃ a"])
    for shared in (True, False):
        folder = tmp_path / str(shared)
        prepare(folder, text, text, Vocabulary(SIZE, shared))
        dictionary = dictionary_of(folder)
        bos, eos, unk = (
            index + (0 if shared else SIZE)
            for index in (dictionary.bos(), dictionary.eos(), dictionary.unk())
        )
        lines = encoded(folder, "valid.fake")
        sentences = MaskedSentences(lines, np.array([*map(len, lines)]), dictionary, Masking(), 20, 1)
        for number in range(2):
            tokens = sentences[number]["tokens"]
            assert tokens[0] == bos and tokens[-1] == eos
        assert unk in lines[1] and unk not in lines[0]
        assert dictionary.unk() in encoded(folder, "valid.en")[1]
    assert contents(same)["dict.txt"] == contents(tmp_path / "False")["dict.txt"]


def test_long_lines_are_left_out_on_both_sides(sides, tmp_path):
    """Where either side is too long."""
    text, fake = (dict(sides, valid=tmp_path / name) for name in ("en", "fake"))
    write_lines(text["valid"], ["a a a a", "a", "b b", "c"])
    write_lines(fake["valid"], ["d", "e", "f f f f f", "g"])
    most = 3
    counts = prepare(tmp_path / "data", text, dict(fake, train=sides["train"]), Vocabulary(SIZE), most)
    en, other = encoded(tmp_path / "data", "valid.en"), encoded(tmp_path / "data", "valid.fake")
    assert counts["valid.en"] == counts["valid.fake"] == len(en) == len(other) == 2
    dictionary, subwords = dictionary_of(tmp_path / "data"), Subwords.load(tmp_path / "data")
    assert [subwords.decode([dictionary[token] for token in line[:-1]]) for line in en] == ["a", "c"]
    assert [subwords.decode([dictionary[token - SIZE] for token in line[:-1]]) for line in other] == [
        "e",
        "g",
    ]
    train = encoded(tmp_path / "data", "train.en")
    assert 0 < len(train) == counts["train.en"] < LINES["train"] and max(map(len, train)) <= most + 1


def test_brackets_in_the_text_confuse_no_names(tmp_path):
    for split, lines in LINES.items():
        write_lines(tmp_path / split, [f"{line} ... [...] {line}" for line in made_up(lines, 4)])
    text = {split: tmp_path / split for split in LINES}
    prepare(tmp_path / "data", text, text, Vocabulary(SIZE))
    dictionary, pieces = dictionary_of(tmp_path / "data"), Subwords.load(tmp_path / "data").pieces
    assert (
        "..." in "".join(pieces)
        and "[" in "".join(pieces)
        and len(dictionary) == len(set(dictionary.symbols)) == 2 * SIZE
    )
    assert dictionary.symbols[SPECIALS:SIZE] == pieces


class Pieces:
    """Subwords of which only the pieces are asked."""

    def __init__(self, *pieces: str) -> None:
        self.pieces = [*pieces]


@pytest.mark.parametrize("pieces", [("...", "[...]", "[[...]]"), ("a", "b", "c")])
def test_every_symbol_has_an_id_and_its_copy_another(pieces):
    dictionary = learn_dictionary(Pieces(*pieces), Vocabulary(SPECIALS + 3), bilingual=True)
    assert len(dictionary) == 2 * (SPECIALS + 3) and [*map(dictionary.index, pieces)] == [5, 6, 7]


# Mistakes


def fails(folder: Path, message: str, text, fake, vocabulary=Vocabulary(SIZE), most: int = 0) -> None:
    """Preparing fails with the message, and the folder that was there before stays as it was."""
    folder.mkdir()
    (folder / "languages.txt").write_text("old\n")
    with pytest.raises(InputError, match=message):
        prepare(folder, text, fake, vocabulary, most)
    assert contents(folder) == {"languages.txt": b"old\n"} and not [*folder.parent.glob("*.part")]


def test_texts_of_different_numbers_of_lines_are_refused(sides, reordered, tmp_path):
    write_lines(tmp_path / "short", read_lines(reordered["valid"])[1:])
    fails(
        tmp_path / "data",
        "valid.en has 11 and .*short has 10 lines; line n of one must be line n of the other",
        sides,
        dict(reordered, valid=tmp_path / "short"),
    )


@pytest.mark.parametrize(
    "name, content, message",
    [
        ("empty", b"", "empty is empty; it needs at least one line"),
        (
            "latin",
            "a b\nd\u00e9j\u00e0\n".encode("latin1"),
            "latin, line 2, byte 2: 0xe9 is not UTF-8; convert the file",
        ),
        (
            "gap",
            b"a\n\nb\n",
            "gap, line 2 is empty; write a sentence there, or remove the line on both sides",
        ),
    ],
)
def test_text_that_breaks_the_contract_is_refused(sides, tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    broken = dict(sides, valid=tmp_path / name)
    fails(tmp_path / "english", message, broken, broken)
    fails(tmp_path / "fake", message, sides, broken)


def test_training_text_that_breaks_the_contract_is_refused(sides, tmp_path):
    for name, content, message in (
        ("gap", b"\n", "gap, line 54 is empty"),
        ("latin", b"\xe9\n", "latin, line 54, byte 1: 0xe9 is not"),
    ):
        (tmp_path / name).write_bytes(sides["train"].read_bytes() + content)
        fails(tmp_path / f"data.{name}", message, dict(sides, train=tmp_path / name), {})


def test_a_missing_text_is_refused(sides, tmp_path):
    fails(tmp_path / "data", "nowhere: there is no such file", dict(sides, valid=tmp_path / "nowhere"), {})


@pytest.mark.parametrize(
    "size, message",
    [
        (5000, "does not support a vocabulary of 5000"),
        (5, "vocabulary of 5 cannot be used"),
        (8, "vocabulary of 8"),
    ],
)
def test_a_vocabulary_that_does_not_fit_is_refused(sides, tmp_path, size, message):
    fails(tmp_path / "data", message, sides, {}, Vocabulary(size))


@pytest.mark.parametrize("size", [5000, 8])
def test_the_size_that_is_advised_counts_special_symbols_and_will_do(sides, tmp_path, size):
    with pytest.raises(InputError) as refused:
        prepare(tmp_path / "data", sides, {}, Vocabulary(size))
    advised = int(re.search(r"choose (\d+) or", str(refused.value))[1])
    prepare(tmp_path / "data", sides, {}, Vocabulary(advised))
    assert len(Dictionary.load(str(tmp_path / "data" / "dict.txt"))) == advised


def test_lines_that_are_all_too_long_are_refused(sides, tmp_path):
    fails(tmp_path / "data", "train.en has no line of 1 pieces or fewer; allow more", sides, sides, most=1)


def test_a_folder_of_something_else_is_not_replaced(sides, tmp_path):
    folder = tmp_path / "texts"
    folder.mkdir()
    for split in LINES:
        shutil.copy(sides[split], folder / split)
    before = contents(folder)
    with pytest.raises(InputError, match="texts holds something else than binarised data"):
        prepare(folder, sides, {}, Vocabulary(SIZE))
    assert contents(folder) == before


def test_the_script_says_how_many_lines_there_are(sides, reordered, same, tmp_path):
    given = ["--train", sides["train"], "--valid", sides["valid"], "--vocabulary-size", SIZE]
    done = run_command("python", "-m", "zsnmt", "prepare-bert", tmp_path / "data", *given, "--fake")
    assert (
        done.returncode == 0 and done.stdout == "train.en\t53\ntrain.fake\t53\nvalid.en\t11\nvalid.fake\t11\n"
    ), done.stderr
    assert contents(tmp_path / "data") == contents(same)
    stopped = run_command(
        "python", "-m", "zsnmt", "prepare-bert", tmp_path / "other", *given, "--fake", reordered["train"]
    )
    assert (
        stopped.returncode != 0
        and "--fake needs no text or two, for training and validation" in stopped.stderr
    )
    assert not (tmp_path / "other").exists()
