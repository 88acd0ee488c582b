"""What the server does for a request that was read: it translates and detects; it knows nothing of HTTP."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from zsnmt.errors import InputError
from zsnmt.languages import Direction
from zsnmt.serving.batcher import Batcher, Job
from zsnmt.serving.cuts import Cut, cut
from zsnmt.serving.detection import detect_all
from zsnmt.serving.limits import Limits
from zsnmt.serving.refusals import LATE, TOO_LARGE, Gone, Refused
from zsnmt.serving.requests import AUTO, Detection, Translation
from zsnmt.serving.systems import System

Guess = tuple[str, float]  # a language and how sure that is (0–1)
EACH = ("legs", "kinds", "identified")  # details of each translation


@dataclass(frozen=True)
class Errand:
    """A text in pieces, and the directions that it goes through: none if it is in the target language."""

    cut: Cut
    legs: tuple[Direction, ...]


class Service:
    """Systems by name, the first of which serves who names none, and the batcher that they share."""

    def __init__(self, systems: Mapping[str, System], limits: Limits, batcher: Batcher) -> None:
        self.systems, self.limits, self.batcher = systems, limits, batcher

    def system(self, name: str | None) -> System:
        """A system by its name; `InputError` for one that is not here."""
        if name is None:
            return next(iter(self.systems.values()))
        if name not in self.systems:
            raise InputError(f"there is no system '{name}'; choose one of: {'; '.join(self.systems)}")
        return self.systems[name]

    # Detection

    async def detect(self, asked: Detection) -> list[dict[str, Any]]:
        """The languages that a text may be in, the surest first."""
        self.check([asked.q])
        detector = self.detector(self.system(asked.system))
        return [*map(guess, await asyncio.to_thread(detector.rank, asked.q))]

    def detector(self, system: System) -> Any:
        """What tells the languages of a system apart; `InputError` where nothing does."""
        if system.detector is None:
            raise InputError(
                f"the languages of {system.name} cannot be told apart here; name the source: one of "
                f"{', '.join(system.languages)}"
            )
        return system.detector

    async def sources(self, system: System, texts: Sequence[str], named: str) -> list[Guess]:
        """The language of each text, as named or found; `InputError` for a text that says nothing of it."""
        if named != AUTO:
            return [(named, 1.0)] * len(texts)
        found = await asyncio.to_thread(detect_all, self.detector(system), texts)
        if any(text and not of_text for text, of_text in zip(texts, found)):
            raise InputError(
                "nothing tells the language of the text; name the source: one of "
                f"{', '.join(system.languages)}"
            )
        return [of_text or (system.languages[0], 0.0) for of_text in found]  # any for an empty text

    # Translation

    async def translate(self, asked: Translation, gone: Callable[[], Awaitable[object]]) -> dict[str, Any]:
        """The answer to a request for translations, in LibreTranslate's form, with `details` on request.

        `gone` returns when the client does not wait any more. `Gone` then, `Refused` for what is too much or
        takes too long, and `InputError` for what cannot be translated.
        """
        system, several = self.system(asked.system), not isinstance(asked.q, str)
        if several and not isinstance(asked.target, str):
            raise InputError("'q' and 'target' are both arrays; send several texts, or several languages")
        self.check(asked.texts, len(asked.targets))
        cuts = await asyncio.to_thread(lambda: [cut(text, asked.format) for text in asked.texts])
        guesses = await self.sources(system, ["\n".join(each.lines) for each in cuts], asked.source)
        errands = [
            Errand(of_text, self.legs(system, asked, source, target))
            for of_text, (source, _) in zip(cuts, guesses, strict=True)
            for target in asked.targets
        ]
        lines = [(line, errand.legs) for errand in errands for line in errand.cut.lines if errand.legs]
        job = Job(system, lines, asked.alternatives)
        found = iter(await self.answer(job, gone))
        variants = [self.variants(errand, found, 1 + asked.alternatives) for errand in errands]
        shape = list if several or not isinstance(asked.target, str) else itemgetter(0)
        answer: dict[str, Any] = {"translatedText": shape([best for best, *_ in variants])}
        if asked.source == AUTO:
            answer["detectedLanguage"] = (list if several else itemgetter(0))([*map(guess, guesses)])
        if asked.alternatives:
            answer["alternatives"] = shape([others for _, *others in variants])
        if asked.details:
            identified = await self.identified(system, [best for best, *_ in variants])
            answer["details"] = details(job, errands) | {"identified": identified}
            for name in EACH:
                answer["details"][name] = shape(answer["details"][name])
        return answer

    def check(self, texts: Sequence[str], targets: int = 1) -> None:
        """`Refused` for more than the server takes in a request, `InputError` for what is not Unicode."""
        characters, number = sum(map(len, texts)), max(len(texts), targets)
        for size, most, what in (
            (characters, self.limits.characters, "characters"),
            (number, self.limits.texts, "texts or languages"),
        ):
            if size > most:
                raise Refused(
                    TOO_LARGE,
                    f"the request has {size} {what}, and this server takes at most {most}; send less",
                )
        try:
            "".join(texts).encode()
        except UnicodeEncodeError:
            raise InputError("the text has half a character, which is not Unicode; send it whole") from None

    def legs(self, system: System, asked: Translation, source: str, target: str) -> tuple[Direction, ...]:
        """The directions of a text; none into the language that it was found to be in."""
        if asked.source == AUTO and source == target:
            return ()
        return system.legs(source, target, asked.via)

    async def answer(self, job: Job, gone: Callable[[], Awaitable[object]]) -> list[list[str]]:
        """What a job is answered, unless nobody waits or it takes too long; then it is given up."""
        self.batcher.submit(job)
        answer: asyncio.Future = asyncio.wrap_future(job.answer)
        left: asyncio.Future = asyncio.ensure_future(gone())
        try:
            await asyncio.wait(
                (answer, left), timeout=self.limits.seconds, return_when=asyncio.FIRST_COMPLETED
            )
            if answer.done():
                return answer.result()
            if left.done():
                raise Gone
            raise Refused(
                LATE,
                f"there was no translation after {self.limits.seconds:g} seconds; send less text, or later",
            )
        finally:
            left.cancel()
            self.batcher.drop(job)

    def variants(self, errand: Errand, found: Any, number: int) -> list[str]:
        """The translations of a text, best first, that differ."""
        if not errand.legs:
            return [errand.cut.filled(errand.cut.lines)]
        of_lines = [next(found) for _ in errand.cut.lines]
        most = min(number, max(map(len, of_lines), default=1))
        return [
            errand.cut.filled([each[min(rank, len(each) - 1)] for each in of_lines]) for rank in range(most)
        ]

    async def identified(self, system: System, texts: Sequence[str]) -> list[str | None]:
        """In which of the system's languages each text is, as far as that can be told."""
        detector = system.detector
        if detector is None:
            return [None] * len(texts)
        ranked = await asyncio.to_thread(lambda: [*map(detector.rank, texts)])
        return [of_text[0][0] if of_text else None for of_text in ranked]


def details(job: Job, errands: Sequence[Errand]) -> dict[str, Any]:
    """How texts were translated: `kinds` are those of their directions from end to end."""
    ends = [(errand.legs[0].source, errand.legs[-1].target) if errand.legs else None for errand in errands]
    return {
        "system": job.system.name,
        "seconds": round(job.seconds, 4),
        "legs": [[*map(str, errand.legs)] for errand in errands],
        "kinds": [job.system.kind(Direction(*pair)) if pair else None for pair in ends],
    }


def guess(found: Guess) -> dict[str, Any]:
    """A detected language in LibreTranslate's form, in percent."""
    language, sureness = found
    return {"language": language, "confidence": round(100 * sureness, 1)}
