"""What every engine of translation takes and gives."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from zsnmt.decoding.length_penalty import POWER, search_penalty
from zsnmt.errors import InputError
from zsnmt.languages import Direction, language_tag
from zsnmt.text.dictionary import Dictionary
from zsnmt.text.piece_counts import PieceCounts

if TYPE_CHECKING:
    import torch  # an export is read without

    from zsnmt.decoding.methods.settings import Method  # which says how to search

METHOD_REFUSAL = (  # follows the name of an engine or a folder
    "cannot translate by {way}; give a run folder, and --engine pytorch; of all ways CTranslate2 knows "
    "direct translation and mask:renormalise=yes, with any beam"
)


class Sentence(NamedTuple):
    """Token ids of a source, tags at its head and EOS at its end, and the decoder's first input: a tag, or
    EOS.
    """

    source: list[int]
    start: int


class Hypothesis(NamedTuple):
    """Token ids of a translation, EOS last, and its score: log-probability (nats) over the length penalty."""

    tokens: list[int]
    score: float


@dataclass(frozen=True)
class Search:
    """How to search: hypotheses kept at each step, and the length penalty (see
    `zsnmt.decoding.length_penalty`).

    The defaults are those of Liu et al. (2021), and of every command. An output has at most `max_len_a` times
    as many tokens as its source, with tags and EOS, and `max_len_b` more. Raises InputError for a beam below
    1, and a length penalty that there is not.
    """

    beam: int = 4
    length_penalty: float = 1.0
    length_penalty_form: str = POWER
    max_len_a: float = 1.2
    max_len_b: int = 50

    def __post_init__(self) -> None:
        search_penalty(self.length_penalty, self.length_penalty_form)
        if self.beam < 1:
            raise InputError(f"a beam of {self.beam} keeps nothing; give 1 or more")

    def limit(self, source_length: int, longest: int) -> int:
        """How many tokens an output may have before EOS, for a source of so many and a model that writes
        no more than `longest`.
        """
        return min(int(self.max_len_a * source_length + self.max_len_b), longest)

    def score(self, log_probability: float, length: int) -> float:
        """The score of a hypothesis of so many tokens, EOS among them."""
        return log_probability / length ** search_penalty(self.length_penalty, self.length_penalty_form)

    def log_probability(self, hypothesis: Hypothesis) -> float:
        """That of all its tokens, EOS among them: its score without the length penalty."""
        length = len(hypothesis.tokens)
        return hypothesis.score * length ** search_penalty(self.length_penalty, self.length_penalty_form)


def never_written(dictionary: Dictionary, languages: Sequence[str]) -> list[int]:
    """The ids that no translation has: padding, and the languages' tags."""
    return [dictionary.pad(), *(dictionary.index(language_tag(language)) for language in languages)]


class Vocabulary(Protocol):
    """What masks are made of, such as a codec: the symbols and languages of a model."""

    @property
    def dictionary(self) -> Dictionary: ...

    @property
    def languages(self) -> Sequence[str]: ...


class Engine(Protocol):
    """What searches for translations. `signature` names what of it changes them; empty for the default in
    float32, which finds what fairseq's search does.

    `device`: PyTorch's, None without PyTorch; its memory must hold what so many `models` keep at once by
    `search`, which is the default one for fairseq's. `gpus`: how many share the work; `trained`: of several
    models, the directions that each was trained on, by the names of their runs.
    """

    signature: str
    device: torch.device | None = None
    models: int = 1
    search: Search = Search()
    gpus: int = 1
    trained: Mapping[str, Collection[Direction]] = MappingProxyType({})

    def translate(self, batches: Iterable[Sequence[Any]]) -> Iterator[list[list[Hypothesis]]]:
        """For each batch, in order, the hypotheses of each of its sentences, best first; those of a method
        are bundles (`zsnmt.decoding.methods.bundle`).
        """

    def by(
        self, method: Method, codec: Vocabulary, *, search: Search, counts: PieceCounts | None = None
    ) -> Engine:
        """The same model, searched by a method, with `search`; masks need the `counts` of the pieces of each
        language.

        Raises `InputError` for an engine that cannot, and for a mask without counts.
        """
        raise InputError(f"{self.signature} {METHOD_REFUSAL.format(way=method.name)}")


class WrapperEngine(Engine):
    """An engine that works with another one, and says of itself what that one does."""

    def __init__(self, engine: Engine) -> None:
        self.engine, self.signature = engine, engine.signature
        self.device, self.search = engine.device, engine.search
        self.models, self.trained = engine.models, engine.trained


class BatchEngine(Engine, Protocol):
    """An engine whose batches are translated each by itself."""

    def translate(self, batches: Iterable[Sequence[Any]]) -> Iterator[list[list[Hypothesis]]]:
        """For each batch, in order, the hypotheses of each of its sentences, best first."""
        return map(self.translate_batch, batches)

    def translate_batch(self, sentences: Sequence[Any], /) -> list[list[Hypothesis]]:
        """The hypotheses of each sentence of a batch, best first."""
