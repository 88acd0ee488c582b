"""The task as fairseq sets it up: its directions, its data, what it refuses."""

from argparse import Namespace
from collections import Counter
from pathlib import Path

import pytest
import torch
from fairseq import options, tasks
from fairseq.data.indexed_dataset import MMapIndexedDataset
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq.tasks.translation_multi_simple_epoch import TranslationMultiSimpleEpochTask

from tests.tasks.conftest import (
    FIRST,
    LANGUAGES,
    PAIRS,
    PIVOT,
    SECOND,
    SUPERVISED,
    TEST,
    VALID,
    ZERO_SHOT,
    batches,
    task_of,
    towards,
)
from zsnmt.data.task_options import STOCK_OPTIONS
from zsnmt.errors import InputError
from zsnmt.languages import language_tag, parse_direction
from zsnmt.runs.folder import DIRECTION_LISTS
from zsnmt.runs.validation import read_validations
from zsnmt.tasks.zs_translation import ZeroShotTranslationTask

KNOWN = f"this model knows {', '.join(LANGUAGES)}"


# Languages and directions


def test_every_pair_with_training_text_is_trained_in_both_directions(data):
    task = task_of(data)
    assert task.lang_pairs == task.valid_directions == SUPERVISED
    assert task.langs == LANGUAGES


def test_a_text_of_many_directions_is_opened_once(data, monkeypatch):
    """A multiway set has a name for each direction; a training pair serves two."""
    opened = []
    stock = MMapIndexedDataset._do_init

    def open_text(self: MMapIndexedDataset, path: str, *rest: object) -> None:
        opened.append(Path(f"{path}.bin").stat().st_ino)
        stock(self, path, *rest)

    monkeypatch.setattr(MMapIndexedDataset, "_do_init", open_text)
    task = task_of(data, "--valid-lang-pairs", "all")
    for split, files in (("train", 4), ("valid", len(LANGUAGES))):
        opened.clear()
        task.load_dataset(split)
        assert len(opened) == len({*opened}) == files
    sources = [pairs.src for pairs in task.dataset("valid").datasets]
    assert len(sources) == len([*SUPERVISED, *ZERO_SHOT]) and len({*map(id, sources)}) == len(LANGUAGES)


def test_directions_can_be_chosen(data):
    task = task_of(
        data, "--lang-pairs", SUPERVISED[2], "--valid-lang-pairs", f"{ZERO_SHOT[1]},{SUPERVISED[0]}"
    )
    assert task.lang_pairs == [SUPERVISED[2]] and task.valid_directions == [ZERO_SHOT[1], SUPERVISED[0]]


def test_checkpoints_are_chosen_on_zero_shot_directions_only_where_asked_for(data):
    """Liu et al. 2021, section 3.2, do so for all of Europarl alone."""
    everything, option = ("--valid-lang-pairs", "all"), "--early-stopping-on-zero-shot"
    assert task_of(data, *everything).decisive_directions == SUPERVISED
    assert {*task_of(data, *everything, option).decisive_directions} == {*SUPERVISED, *ZERO_SHOT}


def test_a_checkpoint_may_be_older_than_an_option(data):
    options = vars(task_of(data).args).copy()
    for name in (
        "valid_bleu_lines",
        "length_penalty_form",
        "cpu_bf16",
        "valid_lang_pairs",
        "early_stopping_on_zero_shot",
    ):
        del options[name]
    args = Namespace(**options | {"virtual_epoch_size": 77})
    task = ZeroShotTranslationTask.setup_task(args)
    assert options["langtoks"] == {"main": (None, None)}  # which no person has given
    assert (args.valid_bleu_lines, args.length_penalty_form, args.cpu_bf16) == (0, "power", False)
    assert (
        task.valid_directions == SUPERVISED and task.validation_bleu is None and args.virtual_epoch_size == 77
    )


def as_typed(option: str) -> str:
    return f"--{option.replace('_', '-')}"


VALUES = {  # of options that do not take any word
    **dict.fromkeys(("decoder_langtok", "lang_tok_replacing_bos_eos", "enable_lang_ids"), []),
    **dict.fromkeys(("load_alignments", "keep_inference_langtok"), []),
    "enable_reservsed_directions_shared_datasets": [],
    "encoder_langtok": ["src"],
    "lang_tok_style": ["mbart"],
    "langtoks": ["{'main': ('src', None)}"],
    "langtoks_specs": ["main,mined"],
}


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["-s", "xx", "-t", PIVOT], f"unknown language 'xx': {KNOWN}"),
        (["-s", PIVOT, "-t", "xx"], f"unknown language 'xx': {KNOWN}"),
        (["--lang-pairs", f"{PIVOT}-xx"], f"unknown language 'xx': {KNOWN}"),
        (
            ["--early-stopping-on-zero-shot"],
            "--early-stopping-on-zero-shot has no effect: all directions of validation are trained",
        ),
        (["--valid-lang-pairs", f"xx-{PIVOT}"], f"unknown language 'xx': {KNOWN}"),
        (["-s", PIVOT], "give both --source-lang and --target-lang"),
        (["-t", PIVOT], "give both --source-lang and --target-lang"),
        (["-s", PIVOT, "-t", PIVOT], "two different languages"),
        (["--lang-pairs", PIVOT], "is not a direction"),
        *[
            ([as_typed(option), *VALUES.get(option, ["x"])], f"leave out {as_typed(option)}: ")
            for option in dict.fromkeys([*STOCK_OPTIONS, *VALUES])
        ],
        (
            ["--decoder-langtok", "--lang-tok-replacing-bos-eos"],
            "out --decoder-langtok, --lang-tok-replacing-bos-eos:",
        ),
    ],
)
def test_options_that_cannot_be_used_say_why(data, arguments, message):
    with pytest.raises(InputError, match=message):
        task_of(data, *arguments)


def test_a_folder_that_cannot_be_used_says_why(own_data):
    dictionary = own_data / f"dict.{SECOND}.txt"
    whole = dictionary.read_text()
    dictionary.write_text(whole + "more 1\n")
    with pytest.raises(InputError, match="one dictionary for all languages"):
        task_of(own_data)
    for path in own_data.glob("dict.*.txt"):
        path.write_text(whole.replace(f"{language_tag(SECOND)} ", "tag "))
    with pytest.raises(InputError, match=f"no tag for {SECOND}"):
        task_of(own_data)
    for content in (b"a line without a count\n", b"twice 1\ntwice 1\n", b"\xff 1\n"):
        for path in own_data.glob("dict.*.txt"):
            path.write_bytes(content)
        with pytest.raises(
            InputError, match=rf"dict.{PIVOT}.txt is not a dictionary \(.*; copy it from where"
        ):
            task_of(own_data)
    for path in own_data.glob("dict.*.txt"):
        path.unlink()
    with pytest.raises(InputError, match=f"dict.{PIVOT}.txt is missing: a folder has one dictionary for all"):
        task_of(own_data)
    (own_data / "languages.txt").unlink()
    with pytest.raises(InputError, match="languages.txt is missing"):
        task_of(own_data)


def test_a_validation_sentence_that_is_too_long_is_refused_before_training(data):
    task_of(data, "--max-source-positions", "30", "--max-target-positions", "30").load_dataset("valid")
    task = task_of(
        data, "--max-source-positions", "9", "--max-target-positions", "8", "--lang-pairs", SUPERVISED[2]
    )
    with pytest.raises(InputError) as error:
        task.load_dataset("valid")
    sizes = task_of(data, "--lang-pairs", SUPERVISED[2])
    sizes.load_dataset("valid")
    sources, targets = ([*map(int, side)] for side in zip(*sizes.datasets["valid"].sizes))
    line = next(line for line, size in enumerate(sources, start=1) if size > 9)
    assert str(error.value) == (
        f"{data}/valid.{PIVOT}-{FIRST}.{FIRST}.idx: line {line} of this validation text has "
        f"{sources[line - 1]} tokens with its tags and its end, and the model reads 9 at most; shorten the "
        f"line (in the text the file is valid.{FIRST}, or that of the pair), remove it in both languages, or "
        f"give --max-source-positions {max(sources)}"
    )
    task.args.max_source_positions = max(sources)
    with pytest.raises(
        InputError, match=f"and the model writes 8 at .* --max-target-positions {max(targets)}$"
    ):
        task.load_dataset("valid")
    task.args.skip_invalid_size_inputs_valid_test = True
    task.load_dataset("valid")


def test_a_validation_sentence_that_no_batch_can_hold_is_refused_before_training(data):
    task_of(data, "--max-tokens", "30").load_dataset("valid")
    for option in (["--max-tokens", "9"], ["--max-tokens", "30", "--max-tokens-valid", "9"]):
        with pytest.raises(
            InputError, match=r"and a batch has 9 at most; .* or give --max-tokens-valid \d+$"
        ):
            task_of(data, *option).load_dataset("valid")


def test_a_source_that_is_cut_is_not_too_long(data):
    arguments = "--max-source-positions 9 --max-target-positions 99 --truncate-source".split()
    for placement in ("t_dec", "s_enc_t_dec"):
        task = task_of(data, *arguments, "--language-tags", placement)
        task.load_dataset("valid")
        pairs = task.dataset("valid")
        assert 0 < max(pairs.num_tokens(place) for place in range(len(pairs))) <= 99


def test_a_direction_without_text_is_named(own_data):
    with pytest.raises(InputError, match=f"no binarised 'train' text for {ZERO_SHOT[0]}.*zsnmt prepare"):
        task_of(own_data, "--lang-pairs", f"{SUPERVISED[0]},{ZERO_SHOT[0]}").load_dataset("train")
    for path in own_data.glob(f"valid.{FIRST}-{SECOND}.*"):
        path.unlink()
    with pytest.raises(InputError, match=f"no binarised 'valid' text for {ZERO_SHOT[1]}"):
        task_of(own_data, "--valid-lang-pairs", ZERO_SHOT[1]).load_dataset("valid")
    for path in own_data.glob("train.*"):
        path.unlink()
    with pytest.raises(InputError, match="no binarised 'train' text"):
        task_of(own_data)


# Nothing is lost


def sentence_pairs(batches: list[dict]) -> Counter:
    """The sentence pairs of batches without padding, as often as they are there."""
    return Counter(
        tuple(tuple(token for token in row if token != 1) for row in (source.tolist(), target.tolist()))
        for batch in batches
        for source, target in zip(batch["net_input"]["src_tokens"], batch["target"])
    )


@pytest.mark.parametrize("limits", [dict(max_sentences=8), dict(max_tokens=90)])
@pytest.mark.parametrize("arguments", [[], ["--sampling-method", "RoundRobin"]])
def test_every_sentence_is_in_some_batch(data, arguments, limits):
    for split, size in (("train", PAIRS), ("valid", VALID), ("test", TEST)):
        whole = batches(task_of(data, *arguments), split, **limits)
        assert sum(batch["nsentences"] for batch in whole) == 4 * size
        task = task_of(data)
        task.load_dataset(split)
        examples = (part[index] for part in task.dataset(split).datasets for index in range(len(part)))
        expected = Counter(
            (tuple(each["source"].tolist()), tuple(each["target"].tolist())) for each in examples
        )
        assert sentence_pairs(whole) == expected
    stock = batches(task_of(data), "train", by=TranslationMultiSimpleEpochTask, **limits)
    assert sum(batch["nsentences"] for batch in stock) < 4 * PAIRS, "fairseq alone loses a batch"


@pytest.mark.parametrize("arguments", [[], ["--sampling-method", "RoundRobin"]])
def test_training_mixes_directions_and_validation_does_not(data, arguments):
    dictionary = task_of(data).target_dictionary
    tags = {dictionary.index(language_tag(language)): language for language in LANGUAGES}
    for split, mixed in (("train", True), ("valid", False)):
        targets = [
            {tags[tag] for tag in batch["net_input"]["prev_output_tokens"][:, 0].tolist()}
            for batch in batches(task_of(data, *arguments), split, max_sentences=16)
        ]
        assert any(len(languages) > 1 for languages in targets) == mixed
    for batch in batches(task_of(data, *arguments), "valid", max_sentences=16):
        target = parse_direction(batch["direction"]).target
        assert {tags[tag] for tag in batch["net_input"]["prev_output_tokens"][:, 0].tolist()} == {target}


def test_a_truncated_source_has_room_for_its_tags(data):
    options = ["--truncate-source", "--max-source-positions", 9, "--language-tags", "s_enc_t_enc"]
    task = task_of(data, *options)
    whole = batches(task, "valid", max_sentences=8, max_positions=task.max_positions())
    assert sum(batch["nsentences"] for batch in whole) == 4 * VALID
    assert max(batch["net_input"]["src_tokens"].size(1) for batch in whole) == 9
    assert all(
        (batch["net_input"]["src_tokens"][:, -1] == task.source_dictionary.eos()).all() for batch in whole
    )


# Inference and checkpoints


def test_constraints_are_refused(data):
    with pytest.raises(InputError, match="leave out --constraints"):
        task_of(data, *towards(ZERO_SHOT[0])).build_dataset_for_inference([], [], constraints=torch.ones(2))


@pytest.mark.parametrize("option", ["--constraints", "--retain-iter-history", "--print-step"])
def test_options_of_another_search_are_refused(data, option):
    parser = options.get_generation_parser(default_task="zs_translation")
    args = options.parse_args_and_arch(parser, [str(data), *towards(ZERO_SHOT[0]), option])
    task, cfg = tasks.setup_task(args), convert_namespace_to_omegaconf(args)
    with pytest.raises(InputError, match=f"leave out {option}"):
        task.build_generator([], cfg.generation)


def test_languages_may_be_added_at_the_end_but_not_reordered(data):
    state = task_of(data).state_dict()
    task_of(data).load_state_dict({**state, "languages": LANGUAGES[:2]})
    for languages in (LANGUAGES[::-1], [*LANGUAGES, "more"]):
        with pytest.raises(
            InputError, match=f"the checkpoint's languages are {', '.join(languages)}, in this order"
        ):
            task_of(data).load_state_dict({**state, "languages": languages})
    stock = task_of(data)
    stock.load_state_dict({})
    assert stock.placement.name == "t_dec"


# Extra data, such as synthetic text


def extra(data, directions: str) -> list[str]:
    return ["--extra-data", str({"targets": str(data)}), "--extra-lang-pairs", str({"targets": directions})]


def test_directions_of_extra_data_are_trained_and_choose_checkpoints(data):
    valid = [SUPERVISED[0], ZERO_SHOT[0], ZERO_SHOT[1]]
    given = [*extra(data, f"{ZERO_SHOT[0]},{SUPERVISED[0]}"), "--valid-lang-pairs", ",".join(valid)]
    task = task_of(data, *given)
    assert task.lang_pairs == SUPERVISED and task.extra_directions == [ZERO_SHOT[0]]
    assert task.learned.trained == task.state_dict()["trained"] == [*SUPERVISED, ZERO_SHOT[0]]
    assert task.decisive_directions == valid[:2]


def test_a_validation_calls_directions_of_an_earlier_stage_supervised(data, tmp_path):
    """As a last stage out of the pivot has them, whose text by people the model has learned before."""
    valid = [*SUPERVISED, ZERO_SHOT[0]]
    given = ["--lang-pairs", SUPERVISED[0], "--valid-lang-pairs", ",".join(valid)]
    task = task_of(data, *given, "--early-stopping-on-zero-shot", "--save-dir", tmp_path)
    task.load_state_dict(task_of(data).state_dict())
    task.begin_valid_epoch(1, None)
    task.post_validate(None, {"num_updates": 5, "loss": 2.5, "nll_loss": 2.0}, None)
    (line,) = read_validations(tmp_path)
    kinds = {direction: found["kind"] for direction, found in line["directions"].items()}
    assert kinds == dict.fromkeys(SUPERVISED, "supervised") | {ZERO_SHOT[0]: "zero_shot"}
    assert line["chosen_on"] == [ZERO_SHOT[0]]


@pytest.mark.parametrize("figure", ["nll_loss", "bleu"])
@pytest.mark.parametrize(("direction", "chosen_on"), [(ZERO_SHOT[0], ZERO_SHOT[:1]), (SUPERVISED[0], None)])
def test_a_validation_says_which_zero_shot_direction_alone_chooses_checkpoints(
    data, tmp_path, figure, direction, chosen_on
):
    given = ["--valid-lang-pairs", "all", "--early-stopping-on-zero-shot", "--save-dir", tmp_path]
    task = task_of(data, *given, "--best-checkpoint-metric", f"{figure}_{direction}")
    task.begin_valid_epoch(1, None)
    task.post_validate(None, {"num_updates": 5, "nll_loss": 2.0, f"{figure}_{direction}": 2.5}, None)
    (line,) = read_validations(tmp_path)
    assert line.get("chosen_on") == chosen_on


def test_a_training_knows_of_which_directions_earlier_ones_had_synthetic_text_alone(data, tmp_path):
    """As a student that is trained further without synthetic text does."""
    first, second = ZERO_SHOT
    student = task_of(data, *extra(data, f"{first},{second}"))
    further = task_of(data, "--lang-pairs", first, *extra(data, SUPERVISED[0]))
    further.load_state_dict(student.state_dict())
    assert further.extra_directions == SUPERVISED[:1]
    assert further.learned.synthetic == further.state_dict()["synthetic"] == [second]
    last = task_of(data, "--valid-lang-pairs", "all", "--save-dir", tmp_path)
    last.load_state_dict(further.state_dict())
    last.begin_valid_epoch(1, None)
    last.post_validate(None, {"num_updates": 5, "loss": 2.5, "nll_loss": 2.0}, None)
    (line,) = read_validations(tmp_path)
    kinds = {direction: found["kind"] for direction, found in line["directions"].items()}
    assert kinds == dict.fromkeys([*SUPERVISED, first], "supervised") | {second: "zero_resource"}


def test_a_training_that_goes_on_from_an_older_checkpoint_has_its_own_synthetic_directions(data):
    task = task_of(data, *extra(data, ZERO_SHOT[0]))
    older = {name: value for name, value in task.state_dict().items() if name not in DIRECTION_LISTS}
    task.load_state_dict(older)
    assert task.learned.synthetic == ZERO_SHOT[:1] and task.learned.few == []


def test_a_direction_that_is_asked_for_does_not_count_as_trained(data):
    task = task_of(data, *extra(data, ZERO_SHOT[0]))
    for asked, trained in ((ZERO_SHOT[0], True), (ZERO_SHOT[1], False), (SUPERVISED[0], True)):
        later = task_of(data, *towards(asked))
        later.load_state_dict(task.state_dict())
        assert [*map(str, later.codec.trained)] == task.learned.trained
        assert (parse_direction(asked) in later.codec.trained) == trained


@pytest.mark.parametrize("option", ["--extra-data", "--extra-lang-pairs"])
def test_extra_data_that_would_not_be_trained_on_are_refused(data, option):
    given = extra(data, SUPERVISED[0])
    place = given.index(option) + 1
    mistyped = [*given[:place], given[place].replace("targets", "targts"), *given[place + 1 :]]
    alone = given[place - 1 : place + 1]
    for arguments, name in ((mistyped, "targets"), (mistyped, "targts"), (alone, "targets")):
        with pytest.raises(
            InputError, match="'tar.*' is named by only one of --extra-data and --extra-lang-"
        ):
            task_of(data, *arguments).load_dataset("train")
    task_of(data, *given).load_dataset("train")


def test_extra_data_without_text_for_their_direction_are_named(data, own_data):
    for path in own_data.glob(f"train.*{FIRST}*"):
        path.unlink()
    given = [*extra(own_data, SUPERVISED[0]), "--lang-pairs", SUPERVISED[1]]
    with pytest.raises(InputError, match=f"{own_data} has no binarised 'train' text for {SUPERVISED[0]}"):
        task_of(data, *given).load_dataset("train")


@pytest.mark.parametrize("sampling", ["concat", "temperature", "RoundRobin"])
def test_a_direction_that_is_named_twice_is_trained_on_once(data, sampling):
    twice = ",".join([*SUPERVISED, SUPERVISED[0]])
    given = [
        "--lang-pairs",
        twice,
        "--valid-lang-pairs",
        twice,
        *extra(data, f"{SUPERVISED[0]}," * 2 + SUPERVISED[1]),
    ]
    task = task_of(data, *given, "--sampling-method", sampling)
    assert task.lang_pairs == task.valid_directions == SUPERVISED
    task.load_dataset("train")
    assert len(task.dataset("train").datasets) == 6


def test_extra_data_of_an_unknown_language_are_refused(data):
    task = task_of(data, *extra(data, f"{PIVOT}-xx"))
    with pytest.raises(InputError, match=f"unknown language 'xx': {KNOWN}"):
        _ = task.learned.trained
