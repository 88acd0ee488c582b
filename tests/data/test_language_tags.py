"""Which language tags stand where."""

import pytest

from tests.conftest import make_dictionary
from zsnmt.data.language_tags import TagPlacement, decoder_tag, source_tags
from zsnmt.errors import InputError
from zsnmt.languages import Direction


@pytest.mark.parametrize("placement", TagPlacement.NAMES)
def test_a_placement_spells_where_tags_stand(placement):
    """`s_enc`: source tag on the encoder's side; `t_enc`, `t_dec`: target tag there, or as the decoder's
    start.
    """
    expected = ["de"] * ("s_enc" in placement) + ["it"] * ("t_enc" in placement)
    assert source_tags(placement, Direction("de", "it")) == expected
    assert decoder_tag(placement, Direction("de", "it")) == ("it" if "t_dec" in placement else None)


def test_an_unknown_placement_names_the_known_ones():
    with pytest.raises(
        InputError, match="unknown tag placement 'dec': it must be one of t_dec, t_enc, s_enc_t_dec"
    ):
        TagPlacement("dec", make_dictionary())
