"""What is scored, and how much of it."""

import pytest

from zsnmt.cli import confidence, evaluate
from zsnmt.errors import InputError
from zsnmt.evaluation.settings import TextChoice
from zsnmt.evaluation.text import directions_with_text


@pytest.mark.parametrize("lines", [0, -1])
def test_lines_are_one_or_more(lines):
    with pytest.raises(InputError, match=f"{lines} lines cannot be scored; give 1 or more"):
        TextChoice(lines=lines)


@pytest.mark.parametrize("verb", [evaluate, confidence])
@pytest.mark.parametrize(
    "option, value, message",
    [
        ("--directions", "de-fr,", "'' is not a direction: write two different languages"),
        ("--directions", "de-f/r", "'f/r' is not a language code"),
        ("--lines", "0", "'0' is not a whole number above 0"),
    ],
)
def test_what_cannot_be_scored_is_told_with_the_rule(tmp_path, verb, option, value, message):
    with pytest.raises(InputError, match=f"argument {option}: {message}"):
        verb.main([str(tmp_path), option, value])


def test_a_folder_without_text_is_told_from_one_that_is_not_there(tmp_path):
    (tmp_path / "test.de").write_text("eins\n")
    with pytest.raises(InputError, match="nowhere is not a folder; give the one that holds the paral"):
        directions_with_text(tmp_path / "nowhere", "test", ["en", "de"])
    with pytest.raises(InputError, match="no text in split 'test' for any two of en, de; name another --spl"):
        directions_with_text(tmp_path, "test", ["en", "de"])
