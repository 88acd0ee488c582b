"""In which language each passage is."""

import pytest

from zsnmt.documents.languages import describe, identify_passages
from zsnmt.documents.passages import Passage, Run
from zsnmt.errors import InputError

GERMAN = "Wir haben gestern lange über das Wetter und die Reise gesprochen."
FRENCH = "Nous avons longtemps parlé du temps qu'il faisait et du voyage."


def passages(*texts):
    return [Passage((Run(text),)) for text in texts]


def test_a_short_passage_has_the_language_of_most_of_the_document():
    found = identify_passages(passages(GERMAN, "in", FRENCH, GERMAN, "12"), ["en", "de", "fr"])
    assert found == ["de", "de", "fr", "de", "de"]
    assert describe(found) == "de in 4 passages, fr in 1"
    assert describe(["de"]) == "de in 1 passage" and describe([]) == ""


def test_a_short_passage_has_the_language_of_most_of_its_script():
    texts = passages(GERMAN, "价格和条件", "Preis", "Цена", "100")
    found = identify_passages(texts, ["de", "fr", "ru", "zh"])
    assert found == ["de", "zh", "de", "ru", "de"]


def test_only_the_languages_of_the_model_are_found():
    assert identify_passages(passages(GERMAN), ["en", "fr"])[0] in ("en", "fr")


def test_languages_that_cannot_be_told_apart_are_refused_with_a_remedy_of_the_command():
    with pytest.raises(InputError, match="cannot tell apart en, velan; .* with --from$"):
        identify_passages(passages(GERMAN), ["en", "velan"])


def test_a_document_without_letters_has_no_language():
    with pytest.raises(InputError, match="give it with --from"):
        identify_passages(passages("12", "..."), ["en", "fr"])
