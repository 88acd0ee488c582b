"""The systems that a person may choose from, in words, and which of them are shown of each text."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from zsnmt.report.documents import kept_scores
from zsnmt.report.scores import runs_by_system
from zsnmt.runs.scores import Scores
from zsnmt.runs.systems import BASELINE, DIRECT_STUDENT, RESIDUAL, STUDENTS, WORDS

REAL_TEXT = {  # names of configs of text by people
    "tatoeba_three": "Tatoeba: Portuguese, Russian, Ukrainian",
    "tatoeba_nordic": "Tatoeba: Danish, Finnish, Swedish",
    "tatoeba_long": "Tatoeba: eight languages",
    "tatoeba": "Tatoeba: eight languages, shorter training",
    "captions_long": "captions",
    "captions_fall_half": "captions, three quarters of the updates",
    "captions": "captions, by an earlier rule",
}
OLDER = "captions", "captions_fall_half", "tatoeba"  # by earlier rules or shorter, with pages of their own
# The control of students: the same updates without synthetic text.
CONTINUED_BASELINE = f"{BASELINE.name}_{STUDENTS['none']}"
CONTINUED_TWICE = f"{CONTINUED_BASELINE}_twice"
DEEPER = f"{BASELINE.name}_deep_words"
# By zsnmt direct --language-blocks.
BLOCKS_DIRECT, BLOCKS_DIRECT_THIRD = "blocks_direct", "blocks_direct_third"
# By its steps, each given by hand.
WITH_BLOCKS, WITH_BLOCKS_THIRD = "blocks_deeper_direct", "blocks_deeper_third"
CANDIDATES = {  # systems to choose from, in words
    BASELINE.name: "baseline",
    RESIDUAL.name: "residual removed",
    CONTINUED_BASELINE: "baseline, trained further",
    CONTINUED_TWICE: "baseline, trained further twice",
    f"{CONTINUED_BASELINE}_{STUDENTS['both']}": "baseline, trained further, then distilled",
    f"{CONTINUED_BASELINE}_{STUDENTS['both']}_twice": "baseline, trained further, then distilled twice",
    f"{BASELINE.name}_consistency": "baseline, trained further for consistency",
    f"{RESIDUAL.name}_consistency": "residual removed, trained further for consistency",
    f"{BASELINE.name}_{STUDENTS['both']}": "baseline, distilled",
    f"{RESIDUAL.name}_{STUDENTS['both']}": "residual removed, distilled",
    f"{BASELINE.name}_{STUDENTS['between']}": "baseline, distilled with pairs of translations",
    f"{BASELINE.name}_{STUDENTS['both']}_{WORDS}": "baseline, distilled word by word",
    f"{BASELINE.name}_deep_between": "a deeper student",
    DEEPER: "a deeper student, taught word by word",
    f"{DEEPER}_round2": "a deeper student, taught three times, twice word by word",
    f"{DEEPER}_of_2": "a deeper student, taught twice word by word, at last by two runs together",
    f"{DEEPER}_third": "a deeper student, taught word by word in three rounds",
    f"{DEEPER}_fourth": "a deeper student, taught word by word in four rounds",
    DIRECT_STUDENT: "a deeper student, taught twice, by zsnmt direct",
    f"{DIRECT_STUDENT}_third": "a deeper student, taught three times",
    BLOCKS_DIRECT: "a deeper student with language blocks, taught twice, by zsnmt direct",
    BLOCKS_DIRECT_THIRD: "a deeper student with language blocks, taught three times, by zsnmt direct",
    WITH_BLOCKS: "a deeper student with language blocks, taught twice",
    WITH_BLOCKS_THIRD: "a deeper student with language blocks, taught three times",
    f"{DIRECT_STUDENT}_further": "a deeper student, taught twice, the second time longer",
    f"{DIRECT_STUDENT}_further_all": ("a deeper student, taught twice, at last word by word of all pairs"),
    f"{BASELINE.name}_deep_of_2": "a deeper student, taught four times, at last by two runs together",
}
SHOWN_SYSTEMS = (  # those of RESULTS
    BASELINE.name,
    RESIDUAL.name,
    CONTINUED_BASELINE,
    CONTINUED_TWICE,
    f"{BASELINE.name}_consistency",
    f"{RESIDUAL.name}_{STUDENTS['both']}",
    DEEPER,
    f"{DIRECT_STUDENT}_further_all",
    f"{DEEPER}_round2",
    f"{DEEPER}_fourth",
    f"{BASELINE.name}_deep_of_2",
)
SHOWN = {config: SHOWN_SYSTEMS for config in REAL_TEXT if config not in OLDER} | {
    "tatoeba_three": (*SHOWN_SYSTEMS, BLOCKS_DIRECT, BLOCKS_DIRECT_THIRD),
    "tatoeba_nordic": (  # on which zsnmt direct was run in its own form
        BASELINE.name,
        RESIDUAL.name,
        f"{BASELINE.name}_consistency",
        CONTINUED_BASELINE,
        CONTINUED_TWICE,
        DIRECT_STUDENT,
        f"{DIRECT_STUDENT}_third",
        WITH_BLOCKS,
        WITH_BLOCKS_THIRD,
    ),
}
FIRST_TEXT = "tatoeba_nordic"  # that of README: nothing was tuned on it


def with_seeds_of(system: str, runs: Sequence[Scores]) -> Mapping[str, list[Scores]]:
    """Runs by system, of the seeds that a system has: a further seed of one takes no part in a comparison."""
    there = {scores.seed for scores in runs if scores.system == system}
    return runs_by_system([scores for scores in runs if scores.seed in there])


def kept_runs(folder: Path, config: str, systems: Sequence[str]) -> list[Scores]:
    """The kept scores of some systems, in the order of these."""
    kept = kept_scores(folder, config)
    return [scores for system in systems for scores in kept if scores.system == system]


def has_scores(folder: Path, config: str) -> bool:
    """Whether scores of a config are kept."""
    return any((folder / config).glob("*.seed*.json"))
