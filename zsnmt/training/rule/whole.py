"""The rule that chooses model, vocabulary, batch and schedule for a text and a machine; docs/own_text.md
gives it in words.

Its figures are those of configs that were trained: tatoeba.conf (a million words) and word_orders.conf on a
CPU, and on a GPU the papers' iwslt17.conf (16 million) and europarl_full.conf (400 million), which have the
largest sizes and the schedule of Liu et al. (2021, section 3.2).
"""

from zsnmt.corpora.own_text.survey import Survey
from zsnmt.training.machine import Machine
from zsnmt.training.rule.choice import Choice
from zsnmt.training.rule.model import choose_model, choose_size
from zsnmt.training.rule.schedule import choose_training, papers_training
from zsnmt.training.rule.text import (
    choose_cleaning,
    choose_held_out,
    choose_scoring,
    choose_vocabulary,
    warn_of_countries,
    warn_of_little,
)


def choose(text: Survey, machine: Machine, processes: int = 1) -> Choice:
    """The settings of an experiment, but for where its text is, which so many processes can share."""
    size = choose_size(text.words, machine)
    return (
        choose_held_out(text)
        | warn_of_little(text)
        | warn_of_countries(text)
        | choose_cleaning()
        | choose_vocabulary(text)
        | choose_scoring(text)
        | choose_model(text, machine, size)
        | (
            choose_training(text, machine, size, processes=processes)
            if size.batch
            else papers_training(machine, processes)
        )
    )
