"""The rule for a demonstration that ends in a given time."""

from dataclasses import replace

import pytest

from zsnmt.corpora.own_text.survey import Survey
from zsnmt.training.fairseq_options import training_options
from zsnmt.training.machine import Machine
from zsnmt.training.rule.model import SIZES
from zsnmt.training.rule.timed import (
    FEWEST_TIMED_UPDATES,
    LEAST,
    STUDENT,
    Plan,
    Work,
    choose_in_time,
    limit_of,
    make_plan,
    plan,
)

TEXT = Survey(
    ("en", "pt", "ru"),
    {"en-pt": 12_000, "en-ru": 20_000},
    words=400_000,
    different_words=30_000,
    characters=120,
    scripts={"en": "Latin", "pt": "Latin", "ru": "Cyrillic"},
)
LAPTOP = Machine(cores=2, memory=16)
WORK = Work(trained=4, tested=2, lines=300, student=True)
UPDATE = {SIZES[0]: 0.04, SIZES[1]: 0.2}  # seconds


def chosen(minutes: float, text: Survey = TEXT, machine: Machine = LAPTOP, work: Work = WORK) -> Plan:
    return plan(text, machine, work, seconds=60 * minutes, update=UPDATE.__getitem__)


def test_what_is_planned_fits_in_the_time_and_more_does_not():
    plans = [chosen(minutes) for minutes in (15, 20, 25, 30)]
    for minutes, each in zip((15, 20, 25, 30), plans):
        longer = make_plan(
            TEXT, LAPTOP, WORK, size=each.size, updates=each.updates + 100, update=UPDATE[each.size]
        )
        assert each.seconds <= 60 * minutes < longer.seconds
    assert [each.updates for each in plans] == sorted({each.updates for each in plans})
    assert [each.share for each in plans] == sorted(each.share for each in plans)


def test_plenty_of_time_has_all_text_and_the_updates_of_the_rule():
    each = chosen(24 * 60)
    assert each.share == 1 and each.size == SIZES[1]
    assert 0 <= each.updates - 10 * 400_000 * 2 / (0.85 * 1800) < 100


def test_little_time_has_a_smaller_model_and_too_little_the_least_of_it():
    assert chosen(30).size == SIZES[1] and chosen(30).updates >= FEWEST_TIMED_UPDATES
    assert chosen(5).size == SIZES[0] and chosen(5).seconds <= 300
    assert chosen(0.1).size == SIZES[0] and chosen(0.1).updates == LEAST and chosen(0.1).seconds > 6


def test_one_core_has_half_the_time_and_no_student_leaves_more():
    one, without = replace(LAPTOP, cores=1), replace(WORK, student=False)
    updates = [chosen(25, machine=one).updates, chosen(25).updates, chosen(25, work=without).updates]
    assert updates == sorted({*updates})


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 1])
def test_the_bound_of_a_pair_leaves_the_share_of_all(share):
    text = replace(TEXT, pairs={"en-pt": 3000, "en-ru": 900, "en-fi": 10_000})
    limit = limit_of(text, share)
    assert sum(min(number, limit) for number in text.pairs.values()) == pytest.approx(share * 13_900, abs=3)


def test_fairseq_reads_the_schedule_and_ends_at_its_updates():
    each = chosen(20)
    settings = choose_in_time(TEXT, LAPTOP, each).settings
    own = f"{settings['MODEL']} {settings['TRAINING']}"
    options = training_options("zs_transformer", own.split())
    assert options.max_update == int(options.total_num_update) == each.updates and options.patience == -1
    student = training_options("zs_transformer", f"{own} {settings['DISTILLATION']}".split())
    assert student.max_update == int(student.total_num_update) == round(STUDENT * each.updates)
    assert student.lr[0] < options.lr[0] and student.max_epoch == 0 and student.patience == -1
    assert int(settings["PAIRS"]) < 20_000 and settings["BEAM"] == "1"


def test_the_reasons_say_what_all_takes():
    each = chosen(20)
    reasons = choose_in_time(TEXT, LAPTOP, each).reasons
    assert any(f"All takes about {round(each.seconds / 60)} min on 2 cores" in reason for reason in reasons)
