"""Language identification: the floor under every off-target rate."""

import pytest

from zsnmt.errors import InputError
from zsnmt.language_identification import NaturalLanguageIdentifier, load_identifier, shares


def test_natural_languages_are_told_apart_among_those_of_the_experiment(tmp_path):
    identifier, signature = load_identifier("py3langid", ["en", "de", "fr"], tmp_path)
    sentences = ["This is a house with a red door.", "Das ist ein Haus mit einer roten Tür.", "C'est une maison rouge.", " "]
    assert identifier.identify(sentences) == ["en", "de", "fr", "unknown"]
    assert "py3langid" in signature and "en de fr" in signature
    # Dutch is not among them, so it cannot be the answer
    assert identifier.identify(["Dit is een huis met een rode deur."])[0] in ("en", "de", "fr")


def test_lexicons_beside_the_text(tmp_path):
    (tmp_path / "lexicon.aa").write_text("ba\nbi\n")
    (tmp_path / "lexicon.bb").write_text("ko\nku\n")
    identifier, signature = load_identifier("lexicon", ["aa", "bb"], tmp_path)
    assert identifier.identify(["Ba bi ko.", "ku ko", "zz", ""]) == ["aa", "bb", "unknown", "unknown"]
    assert signature == "lexicon of aa bb"


def test_wrong_languages_and_kinds_are_refused(tmp_path):
    with pytest.raises(InputError, match="ISO 639-1"):
        NaturalLanguageIdentifier(["en", "velan"])
    with pytest.raises(InputError, match="py3langid or lexicon"):
        load_identifier("guess", ["en"], tmp_path)


def test_shares_add_up_and_begin_with_the_largest():
    assert shares(["en", "de", "en", "fr", "en"]) == {"en": 0.6, "de": 0.2, "fr": 0.2}
