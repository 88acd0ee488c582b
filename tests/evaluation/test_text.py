"""What is scored, and how much of it."""

import pytest

from zsnmt.cli import confidence, evaluate
from zsnmt.errors import InputError
from zsnmt.evaluation.settings import TextChoice


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
