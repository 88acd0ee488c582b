"""The one thread that translates: lines of all requests together, those of long requests in turn."""

import logging
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from itertools import groupby
from operator import attrgetter
from threading import Condition, Thread
from typing import NamedTuple

from zsnmt.inference.translation import Translation
from zsnmt.inference.translator import Line
from zsnmt.languages import Direction
from zsnmt.serving.limits import Limits
from zsnmt.serving.metrics import Metrics
from zsnmt.serving.refusals import BUSY, FAILED, TOO_LARGE, Refused, stopping
from zsnmt.serving.systems import System

logger = logging.getLogger(__name__)


class Journey(NamedTuple):
    """A line, the directions that it goes through, the method that it is translated by, if any, and what
    that reads beside it.
    """

    text: str
    legs: tuple[Direction, ...]
    way: str | None = None
    companion: str = ""


class Job:
    """Lines of a request for one system. `answer` becomes the translations of each line, best first;
    `seconds` are those of the batches that had a line of it.
    """

    def __init__(self, system: System, lines: Sequence[Journey], alternatives: int = 0) -> None:
        self.system, self.number = system, 1 + alternatives
        self.found: list[list[Translation]] = [[] for _ in lines]
        self.waiting = deque(Task(self, place, line) for place, line in enumerate(lines))
        self.unfinished, self.seconds = len(lines), 0.0
        self.answer: Future[list[list[Translation]]] = Future()
        if not lines:
            self.answer.set_result([])


class Task(NamedTuple):
    """A line of a job, its place there, where it still goes, and the translation that it is, if any."""

    job: Job
    place: int
    journey: Journey
    made: Translation = Translation("")

    @property
    def line(self) -> Line:
        """What is translated next; of a language on the way, one translation."""
        text, legs, _, companion = self.journey
        return Line(text, legs[0], number=1 if legs[1:] else self.job.number, companion=companion)

    @property
    def group(self) -> tuple[str, str]:
        """What is translated together: tasks of a system and a method."""
        return self.job.system.name, self.journey.way or ""

    def further(self, translation: Translation) -> "Task":
        """The task when its next direction is done."""
        journey = self.journey._replace(text=translation.text, legs=self.journey.legs[1:])
        return Task(self.job, self.place, journey, made=translation.add_first_leg(self.made))


class Batcher:
    """Translates jobs in a thread of its own, until it is closed.

    A batch has a line of each job in turn until it is full. An idle thread waits a moment for more jobs
    before it begins. A batch that fails is translated line by line, so that a fault stays with its job.
    """

    def __init__(self, limits: Limits, metrics: Metrics) -> None:
        self.limits, self.metrics = limits, metrics
        self.jobs: deque[Job] = deque()  # those with a line that waits
        self.lines = 0  # that wait or are being translated
        self.changed, self.closing = Condition(), False
        self.thread = Thread(target=self.run, name="translator", daemon=True)
        self.thread.start()

    @property
    def is_working(self) -> bool:
        """Whether it takes jobs and translates them."""
        return self.thread.is_alive() and not self.closing

    def submit(self, job: Job, *, share: float = 1) -> None:
        """Queue a job; `Refused` where its lines find no room within this share of the queue, above 1 for
        what goes on with what was let in.
        """
        number = len(job.waiting)
        with self.changed:
            if number > self.limits.queue:
                raise Refused(
                    TOO_LARGE,
                    f"the request has {number} lines to translate, and this server takes at most "
                    f"{self.limits.queue}; send fewer at a time",
                )
            if self.closing:
                raise stopping()
            if self.lines and self.lines + number > share * self.limits.queue:
                raise Refused(BUSY, f"{self.lines} lines wait to be translated; ask again in a moment")
            if number:
                self.jobs.append(job)
                self.count(number)
                self.changed.notify_all()

    def drop(self, job: Job) -> None:
        """Give up a job: what is not being translated already never will be."""
        with self.changed:
            self.count(-len(job.waiting))
            job.waiting.clear()
            with suppress(ValueError):
                self.jobs.remove(job)
            job.answer.cancel()  # before the lock is free: else a line might still go on its next leg

    def close(self) -> None:
        """Take no more jobs, and wait until those that are there are done."""
        with self.changed:
            self.closing = True
            self.changed.notify_all()
        self.thread.join()

    def count(self, change: int) -> None:
        """So many lines more than before."""
        self.lines += change
        self.metrics.queue.set(self.lines)

    # In the thread

    def run(self) -> None:
        """Translate batch after batch."""
        while batch := self.take():
            batch.sort(key=attrgetter("group"))
            for _, tasks in groupby(batch, key=attrgetter("group")):
                self.translate([*tasks])

    def take(self) -> list[Task]:
        """The lines to translate next; none when the batcher is closed and all is done."""
        with self.changed:
            while not self.jobs:
                if self.closing:
                    return []
                self.changed.wait()
                self.changed.wait_for(self.is_full, timeout=self.limits.gather / 1000)
            batch: list[Task] = []
            while self.jobs and len(batch) < self.limits.batch:
                job = self.jobs.popleft()
                batch.append(job.waiting.popleft())
                if job.waiting:
                    self.jobs.append(job)
            return batch

    def is_full(self) -> bool:
        """Whether nothing is gained by waiting for more jobs."""
        return self.closing or self.lines >= self.limits.batch

    def translate(self, tasks: Sequence[Task]) -> None:
        """Translate lines of one system, and hand the translations to their jobs."""
        system, begin = tasks[0].job.system, time.perf_counter()
        found: Sequence[list[Translation] | None]
        try:
            translator = system.translator_by(tasks[0].journey.way)
            found = translator.n_best([task.line for task in tasks])
        except Exception:
            found = [None] * len(tasks)
            logger.exception("%d lines could not be translated together by %s", len(tasks), system.name)
        if None in found and tasks[1:]:
            for task in tasks:
                self.translate([task])
            return
        seconds = time.perf_counter() - begin
        self.metrics.lines.labels(system.name).inc(len(tasks))
        self.metrics.batches.labels(system.name).observe(len(tasks))
        self.metrics.work.labels(system.name).inc(seconds)
        for job in {id(task.job): task.job for task in tasks}.values():
            job.seconds += seconds
        with self.changed:
            for task, translations in zip(tasks, found, strict=True):
                self.finish(task, translations)

    def finish(self, task: Task, translations: Sequence[Translation] | None) -> None:
        """Note the translations of a line, None where there are none, or send it on its next leg."""
        job = task.job
        if translations and task.journey.legs[1:] and not job.answer.done():
            if not job.waiting:
                self.jobs.append(job)
            job.waiting.append(task.further(translations[0]))
            return
        self.count(-1)
        job.unfinished -= 1
        job.found[task.place] = [each.add_first_leg(task.made) for each in translations or []]
        with suppress(InvalidStateError):  # of a job that was given up
            if translations is None:
                job.answer.set_exception(
                    Refused(FAILED, "the translation failed; the log of the server says why")
                )
            elif not job.unfinished:
                job.answer.set_result(job.found)
