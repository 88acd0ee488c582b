"""The synthetic treebanks: trees over the words of the corpus, in the order and with the labels of each
language.
"""

import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import conllu
import pytest

from tests.conftest import run_command
from tests.corpora.invented.test_grammar import CLAUSE
from zsnmt.corpora.invented.corpus import SyntheticCorpus
from zsnmt.corpora.invented.grammar import CHOICES, Clause, Language, Meaning, NounPhrase
from zsnmt.corpora.invented.languages import standard_languages
from zsnmt.corpora.invented.trees import conllu_tree, treebanks, write_treebanks
from zsnmt.errors import InputError

SENTENCES = 60
TYPOLOGIES = list(itertools.product(*CHOICES.values()))[::37]  # 36, with every choice
SMALL = SyntheticCorpus(
    languages=tuple(Language(f"lang{n}", "fam", *typology) for n, typology in enumerate(TYPOLOGIES)),
    concepts=50,
    valid=7,
)
SECOND = Clause(
    NounPhrase("noun4", False, False, None, ()), "intransitive1", None, None, None, None, "present", False
)


@pytest.fixture(scope="module")
def banks() -> dict[str, str]:
    return dict(treebanks(SMALL, SENTENCES))


def trees(banks: dict[str, str], language: Language) -> list[conllu.TokenList]:
    return conllu.parse(banks[f"train.{language.name}.conllu"])


def children(tree: conllu.TokenList, number: int) -> Iterator[conllu.Token]:
    return (word for word in tree if word["head"] == number)


def ancestors(tree: conllu.TokenList, word: conllu.Token) -> list[int]:
    """The numbers of the words above a word, up to the root; stops where they would never end."""
    found = []
    while word["head"]:
        found.append(word["head"])
        assert len(found) < len(tree), "a cycle"
        word = tree[word["head"] - 1]
    return found


def labelled(language: Language, meaning: Meaning) -> str:
    """The sentence as `relation:head`, each head by its concept."""
    stems = {concept: concept for concept in SMALL.stems["lang0"]}
    (tree,) = conllu.parse(conllu_tree(meaning, language, stems, "one"))
    lemmas = ["", *(word["lemma"] for word in tree)]
    return " ".join(f"{word['deprel']}:{lemmas[word['head']]}".rstrip(":") for word in tree)


# Trees


def test_choices_are_all_among_the_languages_under_test() -> None:
    assert [set(column) for column in zip(*TYPOLOGIES)] == [set(choices) for choices in CHOICES.values()]


@pytest.mark.slow
def test_words_put_together_are_the_sentence_of_the_corpus() -> None:
    meanings = list(SMALL.draw("some", SENTENCES, set()))
    for language, meaning in itertools.product(SMALL.languages, meanings):
        (tree,) = conllu.parse(conllu_tree(meaning, language, SMALL.stems[language.name], "one"))
        spaces = ["" if (word["misc"] or {}).get("SpaceAfter") == "No" else " " for word in tree]
        text = "".join(word["form"] + space for word, space in zip(tree, spaces)).rstrip()
        assert text == tree.metadata["text"] == SMALL.render(meaning, language)


@pytest.mark.slow
def test_every_tree_has_one_root_no_cycle_and_is_projective(banks) -> None:
    for tree in (tree for language in SMALL.languages for tree in trees(banks, language)):
        assert [word["id"] for word in tree] == list(range(1, len(tree) + 1))
        assert [word["deprel"] == "root" for word in tree] == [word["head"] == 0 for word in tree]
        assert sum(word["head"] == 0 for word in tree) == 1
        above = {word["id"]: ancestors(tree, word) for word in tree}
        for word in (word for word in tree if word["head"]):
            low, high = sorted((word["id"], word["head"]))
            assert all(word["head"] in above[between] for between in range(low + 1, high))


def test_subject_verb_and_object_stand_in_the_word_order(banks) -> None:
    for language in SMALL.languages:
        verbs = 0
        for tree in trees(banks, language):
            for verb in (word for word in tree if word["upos"] == "VERB"):
                roles = {"nsubj": "S", "obj": "O"}
                places = {
                    roles[word["deprel"]]: word["id"]
                    for word in children(tree, verb["id"])
                    if word["deprel"] in roles
                }
                places["V"] = verb["id"]
                assert sorted(places, key=places.get) == [
                    role for role in language.word_order if role in places
                ]
                verbs += len(places) == 3
        assert verbs > SENTENCES / 3


def test_modifiers_and_adpositions_stand_on_the_side_of_the_language(banks) -> None:
    for language in SMALL.languages:
        sides = {
            "amod": language.adjective_order,
            "nummod": language.adjective_order,
            "obl": language.adpositions,
        }
        seen = set()
        for tree in trees(banks, language):
            for word in tree:
                if word["deprel"] in ("amod", "nummod"):
                    assert (word["id"] < word["head"]) == (sides[word["deprel"]] == "before")
                elif word["deprel"] == "obl":
                    (adposition,) = (
                        child for child in children(tree, word["id"]) if child["deprel"] == "case"
                    )
                    assert (adposition["id"] < word["id"]) == (sides["obl"] == "before")
                seen.add(word["deprel"])
        assert seen >= set(sides)


def test_the_tree_of_an_english_like_sentence() -> None:
    said = labelled(Language("lang", "fam"), Meaning(CLAUSE, "conjunction1", SECOND, False))
    assert said == (
        "amod:noun1 amod:noun1 nsubj:transitive1 advmod:transitive1 root det:noun2 nummod:noun2 "
        "obj:transitive1 case:noun3 obl:transitive1 advmod:transitive1 cc:intransitive1 nsubj:intransitive1 "
        "conj:transitive1 punct:transitive1"
    )


def test_the_tree_of_a_language_with_particles_everywhere() -> None:
    language = Language(
        "lang", "fam", "SOV", "after", "after", "particle", "particle", "particle", "particle"
    )
    assert labelled(language, Meaning(CLAUSE, None, None, True)) == (
        "advmod:transitive1 nsubj:transitive1 amod:noun1 amod:noun1 obl:transitive1 case:noun3 case:noun2 "
        "det:noun2 det:noun2 obj:transitive1 nummod:noun2 advmod:transitive1 aux:transitive1 root "
        "punct:transitive1"
    )


def test_every_mark_is_a_feature_once_whether_a_particle_or_an_affix() -> None:
    for language in SMALL.languages:
        (tree,) = conllu.parse(
            conllu_tree(Meaning(CLAUSE, None, None, False), language, SMALL.stems[language.name], "one")
        )
        found = sorted(feature for word in tree for feature in (word["feats"] or {}).items())
        case = [] if language.case_marking == "none" else [("Case", "Acc")]
        assert found == [
            *case,
            ("Definite", "Def"),
            ("Number", "Plur"),
            ("Polarity", "Neg"),
            ("Tense", "Past"),
        ]


# Treebanks


@pytest.mark.slow
def test_sentences_are_distinct_and_the_same_in_every_language(banks) -> None:
    assert len(banks) == 2 * len(SMALL.languages)
    for language in SMALL.languages:
        train, valid = (
            conllu.parse(banks[f"{split}.{language.name}.conllu"]) for split in ("train", "valid")
        )
        assert (
            len({tree.metadata["text"] for tree in train + valid})
            == len(train + valid)
            == SENTENCES + SMALL.valid
        )
        assert [tree.metadata["sent_id"] for tree in valid] == [
            f"valid-{n}" for n in range(1, SMALL.valid + 1)
        ]
    concepts = [
        [
            sorted(word["upos"] for word in tree if word["upos"] in ("NOUN", "VERB", "ADJ", "ADV"))
            for tree in trees(banks, language)
        ]
        for language in SMALL.languages
    ]
    assert all(each == concepts[0] for each in concepts)


@pytest.mark.slow
def test_equal_settings_give_equal_trees_and_another_seed_others(banks) -> None:
    assert dict(treebanks(SMALL, SENTENCES)) == banks
    other = dict(treebanks(replace(SMALL, seed=2), SENTENCES))
    assert other.keys() == banks.keys() and all(other[name] != banks[name] for name in banks)


def test_more_sentences_begin_with_the_fewer() -> None:
    fewer, more = (dict(treebanks(SMALL, number))["train.lang1.conllu"] for number in (5, 9))
    assert more.startswith(fewer) and more.count("\n\n") == 9


def test_the_script_writes_a_treebank_of_each_language(tmp_path: Path) -> None:
    path, folder = tmp_path / "languages.json", tmp_path / "trees"
    rows = [{"name": "a", "family": "x"}, {"name": "b", "family": "x", "word_order": "VSO"}]
    path.write_text(json.dumps(rows), encoding="utf-8")
    options = ["--languages", path, "--sentences", 5, "--valid", 3, "--seed", 4]
    done = run_command("python", "-m", "zsnmt", "make-synthetic-trees", folder, *options)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "language\tword_order\ttrain\tvalid\na\tSVO\t5\t3\nb\tVSO\t5\t3\n"
    corpus = SyntheticCorpus(languages=tuple(Language(**row) for row in rows), valid=3, seed=4)
    written = {file.name: file.read_text(encoding="utf-8") for file in folder.iterdir()}
    assert written == {**dict(treebanks(corpus, 5)), "languages.txt": "a\nb\n"}  # the pivot first


@pytest.mark.parametrize(
    "options, words",
    [
        (["--sentences", 0], "sentences is 0; ask for at least 1 sentence"),
        (["--valid", 0], "valid is 0; ask for at least 1 sentence"),
        (["--number", 100], "100 standard languages: there are 1 to 99"),
        (["--concepts", 3], "3 concepts are too few"),
        (["--languages", "nowhere.json"], "nowhere.json cannot be read as JSON"),
    ],
)
def test_bad_arguments_are_one_line_and_leave_nothing(tmp_path: Path, options: list, words: str) -> None:
    done = run_command("python", "-m", "zsnmt", "make-synthetic-trees", tmp_path / "trees", *options)
    assert done.returncode == 1 and words in done.stderr and done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_folder_that_is_there_and_a_grammar_that_runs_out_leave_all_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match=f"{re.escape(str(tmp_path))} is there already"):
        write_treebanks(SMALL, 5, tmp_path)
    few = replace(SMALL, languages=standard_languages(1), shortest=2, longest=2, second_clause_share=0.0)
    with pytest.raises(InputError, match="ask for fewer sentences"):
        write_treebanks(few, 5000, tmp_path / "trees")
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
