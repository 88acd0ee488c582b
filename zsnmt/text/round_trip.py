"""How much of real text survives its tokenisation: there and back again, counted."""

import itertools
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from zsnmt.processes import progress
from zsnmt.text.lines import is_blank, iterate_lines
from zsnmt.text.pipeline import TextPipeline
from zsnmt.text.tokenisation import Tokeniser, kind_before_truecasing, load_tokeniser, needs_truecaser
from zsnmt.text.truecasing import train_truecaser


@dataclass
class RoundTrip:
    """Numbers of sentences: all, `respelt` by normalisation, then as they came back; and the time it took.

    `exact` ones came back as normalised, `recased` ones but for spaces and the case of letters, `spaced`
    ones but for spaces; `lost` ones differ in more. `examples` are normalised sentences that did not come
    back exactly, and what did.
    """

    sentences: int = 0
    respelt: int = 0
    exact: int = 0
    spaced: int = 0
    recased: int = 0
    lost: int = 0
    seconds: float = 0.0
    examples: list[tuple[str, str]] = field(default_factory=list)

    def percentages(self) -> dict[str, float]:
        """The shares of all sentences (0–100)."""
        return {
            name: 100 * getattr(self, name) / self.sentences
            for name in ("respelt", "exact", "spaced", "recased", "lost")
        }


class WholePipeline:
    """All of a text pipeline, subwords included, in the form of a tokeniser: its tokens are the pieces."""

    def __init__(self, pipeline: TextPipeline, language: str) -> None:
        self.pipeline, self.language = pipeline, language

    def normalise(self, sentence: str) -> str:
        return " ".join(self.pipeline.normalise(sentence, self.language).split())

    def tokenise(self, sentence: str) -> str:
        return " ".join(self.pipeline.encode(sentence, self.language))

    def detokenise(self, tokens: str) -> str:
        return self.pipeline.decode(tokens.split(), self.language)


def load_with_truecaser(kind: str, language: str, files: Sequence[Path]) -> Tokeniser:
    """The tokeniser of a kind; a truecaser that it needs is trained on the very text."""
    if not needs_truecaser(kind):
        return load_tokeniser(kind, language)
    with tempfile.TemporaryDirectory() as folder:
        truecaser = Path(folder) / f"truecaser.{language}"
        tokenise = load_tokeniser(kind_before_truecasing(kind), language).tokenise
        train_truecaser(map(tokenise, sentences_of(files)), truecaser)
        return load_tokeniser(kind, language, truecaser)


def sentences_of(files: Iterable[Path]) -> Iterator[str]:
    """The lines of files that are not empty, one after another, with a progress bar for each file."""
    for file in files:
        lines = progress(iterate_lines(file, allow_empty_lines=True), file.name, unit=" lines")
        yield from itertools.filterfalse(is_blank, lines)


def round_trip(
    tokeniser: Tokeniser | WholePipeline, sentences: Iterable[str], examples: int = 0
) -> RoundTrip:
    """Tokenises and detokenises each sentence and keeps the first `examples` that come back different."""
    result = RoundTrip()
    for sentence in sentences:
        start = time.perf_counter()
        back = tokeniser.detokenise(tokeniser.tokenise(sentence))
        result.seconds += time.perf_counter() - start
        expected = tokeniser.normalise(sentence)
        outcome = compare_lines(expected, back)
        setattr(result, outcome, getattr(result, outcome) + 1)
        result.sentences += 1
        result.respelt += expected != " ".join(sentence.split())
        if outcome != "exact" and len(result.examples) < examples:
            result.examples.append((expected, back))
    return result


def compare_lines(expected: str, back: str) -> str:
    if back == expected:
        return "exact"
    expected, back = expected.replace(" ", ""), back.replace(" ", "")
    if back == expected:
        return "spaced"
    return "recased" if back.lower() == expected.lower() else "lost"
