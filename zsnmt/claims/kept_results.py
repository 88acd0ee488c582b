"""The results that the project keeps, by config, for claims."""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from zsnmt.claims.verdicts import Effect
from zsnmt.languages import SUPERVISED
from zsnmt.masked_lm.report.kept_inference import FOLDER as INFERENCE
from zsnmt.masked_lm.report.kept_inference import kept_inference
from zsnmt.masked_lm.report.kept_scores import FOLDER as MASKED_LMS
from zsnmt.masked_lm.report.kept_scores import kept_masked_lms
from zsnmt.masked_lm.score_file import MaskedLM
from zsnmt.report.documents import kept_probes, kept_scores
from zsnmt.report.probes.folder import Probes
from zsnmt.report.scores import Column, mean_over_directions, runs_by_system
from zsnmt.runs.probe_folder import PROBES
from zsnmt.runs.scores import Scores
from zsnmt.runs.ways import DIRECT
from zsnmt.scoring.figures import MAIN

LEAST_BLEU = 10.0  # supervised, of the best system of a config; below it a config says nothing of translation
Systems = Mapping[str, list[Scores]]  # the seeds of each system
Results = TypeVar("Results")  # what is kept of one config


class Kept:
    """Scores, probes and masked LMs of a folder, each by config."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def scores(self) -> dict[str, Systems]:
        """The systems of each config that learnt to translate."""
        found = {config: kept_scores(self.folder, config) for config in self.configs(".")}
        return {config: runs_by_system(runs) for config, runs in found.items() if has_learned(runs)}

    @cached_property
    def probes(self) -> dict[str, Mapping[str, list[Probes]]]:
        """The probed systems of each config."""
        return {config: runs_by_system(kept_probes(self.folder, config)) for config in self.configs(PROBES)}

    @cached_property
    def masked_lms(self) -> dict[str, list[MaskedLM]]:
        """The masked LMs of each config."""
        return {config: kept_masked_lms(self.folder, config) for config in self.configs(MASKED_LMS)}

    @cached_property
    def inference(self) -> dict[str, list[dict]]:
        """The accuracies on XNLI of the masked LMs of each config."""
        return {config: kept_inference(self.folder, config) for config in self.configs(INFERENCE)}

    def configs(self, below: str) -> list[str]:
        """The configs with files of some sort."""
        paths = self.folder.glob(f"*/{below}/*.seed*.json")
        return sorted({path.relative_to(self.folder).parts[0] for path in paths})


def has_learned(runs: list[Scores]) -> bool:
    """Whether some run of a config has learnt to translate the directions that it was trained on."""
    column = Column(SUPERVISED, DIRECT, MAIN)
    return max((mean_over_directions(scores, column) or 0 for scores in runs), default=0) >= LEAST_BLEU


Evidence = Callable[[Kept], list[Effect]]  # what tells of a claim: its figures among the kept results


def each_config(
    results: Callable[[Kept], Mapping[str, Results]],
) -> Callable[[Callable[[str, Results], Iterable[Effect]]], Evidence]:
    """Decorate a function that takes the name of one config and what is kept of it, and yields its figures:
    it becomes the evidence of all configs, in their order. `results`: which results are meant.
    """

    def decorate(of_config: Callable[[str, Results], Iterable[Effect]]) -> Evidence:
        return lambda kept: [
            effect for config, found in results(kept).items() for effect in of_config(config, found)
        ]

    return decorate
