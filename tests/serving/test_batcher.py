"""The thread that translates: what it takes together, in which order, and what becomes of faults."""

import math
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError

import pytest

from tests.support.serving import ToldTranslator, told_system, wait_until
from zsnmt.languages import Direction
from zsnmt.serving.batcher import Batcher, Job, Journey
from zsnmt.serving.limits import Limits
from zsnmt.serving.metrics import Metrics
from zsnmt.serving.refusals import Refused

INTO_DE = (Direction("en", "de"),)
SYSTEM = told_system()


@pytest.fixture
def translator() -> ToldTranslator:
    return ToldTranslator()


@pytest.fixture
def batcher(translator) -> Iterator[Batcher]:
    """One that takes four lines together and holds twelve."""
    made = Batcher(Limits(batch=4, queue=12, gather=0), Metrics())
    yield made
    translator.go.set()
    made.close()
    assert made.lines == 0 and not made.jobs


@pytest.fixture
def job(translator):
    """Makes a job of some texts."""
    system = told_system("told", translator)
    return lambda *texts, legs=INTO_DE, **others: Job(
        system, [Journey(text, legs) for text in texts], **others
    )


def texts_of(job: Job, seconds: float = 60) -> list[list[str]]:
    """The texts of its answer, for which there is so much time."""
    return [[each.text for each in of_line] for of_line in job.answer.result(seconds)]


def held(batcher, job, translator) -> Job:
    """A job that is being translated until the translator may go."""
    waiting = job("wait")
    batcher.submit(waiting)
    wait_until(lambda: translator.batches == [["wait"]])
    return waiting


def test_a_job_is_answered_in_its_order(batcher, job):
    texts = [f"text {number}" for number in range(10)]
    batcher.submit(made := job(*texts))
    assert texts_of(made) == [[f"en-de: {text}"] for text in texts]
    assert made.seconds > 0


def test_a_job_without_lines_is_answered_at_once(batcher, job):
    batcher.submit(made := job())
    assert texts_of(made, 0) == []


def test_jobs_that_wait_are_translated_together_in_turn(batcher, job, translator):
    held(batcher, job, translator)
    long, short, other = job(*"abcdef"), job("x"), job("y", "z")
    for each in (long, short, other):
        batcher.submit(each)
    translator.go.set()
    assert [len(each.answer.result(60)) for each in (long, short, other)] == [6, 1, 2]
    assert translator.batches[1:] == [["a", "x", "y", "b"], ["z", "c", "d", "e"], ["f"]]


def test_an_idle_thread_waits_a_moment_for_more(job, translator):
    batcher = Batcher(Limits(gather=60_000, batch=3), Metrics())
    jobs = [job(text) for text in "abc"]
    for each in jobs:
        batcher.submit(each)  # the third fills the batch, so that it begins
    assert [texts_of(each) for each in jobs] == [[[f"en-de: {text}"]] for text in "abc"]
    assert translator.batches == [["a", "b", "c"]]
    batcher.submit(last := job("d"))
    batcher.close()  # which ends the waiting, too
    assert texts_of(last, 0) == [["en-de: d"]]


def test_a_line_goes_through_all_its_legs_and_other_translations_are_of_the_last(batcher, job):
    legs = (Direction("de", "en"), Direction("en", "fr"))
    batcher.submit(made := job("a", "b", legs=legs, alternatives=1))
    assert texts_of(made) == [[f"en-fr: de-en: {text}", f"en-fr+: de-en: {text}"] for text in ("a", "b")]


def test_a_line_that_came_through_another_language_has_the_tokens_of_both_translations(batcher, job):
    legs = (Direction("de", "en"), Direction("en", "fr"))
    batcher.submit(made := job("a", legs=legs, alternatives=1))
    ((best, other),) = made.answer.result(60)
    assert best.tokens == len("de-en: a") + len("en-fr: de-en: a") == other.tokens - 1
    assert best.log_probability == -best.tokens / 4


def test_lines_by_a_method_are_translated_by_it_and_apart(batcher, translator):
    by_mask = ToldTranslator()
    system = told_system("told", translator, mask=by_mask)
    batcher.submit(waiting := Job(system, [Journey("wait", INTO_DE)]))
    wait_until(lambda: translator.batches == [["wait"]])
    batcher.submit(
        made := Job(system, [Journey("a", INTO_DE), Journey("b", INTO_DE, "mask"), Journey("c", INTO_DE)])
    )
    translator.go.set()
    assert len(made.answer.result(60)) == 3 and waiting.answer.result(60)
    assert translator.batches[1:] == [["a", "c"]] and by_mask.batches == [["b"]]


def test_systems_are_not_mixed(batcher, job, translator):
    held(batcher, job, translator)
    other = ToldTranslator()
    mine, theirs = job("a", "b"), Job(told_system("other", other), [Journey("c", INTO_DE)])
    batcher.submit(mine)
    batcher.submit(theirs)
    translator.go.set()
    assert len(mine.answer.result(60)) == 2 and texts_of(theirs) == [["en-de: c"]]
    assert translator.batches[1:] == [["a", "b"]] and other.batches == [["c"]]


def test_a_fault_stays_with_its_job(batcher, job, translator):
    held(batcher, job, translator)
    good, bad = job("a", "b"), job("c", "fail")
    batcher.submit(good)
    batcher.submit(bad)
    translator.go.set()
    assert texts_of(good) == [["en-de: a"], ["en-de: b"]]
    with pytest.raises(Refused) as refused:
        bad.answer.result(60)
    assert refused.value.status == 500
    batcher.drop(bad)


def test_what_finds_no_room_is_refused_and_room_comes_back(batcher, job, translator):
    waiting = held(batcher, job, translator)
    batcher.submit(others := job(*"abcdefghijk"))
    for texts, status in (("m", 503), ("abcdefghijklm", 413)):
        with pytest.raises(Refused) as refused:
            batcher.submit(job(*texts))
        assert refused.value.status == status
    batcher.drop(others)
    batcher.submit(again := job(*"abcdefghijk"))
    translator.go.set()
    assert len(again.answer.result(60)) == 11 and waiting.answer.result(60)


def test_what_was_let_in_goes_on_however_many_wait(batcher, job, translator):
    held(batcher, job, translator)
    batcher.submit(job(*"abcdefghijk"))
    with pytest.raises(Refused):
        batcher.submit(job("m"))
    batcher.submit(further := job("m", "n"), share=math.inf)
    translator.go.set()
    assert len(further.answer.result(60)) == 2


def test_what_has_a_share_of_the_queue_leaves_the_rest_to_others(batcher, job, translator):
    held(batcher, job, translator)
    batcher.submit(job(*"abcde"), share=0.5)
    with pytest.raises(Refused, match="6 lines wait to be translated; ask again in a moment"):
        batcher.submit(job("f"), share=0.5)
    batcher.submit(other := job(*"ghijkl"))
    translator.go.set()
    assert len(other.answer.result(60)) == 6


def test_a_job_that_was_given_up_is_not_translated(batcher, job, translator):
    held(batcher, job, translator)
    batcher.submit(given_up := job("a", "b"))
    batcher.drop(given_up)
    batcher.submit(last := job("c"))
    translator.go.set()
    assert texts_of(last) == [["en-de: c"]] and translator.batches[1:] == [["c"]]
    with pytest.raises(CancelledError):
        given_up.answer.result(0)


def test_a_job_that_is_given_up_while_it_is_translated_frees_its_place(batcher, job, translator):
    waiting = held(batcher, job, translator)
    batcher.drop(waiting)
    assert batcher.lines == 1
    translator.go.set()
    wait_until(lambda: batcher.lines == 0)


def test_a_job_that_was_given_up_goes_on_no_further_leg(batcher, job, translator):
    batcher.submit(given_up := job("wait", legs=(Direction("de", "en"), Direction("en", "fr"))))
    wait_until(lambda: translator.batches == [["wait"]])
    cancel = given_up.answer.cancel

    def cancel_late() -> bool:
        translator.go.set()
        time.sleep(0.2)  # in which the thread would send the line on its next leg
        return cancel()

    given_up.answer.cancel = cancel_late
    batcher.drop(given_up)
    wait_until(lambda: batcher.lines == 0)
    assert translator.batches == [["wait"]]


def test_a_closed_batcher_finishes_what_it_has_and_takes_no_more(job, translator):
    batcher = Batcher(Limits(batch=2, gather=0), Metrics())
    legs = (Direction("de", "en"), Direction("en", "fr"))
    batcher.submit(made := job(*"abcde", legs=legs))
    batcher.close()
    assert len(made.answer.result(0)) == 5 and all(each[0].text.startswith("en-fr") for each in made.found)
    with pytest.raises(Refused) as refused:
        batcher.submit(job("f"))
    assert refused.value.status == 503
