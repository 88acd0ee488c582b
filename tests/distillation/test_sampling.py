"""How many pairs of each set there are to sample from."""

import pytest

from zsnmt.distillation.sampling import pairs_in
from zsnmt.errors import InputError
from zsnmt.languages import Direction


def test_a_direction_without_training_text_is_named(tmp_path):
    with pytest.raises(InputError, match=f"{tmp_path} has no training text for en-de; add it"):
        pairs_in(tmp_path, Direction("en", "de"))
