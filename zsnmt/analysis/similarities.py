"""How similar the sentences of a folder of states are in each two of its languages, layer by layer."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from tqdm import tqdm

from zsnmt.analysis.cka import linear_cka
from zsnmt.analysis.retrieval import retrieval
from zsnmt.analysis.state_folder import States, sentence_means
from zsnmt.analysis.svcca import decompose, independent_mean, random_baseline, svcca_pairs
from zsnmt.errors import InputError


class Similarity(NamedTuple):
    """Two languages in a layer; shares are 0–1.

    `svcca`: mean correlation, of `kept` and `other_kept` directions of N `sentences` × d `dimensions`;
    `independent`: what independent states with as many kept directions give; `gaussian`: what Gaussians N×d
    give, None where those are too few for a value; `cka`: debiased, -1 to 1; `forward`: retrieval of the
    other language's sentence, `backward`: of the first's; `chance`: of retrieval, 1/N.
    """

    layer: str
    language: str
    other: str
    svcca: float
    independent: float
    gaussian: float | None
    kept: int
    other_kept: int
    sentences: int
    dimensions: int
    cka: float
    forward: float
    backward: float
    chance: float


def similarities(
    states: States, generator: np.random.Generator, variance: float = 0.99, csls_neighbours: int | None = None
) -> Iterator[Similarity]:
    """Of each layer and each two languages, in the order of the folder; sentences are the means of their
    tokens.

    `generator` draws the Gaussians; `variance`: the share of it that SVCCA keeps; `csls_neighbours`: as in
    `zsnmt.analysis.retrieval`. One layer's sentences are in memory at a time, and each is decomposed once a
    language. Raises `InputError` for sentences that do not translate each other, and, naming the layer,
    for fewer than two languages, for too few sentences and for states that have no similarity.
    """
    if not states.record["translations"]:
        raise InputError(
            "line n of the languages is not the same sentence in these states; make them from a multiway "
            "set, such as a test set"
        )
    shape = states.record["sentences"], states.record["dimension"]
    gaussian = gaussian_mean(*shape, generator, variance)
    for layer in tqdm(states.layers, "layers", leave=False, disable=None):
        try:
            yield from compare_layer(
                layer,
                sentence_means(states.layers[layer], states.labels),
                gaussian,
                variance=variance,
                csls_neighbours=csls_neighbours,
            )
        except InputError as error:
            raise InputError(f"layer {layer}: {error}") from error


def compare_layer(
    layer: str,
    means: dict[str, np.ndarray],
    gaussian: float | None,
    variance: float,
    csls_neighbours: int | None,
) -> Iterator[Similarity]:
    """Of each two languages, whose sentences are N×d each."""
    decompositions = {language: decompose(of_language, variance) for language, of_language in means.items()}
    pairs = svcca_pairs(decompositions)
    for (language, other), canonical in tqdm(pairs.items(), "pairs", leave=False, disable=None):
        one, two = means[language], means[other]
        found = retrieval(one, two, csls_neighbours)
        yield Similarity(
            layer,
            language,
            other,
            svcca=canonical.mean,
            independent=independent_mean(len(one), canonical.kept),
            gaussian=gaussian,
            kept=canonical.kept[0],
            other_kept=canonical.kept[1],
            sentences=len(one),
            dimensions=one.shape[1],
            cka=linear_cka(one, two, debiased=True),
            forward=found.forward,
            backward=found.backward,
            chance=1 / len(one),
        )


def gaussian_mean(
    sentences: int, dimension: int, generator: np.random.Generator, variance: float
) -> float | None:
    """The SVCCA score of independent Gaussians N×d; None where they, unlike states perhaps, keep too many
    directions.
    """
    try:
        return random_baseline(sentences, (dimension, dimension), generator, variance=variance).mean
    except InputError:
        return None
