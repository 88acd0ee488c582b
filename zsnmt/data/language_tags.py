"""Language tags: which stand where, by the placement and the direction."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from zsnmt.errors import InputError
from zsnmt.languages import Direction, language_tag
from zsnmt.text.dictionary import Dictionary


class Tags(NamedTuple):
    """The sides of a direction, `source` or `target`, whose tags stand at the head of the source, in this
    order, and the one whose tag is the decoder's first input; None for the end-of-sentence symbol.
    """

    source: tuple[str, ...]
    decoder: str | None


PLACEMENTS = {
    "t_dec": Tags((), "target"),
    "t_enc": Tags(("target",), None),
    "s_enc_t_dec": Tags(("source",), "target"),
    "s_enc_t_enc": Tags(("source", "target"), None),
    "t_enc_t_dec": Tags(("target",), "target"),
    "s_enc_t_enc_t_dec": Tags(("source", "target"), "target"),
}


class TagPlacement:
    """Where the language tags of a direction stand, by a name of `PLACEMENTS`.

    Tags on the encoder's side are a prefix of the source, whose end-of-sentence symbol stays. Raises
    InputError for another name.
    """

    NAMES = tuple(PLACEMENTS)
    IN_DECODER = tuple(name for name, tags in PLACEMENTS.items() if tags.decoder)

    def __init__(self, name: str, dictionary: Dictionary) -> None:
        if name not in self.NAMES:
            raise InputError(f"unknown tag placement '{name}': it must be one of {', '.join(self.NAMES)}")
        self.name = name
        self.dictionary = dictionary

    @property
    def starts_decoder(self) -> bool:
        """Whether the decoder's first input is a tag."""
        return self.name in self.IN_DECODER

    @property
    def sides(self) -> tuple[str, ...]:
        """Whose tags stand at the head of the source, `source` or `target`, in this order."""
        return PLACEMENTS[self.name].source

    def source_prefix(self, direction: Direction) -> list[int]:
        """Ids of the tags at the head of the source."""
        return [
            self.dictionary.index(language_tag(language)) for language in source_tags(self.name, direction)
        ]

    def decoder_start(self, direction: Direction) -> int:
        """Id of the decoder's first input."""
        language = decoder_tag(self.name, direction)
        return self.dictionary.eos() if language is None else self.dictionary.index(language_tag(language))

    def target_of(self, source: Sequence[int], start: int, languages: Iterable[str]) -> str:
        """The language that a source, with its tags, is translated into, when the decoder begins so.

        `InputError` for a tag of no such language.
        """
        tag = start if self.starts_decoder else source[self.sides.index("target")]
        for language in languages:
            if self.dictionary.index(language_tag(language)) == tag:
                return language
        raise InputError(
            f"a sentence has {self.dictionary[tag]} where the tag of its target language belongs; make the "
            "data again with zsnmt prepare"
        )


def source_tags(placement: str, direction: Direction) -> list[str]:
    """Languages whose tags stand, in this order, at the head of the source under a tag placement."""
    return [getattr(direction, side) for side in PLACEMENTS[placement].source]


def decoder_tag(placement: str, direction: Direction) -> str | None:
    """The language whose tag is the decoder's first input, or None where that is the end-of-sentence
    symbol.
    """
    side = PLACEMENTS[placement].decoder
    return side and getattr(direction, side)
