"""What an engine with a method takes in place of a sentence."""

from typing import NamedTuple

from zsnmt.decoding.search import Sentence


class Bundle(NamedTuple):
    """What is searched together for one output into a target language: the sentence itself first, then
    others with the weight of each (of which an ensemble makes nothing).
    """

    target: str
    sentences: tuple[Sentence, ...]
    weights: tuple[float, ...] = ()
