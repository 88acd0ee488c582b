"""A config for a person's own text in languages that join a run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from zsnmt.adaptation.joined_text import new_languages
from zsnmt.adaptation.modes import FROZEN
from zsnmt.adaptation.rule import Base, choose
from zsnmt.corpora.own_text.forms import read_tables
from zsnmt.corpora.own_text.survey import Survey
from zsnmt.errors import InputError
from zsnmt.languages import read_languages
from zsnmt.runs.folder import CONFIG_FILE, PIPELINE_FOLDER
from zsnmt.training.config import Config
from zsnmt.training.config_file import ConfigFile, keys_of
from zsnmt.training.machine import Machine
from zsnmt.training.own_text import OwnText, Purpose, config_file, ensure_config
from zsnmt.training.rule.choice import Choice
from zsnmt.training.team import Team

KEPT = (
    "TOKENISATION",
    "TRANSLITERATE",
    "SUBWORD_TYPE",
    "BEAM",
    "LENGTH_PENALTY",
    "LENGTH_PENALTY_FORM",
    "PRECISION",
    "TEST_LINES",
    "IDENTIFIER",
    "BLEU_TOKENIZER",
    "NORMALISE_REFERENCES",
)  # settings of the run's config that hold for a language that joins, too


def ensure_added_config(
    text: OwnText,
    file: Path | None,
    variables: Mapping[str, str],
    *,
    run: Path,
    mode: str,
    share: float,
    with_copy: str,
    runs: Path,
    say: Callable[[str], object],
    team: Team = Team(),
) -> Path:
    """Make the config of a text of which the languages that a run lacks join it, unless it is there, as
    `ensure_config` does; returns where it is. Both modes have one of their own, since their schedules differ.
    `share` (0–1): of the pairs that are trained on, those with a new language, where everything is trained.
    `with_copy`: the command that trains a copy of the config.

    Raises `InputError` besides for text without the run's pivot, and without a new language.
    """
    text = named(text, read_languages(run / PIPELINE_FOLDER))
    if file is None:
        file = config_file(text, runs)
        file = file.with_stem(f"{file.stem}_{mode}") if mode == FROZEN else file
    rule = partial(choose_by_run, run=run, mode=mode, share=share, variables=variables)
    purpose = Purpose("zsnmt adapt", with_copy, rule, has_model=False)
    ensure_config(text, file, variables, runs=runs, say=say, team=team, purpose=purpose)
    return file


def named(text: OwnText, known: Sequence[str]) -> OwnText:
    """A text with the languages that join a run, which knows some: those that are named, or all that the
    training text has and the run lacks, the run's pivot first.
    """
    languages = text.languages
    if not languages:
        tables = read_tables(text.path, text.pattern)
        there = {language for table in tables if table.split == "train" for language in table.languages}
        if known[0] not in there:
            raise InputError(
                f"{text.path} has training text in {', '.join(sorted(there))}, and none in {known[0]}, the "
                f"run's pivot; a language joins the run by text with {known[0]}"
            )
        languages = (known[0], *sorted(there - {known[0]}))
    new = new_languages(languages, known)
    return replace(text, languages=(known[0], *new))


def choose_by_run(
    text: Survey,
    machine: Machine,
    processes: int,
    *,
    run: Path,
    mode: str,
    share: float,
    variables: Mapping[str, str],
) -> Choice:
    """What the rule chooses for a text by what it knows of the run; machine and processes are the run's."""
    return keep_settings(run, variables) | choose(text, Base.of(run), mode, share=share)


def keep_settings(run: Path, variables: Mapping[str, str]) -> Choice:
    """What the config of a run says of `KEPT`."""
    file = ConfigFile(run / CONFIG_FILE, keys_of(Config), variables)
    kept = {key: value for key in KEPT if (value := file.value(key))}
    if not kept:
        return Choice({}, [])
    said = ", ".join(f"{key}={value}" for key, value in kept.items())
    return Choice(
        kept,
        [
            f"As in the config of the run: {said}. So the new language is treated like the others, and "
            "scores of before and after can be compared."
        ],
    )
