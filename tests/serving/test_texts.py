"""Texts of requests: what is translated of them, and what stays."""

import time
from contextlib import suppress

import pytest

import tests.support.serving_extra  # noqa: F401  (first: it skips where a package is missing)
from zsnmt.errors import InputError
from zsnmt.serving.texts import SplitText, read, words


def shouted(text: str, form: str = "text") -> str:
    """A text whose sentences were translated into capitals."""
    cut = SplitText.cut(read(text, form), "en")
    return cut.fill({line: line.upper() for line in cut.lines}, "en")


@pytest.mark.parametrize(
    "text", ["", " ", "\n\n", "one", "One. Two!\n", " one\r\n\n\ttwo  \n", "12:30", "\u3000a"]
)
def test_everything_but_the_sentences_is_kept(text):
    cut = SplitText.cut(read(text, "text"), "en")
    assert cut.fill({}, "en") == text and shouted(text) == text.upper()
    assert all(line == " ".join(line.split()) != "" for line in cut.lines)


def test_sentences_are_translated_once():
    assert SplitText.cut(read("One is. Two is.\nOne is.", "text"), "en").lines == ["One is.", "Two is."]


@pytest.mark.parametrize("text, form", [("Green tea", "text"), ("<h1>Green tea</h1>", "html")])
def test_a_full_stop_behind_a_title_is_left_out_as_in_documents(text, form):
    cut = SplitText.cut(read(text, form), "en")
    assert cut.fill({line: f"{line}." for line in cut.lines}, "en") == text


def test_what_the_model_has_nothing_for_stays_as_in_documents():
    cut = SplitText.cut(read("One is. Two is.", "text"), "en")
    assert cut.fill({"One is.": "", "Two is.": "ZWEI."}, "de") == "One is. ZWEI."


def test_tags_are_no_words():
    page = "<p title=x>One &amp; two.</p><script>three()</script>"
    assert words(read(page, "html")) == "One & two.\nx"
    assert shouted(page, "html") == '<p title="X">ONE &amp; TWO.</p><script>three()</script>'


@pytest.mark.parametrize(
    "page", ["a < b", "<p>a", "a &", "a &am", "<", "a <b", "<!--a", "</p", "<![CDATA[a]]>", "</>a", "a</>"]
)
def test_broken_markup_is_kept_too(page):
    cut = SplitText.cut(read(page, "html"), "en")
    assert cut.fill({line: line for line in cut.lines}, "en") == page


@pytest.mark.slow
@pytest.mark.parametrize(
    "part",
    ["<", "<a ", "<!--", "&", "</", "<a b='", "<![", "<?", " ", "<p>", "</p>", "<a/", ".", "a. ", "\n"],
)
@pytest.mark.parametrize("form", ["text", "html"])
def test_hostile_texts_take_no_time(part, form):
    begin = time.process_time()
    with suppress(InputError):
        shouted(part * (10_000 // len(part)), form)
    assert time.process_time() - begin < 10


@pytest.mark.parametrize("character", ["\x00", "\x07", "\x1b", "\x7f"])
@pytest.mark.parametrize("form", ["text", "html"])
def test_control_characters_are_refused(character, form):
    with pytest.raises(InputError, match="control character U"):
        read(f"<p>one</p>\n{character}two", form)


@pytest.mark.parametrize("form", ["text", "html"])
def test_byte_order_marks_that_joined_files_leave_are_no_part_of_a_line(form):
    text = SplitText.cut(read("one\n\ufefftwo.\n\n\ufeff three", form), "en")
    assert not any("\ufeff" in line for line in text.lines) and "three" in text.lines
