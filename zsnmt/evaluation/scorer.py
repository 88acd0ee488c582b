"""Translations of a text scored by the metrics of a run, with intervals and resamples."""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from zsnmt.evaluation.text import ScoredText, word_orders
from zsnmt.files.checksums import checksum_of
from zsnmt.languages import Direction
from zsnmt.runs.folder import PIPELINE_FOLDER
from zsnmt.runs.scores import Result, Uncertainty, order_groups
from zsnmt.runs.ways import Way
from zsnmt.scoring.bootstrap import signature, unpack
from zsnmt.scoring.comet import Comet
from zsnmt.scoring.figures import ranges
from zsnmt.scoring.language_identification import UNSPACED, load_identifier, scripts_of
from zsnmt.scoring.metrics import Metrics, measure, uncertainty
from zsnmt.scoring.options import Scoring
from zsnmt.text.subword import MODEL_FILE as SUBWORD_FILE

logger = logging.getLogger(__name__)

BY_SPACES = "13a", "intl", "none"  # tokenisers of BLEU
NORMALISED = "|ref:normalised"  # in a signature


class Scorer:
    """Scores translations of a text: `run` has the subwords that BLEU may be over, `languages` are all that
    outputs may be in.
    """

    def __init__(
        self,
        text: ScoredText,
        run: Path,
        *,
        languages: Sequence[str],
        scoring: Scoring,
        comet: Comet | None = None,
    ) -> None:
        sides = [
            (language, lines)
            for direction, pair in text.pairs.items()
            for language, lines in zip(direction, pair)
        ]
        self.text, self.languages, self.scoring, self.comet = text, languages, scoring, comet
        self.scripts = scripts_of(dict(sides))
        self.warn_of_unspaced()
        self.identifier, self.identifier_signature = load_identifier(
            scoring.identifier, languages, text.folder, scripts=self.scripts
        )
        self.metrics = Metrics(
            scoring.bleu_tokenizer, run / PIPELINE_FOLDER / SUBWORD_FILE, scoring.bootstrap_samples
        )

    def warn_of_unspaced(self) -> None:
        """Say which targets have no spaces between words, where BLEU counts what stands between spaces."""
        targets = dict.fromkeys(direction.target for direction in self.text.pairs)
        unspaced = [language for language in targets if self.scripts.get(language) in UNSPACED]
        if unspaced and self.scoring.bleu_tokenizer in BY_SPACES:
            logger.warning(
                "BLEU by %s takes what stands between spaces for a word, and says little of %s, written "
                "without spaces; choose --bleu-tokenizer flores101 or subwords, or read chrF++",
                self.scoring.bleu_tokenizer,
                ", ".join(unspaced),
            )

    def result(self, direction: Direction, kind: str, way: Way, hypotheses: Sequence[str]) -> Result:
        """The figures of translations of a direction."""
        sources, references = self.text.pairs[direction]
        measured = measure(
            sources,
            hypotheses,
            references,
            target=direction.target,
            metrics=self.metrics,
            identifier=self.identifier,
        )
        if self.comet:
            measured.figures["comet"] = self.comet.score(sources, hypotheses, references)
        return Result(direction, kind, way, *measured)

    def fields(self, results: Sequence[Result]) -> dict[str, Any]:
        """What a score file says of results, by the names that `Scores` has for it: they, in the order of
        tables, and what they depend on.
        """
        groups = order_groups((result.kind, result.way) for result in results)
        places = {direction: place for place, direction in enumerate(self.text.pairs)}
        results = sorted(
            results, key=lambda result: (groups.index((result.kind, result.way)), places[result.direction])
        )
        return dict(
            languages=self.languages,
            word_orders=word_orders(self.text.folder, self.languages),
            test_set=checksum_of(self.text.pairs),
            signatures=self.signatures(),
            scripts=self.scripts,
            results=results,
            means=means(results),
        )

    def signatures(self) -> dict[str, str]:
        """What the figures depend on."""
        normalised = NORMALISED * self.scoring.normalise_references
        return {
            **{metric: signature + normalised for metric, signature in self.metrics.signatures().items()},
            "off_target": self.identifier_signature,
            "intervals": signature(self.scoring.bootstrap_samples),
            **({"comet": self.comet.signature} if self.comet else {}),
        }


def means(results: Sequence[Result]) -> dict[tuple[str, Way], Uncertainty]:
    """Intervals and resamples of the means over the directions of each kind in each way."""
    groups: dict[tuple[str, Way], list[Uncertainty]] = {}
    for result in results:
        groups.setdefault((result.kind, result.way), []).append(result.uncertainty)
    return {
        group: uncertainty(
            {
                figure: np.mean([unpack(each.resampled[figure], top) for each in members], axis=0)
                for figure, top in ranges().items()
                if all(figure in each.resampled for each in members)
            }
        )
        for group, members in groups.items()
    }
