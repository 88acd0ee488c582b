"""Similarity and classifiers of a folder of states: the scripts' figures are those of the measures, and
what they refuse.
"""

import csv
import inspect
import json
import re
import shutil
from itertools import combinations
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from scipy.stats import ortho_group

from zsnmt.analysis import layer_classifiers
from zsnmt.analysis import similarities as similarities_module
from zsnmt.analysis.cka import linear_cka
from zsnmt.analysis.classifiers import PUBLISHED_BATCH, fit_as_published, fit_to_convergence
from zsnmt.analysis.held_out import Accuracy, accuracy, confusion, split_by_sentence
from zsnmt.analysis.retrieval import retrieval
from zsnmt.analysis.state_folder import (
    LABELS_FILE,
    STATES_FILE,
    Labels,
    allocate,
    layer_file,
    read_states,
    sentence_means,
)
from zsnmt.analysis.svcca import decompose, independent_mean, random_baseline, svcca
from zsnmt.cli import probe_classifiers, probe_similarity
from zsnmt.errors import InputError

LANGUAGES = ["de", "en", "it"]
LAYERS = ["0", "1", "final"]
SENTENCES, DIMENSION, VOCABULARY, LONGEST = 40, 6, 5, 3


def make_states(folder: Path, seed: int = 1, sentences: int = SENTENCES, **record: object) -> Path:
    """States that know the token in layer 0, the language in layer 1, and the sentence alone in the last
    layer.
    """
    generator = np.random.default_rng(seed)
    lengths = generator.integers(1, LONGEST + 1, len(LANGUAGES) * sentences)
    labels = Labels(
        LANGUAGES,
        np.repeat(np.repeat(np.arange(len(LANGUAGES)), sentences), lengths),
        generator.integers(VOCABULARY, size=lengths.sum()),
        np.concatenate([np.arange(length) for length in lengths]),
        np.repeat(np.tile(np.arange(sentences), len(LANGUAGES)), lengths),
    )
    noise = generator.standard_normal((3, len(labels.token), DIMENSION)) / 10
    directions = 3 * np.random.default_rng(0).standard_normal(
        (VOCABULARY, DIMENSION)
    )  # the same in all folders
    turns = [np.eye(DIMENSION), *ortho_group(DIMENSION, seed=2).rvs(len(LANGUAGES) - 1)]
    of_sentence = generator.standard_normal((sentences, DIMENSION))[labels.sentence]
    states = noise + [
        directions[labels.token],
        directions[labels.language],
        np.stack([row @ turns[language] for row, language in zip(of_sentence, labels.language)]),
    ]
    folder.mkdir()
    allocate(folder, LAYERS, noise.shape[1:])
    for layer, of_layer in zip(LAYERS, states):
        np.save(layer_file(folder, layer), of_layer.astype(np.float32))
    np.savez(folder / LABELS_FILE, **labels._asdict())
    about = {"model": "abc", "target": None, "layers": LAYERS, "dimension": DIMENSION, "languages": LANGUAGES}
    about |= {"sentences": sentences, "translations": True, "text": f"text {seed}", **record}
    (folder / STATES_FILE).write_text(json.dumps(about))
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return make_states(tmp_path_factory.mktemp("states") / "states")


def similarity(*arguments: object) -> None:
    """`zsnmt probe-similarity`, in this process."""
    probe_similarity.main([*map(str, arguments)])


def classifiers(*arguments: object) -> None:
    """`zsnmt probe-classifiers`, in this process."""
    probe_classifiers.main([*map(str, arguments)])


def read_tsv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return [*csv.DictReader(file, delimiter="\t")]


def printed_rows(output: str) -> dict[str, list[str]]:
    """The cells of each printed line by its first, without the heading and the rule."""
    lines = (re.split(" {2,}", line.strip()) for line in output.split("\n")[2:])
    return {title: cells for title, *cells in lines if cells}


@pytest.mark.parametrize("probe", [similarity, classifiers])
def test_a_folder_is_no_output(folder, tmp_path, probe):
    with pytest.raises(InputError, match=f"{tmp_path} is a folder; name a file to write"):
        probe(folder, tmp_path)
    assert not [*tmp_path.iterdir()]


# Similarity


@pytest.mark.parametrize(
    "arguments, variance, neighbours", [([], 0.99, None), (["--variance", 0.8, "--csls", 3], 0.8, 3)]
)
def test_the_similarities_are_those_of_the_measures(folder, tmp_path, arguments, variance, neighbours):
    similarity(folder, tmp_path / "out.tsv", *arguments)
    states, rows = read_states(folder), read_tsv(tmp_path / "out.tsv")
    keys = [(layer, *pair) for layer in LAYERS for pair in combinations(LANGUAGES, 2)]
    assert [(row["layer"], row["language"], row["other"]) for row in rows] == keys
    gaussian = random_baseline(SENTENCES, (DIMENSION, DIMENSION), np.random.default_rng(1), variance).mean
    for row in rows:
        means = sentence_means(states.layers[row["layer"]], states.labels)
        one, other = means[row["language"]], means[row["other"]]
        canonical = svcca(decompose(one, variance), decompose(other, variance))
        found = retrieval(one, other, neighbours)
        expected = {
            "svcca": canonical.mean,
            "independent": independent_mean(SENTENCES, canonical.kept),
            "gaussian": gaussian,
            "kept": canonical.kept[0],
            "other_kept": canonical.kept[1],
            "sentences": SENTENCES,
            "dimensions": DIMENSION,
            "cka": linear_cka(one, other, debiased=True),
            "forward": found.forward,
            "backward": found.backward,
            "chance": 1 / SENTENCES,
        }
        assert {name: float(row[name]) for name in expected} == pytest.approx(expected, abs=1e-12)


def test_languages_that_are_turned_copies_are_similar_and_others_are_not(folder, tmp_path):
    similarity(folder, tmp_path / "out.tsv")
    for row in read_tsv(tmp_path / "out.tsv"):
        score, cka, random = (float(row[name]) for name in ("svcca", "cka", "independent"))
        if row["layer"] == "final":
            assert score > random + 0.4 and score > 0.95 and cka > 0.9
        else:
            assert abs(score - random) < 0.2 and abs(cka) < 0.2


def test_the_printed_figures_are_means_over_pairs_less_what_is_random(folder, tmp_path, capsys):
    similarity(folder, tmp_path / "out.tsv")
    output, rows = capsys.readouterr().out, read_tsv(tmp_path / "out.tsv")
    assert output.startswith(f"{SENTENCES} sentences × {DIMENSION}, means over 3 pair(s) of languages\n")
    shown = printed_rows(output)
    assert shown["layer"] == LAYERS
    for place, layer in enumerate(LAYERS):
        mean = {
            name: np.mean([float(row[name]) for row in rows if row["layer"] == layer])
            for name in ("svcca", "independent", "gaussian", "cka", "forward", "backward", "chance")
        }
        for title, expected in (
            ("SVCCA", mean["svcca"]),
            ("SVCCA − independent, as many kept", mean["svcca"] - mean["independent"]),
            ("SVCCA − Gaussians", mean["svcca"] - mean["gaussian"]),
            ("CKA, debiased", mean["cka"]),
            ("retrieval − chance", (mean["forward"] + mean["backward"]) / 2 - mean["chance"]),
        ):
            assert float(shown[title][place]) == pytest.approx(expected, abs=6e-4)


def test_each_languages_states_are_decomposed_once_a_layer(folder):
    with mock.patch.object(similarities_module, "decompose", side_effect=decompose) as decomposed:
        made = [*similarities_module.similarities(read_states(folder), np.random.default_rng(1))]
    assert decomposed.call_count == len(LAYERS) * len(LANGUAGES) == len(made)
    assert len({one.gaussian for one in made}) == 1


def test_gaussians_of_too_few_sentences_have_no_value(tmp_path, capsys):
    folder = make_states(tmp_path / "states", sentences=2 * DIMENSION)
    for layer in LAYERS:
        states = np.load(layer_file(folder, layer))
        states[:, 2:] /= 1000  # two directions hold all but a trace of the variance
        np.save(layer_file(folder, layer), states)
    similarity(folder, tmp_path / "out.tsv", "--variance", 0.999)
    assert {row["gaussian"] for row in read_tsv(tmp_path / "out.tsv")} == {""}
    assert printed_rows(capsys.readouterr().out)["SVCCA − Gaussians"] == ["–"] * len(LAYERS)


def test_states_without_similarity_are_refused_and_an_earlier_table_stays(folder, tmp_path):
    (tmp_path / "out.tsv").write_text("kept")
    few = make_states(tmp_path / "few", sentences=2 * DIMENSION)
    same = make_states(tmp_path / "same")
    np.save(layer_file(same, "1"), np.ones_like(np.load(layer_file(same, "1"))))
    strangers = make_states(tmp_path / "strangers", translations=False)
    for arguments, message in (
        ([tmp_path / "nothing"], "nothing/states.json is missing; make it with zsnmt probe-states"),
        (
            [few],
            "layer 1: 12 sentences are too few for SVCCA with 6 and 6 kept directions; give more than 12",
        ),
        ([same], "layer 1: all 40 rows of the states are the same"),
        (
            [strangers],
            "line n of the languages is not the same sentence in these states; make them from a multiway set",
        ),
        ([folder, "--variance", 1.5], "layer 0: a share of 1.5 of the variance cannot be kept"),
        ([folder, "--csls", SENTENCES + 1], "layer 0: CSLS over 41 neighbours is not possible"),
    ):
        with pytest.raises(InputError, match=message):
            similarity(arguments[0], tmp_path / "out.tsv", *arguments[1:])
        assert (tmp_path / "out.tsv").read_text() == "kept"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["few", "out.tsv", "same", "strangers"]
    similarity(folder, tmp_path / "out.tsv")
    assert len(read_tsv(tmp_path / "out.tsv")) == 9


def test_one_language_has_no_pairs(tmp_path):
    folder = make_states(tmp_path / "states")
    with np.load(folder / LABELS_FILE) as arrays:
        labels = {**arrays, "languages": ["de"]}
    rows = labels["language"] == 0
    np.savez(
        folder / LABELS_FILE,
        **{name: array if name == "languages" else array[rows] for name, array in labels.items()},
    )
    for layer in LAYERS:
        np.save(layer_file(folder, layer), np.load(layer_file(folder, layer))[rows])
    with pytest.raises(InputError, match="layer 0: similarity needs two languages or more, not de"):
        similarity(folder, tmp_path / "out.tsv")


# Classifiers


@pytest.mark.slow
@pytest.mark.parametrize("kind, names", [("exact", ["token", "language"]), ("published", ["language"])])
def test_the_accuracies_are_those_of_the_measures(tmp_path, kind, names):
    folder = make_states(tmp_path / "states", sentences=22)
    classifiers(folder, tmp_path / "out.tsv", "--kind", kind, "--seed", 3, "--labels", *names)
    states, rows = read_states(folder), read_tsv(tmp_path / "out.tsv")
    split = split_by_sentence(states.labels.sentence, seed=3)
    assert [(row["layer"], row["label"]) for row in rows] == [(k, label) for k in LAYERS for label in names]
    confused = {(row["layer"], row["language"]): row for row in read_tsv(tmp_path / "out.confusion.tsv")}
    assert [*confused] == [(layer, language) for layer in LAYERS for language in LANGUAGES]
    for row in rows:
        of_layer, labels = states.layers[row["layer"]], getattr(states.labels, row["label"])
        if kind == "exact":
            probe = fit_to_convergence(of_layer, labels, split.training)
        else:
            assert (
                800 > len(split.training) >= 80
            )  # 5 epochs in batches of one row: at least the warm-up, at most 4000 updates
            probe = fit_as_published(of_layer, labels, split.training, batch_size=1, seed=3)
        true, predicted = labels[split.held_out], probe.predict(of_layer, split.held_out)
        expected = accuracy(probe, true, predicted)
        assert [float(row[name]) for name in Accuracy._fields] == pytest.approx(expected)
        if row["label"] == "language":
            shares = confusion(true, predicted, dict(enumerate(LANGUAGES)))
            for language, of_language in zip(LANGUAGES, shares):
                line = confused[row["layer"], language]
                assert [float(line[other]) for other in LANGUAGES] == pytest.approx(of_language)


def test_a_probe_finds_what_a_layer_knows(folder, tmp_path, capsys):
    classifiers(folder, tmp_path / "out.tsv", "--kind", "exact")
    figures = {(row["layer"], row["label"]): row for row in read_tsv(tmp_path / "out.tsv")}
    assert float(figures["0", "token"]["accuracy"]) == float(figures["1", "language"]["accuracy"]) == 1
    assert float(figures["0", "language"]["accuracy"]) < 0.6 > float(figures["1", "token"]["accuracy"])
    assert [float(figures["0", label]["chance"]) for label in ("language", "position", "token")] == [
        1 / 3,
        1 / 3,
        1 / 5,
    ]
    output = capsys.readouterr().out
    rows = figures["0", "token"]["rows"]
    assert output.startswith(
        f"Accuracy in % on {rows} held-out tokens; of a class without training rows: token 0, "
    )
    shown = printed_rows(output)
    assert shown["layer"] == [*LAYERS, "chance", "majority"]
    for label in ("language", "position", "token"):
        expected = [100 * float(figures[layer, label]["accuracy"]) for layer in LAYERS]
        expected += [100 * float(figures["0", label][name]) for name in ("chance", "majority")]
        assert [float(figure) for figure in shown[label]] == pytest.approx(expected, abs=0.06)


def test_the_published_procedure_has_about_4000_updates_at_most_its_batch():
    epochs = inspect.signature(fit_as_published).parameters["epochs"].default
    for rows, size in ((10, 1), (80_000, 4000), (10**7, 4000), (10**9, PUBLISHED_BATCH)):
        with mock.patch.object(layer_classifiers, "fit_as_published") as fitted:
            layer_classifiers.fit("published", None, None, range(rows), seed=1)
        batch_size = fitted.call_args.kwargs["batch_size"]
        assert size in (batch_size, epochs * rows / batch_size)


def test_a_second_folder_is_measured_on_and_its_unseen_classes_are_counted(folder, tmp_path):
    other = make_states(tmp_path / "other", seed=2, sentences=7)
    with np.load(other / LABELS_FILE) as arrays:
        labels = {**arrays}
    labels["token"][:4] = VOCABULARY + 1
    np.savez(other / LABELS_FILE, **labels)
    classifiers(folder, tmp_path / "out.tsv", "--held-out", other, "--kind", "exact", "--labels", "token")
    states, measured = read_states(folder), read_states(other)
    for row in read_tsv(tmp_path / "out.tsv"):
        probe = fit_to_convergence(states.layers[row["layer"]], states.labels.token)
        expected = accuracy(probe, measured.labels.token, probe.predict(measured.layers[row["layer"]]))
        assert expected.unseen == 4 and expected.rows == len(measured.labels.token)
        assert [float(row[name]) for name in Accuracy._fields] == pytest.approx(expected)


def test_an_earlier_confusion_matrix_does_not_stay_beside_new_figures(folder, tmp_path):
    classifiers(folder, tmp_path / "new" / "out.tsv", "--kind", "exact", "--labels", "language")
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["out.confusion.tsv", "out.tsv"]
    classifiers(folder, tmp_path / "new" / "out.tsv", "--kind", "exact", "--labels", "token")
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["out.tsv"]
    assert {row["label"] for row in read_tsv(tmp_path / "new" / "out.tsv")} == {"token"}


def test_states_that_cannot_be_probed_are_refused_and_earlier_tables_stay(folder, tmp_path):
    (tmp_path / "out.tsv").write_text("kept")
    (tmp_path / "out.confusion.tsv").write_text("kept")
    twin = shutil.copytree(folder, tmp_path / "twin")
    stranger = make_states(tmp_path / "stranger", seed=2, model="xyz")
    fewer = make_states(tmp_path / "fewer", seed=3, languages=["de", "en"])
    one = make_states(tmp_path / "one", sentences=1)
    infinite = make_states(tmp_path / "infinite")
    np.save(layer_file(infinite, "1"), np.full_like(np.load(layer_file(infinite, "1")), np.inf))
    before = sorted(tmp_path.rglob("*"))
    for arguments, message in (
        ([tmp_path / "nothing"], "nothing/states.json is missing; make it with zsnmt probe-states"),
        ([folder, "--held-out", tmp_path / "nothing"], "nothing/states.json is missing"),
        ([folder, "--held-out", twin], "are states of the same text; give states of another text"),
        ([folder, "--held-out", stranger], r"differ in model \(abc and xyz\); make both alike"),
        ([folder, "--held-out", fewer], "differ in languages"),
        ([one], "of 1 sentences held out leaves a side without any"),
        (
            [infinite, "--kind", "exact", "--labels", "language"],
            "layer 1, language: the state of row .* is not finite",
        ),
    ):
        with pytest.raises(InputError, match=message):
            classifiers(arguments[0], tmp_path / "out.tsv", *arguments[1:])
    assert sorted(tmp_path.rglob("*")) == before
    assert {(tmp_path / name).read_text() for name in ("out.tsv", "out.confusion.tsv")} == {"kept"}
