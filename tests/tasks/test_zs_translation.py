"""The task through fairseq's own commands: train, validate, generate, interactive and the hub."""

import shutil
from collections import Counter
from pathlib import Path

import pytest
import torch
from fairseq import checkpoint_utils, options, tasks
from fairseq.tasks.translation_multi_simple_epoch import TranslationMultiSimpleEpochTask

from tests.tasks.conftest import (
    FIRST,
    LANGUAGES,
    PAIRS,
    PIVOT,
    PLUGIN,
    SECOND,
    SUPERVISED,
    TEST,
    VALID,
    ZERO_SHOT,
    Run,
    fairseq,
    training_options,
)
from zsnmt.corpora.parallel_text import read_lines
from zsnmt.errors import InputError
from zsnmt.languages import language_tag, parse_direction
from zsnmt.models.zs_transformer import ZeroShotTransformer
from zsnmt.tasks.zs_translation import STOCK_OPTIONS, ZeroShotTranslationTask
from zsnmt.text.subword import Subwords

HERE = ["--cpu", "--num-workers", 0]
KNOWN = f"this model knows {', '.join(LANGUAGES)}"


def task_of(data: Path, *arguments: object) -> ZeroShotTranslationTask:
    """The task as a command sets it up; without -s and -t, for training."""
    parser = options.get_generation_parser(default_task="zs_translation")
    return tasks.setup_task(options.parse_args_and_arch(parser, [str(data), *map(str, arguments)]))


def towards(direction: str) -> list[str]:
    source, target = parse_direction(direction)
    return ["-s", source, "-t", target]


def generate(tool: str, data: Path, run: Run, direction: str, *arguments: object):
    """No tag flag is typed."""
    return fairseq(tool, data, *PLUGIN, *towards(direction), "--path", run.checkpoint, *HERE, *arguments)


@pytest.fixture
def own_data(data, tmp_path) -> Path:
    """A copy of the binarised data that a test may change."""
    return shutil.copytree(data, tmp_path / "data")


# Languages and directions


def test_every_pair_with_training_text_is_trained_in_both_directions(data):
    task = task_of(data)
    assert task.lang_pairs == task.valid_directions == SUPERVISED
    assert task.langs == LANGUAGES


def test_directions_can_be_chosen(data):
    task = task_of(data, "--lang-pairs", SUPERVISED[2], "--valid-lang-pairs", f"{ZERO_SHOT[1]},{SUPERVISED[0]}")
    assert task.lang_pairs == [SUPERVISED[2]] and task.valid_directions == [ZERO_SHOT[1], SUPERVISED[0]]


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["-s", "xx", "-t", PIVOT], f"unknown language 'xx': {KNOWN}"),
        (["-s", PIVOT, "-t", "xx"], f"unknown language 'xx': {KNOWN}"),
        (["--lang-pairs", f"{PIVOT}-xx"], f"unknown language 'xx': {KNOWN}"),
        (["--valid-lang-pairs", f"xx-{PIVOT}"], f"unknown language 'xx': {KNOWN}"),
        (["-s", PIVOT], "give both --source-lang and --target-lang"),
        (["-t", PIVOT], "give both --source-lang and --target-lang"),
        (["-s", PIVOT, "-t", PIVOT], "two different languages"),
        (["--lang-pairs", PIVOT], "is no direction"),
        *[([f"--{option.replace('_', '-')}", "x"], f"leave out --{option.replace('_', '-')}: ") for option in STOCK_OPTIONS[3:]],
        (["--encoder-langtok", "src"], "leave out --encoder-langtok: "),
        (["--decoder-langtok", "--lang-tok-replacing-bos-eos"], "leave out --decoder-langtok, --lang-tok-replacing-bos-eos"),
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
    for path in own_data.glob("dict.*.txt"):
        path.unlink()
    with pytest.raises(InputError, match="one dictionary for all languages; make it with scripts/prepare.py"):
        task_of(own_data)
    (own_data / "languages.txt").unlink()
    with pytest.raises(InputError, match="languages.txt is missing"):
        task_of(own_data)


def test_a_direction_without_text_is_named(own_data):
    with pytest.raises(InputError, match=f"no binarised 'train' text for {ZERO_SHOT[0]}.*scripts/prepare.py"):
        task_of(own_data, "--lang-pairs", f"{SUPERVISED[0]},{ZERO_SHOT[0]}").load_dataset("train")
    for path in own_data.glob(f"valid.{FIRST}-{SECOND}.*"):
        path.unlink()
    with pytest.raises(InputError, match=f"no binarised 'valid' text for {ZERO_SHOT[1]}"):
        task_of(own_data, "--valid-lang-pairs", ZERO_SHOT[1]).load_dataset("valid")
    for path in own_data.glob("train.*"):
        path.unlink()
    with pytest.raises(InputError, match="no binarised training text"):
        task_of(own_data)


# Nothing is lost


def batches(task: ZeroShotTranslationTask, split: str, stock: bool = False, **limits) -> list[dict]:
    """All batches of a split under fairseq's default --required-batch-size-multiple."""
    task.load_dataset(split)
    iterator = TranslationMultiSimpleEpochTask.get_batch_iterator if stock else ZeroShotTranslationTask.get_batch_iterator
    return list(iterator(task, task.dataset(split), **limits, required_batch_size_multiple=8).next_epoch_itr())


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
        of_direction = [part for part in task.dataset(split).datasets]
        examples = (part[index] for part in of_direction for index in range(len(part)))
        expected = Counter((tuple(each["source"].tolist()), tuple(each["target"].tolist())) for each in examples)
        assert sentence_pairs(whole) == expected
    rest = sum(batch["nsentences"] for batch in batches(task_of(data), "train", stock=True, **limits))
    assert rest < 4 * PAIRS, "fairseq alone loses a batch"


@pytest.mark.parametrize("arguments", [[], ["--sampling-method", "RoundRobin"]])
def test_training_mixes_directions_and_validation_does_not(data, arguments):
    tags = {tag: language for language in LANGUAGES if (tag := task_of(data).target_dictionary.index(language_tag(language)))}
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
    assert all((batch["net_input"]["src_tokens"][:, -1] == task.source_dictionary.eos()).all() for batch in whole)


# Validation


def test_validation_has_a_loss_for_each_direction(tag_run):
    last = {name: float(value) for name, value in tag_run.output.logged["valid"][-1].items()}
    losses = {name: value for name, value in last.items() if name.startswith("valid_nll_loss_")}
    assert set(losses) == {f"valid_nll_loss_{direction}" for direction in SUPERVISED + ZERO_SHOT}
    assert len(set(losses.values())) == 6


def test_the_pooled_loss_is_the_mean_over_tokens(data, tag_run):
    task, tokens = task_of(data, "--valid-lang-pairs", ",".join(SUPERVISED + ZERO_SHOT)), Counter()
    for batch in batches(task, "valid", max_sentences=8):
        tokens[batch["direction"]] += batch["ntokens"]
    for figures in tag_run.output.logged["valid"]:
        total = sum(tokens[direction] * float(figures[f"valid_nll_loss_{direction}"]) for direction in tokens)
        assert total / sum(tokens.values()) == pytest.approx(float(figures["valid_nll_loss"]), abs=0.001)  # 3 digits


def test_directions_of_training_are_those_of_validation_unless_said(prefix_run):
    names = {name for name in prefix_run.output.logged["valid"][-1] if name.startswith("valid_nll_loss_")}
    assert names == {f"valid_nll_loss_{direction}" for direction in SUPERVISED}
    assert not [name for name in prefix_run.output.logged["train"][-1] if "-" in name]


@pytest.mark.parametrize("run", ["tag_run", "prefix_run"])
def test_a_checkpoint_validates_as_it_did_in_training(data, run, request):
    run = request.getfixturevalue(run)
    saved = run.folder / "checkpoint_last.pt"
    again = fairseq("validate", data, *PLUGIN, "--path", saved, *HERE, "--max-tokens", 90, "--log-format", "json")
    for name, value in run.output.logged["valid"][-1].items():
        if "loss" in name and "best" not in name:
            assert float(again.logged["valid"][-1][name]) == pytest.approx(float(value), abs=0.001)


def test_one_direction_can_be_validated(data, tag_run):
    chosen = [*towards(ZERO_SHOT[0]), "--valid-subset", "test", "--batch-size", 5, "--log-format", "json"]
    output = fairseq("validate", data, *PLUGIN, "--path", tag_run.checkpoint, *HERE, *chosen)
    figures = output.logged["test"][-1]
    assert [name for name in figures if "nll_loss_" in name] == [f"test_nll_loss_{ZERO_SHOT[0]}"]
    assert figures[f"test_nll_loss_{ZERO_SHOT[0]}"] == figures["test_nll_loss"]
    assert float(figures["test_bsz"]) == TEST  # of all batches together


def test_logs_of_all_directions_are_alike(data, tag_run):
    """Else data parallel workers, which add up theirs key by key, would add up different things."""
    models, _, task = checkpoint_utils.load_model_ensemble_and_task([str(tag_run.checkpoint)], {"data": str(data)})
    criterion = task.build_criterion(checkpoint_utils.load_checkpoint_to_cpu(str(tag_run.checkpoint))["cfg"].criterion)
    logs = [task.valid_step(batch, models[0].eval(), criterion)[2] for batch in batches(task, "valid", max_sentences=16)]
    kinds = [[(name, type(value), getattr(value, "dtype", None)) for name, value in log.items()] for log in logs]
    assert len(logs) >= 6 and all(kind == kinds[0] for kind in kinds)


# Translation


@pytest.mark.parametrize("direction", [SUPERVISED[2], ZERO_SHOT[0]])
def test_generate_translates_every_line(data, text, tag_run, direction):
    source, target = parse_direction(direction)
    output = generate("generate", data, tag_run, direction, "--batch-size", 8)
    subwords = Subwords.load(data)
    for kind, language in (("S", source), ("T", target)):
        lines = output.lines(kind)
        assert [subwords.decode(lines[number].split()) for number in range(TEST)] == read_lines(text / f"test.{language}")
    assert output.lines("H").keys() == set(range(TEST))
    assert not any(language_tag(language) in line for line in output.lines("H").values() for language in LANGUAGES)


def test_a_checkpoint_knows_where_its_tags_stand(data, text, prefix_run):
    """With no flag: both tags at the head of the source, the decoder's start is the end of sentence."""
    head = f"{language_tag(FIRST)} {language_tag(SECOND)} "
    sources = generate("generate", data, prefix_run, ZERO_SHOT[0], "--batch-size", 8).lines("S")
    assert len(sources) == TEST and all(source.startswith(head) for source in sources.values())
    overrides = {"data": str(data), "source_lang": FIRST, "target_lang": SECOND}
    _, _, task = checkpoint_utils.load_model_ensemble_and_task([str(prefix_run.checkpoint)], overrides)
    assert task.placement.decoder_start(task.direction) == task.target_dictionary.eos()


@pytest.mark.parametrize("run", ["tag_run", "prefix_run"])
def test_interactive_and_the_hub_translate_as_generate_does(data, text, tmp_path, run, request):
    run = request.getfixturevalue(run)
    expected = generate("generate", data, run, ZERO_SHOT[1], "--batch-size", 8)
    subwords = Subwords.load(data)
    pieces = [" ".join(subwords.encode(line, SECOND)) for line in read_lines(text / f"test.{SECOND}")]
    (tmp_path / "input").write_text("".join(f"{line}\n" for line in pieces), encoding="utf-8")
    typed = ["--input", tmp_path / "input", "--buffer-size", 100, "--batch-size", 8]
    interactive = generate("interactive", data, run, ZERO_SHOT[1], *typed)
    assert interactive.lines("S") == expected.lines("S") and interactive.lines("H") == expected.lines("H")

    hub = ZeroShotTransformer.from_pretrained(
        str(run.folder), "checkpoint_best.pt", str(data), source_lang=SECOND, target_lang=FIRST, bpe=None
    )
    assert hub.translate(pieces) == [expected.lines("H")[number] for number in range(TEST)]
    assert hub.translate(pieces[0]) == expected.lines("H")[0]


def test_a_model_never_writes_a_tag(data, tag_run):
    overrides = {"data": str(data), "source_lang": FIRST, "target_lang": PIVOT}
    models, cfg, task = checkpoint_utils.load_model_ensemble_and_task([str(tag_run.checkpoint)], overrides)
    generator = task.build_generator(models, cfg.generation)
    tags = {task.target_dictionary.index(language_tag(language)) for language in LANGUAGES}
    with torch.no_grad():
        for tag in tags:  # they would win
            models[0].decoder.output_projection.weight[tag] *= 50
    task.load_dataset("test")
    data_set = task.dataset("test")
    sample = data_set.collater([data_set[index] for index in range(TEST)])
    hypotheses = task.inference_step(generator, models, sample)
    assert not tags & {token for best_first in hypotheses for token in best_first[0]["tokens"].tolist()}


def test_constraints_are_refused(data):
    with pytest.raises(InputError, match="leave out --constraints"):
        task_of(data, *towards(ZERO_SHOT[0])).build_dataset_for_inference([], [], constraints=torch.ones(1))


# What a checkpoint says of tags and languages


def test_a_contradicting_placement_is_refused(data, prefix_run):
    with pytest.raises(InputError, match="trained with --language-tags s_enc_t_enc, not t_dec"):
        generate("generate", data, prefix_run, ZERO_SHOT[0], "--language-tags", "t_dec")


def test_languages_may_be_added_at_the_end_but_not_reordered(data):
    state = task_of(data).state_dict()
    task_of(data).load_state_dict({**state, "languages": LANGUAGES[:2]})
    for languages in (LANGUAGES[::-1], [*LANGUAGES, "more"]):
        with pytest.raises(InputError, match=f"the checkpoint's languages are {', '.join(languages)}, in this order"):
            task_of(data).load_state_dict({**state, "languages": languages})
    stock = task_of(data)
    stock.load_state_dict({})
    assert stock.placement.name == "t_dec"


def go_on(data: Path, run: Run, folder: Path, *arguments: object):
    """Train one more epoch, from a copy of a run."""
    shutil.copytree(run.folder, folder)
    return fairseq("train", *training_options(data, folder, "--cpu", "--disable-validation", *arguments))


def test_training_goes_on_where_it_stopped(data, tag_run, tmp_path):
    output = go_on(data, tag_run, tmp_path / "run", "--max-epoch", 3)
    updates = tag_run.output.figures("train", "train_num_updates")
    assert output.figures("train", "train_num_updates") == [updates[1] + updates[0]]
    assert output.figures("train", "epoch") == [3]
    assert output.figures("train", "train_loss")[0] < tag_run.output.figures("train", "train_loss")[1]


def test_training_does_not_go_on_with_other_tags_or_languages(data, own_data, prefix_run, tmp_path):
    none = ["--decoder-language-embedding", "none"]
    with pytest.raises(InputError, match="trained with --language-tags s_enc_t_enc, not t_dec"):
        shutil.copytree(prefix_run.folder, tmp_path / "run")
        fairseq("train", *training_options(data, tmp_path / "run", "--cpu", "--max-epoch", 2, *none))
    (own_data / "languages.txt").write_text("".join(f"{language}\n" for language in LANGUAGES[::-1]))
    with pytest.raises(InputError, match="the checkpoint's languages are"):
        go_on(own_data, prefix_run, tmp_path / "other", "--max-epoch", 2, *none, "--language-tags", "s_enc_t_enc")
