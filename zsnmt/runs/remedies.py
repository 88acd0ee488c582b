"""The remedies of a second stage of training: options of fairseq-train by name, alone and together."""

from collections.abc import Sequence

from zsnmt.errors import InputError
from zsnmt.runs.systems import DIRECTIONS

TERMS = "--criterion", "zs_cross_entropy"
WEIGHT = "-weight"  # ends the name of the option that gives a term its weight
TRANSLATION_WEIGHT = f"--translation{WEIGHT}"  # of the loss beside them
TOGETHER = "+"  # between the names of remedies that one stage has
REMEDIES = {  # of a second stage: the options of each, by name
    "consistency": (*TERMS, "--consistency-weight", "0.25"),
    "unlikelihood": (*TERMS, "--unlikelihood-weight", "1"),
    "first_word": (*TERMS, "--unlikelihood-weight", "1", "--unlikelihood-form", "first_word"),
    "denoising": (*TERMS, "--denoising-weight", "1"),
    "agreement": (*TERMS, "--agreement-weight", "0.01"),
    "from_pivot": (DIRECTIONS, "from_pivot"),
}

CHUNKED = "chunked_label_smoothed_cross_entropy"


def remedy_options(remedy: str, options: Sequence[str]) -> list[str]:
    """The options of a remedy, or of several with + between, for a training with these; none without a name.
    The loss stays chunked.
    """
    added = options_of_remedy(remedy)
    return [*added, *form_of_loss(options)] if {*TERMS} <= {*added} else [*added]


def options_of_remedy(remedy: str) -> tuple[str, ...]:
    """The options of a remedy, or of several with + between, each once.

    Raises `InputError` for one that there is not, or that is named twice, and for two of one term.
    """
    found: dict[str, str] = {}
    names = remedy.split(TOGETHER) if remedy else []
    for number, name in enumerate(names):
        if name not in REMEDIES:
            raise InputError(f"there is no remedy '{name}'; choose {', '.join(REMEDIES)}")
        own = dict(zip(REMEDIES[name][::2], REMEDIES[name][1::2]))
        if common := (own.keys() & found.keys()) - {TERMS[0]}:
            raise InputError(
                f"{TOGETHER.join(names[: number + 1])} is two forms of one remedy, {sorted(common)[0]}, or "
                "one twice; leave one of them out"
            )
        found |= own
    return tuple(word for option in found.items() for word in option)


def remedy_name(remedy: str) -> str:
    """A remedy, or several, in the name of a system."""
    return remedy.replace(TOGETHER, "_")


def has_term(options: Sequence[str]) -> bool:
    """Whether some options of fairseq-train give a term a weight."""
    names = {option.partition("=")[0] for option in options}
    return any(name.startswith("--") and name.endswith(WEIGHT) for name in names - {TRANSLATION_WEIGHT})


def term_options(options: Sequence[str]) -> list[str]:
    """The criterion with terms for a training with these options."""
    return [*TERMS, *form_of_loss(options)]


def form_of_loss(options: Sequence[str]) -> list[str]:
    """What the criterion with terms is told of the form that the loss has without."""
    return ["--chunked-loss"] if CHUNKED in options else []
