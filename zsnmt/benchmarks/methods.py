"""What methods of translation cost: several sources or tags for one output, and masks."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import torch

from zsnmt.benchmarks.paired import paired_times, ratio_rows
from zsnmt.benchmarks.sizes import SHARE
from zsnmt.benchmarks.subjects import Subject, into_one_language, random_subject
from zsnmt.decoding.methods.bundle import Bundle
from zsnmt.decoding.methods.engine import MethodEngine
from zsnmt.decoding.methods.kinds import Contrast, Ensemble
from zsnmt.decoding.methods.settings import Mask, Method
from zsnmt.decoding.methods.vocabulary import penalties
from zsnmt.decoding.pytorch_engine import PyTorchEngine
from zsnmt.decoding.search import Engine, Hypothesis, Sentence
from zsnmt.languages import language_tag
from zsnmt.processes import used_seconds

VOTE, AVERAGE, CONTRAST, MASK, MASK_ALONE = (
    Method(Ensemble()),
    Method(Ensemble(by="average")),
    Method(Contrast()),
    Method(mask=Mask()),
    Method(mask=Mask(renormalise=True)),
)


def methods(size: str, lines: int, beam: int, batch: int, rounds: int) -> Iterator[str]:
    """Searches by each method against the direct one, all into one language, by one thread, in processor's
    seconds; what an ensemble's other sources cost is not counted.
    """
    torch.set_num_threads(1)
    subject = into_one_language(random_subject(size, beam, lines), SHARE)
    engine = PyTorchEngine(
        subject.model, subject.codec.dictionary, subject.codec.languages, search=subject.search
    )
    direct = "direct"
    jobs: dict[str, Callable[[], object]] = {direct: partial(run, engine, subject.sentences, batch)}
    for title, (method, bundles) in bundles_of(subject).items():
        masks = None
        if method.mask:
            masks = penalties(method.mask, subject.counts or {}, subject.codec.dictionary)
        jobs[title] = partial(run, MethodEngine(engine, method, masks), bundles, batch)
    times = paired_times(jobs, rounds, used_seconds)
    yield f"\n{subject.about}: {lines} sentences, beam {beam}, batches of {batch}, {rounds} rounds:\n"
    yield from ratio_rows(times, direct, "the direct search")


def run(engine: Engine, given: Sequence[Sentence | Bundle], batch: int) -> list[list[list[Hypothesis]]]:
    """Everything translated, in batches."""
    return [*engine.translate(given[place : place + batch] for place in range(0, len(given), batch))]


def bundles_of(subject: Subject) -> dict[str, tuple[Method, list[Bundle]]]:
    """The sentences with what each method reads beside them: sources of their own length, or other tags."""
    sentences, codec = subject.sentences, subject.codec
    tags = [codec.dictionary.index(language_tag(language)) for language in codec.languages]
    # EOS stays at the end.
    turned = [sentence.source[-2::-1] + sentence.source[-1:] for sentence in sentences]

    def bundle(place: int, *others: Sentence, weights: tuple[float, ...] = ()) -> Bundle:
        language = codec.languages[tags.index(sentences[place].start)]
        return Bundle(language, (sentences[place], *others), weights)

    def several(number: int) -> list[Bundle]:
        return [
            bundle(place, *[sentence._replace(source=turned[place])] * (number - 1))
            for place, sentence in enumerate(sentences)
        ]

    def contrasted(languages: int, *sources: float) -> list[Bundle]:
        bundles = []
        for place, sentence in enumerate(sentences):
            others = [tag for tag in tags if tag != sentence.start][:languages]
            into = [sentence._replace(start=tag) for tag in others]
            beside = [sentences[place - 1]._replace(start=sentence.start)] * len(sources)
            bundles.append(bundle(place, *into, *beside, weights=(*[0.1] * languages, *sources)))
        return bundles

    return {
        "ensemble of two sources": (VOTE, several(2)),
        "ensemble of three sources": (VOTE, several(3)),
        "average of two sources": (AVERAGE, several(2)),
        "contrast with one language": (CONTRAST, contrasted(1)),
        "contrast with two languages": (CONTRAST, contrasted(2)),
        "contrast with two languages and a source": (CONTRAST, contrasted(2, 0.7)),
        "mask": (MASK, [bundle(place) for place in range(len(sentences))]),
        "mask that renormalises": (MASK_ALONE, [bundle(place) for place in range(len(sentences))]),
    }
