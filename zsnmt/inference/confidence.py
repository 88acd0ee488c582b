"""How sure translations are: the probability that the model gives them, and their agreement with what comes
another way.
"""

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from zsnmt.errors import InputError
from zsnmt.inference.translation import Legs, Translation
from zsnmt.inference.translator import Translator
from zsnmt.processes import Progress, unheard

if TYPE_CHECKING:
    from sacrebleu.metrics import CHRF


def scored_lines(
    translator: Translator,
    lines: Sequence[str],
    legs: Legs,
    *,
    agreement: bool = False,
    first_line: int | None = 1,
    finished: Progress = unheard,
) -> list[Translation]:
    """Lines of one language, translated; see `Translator.translate`.

    With `agreement` also the `other_way`, where there is one, and how the two agree.
    """
    other = other_way(translator, legs) if agreement else None

    def told(number: float) -> None:
        finished(number / 2 if other else number)

    translations = translator.translate_with_scores(
        lines, legs.target, legs.source, via=legs.via, first_line=first_line, finished=told
    )
    if other is None:
        return translations
    others = translator.direct.translate(
        lines, other.target, other.source, via=other.via, first_line=first_line, finished=told
    )
    return [
        each._replace(agreement=agreement_score(each.text, text))
        for each, text in zip(translations, others, strict=True)
    ]


def other_way(translator: Translator, legs: Legs) -> Legs | None:
    """What a translation is compared with: the one through the pivot, or, of one that goes through a
    language, the direct one. None where the pivot is its source or target.
    """
    if legs.via is not None:
        return legs._replace(via=None)
    return None if translator.pivot in (legs.source, legs.target) else legs._replace(via=translator.pivot)


def check_scores(translator: Translator, legs: Legs, agreement: bool) -> None:
    """`InputError` for translations that have no probability, and for those that have no other way or cannot
    be compared with it.
    """
    if translator.method and not translator.method.kind.has_probabilities:
        raise InputError(
            f"a {translator.method.name} ranks by differences of probabilities, and has none of its "
            "translations; leave out --scores and --nbest, or --way"
        )
    if agreement:
        chrf()
    if agreement and other_way(translator, legs) is None:
        raise InputError(
            f"a translation from or into {translator.pivot}, the pivot, has no other way to agree with; "
            "leave out --agreement"
        )


def agreement_score(translation: str, other: str) -> float | None:
    """Sentence chrF (0–100, by sacreBLEU) of a translation against another one as its reference; None where
    neither says anything.
    """
    if not translation.strip() and not other.strip():
        return None
    return chrf().sentence_score(translation, [other]).score


@functools.cache
def chrf() -> "CHRF":
    """sacreBLEU's chrF; `InputError` without sacreBLEU, which a light installation may lack."""
    try:
        from sacrebleu.metrics import CHRF
    except ImportError:
        raise InputError("the agreement needs sacrebleu; install it with pip install sacrebleu") from None
    return CHRF()
