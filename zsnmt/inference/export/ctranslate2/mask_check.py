"""Whether an export translates among the target language's pieces as PyTorch does."""

from collections.abc import Sequence

from fairseq.models import BaseFairseqModel

from zsnmt.decoding.likeness import log_probabilities
from zsnmt.decoding.methods.bundle import Bundle
from zsnmt.decoding.methods.engine import MethodEngine
from zsnmt.decoding.methods.settings import Mask, Method
from zsnmt.decoding.methods.vocabulary import penalties
from zsnmt.decoding.pytorch_engine import PyTorchEngine
from zsnmt.decoding.search import Engine, Hypothesis
from zsnmt.errors import InputError
from zsnmt.inference.export.agreement import Agreement
from zsnmt.inference.export.ctranslate2.check import refuse_others, with_best
from zsnmt.inference.export.ctranslate2.engine import CTranslate2Engine
from zsnmt.inference.export.ctranslate2.mask import MaskEngine
from zsnmt.inference.export.ctranslate2.scored import agreement_of, make_batches
from zsnmt.inference.export.samples import Sample
from zsnmt.runs.folder import PIPELINE_FOLDER, piece_counts
from zsnmt.text.piece_counts import PIECE_COUNTS_FILE

NAME, MASK = "mask", Mask(renormalise=True)  # the name is that among agreements


def has_counts(engine: CTranslate2Engine) -> bool:
    """Whether an export knows the pieces of all its languages."""
    folders = (engine.folder, engine.folder / PIPELINE_FOLDER)
    if not any((folder / PIECE_COUNTS_FILE).is_file() for folder in folders):
        return False
    return {*engine.codec.languages} <= {*piece_counts(engine.folder)}


def check_mask(model: BaseFairseqModel, engine: CTranslate2Engine, chosen: Sequence[Sample]) -> Agreement:
    """The agreement of an export in float32 with PyTorch's search by the same mask; `InputError` if its
    log-probabilities or its best translations are others.
    """
    codec, counts, bundles = engine.codec, piece_counts(engine.folder), bundles_of(engine, chosen)
    masked = MaskEngine(engine, MASK, counts)
    packed = PyTorchEngine(model, codec.dictionary, codec.languages, search=engine.search)
    reference = MethodEngine(packed, Method(mask=MASK), penalties(MASK, counts, codec.dictionary))
    ours, theirs = (best_of(each, bundles) for each in (masked, reference))
    expected = [
        log_probabilities(model, bundle.sentences[0], best.tokens, among=masked.symbols[bundle.target])
        for bundle, best in zip(bundles, theirs)
    ]
    found = agreement_of(sum(scored(masked, bundles, theirs), []), sum(expected, []))
    found, apart = with_best(found, ours, theirs)
    refuse_others(found, apart, of="PyTorch's", by=" by a mask")
    return found


def check_mask_scores(engine: CTranslate2Engine, chosen: Sequence[Sample], noise: Agreement) -> None:
    """`InputError` for a quantised export whose scores by a mask, which it has from some rows of the output
    matrix, are farther from those by all rows than quantisation moves a log-probability.
    """
    masked, bundles = MaskEngine(engine, MASK, piece_counts(engine.folder)), bundles_of(engine, chosen)
    best = best_of(masked, bundles)
    by_all_rows = [engine.search.score(sum(each), len(each)) for each in scored(masked, bundles, best)]
    apart = agreement_of([each.score for each in best], by_all_rows).rms
    if not apart <= noise.rms:  # refuses NaN, too
        raise InputError(
            f"the export is deleted, since its scores by a mask are off by {apart:.2g} (root mean square), "
            f"more than the {noise.rms:.2g} of a stock model's log-probabilities; choose another "
            "--quantization"
        )


def bundles_of(engine: CTranslate2Engine, chosen: Sequence[Sample]) -> list[Bundle]:
    """The sentences of samples with the languages that they are translated into."""
    return [Bundle(engine.codec.target(sample.sentence), (sample.sentence,)) for sample in chosen]


def best_of(engine: Engine, bundles: Sequence[Bundle]) -> list[Hypothesis]:
    """The best translation of each bundle."""
    return [best for batch in engine.translate(make_batches(bundles)) for best, *_ in batch]


def scored(
    engine: MaskEngine, bundles: Sequence[Bundle], translations: Sequence[Hypothesis]
) -> list[list[float]]:
    """What the engine thinks of the tokens of a translation of each bundle."""
    return [
        values
        for places in make_batches(range(len(bundles)))
        for values in engine.log_probabilities(
            [bundles[place] for place in places], [translations[place].tokens for place in places]
        )
    ]
