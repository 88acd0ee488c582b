"""The rule that chooses an experiment for a text and a machine, at the sizes of configs that were trained."""

import os
import re
from dataclasses import replace

import pytest

from tests.conftest import ROOT
from zsnmt.corpora.own_text.survey import Survey
from zsnmt.training.config import Config, read_config
from zsnmt.training.fairseq_options import training_options
from zsnmt.training.machine import Machine, this_machine
from zsnmt.training.rule.choice import Choice
from zsnmt.training.rule.model import LITTLE_TEXT, LITTLE_TEXTS_DROPOUT, SIZES, choose_size
from zsnmt.training.rule.schedule import LEAST_TOKENS
from zsnmt.training.rule.whole import choose
from zsnmt.training.team import shared_updates

ARCHITECTURE = "zs_transformer_residual"
LAPTOP = Machine(cores=2, memory=16, bfloat16=True)
GPU = Machine(cores=8, memory=64, gpu=11)  # that of the papers' configs
# Words of training text, both sides, and different characters: counted in the text of tatoeba.conf; of the
# others sentence pairs as docs/data.md gives them, times two sides, times the words of a sentence, about.
TATOEBA = Survey(
    ("en", "pt", "ru"), {}, words=1_052_931, different_words=99_000, characters=279, scripts={"en": "Latin"}
)
CAPTIONS = replace(TATOEBA, words=660_434, characters=128)  # the text of captions_long.conf
THREE = replace(TATOEBA, words=509_403, characters=215)  # the text of tatoeba_three.conf
NORDIC = replace(TATOEBA, words=320_948, characters=149)  # that of tatoeba_nordic.conf
MULTI30K = replace(TATOEBA, words=29_000 * 2 * 12, characters=120)
IWSLT17 = replace(TATOEBA, words=3 * 145_000 * 2 * 19, characters=250)
EUROPARL = replace(TATOEBA, words=8 * 1_000_000 * 2 * 25, characters=300)


def config(name: str) -> Config:
    return read_config(ROOT / "configs" / f"{name}.conf", {**os.environ, "ROOT": str(ROOT)})


def options(choice: Choice) -> dict:
    """What fairseq reads in the options of a choice."""
    return vars(training_options(ARCHITECTURE, words_of(choice)))


def words_of(choice: Choice) -> list[str]:
    return f"{choice.settings['MODEL']} {choice.settings['TRAINING']}".split()


def differing(name: str, choice: Choice) -> dict[str, tuple]:
    """The options in which a choice differs from a config."""
    theirs, ours = vars(training_options(ARCHITECTURE, config(name).fairseq_options)), options(choice)
    return {key: (theirs[key], ours.get(key)) for key in theirs if theirs[key] != ours.get(key)}


@pytest.mark.parametrize("name, text", [("iwslt17", IWSLT17), ("europarl_full", EUROPARL)])
def test_on_the_papers_gpu_it_is_their_experiment(name, text):
    assert not differing(name, choose(text, GPU))
    vocabulary = int(choose(text, GPU).settings["VOCABULARY"])
    assert 18_900 <= vocabulary <= 41_000  # of docs/training_speed.md, and all merges with the characters


def test_what_students_of_much_text_lack_is_said():
    choice = choose(IWSLT17, GPU)
    assert not {"STUDENT_LAYERS", "WORD_LEVEL"} & choice.settings.keys()
    assert "STUDENT_LAYERS and WORD_LEVEL can be set" in choice.reasons[-1]


DROPOUT = {"dropout", "attention_dropout", "activation_dropout"}
LENGTH = {"total_num_update", "max_update", "max_epoch"}


def test_on_a_laptop_the_text_of_tatoeba_has_the_experiment_of_its_config_but_for_what_was_learnt_since():
    """Less dropout, and a learning rate that falls to the end, which is that of the config's 18 epochs."""
    choice, epoch = choose(TATOEBA, LAPTOP), 13_800 / 10
    assert {*differing("tatoeba", choice)} == {*DROPOUT, *LENGTH, "warmup_updates"}
    assert int(choice.settings["VOCABULARY"]) == config("tatoeba").vocabulary
    chosen = options(choice)
    assert float(chosen["total_num_update"]) == chosen["max_update"] == pytest.approx(18 * epoch, rel=0.01)
    students = choice.settings["DISTILLATION"].split(), config("tatoeba").distillation
    one, other = (vars(training_options(ARCHITECTURE, words)) for words in students)
    assert {key for key in one if one[key] != other[key]} == {"max_update", "max_epoch"}
    assert one["max_update"] == float(one["total_num_update"]) == pytest.approx(9 * 2 * epoch, rel=0.01)


def test_the_long_config_of_tatoeba_is_the_rules_choice():
    """For two processes; but for its length, which counts the words that overlap with the test sets, too."""
    choice, theirs = choose(TATOEBA, LAPTOP, 2), config("tatoeba_long")
    lengths = differing("tatoeba_long", choice)
    assert {*lengths} == {"max_update", "total_num_update"}
    assert all(
        float(config_has) == pytest.approx(float(chosen), rel=0.02) for config_has, chosen in lengths.values()
    )
    assert int(choice.settings["VOCABULARY"]) == theirs.vocabulary
    students = choice.settings["DISTILLATION"].split(), theirs.distillation
    one, other = (vars(training_options(ARCHITECTURE, words)) for words in students)
    assert {key for key in one if one[key] != other[key]} == {"max_update", "total_num_update"}
    of_students = theirs.student_layers, theirs.word_level
    assert of_students == (int(choice.settings["STUDENT_LAYERS"]), float(choice.settings["WORD_LEVEL"]))


@pytest.mark.parametrize(
    "name, text, processes",
    [("captions_long", CAPTIONS, 1), ("tatoeba_three", THREE, 2), ("tatoeba_nordic", NORDIC, 1)],
)
def test_configs_of_text_as_a_person_brings_it_are_the_rules_choice(name, text, processes):
    choice, theirs = choose(text, LAPTOP, processes), config(name)
    assert not differing(name, choice)
    assert int(choice.settings["VOCABULARY"]) == theirs.vocabulary
    assert int(choice.settings["AVERAGE"]) == theirs.average
    assert choice.settings["CLEANING"].split() == [*theirs.cleaning.rules]
    students = choice.settings["DISTILLATION"].split(), theirs.distillation
    one, other = (training_options(ARCHITECTURE, words) for words in students)
    assert one == other
    if theirs.student_layers:  # an earlier config's students are as deep as their teacher
        own = choice.settings["STUDENT_LAYERS"], choice.settings["WORD_LEVEL"]
        assert own == (str(theirs.student_layers), f"{theirs.word_level:g}")


@pytest.mark.parametrize("words, dropout", [(5_000, 0.1), (199_000, 0.1), (200_000, 0.05), (4_000_000, 0.1)])
def test_little_text_has_more_dropout_and_a_student_no_more_than_a_teacher_of_enough_text(words, dropout):
    choice = choose(replace(TATOEBA, words=words), LAPTOP)
    assert {options(choice)[kind] for kind in DROPOUT} == {dropout}
    student = vars(training_options(ARCHITECTURE, choice.settings["DISTILLATION"].split()))
    assert {student[kind] for kind in DROPOUT} == {0.05}


@pytest.mark.parametrize("processes", [1, 2, 3, 4, 8])
def test_the_config_of_a_team_has_updates_that_it_can_share(processes):
    for text, machine in ((TATOEBA, LAPTOP), (IWSLT17, GPU), (EUROPARL, replace(GPU, gpu=80))):
        one, chosen = (options(choose(text, machine, number)) for number in (1, processes))
        assert shared_updates(words_of(choose(text, machine, processes)), processes) is not None
        assert chosen["update_freq"][0] % processes == 0
        size, alone = (each["update_freq"][0] * each["max_tokens"] for each in (chosen, one))
        assert size == pytest.approx(alone, rel=0.01) or chosen["max_tokens"] == LEAST_TOKENS


def test_languages_that_py3langid_does_not_know_are_known_by_their_words():
    scripts = {"en": "Latin", "ny": "Latin", "ti": "Ethiopic"}
    text = replace(TATOEBA, languages=("en", "ny", "ti"), scripts=scripts)
    choice = choose(text, LAPTOP)
    assert choice.settings["IDENTIFIER"] == "lexicon"
    assert any(reason.startswith("py3langid does not know ny, so ") for reason in choice.reasons)
    alone = replace(text, languages=("en", "ti"), scripts={"en": "Latin", "ti": "Ethiopic"})
    assert "IDENTIFIER" not in choose(alone, LAPTOP).settings  # their scripts tell


@pytest.mark.parametrize(
    "languages, unknown",
    [(("eng", "deu", "por"), ""), (("en", "pt_BR", "de_CH"), ""), (("en", "pt_BR", "pt_PT"), "pt_BR, pt_PT")],
)
def test_languages_are_known_by_codes_of_three_letters_and_of_countries_unless_two_are_one(
    languages, unknown
):
    text = replace(TATOEBA, languages=languages, scripts=dict.fromkeys(languages, "Latin"))
    choice = choose(text, LAPTOP)
    assert choice.settings.get("IDENTIFIER") == ("lexicon" if unknown else None)
    assert bool(unknown) == any(f"does not know {unknown}, so" in reason for reason in choice.reasons)


def test_multi30k_has_the_model_and_nearly_the_vocabulary_of_its_config():
    choice, theirs = choose(MULTI30K, LAPTOP), config("multi30k_nonoverlap")
    assert {
        key for key in differing("multi30k_nonoverlap", choice) if "layers" in key or "dim" in key
    } == set()
    assert int(choice.settings["VOCABULARY"]) == pytest.approx(theirs.vocabulary, rel=0.25)


def test_larger_text_never_has_a_smaller_model_and_no_model_is_too_large_for_the_machine():
    amounts = [10**power * factor for power in range(2, 10) for factor in (1, 3)]
    for machine in (LAPTOP, GPU, Machine(1, 0.2), Machine(4, 2), Machine(8, 64, gpu=4)):
        sizes = [choose_size(words, machine) for words in amounts]
        assert [*map(SIZES.index, sizes)] == sorted(map(SIZES.index, sizes))
        room = machine.gpu or machine.memory
        assert all(size.memory <= room or size == SIZES[0] for size in sizes)
        assert machine.gpu or all(size.batch for size in sizes)
    assert choose_size(amounts[-1], GPU) == SIZES[-1] and choose_size(amounts[0], GPU) == SIZES[0]


def test_the_table_of_the_docs_is_that_of_the_rule():
    text = (ROOT / "docs" / "own_text.md").read_text(encoding="utf-8").partition("## The rule")[2]
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if re.match(r"\| [0-9]", line)]
    assert len(rows) == len(SIZES)
    for (words, layers, width, heads, dropout, batch, needs), size in zip(rows, SIZES):
        if size.words < LITTLE_TEXT and size.dropout < LITTLE_TEXTS_DROPOUT:
            dropout = dropout.removesuffix(f" ({LITTLE_TEXTS_DROPOUT} below {LITTLE_TEXT:,} words)")
        assert int(words.replace(",", "").replace(" million", "000000")) == size.words
        assert f"{layers} layers of width {width}" == str(size)
        assert (int(heads), float(dropout)) == (size.heads, size.dropout)
        assert int(batch.replace(",", "").replace("by the GPU", "0")) == size.batch
        assert needs == f"{'' if size.batch else 'a GPU of '}{size.memory:g} GB"


def test_a_machine_that_is_too_small_for_the_words_is_told_of():
    def model(text, machine):
        return next(reason for reason in choose(text, machine).reasons if reason.startswith("The model has"))

    assert "a larger model, which the machine is too small for" in model(IWSLT17, LAPTOP)
    assert "2 cores, 16 GB of memory, no GPU; more text than 3,000,000 words" in model(TATOEBA, LAPTOP)
    assert model(EUROPARL, GPU).endswith("a GPU of 11 GB.")


@pytest.mark.parametrize(
    "memory, batches, tokens", [(11, 8, 3584), (24, 4, 7168), (80, 2, 14336), (8, 11, 2606)]
)
def test_an_update_on_a_gpu_has_as_many_tokens_on_any(memory, batches, tokens):
    chosen = options(choose(IWSLT17, replace(GPU, gpu=memory)))
    assert chosen["update_freq"] == [batches] and chosen["max_tokens"] == tokens
    assert 28_672 - batches < batches * tokens <= 28_672


def test_little_text_is_read_often_and_validated_seldom():
    chosen = options(choose(replace(TATOEBA, words=5000, different_words=900), LAPTOP))
    of_epoch = 2 * 5000 / (0.85 * 600)
    assert chosen["encoder_embed_dim"] == 64 and int(chosen["total_num_update"]) == 3600
    assert chosen["max_update"] == 3600
    assert chosen["validate_interval"] == chosen["save_interval"] == round(100 / of_epoch)


def test_the_vocabulary_has_all_characters_and_no_more_pieces_than_words():
    def pieces(**changes):
        return int(choose(replace(TATOEBA, **changes), LAPTOP).settings["VOCABULARY"])

    assert pieces(characters=4000) >= 4000 + 5600
    assert pieces(different_words=300) == 580  # 279 characters and 300 words, in two digits
    assert pieces(words=10**12) == 41_000


def test_little_text_and_codes_of_countries_are_told_of():
    def said(**changes):
        return " ".join(choose(replace(TATOEBA, **changes), LAPTOP).reasons)

    assert "little text" not in said() and "countries" not in said()
    assert "70,521 words are little text. With 55,000 words in nine languages a model learned next" in said(
        words=70_521
    )
    assert "codes of countries, as a language ua is uk, cz is cs: change" in said(
        languages=("en", "ua", "cz")
    )
    assert "so 100 to 500 sentence pairs" in said(lacking=("test",), pairs={"en-fi": 2000, "en-pt": 20_000})


def test_text_without_sets_or_spaces_has_what_it_needs():
    assert "HELD_OUT" not in choose(TATOEBA, LAPTOP).settings
    assert (
        choose(replace(TATOEBA, lacking=("valid",), pairs={"en-fi": 9}), LAPTOP).settings["HELD_OUT"] == "500"
    )
    chinese = replace(TATOEBA, languages=("en", "zh"), scripts={"en": "Latin", "zh": "Han"})
    assert choose(chinese, LAPTOP).settings["BLEU_TOKENIZER"] == "subwords"
    assert "BLEU_TOKENIZER" not in choose(TATOEBA, LAPTOP).settings


def test_a_processor_without_bfloat16_is_not_asked_for_it():
    assert not options(choose(TATOEBA, replace(LAPTOP, bfloat16=False)))["cpu_bf16"]
    assert not options(choose(MULTI30K, GPU))["fast_training"]


def test_this_machine_has_cores_and_memory():
    machine = this_machine()
    assert machine.cores == len(os.sched_getaffinity(0)) and 0.1 < machine.memory < 10**5


def test_a_model_has_to_fit_into_seven_eighths_of_the_memory():
    """The rest is for compiled kernels."""
    assert choose_size(5_000_000, Machine(2, 3)) == SIZES[1]  # the next one takes 3 GB
    assert choose_size(5_000_000, Machine(2, 3.5)) == SIZES[2]


def test_a_sentence_fits_into_the_batch_of_each_of_many_processes():
    assert options(choose(TATOEBA, LAPTOP, 8))["max_tokens"] == LEAST_TOKENS == 600
