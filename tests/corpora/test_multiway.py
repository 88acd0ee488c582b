"""Training pairs cut from a multiway corpus: every line for all, or no pivot sentence for two."""

import random
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from zsnmt.corpora.multiway import (
    CONDITIONS,
    cut_training_pairs,
    deal,
    own_lines,
    read_multiway,
    read_translations,
    translations_of_unique,
)
from zsnmt.corpora.parallel_text import check_corpus
from zsnmt.errors import InputError
from zsnmt.text.lines import read_lines, write_lines

PIVOT, *OTHERS = LANGUAGES = ["en", "de", "fr", "cs"]
SIZES = {"train": 100, "valid": 4, "test": 6}


def pivot_sentence(line: int) -> str:
    """Twenty of the hundred sentences occur more than once, up to nine times."""
    return f"sentence {line if line < 70 else line % 20 if line < 90 else 7}"


@pytest.fixture
def folder(tmp_path) -> Path:
    """A line of another language tells its number."""
    for split, size in SIZES.items():
        for language in OTHERS:
            write_lines(
                tmp_path / f"{split}.{language}", [f"{split} {line} {language}" for line in range(size)]
            )
        write_lines(tmp_path / f"{split}.{PIVOT}", map(pivot_sentence, range(size)))
    return tmp_path


def cut(folder: Path, condition: str, seed: int = 1, name: str = "cut") -> dict[str, list[tuple[int, str]]]:
    """The pairs by language, as line numbers of the corpus and pivot sentences."""
    counts = cut_training_pairs(folder, folder / name, LANGUAGES, condition, seed)
    pairs = {}
    for language in OTHERS:
        pair = (folder / name / f"train.{language}-{PIVOT}.{side}" for side in (language, PIVOT))
        rows = list(zip(*map(read_lines, pair), strict=True))
        assert all(row[0].split()[2] == language for row in rows)
        pairs[language] = [(int(row[0].split()[1]), row[1]) for row in rows]
    assert counts == {f"{language}-{PIVOT}": len(rows) for language, rows in pairs.items()}
    return pairs


def test_without_overlap_no_pivot_sentence_is_in_two_pairs(folder):
    pairs = cut(folder, "non_overlap")
    pivots = [{sentence for _, sentence in rows} for rows in pairs.values()]
    assert sum(map(len, pivots)) == len(set.union(*pivots)) == 70
    assert max(map(len, pivots)) - min(map(len, pivots)) <= 1
    lines = [line for rows in pairs.values() for line, _ in rows]
    assert sorted(lines) == list(range(100))
    for rows in pairs.values():
        assert all(sentence == pivot_sentence(line) for line, sentence in rows)
        assert rows == sorted(rows), "the order of the corpus is kept"


def test_multiway_pairs_have_every_line(folder):
    everything = [(line, pivot_sentence(line)) for line in range(100)]
    assert cut(folder, "multiway") == dict.fromkeys(OTHERS, everything)


def test_the_seed_decides_who_gets_what(folder):
    first, again, other = (
        cut(folder, "non_overlap", seed, f"{seed} {n}") for n, seed in enumerate((1, 1, 2))
    )
    assert first == again != other


def test_deal_mixes():
    hands = deal([f"s{line}" for line in range(90)], 3, seed=1)
    assert np.bincount(hands).tolist() == [30, 30, 30]
    assert hands.tolist() != [0, 1, 2] * 30


def test_deal_deals_the_sentences_as_they_come_after_one_shuffle():
    sentences = [pivot_sentence(line) for line in range(100)]
    shuffled = [*dict.fromkeys(sentences)]
    random.Random(5).shuffle(shuffled)
    assert deal(iter(sentences), 3, seed=5).tolist() == [shuffled.index(each) % 3 for each in sentences]


def test_text_is_not_held(tmp_path):
    lines = 5000
    for split, size in (("train", lines), ("valid", 4), ("test", 6)):
        for language in LANGUAGES:
            write_lines(
                tmp_path / f"{split}.{language}", (f"{language} {line} " + 200 * "x" for line in range(size))
            )
    tracemalloc.start()
    cut_training_pairs(tmp_path, tmp_path / "cut", LANGUAGES, "non_overlap")
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 200 * lines  # bytes, of one file's text


@pytest.mark.parametrize("condition", CONDITIONS)
def test_the_result_is_parallel_text_with_the_same_evaluation_sets(folder, condition):
    counts = cut_training_pairs(folder, folder / "cut", LANGUAGES, condition)
    checked = check_corpus(folder / "cut", [(language, PIVOT) for language in OTHERS])
    assert checked["train"] == counts
    for split in ("valid", "test"):
        assert set(checked[split].values()) == {SIZES[split]}
        for language in LANGUAGES:
            name = f"{split}.{language}"
            assert (folder / "cut" / name).read_bytes() == (folder / name).read_bytes()


# Mistakes


def fails(folder: Path, message: str, languages=LANGUAGES, condition: str = "non_overlap") -> None:
    with pytest.raises(InputError, match=message):
        cut_training_pairs(folder, folder / "cut", languages, condition)
    assert not (folder / "cut").exists()


def test_an_unknown_condition_names_the_known_ones(folder):
    fails(folder, "unknown condition 'overlap': it must be one of multiway, non_overlap", condition="overlap")


def test_a_set_of_languages_must_be_one(folder):
    fails(folder, "two or more, each once", ["en"])
    fails(folder, "two or more, each once", ["en", "de", "de"])


@pytest.mark.parametrize("split", SIZES)
def test_unequal_numbers_of_lines_are_refused(folder, split):
    write_lines(folder / f"{split}.fr", ["une phrase"])
    fails(
        folder,
        rf"not multiway.*\({split}.en {SIZES[split]}, {split}.de {SIZES[split]}, {split}.fr 1, {split}.cs",
    )


@pytest.mark.parametrize("split", SIZES)
def test_a_missing_language_is_refused(folder, split):
    (folder / f"{split}.cs").unlink()
    fails(folder, f"{split}.cs: there is no such file")


def test_fewer_different_sentences_than_pairs_are_refused(folder):
    for language in LANGUAGES:
        write_lines(folder / f"train.{language}", ["one", "two", "one"])
    fails(folder, "fewer different sentences in en than the 3 pairs")
    cut_training_pairs(folder, folder / "cut", LANGUAGES, "multiway")


# Multiway text from pairs

COMMON = {"de": ["a", "b", "twice", "c", "twice"], "fr": ["c", "twice", "x", "a"], "cs": ["a", "c", "b"]}


@pytest.fixture
def pairs(tmp_path) -> Path:
    """Test files of pairs with the pivot, named in both orders, and of one without it; a line tells its
    pivot sentence and its number.
    """
    for language, sentences in COMMON.items():
        name = f"test.{language}-{PIVOT}" if language != "fr" else f"test.{PIVOT}-{language}"
        write_lines(tmp_path / f"{name}.{PIVOT}", sentences)
        write_lines(
            tmp_path / f"{name}.{language}",
            [f"{language} {sentence} {number}" for number, sentence in enumerate(sentences)],
        )
    write_lines(tmp_path / "test.de-fr.de", ["de c 3", "de y 9"])
    write_lines(tmp_path / "test.de-fr.fr", ["fr c 0", "fr y 9"])
    return tmp_path


def test_translations_are_what_all_pairs_have_once_in_the_order_of_the_first(pairs):
    assert read_translations(pairs, "test", LANGUAGES, PIVOT) == {
        "en": ["a", "c"],
        "de": ["de a 0", "de c 3"],
        "fr": ["fr a 3", "fr c 0"],
        "cs": ["cs a 0", "cs c 1"],
    }


def test_a_sentence_that_occurs_twice_has_no_translation():
    assert translations_of_unique(["one", "two", "one"], ["un", "deux", "une"]) == {"two": "deux"}


def test_fewer_languages_have_more_in_common_and_the_pivot_may_be_left_out(pairs):
    assert read_translations(pairs, "test", ["cs", "de"], PIVOT) == {
        "cs": ["cs a 0", "cs c 1", "cs b 2"],
        "de": ["de a 0", "de c 3", "de b 1"],
    }


def test_a_multiway_set_is_read_as_it_is(pairs, folder):
    assert read_translations(folder, "test", LANGUAGES, PIVOT) == read_multiway(folder, "test", LANGUAGES)


def test_text_without_translations_is_refused(pairs):
    write_lines(pairs / "test.cs-en.en", ["x", "y", "z"])
    with pytest.raises(InputError, match="no sentence of en is in the test files of all of de, fr, cs in"):
        read_translations(pairs, "test", LANGUAGES, PIVOT)
    write_lines(pairs / "test.cs-en.en", ["x", "y"])
    with pytest.raises(
        InputError, match="test.cs-en.cs has 3 lines and .*test.cs-en.en has 2; line n of one"
    ):
        read_translations(pairs, "test", LANGUAGES, PIVOT)
    with pytest.raises(InputError, match="has no text for it-en in split 'test'; looked for"):
        read_translations(pairs, "test", ["en", "it"], PIVOT)
    with pytest.raises(InputError, match="name another language besides en, the pivot"):
        read_translations(pairs, "test", ["en"], PIVOT)


def test_a_languages_own_lines_are_those_of_its_pairs_each_once(pairs):
    lines = own_lines(pairs, "test", ["de", "cs"])
    assert lines["de"] == [*(f"de {word} {place}" for place, word in enumerate(COMMON["de"])), "de y 9"]
    assert lines["cs"] == read_lines(pairs / "test.cs-en.cs")
    with pytest.raises(InputError, match="has neither test.it nor a file test.xx-yy.it of any pair"):
        own_lines(pairs, "test", ["it"])


def test_what_a_file_repeats_stays(pairs):
    assert own_lines(pairs, "test", ["en"])["en"].count("twice") == 2
    write_lines(pairs / "test.en", ["a", "a"])
    assert own_lines(pairs, "test", ["en"]) == {"en": ["a", "a"]}
