"""Vectors and losses of a masked language model, against its own outputs line by line."""

from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest
import torch
from fairseq.criterions.masked_lm import MaskedLmConfig, MaskedLmLoss
from fairseq.data import Dictionary
from torch import nn

from tests.conftest import ROOT
from tests.models.test_zs_bert import FF, LAYERS, C, H, MaskedTask, build, stirred
from tests.support.rounding import assert_alike
from tests.tasks.conftest import fairseq
from zsnmt.data.masked_sentences import MASK, MaskedSentences, Masking
from zsnmt.errors import InputError
from zsnmt.masked_lm import states as module
from zsnmt.masked_lm.data import Vocabulary, prepare
from zsnmt.masked_lm.states import (
    check_layers,
    losses,
    sentence_vectors,
    states,
    word_vectors,
)
from zsnmt.masked_lm.trained_model import load_model
from zsnmt.models.zs_bert import ZeroShotBert
from zsnmt.modules.position_names import ENCODINGS
from zsnmt.text.lines import write_lines

pytestmark = pytest.mark.usefixtures("float64")
BOS, PAD, EOS, FIRST = 0, 1, 2, 8
EVERY = [*range(LAYERS + 1)]


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    """So that there are several, the last of them short."""
    monkeypatch.setattr(module, "BATCH", 4)


def dictionary() -> Dictionary:
    return MaskedTask().source_dictionary


def sentences(
    lengths=(5, 3, 7, 1, 4, 6, 2, 9, 5, 8), masking: Masking = Masking(0.5, 0.0, 0.0)
) -> MaskedSentences:
    generator = torch.Generator().manual_seed(1)
    lines = [
        torch.cat(
            [torch.randint(FIRST, len(dictionary()), (length,), generator=generator), torch.tensor([EOS])]
        )
        for length in lengths
    ]
    return MaskedSentences(lines, np.array(lengths) + 1, dictionary(), masking, 11, 3)


def whole_line(model: ZeroShotBert, tokens: torch.Tensor) -> list[np.ndarray]:
    """The states of one line at each layer, T×C."""
    with torch.no_grad():
        _, extra = model(tokens[None], features_only=True, return_all_hiddens=True)
    return [state[:, 0].numpy() for state in extra["inner_states"]]


# Vectors


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_sentence_is_the_mean_of_its_tokens_without_the_ends(encoding):
    """Whatever its companions and its padding, in the order of the lines asked for."""
    model, dataset, lines = stirred(position_encoding=encoding), sentences(), [7, 0, 1, 3, 5, 2]
    vectors = sentence_vectors(model, dataset, lines, EVERY)
    assert [array.shape for array in vectors] == [(len(lines), C)] * (LAYERS + 1)
    for row, line in enumerate(lines):
        for layer, state in enumerate(whole_line(model, dataset[line]["tokens"])):
            assert_alike(*map(torch.tensor, (vectors[layer][row], state[1:-1].mean(axis=0))))


def test_a_sentence_without_words_is_its_first_token():
    model, dataset = stirred(), sentences((3, 0, 2))
    vectors = sentence_vectors(model, dataset, [0, 1, 2], EVERY)
    for of_layer, state in zip(vectors, whole_line(model, dataset[1]["tokens"]), strict=True):
        assert_alike(*map(torch.tensor, (of_layer[1], state[0])))


def test_layers_come_in_the_order_asked_for():
    model, dataset = stirred(), sentences()
    every = sentence_vectors(model, dataset, [2, 4], EVERY)
    for one, other in zip(
        sentence_vectors(model, dataset, [2, 4], [3, 0]), (every[3], every[0]), strict=True
    ):
        assert np.array_equal(one, other)


@torch.no_grad()
def test_layer_0_is_the_sum_of_embeddings_normalised():
    model, tokens = stirred(), torch.tensor([[BOS, 9, 10, EOS]])
    encoder = model.encoder.sentence_encoder
    summed = encoder.embed_tokens(tokens) + encoder.embed_positions.weight[2:6]
    (layer_0,) = states(model, tokens, [0])
    assert_alike(layer_0, encoder.layernorm_embedding(summed))


@torch.no_grad()
def test_the_last_layer_is_what_the_head_reads():
    model, tokens = stirred(), torch.tensor([[BOS, 9, 10, EOS]])
    (last,) = states(model, tokens, [LAYERS])
    assert_alike(model.encoder.lm_head(last), model(tokens)[0])


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_word_is_read_between_the_ends(encoding):
    model, ids = stirred(position_encoding=encoding), np.arange(FIRST, len(dictionary()))
    vectors = word_vectors(model, ids, EVERY)
    assert [array.shape for array in vectors] == [(len(ids), C)] * (LAYERS + 1)
    for row, word in enumerate(ids):
        for layer, state in enumerate(whole_line(model, torch.tensor([BOS, word, EOS]))):
            assert_alike(*map(torch.tensor, (vectors[layer][row], state[1])))


def test_asking_changes_nothing():
    model, dataset = stirred(), sentences()
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    first = sentence_vectors(model, dataset, [1, 2], [0, 2])
    word_vectors(model, np.array([9]), [0])
    losses(model, dataset, range(len(dataset)))
    assert all(np.array_equal(*pair) for pair in zip(first, sentence_vectors(model, dataset, [1, 2], [0, 2])))
    assert (
        all(torch.equal(weight, before[name]) for name, weight in model.state_dict().items())
        and not model.training
    )


# Losses


def test_losses_are_fairseqs_own():
    model, dataset, lines = stirred(), sentences(), [0, 1, 2, 4, 5, 6, 7, 8, 9]
    task = MaskedTask()
    task.target_dictionary = task.source_dictionary
    criterion, found = MaskedLmLoss(MaskedLmConfig(tpu=False), task), losses(model, dataset, lines)
    assert len(found) == 3 and all(number > 0 for _, number in found)
    for start, (mean, number) in zip((0, 4, 8), found, strict=True):
        batch = dataset.collater([dataset[line] for line in lines[start : start + 4]])
        with torch.no_grad():
            loss, chosen, _ = criterion(model, batch)
        assert number == int(chosen) and mean == pytest.approx(loss.item() / number, rel=1e-5)


def test_losses_do_not_depend_on_companions():
    """Weighted by their numbers, batches have the mean of the lines."""
    model, dataset = stirred(), sentences()
    together = losses(model, dataset, range(len(dataset)))
    alone = [pair for line in range(len(dataset)) for pair in losses(model, dataset, [line])]
    assert sum(number for _, number in together) == sum(number for _, number in alone)
    total = sum(mean * number for mean, number in alone)
    assert sum(mean * number for mean, number in together) == pytest.approx(total, rel=1e-4)


def test_a_model_that_knows_nothing_is_as_perplexed_as_its_vocabulary_is_large():
    model = stirred()
    nn.init.zeros_(model.encoder.lm_head.weight)
    nn.init.zeros_(model.encoder.lm_head.bias)
    for mean, _ in losses(model, sentences(), range(10)):
        assert np.exp(mean) == pytest.approx(len(dictionary()), rel=1e-4)


def test_a_batch_in_which_nothing_is_chosen_has_no_loss():
    dataset = sentences(masking=Masking(0.0, 0.0, 0.0))
    assert losses(stirred(), dataset, range(10)) == []


# Models


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> tuple[Path, Path]:
    """Data and a checkpoint."""
    folder = tmp_path_factory.mktemp("trained")
    generator = np.random.default_rng(1)
    for split, lines in (("train", 23), ("valid", 7)):
        write_lines(folder / split, [" ".join(generator.choice([*"abcdefg"], 5)) for _ in range(lines)])
    sides = {split: folder / split for split in ("train", "valid")}
    prepare(folder / "data", sides, sides, Vocabulary(15))
    sizes = (
        f"--encoder-layers {LAYERS} --encoder-embed-dim {C} --encoder-ffn-embed-dim {FF} "
        f"--encoder-attention-heads {H}"
    )
    fairseq(
        "train",
        folder / "data",
        "--user-dir",
        ROOT / "zsnmt",
        "--task",
        "zs_masked_lm",
        "--arch",
        "zs_bert",
        *sizes.split(),
        "--criterion",
        "masked_lm",
        "--optimizer",
        "adam",
        "--batch-size",
        9,
        "--max-update",
        2,
        "--cpu",
        "--num-workers",
        0,
        "--position-encoding",
        "tupe_absolute",
        "--save-dir",
        folder / "run",
    )
    return folder / "data", folder / "run" / "checkpoint_last.pt"


@pytest.mark.slow
def test_a_checkpoint_is_the_model_that_was_trained(trained):
    data, checkpoint = trained
    model, task = load_model(checkpoint, data, "zs_masked_lm")
    weights = torch.load(checkpoint)["model"]
    assert (
        isinstance(model, ZeroShotBert)
        and not model.training
        and model.args.position_encoding == "tupe_absolute"
    )
    assert all(torch.equal(weight, weights[name]) for name, weight in model.state_dict().items())
    task.load_dataset("valid")
    assert sentence_vectors(model, task.dataset("valid"), range(7), [0, LAYERS])[1].shape == (7, C)
    assert task.dictionary.index(MASK) == 4 and losses(model, task.dataset("valid"), range(14))


def test_a_checkpoint_finds_its_data_where_it_is_now(trained, tmp_path):
    data, checkpoint = trained
    (tmp_path / "moved").symlink_to(data)
    assert load_model(checkpoint, tmp_path / "moved", "zs_masked_lm")[1].cfg.data == str(tmp_path / "moved")


def test_what_is_no_checkpoint_is_refused(trained, tmp_path):
    data, checkpoint = trained
    with pytest.raises(InputError, match="missing.pt is missing; train the model to its end first"):
        load_model(tmp_path / "missing.pt", data, "zs_masked_lm")
    whole = checkpoint.read_bytes()
    other = tmp_path / "other.pt"
    torch.save({"weights": torch.ones(2)}, other)
    half = len(whole) // 2
    with ZipFile(checkpoint) as packed:  # between its members there is padding that nothing reads
        largest = max(packed.infolist(), key=lambda member: member.file_size)
        place = whole.index(packed.read(largest)) + largest.file_size // 2
    for name, content in (
        ("text.pt", b"no model\n"),
        ("empty.pt", b""),
        ("part.pt", whole[:half]),
        ("flipped.pt", whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :]),
        ("other.pt", other.read_bytes()),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match=f"{name} (cannot be loaded|is damaged).* again") as stopped:
            load_model(tmp_path / name, data, "zs_masked_lm")
        assert "\n" not in str(stopped.value)


@pytest.mark.parametrize("layers, wrong", [([0, 8], 8), ([-1], -1), ([LAYERS, LAYERS + 1], LAYERS + 1)])
def test_a_layer_that_is_not_there_is_refused(layers, wrong):
    with pytest.raises(
        InputError, match=f"the model has no layer {wrong}: its layers are 1 to {LAYERS}, and 0 is"
    ):
        check_layers(build(), layers)
    check_layers(build(), EVERY)
