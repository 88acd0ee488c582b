"""The answer to a request for translations, in LibreTranslate's form."""

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

from zsnmt.inference.translation import Translation, figures
from zsnmt.languages import AUTO, Direction
from zsnmt.serving.batcher import Job
from zsnmt.serving.errands import Errand
from zsnmt.serving.requests import Asked

Guess = tuple[str, float]  # a language and how sure that is (0–1)
first: Callable[[Sequence], Any] = itemgetter(0)


def answered(
    asked: Asked,
    guesses: Sequence[Guess],
    best: Sequence[Translation],
    *,
    less_good: Sequence[Sequence[Translation]],
) -> dict[str, Any]:
    """What a request asks for, from the language of each text, and the best translation and the others of
    each text into each language.
    """
    shape = shape_of(asked)
    answer: dict[str, Any] = {"translatedText": shape([each.text for each in best])}
    if asked.source == AUTO:
        answer["detectedLanguage"] = (list if asked.has_several_texts else first)([*map(in_percent, guesses)])
    if asked.alternatives:
        answer["alternatives"] = shape([[each.text for each in others] for others in less_good])
    if asked.confidence or asked.agreement:
        answer["confidence"] = shape([figures(each, asked.agreement) for each in best])
    return answer


def details(
    asked: Asked, job: Job, errands: Sequence[Errand], *, identified: Sequence[str | None]
) -> dict[str, Any]:
    """How texts were translated: `kinds` are those of their directions from end to end, and `identified` is
    the language that each translation looks like.
    """
    shape = shape_of(asked)
    ends = [(errand.legs[0].source, errand.legs[-1].target) if errand.legs else None for errand in errands]
    return {
        "system": job.system.name,
        "seconds": round(job.seconds, 4),
        "legs": shape([[*map(str, errand.legs)] for errand in errands]),
        "kinds": shape([job.system.kind(Direction(*pair)) if pair else None for pair in ends]),
        "ways": shape([errand.way for errand in errands]),
        "identified": shape(identified),
    }


def shape_of(asked: Asked) -> Callable[[Sequence], Any]:
    """What a request for several translations has as an array, and a request for one as it is."""
    return list if asked.has_several_texts or asked.has_several_targets else first


def in_percent(guess: Guess) -> dict[str, Any]:
    """A detected language in LibreTranslate's form."""
    language, sureness = guess
    return {"language": language, "confidence": round(100 * sureness, 1)}
