"""Where the parallel text of an experiment comes from: the kinds of source, by the key of a config."""

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from zsnmt.corpora.invented.corpus import write_corpus
from zsnmt.corpora.invented.options import files_in, parse_corpus
from zsnmt.corpora.multiway import cut_training_pairs
from zsnmt.corpora.own_text.forms import is_own_form, read_tables
from zsnmt.corpora.own_text.held_out import hold_out
from zsnmt.corpora.own_text.rewriting import write_parallel_text
from zsnmt.corpora.own_text.saved_dataset import state_files
from zsnmt.corpora.own_text.table import Table
from zsnmt.corpora.parallel_text import pairs_of_split
from zsnmt.corpora.releases.options import parse_release
from zsnmt.corpora.training_text import copy_beside, files_beside
from zsnmt.errors import InputError
from zsnmt.files.replacing import replacing_folder
from zsnmt.languages import other_pairs
from zsnmt.runs.commands import verb_command
from zsnmt.training.steps import Steps, listing

if TYPE_CHECKING:  # which take the keys of configs from here
    from zsnmt.training.config import Config
    from zsnmt.training.experiment import Experiment

T = TypeVar("T")
Say = Callable[[str], object]


class Source(NamedTuple):
    """What writes parallel text into a new folder, and the settings and files that it is made from."""

    write: Callable[[Path], object]
    settings: Mapping[str, object]
    inputs: Sequence[Path] = ()


class Kind(NamedTuple):
    """The source that a key stands for, None for parallel text that is used as it is; and the further keys
    that belong to that one alone, with the remedy for each that stands without it.
    """

    source_of: Callable[["Experiment", Say], Source | None]
    further: Mapping[str, str] = {}


def make_source(steps: Steps, experiment: "Experiment") -> Path:
    """The folder of parallel text, made if the config says from what; `InputError` for a folder that is
    not there.
    """
    config, folder = experiment.config, experiment.folder / "source"
    kind = next(kind for key, kind in SOURCE_KINDS.items() if getattr(config, key.lower()))
    source = kind.source_of(experiment, steps.say)
    if source is None:
        return Path(config.text).resolve()
    steps.make(
        experiment.folder,
        "source",
        folder,
        work=partial(replace_folder, folder, source.write),
        inputs=source.inputs,
        settings=source.settings,
    )
    return folder


def files_beside_runs(folder: Path, experiment: "Experiment") -> list[Path]:
    """A folder that is read, as the input of a step; where the runs are in it, what else it has: they change
    with each command, and nothing is made from them.
    """
    here = experiment.folder.resolve()
    if not here.is_relative_to(folder.resolve()):
        return [folder]
    return [
        child
        for child in sorted(folder.iterdir())
        if child.exists() and not here.is_relative_to(child.resolve())
    ]


def own_text(experiment: "Experiment", say: Say) -> Source | None:
    """A person's text, in any form."""
    config, text = experiment.config, Path(experiment.config.text)
    if not text.exists():
        raise InputError(
            f"TEXT={text} is not there{seen_from(text)}; it must hold parallel text, as docs/data.md says, "
            "or text in another form of docs/own_text.md. If it was moved, say in "
            f"{experiment.file} where it is now"
        )
    if is_own_form(text) and not config.pattern and not config.held_out:
        return None
    tables = read_tables(text, config.pattern)
    files = [*dict.fromkeys(file for table in tables for file in table.files)]
    keys = ["languages", "pattern", "held_out", *(["all_pairs"] if config.all_pairs else [])]
    return Source(
        partial(rewrite, tables, config, say),
        {key: getattr(config, key) for key in keys},
        files + files_beside(text, config.languages),
    )


def seen_from(path: Path) -> str:
    """From where a path leads, where that is not from the top."""
    return "" if path.is_absolute() else f", looked for in {Path.cwd()}, where the command was given"


def invented_text(experiment: "Experiment", say: Say) -> Source:
    """Text of invented languages."""
    words = experiment.config.synthetic
    corpus = parse_key(experiment, "SYNTHETIC", parse_corpus, words=words)
    return Source(partial(write_corpus, corpus), {"synthetic": words}, files_in(words))


def multiway_text(experiment: "Experiment", say: Say) -> Source:
    """Training pairs cut from a multiway corpus."""
    config, folder = experiment.config, Path(experiment.config.multiway)
    check_folder(folder, "MULTIWAY", f"it must hold {{train,valid,test}}.xx for {' '.join(config.languages)}")
    settings: dict[str, Any] = {"languages": config.languages, "condition": config.condition}
    cut = partial(cut_training_pairs, folder, **settings)
    return Source(cut, settings, files_beside_runs(folder, experiment))


def released_text(experiment: "Experiment", say: Say) -> Source:
    """The release of a corpus."""
    config, folder = experiment.config, Path(experiment.config.release)
    reader, options = parse_key(experiment, "CORPUS", parse_release, words=config.corpus)
    command = verb_command("fetch", config.corpus[0], "--to", folder)
    check_folder(folder, "RELEASE", f"fetch it with: {command}")
    return Source(
        partial(import_release, config, reader, options),
        {"corpus": config.corpus, "languages": config.languages, "release": listing(folder)},
    )


SOURCE_KINDS = {
    "TEXT": Kind(own_text, dict.fromkeys(("PATTERN", "ALL_PAIRS", "HELD_OUT"), "leave it out")),
    "SYNTHETIC": Kind(invented_text),
    "MULTIWAY": Kind(
        multiway_text, {"CONDITION": 'write that of a release as CORPUS="... --condition {value}"'}
    ),
    "RELEASE": Kind(released_text, {"CORPUS": "leave it out, or say where the release is"}),
}


def rewrite(tables: Sequence[Table], config: "Config", say: Say, folder: Path) -> None:
    """Write a person's text as parallel text, with held-out sets if the config asks for them; say which
    directions then have no test set.
    """
    write_parallel_text(tables, folder, config.languages, all_pairs=config.all_pairs)
    copy_beside(Path(config.text), folder, config.languages)
    if config.held_out:
        hold_out(folder, config.languages, config.held_out)
    tested = pairs_of_split(folder, "test", config.languages)
    if without := other_pairs(config.languages, tested):
        first = without[0]
        files = " and ".join(f"test.{first}.{side}" for side in first.split("-"))
        text = Path(config.text)
        if text.is_file():
            advice = f"train on a folder that has {files} beside the text"
        elif config.pattern or state_files(text):
            advice = "add one in the form of the text"
        else:
            advice = f"put {files} beside the text"
        say(
            f"{', '.join(without)} will have no scores, as there is no test set for them; to have some, "
            f"{advice}"
        )


def import_release(config: "Config", reader: Callable, options: Mapping[str, Any], folder: Path) -> None:
    """Read a release into parallel text, and say what was repaired or left out."""
    from zsnmt.corpora.releases.foreign_text import warn_of_foreign_text  # loads py3langid

    logging.getLogger("zsnmt.corpora").setLevel(logging.INFO)
    reader(Path(config.release), folder, config.languages, **options)
    warn_of_foreign_text(folder, config.languages)


def parse_key(
    experiment: "Experiment", key: str, parse: Callable[[tuple[str, ...]], T], words: tuple[str, ...]
) -> T:
    """What the words of a key mean, `InputError` naming the config where they mean nothing."""
    try:
        return parse(words)
    except InputError as error:
        raise InputError(f"{experiment.file} sets {key}={' '.join(words)}: {error}") from error


def check_folder(folder: Path, key: str, remedy: str) -> None:
    """`InputError` unless the folder that a key names is there."""
    if not folder.is_dir():
        raise InputError(f"{key}={folder} is not a folder{seen_from(folder)}; {remedy}")


def replace_folder(folder: Path, write: Callable[[Path], object]) -> None:
    """Put what a function writes into a new folder in the place of a folder that is there."""
    with replacing_folder(folder) as part:
        write(part)
