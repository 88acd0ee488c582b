"""Texts in lines to translate, and what is kept between them."""

import time
from contextlib import suppress

import pytest

from zsnmt.errors import InputError
from zsnmt.serving.cuts import cut


def shouted(text: str, form: str = "text") -> str:
    pieces = cut(text, form)
    return pieces.filled([line.upper() for line in pieces.lines])


@pytest.mark.parametrize(
    "text",
    ["", " ", "\n\n", "one", "one\ntwo", " one\r\n\n\ttwo  \u2028three\x0b", "\u2581", "\u3000one\x85"],
)
def test_everything_but_the_lines_is_kept(text):
    pieces = cut(text, "text")
    assert pieces.filled(pieces.lines) == text and shouted(text) == text.upper()
    assert all(line == line.strip() != "" and len(line.splitlines()) == 1 for line in pieces.lines)


def test_lines_are_cut_at_line_breaks_alone():
    assert cut("One. Two!\n  Three ", "text").lines == ["One. Two!", "Three"]
    assert cut("\u2581 \n \u2581\u2581", "text").lines == []


def test_markup_is_kept_and_the_text_between_it_translated():
    page = (
        "<!DOCTYPE html><p class='a<b'>One &amp;\n  two<br/>three <B>four</B></p><!-- five -->"
        "<script>if (a < b) six()</script><style>p > b {}</style> <?seven?> &lt;eight&gt;"
    )
    assert cut(page, "html").lines == ["One & two", "three", "four", "<eight>"]
    assert shouted(page, "html") == (
        "<!DOCTYPE html><p class='a<b'>ONE &amp; TWO<br/>THREE <B>FOUR</b></p><!-- five -->"
        "<script>if (a < b) six()</script><style>p > b {}</style> <?seven?> &lt;EIGHT&gt;"
    )


@pytest.mark.parametrize(
    "page", ["a < b", "<p>a", "a &", "a &am", "<", "a <b", "<!--a", "</p", "<![CDATA[a]]>"]
)
def test_broken_markup_is_cut_somehow(page):
    pieces = cut(page, "html")
    again = cut(pieces.filled(pieces.lines), "html")
    assert again.lines == pieces.lines  # what is given back says the same


@pytest.mark.slow
@pytest.mark.parametrize("part", ["<", "<a ", "<!--", "&", "</", "<a b='", "<![", "<?", " "])
def test_hostile_markup_takes_no_time(part):
    begin = time.process_time()
    with suppress(InputError):
        cut(part * (10_000 // len(part)), "html")
    assert time.process_time() - begin < 5


@pytest.mark.parametrize("character", ["\x00", "\x07", "\x1b", "\x7f", "\ufeff"])
@pytest.mark.parametrize("form", ["text", "html"])
def test_control_characters_are_refused(character, form):
    with pytest.raises(InputError, match="control character U|byte order mark"):
        cut(f"<p>one</p>\n{character}two", form)
