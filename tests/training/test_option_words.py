"""The options of fairseq-train as words of a command."""

import pytest

from zsnmt.errors import InputError
from zsnmt.training.option_words import check_own, separate, without


def test_the_value_of_an_option_is_a_word_of_its_own():
    assert separate(["--lr=0.1", "--flag", "a=b"]) == ["--lr", "0.1", "--flag", "a=b"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--seed", "5"], "--seed behind -- counts for nothing"),
        (["--lr", "1", "--seed=5"], "--seed behind -- counts for nothing"),
        (["--save-dir", "here"], "--save-dir behind -- counts for nothing; a run is in the folder that RUNS"),
        (["--user-dir=mine"], "--user-dir behind -- counts for nothing; a training has zsnmt's alone"),
        (["--no-save"], "leave out --no-save: a run is made of its checkpoints, and there would be none"),
        (["--disable-validation"], "the best checkpoint is chosen by validation, and there would be none"),
        (["--max-epoch", "2", "--save-interval=3"], "give --validate-interval and --save-interval no more"),
        (["--maximize-best-checkpoint-metric"], "leave out --maximize-best-checkpoint-metric: a run is the"),
        (["--best-checkpoint-metric=bleu_de-fr"], "leave out --best-checkpoint-metric: .* lowest nll_loss"),
        (["--keep-best-checkpoints", "1"], "leave out --keep-best-checkpoints: .* as AVERAGE of its config"),
    ],
)
def test_options_without_effect_or_without_a_checkpoint_are_refused(options, said):
    with pytest.raises(InputError, match=said):
        check_own(options)
    check_own(["--max-epoch", "3", "--save-interval=3", "--validate-interval", "2", "--seeds", "5"])
    check_own(["--max-epoch", "0", "--validate-interval", "2"])  # without an end


@pytest.mark.parametrize("words", [["--seed", "3"], ["--seed=3"]])
def test_an_option_is_left_out_with_its_value_in_both_forms(words):
    others = ["--seeds", "4", "--fp16"]
    assert without(["DATA", *words, *others], {"--seed"}) == ["DATA", *others]


def test_an_option_without_a_value_is_left_out_alone():
    assert without(["--fp16", "--lr", "-1", "--fp16"], {"--fp16"}) == ["--lr", "-1"]
