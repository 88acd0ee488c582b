"""Pairs of natural language inference in invented languages: the label follows from what both sentences say,
and from neither alone.
"""

import json
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conftest import run_command
from zsnmt.corpora.invented.corpus import SyntheticCorpus
from zsnmt.corpora.invented.grammar import Clause
from zsnmt.corpora.invented.inference import Inference, SyntheticInference, sentence, write_inference
from zsnmt.corpora.invented.languages import standard_languages
from zsnmt.corpora.releases.xnli import LABELS, read_multinli, read_xnli
from zsnmt.errors import InputError

LANGUAGES = standard_languages(2)  # inglan, velan, tamun
NUMBER = 600
SMALL = SyntheticInference(
    SyntheticCorpus(languages=LANGUAGES, concepts=60, pairs=NUMBER, valid=30, test=60), sentences=40
)


@pytest.fixture(scope="module")
def drawn() -> list[Inference]:
    return [*SMALL.draw("train", NUMBER, set())]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    written = tmp_path_factory.mktemp("inference") / "nli"
    write_inference(SMALL, written)
    return written


def parts(clause: Clause) -> set[tuple]:
    """All that a clause says but whether it is denied, piece by piece."""
    said: set[tuple] = {("verb", clause.verb), ("tense", clause.tense), ("adverb", clause.adverb)}
    for role in ("agent", "patient", "place"):
        phrase = getattr(clause, role)
        if phrase is not None:
            said |= {(role, phrase.noun, phrase.plural, phrase.definite), (role, "number", phrase.numeral)}
            said |= {(role, "kind", adjective) for adjective in phrase.adjectives}
            said |= {(role, clause.relation)} if role == "place" else set()
    return {each for each in said if each[-1] is not None}


def test_a_hypothesis_follows_where_the_premise_says_all_of_it(drawn: list[Inference]) -> None:
    for premise, hypothesis, label in drawn:
        more, less = (hypothesis, premise) if premise.negative else (premise, hypothesis)
        expected = "neutral"
        if parts(less) <= parts(more):
            expected = "entailment" if premise.negative == hypothesis.negative else "contradiction"
        assert label == expected and premise != hypothesis


def test_each_label_is_as_frequent_and_no_premise_comes_twice(drawn: list[Inference]) -> None:
    assert [pair.label for pair in drawn] == [*LABELS] * (NUMBER // 3)
    assert all(replace(pair.premise, negative=pair.hypothesis.negative) != pair.hypothesis for pair in drawn)
    assert len({repr(pair.premise) for pair in drawn}) == NUMBER


@pytest.mark.parametrize("side", ["premise", "hypothesis"])
def test_neither_sentence_alone_tells_the_label(drawn: list[Inference], side: str) -> None:
    found: dict[bool, Counter[str]] = defaultdict(Counter)
    lengths: dict[str, list[int]] = defaultdict(list)
    for pair in drawn:
        clause: Clause = getattr(pair, side)
        found[clause.negative][pair.label] += 1
        lengths[pair.label].append(clause.size)
    for labels in found.values():
        assert all(abs(labels[label] / labels.total() - 1 / 3) < 0.08 for label in LABELS), found
    means = [sum(each) / len(each) for each in lengths.values()]
    assert max(means) - min(means) < 0.5, means


def test_the_words_alone_do_not_tell_it_where_order_marks_the_patient(drawn: list[Inference]) -> None:
    pivot, labels = LANGUAGES[0], defaultdict(set)
    for premise, hypothesis, label in drawn:
        for told, patient in ((label, hypothesis), ("neutral", exchanged(hypothesis))):
            if hypothesis.patient:
                words = [SMALL.corpus.render(sentence(each), pivot).lower() for each in (premise, patient)]
                labels[tuple(" ".join(sorted(each.strip(".").split())) for each in words)].add(told)
    assert sum(len(each) > 1 for each in labels.values()) > NUMBER / 4


def exchanged(clause: Clause) -> Clause:
    assert clause.patient is None or clause.agent is not None
    return replace(clause, agent=clause.patient, patient=clause.agent) if clause.patient else clause


def test_files_are_those_of_the_releases_and_say_the_same_in_every_language(folder: Path) -> None:
    train = read_multinli(folder)
    assert len(train) == NUMBER and Counter(pair.label for pair in train) == dict.fromkeys(
        LABELS, NUMBER // 3
    )
    names = [language.name for language in LANGUAGES]
    for split, number in (("dev", 30), ("test", 60)):
        pairs = read_xnli(folder, split, names)
        assert [len(pairs[name]) for name in names] == [number] * 3
        assert len({tuple(pair.label for pair in pairs[name]) for name in names}) == 1
        drawn = [*SMALL.draw(f"xnli.{split}", number, set())]
        for language in LANGUAGES if split == "test" else ():
            for pair, meant in zip(pairs[language.name], drawn, strict=True):
                assert pair.premise == SMALL.corpus.render(sentence(meant.premise), language)
                assert pair.hypothesis == SMALL.corpus.render(sentence(meant.hypothesis), language)
    tested = {pair.premise for split in ("dev", "test") for pair in read_xnli(folder, split, names)[names[0]]}
    assert not tested & {pair.premise for pair in train}


def test_text_to_pretrain_on_says_other_things_in_each_language(folder: Path) -> None:
    lines = {
        path.name: path.read_text("utf-8").splitlines() for path in folder.glob("*.??*") if "." in path.name
    }
    assert {name: len(lines[name]) for name in lines if name.startswith("train.")} == {
        f"train.{language.name}": 40 for language in LANGUAGES
    }
    assert {len(lines[f"valid.{language.name}"]) for language in LANGUAGES} == {30}
    settings = json.loads((folder / "settings.json").read_text("utf-8"))
    assert settings["sentences"] == 40 and settings["corpus"]["pairs"] == NUMBER


def test_equal_settings_give_equal_files_and_another_seed_others(folder: Path, tmp_path: Path) -> None:
    write_inference(SMALL, tmp_path / "again")
    other = replace(SMALL, corpus=replace(SMALL.corpus, seed=2))
    write_inference(other, tmp_path / "other")
    for path in folder.iterdir():
        assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes()
        if path.name != "languages.txt":
            assert (tmp_path / "other" / path.name).read_bytes() != path.read_bytes()


@pytest.mark.parametrize(
    "options, words",
    [
        (["--sentences", 0], "sentences is 0; ask for at least 1 sentence"),
        (["--pairs", 0], "pairs is 0; ask for at least 1 sentence"),
        (["--concepts", 3], "3 concepts are too few"),
    ],
)
def test_bad_arguments_are_one_line_and_leave_nothing(tmp_path: Path, options: list, words: str) -> None:
    done = run_command("python", "-m", "zsnmt", "make-synthetic-nli", tmp_path / "nli", *options)
    assert done.returncode == 1 and words in done.stderr and done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_the_command_writes_them_and_says_how_many(tmp_path: Path) -> None:
    options = ["--number", 1, "--pairs", 9, "--valid", 3, "--test", 6, "--sentences", 5]
    done = run_command("python", "-m", "zsnmt", "make-synthetic-nli", tmp_path / "nli", *options)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "language\tword_order\tsentences\ttrain\tdev\ttest",
        "inglan\tSVO\t5\t9\t3\t6",
        "velan\tSOV\t5\t0\t3\t6",
    ]
    assert len(read_multinli(tmp_path / "nli")) == 9
    again = run_command("python", "-m", "zsnmt", "make-synthetic-nli", tmp_path / "nli", *options)
    assert again.returncode == 1 and "is there already" in again.stderr


def test_a_grammar_that_runs_out_leaves_nothing(tmp_path: Path) -> None:
    few = replace(SMALL, corpus=replace(SMALL.corpus, concepts=40, pairs=10**6))
    with pytest.raises(InputError, match="ran out of new ones after 12 in all; ask for fewer pairs"):
        [*few.draw("train", 10**6, OnlyTwelve())]


class OnlyTwelve(set):
    """Says of all but twelve that they are there."""

    def __contains__(self, known: object) -> bool:
        return len(self) == 12
