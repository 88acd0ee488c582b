"""The choices of a text pipeline."""

from dataclasses import dataclass

from zsnmt.errors import InputError
from zsnmt.text.sampling import check_balance

RAW = "raw"  # the kind of tokenisation that is none
MODEL_TYPES = BPE, UNIGRAM = "bpe", "unigram"
WORD = "word"
UNIT_TYPES = (*MODEL_TYPES, WORD)


@dataclass(frozen=True)
class TextSettings:
    """How the text pipeline is made; see `zsnmt.text.tokenisation` and
    `zsnmt.text.subword.train_subwords`.
    """

    vocabulary_size: int = 8000
    model_type: str = BPE  # or another of UNIT_TYPES; word: the most frequent words
    balance: float | None = None
    threshold: int = 0  # a language uses only pieces at least this frequent in its training text; 0: all
    seed: int = 1
    tokenisation: str = RAW  # a kind for all languages, then exceptions like en=moses
    mark_tokens: bool = False  # no piece belongs to two languages
    merges: int | None = None  # of BPE, in place of vocabulary_size
    transliterate: str | None = None  # devanagari: for all Indic scripts

    def __post_init__(self) -> None:
        if self.merges is not None and self.model_type != BPE:
            raise InputError(
                f"merge operations are those of BPE, not of '{self.model_type}'; give its number of pieces"
            )
        if self.threshold < 0:
            raise InputError(
                f"a threshold of {self.threshold} cannot be used; give how often a piece must occur, or 0 "
                "for all"
            )
        if self.words is not None and self.words < 1:
            raise InputError(f"a vocabulary of {self.words} words cannot be used; give 1 or more")
        if self.words and (self.threshold > 0 or self.balance is not None):
            raise InputError(
                "words have no threshold and no balance, which are those of a subword model; leave them out"
            )
        check_balance(self.balance)

    @property
    def words(self) -> int | None:
        """The number of units that are words, None where they are not."""
        return self.vocabulary_size if self.model_type == WORD else None
