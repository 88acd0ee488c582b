"""What is measured of a masked LM: its positions by encoding, how multilingual it is, and the systems of
the study.
"""

import math
from argparse import ArgumentParser

import numpy as np
import pytest
import torch
from fairseq.data import Dictionary

from tests.models.test_zs_bert import LAYERS, C, P, build, small, stirred
from zsnmt.analysis.correlations import band_shares, correlations
from zsnmt.analysis.procrustes import compositionality
from zsnmt.data.masked_sentences import MASK, MaskedSentences, Masking
from zsnmt.errors import InputError
from zsnmt.masked_lm import scores
from zsnmt.masked_lm.runs import check_system, start_run
from zsnmt.masked_lm.scores import epochs_of, example, frequent, multilinguality, score_positions
from zsnmt.models.zs_bert import ZeroShotBert
from zsnmt.modules.bert_encoder import position_table
from zsnmt.modules.position_names import ENCODINGS, INPUT_ENCODINGS, RELATIVE_KEYS, TUPE
from zsnmt.modules.position_terms import DROPPED_TERMS, SEPARATE
from zsnmt.runs.systems import CLIPPED, MASKED_LM, PRODUCT

LONGEST = 12
MANY = 4 * C  # positions, of which every chunk spans all dimensions: otherwise rounding chooses the map
EOS = 2


def bilingual_dictionary(words: int = 9) -> Dictionary:
    """Special symbols, <mask> and words, then as many symbols of the copy."""
    dictionary = Dictionary()
    names = [*dictionary.symbols, MASK, *(f"w{number}" for number in range(words))]
    for name in [*names, *(f"[{name}]" for name in names)][4:]:
        dictionary.add_symbol(name)
    return dictionary


def lines_of(dictionary: Dictionary, lines: list[list[int]]) -> MaskedSentences:
    tokens = [torch.tensor([*line, EOS]) for line in lines]
    return MaskedSentences(
        tokens, np.array([len(line) for line in tokens]), dictionary, Masking(0.5, 0, 0), LONGEST, 1
    )


class Task:
    def __init__(self, dictionary: Dictionary) -> None:
        self.source_dictionary = dictionary


def test_the_systems_are_all_encodings_and_all_ablations():
    assert [*MASKED_LM] == [*ENCODINGS, CLIPPED, PRODUCT, *DROPPED_TERMS, SEPARATE]
    parser = ArgumentParser(allow_abbrev=False)
    ZeroShotBert.add_args(parser)
    for name, options in MASKED_LM.items():
        values = {key: value for key, value in vars(parser.parse_args(options)).items() if value}
        build(**values)  # each is one that the model knows
        assert name in {*values.values(), CLIPPED, PRODUCT} and check_system(name) == options
    with pytest.raises(InputError, match="there is no system 'absolute'; choose from sinusoidal, learned"):
        check_system("absolute")


def test_perplexity_is_of_the_mean_over_batches_and_by_token_of_that_over_tokens(monkeypatch):
    batches = [(1.0, 10), (3.0, 30)]  # mean losses in nats, and the tokens that they are of
    monkeypatch.setattr(scores, "losses", lambda model, valid, lines: batches)
    found = multilinguality(None, range(8), 8, layers=(0, 8))["perplexity"]
    assert (found["full"], found["full_by_token"]) == pytest.approx((math.exp(2), math.exp(2.5)))
    assert (found["first"], found["first_by_token"]) == (found["full"], found["full_by_token"])


def test_without_a_masked_token_there_is_no_perplexity():
    dictionary = bilingual_dictionary()
    valid = lines_of(dictionary, [[5], [6]])
    valid.masking = Masking(0, 0, 0)
    with pytest.raises(InputError, match="no token of 2 lines of validation is masked; give more lines"):
        multilinguality(stirred(), valid, 1, layers=(0, 1))


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_table_is_of_the_positions_that_training_reached(encoding):
    encoder = stirred(position_encoding=encoding).encoder.sentence_encoder
    table = position_table(encoder, LONGEST)
    if encoding == "none":
        assert table is None
    elif encoding == "learned":
        assert np.array_equal(table, encoder.embed_positions.weight[2 : 2 + LONGEST].detach())
    elif encoding == "sinusoidal":
        angles = 2 + np.arange(LONGEST)  # fairseq counts from 2
        assert np.allclose(table[:, 0], np.sin(angles), atol=1e-5) and np.allclose(
            table[:, C // 2], np.cos(angles), atol=1e-5
        )
    elif encoding in TUPE:  # rows 0 and 1 are of the first token
        assert np.array_equal(table, encoder.position_bias.table.weight[2 : LONGEST + 1].detach())
    else:
        whole = encoder.layers[0].self_attn.logit_terms[0].table.weight.detach()
        assert len(whole) == 2 * P - 1 and len(table) == 2 * LONGEST - 1
        assert np.array_equal(table[LONGEST - 1], whole[P - 1])  # the offset 0


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_what_there_is_to_say_of_positions_depends_on_the_encoding(encoding):
    found = score_positions(stirred(position_encoding=encoding), encoding, LONGEST, [8, 9, 10])
    assert found["positions"] == LONGEST
    assert (found["curves"] is None) == (encoding == "none")
    assert (found["procrustes"] is None) == (encoding == "none")
    assert (found["procrustes_keys"] is None) == (encoding not in (*INPUT_ENCODINGS, *TUPE))
    assert (found["correlations"] is None) == (encoding not in INPUT_ENCODINGS)
    if found["curves"]:
        dimensions = [0] if encoding in RELATIVE_KEYS else [0, 4]  # of 4 in a head, and 8 in the model
        assert found["curves"]["dimensions"] == dimensions
        places = {
            "sinusoidal": LONGEST,
            "learned": LONGEST,
            **dict.fromkeys(TUPE, LONGEST - 1),
            **dict.fromkeys(RELATIVE_KEYS, 2 * LONGEST - 1),
        }
        assert np.shape(found["curves"]["values"]) == (len(dimensions), places[encoding])
    if found["procrustes"]:
        assert found["procrustes"]["offsets"] == [1, 2] and len(found["procrustes"]["median"]) == 2
    if found["correlations"]:
        assert found["correlations"]["words"] == ["w0", "w1", "w2"]
        values = np.array(found["correlations"]["values"])
        assert found["bands"]["positions"] == pytest.approx(
            values.mean(axis=0).var() / values.var(), abs=1e-3
        )


def test_a_learned_table_and_one_of_tupe_are_measured_on_as_many_positions():
    """The same vectors in both have the same losses: chunks are of the same places."""
    learned, tupe = (stirred(position_encoding=encoding) for encoding in ("learned", "tupe_absolute"))
    rows = torch.randn(LONGEST - 1, C, generator=torch.Generator().manual_seed(5))
    with torch.no_grad():
        learned.encoder.sentence_encoder.embed_positions.weight[3 : LONGEST + 2] = rows
        tupe.encoder.sentence_encoder.position_bias.table.weight[2 : LONGEST + 1] = rows
    one, other = (
        score_positions(model, name, LONGEST, [8, 9])["procrustes"]
        for model, name in ((learned, "learned"), (tupe, "tupe_absolute"))
    )
    assert one == other


@pytest.mark.parametrize("encoding", ["sinusoidal", "learned", "tupe_absolute", "relative_key"])
@pytest.mark.parametrize("longest", [3, 4, 5, 6])
def test_a_run_of_short_lines_is_scored_with_the_losses_that_its_positions_allow(encoding, longest):
    """A chunk and another one, of two positions or more, and shifted ones: five places in all."""
    found = score_positions(stirred(position_encoding=encoding), encoding, longest, [8, 9, 10])
    places = 2 * longest - 1 if encoding == "relative_key" else longest - 1
    assert (found["procrustes"] is not None) == (places >= 5 and longest >= 5)


@pytest.mark.parametrize("terms", [None, SEPARATE])
def test_positions_as_keys_are_measured_as_the_first_layer_projects_them(terms):
    """Footnote 6 of the paper: p·W^K, where separate parameters are the positions' own."""
    model = stirred(
        position_encoding="learned", max_positions=MANY, **({"position_terms": terms} if terms else {})
    )
    encoder = model.encoder.sentence_encoder
    weight = encoder.position_terms.own[1].weight if terms else encoder.layers[0].self_attn.k_proj.weight
    keys = position_table(encoder, MANY)[1:] @ weight.detach().numpy().T
    found = score_positions(model, "learned", MANY, [8, 9])["procrustes_keys"]
    expected = compositionality(keys, found["offsets"])
    assert found["median"] == pytest.approx(expected.median, abs=1e-5)
    assert found["undivided"] == pytest.approx(expected.undivided.mean(axis=1), abs=1e-5)


@pytest.mark.parametrize("terms", [*DROPPED_TERMS, SEPARATE])
def test_words_and_positions_are_correlated_as_the_first_layer_does_it(terms):
    """(w W^Q)(p W^K), with U^K where separate parameters are the positions' own; and where that term is
    dropped there is nothing to measure.
    """
    model = stirred(position_encoding="learned", position_terms=terms)
    encoder, words = model.encoder.sentence_encoder, [8, 9, 10]
    attention = encoder.layers[0].self_attn
    weight = encoder.position_terms.own[1].weight if terms == SEPARATE else attention.k_proj.weight
    found = score_positions(model, "learned", LONGEST, words)
    if terms == "no_position_word":
        assert found["correlations"] is found["bands"] is None
        return
    vectors = encoder.embed_scale * encoder.embed_tokens.weight[words]
    expected = correlations(
        *(each.detach().numpy() for each in (vectors, torch.from_numpy(position_table(encoder, LONGEST)))),
        attention.q_proj.weight.detach().numpy(),
        key_weight=weight.detach().numpy(),
        heads=attention.num_heads,
    )
    assert found["correlations"]["values"] == pytest.approx(expected, abs=1e-3)
    assert found["bands"]["positions"] == pytest.approx(band_shares(expected).columns)


def test_positions_of_tupe_as_keys_are_normalised_and_projected_by_its_own_weights():
    model = stirred(position_encoding="tupe_absolute", max_positions=MANY)
    bias = model.encoder.sentence_encoder.position_bias
    rows = bias.layer_norm(bias.table.weight[2 : MANY + 1])
    found = score_positions(model, "tupe_absolute", MANY, [8, 9])["procrustes_keys"]
    keys = (rows @ bias.k_proj.weight.T).detach().numpy()
    assert found["median"] == pytest.approx(compositionality(keys, found["offsets"]).median, abs=1e-5)


@pytest.mark.parametrize(
    "options, rows",
    [({}, 2 * LONGEST - 1), ({"relative_key_distance": 8}, 17), ({"relative_key_distance": 3}, 7)],
)
def test_the_table_of_relative_keys_is_measured_over_the_offsets_that_it_has(options, rows):
    """As many shifts as of the other encodings, unless the table is too short for them."""
    model = stirred(position_encoding="relative_key", **options)
    table = position_table(model.encoder.sentence_encoder, LONGEST)
    found = score_positions(model, CLIPPED if options else "relative_key", LONGEST, [8, 9])["procrustes"]
    assert len(table) == rows and found["offsets"] == ([1] if rows == 7 else [1, 2])
    assert found["mean"] == pytest.approx(compositionality(table, found["offsets"]).mean, abs=1e-5)


def test_the_correlations_of_words_and_positions_are_a_term_of_the_first_layer():
    model = stirred(position_encoding="sinusoidal")
    values = np.array(score_positions(model, "sinusoidal", LONGEST, [8, 9])["correlations"]["values"])
    encoder = model.encoder.sentence_encoder
    attention, word = encoder.layers[0].self_attn, 2 * math.sqrt(C) * encoder.embed_tokens.weight[9]
    q = attention.q_proj.weight @ word
    k = attention.k_proj.weight @ torch.from_numpy(position_table(encoder, LONGEST)[3])
    mean_over_heads = (q * k).view(attention.num_heads, -1).sum(dim=1).mean() / attention.head_dim**0.5
    assert values[1, 3] == pytest.approx(mean_over_heads.item(), abs=1e-4)


def test_a_model_that_does_not_tell_the_languages_apart_is_wholly_multilingual():
    dictionary = bilingual_dictionary()
    size = len(dictionary) // 2
    model = build_for(dictionary)
    with torch.no_grad():
        table = model.encoder.sentence_encoder.embed_tokens.weight
        table[size + 5 :] = table[5:size]
    first = [[5, 6, 7], [8, 9, 10, 11], [12, 13], [7, 5, 13, 6]]
    valid = lines_of(dictionary, first + [[token + size for token in line] for line in first])
    found = multilinguality(model, valid, len(first), (0, LAYERS))
    assert (
        found["ml_score"] == 1
        and found["retrieval"]["0"]["forward"] == found["translation"][str(LAYERS)]["backward"] == 1
    )
    apart = multilinguality(build_for(dictionary), valid, len(first), (0, LAYERS))
    assert apart["ml_score"] < 1
    alone = multilinguality(model, lines_of(dictionary, first), len(first), (0, LAYERS))
    assert (
        alone["ml_score"] is alone["retrieval"] is None
        and alone["perplexity"]["full"] == alone["perplexity"]["first"]
    )


def build_for(dictionary: Dictionary):
    """A model of a dictionary in which a word's state is mostly its own."""
    torch.manual_seed(3)
    model = ZeroShotBert.build_model(small(position_encoding="sinusoidal"), Task(dictionary)).eval()
    torch.nn.init.normal_(model.encoder.sentence_encoder.embed_tokens.weight)
    return model


def test_the_example_is_the_first_sentence_of_middle_length_in_the_first_languages_symbols():
    dictionary = Dictionary()
    pieces = [*dictionary.symbols, MASK, *(f"\u2581w{number}" for number in range(8)), "s"]
    for name in [*pieces, *(f"[{piece}]" for piece in pieces)][4:]:
        dictionary.add_symbol(name)
    size, s = len(pieces), len(pieces) - 1
    short, long = [5, 6, 7], [5, 6, 7, s, 8, 9, 10, 11, 12, s]
    shifted = [[token + size for token in line] for line in (short[::-1], long[::-1])]
    found = example(lines_of(dictionary, [short, long, *shifted]), 2)
    assert found == {"first": "w0 w1 w2s w3 w4 w5 w6 w7s", "second": "s w7 w6 w5 w4 w3s w2 w1 w0"}
    assert example(lines_of(dictionary, [short, short]), 1) == {"first": "w0 w1 w2"}


def test_a_heat_map_has_the_most_frequent_words_of_the_first_language():
    dictionary = bilingual_dictionary()
    valid = lines_of(dictionary, [[9, 9, 9, 8], [8, 9, 7], [20, 20, 20, 20, 20]])
    assert frequent(valid, 2, 4) == [9, 8, 7] and frequent(valid, 3, 4)[0] == 20


@pytest.mark.parametrize(
    "epoch, iterations, batch, epochs", [(3, 0, 4, 2), (3, 5, 4, 2.5), (1, 10, 4, 1), (2, 3, None, 1)]
)
def test_epochs_are_whole_ones_and_a_part(epoch, iterations, batch, epochs):
    state = {
        "extra_state": {"train_iterator": {"epoch": epoch, "iterations_in_epoch": iterations}},
        "cfg": {"dataset": {"batch_size": batch}},
    }
    assert epochs_of(state, 40) == epochs


def test_a_run_keeps_the_record_of_its_start_and_refuses_another_config(tmp_path):
    config = tmp_path / "x.conf"
    config.write_text("A=1\n")
    start_run(tmp_path / "run", config, "same", "learned", 3, "first words")
    before = (tmp_path / "run" / "run.json").read_bytes()
    start_run(tmp_path / "run", config, "same", "learned", 3, "other words")
    assert (tmp_path / "run" / "run.json").read_bytes() == before and b"first words" in before
    config.write_text("A=2\n")
    with pytest.raises(InputError, match="was made with another x.conf; remove the folder"):
        start_run(tmp_path / "run", config, "same", "learned", 3, "first words")
