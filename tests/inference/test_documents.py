"""Lines and documents whose languages are found."""

import pytest

from zsnmt.documents.languages import identify_passages
from zsnmt.documents.passages import Document, Passage, Run
from zsnmt.errors import InputError
from zsnmt.inference.confidence import agreement_score
from zsnmt.inference.documents import Legs, translate_document, translate_lines
from zsnmt.inference.translation import Translation
from zsnmt.languages import AUTO, Direction

GERMAN = "Wir haben gestern lange über das Wetter und die Reise gesprochen."
ENGLISH = "Yesterday we talked for a long time about the weather and the journey."
FRENCH = "Nous avons longtemps parlé du temps qu'il faisait et du voyage."


class Marking:
    """In place of a translator: writes down the way that each line went."""

    languages = ("en", "de", "fr")

    def legs(self, source, target, via):
        if source is None:
            raise InputError("this model must be told the source language")
        ends = [source, *([via] if via else []), target]
        return [Direction(*pair) for pair in zip(ends, ends[1:])]

    pivot = "en"

    def translate(self, lines, target, source, *, via=None, first_line=1, finished):
        assert first_line is None, "the lines of a language do not stand one after the other"
        finished(len(lines))
        way = "-".join(filter(None, (source, via, target)))
        return [f"{way}: {line}" for line in lines]

    def translate_with_scores(self, lines, target, source, **others):
        return [Translation(line, -1.0, 4) for line in self.translate(lines, target, source, **others)]

    @property
    def direct(self):
        return self


class Letter(Document):
    """A document in memory."""

    passages = [Passage((Run(text),)) for text in (FRENCH, "Oui.", "", GERMAN, FRENCH)]

    def __init__(self, translated_into=None):
        self.translated_into = translated_into

    def content(self, translations, language):
        return "|".join(text for (text,) in translations).encode()


def test_each_line_goes_from_the_language_it_is_in_and_those_in_the_target_stay():
    done = []
    lines = [GERMAN, "Ja.", FRENCH, GERMAN, ""]
    translated, found = translate_lines(Marking(), lines, Legs(AUTO, "fr"), finished=done.append)
    texts = [f"de-fr: {GERMAN}", "de-fr: Ja.", FRENCH, f"de-fr: {GERMAN}", "de-fr: "]
    assert [each.text for each in translated] == texts
    assert [each.mean_log_probability for each in translated] == [-0.25, -0.25, None, -0.25, -0.25]
    assert found == "de in 4 passages, fr in 1" and sum(done) == 4


def test_what_is_in_the_language_to_go_through_goes_directly():
    translated, _ = translate_lines(Marking(), [GERMAN, FRENCH, GERMAN], Legs(AUTO, "en", via="fr"))
    assert [each.text.split(":")[0] for each in translated] == ["de-fr-en", "fr-en", "de-fr-en"]


def test_each_line_agrees_with_the_other_way_where_there_is_one():
    lines = [GERMAN, ENGLISH, FRENCH]
    translated, _ = translate_lines(Marking(), lines, Legs(AUTO, "fr"), agreement=True)
    expected = agreement_score(f"de-fr: {GERMAN}", f"de-en-fr: {GERMAN}")
    assert [each.agreement for each in translated] == [expected, None, None] and 90 < expected < 100


def test_the_passages_of_a_document_likewise():
    content, found = translate_document(Marking(), Letter(), Legs(AUTO, "de"))
    assert content.decode() == f"fr-de: {FRENCH}|fr-de: Oui.||{GERMAN}|fr-de: {FRENCH}"
    assert found == "fr in 4 passages, de in 1"


def test_a_language_that_is_given_is_that_of_all():
    content, found = translate_document(Marking(), Letter(), Legs("en", "de"))
    assert content.decode().count("en-de: ") == 4 and found == "en in 5 passages"
    with pytest.raises(InputError, match="must be told"):
        translate_lines(Marking(), [GERMAN], Legs(None, "de"))


def test_translations_do_not_come_to_stand_beside_those_into_another_language():
    with pytest.raises(InputError, match="into 'nl', beside which those into 'de' would stand"):
        translate_document(Marking(), Letter("nl"), Legs("fr", "de"))
    content, _ = translate_document(Marking(), Letter("de-AT"), Legs("fr", "de"))
    assert content.startswith(b"fr-de: ")


def test_of_nothing_no_language_need_be_told():
    assert identify_passages([], ["de", "fr"]) == []
