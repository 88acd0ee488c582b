"""The demonstration on real text: Tatoeba in languages that a person names, as much as fits in a time."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from zsnmt.corpora.own_text.forms import read_tables
from zsnmt.corpora.own_text.survey import Survey, survey
from zsnmt.corpora.parallel_text import FEWEST_TO_TEST, pairs_of_split
from zsnmt.corpora.releases.catalogue import CATALOGUE
from zsnmt.corpora.releases.fetch import fetch, for_languages
from zsnmt.corpora.releases.tatoeba import read_release
from zsnmt.errors import InputError
from zsnmt.files.locks import locked
from zsnmt.files.replacing import replacing, replacing_folder
from zsnmt.languages import check_languages, supervised_directions
from zsnmt.runs.systems import BASELINE
from zsnmt.runs.time_left import duration
from zsnmt.training.config import Config
from zsnmt.training.machine import Machine, this_machine
from zsnmt.training.own_text import config_text, describe
from zsnmt.training.rule.model import Size, choose_model
from zsnmt.training.rule.schedule import FILLED, PIECES_OF_WORD, processing, schedule
from zsnmt.training.rule.text import choose_vocabulary
from zsnmt.training.rule.timed import FEWEST_TIMED_UPDATES, Work, choose_in_time, plan
from zsnmt.training.speed import update_seconds
from zsnmt.training.steps import Steps

PIVOT, CORPUS = "en", "tatoeba"
HELD_OUT = {"test": 300, "valid": 200}  # sentence pairs


def languages_of(named: Sequence[str]) -> list[str]:
    """The languages of the demonstration, the pivot first, whether it is named or not; `InputError` for
    fewer than two others.
    """
    languages = check_languages([PIVOT, *(language for language in named if language != PIVOT)])
    if len(languages) < 3:
        raise InputError(
            f"a direction without text needs two languages besides {PIVOT}; name two or more, as in "
            "--real pt ru"
        )
    return languages


def real_config(
    steps: Steps, runs: Path, languages: Sequence[str], *, minutes: float, given: Path | None, student: bool
) -> Path:
    """The config of the demonstration, made with its text unless it is there: as much of it as is trained
    and scored in so many minutes.

    The files of Tatoeba are kept in `runs`, taken from the folder `given` if there is one, else downloaded.
    Raises `InputError` for files that cannot be had, and for languages between which nobody translated enough
    to test on.
    """
    name = "_".join([CORPUS, *languages[1:]])
    file, folder = runs / f"{name}.conf", runs / name
    with locked(folder, steps.say):
        text = folder / "source"
        steps.make(
            folder,
            "source",
            text,
            work=partial(
                make_text, steps, runs / f"{CORPUS}_release", text, languages=languages, given=given
            ),
            settings={"languages": languages, **HELD_OUT},
        )
        if file.exists():
            steps.say(f"the config is {file}, made before; to have another chosen, remove it and {folder}")
        else:
            make_config(steps, file, text, languages=languages, minutes=minutes, student=student)
    return file


@contextmanager
def silence(logger: logging.Logger) -> Iterator[None]:
    """Only warnings of a logger, within the block."""
    before = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(before)


def make_text(
    steps: Steps, release: Path, text: Path, *, languages: Sequence[str], given: Path | None
) -> None:
    """Fetch the files of some languages, and write their sentences as parallel text."""
    corpus = for_languages(CATALOGUE[CORPUS], languages)
    steps.say(f"{corpus.licence}; see {corpus.homepage}")
    fetch(corpus, release, languages, given=given)
    with silence(logging.getLogger("zsnmt.corpora")), replacing_folder(text) as part:
        read_release(release, part, languages, **HELD_OUT)
        if len(pairs_of_split(part, "test", languages)) < len(languages):  # only those with the pivot
            raise InputError(
                f"between {', '.join(languages[1:])} fewer than {FEWEST_TO_TEST} sentences of a pair were "
                "translated directly, so that no direction without text can be tested; name other languages"
            )


def make_config(
    steps: Steps, file: Path, text: Path, *, languages: Sequence[str], minutes: float, student: bool
) -> None:
    """Write the config of as much of a text as is trained and scored in so many minutes, and say what it is
    and what it takes.
    """
    machine, found = this_machine(), survey(read_tables(text, ""), languages)
    tested = 2 * (len(pairs_of_split(text, "test", languages)) - len(languages) + 1)
    trained = len(supervised_directions(languages, PIVOT))
    work = Work(trained, tested, lines=HELD_OUT["test"], student=student)
    steps.say("measuring how long an update of the training takes on this machine")
    chosen = plan(found, machine, work, seconds=60 * minutes, update=partial(measure_update, found, machine))
    choice = choose_in_time(found, machine, chosen)
    for sentence in (describe(found), *choice.reasons):
        steps.say(sentence)
    if chosen.seconds > 60 * minutes:
        steps.say(f"{duration(60 * minutes)} is too little: this takes {duration(chosen.seconds)} at least")
    head = f"What zsnmt demo --real chose for {minutes:g} minutes of this machine."
    settings = {"TEXT": str(text.resolve()), "LANGUAGES": " ".join(languages), **choice.settings}
    with replacing(file) as written:
        written.write(config_text(head, [describe(found), *choice.reasons], settings).encode("utf-8"))


def measure_update(text: Survey, machine: Machine, size: Size) -> float:
    """The seconds of an update of the baseline, on sentences as long as those of the text."""
    options = f"{choose_model(text, machine, size).settings['MODEL']} {processing(machine)}"
    return update_seconds(
        BASELINE.name,
        [*options.split(), *schedule(size, FEWEST_TIMED_UPDATES).split()],
        vocabulary=int(choose_vocabulary(text).settings["VOCABULARY"]),
        pieces=1 + round(PIECES_OF_WORD * text.words / (2 * sum(text.pairs.values()))),
        tokens=round(FILLED * size.batch),
    )


def teacher_lines(config: Config) -> int | None:
    """How many lines of each direction the teacher translates: as many in all as there are sentence pairs;
    None where the config does not bound these.
    """
    return -(-max(config.pairs.values()) // (len(config.languages) - 2)) if config.pairs else None
