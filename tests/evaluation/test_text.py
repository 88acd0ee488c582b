"""What is scored, and how much of it."""

import pytest

from zsnmt.errors import InputError
from zsnmt.evaluation.text import TextChoice


@pytest.mark.parametrize("lines", [0, -1])
def test_lines_are_one_or_more(lines):
    with pytest.raises(InputError, match=f"{lines} lines cannot be scored; give 1 or more"):
        TextChoice(lines=lines)
