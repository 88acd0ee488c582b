"""The measures of translations against references; docs/measures.md defines each."""

import hashlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import compress
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.metrics.base import Metric

from zsnmt.errors import InputError
from zsnmt.runs.scores import Uncertainty
from zsnmt.scoring.bootstrap import SAMPLES, interval, pack, resampled_rates, resampled_scores
from zsnmt.scoring.figures import ranges
from zsnmt.scoring.language_identification import Identifier, shares
from zsnmt.scoring.options import SUBWORDS, Scoring
from zsnmt.text.subword import Subwords


class Metrics:
    """BLEU and chrF++ with their signatures.

    `bleu_tokenizer` is one of sacreBLEU's, or `subwords`: the pieces of the SentencePiece model `subwords`,
    which makes scores of one experiment comparable in every script, and with no other experiment. Raises
    `InputError` for a tokeniser that cannot be loaded here.
    """

    def __init__(
        self,
        bleu_tokenizer: str = Scoring.bleu_tokenizer,
        subwords: Path | None = None,
        samples: int = SAMPLES,
    ) -> None:
        self.subwords = Subwords(subwords) if subwords and bleu_tokenizer == SUBWORDS else None
        self.tokenizer = "none" if self.subwords else bleu_tokenizer
        self.samples = samples
        self.against = lru_cache(maxsize=16)(self._metrics_for)
        try:
            BLEU(tokenize=self.tokenizer)  # which loads it
        except (RuntimeError, ImportError, OSError) as error:
            reason = " ".join(str(error).split())
            raise InputError(
                f"the BLEU tokeniser {self.tokenizer} cannot be loaded ({reason}); install what it needs, go "
                "online if it is to be fetched, or choose another --bleu-tokenizer"
            ) from error

    def _metrics_for(self, references: tuple[str, ...]) -> dict[str, Metric]:
        """The metrics for a reference set, which they read once."""
        # sacreBLEU would warn of tokenised text, which is a word at the end of a line in the artificial
        # languages
        return {
            "bleu": BLEU(tokenize=self.tokenizer, force=True, references=[self.pieces(references)]),
            "chrf": CHRF(word_order=2, references=[references]),
        }

    def scores(
        self, hypotheses: Sequence[str], references: Sequence[str], on_target: Sequence[bool] = ()
    ) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        """BLEU, chrF++ (0–100) and length ratio of raw text against one reference each, and the first two
        resampled; also chrF++ of the lines that are `on_target`, where any is. `InputError` unless there are
        as many references as translations.
        """
        if len(hypotheses) != len(references):
            raise InputError(
                f"{len(hypotheses)} translations but {len(references)} references; translate the set again"
            )
        figures, resampled = {}, {}
        for name, metric in self.against(tuple(references)).items():
            statistics = metric._extract_corpus_statistics(
                self.pieces(hypotheses) if name == "bleu" else hypotheses, None
            )
            score = metric._aggregate_and_compute(statistics)
            figures[name], resampled[name] = score.score, resampled_scores(metric, statistics, self.samples)
            if name == "bleu":
                figures["length_ratio"] = score.sys_len / score.ref_len
            elif any(on_target):
                some = [*compress(statistics, on_target)]
                figures["chrf_on_target"] = metric._aggregate_and_compute(some).score
        return figures, resampled

    def pieces(self, lines: Sequence[str]) -> Sequence[str]:
        """The lines as BLEU gets them: as they are, or with a space between their subwords."""
        return (
            [" ".join(pieces) for pieces in self.subwords.encode_lines(lines, "")] if self.subwords else lines
        )

    def signatures(self) -> dict[str, str]:
        """What the scores depend on."""
        signatures = {
            name: str(metric.get_signature()) for name, metric in self.against(("a reference",)).items()
        }
        if self.subwords:
            named = f"tok:subwords-{hashlib.sha256(self.subwords.model).hexdigest()[:8]}"
            signatures["bleu"] = signatures["bleu"].replace("tok:none", named)
        return signatures


class Measurement(NamedTuple):
    """What is measured of one direction: figures, the share (0–1) of each language among the outputs, and the
    uncertainty.
    """

    figures: dict[str, float]
    identified: Mapping[str, float]
    uncertainty: Uncertainty


def measure(
    sources: Sequence[str],
    hypotheses: Sequence[str],
    references: Sequence[str],
    *,
    target: str,
    metrics: Metrics,
    identifier: Identifier,
) -> Measurement:
    """The figures of one direction, which `zsnmt.scoring.figures` lists, and the number of `lines`."""
    identified = identifier.identify(hypotheses)
    strayed = [language != target for language in identified]
    figures, resampled = metrics.scores(hypotheses, references, [not flag for flag in strayed])
    resampled["off_target"] = resampled_rates(strayed, metrics.samples)
    figures |= {
        "off_target": rate(strayed),
        "reference_error": reference_error(tuple(references), target, identifier),
        "lines": len(hypotheses),
        "empty": sum(not hypothesis.strip() for hypothesis in hypotheses),
        "copied": rate(
            [
                plain(hypothesis) == plain(source)
                for hypothesis, source in zip(hypotheses, sources, strict=True)
            ]
        ),
    }
    return Measurement(figures, shares(identified), uncertainty(resampled))


@lru_cache(maxsize=64)
def reference_error(references: tuple[str, ...], target: str, identifier: Identifier) -> float:
    """The share (0–1) of references identified as another language than theirs: the floor under off-target
    rates.
    """
    return rate([language != target for language in identifier.identify(references)])


def uncertainty(resampled: Mapping[str, np.ndarray]) -> Uncertainty:
    """The 95 % interval of each resampled figure, cut at the ends of its range, and the resamples as text."""
    tops = ranges()
    return Uncertainty(
        {name: np.clip(interval(scores), 0, tops[name]).tolist() for name, scores in resampled.items()},
        {name: pack(scores, tops[name]) for name, scores in resampled.items()},
    )


def rate(flags: Sequence[bool]) -> float:
    """The share (0–1) that is true."""
    return sum(flags) / len(flags)


def plain(sentence: str) -> str:
    """A sentence with single spaces."""
    return " ".join(sentence.split())
