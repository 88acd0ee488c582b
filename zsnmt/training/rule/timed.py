"""The rule for a demonstration that must end in a given time: how much of a text, and which model.

It is that of `zsnmt.training.rule.whole`, but for the amount of text and the end of the training, which is at
a fixed update. What everything takes is reckoned from the seconds of an update, measured on the machine.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil

from zsnmt.corpora.own_text.survey import Survey
from zsnmt.runs.time_left import duration
from zsnmt.training.machine import Machine
from zsnmt.training.rule.choice import Choice, because
from zsnmt.training.rule.model import SIZES, Size, choose_model, choose_size
from zsnmt.training.rule.schedule import (
    BEST_ALONE,
    RATE_BY_WIDTH,
    explain_processing,
    processing,
    schedule,
    seldom,
    updates_of_epoch,
)
from zsnmt.training.rule.text import choose_scoring, choose_vocabulary

TIMED_EPOCHS, FEWEST_TIMED_UPDATES = 10, 2000  # of a training, whose text is as much as goes with them
LEAST = 100  # updates, however little time there is
STUDENT = 0.4  # of the updates of its teacher
# Of the learning rate, as its training is short; STUDENTS_RATE of the rule is of a long one.
STUDENT_RATE = 0.4
# What is not in the measured update, all found with the demonstration on Tatoeba.
START = 40  # seconds of a training until its first update and after its last one, and of its data
IN_TRAINING = 1.4  # an update in a training: batches of many shapes, reading, validation
TRANSLATION_COST = 0.5  # a sentence translated greedily, by one that is trained on


@dataclass(frozen=True)
class Work:
    """What a demonstration does besides training two systems: it scores so many `trained` directions, and as
    many as are `tested` of those without text, `lines` lines each, and may teach a `student`.
    """

    trained: int
    tested: int
    lines: int
    student: bool


@dataclass(frozen=True)
class Plan:
    """A number of updates with a size of model, how much of the text goes with them (its share, 0–1), and
    what they take in seconds.
    """

    size: Size
    updates: int
    share: float
    seconds: float


def plan(
    text: Survey, machine: Machine, work: Work, *, seconds: float, update: Callable[[Size], float]
) -> Plan:
    """The longest training of the largest size that ends in so many seconds, with everything else.

    `update` measures the seconds of an update with a size. A size that cannot have 2,000 updates in the time
    gives way to a smaller one; the smallest has a hundred at least, whatever the time.
    """
    largest = choose_size(text.words, machine)
    able = [size for size in SIZES[: SIZES.index(largest) + 1] if size.batch]
    for size in reversed(able):
        measured = update(size)
        enough = 100 * ceil(
            max(FEWEST_TIMED_UPDATES, TIMED_EPOCHS * updates_of_epoch(text.words, size.batch)) / 100
        )
        plans = [
            make_plan(text, machine, work, size=size, updates=updates, update=measured)
            for updates in range(LEAST, enough + 1, 100)
        ]
        within = [each for each in plans if each.seconds <= seconds] or plans[:1]
        if within[-1].updates >= FEWEST_TIMED_UPDATES or size == able[0]:
            return within[-1]
    raise AssertionError("no size is the smallest")


def make_plan(text: Survey, machine: Machine, work: Work, *, size: Size, updates: int, update: float) -> Plan:
    """What so many updates go with, and take, where an update takes `update` seconds."""
    epoch = updates_of_epoch(text.words, size.batch)
    share = min(1.0, max(updates, FEWEST_TIMED_UPDATES) / (TIMED_EPOCHS * epoch))
    pairs = share * sum(text.pairs.values())
    # A sentence is trained on twice in an epoch, as source and as target.
    sentence = update * epoch / (2 * sum(text.pairs.values())) * TRANSLATION_COST
    of_system = sentence * work.lines * (work.trained + work.tested)
    pivot = sentence * work.lines * work.tested
    at_once = min(2, machine.cores)
    training = START + IN_TRAINING * update * updates
    if work.student:
        teaching = START + IN_TRAINING * update * updates * STUDENT + sentence * pairs
        scoring = (2 * of_system + pivot, teaching)
        total = 2 * training / at_once + (max(scoring) if at_once > 1 else sum(scoring)) + of_system
    else:
        total = 2 * training / at_once + 2 * (of_system + pivot) / at_once
    return Plan(size, updates, share=share, seconds=total)


def choose_in_time(text: Survey, machine: Machine, chosen: Plan) -> Choice:
    """The settings of an experiment by a plan, but for where its text is."""
    limit = limit_of(text, chosen.share)
    taken = {pair: min(number, limit) for pair, number in text.pairs.items()}
    share = sum(taken.values()) / sum(text.pairs.values())
    used = replace(text, pairs=taken, words=round(share * text.words))
    amount = because(
        f"All takes about {duration(chosen.seconds)} on {machine}, by the time of an update as measured, "
        f"with at most {limit:,} sentence pairs of each pair, {used.words:,} words.",
        PAIRS=str(limit),
    )
    return (
        amount
        | choose_vocabulary(used)
        | choose_scoring(used)
        | choose_model(used, machine, chosen.size)
        | timed_training(used, machine, chosen)
        | because("Translations are made by the best piece at each step, a beam of 1.", BEAM="1")
    )


def limit_of(text: Survey, share: float) -> int:
    """How many sentence pairs each pair may have at most, for this share of all."""
    wanted, left, limit = share * sum(text.pairs.values()), len(text.pairs), 0.0
    for number in sorted(text.pairs.values()):
        limit = wanted / left
        if number >= limit:
            break
        wanted, left = wanted - number, left - 1
        limit = number
    return max(1, round(limit))


def timed_training(text: Survey, machine: Machine, chosen: Plan) -> Choice:
    """The schedule that ends at the updates of a plan, and that of a student."""
    size, updates, taught = chosen.size, chosen.updates, round(STUDENT * chosen.updates)
    epoch = updates_of_epoch(text.words, size.batch)
    rate = RATE_BY_WIDTH / size.width * STUDENT_RATE
    training = f"{processing(machine)} {schedule(size, updates)} --max-update {updates}{seldom(epoch)}"
    student = (
        f"--lr {rate:g} --warmup-updates {taught // 20} --end-learning-rate {rate / 50:g} "
        f"--total-num-update {taught} --max-update {taught} --max-epoch 0 --patience -1"
    )
    schedules = because(
        f"A batch has {size.batch:,} tokens; the learning rate falls for {updates:,} updates, about "
        f"{updates / epoch:.0f} epochs, and the training ends; that of a student has {taught:,}.",
        TRAINING=training,
        DISTILLATION=student,
    )
    return schedules | explain_processing(machine) | BEST_ALONE
