"""What the server does for a request that was read: it translates and detects; it knows nothing of HTTP."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from itertools import chain, islice
from typing import Any

from zsnmt.documents.passages import Document
from zsnmt.documents.translation import refuse_other_target
from zsnmt.errors import InputError
from zsnmt.inference.translation import Translation
from zsnmt.languages import AUTO, Direction, check_known
from zsnmt.runs.ways import DIRECT
from zsnmt.serving.answers import Guess, answered, details, in_percent
from zsnmt.serving.batcher import Batcher, Job
from zsnmt.serving.detection import detect_all
from zsnmt.serving.errands import Errand, agreements, other_ways
from zsnmt.serving.limits import Limits
from zsnmt.serving.refusals import LATE, TOO_LARGE, Gone, Refused
from zsnmt.serving.requests import Asked, AskedDocument, Detection, File
from zsnmt.serving.systems import System
from zsnmt.serving.texts import SplitText, read, words, words_in
from zsnmt.serving.uploads import name_of_translation, read_upload

PORTIONS = 8  # a document has at most one part in so many of the queue
OF_DOCUMENTS = 0.5  # of the queue, beyond which none begins: the rest is for texts


class Service:
    """Systems by name, the first of which serves who names none, and the batcher that they share."""

    def __init__(self, systems: Mapping[str, System], limits: Limits, batcher: Batcher) -> None:
        self.systems, self.limits, self.batcher = systems, limits, batcher
        self.reading = asyncio.Semaphore(1)  # documents, which take most memory while they are read

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
        return [*map(in_percent, await asyncio.to_thread(detector.rank, asked.q))]

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
            check_known(named, system.languages)
            return [(named, 1.0)] * len(texts)
        found = await asyncio.to_thread(detect_all, self.detector(system), texts)
        if any(text.strip() and not of_text for text, of_text in zip(texts, found)):
            raise InputError(
                "nothing tells the language of the text; name the source: one of "
                f"{', '.join(system.languages)}"
            )
        return [of_text or (system.languages[0], 0.0) for of_text in found]  # any for an empty text

    # Translation

    async def translate(self, asked: Asked, gone: Callable[[], Awaitable[object]]) -> dict[str, Any]:
        """The answer to a request for translations, in LibreTranslate's form, with `details` on request.

        `gone` returns when the client does not wait any more. `Gone` then, `Refused` for what is too much or
        takes too long, and `InputError` for what cannot be translated.
        """
        system = self.system(asked.system)
        if asked.has_several_texts and asked.has_several_targets:
            raise InputError("'q' and 'target' are both arrays; send several texts, or several languages")
        self.check(asked.texts, len(asked.targets))
        texts = await asyncio.to_thread(lambda: [read(text, asked.format) for text in asked.texts])
        guesses = await self.sources(system, [*map(words, texts)], asked.source)
        errands = await asyncio.to_thread(self.errands, system, asked, zip(texts, guesses))
        others = other_ways(system, errands) if asked.agreement else {}
        job, variants = await self.variants(system, [*errands, *others.values()], asked.alternatives, gone)
        best = [best for best, *_ in variants[: len(errands)]]
        compared = zip(others, variants[len(errands) :], strict=True)
        pairs = [(best[place].text, other.text) for place, (other, *_) in compared]
        for place, score in zip(others, await asyncio.to_thread(agreements, pairs, asked.format)):
            best[place] = best[place]._replace(agreement=score)
        answer = answered(asked, guesses, best, less_good=[others for _, *others in variants[: len(errands)]])
        if asked.details:
            identified = await self.identified(system, [each.text for each in best], asked.format)
            answer["details"] = details(asked, job, errands, identified=identified)
        return answer

    async def translate_document(
        self, asked: AskedDocument, file: File, gone: Callable[[], Awaitable[object]]
    ) -> File:
        """A document in another language, with its name there, a portion at a time, for each of which there
        are `limits.seconds`; raises what `translate` does.
        """
        system = self.system(asked.system)
        async with self.reading:
            document = await asyncio.to_thread(read_upload, file, self.limits.upload)
        refuse_other_target(document, asked.target)
        text = words(document)
        self.check([text], characters=self.limits.document)
        guesses = await self.sources(system, [text], asked.source)
        (errand,) = await asyncio.to_thread(self.errands, system, asked, zip([document], guesses))
        journeys = await asyncio.to_thread(errand.journeys, system)
        found: list[list[Translation]] = []
        for start in range(0, len(journeys), portion := max(1, self.limits.queue // PORTIONS)):
            job = Job(system, journeys[start : start + portion])
            found += await self.answer(job, gone, share=math.inf if start else OF_DOCUMENTS)
        made = {line: best.text for line, (best, *_) in zip(errand.lines, found, strict=True)}
        content = await asyncio.to_thread(errand.text.content, made, asked.target)
        return File(name_of_translation(file.name, asked.target), content)

    async def variants(
        self,
        system: System,
        errands: Sequence[Errand],
        alternatives: int,
        gone: Callable[[], Awaitable[object]],
    ) -> tuple[Job, list[list[Translation]]]:
        """The job that did errands, and what each came back with: the best text and its alternatives."""
        journeys = await asyncio.to_thread(lambda: [errand.journeys(system) for errand in errands])
        job = Job(system, [*chain(*journeys)], alternatives)
        found = iter(await self.answer(job, gone))
        parts = [[*islice(found, len(of_errand))] for of_errand in journeys]
        return job, await asyncio.to_thread(lambda: [*map(Errand.best_texts, errands, parts)])

    def check(self, texts: Sequence[str], targets: int = 1, characters: int | None = None) -> None:
        """`Refused` for more than the server takes in a request, by default its limit of `characters`;
        `InputError` for what is not Unicode.
        """
        bound = self.limits.characters if characters is None else characters
        for size, most, what in (
            (sum(map(len, texts)), bound, "characters"),
            (max(len(texts), targets), self.limits.texts, "texts or languages"),
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

    def errands(
        self, system: System, asked: Asked | AskedDocument, texts: Iterable[tuple[Document, Guess]]
    ) -> list[Errand]:
        """What is to be done: each text into each language; a text found to be in it stays as it is."""
        errands, directly = [], asked.way == DIRECT.name
        for document, (source, _) in texts:
            text = SplitText.cut(document, source)
            for target in asked.targets:
                there = asked.source == AUTO and source == target
                way = system.way_of(asked.way, Direction(source, target))
                legs = () if there else system.legs(source, target, asked.via, way=way, directly=directly)
                errands.append(Errand(text, target, legs, way=way))
        return errands

    async def answer(
        self, job: Job, gone: Callable[[], Awaitable[object]], *, share: float = 1
    ) -> list[list[Translation]]:
        """What a job is answered, unless nobody waits or it takes too long; then it is given up. It finds
        room within a `share` of the queue.
        """
        self.batcher.submit(job, share=share)
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

    async def identified(self, system: System, texts: Sequence[str], form: str) -> list[str | None]:
        """In which of the system's languages the words of each text are, as far as that can be told."""
        detector = system.detector
        if detector is None:
            return [None] * len(texts)
        ranked = await asyncio.to_thread(lambda: [detector.rank(words_in(text, form)) for text in texts])
        return [of_text[0][0] if of_text else None for of_text in ranked]
