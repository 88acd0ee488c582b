"""A config for a person's own text: made once, by the rule, and kept to be edited and repeated."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import wrap

from zsnmt.corpora.own_text.forms import notices, read_tables
from zsnmt.corpora.own_text.languages import choose_languages
from zsnmt.corpora.own_text.survey import Survey, survey
from zsnmt.errors import InputError
from zsnmt.files.names import is_plain
from zsnmt.files.replacing import replacing
from zsnmt.runs.folder import check_place
from zsnmt.training.config import Config, read_config
from zsnmt.training.machine import Machine, this_machine
from zsnmt.training.rule.choice import Choice
from zsnmt.training.rule.whole import choose
from zsnmt.training.team import Team, shared_updates

COLUMNS = 110
SHOWN = 5  # pairs, of those that are not trained
UNQUOTED = re.compile(r"[^\s\"';&|<>()`#]*")
# In the value of a config; also bytes of a name that are not UTF-8, as Python has them.
MEANINGFUL = re.compile(r"[\"$`\\\x00-\x1f\x7f\ud800-\udfff]|^~")


COPY = "COPY.conf"  # a config that a person has copied, where a command is printed
Rule = Callable[[Survey, Machine, int], Choice]  # what is chosen for a text, a machine and so many processes


@dataclass(frozen=True)
class Purpose:
    """What the config of a text is made for: the command, the words in which it takes a config in place of
    the text, the rule by which it chooses, and whether that chooses a model.
    """

    command: str
    with_config: str
    rule: Rule
    has_model: bool


TRAIN = Purpose("zsnmt train", f"zsnmt train {COPY}", choose, has_model=True)


@dataclass(frozen=True)
class OwnText:
    """Where a person's text is, and what is said of it besides: the pattern of its files' names, the
    languages to train, and whether rows in several languages train all pairs of them.
    """

    path: Path
    pattern: str = ""
    languages: tuple[str, ...] = ()
    all_pairs: bool = False

    @property
    def settings(self) -> dict[str, str]:
        """What the text is, as a config says it."""
        further = {"PATTERN": self.pattern, "ALL_PAIRS": "yes" if self.all_pairs else ""}
        return {"TEXT": str(self.path.resolve()), **{key: value for key, value in further.items() if value}}


def config_file(text: OwnText, runs: Path) -> Path:
    """Where the config of a text is kept unless another file is named: beside its runs, by its name.

    Raises `InputError` for a name that no experiment can have.
    """
    name = text.path.resolve().stem if text.path.is_file() else text.path.resolve().name
    if not is_plain(name):
        raise InputError(
            f"'{name}' cannot name an experiment; say where its config is to be by --config FILE"
        )
    return runs / f"{name}.conf"


def ensure_config(
    text: OwnText,
    file: Path,
    variables: Mapping[str, str],
    *,
    runs: Path,
    say: Callable[[str], object],
    team: Team = Team(),
    purpose: Purpose = TRAIN,
) -> None:
    """Make the config of a text, for the processes that are to train, unless it is there, and say what was
    chosen and why.

    Raises `InputError` for a config that is there and is of another text, for runs of another config of that
    name, for runs that fairseq could not read, and for text that cannot be trained on.
    """
    check_place(runs / file.stem)
    if file.exists():
        config = read_config(file, variables)
        if follow_text(text, file, config):
            say(f"the text was at {config.text}; {file} now says that it is at {text.path.resolve()}")
            config = read_config(file, variables)
        check_same(text, file, config)
        check_purpose(config, file, purpose)
        say(f"the config is {file}, made before; to choose anew, remove {made_by(file, runs)}")
        say_what_is_left_out(text, config, say)
        check_shared(config, file, runs=runs, team=team)
        return
    if (runs / file.stem).exists():
        raise InputError(
            f"{runs / file.stem} has runs of another {file.name}; give this config another name by --config "
            "FILE"
        )
    if strange := [value for value in text.settings.values() if MEANINGFUL.search(value)]:
        raise InputError(
            f"'{strange[0]}' cannot stand in a config, which is UTF-8 and in which quotes, $, `, \\ and a "
            "first ~ have a meaning; rename it"
        )
    say(f"reading {text.path}")
    tables = read_tables(text.path, text.pattern)
    for notice in notices(text.path, tables, text.pattern):
        say(notice)
    found = survey(tables, choose_languages(tables, text.languages), all_pairs=text.all_pairs)
    machine = this_machine()
    if team.gpus is False:
        machine = replace(machine, gpu=0)
    choice = purpose.rule(found, machine, team.size)
    for sentence in (describe(found), *choice.reasons):
        say(sentence)
    head = f"What {purpose.command} chose for this text and machine, by the rule of docs/own_text.md."
    write_config(file, text, found, choice=choice, head=head)
    say(
        f"the config is {file}, which you may change before the training; after it, change a copy of another "
        f"name, and then: {purpose.with_config}"
    )


def say_what_is_left_out(text: OwnText, config: Config, say: Callable[[str], object]) -> None:
    """Say which languages of a text a config does not name, and what is noticed of its files; nothing where
    the text cannot be read as it was any more, which the training says.
    """
    with suppress(InputError):
        tables = read_tables(text.path, pattern := text.pattern or config.pattern)
        for notice in notices(text.path, tables, pattern):
            say(notice)
        there = dict.fromkeys(code for table in tables if table.split == "train" for code in table.languages)
        added = [code for code in there if code not in config.languages]
        if added and not text.languages:
            say(f"the text also has {', '.join(added)}, which the config leaves out")


def follow_text(text: OwnText, file: Path, config: Config) -> bool:
    """Let a config name the new place of a text that was moved, where one of its name took the place of one
    that is not there any more; whether it did.
    """
    place = Path(config.text)
    if not config.text or place.exists() or place.name != text.path.resolve().name:
        return False
    before, now = (setting_line("TEXT", where) for where in (config.text, text.settings["TEXT"]))
    content = file.read_text(encoding="utf-8")
    if before not in content:  # as a person wrote it
        return False
    with replacing(file) as written:
        written.write(content.replace(before, now).encode("utf-8"))
    return True


def check_same(text: OwnText, file: Path, config: Config) -> None:
    """`InputError` if a config is not of this text."""
    if config.text != text.settings["TEXT"]:
        raise InputError(
            f"{file} is of another text, {config.text or 'which it makes'}; say by --config FILE where the "
            f"config of {text.path} is to be"
        )
    for option, given, kept in (
        ("--pattern", text.pattern, config.pattern),
        ("--languages", " ".join(text.languages), " ".join(config.languages)),
        ("--all-pairs", "yes" if text.all_pairs else "", "yes" if config.all_pairs else ""),
    ):
        if given and given != kept:
            raise InputError(
                f"{file} was made with {option} {kept or 'left out'}, not {given}; give the config of these "
                "another name by --config FILE"
            )


def check_purpose(config: Config, file: Path, purpose: Purpose) -> None:
    """`InputError` for a config that another command has made of the same text."""
    if bool(config.model) != purpose.has_model:
        sets, makes = ("sets", "without") if config.model else ("does not set", "with")
        raise InputError(
            f"{file} {sets} MODEL, and {purpose.command} makes configs {makes} it: another command made it "
            "of this text; give the config of this one another name by --config FILE"
        )


def check_shared(config: Config, file: Path, *, runs: Path, team: Team) -> None:
    """`InputError` if a config was made for fewer processes than are to train."""
    try:
        shared_updates(config.training, team.size)
    except InputError as error:
        raise InputError(
            f"{file} was made for another number of processes. To choose anew for {team.size}, remove "
            f"{made_by(file, runs)}, and run this command again. Otherwise: {error}"
        ) from None


def made_by(file: Path, runs: Path) -> str:
    """What stands in the way of choosing anew: a config, and what was made by it, if anything was."""
    folder = runs / file.stem
    return f"{file} and {folder}" if folder.exists() else str(file)


def describe(text: Survey) -> str:
    """The languages and the amount of a text, in a sentence."""
    counts = ", ".join(f"{pair} {number:,}" for pair, number in text.pairs.items())
    stray = ", ".join(f"{pair} {number}" for pair, number in text.stray.items())
    return (
        f"The languages are {', '.join(text.languages)}, of which {text.languages[0]} is the pivot; sentence "
        f"pairs: {counts}."
        + (f" Too few lines lack the pivot to train on, and are left out: {stray}." if stray else "")
        + (f" {describe_beside(text)}" if text.beside_pivot else "")
        + (f" {describe_apart(text)}" if text.without_pivot else "")
    )


def describe_beside(text: Survey) -> str:
    """Which text is there and not trained on, so that these directions are zero-shot."""
    pairs, more = text.beside_pivot[:SHOWN], len(text.beside_pivot) - SHOWN
    others = f" and {more} more" if more > 0 else ""
    return (
        f"Rows with {text.languages[0]} are text with it alone. "
        f"There is text of {', '.join(pairs)}{others} that "
        "is not trained on; with --all-pairs it is, and these directions are not zero-shot any more."
    )


def describe_apart(text: Survey) -> str:
    """Which languages have no text with the pivot, and a better one, if there is one."""
    pivot, *others = text.languages
    better = [
        language
        for language in others
        if all(text.has_pair(language, other) for other in text.languages if other != language)
    ]
    rest = " ".join(language for language in text.languages if language not in better[:1])
    advice = f" {better[0]} has text with all: --languages {better[0]} {rest}." if better else ""
    apart = ", ".join(text.without_pivot)
    return (
        f"There is no text of {apart} with {pivot}, so that translation through it and students of all "
        f"directions leave them out.{advice}"
    )


def write_config(file: Path, text: OwnText, found: Survey, *, choice: Choice, head: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    settings = {**text.settings, "LANGUAGES": " ".join(found.languages), **choice.settings}
    with replacing(file) as written:
        written.write(config_text(head, [describe(found), *choice.reasons], settings).encode("utf-8"))


def config_text(head: str, reasons: Sequence[str], settings: Mapping[str, str]) -> str:
    """A config with its reasons above its settings."""
    comments = [*wrap(head, COLUMNS - 2), *(line for reason in reasons for line in bullet(reason))]
    return "".join(f"# {line}\n" for line in comments) + "".join(
        map(setting_line, settings, settings.values())
    )


def bullet(sentence: str) -> list[str]:
    return wrap(sentence, COLUMNS - 2, initial_indent="* ", subsequent_indent="  ")


def setting_line(key: str, value: str) -> str:
    """A setting as a config has it, its options over several lines where one is too short."""
    if UNQUOTED.fullmatch(value):
        return f"{key}={value}\n"
    together = re.sub(" (?!--)" if value.startswith("--") else " ", "\0", value)
    lines = wrap(
        f'{key}="{together}"', COLUMNS, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(lines).replace("\0", " ") + "\n"
