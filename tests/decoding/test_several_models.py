"""Small models that translate together; runs that do are in `tests/inference/test_several_models.py`."""

from tests.support.decoding import build, engine_of, lengths, made_sentences, plain
from zsnmt.decoding.several_models import SeveralModels


def test_together_they_write_no_more_than_each_of_them_can():
    search, given = plain(2, limit=50), made_sentences(4)
    longer, shorter = (engine_of(build(max_target_positions=number, ends=0.0), search) for number in (9, 6))
    assert max(lengths(longer.translate_batch(given))) == 9
    for engines in ([longer, shorter], [shorter, longer]):
        assert max(lengths(SeveralModels(engines).translate_batch(given))) == 6
