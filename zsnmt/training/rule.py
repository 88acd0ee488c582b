"""The rule that chooses model, vocabulary, batch and schedule for a text and a machine; docs/own_text.md
gives it in words.

Its figures are those of configs that were trained: tatoeba.conf (a million words) and word_orders.conf on a
CPU, and on a GPU the papers' iwslt17.conf (16 million) and europarl_full.conf (400 million), which have the
largest sizes and the schedule of Liu et al. (2021, section 3.2).
"""

import math
from collections import Counter
from dataclasses import dataclass, replace

from zsnmt.corpora.cleaning import ALL_RULES
from zsnmt.corpora.own_text.held_out import set_size
from zsnmt.corpora.own_text.survey import Survey
from zsnmt.languages import LANGUAGE_OF
from zsnmt.training.machine import Machine

HELD_OUT = 500  # sentence pairs of a set, as of Tatoeba's test sets
LITTLE_TEXT = 200_000  # words: with 55,000 a model did not learn to translate, with 320,000 it did
MOST_PIECES = 40_000  # of the papers' vocabularies
PIECES_BY_ROOT = 5.5  # a million words give 5,500 pieces besides the characters, 16 million 22,000
PIECES_OF_WORD = 2  # of short text with such a vocabulary, about: what is known of it before it is made
FILLED = 0.85  # of a batch, since sentences are of unlike lengths
EPOCHS, FEWEST_UPDATES = 18, 3600  # in which the learning rate falls, to the end of the training
UPDATES_OF_VALIDATION = 100  # at least so many are between two
RATE_BY_WIDTH = 0.32  # a model of width 128 learns at 0.0025, one of 64 at 0.005
STUDENTS_RATE = 0.6  # of its teacher's learning rate
DEEPER = 2  # times as many encoder layers has a student, which are cheap when it translates
LITTLE_TEXTS_DROPOUT = 0.1  # at least; a model that reads little text knows it by heart sooner
MOST_OF_STUDENTS_DROPOUT = 0.05  # they have more sentences than their teacher
LEAST_TOKENS = 600  # of a batch where several processes share an update: a sentence must fit into it
TOKENS_OF_UPDATE = 28_672  # of the papers' schedule, on how many batches ever
TOKENS_BY_GIGABYTE = 3584 / 11  # of a batch: the papers' on a GPU of 11 GB
EVALUATED_BY_PIECES = "subwords"  # sacreBLEU's 13a does not cut scripts without spaces


@dataclass(frozen=True)
class Size:
    """A size of model: from how many words of training text, both sides counted, it is for, and what it
    needs.

    `batch`: tokens of a batch on a CPU, 0 for a model that only a GPU trains. `memory` is in GB.
    """

    words: int
    encoder_layers: int
    decoder_layers: int
    width: int
    heads: int
    dropout: float
    batch: int
    memory: float

    def __str__(self) -> str:
        return f"{self.encoder_layers}+{self.decoder_layers} layers of width {self.width}"


SIZES = (
    Size(0, 5, 2, width=64, heads=2, dropout=0.1, batch=600, memory=0.5),
    Size(30_000, 5, 2, width=128, heads=4, dropout=0.05, batch=1800, memory=1),
    Size(3_000_000, 5, 2, width=256, heads=4, dropout=0.1, batch=3600, memory=3),
    Size(10_000_000, 5, 5, width=512, heads=8, dropout=0.2, batch=0, memory=6),
    Size(40_000_000, 8, 8, width=512, heads=8, dropout=0.2, batch=0, memory=8),
)


@dataclass(frozen=True)
class Choice:
    """What the rule chose: settings of a config by key, and a sentence on each thing and why."""

    settings: dict[str, str]
    reasons: list[str]

    def __or__(self, other: "Choice") -> "Choice":
        return Choice(self.settings | other.settings, self.reasons + other.reasons)


def because(reason: str, **settings: str) -> Choice:
    """Settings of a config, if there are any, for one reason."""
    return Choice(settings, [reason])


NOTHING = Choice({}, [])
BEST_ALONE = because(
    "The model is the best checkpoint alone: when the learning rate has fallen, a mean with earlier "
    "checkpoints is no better.",
    AVERAGE="1",
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


def choose_size(words: int, machine: Machine) -> Size:
    """The largest size that a text has the words for, and the machine the memory and the processor."""
    room = machine.gpu or machine.memory * 7 / 8  # `kernel_limit` leaves the rest to compiled kernels
    able = [size for size in SIZES if size.memory <= room and (machine.gpu or size.batch)]
    return max((size for size in able if size.words <= words), key=SIZES.index, default=SIZES[0])


def choose_held_out(text: Survey) -> Choice:
    """Held-out sets of its own for a text without."""
    if not text.lacking:
        return because("The validation and test sets are those of the text.")
    kinds = " and ".join({"valid": "validation", "test": "test"}[split] for split in text.lacking)
    numbers = sorted(set_size(lines, HELD_OUT) for lines in text.pairs.values())
    shown = f"{numbers[0]:,}" if numbers[0] == numbers[-1] else f"{numbers[0]:,} to {numbers[-1]:,}"
    return because(
        f"The text lacks {kinds} sets, so {shown} sentence pairs of each pair of languages are held out "
        "for each such set: always the same ones, which training text does not have.",
        HELD_OUT=str(HELD_OUT),
    )


def warn_of_little(text: Survey) -> Choice:
    """What to expect of text that is hardly enough to learn to translate."""
    if text.words >= LITTLE_TEXT:
        return NOTHING
    return because(
        f"{text.words:,} words are little text. With 55,000 words in nine languages a model learned "
        "next to nothing (about 1 BLEU); with 320,000 words in four languages it learned to translate "
        "(23 BLEU with the pivot)."
    )


def warn_of_countries(text: Survey) -> Choice:
    """Codes of countries in the place of languages: identification would not know them."""
    wrong = [f"{code} is {LANGUAGE_OF[code]}" for code in text.languages if code in LANGUAGE_OF]
    if not wrong:
        return NOTHING
    return because(
        f"These are codes of countries, as a language {', '.join(wrong)}: change "
        "them in the text, in the names of files or where a table or memory has them."
    )


def choose_cleaning() -> Choice:
    """All rules: what people have is seldom clean."""
    return because(
        "Training pairs that are empty, copies, too long, of unlike lengths, in another language, or "
        "there before will be left out; cleaning.tsv in the text of the runs will list them.",
        CLEANING=str(ALL_RULES),
    )


def choose_vocabulary(text: Survey) -> Choice:
    """Pieces by the root of the words, besides the characters."""
    pieces = rounded_up(text.characters + pieces_by_words(text.words, text.different_words))
    return because(
        f"The vocabulary has {pieces:,} pieces, for {text.words:,} words of training text in "
        f"{text.characters:,} characters; SentencePiece cuts raw text in {scripts_of(text)}.",
        VOCABULARY=str(pieces),
    )


def pieces_by_words(words: float, different: float) -> float:
    """How many pieces so many words, some of them different, call for besides the characters."""
    return min(PIECES_BY_ROOT * math.sqrt(words), different, MOST_PIECES)


def rounded_up(number: float) -> int:
    """A number with two digits that are not 0."""
    unit = 10 ** max(0, len(str(int(number))) - 2)
    return math.ceil(number / unit) * unit


def scripts_of(text: Survey) -> str:
    scripts = [*dict.fromkeys(text.scripts.values())]
    return f"the {'scripts' if len(scripts) > 1 else 'script'} {', '.join(scripts)}"


def choose_scoring(text: Survey) -> Choice:
    """BLEU over pieces where 13a would take a sentence for a word, and languages by the words of their
    training text where py3langid, which does not know some, would have to tell them from others.
    """
    choice = NOTHING
    if text.unspaced:
        choice |= because(
            f"BLEU counts pieces, for {', '.join(text.unspaced)} has no spaces between words.",
            BLEU_TOKENIZER=EVALUATED_BY_PIECES,
        )
    if unknown := unidentified(text):
        choice |= because(
            f"py3langid does not know {', '.join(unknown)}, so translations in a wrong language "
            "are found by the words of the training text. If a code is not that of ISO 639-1, "
            "change it in the text: in the names of files, or where a table or memory has it.",
            IDENTIFIER="lexicon",
        )
    return choice


def unidentified(text: Survey) -> list[str]:
    """The languages that py3langid does not know, and that their script does not tell from the others."""
    from zsnmt.scoring.language_identification import all_languages  # takes a while to load

    scripts, known = Counter(text.scripts.values()), {*all_languages().labels}
    return [
        language
        for language in text.languages
        if language not in known and scripts[text.scripts.get(language, "")] != 1
    ]


def choose_model(text: Survey, machine: Machine, size: Size) -> Choice:
    sides = (("encoder", size.encoder_layers), ("decoder", size.decoder_layers))
    options = [f"--{side}-layers {layers}" for side, layers in sides]
    for name, value in (
        ("embed-dim", size.width),
        ("ffn-embed-dim", 4 * size.width),
        ("attention-heads", size.heads),
    ):
        options += [f"--{side}-{name} {value}" for side, _ in sides]
    options += dropout_options(dropout_of(text, size))
    larger = SIZES[SIZES.index(size) + 1 :]
    held_back = bool(larger) and larger[0].words <= text.words
    bound = f"; more text than {larger[0].words:,} words would have a larger model" if larger else ""
    if held_back:
        bound = "; the words would do for a larger model, which the machine is too small for"
    return because(
        f"The model has {size}, for {text.words:,} words and {machine}{bound}.", MODEL=" ".join(options)
    )


def dropout_of(text: Survey, size: Size) -> float:
    return max(size.dropout, LITTLE_TEXTS_DROPOUT) if text.words < LITTLE_TEXT else size.dropout


def dropout_options(dropout: float) -> list[str]:
    return [f"--{kind}dropout {dropout:g}" for kind in ("", "attention-", "activation-")]


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
