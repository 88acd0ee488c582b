"""The synthetic corpus: reproducible, without leaks, each setting doing what it says."""

import itertools
import json
import os
import subprocess
import sys
import tracemalloc
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TextIO

import pytest

from zsnmt.corpora.invented import corpus as module
from zsnmt.corpora.invented.corpus import SyntheticCorpus, text_file, write_corpus
from zsnmt.corpora.invented.grammar import CHOICES, Language
from zsnmt.corpora.invented.languages import standard_languages
from zsnmt.corpora.invented.lexicon import FEWEST_CONCEPTS, form_similarity, lexical_overlap
from zsnmt.corpora.parallel_text import SPLITS, check_corpus
from zsnmt.errors import InputError
from zsnmt.scoring.lexicon_identifier import LexiconIdentifier

SMALL = SyntheticCorpus(languages=standard_languages(3), concepts=60, pairs=150, valid=20, test=40)
ROOT = Path(__file__).parents[3]


def files_of(corpus: SyntheticCorpus) -> dict[str, list[str]]:
    """The lines of all files, by name."""
    with TemporaryDirectory() as folder:
        corpus.write(Path(folder))
        return {path.name: path.read_text(encoding="utf-8").splitlines() for path in Path(folder).iterdir()}


def text(corpus: SyntheticCorpus) -> dict[str, list[str]]:
    """The files that hold sentences or words, without those that hold the settings."""
    return {
        name: lines
        for name, lines in files_of(corpus).items()
        if name not in ("settings.json", "description.txt")
    }


def corpus_with(corpus: SyntheticCorpus, index: int, **changes: str) -> SyntheticCorpus:
    languages = list(corpus.languages)
    languages[index] = replace(languages[index], **changes)
    return replace(corpus, languages=tuple(languages))


# Reproducible


def test_equal_settings_give_equal_bytes_in_another_process(tmp_path) -> None:
    write_corpus(SMALL, tmp_path / "here")
    options = [f"--{name}={getattr(SMALL, name)}" for name in ("concepts", "pairs", "valid", "test")]
    subprocess.run(
        [sys.executable, "scripts/make_synthetic.py", str(tmp_path / "there"), "--number=3", *options],
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "7"},
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    here, there = (
        {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("here", "there")
    )
    assert here == there


def test_the_seed_changes_every_file_but_the_word_orders() -> None:
    first, second = text(SMALL), text(replace(SMALL, seed=2))
    orders = {f"word_order.{language.name}": [language.word_order] for language in SMALL.languages}
    assert (
        first.keys() == second.keys()
        and {name: first[name] for name in first if first[name] == second[name]} == orders
    )


@pytest.mark.parametrize("field", CHOICES)
def test_typology_of_one_language_changes_that_language_alone(field: str) -> None:
    value = next(choice for choice in CHOICES[field] if choice != getattr(SMALL.languages[2], field))
    changed = corpus_with(SMALL, 2, **{field: value})
    assert changed.stems == SMALL.stems
    before, after, name = text(SMALL), text(changed), SMALL.languages[2].name
    assert {file for file in before if before[file] != after[file]} <= {
        file for file in before if file.endswith(name)
    }
    assert before[f"test.{name}"] != after[f"test.{name}"]
    if "order" in field or field == "adpositions":
        assert before[f"lexicon.{name}"] == after[f"lexicon.{name}"]
        assert [sorted(line.lower()[:-1].split()) for line in before[f"test.{name}"]] == [
            sorted(line.lower()[:-1].split()) for line in after[f"test.{name}"]
        ]


def test_another_language_or_more_pairs_leave_the_rest_as_it_was() -> None:
    before, after = text(SMALL), text(replace(SMALL, languages=standard_languages(4), pairs=200))
    assert all(after[name][: len(lines)] == lines for name, lines in before.items())


# No leaks


def test_no_meaning_occurs_twice_and_no_sentence_does() -> None:
    meanings = [meaning for part in SMALL.meanings().values() for meaning in part]
    assert len(set(meanings)) == len(meanings) == 3 * SMALL.pairs + SMALL.valid + SMALL.test
    for language in SMALL.languages:
        assert len({SMALL.render(meaning, language) for meaning in meanings}) == len(meanings)


def test_files_follow_the_parallel_text_contract_and_lines_are_translations() -> None:
    files, meanings = text(SMALL), SMALL.meanings()
    pivot, *others = (language.name for language in SMALL.languages)
    pairs = {f"train.{other}-{pivot}.{side}" for other in others for side in (other, pivot)}
    multiway = {
        f"{kind}.{name}" for kind in ("valid", "test", "lexicon", "word_order") for name in (pivot, *others)
    }
    assert set(files) == pairs | multiway
    for language in SMALL.languages[1:]:
        for side in (language, SMALL.pivot):
            lines = files[f"train.{language.name}-{pivot}.{side.name}"]
            assert lines == [SMALL.render(meaning, side) for meaning in meanings[language.name]]
    for language in SMALL.languages:
        assert files[f"test.{language.name}"] == [
            SMALL.render(meaning, language) for meaning in meanings["test"]
        ]


def test_multiway_pairs_have_the_same_sentences_in_all_languages_and_the_rest_is_as_it_was() -> None:
    before, files = text(SMALL), text(replace(SMALL, multiway_share=0.4))
    pivot, *others = (language.name for language in SMALL.languages)
    sides = [files[f"train.{other}-{pivot}.{pivot}"] for other in others]
    common = round(0.4 * SMALL.pairs)
    assert all(side[:common] == sides[0][:common] and len(side) == SMALL.pairs for side in sides)
    assert len({line for side in sides for line in side}) == common + 3 * (SMALL.pairs - common)
    for name, lines in before.items():
        assert files[name][common:] == lines[:-common] if name.startswith("train") else files[name] == lines
    assert not {*sides[0]} & {*files[f"valid.{pivot}"], *files[f"test.{pivot}"]}


def test_a_folder_that_is_older_than_a_setting_has_its_default(tmp_path) -> None:
    write_corpus(SMALL, folder := tmp_path / "older")
    settings = json.loads((folder / "settings.json").read_text(encoding="utf-8"))
    del settings["multiway_share"]
    (folder / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    assert not write_corpus(SMALL, folder)
    with pytest.raises(InputError, match="something else"):
        write_corpus(replace(SMALL, multiway_share=1.0), folder)


# Lexicons


def test_every_word_of_the_text_is_in_the_lexicon_and_the_lexicon_has_no_other_form() -> None:
    corpus = replace(SMALL, concepts=FEWEST_CONCEPTS, pairs=1000)
    files = files_of(corpus)
    for language in corpus.languages[1:]:
        lines = files[f"train.{language.name}-{corpus.pivot.name}.{language.name}"]
        words = {word for line in lines for word in line[:-1].lower().split()}
        assert words == set(corpus.lexicons[language.name])


def test_sentences_look_like_raw_text() -> None:
    for line in files_of(SMALL)[f"test.{SMALL.pivot.name}"]:
        assert (
            line[0].isupper() and line[-1] in ".?" and line[1:-1].islower() and line == " ".join(line.split())
        )


def mean_likeness(corpus: SyntheticCorpus, families: bool) -> float:
    """Mean likeness (0-1) of the languages inside (`families`) or across families."""
    pairs = [
        form_similarity(corpus.stems[first.name], corpus.stems[second.name])
        for first, second in itertools.combinations(corpus.languages, 2)
        if (first.family == second.family) == families
    ]
    return sum(pairs) / len(pairs)


def test_cognates_make_languages_alike_and_sound_changes_make_them_differ() -> None:
    corpus = replace(SMALL, family_cognates=0.0)
    shared = [mean_likeness(replace(corpus, shared_cognates=share), False) for share in (0, 0.25, 0.5, 1)]
    assert shared == sorted(set(shared))
    within = [
        mean_likeness(replace(corpus, shared_cognates=0, family_cognates=share), True)
        for share in (0, 0.5, 1)
    ]
    assert within == sorted(set(within))
    changed = [mean_likeness(replace(corpus, sound_change=rate), False) for rate in (0.6, 0.3, 0)]
    assert changed == sorted(set(changed))


def test_without_sound_change_all_cognates_are_the_same_word() -> None:
    corpus = replace(SMALL, shared_cognates=1.0, family_cognates=0.0, sound_change=0.0)
    first, second = (corpus.stems[language.name] for language in corpus.languages[:2])
    concepts = [concept for concepts in corpus.inventory.values() for concept in concepts]
    assert sum(first[concept] == second[concept] for concept in concepts) >= 0.95 * len(concepts)


def test_full_words_are_mostly_distinct_and_the_identifier_tells_the_references_apart() -> None:
    corpus = SyntheticCorpus(pairs=1)
    lexicons = corpus.lexicons
    for first, second in itertools.combinations(lexicons.values(), 2):
        assert lexical_overlap(first, second) == lexical_overlap(second, first) < 0.05
    identifier, files = LexiconIdentifier(lexicons), files_of(corpus)
    for name in lexicons:
        wrong = sum(found != name for found in identifier.identify(files[f"test.{name}"]))
        assert wrong < 0.01 * corpus.test


# Folders


def test_writing_again_changes_nothing_and_other_settings_are_refused(tmp_path) -> None:
    folder = tmp_path / "corpus"
    assert write_corpus(SMALL, folder)
    pairs = [(language.name, SMALL.pivot.name) for language in SMALL.languages[1:]]
    counts = check_corpus(folder, pairs)
    assert [set(counts[split].values()) for split in SPLITS] == [{SMALL.pairs}, {SMALL.valid}, {SMALL.test}]
    times = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert not write_corpus(SMALL, folder)
    with pytest.raises(InputError, match="something else"):
        write_corpus(replace(SMALL, seed=2), folder)
    assert times == {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert json.loads((folder / "settings.json").read_text(encoding="utf-8"))["pairs"] == SMALL.pairs


def test_sentences_are_written_as_they_are_drawn(tmp_path) -> None:
    """All that is kept of one is its digest, so memory grows little with the text."""
    peaks = []
    for pairs in (200, 1200):
        corpus = replace(SMALL, languages=standard_languages(1), pairs=pairs)
        assert corpus.lexicons  # made once
        tracemalloc.start()
        corpus.write(tmp_path)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] - peaks[0] < 250 * 1000


def test_a_folder_with_other_things_is_left_alone_and_an_empty_one_is_filled(tmp_path) -> None:
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="something else"):
        write_corpus(SMALL, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
    (tmp_path / "empty").mkdir()
    assert write_corpus(SMALL, tmp_path / "empty") and (tmp_path / "empty" / "settings.json").is_file()


def test_a_killed_run_leaves_no_corpus_and_the_next_one_is_whole(tmp_path, monkeypatch) -> None:
    written = []

    def killed(path: Path) -> TextIO:
        written.append(path)
        if len(written) == 5:
            raise KeyboardInterrupt
        return text_file(path)

    with monkeypatch.context() as patch:
        patch.setattr(module, "text_file", killed)
        with pytest.raises(KeyboardInterrupt):
            write_corpus(SMALL, tmp_path / "corpus")
    assert not [*tmp_path.iterdir()] and len(written) == 5
    assert write_corpus(SMALL, tmp_path / "corpus")
    assert {path.name for path in (tmp_path / "corpus").iterdir()} == set(files_of(SMALL))
    assert [path.name for path in tmp_path.iterdir()] == ["corpus"]


# Errors


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"languages": standard_languages(1)[:1]}, "at least one other"),
        ({"languages": standard_languages(1) * 2}, "each name once"),
        ({"languages": (Language("piv", "a"), Language("test", "b"))}, "a language is named test, as a set"),
        ({"concepts": FEWEST_CONCEPTS - 1}, f"at least {FEWEST_CONCEPTS}"),
        ({"shared_cognates": 1.5}, "shared_cognates is 1.5"),
        ({"shared_cognates": 0.7, "family_cognates": 0.7}, "at most 1 together"),
        ({"pairs": 0}, "pairs is 0"),
        ({"multiway_share": 2.0}, "multiway_share is 2.0; it is a share"),
        ({"shortest": 9, "longest": 8}, "9 to 8"),
    ],
)
def test_bad_settings_say_what_is_wrong(changes: dict, words: str) -> None:
    with pytest.raises(InputError, match=words):
        SyntheticCorpus(**changes)


@pytest.mark.slow
def test_more_sentences_than_there_are_stop_with_an_error() -> None:
    corpus = SyntheticCorpus(
        concepts=FEWEST_CONCEPTS, shortest=2, longest=2, pairs=5000, second_clause_share=0.0
    )
    with pytest.raises(InputError, match="ask for fewer sentences"):
        corpus.meanings()
