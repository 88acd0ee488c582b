"""States of an encoder: what is in the rows, what they do not depend on, and what is refused."""

import errno
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from fairseq import options, tasks
from fairseq.data import Dictionary
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from omegaconf import OmegaConf

from tests.support.rounding import EXACT, assert_as_near, assert_rounded
from zsnmt.analysis import layer_classifiers, state_folder
from zsnmt.analysis.classifiers import Spans
from zsnmt.analysis.layer_classifiers import sentence_numbers
from zsnmt.analysis.live_classifiers import train_probes
from zsnmt.analysis.state_folder import Labels, read_states, sentence_means
from zsnmt.cli import probe_states
from zsnmt.console import WrongUse
from zsnmt.corpora.invented.corpus import SyntheticCorpus, write_corpus
from zsnmt.corpora.invented.languages import standard_languages
from zsnmt.corpora.multiway import read_multiway
from zsnmt.corpora.random_lines import random_lines
from zsnmt.errors import InputError
from zsnmt.files.records import read_json, write_json
from zsnmt.inference.probed_model import ProbedModel, load_probed_run, load_stock_checkpoint
from zsnmt.inference.states import (
    batches,
    encoder_states,
    live_states,
    read_sentences,
    readable_lines,
    write_states,
)
from zsnmt.languages import language_tag
from zsnmt.runs.start import Beginning, start_run
from zsnmt.text.lines import write_lines
from zsnmt.text.pipeline import TextPipeline
from zsnmt.text.settings import TextSettings
from zsnmt.training.binarised import prepare

pytestmark = pytest.mark.usefixtures("float64_attention")
LANGUAGES = ["inglan", "velan", "tamun"]
LINES, LAYERS, DIMENSION, LONGEST = 11, 3, 16, 40
SIZES = (
    f"--encoder-layers {LAYERS} --decoder-layers 1 --encoder-embed-dim {DIMENSION} --decoder-embed-dim "
    f"{DIMENSION} --encoder-ffn-embed-dim 24 --decoder-ffn-embed-dim 24 --encoder-attention-heads 2 "
    f"--decoder-attention-heads 2 --max-source-positions {LONGEST}"
)
PIECES = {"de": ["_ein _hau s", "_so", "_ein _so _hau s"], "en": ["_a _house", "_so _so", "_a"]}


def save_untrained(path: Path, data: Path, task: str, arguments: str, sizes: str = SIZES) -> None:
    """A checkpoint of a model as training begins."""
    torch.manual_seed(1)
    arguments = f"{data} --optimizer adam {arguments} {sizes}".split()
    args = options.parse_args_and_arch(options.get_training_parser(task), arguments)
    cfg = convert_namespace_to_omegaconf(args)
    setup = tasks.setup_task(cfg.task)
    state = {
        "args": None,
        "cfg": OmegaConf.to_container(cfg, resolve=True, enum_to_str=True),
        "model": setup.build_model(cfg.model).state_dict(),
        "optimizer_history": [{"optimizer_name": "Adam", "lr_scheduler_state": {}, "num_updates": 0}],
        "task_state": setup.state_dict(),
        "extra_state": {"train_iterator": {"epoch": 1}},
    }
    torch.save(state, path)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Path:
    """A folder with raw text and what is made of it."""
    folder = tmp_path_factory.mktemp("corpus")
    write_corpus(
        SyntheticCorpus(standard_languages(2), concepts=40, pairs=40, valid=3, test=LINES, longest=6),
        folder / "text",
    )
    prepare(folder / "text", folder / "data", LANGUAGES, TextSettings(120))
    return folder


@pytest.fixture(scope="module")
def text(corpus) -> dict[str, list[str]]:
    return read_multiway(corpus / "text", "test", LANGUAGES)


def make_run(folder: Path, corpus: Path, arguments: str) -> Path:
    """A run folder whose model was never trained."""
    config = corpus / "toy.conf"
    config.touch()
    start_run(folder, Beginning(config, corpus / "data", corpus / "text", "system", 1, "command"))
    save_untrained(folder / "model.pt", corpus / "data", "zs_translation", arguments)
    return folder


@pytest.fixture(scope="module")
def run(corpus, tmp_path_factory) -> Path:
    return make_run(tmp_path_factory.mktemp("run"), corpus, "--arch zs_transformer_residual")


@pytest.fixture(scope="module")
def tagged_run(corpus, tmp_path_factory) -> Path:
    tags = "--arch zs_transformer --language-tags s_enc_t_enc --decoder-language-embedding none"
    return make_run(tmp_path_factory.mktemp("tagged"), corpus, tags)


def exactly(model: ProbedModel) -> ProbedModel:
    """In float64, so that the files, in float32, are one rounding from what is expected."""
    return model._replace(encoder=model.encoder.double())


@pytest.fixture(scope="module")
def model(run) -> ProbedModel:
    return exactly(load_probed_run(run))


@pytest.fixture(scope="module")
def folder(model, text, tmp_path_factory) -> Path:
    """The states of the whole test set."""
    folder = tmp_path_factory.mktemp("states") / "states"
    write_states(folder, model, text)
    return folder


@pytest.fixture(scope="module")
def stock_files(tmp_path_factory) -> Path:
    """fairseq's transformer of de-en as it comes (post-norm, a dictionary for each side), with its
    dictionaries and text.
    """
    folder = tmp_path_factory.mktemp("stock")
    for language, lines in PIECES.items():
        dictionary = Dictionary()
        for line in lines:
            for piece in line.split():
                dictionary.add_symbol(piece)
        dictionary.save(str(folder / f"dict.{language}.txt"))
        write_lines(folder / f"test.{language}", lines)
    save_untrained(folder / "stock.pt", folder, "translation", "-s de -t en --arch transformer")
    return folder


@pytest.fixture
def stock(stock_files, tmp_path) -> Path:
    """A copy of these that a test may change."""
    return shutil.copytree(stock_files, tmp_path / "stock")


def probe(*arguments: object) -> None:
    """`zsnmt probe-states`, in this process."""
    probe_states.main([*map(str, arguments)])


def naive_states(model: ProbedModel, tokens: list[int]) -> list[np.ndarray]:
    """What hooks see of each layer (T×C) as the model reads one sentence, padded on the left in a batch
    with a longer one.
    """
    encoder, pad, seen = model.encoder, model.dictionary.pad(), []
    longer = [*tokens[:1] * 3, *tokens]
    batch = torch.tensor([[*[pad] * 3, *tokens], longer])
    hooks = [encoder.layers[0].register_forward_pre_hook(lambda layer, inputs: seen.append(inputs[0]))]
    for module in [*encoder.layers, *([encoder.layer_norm] if encoder.layer_norm else [])]:
        hooks.append(module.register_forward_hook(lambda module, inputs, output: seen.append(output)))
    with torch.no_grad():
        encoder(batch, torch.tensor([len(tokens), len(longer)]))
    for hook in hooks:
        hook.remove()
    return [states[3:, 0].numpy() for states in seen]


def assert_kept(found: np.ndarray, exact: np.ndarray) -> None:
    """States in a file are the exact ones, rounded to float32."""
    found, exact = torch.tensor(found), torch.tensor(exact, dtype=torch.float64)
    assert_rounded(found, exact, 1, exact.abs() + EXACT / torch.finfo(torch.float32).eps)


def rows_of(labels: Labels, language: str, line: int) -> np.ndarray:
    return (labels.language == labels.languages.index(language)) & (labels.sentence == line)


# What is in the rows


@pytest.mark.slow
def test_states_are_the_inputs_and_outputs_of_the_layers_and_of_the_last_norm(folder, model):
    states = read_states(folder)
    assert [*states.layers] == states.record["layers"] == ["0", "1", "2", "3", "final"]
    for language, line in (("inglan", 0), ("velan", 4), ("tamun", LINES - 1)):
        rows = rows_of(states.labels, language, line)
        naive = naive_states(model, [*states.labels.token[rows], model.dictionary.eos()])
        for layer, expected in zip(states.layers.values(), naive, strict=True):
            assert_kept(layer[rows], expected[:-1])
    pairs = [(a, b) for a in states.layers for b in states.layers if a < b]
    assert not any(np.allclose(states.layers[a], states.layers[b]) for a, b in pairs)


def test_labels_are_those_of_every_piece_in_order(folder, model, run, text):
    pipeline, labels = TextPipeline.load(run / "pipeline"), read_states(folder).labels
    expected = [
        (place, model.dictionary.index(piece), position, number)
        for place, (language, lines) in enumerate(text.items())
        for number, line in enumerate(lines)
        for position, piece in enumerate(pipeline.encode(line, language))
    ]
    assert [*zip(*map(np.ndarray.tolist, labels[1:]))] == expected
    assert labels.languages == [*text]
    tags = {model.dictionary.index(language_tag(language)) for language in LANGUAGES}
    assert not {model.dictionary.pad(), model.dictionary.eos(), *tags} & {*labels.token.tolist()}


def test_files_are_float32_mapped_and_described(folder, run):
    states = read_states(folder)
    for layer in states.layers.values():
        assert isinstance(layer, np.memmap) and layer.dtype == np.float32
        assert (
            layer.shape
            == (len(states.labels.token), DIMENSION)
            == (states.record["tokens"], states.record["dimension"])
        )
    assert states.record["removed_layers"] == [2]
    assert (states.record["languages"], states.record["sentences"]) == (LANGUAGES, LINES)
    assert states.record["translations"] is True
    assert Path(states.record["run"]) == run and len(states.record["model"]) == 64


@pytest.mark.slow
def test_tags_of_the_source_are_left_out_and_seen_by_the_encoder(tagged_run, folder, text, tmp_path):
    untagged = read_states(folder).labels
    for target in ("velan", "tamun"):
        write_states(tmp_path / target, exactly(load_probed_run(tagged_run, target=target)), text)
    one, other = (read_states(tmp_path / target) for target in ("velan", "tamun"))
    assert (one.record["target"], one.record["removed_layers"]) == ("velan", [])
    for states in (one, other):
        assert all(np.array_equal(*pair) for pair in zip(states.labels, untagged))
    np.testing.assert_array_equal(one.layers["0"], other.layers["0"])
    assert not np.allclose(one.layers["1"], other.layers["1"], atol=1e-3)
    model = exactly(load_probed_run(tagged_run, target="velan"))
    rows = rows_of(one.labels, "inglan", 3)
    tags = [model.dictionary.index(language_tag(language)) for language in ("inglan", "velan")]
    naive = naive_states(model, [*tags, *one.labels.token[rows], model.dictionary.eos()])
    assert_kept(one.layers["3"][rows], naive[3][2:-1])


def test_a_target_is_asked_for_only_where_the_source_bears_it(tagged_run, run):
    with pytest.raises(InputError, match="must be told the target language: one of inglan, velan, tamun"):
        load_probed_run(tagged_run)
    with pytest.raises(InputError, match="unknown language 'nolan'"):
        load_probed_run(tagged_run, target="nolan")
    assert load_probed_run(run, target="velan").record["target"] is None


# What they do not depend on


@pytest.mark.parametrize("batch_tokens", [1, 23, 100000])
def test_states_do_not_depend_on_the_size_of_batches(folder, model, text, tmp_path, batch_tokens):
    write_states(tmp_path / "states", model, text, batch_tokens)
    batched, whole = (read_states(path).layers for path in (tmp_path / "states", folder))
    for layer in whole:
        assert_kept(batched[layer], whole[layer])


def test_states_do_not_depend_on_their_companions(folder, model, text, tmp_path):
    write_states(tmp_path / "states", model, {"tamun": text["tamun"][:4]})
    alone, together = read_states(tmp_path / "states"), read_states(folder)
    rows = (together.labels.language == 2) & (together.labels.sentence < 4)
    for layer in together.layers:
        assert_kept(alone.layers[layer], together.layers[layer][rows])


def test_the_encoder_runs_once_a_batch_without_padding_or_dropout(model, text):
    seen = []
    hook = model.encoder.register_forward_pre_hook(lambda encoder, inputs: seen.append(inputs[0]))
    sentences = read_sentences(model, text)
    places = [place for batch, _ in encoder_states(model, sentences, 60) for place in batch]
    hook.remove()
    assert sorted(places) == list(range(len(sentences))) and sum(map(len, seen)) == len(sentences)
    assert not any(batch.eq(model.dictionary.pad()).any() for batch in seen)
    assert not model.encoder.training


def test_batches_hold_equal_lengths_and_every_place_once():
    lengths = [3, 5, 3, 9, 3, 3, 5]
    made = [*batches(lengths, 9)]
    assert made == [[3], [1], [6], [0, 2, 4], [5]]
    assert [*batches([7], 1)] == [[0]]


# Made when they are asked for


@pytest.mark.parametrize("batch_tokens", [1, 100000])
def test_live_states_are_the_stored_ones_in_any_company(folder, model, text, batch_tokens):
    live, stored = live_states(model, text, batch_tokens), read_states(folder)
    assert all(np.array_equal(*pair) for pair in zip(live.labels, stored.labels))
    assert live.record == {**stored.record, "translations": False}
    sentences = Spans.from_sentences(sentence_numbers(stored.labels))
    for chosen in (np.arange(len(sentences.lengths)), np.array([2, 3, 17])):
        for found, layer in zip(live.read(chosen), stored.layers.values(), strict=True):
            assert_kept(layer[sentences.rows(chosen)], found.numpy())


@pytest.mark.slow
def test_classifiers_learn_from_live_states_what_they_learn_from_stored_ones(
    folder, model, text, monkeypatch
):
    """The gradients of sums whose terms differ by a rounding, after a few updates."""
    monkeypatch.setattr(layer_classifiers, "UPDATES", 5)
    states = read_states(folder)
    numbers = sentence_numbers(states.labels)
    learners = train_probes(live_states(model, text), [*states.layers], ["language"], seed=1)
    for layer, of_layer in states.layers.items():
        stored = layer_classifiers.fit(
            "published",
            of_layer,
            states.labels.language,
            rows=np.arange(len(numbers)),
            seed=1,
            sentences=numbers,
        )
        found = learners[layer, "language"].probe()
        np.testing.assert_allclose(found.weight, stored.weight, atol=1e-5)
        np.testing.assert_allclose(found.bias, stored.bias, atol=1e-5)


def test_live_states_of_unequal_texts_say_how_many_lines_each_language_has(model, text):
    uneven = {"velan": text["velan"][:2], "tamun": text["tamun"][:3]}
    assert live_states(model, uneven).record["sentences"] == {"velan": 2, "tamun": 3}
    with pytest.raises(InputError, match="states need one or more lines of each language; here they are"):
        live_states(model, {"velan": []})


# fairseq's own transformer


@pytest.mark.slow
def test_states_of_a_stock_transformer(stock, capsys):
    probe(stock / "stock.pt", stock / "states", "--data", stock, "--text", stock)
    states, model = read_states(stock / "states"), load_stock_checkpoint(stock / "stock.pt", stock)
    assert model.languages == states.labels.languages == ["de"]
    pieces = [model.dictionary[token] for token in states.labels.token]
    assert pieces == " ".join(PIECES["de"]).split()
    tokens = [*states.labels.token[:3], model.dictionary.eos()]
    plain, exact = naive_states(model, tokens), naive_states(exactly(model), tokens)
    for layer, expected, true in zip(states.layers.values(), plain, exact):
        assert_as_near(*map(torch.tensor, (layer[:3], expected[:-1], true[:-1])))
    np.testing.assert_array_equal(states.layers["3"], states.layers["final"])  # post-norm has no last norm
    assert states.record["removed_layers"] == []
    assert "layers 0, 1, 2, 3, final, each 8 tokens × 16, from 3 sentences in de" in capsys.readouterr().out


@pytest.mark.slow
def test_a_stock_multilingual_transformer_has_all_languages_unless_it_tags_its_sources(stock):
    shutil.copyfile(stock / "dict.de.txt", stock / "dict.en.txt")
    multilingual = "--arch transformer --langs de,en --lang-pairs de-en,en-de --decoder-langtok"
    save_untrained(stock / "multi.pt", stock, "translation_multi_simple_epoch", multilingual)
    assert load_stock_checkpoint(stock / "multi.pt", stock).languages == ["de", "en"]
    save_untrained(
        stock / "tagged.pt", stock, "translation_multi_simple_epoch", f"{multilingual} --encoder-langtok tgt"
    )
    with pytest.raises(InputError, match="sources that may bear tags"):
        load_stock_checkpoint(stock / "tagged.pt", stock)


@pytest.mark.slow
def test_a_stock_checkpoint_that_cannot_be_probed_is_refused(stock, run, corpus):
    with pytest.raises(
        InputError, match="trained by ZeroShotTranslationTask with sources that may bear tags"
    ):
        load_stock_checkpoint(run / "model.pt", corpus / "data")
    save_untrained(
        stock / "lstm.pt",
        stock,
        "translation",
        "-s de -t en --arch lstm",
        "--encoder-embed-dim 8 --decoder-embed-dim 8",
    )
    with pytest.raises(InputError, match="holds a LSTMModel"):
        load_stock_checkpoint(stock / "lstm.pt", stock)
    with pytest.raises(InputError, match="unknown language 'en': this model knows de"):
        probe(stock / "stock.pt", stock / "states", "--data", stock, "--text", stock, "--languages", "en")
    (stock / "larger").mkdir()
    for language in PIECES:
        (stock / "larger" / f"dict.{language}.txt").write_text(
            (stock / f"dict.{language}.txt").read_text() + "_more 1\n"
        )
    with pytest.raises(
        InputError, match="stock.pt does not fit the dictionaries in .*/larger; give those of its"
    ):
        load_stock_checkpoint(stock / "stock.pt", stock / "larger")
    (stock / "dict.en.txt").unlink()
    with pytest.raises(
        InputError, match="dict.en.txt is missing; give the folder with the training's dictionaries"
    ):
        load_stock_checkpoint(stock / "stock.pt", stock)
    with pytest.raises(WrongUse):
        probe(stock / "stock.pt", stock / "states")
    assert not (stock / "states").exists()


@pytest.mark.parametrize("line", ["", "_ein </s> _so", "_ein <pad>", "_so " * LONGEST])
def test_a_line_that_the_model_cannot_read_is_named(stock, line):
    model = load_stock_checkpoint(stock / "stock.pt", stock)
    with pytest.raises(
        InputError, match=rf"line 2 in 'de' has \d+ pieces; the model reads 1 to {LONGEST - 1}"
    ):
        write_states(stock / "states", model, {"de": ["_so", line]})
    assert not [*stock.glob("states*")]
    write_states(stock / "states", model, {"de": ["_so", "_so " * (LONGEST - 1), "_unheard"]})
    assert read_states(stock / "states").labels.token[-1] == model.dictionary.unk()


def test_lines_that_a_training_leaves_out_are_not_probed(stock):
    """Of training text nobody says which line is too long: fairseq passes over it."""
    model = load_stock_checkpoint(stock / "stock.pt", stock)
    longest = "_so " * (LONGEST - 1)
    lines = ["_so", f"{longest}_so", longest.strip(), "", "_ein"]
    assert readable_lines(model, {"de": lines}) == {"de": ["_so", longest.strip(), "_ein"]}
    write_lines(stock / "train.de-en.de", ["_so", f"{longest}_so", "_ein"])
    drawn = "--text", stock, "--languages", "de", "--split", "train", "--random-lines", "3"
    probe(stock / "stock.pt", stock / "states", "--data", stock, *drawn)
    assert read_states(stock / "states").record["sentences"] == 2


# On the disk


def test_sentence_means_are_those_of_each_sentence_in_float64(folder, monkeypatch):
    states, labels, _ = read_states(folder)
    means = sentence_means(states["2"], labels)
    assert [*means] == LANGUAGES and {of_language.shape for of_language in means.values()} == {
        (LINES, DIMENSION)
    }
    for language, of_language in means.items():
        assert of_language.dtype == np.float64
        for line, mean in enumerate(of_language):
            of_sentence = states["2"][rows_of(labels, language, line)].astype(np.float64)
            np.testing.assert_allclose(mean, of_sentence.mean(axis=0), rtol=1e-12)
    monkeypatch.setattr(state_folder, "SENTENCES_AT_A_TIME", 4)
    for language, in_blocks in sentence_means(states["2"], labels).items():
        np.testing.assert_array_equal(in_blocks, means[language])


def test_one_sentence_in_each_language_is_not_one_sentence(model, text, tmp_path):
    write_states(tmp_path / "states", model, {language: lines[:1] for language, lines in text.items()})
    states = read_states(tmp_path / "states")
    means = sentence_means(states.layers["0"], states.labels)
    assert [of_language.shape for of_language in means.values()] == [(1, DIMENSION)] * 3


def test_missing_and_damaged_states_are_named(folder, tmp_path):
    flipped = shutil.copytree(folder, tmp_path / "flipped")
    content = bytearray((flipped / "1.npy").read_bytes())
    content[-1] ^= 1
    (flipped / "1.npy").write_bytes(content)
    with pytest.raises(InputError, match="flipped holds damaged states \\(1.npy is not what was written\\)"):
        read_states(flipped)
    record = read_json(flipped / "states.json", "")
    del record["files"]  # as of a time without checksums
    write_json(flipped / "states.json", record)
    assert read_states(flipped).record == record
    with pytest.raises(InputError, match="states.json is missing; make it with zsnmt probe-states"):
        read_states(tmp_path)
    for number, name in enumerate(("1.npy", "tokens.npz")):
        damaged = shutil.copytree(folder, tmp_path / f"damaged{number}")
        os.truncate(damaged / name, (damaged / name).stat().st_size // 2)
        with pytest.raises(InputError, match=f"{damaged} holds damaged states"):
            read_states(damaged)
        (damaged / name).unlink()
        with pytest.raises(InputError, match=f"{damaged} holds damaged states"):
            read_states(damaged)


def test_what_cannot_be_written_leaves_nothing(model, text, tmp_path, monkeypatch):
    def full(*arguments) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(InputError, match="unknown language 'nolan'"):
        write_states(tmp_path / "states", model, {"nolan": ["x"]})
    for uneven in ({}, {"velan": []}, {"velan": ["x"], "tamun": ["x", "y"]}):
        with pytest.raises(InputError, match="as many in each language; here they are"):
            write_states(tmp_path / "states", model, uneven)
    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(InputError, match=r"cannot hold .* GB of states \(No space left on device\)"):
        write_states(tmp_path / "states", model, text)
    assert not [*tmp_path.iterdir()]


def test_the_script_reads_the_text_of_the_run(run, tmp_path, capsys):
    probe(run, tmp_path / "states", "--lines", 3, "--languages", "velan", "inglan")
    states = read_states(tmp_path / "states")
    assert (states.record["languages"], states.record["sentences"]) == (["velan", "inglan"], 3)
    assert capsys.readouterr().out.startswith(f"{tmp_path / 'states'}: ")


def test_the_script_draws_lines_of_the_training_text(run, corpus, tmp_path):
    probe(run, tmp_path / "training", "--split", "train", "--random-lines", 7, "--seed", 3)
    drawn = random_lines(corpus / "text", "train", LANGUAGES, 7, seed=3)
    write_states(tmp_path / "expected", load_probed_run(run), drawn, translations=False)
    states, expected = (read_states(tmp_path / name) for name in ("training", "expected"))
    assert states.record == expected.record and states.record["sentences"] == 7
    assert states.record["translations"] is False
    assert all(np.array_equal(*pair) for pair in zip(states.labels, expected.labels))
    with pytest.raises(WrongUse):
        probe(run, tmp_path / "both", "--lines", 3, "--random-lines", 7)


@pytest.mark.slow
def test_the_script_writes_states_of_what_pairs_have_in_common(run, text, tmp_path, capsys):
    for language, kept in (("velan", slice(0, 7)), ("tamun", slice(3, LINES))):
        for side in (language, "inglan"):
            write_lines(tmp_path / f"test.{language}-inglan.{side}", text[side][kept])
    probe(run, tmp_path / "states", "--text", tmp_path)
    assert "from 4 sentences in inglan, velan, tamun" in capsys.readouterr().out
    probe(run, tmp_path / "two", "--text", tmp_path, "--languages", "inglan", "tamun")
    assert "from 8 sentences in inglan, tamun" in capsys.readouterr().out


def test_the_script_refuses_bad_input_and_leaves_what_is_there(run, corpus, tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "mine").write_text("kept")
    (tmp_path / "text").mkdir()
    write_lines(tmp_path / "text" / "test.velan", ["a", "b"])
    write_lines(tmp_path / "text" / "test.tamun", ["a"])
    broken = shutil.copytree(run, tmp_path / "broken")
    os.truncate(broken / "model.pt", 4000)
    before = sorted(tmp_path.rglob("*"))
    for arguments, message in (
        ((tmp_path / "nothing", tmp_path / "out"), "there is no folder .*nothing; give a run"),
        ((broken, tmp_path / "out"), "model.pt cannot be loaded: it is truncated"),
        (
            (run, tmp_path / "out", "--checkpoint", "checkpoints/checkpoint_best.pt"),
            "checkpoint_best.pt is missing",
        ),
        (
            (run, tmp_path / "out", "--languages", "nolan"),
            "unknown language 'nolan': this model knows inglan, velan, tamun",
        ),
        ((run, tmp_path / "out", "--split", "dev"), "has no text for velan-inglan in split 'dev'"),
        (
            (run, tmp_path / "out", "--text", tmp_path / "text", "--languages", "velan", "tamun"),
            "test.velan 2, test.tamun 1",
        ),
        ((run, tmp_path / "there"), "there is there already"),
    ):
        with pytest.raises(InputError, match=message):
            probe(*arguments)
    assert sorted(tmp_path.rglob("*")) == before
