"""The schedule for a text, a model and a machine: of a small model on a few cores, or that of the papers."""

import math
from dataclasses import replace

from zsnmt.corpora.own_text.survey import Survey
from zsnmt.training.machine import Machine
from zsnmt.training.rule.choice import Choice, because
from zsnmt.training.rule.model import Size, dropout_of, dropout_options

PIECES_OF_WORD = 2  # of short text with such a vocabulary, about: what is known of it before it is made
FILLED = 0.85  # of a batch, since sentences are of unlike lengths
EPOCHS, FEWEST_UPDATES = 18, 3600  # in which the learning rate falls, to the end of the training
UPDATES_OF_VALIDATION = 100  # at least so many are between two
RATE_BY_WIDTH = 0.32  # a model of width 128 learns at 0.0025, one of 64 at 0.005
STUDENTS_RATE = 0.6  # of its teacher's learning rate
DEEPER = 2  # times as many encoder layers has a student, which are cheap when it translates
MOST_OF_STUDENTS_DROPOUT = 0.05  # they have more sentences than their teacher
LEAST_TOKENS = 600  # of a batch where several processes share an update: a sentence must fit into it
TOKENS_OF_UPDATE = 28_672  # of the papers' schedule, on how many batches ever
TOKENS_BY_GIGABYTE = 3584 / 11  # of a batch: the papers' on a GPU of 11 GB
BEST_ALONE = because(
    "The model is the best checkpoint alone: when the learning rate has fallen, a mean with earlier "
    "checkpoints is no better.",
    AVERAGE="1",
)


def choose_training(text: Survey, machine: Machine, size: Size, processes: int) -> Choice:
    """The schedule of a small model: the learning rate falls to the end of the training, which validation may
    end before.
    """
    batch = max(math.ceil(size.batch / processes), LEAST_TOKENS if processes > 1 else 0)
    size = replace(size, batch=processes * batch)
    of_epoch = updates_of_epoch(text.words, size.batch)
    updates = max(100, round(max(EPOCHS * of_epoch, FEWEST_UPDATES), -2))
    shared = f"--update-freq {processes} " if processes > 1 else ""
    options = schedule(replace(size, batch=batch), updates)
    options += f" {shared}--max-update {updates:.0f} --patience 3{seldom(of_epoch)}"
    each = f"An update has {processes} batches of" if processes > 1 else "A batch has"
    student = because(
        "A student that zsnmt distill teaches has as many updates, twice as many encoder layers, a lower "
        f"learning rate and a dropout of at most {MOST_OF_STUDENTS_DROPOUT}, and learns word by word what "
        "its teacher says; that takes one and a half times to twice as long.",
        DISTILLATION=students_training(text, size, updates),
        STUDENT_LAYERS=str(DEEPER * size.encoder_layers),
        WORD_LEVEL="1",
    )
    training = because(
        f"{each} {batch:,} tokens; the learning rate falls for {updates:,.0f} updates, about "
        f"{updates / of_epoch:.0f} epochs, and the training ends then, or when three validations have "
        "brought nothing.",
        TRAINING=f"{processing(machine)} {options}",
    )
    return training | explain_processing(machine, processes) | student | BEST_ALONE


def students_training(text: Survey, size: Size, updates: float) -> str:
    """The options of a student, whose epochs are twice as long, with as much synthetic as authentic text.

    It learns more sentences than its teacher and needs less dropout; beginning with the teacher's weights,
    it needs a lower learning rate.
    """
    rate, warmup = STUDENTS_RATE * RATE_BY_WIDTH / size.width, max(50, round(updates / 50, -2))
    patience = max(2, round(UPDATES_OF_VALIDATION / updates_of_epoch(text.words, size.batch)))
    dropout = dropout_options(min(dropout_of(text, size), MOST_OF_STUDENTS_DROPOUT))
    return (
        f"--lr-scheduler polynomial_decay --lr {rate:g} --warmup-updates {warmup:.0f} "
        f"--end-learning-rate {rate / 75:g} --total-num-update {updates:.0f} --max-update {updates:.0f} "
        f"--max-epoch 0 --patience {patience} {' '.join(dropout)}"
    )


def updates_of_epoch(words: float, tokens: int) -> float:
    """About how many updates of so many tokens a text with so many words takes."""
    return max(1.0, words * PIECES_OF_WORD / (FILLED * tokens))


def schedule(size: Size, updates: float) -> str:
    """The options of a training whose learning rate falls in so many updates."""
    rate = RATE_BY_WIDTH / size.width
    return (
        "--adam-betas (0.9,0.98) --adam-eps 1e-9 --clip-norm 0 --lr-scheduler polynomial_decay "
        f"--lr {rate:g} --warmup-updates {max(100, round(updates / 9, -2)):.0f} "
        f"--end-learning-rate {rate / 50:g} --total-num-update {updates:.0f} --label-smoothing 0.1 "
        f"--max-tokens {size.batch}"
    )


def seldom(of_epoch: float) -> str:
    """The options that validate after several epochs, where one is short."""
    return f" {interval_options(of_epoch)}" if epochs_between(of_epoch) > 1 else ""


def interval_options(of_epoch: float) -> str:
    """The options that validate after as many epochs as make enough updates."""
    between = epochs_between(of_epoch)
    return f"--validate-interval {between} --save-interval {between}"


def epochs_between(of_epoch: float) -> int:
    """How many epochs of so many updates are between two validations."""
    return max(1, round(UPDATES_OF_VALIDATION / of_epoch))


def processing(machine: Machine) -> str:
    """The options that compute the same in less time, in the precision that the machine is made for."""
    fast = "--optimizer fused_adam --criterion chunked_label_smoothed_cross_entropy"
    if machine.gpu:
        return f"{fast} --fp16"
    return f"{fast} --fast-training --cpu-bf16" if machine.bfloat16 else f"{fast} --fast-training"


def explain_processing(machine: Machine, processes: int = 1) -> Choice:
    """On what the training computes, and in which precision."""
    if machine.gpu:
        return because(
            "The training computes on the GPU, in float16, with the weights kept in float32 (--fp16)."
        )
    precision = (
        "bfloat16 where that is safe" if machine.bfloat16 else "float32: the processor has no bfloat16"
    )
    cores = machine.cores
    where = f"one of {cores} cores (--processes {cores} gives it all)" if cores > 1 else "one core"
    if processes > 1:
        where = f"{processes} cores, one for each process"
    return because(f"The training computes on {where}, in {precision}.")


def papers_training(machine: Machine, processes: int) -> Choice:
    """The schedule of Liu et al. (2021), its batch divided into as many as the memory of the GPU asks for and
    the processes can share.
    """
    batches = math.ceil(TOKENS_OF_UPDATE / (TOKENS_BY_GIGABYTE * machine.gpu))
    batches = processes * math.ceil(batches / processes)
    tokens = TOKENS_OF_UPDATE // batches
    options = (
        "--optimizer adam --adam-betas (0.9,0.98) --adam-eps 1e-9 --clip-norm 0 --lr-scheduler inverse_sqrt "
        "--lr 0.000988212 --warmup-updates 8000 --warmup-init-lr 0 --criterion label_smoothed_cross_entropy "
        f"--label-smoothing 0.1 --max-tokens {tokens} --update-freq {batches} --max-epoch 64 --patience 10 "
        "--fp16"
    )
    training = because(
        f"An update has {batches} batches of {tokens:,} tokens, for the memory of the GPU; schedule and size "
        "are those of Liu et al. (2021), and the training ends when ten validations have brought nothing.",
        TRAINING=options,
    )
    student = because(
        "A student that zsnmt distill or direct teaches is as deep as its teacher and does not learn word by "
        "word: none of this size was trained here. Before the first training STUDENT_LAYERS and WORD_LEVEL "
        "can be set for both, as docs/distillation.md says under Much text."
    )
    return training | explain_processing(machine) | student
