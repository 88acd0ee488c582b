"""Options of fairseq-train as it reads them, before a training needs them."""

from argparse import Namespace
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import fields
from difflib import get_close_matches
from functools import lru_cache
from typing import NoReturn

from fairseq import options
from fairseq.models import ARCH_MODEL_REGISTRY
from fairseq.registry import REGISTRIES

import zsnmt
from zsnmt.criterions.zs_cross_entropy import TERMS
from zsnmt.errors import InputError
from zsnmt.files.project import PACKAGE
from zsnmt.seams.options import attribute_of, spelt
from zsnmt.training.option_words import given_values, without
from zsnmt.training.precision import in_precision, precision_of

CHOICES = "--lr-scheduler", "--optimizer", "--criterion"  # of parts that have options of their own
# What the options begin with that zs_cross_entropy alone has.
OF_CRITERION = (*(kind.term.option.removesuffix("weight") for kind in TERMS.values()), "--chunked-loss")


def training_options(architecture: str, arguments: Sequence[str]) -> Namespace:
    """Options with the architecture's defaults, those of the task `zs_translation` unless they name another;
    `InputError` for an architecture that does not exist, and where fairseq refuses them.

    A `--user-dir` among them counts for nothing: a run may come from a project that was elsewhere, and this
    one is loaded already.
    """
    zsnmt.register()
    if architecture not in ARCH_MODEL_REGISTRY:
        near = get_close_matches(architecture, ARCH_MODEL_REGISTRY, n=1)
        raise InputError(
            f"there is no architecture '{architecture}'; {f'did you mean {near[0]}? ' if near else ''}"
            "zsnmt options lists those of zsnmt"
        )
    words = in_precision(arguments, precision_of(arguments))
    return deepcopy(read_words(("DATA", "--arch", architecture, *words, "--user-dir", str(PACKAGE))))


@lru_cache(maxsize=512)  # a plan of runs asks thousands of times for the options of a few hundred systems
def read_words(words: tuple[str, ...]) -> Namespace:
    """What fairseq reads from the words of a command."""
    parser = options.get_training_parser("zs_translation")
    parser.error = refuse
    return options.parse_args_and_arch(parser, words)


def without_replaced(before: Sequence[str], later: Sequence[str]) -> list[str]:
    """Options, but for those of a schedule, an optimiser or a criterion in whose place later options put
    another that does not have them, so that fairseq would refuse them.
    """
    zsnmt.register()
    given, now = given_values(before), given_values(later)
    void: set[str] = set()
    for choice in CHOICES:
        if choice in given and choice in now:
            void |= options_of_choice(choice, given[choice]) - options_of_choice(choice, now[choice])
    return without(before, void)


def options_of_choice(choice: str, name: str) -> set[str]:
    """The options that a schedule, an optimiser or a criterion has besides those of every training, to which
    the default of a field of the same name points: `${optimization.lr}`.
    """
    known = REGISTRIES[attribute_of(choice)]["dataclass_registry"]
    own = fields(known[name]) if name in known else ()
    return {spelt(each.name) for each in own if not str(each.default).endswith(f".{each.name}}}")}


def refuse(message: str) -> NoReturn:
    remedy = "it stands in the config, or behind --"
    if any(words in message for words in OF_CRITERION):
        remedy = "give --criterion zs_cross_entropy, too"
    raise InputError(f"fairseq refuses an option of the training: {message}; {remedy}")
