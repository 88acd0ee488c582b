"""Sentences in the word order of another language: what is drawn, what is written, and the script."""

import json
import random
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import run_command
from tests.support.trees import made_up_tree, projective_tree, write_trees
from zsnmt.corpora.reordering.dependency_trees import Tree, text_of
from zsnmt.corpora.reordering.galactic_dependencies import (
    distribution_of,
    draw_order,
    reorder,
    write_reordered,
)
from zsnmt.corpora.reordering.permutation_features import all_orders
from zsnmt.corpora.reordering.permutation_model import log_probabilities, mix_models, read_model
from zsnmt.corpora.reordering.permutation_training import count_nodes, train
from zsnmt.errors import InputError
from zsnmt.text.lines import read_lines

SYMBOLS = {"nsubj": "NOUN&nsubj", "obj": "NOUN&obj", "verb": "@VERB&@", "advmod": "ADV&advmod"}
UPOS = {"nsubj": "NOUN", "obj": "NOUN", "verb": "VERB", "advmod": "ADV", "det": "DET"}
NO_ORDER = {"N": {}, "V": {}}


def clause(roles: str, noun_last: bool = True) -> Tree:
    """A verb with subject, object and adverb in an order, the nouns with a determiner."""
    words = []
    for role in roles.split():
        noun = ["det", role] if noun_last else [role, "det"]
        words += noun if role in ("nsubj", "obj") else [role]
    verb = words.index("verb")
    step = 1 if noun_last else -1
    heads = [
        None if word == "verb" else place + step if word == "det" else verb
        for place, word in enumerate(words)
    ]
    relations = ["root" if word == "verb" else word for word in words]
    return Tree(tuple(words), tuple(UPOS[word] for word in words), tuple(relations), tuple(heads))


def insists_on(*order: str) -> dict[str, dict[str, float]]:
    """A model of which one order of a verb's children is all but certain."""
    return {
        "N": {},
        "V": {f"BI_{first}_{second}": 100.0 for first, second in pairwise(["BOS", *order, "EOS"])},
    }


def some_trees(number: int = 30, seed: int = 0) -> list[Tree]:
    generator = random.Random(seed)
    return [projective_tree(words, generator) for words in range(1, 8) for _ in range(number // 7 + 1)]


def some_model(seed: int = 1) -> dict[str, dict[str, float]]:
    """Random weights of the features of pairs in some trees."""
    generator = random.Random(seed)
    nodes, _ = count_nodes(some_trees())
    return {kind: {feature: generator.gauss(0, 1) for feature in train(nodes[kind], l2=10)} for kind in nodes}


@pytest.mark.parametrize("roles", ["obj nsubj verb advmod", "verb nsubj obj advmod", "advmod nsubj obj verb"])
def test_a_model_that_insists_on_an_order_gives_it(roles):
    model = insists_on(*(SYMBOLS[role] for role in roles.split()))
    [(tree, order)] = reorder([clause("nsubj verb obj advmod")], model)
    assert [word for word in text_of(tree, order).split() if word != "det"] == roles.split()


def test_orders_are_drawn_as_often_as_they_are_likely():
    tree = made_up_tree([1, None, 1])._replace(upos=("DET", "VERB", "ADV"))
    items, weights = ("@VERB&@", "ADV&dep", "DET&dep"), {"BI_BOS_ADV&dep": 0.9, "PRE_DET_@VERB": -1.2}
    distribution = distribution_of({"N": {}, "V": weights})
    draws = 4000
    drawn = Counter(
        tuple(draw_order(tree, np.random.default_rng([7, number]), distribution)) for number in range(draws)
    )
    word = {0: 1, 1: 2, 2: 0}  # of each item
    for order, probability in zip(all_orders(3).orders, np.exp(log_probabilities(items, weights))):
        error = 4 * np.sqrt(probability * (1 - probability) / draws)
        assert drawn[tuple(word[item] for item in order)] / draws == pytest.approx(probability, abs=error)


def test_the_own_weight_chooses_between_the_orders():
    orders = ("nsubj", "obj", "verb"), ("verb", "nsubj", "obj")
    final, initial = (insists_on(*(SYMBOLS[role] for role in roles)) for roles in orders)
    for own_weight, expected in (
        (0, "det nsubj det obj verb"),
        (0.05, "det nsubj det obj verb"),
        (1, "verb det nsubj det obj"),
    ):
        model = mix_models(final, initial, own_weight) | {"N": {"PRE_det_@": 100.0}}
        [(tree, order)] = reorder([clause("nsubj verb obj")], model)
        assert text_of(tree, order) == expected


def test_neither_processes_nor_other_trees_alter_an_order():
    trees, model = some_trees(), some_model()
    orders = [order for _, order in reorder(trees, model, seed=3)]
    assert [order for _, order in reorder(trees, model, seed=3, jobs=2)] == orders
    numbers = random.Random(0).sample(range(len(trees)), len(trees))
    distribution = distribution_of(model)
    shuffled = {
        number: draw_order(trees[number], np.random.default_rng([3, number]), distribution)
        for number in numbers
    }
    assert [shuffled[number] for number in range(len(trees))] == orders
    assert [order for _, order in reorder(trees, model, seed=4)] != orders


def test_only_children_of_nouns_and_verbs_move():
    trees = [tree._replace(upos=("ADJ",) * len(tree.upos)) for tree in some_trees()]
    assert all(order == list(range(len(order))) for _, order in reorder(trees, some_model()))
    assert any(order != list(range(len(order))) for _, order in reorder(some_trees(), NO_ORDER))


def test_trees_that_cannot_be_reordered_are_left_out_with_the_reason():
    crossing, flat = (
        made_up_tree([1, None, 0]),
        {children: made_up_tree([None, *[0] * children]) for children in (6, 7)},
    )
    results = [order for _, order in reorder([crossing, flat[6], flat[7]], NO_ORDER)]
    assert results == ["non_projective", list(range(7)), "too_many_children"]  # of whatever part of speech
    assert [order for _, order in reorder([flat[6]], None, most_children=6)] == ["too_many_children"]


def test_files_of_a_prefix_belong_together(tmp_path):
    trees = some_trees()
    trees[3:3] = [made_up_tree([1, None, 0], prefix="crossing")]
    trees[9:9] = [made_up_tree([None, *[0] * 7], prefix="flat")]
    prefix = tmp_path / "new/train.xx"
    counts = write_reordered(write_trees(tmp_path / "trees.conllu", trees), prefix, some_model(), seed=2)
    lines = {
        name: read_lines(tmp_path / f"new/train.xx.{name}")
        for name in ("source", "reordered", "alignment", "kept")
    }
    kept = [number for number in range(1, len(trees) + 1) if number not in (4, 10)]
    assert lines["kept"] == [str(number) for number in kept]
    assert lines["source"] == [text_of(trees[number - 1]) for number in kept]
    moved = 0
    for source, reordered, alignment in zip(
        lines["source"], lines["reordered"], lines["alignment"], strict=True
    ):
        places = [int(place) for place in alignment.split(" ")]
        assert [source.split(" ")[place] for place in places] == reordered.split(" ")
        assert [reordered.split(" ")[place] for place in np.argsort(places)] == source.split(" ")
        moved += sum(place != number for number, place in enumerate(places))
    words = sum(len(line.split(" ")) for line in lines["source"])
    assert counts == {
        "read": len(trees),
        "non_projective": 1,
        "too_many_children": 1,
        "kept": len(kept),
        "words": words,
        "words_moved": moved,
    }
    assert json.loads((tmp_path / "new/train.xx.json").read_text()) == counts and moved > 0


def test_the_source_alone_is_that_of_the_reordered(tmp_path):
    trees = write_trees(tmp_path / "trees.conllu", some_trees())
    write_reordered(trees, tmp_path / "xx", some_model())
    counts = write_reordered(trees, tmp_path / "own", None)
    assert counts["words_moved"] == 0
    assert sorted(tmp_path.glob("own*")) == [tmp_path / f"own.{name}" for name in ("json", "kept", "source")]
    for name in ("source", "kept"):
        assert (tmp_path / f"own.{name}").read_bytes() == (tmp_path / f"xx.{name}").read_bytes()


def test_a_broken_tree_leaves_the_files_as_they_were(tmp_path):
    path = write_trees(tmp_path / "trees.conllu", some_trees())
    write_reordered(path, tmp_path / "xx", some_model())
    before = {file: file.read_bytes() for file in tmp_path.glob("xx.*")}
    path.write_text(path.read_text() + "\n1\tlate\n")
    with pytest.raises(InputError, match="has 2 columns"):
        write_reordered(path, tmp_path / "xx", some_model(seed=2))
    assert {file: file.read_bytes() for file in tmp_path.glob("xx.*")} == before and len(before) == 5


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"most_children": 9}, "9 children at most are not possible; give 1 to 8"),
        ({"most_children": 0}, "0 children at most are not possible"),
        ({"seed": -1}, "a seed of -1 cannot be used; give 0 or more"),
        ({"jobs": 0}, "0 processes cannot work; give one or more"),
    ],
)
def test_impossible_settings_are_refused(tmp_path, wrong, message):
    with pytest.raises(InputError, match=message):
        write_reordered(
            write_trees(tmp_path / "trees.conllu", some_trees()), tmp_path / "xx", some_model(), **wrong
        )
    assert not list(tmp_path.glob("xx*"))


def test_a_prefix_without_a_name_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = write_trees(tmp_path / "trees.conllu", some_trees())
    with pytest.raises(InputError, match="'.' does not name files; give a name, as in data/train.fi"):
        write_reordered(path, Path("."), some_model())
    assert [*tmp_path.iterdir()] == [path]


def test_trees_of_which_none_can_be_kept_are_refused(tmp_path):
    trees = [tree for tree in some_trees() if len(tree.forms) > 1]
    with pytest.raises(
        InputError, match="no tree of .*trees.conllu can be kept: .* more than 1 children; give other trees"
    ):
        write_reordered(write_trees(tmp_path / "trees.conllu", trees), tmp_path / "xx", None, most_children=1)
    assert not list(tmp_path.glob("xx*"))


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Treebanks of a verb-initial, verb-final and own language, and models that the script has learned
    from them.
    """
    folder = tmp_path_factory.mktemp("models")
    roles = {
        "initial": ("verb nsubj obj", False),
        "final": ("nsubj obj verb", True),
        "own": ("nsubj verb obj", True),
    }
    printed = {}
    for name, (order, noun_last) in roles.items():
        trees = [
            clause(order, noun_last),
            clause(f"{order} advmod" if name == "own" else f"advmod {order}", noun_last),
        ] * 40
        write_trees(folder / f"{name}.conllu", trees)
        printed[name] = run_command(
            "scripts/galactic.py",
            "train",
            folder / f"{name}.conllu",
            "--output",
            folder / name,
            "--held-out",
            folder / f"{name}.conllu",
            "--l2",
            "0.01",
        )
    return folder, printed


@pytest.mark.slow
def test_the_script_trains_and_says_how_well(models):
    folder, printed = models
    for name, done in printed.items():
        assert done.returncode == 0, done.stderr
        header, *rows = [line.split("\t") for line in done.stdout.splitlines()]
        assert header == "set trees non_projective heads nodes features log_likelihood uniform".split()
        assert [row[:5] for row in rows] == [
            [group, "80", "0", kind, number]
            for group in ("train", "held_out")
            for kind, number in (("N", "160"), ("V", "80"))
        ]
        assert all(float(row[6]) > -0.2 > float(row[7]) for row in rows) and rows[0][5:] == rows[2][5:]
        assert all(read_model(folder / name).values())


@pytest.mark.parametrize(
    "name, expected", [("initial", "verb nsubj det obj det"), ("final", "det nsubj det obj verb")]
)
def test_the_script_moves_verbs_to_where_the_other_language_has_them(models, tmp_path, name, expected):
    folder, _ = models
    done = run_command(
        "scripts/galactic.py",
        "apply",
        folder / "own.conllu",
        "--order",
        folder / name,
        "--own",
        folder / "own",
        "--output",
        tmp_path / "xx",
        "--jobs",
        2,
    )
    assert done.returncode == 0, done.stderr
    header, values = [line.split("\t") for line in done.stdout.splitlines()]
    assert dict(zip(header, values))["kept"] == "80"
    short = [line for line in read_lines(tmp_path / "xx.reordered") if "advmod" not in line]
    assert len(short) == 40 and short.count(expected) > 30
    assert read_lines(tmp_path / "xx.source")[0] == "det nsubj verb det obj"
    text = run_command("scripts/galactic.py", "text", folder / "own.conllu", "--output", tmp_path / "own")
    assert (
        text.returncode == 0
        and (tmp_path / "own.source").read_bytes() == (tmp_path / "xx.source").read_bytes()
    )


def test_the_script_reads_published_models_of_version_1(models, tmp_path):
    """As `insists_on` does, by the labels of version 1."""
    folder, _ = models
    for kind in "NV":
        (tmp_path / f"old@{kind}.orm").write_text(
            "BI_BOS_NOUN&dobj 90.0\nBI_NOUN&dobj_NOUN&nsubj 90.0\nPRE_det_@ 90.0\n"
        )
    command = [
        "scripts/galactic.py",
        "apply",
        folder / "own.conllu",
        "--order",
        tmp_path / "old",
        "--own",
        folder / "own",
    ]
    for options in ([], ["--version-1", "order"]):
        done = run_command(*command, "--output", tmp_path / "xx", "--own-weight", 0, *options)
        assert done.returncode == 0, done.stderr
        without_adverb = read_lines(tmp_path / "xx.reordered")[::2]
        assert all(line.startswith("det obj det nsubj") for line in without_adverb) == bool(options)


def test_the_script_stops_with_one_line(models, tmp_path):
    folder, _ = models
    done = run_command(
        "scripts/galactic.py",
        "apply",
        folder / "own.conllu",
        "--order",
        tmp_path / "absent",
        "--own",
        folder / "own",
        "--output",
        tmp_path / "xx",
    )
    missing = f"error: {tmp_path}/absent@N.orm: there is no such file; name one that is there\n"
    assert (done.returncode, done.stderr) == (1, missing)
    assert not list(tmp_path.iterdir())
