"""What `zsnmt translate` refuses before it reads text."""

from argparse import Namespace

import pytest

from tests.support.serving import ToldTranslator
from zsnmt.cli.translate import AUTO, refuse_wrong_languages
from zsnmt.errors import InputError


def asked(languages: list[str], **given: str | None) -> None:
    translator = ToldTranslator()
    translator.languages = languages
    options = Namespace(
        **{"source": AUTO, "via": None, "way": None, "scores": None, "agreement": False, **given}
    )
    refuse_wrong_languages(translator, options)


def test_any_source_that_is_found_may_be_the_pivot():
    asked(["en", "de"], to="de", via="en")  # a model of two languages
    asked(["en", "de", "fr"], to="de", via="en")
    with pytest.raises(InputError, match="xx"):
        asked(["en", "de"], to="xx", via="en")
    with pytest.raises(InputError, match="yy"):
        asked(["en", "de", "fr"], to="de", via="yy")
