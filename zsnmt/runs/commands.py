"""The commands that make runs, as records keep them: the same whatever folder they are given in."""

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

from zsnmt.files.project import ROOT

NAME = "--name"  # the option that gives a run the name of its folder
OF_RUN = re.compile("^.*/(?=[^/]+/[^/]+/seed[0-9]+$)")  # what stands before config, system and seed


def recipe_command(recipe: str, config: Path, *words: str) -> str:
    """The command that makes a run, as a shell reads it."""
    return shlex.join(["bash", f"recipes/{recipe}.sh", path_from_top(config), *words])


def verb_command(verb: str, *words: str | Path) -> str:
    """The command of a verb, as a shell reads it."""
    return shlex.join(["zsnmt", verb, *map(str, words)])


def as_verb(command: str) -> str:
    """The command of a run as a person gives it, also where there are no recipes."""
    return re.sub(r"^bash recipes/(\w+)\.sh\b", lambda found: f"zsnmt {found[1].replace('_', '-')}", command)


def path_from_top(path: Path) -> str:
    """A path as a command names it, from the top of the project's files, or from that of the machine where it
    is elsewhere.
    """
    path = Path(os.path.abspath(path))
    return str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)


def word_from_top(word: str) -> str:
    """A word of a command, as `path_from_top` names it where it is the path of something that is there."""
    return path_from_top(Path(word)) if "/" in word and os.path.exists(word) else word


def same_command(made: str, command: str) -> bool:
    """Whether two commands, which make what is in one folder, ask for the same; the config may have moved,
    and the first may be of a time when records did not quote words.
    """
    readings = [made.split()]
    with suppress(ValueError):
        readings.append(shlex.split(made))
    return content_of_command(shlex.split(command)) in map(content_of_command, readings)


def content_of_command(words: Sequence[str]) -> str:
    """A command without the folder of its config, its second word, with files as `path_from_top` names them,
    and without the name of the run: given or not, it is that of the folder. Other runs are named by config,
    system and seed, since the folder of all may have moved.
    """
    bash, recipe, config, *rest = [*words, "", "", ""][: max(3, len(words))]
    kept = [
        word
        for before, word in pairwise(["", *rest])
        if NAME not in (before, word) and not word.startswith(f"{NAME}=")
    ]
    named = (OF_RUN.sub("", word_from_top(word)) for word in kept)
    return " ".join([bash, recipe, Path(config).name, *named])


def further_words(options: Sequence[str]) -> list[str]:
    """Options of fairseq-train as they end a command; nothing where there are none."""
    return ["--", *options] if options else []


def option_words(options: Mapping[str, object]) -> list[str]:
    """Options as a command line has them."""
    return [word for name, value in options.items() for word in (name, str(value))]
