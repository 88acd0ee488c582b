"""Permutation models: the formula of the paper, their files, other versions of the labels, mixtures."""

import math
import random
import re
from itertools import permutations

import numpy as np
import pytest

from tests.corpora.reordering.test_permutation_features import naive_features
from zsnmt.corpora.reordering.permutation_features import all_orders
from zsnmt.corpora.reordering.permutation_model import (
    KINDS,
    items_of,
    log_probabilities,
    mix_models,
    model_files,
    read_model,
    relabel_weights,
    row_of,
    write_model,
)
from zsnmt.errors import InputError

ITEMS = ("@NOUN&@", "ADJ&amod", "ADP&case", "ADP&case", "DET&det")


def random_weights(items: tuple[str, ...], scale: float, seed: int = 0) -> dict[str, float]:
    generator = random.Random(seed)
    features = sorted({feature for order in permutations(items) for feature in naive_features(order)})
    return {feature: generator.gauss(0, scale) for feature in features}


@pytest.mark.parametrize("size", [2, 3, 4, 5])
@pytest.mark.parametrize("scale", [0.3, 300])
def test_probabilities_are_those_of_the_papers_formula(size, scale):
    weights = random_weights(ITEMS[:size], scale)
    del weights[max(weights)]  # a feature that was not seen weighs nothing
    orders = [tuple(order) for order in all_orders(size).orders]
    scores = [
        sum(
            number * weights.get(feature, 0)
            for feature, number in naive_features([ITEMS[i] for i in order]).items()
        )
        for order in orders
    ]
    highest = max(scores)
    total = sum(math.exp(score - highest) for score in scores)
    expected = [score - highest - math.log(total) for score in scores]
    assert log_probabilities(ITEMS[:size], weights) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_scores_far_below_zero_do_not_underflow():
    weights = {"BI_BOS_@NOUN&@": -5000.0, "BI_BOS_ADJ&amod": -5001.0}
    first, second = np.exp(log_probabilities(ITEMS[:2], weights))
    assert first / second == pytest.approx(math.e) and first + second == pytest.approx(1)


def test_items_and_rows_of_an_order():
    order = ("DET&det", "ADJ&amod", "@NOUN&@", "ADP&case")
    assert [order[place] for place in items_of(order)] == ["@NOUN&@", "ADJ&amod", "ADP&case", "DET&det"]
    assert tuple(all_orders(4).orders[row_of(order)]) == (3, 1, 0, 2)


def test_what_is_written_is_read_back_with_six_digits(tmp_path):
    model = {kind: random_weights(ITEMS[:3], 2.0, seed) | {"BI_zero": 0.0} for seed, kind in enumerate(KINDS)}
    write_model(model, tmp_path / "new" / "xx")
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["xx@N.orm", "xx@V.orm"]
    read = read_model(tmp_path / "new" / "xx")
    for kind in KINDS:
        assert list(read[kind]) == sorted(model[kind].keys() - {"BI_zero"})
        assert all(
            weight == pytest.approx(model[kind][feature], rel=1e-5) for feature, weight in read[kind].items()
        )


@pytest.mark.parametrize(
    "line", ["BI_a_b", "0.5", "BI_a_b half", "BI_a_b nan", "BI_a_b inf", "BI_a b 0.5", "BI_a_b 0,5"]
)
def test_a_line_that_is_no_feature_and_number_is_refused(tmp_path, line):
    for path in model_files(tmp_path / "xx").values():
        path.write_text(f"PRE_a_b 1e-3\n{line}\n")
    with pytest.raises(
        InputError, match=re.escape(f"{tmp_path}/xx@N.orm, line 2 is not a feature, a space and a number")
    ):
        read_model(tmp_path / "xx")


def test_a_feature_twice_an_empty_and_a_missing_file_are_refused(tmp_path):
    noun, verb = model_files(tmp_path / "xx").values()
    noun.write_text("PRE_a_b 1\nPRE_a_b 2\n")
    with pytest.raises(InputError, match="line 2 has the feature PRE_a_b a second time; keep one"):
        read_model(tmp_path / "xx")
    noun.write_text("")
    with pytest.raises(InputError, match="xx@N.orm is empty"):
        read_model(tmp_path / "xx")
    noun.write_text("PRE_a_b 1\n")
    with pytest.raises(InputError, match="xx@V.orm: there is no such file"):
        read_model(tmp_path / "xx")


@pytest.mark.parametrize(
    "kind, old, new",
    [
        ("V", "BI_NOUN&dobj_EOS", "BI_NOUN&obj_EOS"),
        ("V", "PRE_NOUN&nsubjpass_AUX&auxpass", "PRE_NOUN&nsubj:pass_AUX&aux:pass"),
        ("V", "PRE_csubjpass_auxpass", "PRE_csubj:pass_aux:pass"),
        ("N", "AFT_CONJ&cc_NOUN&conj", "AFT_CCONJ&cc_NOUN&conj"),
        ("N", "BI_CONJ_NOUN", "BI_CCONJ_NOUN"),
        ("N", "BI_@NOUN&@_NOUN&nmod", "BI_@NOUN&@_NOUN&nmod"),
        ("N", "BI_nmod_nmod:poss", "BI_nmod_nmod:poss"),
        ("V", "BI_@VERB&@_NOUN&nmod", "BI_@VERB&@_NOUN&obl"),
        ("V", "BI_@_nmod:tmod", "BI_@_obl:tmod"),
        ("N", "BI_VERB&cop_@NOUN&@", "BI_AUX&cop_@NOUN&@"),
        ("N", "PRE_DET&neg_PART&neg", "PRE_DET&det_PART&advmod"),
        ("N", "HI_BOS_PROPN&name_PROPN&foreign_ADP&mwe", "HI_BOS_PROPN&flat_PROPN&flat:foreign_ADP&fixed"),
        ("V", "BTW_ADV&advmod_SCONJ&mark", "BTW_ADV&advmod_SCONJ&mark"),
    ],
)
def test_labels_of_version_1_become_those_of_version_2(kind, old, new):
    assert relabel_weights({old: 0.5}, kind) == {new: 0.5}


def test_where_features_become_one_the_name_of_version_2_counts():
    assert relabel_weights({"PRE_neg_det": 1.0, "PRE_advmod_det": 2.0}, "V") == {"PRE_advmod_det": 2.0}


def test_version_1_is_an_option_of_reading(tmp_path):
    for path in model_files(tmp_path / "xx").values():
        path.write_text("BI_dobj_nmod 0.5\n")
    assert read_model(tmp_path / "xx") == {kind: {"BI_dobj_nmod": 0.5} for kind in KINDS}
    assert read_model(tmp_path / "xx", version_1=True) == {
        "N": {"BI_obj_nmod": 0.5},
        "V": {"BI_obj_obl": 0.5},
    }


def test_a_mixture_weighs_both_models():
    order, own = {"N": {"a": 2.0, "b": 1.0}, "V": {}}, {"N": {"a": 4.0, "c": 8.0}, "V": {"d": 1.0}}
    assert mix_models(order, own, 0.25) == {"N": {"a": 2.5, "b": 0.75, "c": 2.0}, "V": {"d": 0.25}}
    with pytest.raises(
        InputError, match="the weight 1.5 of the language's own order cannot be used; give one from 0 to 1"
    ):
        mix_models(order, own, 1.5)
