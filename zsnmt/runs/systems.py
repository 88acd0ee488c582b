"""Systems of which studies are made and which reports know again by their names."""

from typing import NamedTuple

from zsnmt.modules.position_names import ENCODINGS


class System(NamedTuple):
    """A system to train: its name in tables, its architecture, and the options it has beyond those of the
    config.

    With `sides`, one of `STUDENTS`, it is a second stage: it goes on from the system `base`, as
    `zsnmt distill` does, its options being those of the second stage, with `few_lines` of each zero-shot
    direction, or with a `remedy`.
    """

    name: str
    architecture: str
    options: tuple[str, ...] = ()
    sides: str = ""
    base: str = ""
    few_lines: int = 0
    remedy: str = ""


BASELINE, RESIDUAL, RESIDUAL_QUERY, RELATIVE = (
    System(f"zs_transformer{variant}", f"zs_transformer{variant}")
    for variant in ("", "_residual", "_residual_query", "_relative")
)
DISTANCE = "--relative-attention-distance"
ENCODER_POSITIONS, DECODER_POSITIONS = "--encoder-position-encoding", "--decoder-position-encoding"
DIRECTIONS, VARIATIONAL_DROPOUT = "--lang-pairs", "--variational-dropout"

VARIATIONAL = {  # with variational dropout, by the system without
    plain: System(f"{prefix}variational", plain.architecture, (VARIATIONAL_DROPOUT,))
    for plain, prefix in ((BASELINE, ""), (RESIDUAL, "residual_"), (RESIDUAL_QUERY, "residual_query_"))
}
LEARNED = {  # with a table of positions in each stack, by the system with sinusoids
    plain: System(
        f"{prefix}learned_positions",
        plain.architecture,
        (ENCODER_POSITIONS, "learned", DECODER_POSITIONS, "learned"),
    )
    for plain, prefix in ((BASELINE, ""), (RESIDUAL, "residual_"))
}

TARGETS, SOURCES = "targets", "sources"  # what the synthetic half of a pair is in training
BETWEEN = "between"  # translations of one sentence of the pivot as sources and targets of each other
ALL, BOTH, SELF, NONE = "all", "both", "self", "none"
STUDENTS = {  # ends of their names, by what they learn of a teacher's translations (`zsnmt distill --sides`)
    NONE: "continued",
    SELF: "distilled_self",
    TARGETS: "distilled_targets",
    SOURCES: "distilled_sources",
    BOTH: "distilled",
    ALL: "distilled_all",
    BETWEEN: "distilled_between",
}


def direct_student(first: System) -> str:
    """The name of the student that zsnmt direct teaches twice, where its first run is of a system."""
    return f"{first.name}_direct"


DIRECT_STUDENT = direct_student(BASELINE)
WORDS = "words"  # in the names of students that learn what their teacher says of each piece
# Those that a config of any number of languages can have.
STUDIED = {sides: name for sides, name in STUDENTS.items() if sides != BETWEEN}

CLIP_DISTANCES = {  # by k, as in Table 2 of Li (2019)
    k: RELATIVE if k == 16 else System(f"relative_{k}", RELATIVE.architecture, (DISTANCE, str(k)))
    for k in (0, 1, 2, 4, 16, 64)
}


def direction_system(plain: System, direction: str) -> System:
    """The system trained in one direction, another than that of its config."""
    return System(f"{plain.name}_{direction.replace('-', '_')}", plain.architecture, (DIRECTIONS, direction))


def encoding_systems(encoding: str) -> tuple[System, System]:
    """The baseline and the model without the middle layer's residual, with a position encoding in the
    encoder.
    """
    if encoding == "sinusoidal":
        return BASELINE, RESIDUAL
    option = ENCODER_POSITIONS, encoding
    return System(encoding, BASELINE.architecture, option), System(
        f"residual_{encoding}", RESIDUAL.architecture, option
    )


BY_ENCODING = {encoding: encoding_systems(encoding) for encoding in ENCODINGS}

BELOW = {  # where the residual is removed: positions in the layers before that one alone, by encoding
    encoding: f"residual_{encoding}_below" for encoding in ("tupe_relative", "relative_key")
}

CLIPPED, PRODUCT = "relative_key_16", "relative_key_query_product"
RELATIVE_VARIANTS = {  # footnote 4 and Table 1 of Ravishankar and Søgaard (2021)
    CLIPPED: ("--position-encoding", "relative_key", "--relative-key-distance", "16"),
    PRODUCT: ("--position-encoding", "relative_key_query", "--relative-key-query-product"),
}
MASKED_LM = {  # systems of the study of masked language models: the options of each, by name
    **{encoding: ("--position-encoding", encoding) for encoding in ENCODINGS},
    **RELATIVE_VARIANTS,
    **{
        terms: ("--position-encoding", "learned", "--position-terms", terms)
        for terms in ("no_position_position", "no_position_word", "no_word_position", "separate_parameters")
    },
}


def few_name(number: int) -> str:
    """What a system that has seen so many lines of zero-shot directions is called."""
    return f"few_{number}"
