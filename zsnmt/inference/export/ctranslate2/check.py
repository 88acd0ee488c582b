"""Whether an export translates as the run does: on real sentences, against PyTorch and fairseq's search."""

import copy
from collections.abc import Iterable, Sequence
from itertools import groupby

import numpy as np
from fairseq.models import BaseFairseqModel

from zsnmt.decoding.likeness import log_probabilities
from zsnmt.decoding.search import Engine, Hypothesis, Sentence
from zsnmt.errors import InputError
from zsnmt.inference.export.agreement import Agreement
from zsnmt.inference.export.ctranslate2.engine import CTranslate2Engine
from zsnmt.inference.export.ctranslate2.scored import Scored, agreement, make_batches
from zsnmt.inference.export.samples import Sample
from zsnmt.modules.attention_residual import KeepResidual

# the largest difference of a log-probability, or of the scores of two translations that count as equal
EXACT = 1e-4
MARGIN = 2  # times the differences of a stock model, quantised alike, which has a layer less


def score_translations(
    model: BaseFairseqModel, translations: Iterable[tuple[Sentence, Sequence[int]]]
) -> list[Scored]:
    """Translations, with EOS, and what PyTorch thinks of them, without those that it cannot write."""
    return [
        Scored(sentence, [*tokens], log_probabilities(model, sentence, tokens))
        for sentence, tokens in translations
        if all(can_write(model, sentence.start, token) for token in tokens)
    ]


def can_write(model: BaseFairseqModel, start: int, token: int) -> bool:
    """Whether the language of a tag can write a token: not always, in a vocabulary that grew, where a
    reference may have pieces of languages that came later.
    """
    grown = model.decoder.vocabulary
    return grown is None or token < grown.size_for(start)


def differences(
    model: BaseFairseqModel, engine: CTranslate2Engine, translations: Iterable[tuple[Sentence, Sequence[int]]]
) -> Agreement:
    """How far the engine's log-probabilities of translations, with EOS, are from PyTorch's."""
    return agreement(engine, score_translations(model, translations))


def compare(
    model: BaseFairseqModel, reference: Engine, engine: CTranslate2Engine, chosen: Sequence[Sample]
) -> tuple[Agreement, float]:
    """How far the engine agrees with the model and the `reference`, fairseq's search, and by how much the
    scores of best translations that differ are apart, at most.

    Log-probabilities are those of references and of the best translations of fairseq's search.
    """
    sentences = [sample.sentence for sample in chosen]
    theirs = best_of_equal_lengths(reference, sentences)
    ours = [best for batch in engine.translate(make_batches(sentences)) for best, *_ in batch]
    translations = [*chosen, *((sentence, best.tokens) for sentence, best in zip(sentences, theirs))]
    return with_best(differences(model, engine, translations), ours, theirs)


def with_best(
    found: Agreement, ours: Sequence[Hypothesis], theirs: Sequence[Hypothesis]
) -> tuple[Agreement, float]:
    """An agreement with the share of best translations that are equal, and by how much the scores of the
    others are apart, at most; NaN where one of these is.
    """
    apart = [abs(one.score - other.score) for one, other in zip(ours, theirs) if one.tokens != other.tokens]
    return found._replace(equal=1 - len(apart) / len(ours)), float(np.max(apart, initial=0.0))


def best_of_equal_lengths(engine: Engine, sentences: Sequence[Sentence]) -> list[Hypothesis]:
    """The best translation of each sentence, in batches of one length: in fairseq's the longest source
    sets all limits.
    """
    order = sorted(range(len(sentences)), key=lambda place: len(sentences[place].source))
    groups = [
        [sentences[place] for place in group]
        for _, group in groupby(order, lambda place: len(sentences[place].source))
    ]
    best = [of_one[0] for of_batch in engine.translate(groups) for of_one in of_batch]
    return [best for _, best in sorted(zip(order, best))]


def check_exact(
    model: BaseFairseqModel, reference: Engine, engine: CTranslate2Engine, chosen: Sequence[Sample]
) -> Agreement:
    """The agreement of an export in float32; `InputError` if its log-probabilities or its best
    translations are others.
    """
    found, apart = compare(model, reference, engine, chosen=chosen)
    refuse_others(found, apart, of="fairseq's")
    return found


def refuse_others(found: Agreement, apart: float, of: str, by: str = "") -> None:
    """`InputError` for log-probabilities that are others than PyTorch's, and for best translations that are
    others than those of a search, with scores so far apart; `by` says how both translate.
    """
    if not found.largest <= EXACT:  # refuses NaN, too, as below
        raise InputError(
            f"the export is deleted, since its log-probabilities{by} differ from PyTorch's by up to "
            f"{found.largest:.2g}, more than {EXACT}"
        )
    if not apart <= EXACT:
        raise InputError(
            f"the export is deleted, since {1 - found.equal:.1%} of its best translations{by} are others "
            f"than {of}, with scores up to {apart:.2g} apart, more than {EXACT}"
        )


def check_noise(
    model: BaseFairseqModel,
    reference: Engine,
    engine: CTranslate2Engine,
    chosen: Sequence[Sample],
    stock: Agreement,
) -> Agreement:
    """The agreement of a quantised export; `InputError` if it is noisier than a stock model's by more than
    the margin.
    """
    found, _ = compare(model, reference, engine, chosen=chosen)
    if not found.rms <= MARGIN * stock.rms:
        raise InputError(
            "the export is deleted, since its log-probabilities, quantised, differ from PyTorch's by "
            f"{found.rms:.2g} (root mean square), more than {MARGIN} times the {stock.rms:.2g} of a stock "
            "model; choose another --quantization"
        )
    return found


def stock_model(model: BaseFairseqModel) -> BaseFairseqModel:
    """The model with neutral seams: fairseq's own, of the same weights."""
    model = copy.deepcopy(model)
    for layer in model.encoder.layers:
        layer.attention_residual = KeepResidual()
    for layer in model.decoder.layers:
        layer.language_feed_forward = None
    model.decoder.language_embedding = model.decoder.adapters = model.decoder.vocabulary = None
    return model
