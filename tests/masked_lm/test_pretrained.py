"""Positions of pretrained models: read in every form, measured as the study's own, tabulated and drawn."""

from dataclasses import replace

import numpy as np
import pytest

from tests.conftest import run_command
from tests.support.pretrained import WORDS, made_up_bert
from zsnmt.analysis.correlations import band_shares, correlations
from zsnmt.analysis.position_encodings import gaussian_control, principal_coordinates, sinusoids
from zsnmt.analysis.procrustes import compositionality
from zsnmt.errors import InputError
from zsnmt.masked_lm.pretrained import (
    PositionLosses,
    Pretrained,
    WordMap,
    common_words,
    measure_positions,
    read_pretrained,
    read_tables,
    word_map,
)
from zsnmt.masked_lm.report.pretrained import drawings, positions_table
from zsnmt.masked_lm.score_file import Correlations, Losses

P, D, H = 45, 8, 2
WAVES = sinusoids(P, D)
NOISE = gaussian_control(WAVES, 7)
COMMAND = "python", "-m", "zsnmt", "position-tables"


@pytest.fixture
def bert(tmp_path):
    return made_up_bert(tmp_path / "multilingual", WAVES)


def test_a_folder_its_file_and_its_arrays_are_the_same_model(bert, tmp_path):
    one, other = read_pretrained("one", bert), read_pretrained("other", bert / "model.safetensors")
    arrays = tmp_path / "arrays"
    arrays.mkdir()
    for what, table in read_tables(bert).items():
        np.save(arrays / f"{what}.npy", table)
    (arrays / "vocab.txt").write_bytes((bert / "vocab.txt").read_bytes())
    bare = made_up_bert(tmp_path / "bare", WAVES, prefix="")  # as BertModel saves itself
    for model in (other, read_pretrained("arrays", arrays), read_pretrained("bare", bare)):
        assert (model.positions == one.positions).all() and (model.key == model.words.key).all()
        for what in ("vectors", "query", "key"):
            assert (getattr(model.words, what) == getattr(one.words, what)).all()
        assert model.words.numbers == one.words.numbers and model.words.numbers["and"] == 5
    assert one.positions == pytest.approx(WAVES, abs=1e-7)
    alone = read_pretrained("alone", arrays / "positions.npy")
    assert (alone.positions == one.positions).all() and alone.key is None and alone.words is None
    (bert / "vocab.txt").unlink()
    without = read_pretrained("one", bert)
    assert without.words is None and (without.key == one.key).all()


@pytest.mark.parametrize(
    "change, message",
    [
        (
            lambda folder: (folder / "model.safetensors").unlink(),
            "holds neither model.safetensors nor positions.npy",
        ),
        (
            lambda folder: (folder / "vocab.txt").write_text("a\nb\n"),
            f"vocab.txt has 2 lines and the model {len(WORDS)} words; put the model's own there",
        ),
        (
            lambda folder: (folder / "vocab.txt").write_bytes(b"a\nb\xff\n"),
            "vocab.txt, line 2 is not UTF-8; put the model's own there",
        ),
    ],
)
def test_folders_that_are_no_model_are_refused(bert, change, message):
    change(bert)
    with pytest.raises(InputError, match=message):
        read_pretrained("x", bert)


def test_tables_that_are_none_are_refused(tmp_path):
    folder = tmp_path / "arrays"
    folder.mkdir()
    np.save(folder / "positions.npy", np.ones(4))
    with pytest.raises(InputError, match=r"the positions of .*arrays have the shape \(4,\); a table is rows"):
        read_pretrained("x", folder)


@pytest.mark.parametrize(
    "what, shape",
    [("words", (5, D + 1)), ("query", (D, D + 1)), ("key", (D + 1, D)), ("key", (D + 1, D + 1))],
)
def test_tables_of_several_models_are_refused(tmp_path, what, shape):
    for name, size in {"positions": (P, D), what: shape}.items():
        np.save(tmp_path / f"{name}.npy", np.ones(size))
    with pytest.raises(InputError, match=rf"the {what} of .* have the shape .*, and positions have {D} dim"):
        read_pretrained("x", tmp_path)


@pytest.mark.slow
def test_losses_are_those_of_the_largest_directions_without_the_first_position(bert):
    model = read_pretrained("x", bert)
    found = measure_positions(model, 4)
    table, kept = principal_coordinates(model.positions[1:], 4)
    expected = compositionality(table, found.procrustes.offsets)
    assert found.procrustes.offsets == [*range(1, 12)] and found.kept == kept < 1
    assert found.procrustes.median == pytest.approx(expected.median, abs=1e-5)
    keys, _ = principal_coordinates(model.positions[1:] @ model.key.T, 4)
    expected = compositionality(keys, found.procrustes.offsets).median
    assert found.procrustes_keys.median == pytest.approx(expected, abs=1e-5)
    assert measure_positions(replace(model, key=None), D).procrustes_keys is None


def test_a_table_of_too_few_positions_is_refused_and_the_remedy_is_their_number():
    for number in (1, 4, 5):
        with pytest.raises(InputError, match=f"x has {number} positions to measure, .*; take 6 or more"):
            measure_positions(Pretrained("x", NOISE[:number]), 4)
    assert measure_positions(Pretrained("x", NOISE[:6]), 4).procrustes.offsets == [1]


def test_a_heat_map_is_of_the_words_of_all_models(bert, tmp_path):
    other = made_up_bert(tmp_path / "cased", NOISE, words=("to", "[CLS]", "and", "##of", "the"), seed=2)
    one, other = read_pretrained("one", bert), read_pretrained("other", other)
    words = common_words([one.words, other.words], ["of", "the", "and", "nowhere"])
    assert words == ["the", "and"]
    found = word_map(other.words, other.positions, words, H)
    rows, query = other.words.vectors[[4, 2]], other.words.query
    values = correlations(rows, other.positions, query, other.key, heads=H)
    assert found.correlations.values == np.round(values, 5).tolist()
    assert found.bands == band_shares(values).columns
    with pytest.raises(
        InputError, match="of the words of nowhere fewer than two are in vocab.txt of all models"
    ):
        common_words([one.words, other.words], ["of", "nowhere"])


def test_table_and_drawings_have_every_model():
    losses = Losses([1, 2], [0.2, 0.4], [0.1, 0.3], [3.0, 5.0])
    models = [
        PositionLosses("one", 9, 0.75, losses, losses),
        PositionLosses("other", 9, 0.75, losses._replace(median=[0.7, 0.9])),
    ]
    maps = {"one": WordMap(Correlations(["a", "b"], [[0.0, 1.0], [2.0, 0.5]]), 0.5)}
    table = positions_table(models, maps, 64)
    one, other = (dict(zip(table.columns, row)) for row in table.rows)
    assert (one["mean loss"].mean, other["median loss"].mean) == (pytest.approx(0.3), pytest.approx(0.8))
    assert one["mean loss, undivided"].mean == 4 and one["of the table"].mean == 0.75
    assert one["median loss of p·W^K"].mean == pytest.approx(0.2) and other["median loss of p·W^K"] is None
    assert one["bands"].mean == 0.5 and other["bands"] is None
    assert one["p against one"] is None and float(other["p against one"]) == 0.5  # two pairs, one way
    losses_drawn, heat_map = (figure for _, _, figure in drawings(models, maps))
    assert [line.get_label() for line in losses_drawn.axes[0].get_lines()] == ["one", "other"]
    assert heat_map.axes[0].get_title() == "one" and [*heat_map.axes[0].get_images()[0].get_clim()] == [-2, 2]
    assert [name for name, _, _ in drawings(models, {})] == ["procrustes_losses"]


@pytest.mark.slow
def test_the_command_prints_the_table_and_writes_the_figures(bert, tmp_path):
    np.save(tmp_path / "noise.npy", NOISE)
    done = run_command(
        *COMMAND, f"mBERT={bert}", tmp_path / "noise.npy", "--heads", H, "--output", tmp_path / "out"
    )
    assert done.returncode == 0, done.stderr
    rows = {
        line.split("\t")[0]: line.split("\t")
        for line in (tmp_path / "out" / "pretrained.tsv").read_text().splitlines()
    }
    median = rows["model"].index("median loss")
    assert [*rows] == ["model", "mBERT", "noise.npy", "sinusoids", "independent vectors"]
    assert float(rows["mBERT"][median]) == pytest.approx(float(rows["sinusoids"][median]), abs=1e-3)
    assert float(rows["mBERT"][median]) < 0.01 < 0.5 < float(rows["noise.npy"][median])
    assert "noise.npy: no heat map, for it lacks words, weights or vocab.txt" in done.stderr
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        *(
            f"{name}.{ending}"
            for name in ("procrustes_losses", "word_positions")
            for ending in ("png", "svg")
        ),
        *(f"pretrained.{ending}" for ending in ("txt", "md", "tsv")),
    }
    fewer = run_command(*COMMAND, tmp_path / "noise.npy", "--positions", "20", "--dimensions", "3")
    assert (
        fewer.returncode == 0
        and "k = 1 to 4" in fewer.stdout
        and "along the 3 largest" in " ".join(fewer.stdout.split())
    )


@pytest.mark.parametrize(
    "words, message",
    [
        (["{folder}/a.npy", "{folder}/b/a.npy"], "error: two models are called a.npy; name them, as in one="),
        (
            ["{folder}/a.npy", "{folder}/c.npy"],
            "a.npy 45 in 8 directions, c.npy 20 in 8 directions; give --positions",
        ),
        (["{folder}/nowhere"], "nowhere: there is no such file"),
        (["{folder}/a.npy", "--heads", "0"], "'0' is not a whole number above 0"),
    ],
)
def test_what_cannot_be_compared_is_said_in_a_line(tmp_path, words, message):
    (tmp_path / "b").mkdir()
    for name, table in (("a", NOISE), ("b/a", NOISE), ("c", NOISE[:20])):
        np.save(tmp_path / f"{name}.npy", table)
    stopped = run_command(*COMMAND, *(word.format(folder=tmp_path) for word in words))
    assert stopped.returncode in (1, 2) and message in stopped.stderr and stopped.stderr.count("\n") == 1
