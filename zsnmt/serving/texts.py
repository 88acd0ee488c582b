"""A text of a request: its sentences are translated, and what stands around them stays."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from zsnmt.documents.passages import Document, Sentence, sentences_of
from zsnmt.documents.plain_text import PlainText
from zsnmt.documents.translation import lines_of, new_line, one_line, texts_of
from zsnmt.documents.web_page import WebPage
from zsnmt.errors import InputError
from zsnmt.text.lines import find_fault

FORMATS: Mapping[str, Callable[[str], Document]] = {"text": PlainText, "html": WebPage}


def read(text: str, form: str) -> Document:
    """A text in one of the `FORMATS`; `InputError` for a control character, and for broken HTML."""
    document = FORMATS[form](text)
    refuse_faults(document)
    return document


def refuse_faults(document: Document) -> None:
    """`InputError` for a character that text must not hold."""
    for passage in document.passages:
        if fault := find_fault(one_line(passage.text)):
            raise InputError(f"a line of the text {fault}")


def words(document: Document) -> str:
    """All that is to be translated."""
    return "\n".join(passage.text for passage in document.passages)


def words_in(text: str, form: str) -> str:
    """What of a text in one of the `FORMATS` is to be translated, or was: without tags, scripts and the
    like.
    """
    return words(FORMATS[form](text))


@dataclass(frozen=True)
class SplitText:
    """A text in the sentences of its language: those of each passage."""

    document: Document
    sentences: Sequence[Sequence[Sentence]]

    @classmethod
    def cut(cls, document: Document, language: str) -> "SplitText":
        """A text by the rules of its language."""
        return cls(document, [sentences_of(passage, language) for passage in document.passages])

    @cached_property
    def lines(self) -> list[str]:
        """What a model is asked to translate, each line once."""
        return [*dict.fromkeys(lines_of(chain(*self.sentences)))]

    @cached_property
    def whole_lines(self) -> list[str]:
        """Those of `lines` that are sentences, without those by which parts of one are found again."""
        return [*dict.fromkeys(one_line(each.text) for each in chain(*self.sentences) if each.has_words)]

    def fill(self, made: Mapping[str, str], language: str) -> str:
        """The text with the translations of its lines, into that language."""
        return self.content(made, language).decode()

    def content(self, made: Mapping[str, str], language: str) -> bytes:
        """The same as a document has it."""
        made = {line: new_line(line, translation) for line, translation in made.items()}
        texts = [
            texts_of(passage, sentences, made)
            for passage, sentences in zip(self.document.passages, self.sentences, strict=True)
        ]
        return self.document.content(texts, language)
