"""Whether an export translates as the run does: on real sentences, against PyTorch and fairseq's search."""

import copy
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from fairseq.models import BaseFairseqModel

from zsnmt.corpora.parallel_text import check_pair, find_pair, pairs_of_split
from zsnmt.data.reading import Codec
from zsnmt.decoding.search import Engine, Hypothesis, Sentence
from zsnmt.errors import InputError
from zsnmt.inference.export.ctranslate2.engine import CTranslate2Engine
from zsnmt.languages import Direction
from zsnmt.modules.attention_residual import KeepResidual
from zsnmt.text.lines import read_lines

LEAST = 50  # sentences
EXACT = 1e-4  # the largest difference of a log-probability, or of the scores of two translations that count as equal
MARGIN = 2  # times the differences of a stock model, quantised alike, which has a layer less
BATCH = 32  # sentences


class Sample(NamedTuple):
    """A sentence to translate and its reference, token ids with EOS."""

    sentence: Sentence
    reference: list[int]


class Scored(NamedTuple):
    """A sentence, a translation of it, and PyTorch's log-probability of each of its tokens, EOS among them."""

    sentence: Sentence
    tokens: list[int]
    log_probabilities: list[float]


class Agreement(NamedTuple):
    """How far two engines agree: the largest and the root mean square difference of a token's log-probability, over so many
    tokens, and the share 0–1 of best translations that are equal."""

    largest: float
    rms: float
    tokens: int
    equal: float = 1.0


def samples(codec: Codec, text: Path, number: int, longest: int) -> list[Sample]:
    """About `number` sentences of the test set, as many from each direction, with no side of more than `longest` tokens.

    Directions are those of training and those without the pivot. Raises `InputError` for text with fewer than 50.
    """
    pairs = pairs_of_split(text, "test", codec.languages)
    both_ways = [Direction(*way) for pair in pairs for way in (pair, pair[::-1])]
    directions = [each for each in both_ways if each in codec.trained or codec.pivot not in each]
    found = [sample for direction in directions for sample in samples_of(codec, text, direction, -(-number // len(directions)))]
    found = [sample for sample in found if max(len(sample.sentence.source), len(sample.reference)) <= longest]
    if len(found) < LEAST:
        raise InputError(
            f"{text} has {len(found)} test sentences for directions of the run, and an export is checked on {LEAST} or more; "
            "name a folder of parallel text with --text"
        )
    return found


def samples_of(codec: Codec, text: Path, direction: Direction, number: int) -> list[Sample]:
    """So many sentences of a direction, or all, evenly spread over its files."""
    files = find_pair(text, "test", *direction)
    places = np.linspace(0, check_pair(*files) - 1, number).round().astype(int)
    source, target = map(read_lines, files)
    return [
        Sample(codec.source(source[place], direction), codec.tokens(target[place], direction.target))
        for place in dict.fromkeys(places)
    ]


def log_probabilities(model: BaseFairseqModel, sentence: Sentence, tokens: Sequence[int]) -> list[float]:
    """PyTorch's log-probability of each token of a translation with EOS."""
    prefix = torch.tensor([[sentence.start, *tokens[:-1]]])
    with torch.no_grad():
        output = model(torch.tensor([sentence.source]), torch.tensor([len(sentence.source)]), prefix)
    found = model.get_normalized_probs(output, log_probs=True)[0]  # T×V
    return found[range(len(tokens)), tokens].tolist()


def scored(model: BaseFairseqModel, translations: Iterable[tuple[Sentence, Sequence[int]]]) -> list[Scored]:
    """Translations, with EOS, and what PyTorch thinks of them."""
    return [Scored(sentence, [*tokens], log_probabilities(model, sentence, tokens)) for sentence, tokens in translations]


def agreement(engine: CTranslate2Engine, expected: Sequence[Scored]) -> Agreement:
    """How far the engine's log-probabilities are from those expected."""
    ours = [
        value
        for batch in batched(expected)
        for values in engine.log_probabilities([each.sentence for each in batch], [each.tokens for each in batch])
        for value in values
    ]
    apart = np.subtract(ours, [value for each in expected for value in each.log_probabilities])
    return Agreement(float(np.abs(apart).max()), float(np.sqrt(np.mean(apart**2))), len(apart))


def differences(model: BaseFairseqModel, engine: CTranslate2Engine, translations: Iterable[tuple[Sentence, Sequence[int]]]) -> Agreement:
    """How far the engine's log-probabilities of translations, with EOS, are from PyTorch's."""
    return agreement(engine, scored(model, translations))


def compare(model: BaseFairseqModel, reference: Engine, engine: CTranslate2Engine, chosen: Sequence[Sample]) -> tuple[Agreement, float]:
    """How far the engine agrees with the model and the `reference`, fairseq's search, and by how much the scores of best
    translations that differ are apart, at most.

    Log-probabilities are those of references and of the best translations of fairseq's search.
    """
    sentences = [sample.sentence for sample in chosen]
    theirs = best_of_equal_lengths(reference, sentences)
    ours = [best for batch in engine.translate(batched(sentences)) for best, *_ in batch]
    translations = [*chosen, *((sentence, best.tokens) for sentence, best in zip(sentences, theirs))]
    apart = [abs(one.score - other.score) for one, other in zip(ours, theirs) if one.tokens != other.tokens]
    found = differences(model, engine, translations)
    return found._replace(equal=1 - len(apart) / len(sentences)), max(apart, default=0.0)


def best_of_equal_lengths(engine: Engine, sentences: Sequence[Sentence]) -> list[Hypothesis]:
    """The best translation of each sentence, in batches of one length: in fairseq's the longest source sets all limits."""
    order = sorted(range(len(sentences)), key=lambda place: len(sentences[place].source))
    groups = [[sentences[place] for place in group] for _, group in groupby(order, lambda place: len(sentences[place].source))]
    best = [of_one[0] for of_batch in engine.translate(groups) for of_one in of_batch]
    return [best for _, best in sorted(zip(order, best))]


def check_exact(model: BaseFairseqModel, reference: Engine, engine: CTranslate2Engine, chosen: Sequence[Sample]) -> Agreement:
    """The agreement of an export in float32; `InputError` if its log-probabilities or its best translations are others."""
    found, apart = compare(model, reference, engine, chosen)
    if not found.largest <= EXACT:  # refuses NaN, too
        raise InputError(
            f"the export is deleted, since its log-probabilities differ from PyTorch's by up to {found.largest:.2g}, more than {EXACT}"
        )
    if apart > EXACT:
        raise InputError(
            f"the export is deleted, since {1 - found.equal:.1%} of its best translations are others than fairseq's, with scores up "
            f"to {apart:.2g} apart, more than {EXACT}"
        )
    return found


def check_noise(
    model: BaseFairseqModel, reference: Engine, engine: CTranslate2Engine, chosen: Sequence[Sample], stock: Agreement
) -> Agreement:
    """The agreement of a quantised export; `InputError` if it is noisier than a stock model's by more than the margin."""
    found, _ = compare(model, reference, engine, chosen)
    if not found.rms <= MARGIN * stock.rms:
        raise InputError(
            f"the export is deleted, since its log-probabilities, quantised, differ from PyTorch's by {found.rms:.2g} (root mean "
            f"square), more than {MARGIN} times the {stock.rms:.2g} of a stock model; choose another --quantization"
        )
    return found


def stock_model(model: BaseFairseqModel) -> BaseFairseqModel:
    """The model with neutral seams: fairseq's own, of the same weights."""
    model = copy.deepcopy(model)
    for layer in model.encoder.layers:
        layer.attention_residual = KeepResidual()
    model.decoder.language_embedding = None
    return model


def batched(items: Sequence) -> Iterable[Sequence]:
    """Items in batches."""
    return (items[begin : begin + BATCH] for begin in range(0, len(items), BATCH))
