"""Text of a person's own in the place of a config: its options, and the config that is made for it."""

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from zsnmt import console
from zsnmt.cli.common.recipe import Recipe
from zsnmt.cli.common.words import remove_options
from zsnmt.console import WrongUse
from zsnmt.corpora.own_text.forms import ENDINGS, reader_of
from zsnmt.runs.commands import further_words, verb_command
from zsnmt.runs.folder import RECORD_FILE

if TYPE_CHECKING:
    from zsnmt.training.own_text import OwnText

OWN_TEXT_OPTIONS = ("pattern", "languages", "all_pairs", "config")
WORDS = ("--pattern", "--languages", "--all-pairs", "--config", "--plan")


def add_own_text(parser: console.Parser, *, plan: str) -> None:
    """Add the options of a person's own text, and `--plan`, of which the help says `plan`."""
    group = parser.add_argument_group("text of your own")
    group.add_argument(
        "--pattern", help="pattern of the names of the text's files, with {language}, {pair}, {split} and *"
    )
    group.add_argument(
        "--languages", nargs="+", metavar="XX", help="languages to train, the pivot first (default: all)"
    )
    group.add_argument(
        "--all-pairs",
        action="store_true",
        help="rows in several languages are training text of all pairs, not of those with the pivot alone",
    )
    group.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        help="config to make (default: beside the runs of the text, with the name of its folder)",
    )
    group.add_argument("--plan", action="store_true", help=plan)


def is_config_of(options: Namespace, of_text: Sequence[str] = OWN_TEXT_OPTIONS) -> bool:
    """Whether the experiment that was given is a config, and not text.

    Raises `WrongUse` for what is neither, such as a run, and for a config with options `of_text` alone.
    """
    if (options.experiment / RECORD_FILE).is_file():
        raise WrongUse(
            f"{options.experiment} is the folder of a run; give the folder of your text, or a config"
        )
    if options.experiment.is_dir() or reader_of(options.experiment):
        return False
    if not options.experiment.exists() and options.experiment.suffix != ".conf":
        raise WrongUse(
            f"there is no {options.experiment}; give the folder of your text, a file ({ENDINGS}), or a config"
        )
    if given := [f"--{name.replace('_', '-')}" for name in of_text if getattr(options, name)]:
        raise WrongUse(
            f"{', '.join(given)} belongs to text of your own, which is a folder or a file ({ENDINGS}); "
            f"{options.experiment} is neither, and is read as a config"
        )
    return True


def make_config(recipe: Recipe, options: Namespace, with_copy: str) -> Path:
    """The config of a person's own text, made unless it is there; `with_copy` trains a copy of it."""
    from zsnmt.training.own_text import TRAIN, config_file, ensure_config

    text, steps = own_text(options), recipe.steps
    file = options.config or config_file(text, recipe.runs)
    purpose = replace(TRAIN, with_config=with_copy)
    ensure_config(
        text, file, recipe.variables, runs=recipe.runs, say=steps.say, team=steps.team, purpose=purpose
    )
    return file


def make_added_config(
    recipe: Recipe, options: Namespace, run: Path, *, mode: str, share: float, with_copy: str
) -> Path:
    """The config of a person's own text in languages that join a run, made unless it is there; `with_copy`
    trains a copy of it.
    """
    from zsnmt.adaptation.own_text import ensure_added_config

    return ensure_added_config(
        own_text(options),
        options.config,
        recipe.variables,
        run=run,
        mode=mode,
        share=share,
        with_copy=with_copy,
        runs=recipe.runs,
        say=recipe.steps.say,
        team=recipe.steps.team,
    )


def own_text(options: Namespace) -> "OwnText":
    """The text that was given."""
    from zsnmt.training.own_text import OwnText

    languages = tuple(options.languages or ())
    return OwnText(options.experiment, options.pattern or "", languages, all_pairs=options.all_pairs)


def command_of_copy(
    verb: str, *positionals: str | Path, words: Sequence[str], further: Sequence[str] = ()
) -> str:
    """The command that trains a copy of the config that another command makes: its positional arguments but
    for the text, its words without those, and its options of fairseq-train.
    """
    from zsnmt.training.own_text import COPY

    kept = remove_options(remove_own_text(words), ())
    return verb_command(verb, COPY, *positionals, *kept, *further_words(further))


def remove_own_text(words: Sequence[str]) -> list[str]:
    """The words of a command, without positional arguments, but for those of a person's own text."""
    kept, is_own = list[str](), False
    for word in words:
        if word.startswith("--"):
            is_own = word.partition("=")[0] in WORDS
        if not is_own:
            kept.append(word)
    return kept
