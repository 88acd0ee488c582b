"""Trees from CoNLL-U: what is read, what is refused and what projective means."""

import random
import re

import pytest

from tests.support.trees import all_trees, conllu_of, made_up_tree, projective_tree, write_trees
from zsnmt.corpora.reordering.dependency_trees import (
    is_projective,
    linearise,
    local_orders,
    read_trees,
    text_of,
)
from zsnmt.errors import InputError

SENTENCE = """\
# text = Des 10 000 chats dorment.
1-2\tDes\t_\t_\t_\t_\t_\t_\t_\t_
1\tDe\tde\tADP\tP\t_\t4\tcase\t_\t_
2\tles\tle\tDET\tD\tDefinite=Def|Number=Plur\t4\tdet\t_\tSpaceAfter=No
3\t10 000\t10 000\tNUM\tM\t_\t4\tnummod\t_\t_
4\tchats\tchat\tNOUN\tN\t_\t5\tnsubj:pass\t_\t_
4.1\tvide\tvide\tVERB\tV\t_\t_\t_\t5:conj\t_
5\tdorment\tdormir\tVERB\tV\t_\t0\troot\t0:root\t_

"""


def test_words_are_read_and_ranges_empty_nodes_and_comments_are_not(tmp_path):
    path = tmp_path / "trees.conllu"
    path.write_text("\n\n" + SENTENCE + "\n" + SENTENCE.rstrip("\n"), encoding="utf-8")
    first, second = read_trees(path)
    assert first == second
    assert first.forms == (
        "De",
        "les",
        "10\u00a0000",
        "chats",
        "dorment",
    )  # as many words as parts between spaces
    assert first.upos == ("ADP", "DET", "NUM", "NOUN", "VERB")
    assert first.relations == ("case", "det", "nummod", "nsubj:pass", "root")
    assert first.heads == (3, 3, 3, 4, None)
    assert text_of(first) == "De les 10\u00a0000 chats dorment" and text_of(
        first, [4, 3, 2, 1, 0]
    ).startswith("dorment chats")


def test_what_is_written_is_read_back(tmp_path):
    generator = random.Random(1)
    trees = [projective_tree(words, generator) for words in (1, 2, 5, 9)]
    assert list(read_trees(write_trees(tmp_path / "trees.conllu", trees))) == trees


def changed(line: int, column: int, value: str) -> str:
    """The sentence with another value in a column of a line, both from 1."""
    lines = [row.split("\t") for row in SENTENCE.split("\n")]
    lines[line - 1][column - 1] = value
    return "\n".join("\t".join(row) for row in lines)


@pytest.mark.parametrize(
    "content, message",
    [
        ("", "is empty"),
        ("# only\n\n# comments\n", "has no trees; give a CoNLL-U file"),
        (SENTENCE.replace("\t", "  "), "line 2 has 1 column; a word of CoNLL-U has 10, parted by tabs"),
        (SENTENCE.replace("les\tle", "les"), "line 4 has 9 columns"),
        (changed(4, 1, "3"), "line 4 has word 3 where 2 is next; number the words"),
        (changed(4, 1, "_"), "line 4 has word _ where 2 is next"),
        (
            changed(4, 1, "two"),
            "line 4: Failed parsing field 'id': 'two' is not a valid ID.; correct that column",
        ),
        (SENTENCE + "2" + SENTENCE.split("\n")[2][1:], "line 10 has word 2 where 1 is next"),
        (changed(5, 2, " "), "line 5 has no form"),
        (changed(5, 4, "_"), "line 5 has no upos; fill the column, for example with a parser"),
        (changed(6, 8, "_"), "line 6 has no deprel"),
        (changed(6, 7, "_"), "line 6 has no head; give the number of a word, or 0 for the root"),
        (changed(6, 7, "chats"), "line 6: Failed parsing field 'head': 'chats' is not a valid"),
        (changed(6, 7, "6"), "line 2: the head of word 4 is 6, but the sentence has 5 words"),
        (changed(6, 7, "-1"), "line 2: the head of word 4 is -1"),
        (changed(6, 7, "0"), "line 2: the sentence has 2 roots; exactly one word has head 0"),
        (changed(8, 7, "4"), "line 2: the sentence has 0 roots"),
        (
            SENTENCE + changed(6, 7, "1"),
            "line 11: word 1 is in or below a cycle; its heads never lead to the root",
        ),
        (changed(6, 7, "4"), "line 2: word 1 is in or below a cycle"),
        (
            SENTENCE.replace("\n", "\r\n"),
            "line 1 ends with a carriage return; convert the file with dos2unix",
        ),
    ],
)
def test_a_broken_file_is_refused_with_its_line_and_a_remedy(tmp_path, content, message):
    path = tmp_path / "trees.conllu"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(str(path)) + ".*" + re.escape(message)):
        list(read_trees(path))


def test_a_file_in_another_encoding_or_that_is_not_there_is_refused(tmp_path):
    path = tmp_path / "trees.conllu"
    path.write_bytes(SENTENCE.replace("vide", "vidé").encode("latin1"))
    with pytest.raises(InputError, match="line 7, byte .* is not UTF-8"):
        list(read_trees(path))
    with pytest.raises(InputError, match="there is no such file"):
        list(read_trees(tmp_path / "absent.conllu"))


def descends(word: int | None, ancestor: int, heads) -> bool:
    return word is not None and (word == ancestor or descends(heads[word], ancestor, heads))


@pytest.mark.parametrize("words, trees", [(1, 1), (2, 2), (3, 9), (4, 64), (5, 625)])  # Cayley: n^(n-1)
def test_projective_is_that_all_words_between_head_and_child_descend_from_the_head(words, trees):
    found = list(all_trees(words))
    assert len(found) == trees
    for heads in found:
        arcs = [(head, word) for word, head in enumerate(heads) if head is not None]
        between = [
            (head, other) for head, word in arcs for other in range(min(head, word) + 1, max(head, word))
        ]
        assert is_projective(heads) == all(descends(other, head, heads) for head, other in between), heads


def test_an_arc_over_the_root_is_not_projective_though_no_arcs_cross():
    assert not is_projective((1, None, 0))


def test_subtrees_stay_in_one_piece_in_any_local_orders():
    generator = random.Random(3)
    for _ in range(50):
        heads = projective_tree(9, generator).heads
        orders = [generator.sample(order, len(order)) for order in local_orders(heads)]
        words = linearise(heads.index(None), orders)
        assert sorted(words) == list(range(9))
        for head in range(9):
            places = [words.index(word) for word in range(9) if descends(word, head, heads)]
            assert max(places) - min(places) == len(places) - 1
            assert sorted(orders[head], key=words.index) == orders[head]


def test_a_deep_tree_needs_no_recursion():
    chain = made_up_tree([None, *range(3000)])
    assert is_projective(chain.heads) and conllu_of(chain).count("\n") == 3001
