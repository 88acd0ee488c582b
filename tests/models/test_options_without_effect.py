"""Options of a model that do nothing without another one."""

import pytest
from fairseq.models import ARCH_CONFIG_REGISTRY

from tests.conftest import toy_options
from tests.models.test_zs_transformer import build
from tests.terms.conftest import TermTask
from zsnmt.errors import InputError
from zsnmt.models.zs_transformer import ZeroShotTransformer


@pytest.mark.parametrize(
    "inert, remedy",
    [
        (dict(encoder_residual_replacement="mean_pool"), dict(encoder_residual_removal_layers="2")),
        (dict(encoder_residual_removal_updates=5), dict(encoder_residual_removal_layers="2")),
        (dict(position_query_base=10.0), dict(encoder_position_query_layers="middle")),
        (dict(decoder_language_feed_forward_dim=9), dict(decoder_language_feed_forward_layers="1")),
        (dict(encoder_target_language_layers="2"), dict(encoder_target_language="tag_embedding")),
        (dict(relative_key_query_product=True), dict(encoder_position_encoding="relative_key_query")),
        (dict(encoder_position_bias_layers="2"), dict(encoder_position_encoding="tupe_absolute")),
        (dict(adapter_dim=3), dict(frozen_vocabulary="7", decoder_language_embedding="none")),
    ],
    ids=lambda options: next(iter(options)),
)
def test_an_option_without_the_one_that_it_needs_is_refused(inert, remedy):
    (name,) = inert
    with pytest.raises(InputError, match=f"--{name.replace('_', '-')} .*has no effect .*leave it out"):
        build(TermTask("t_enc_t_dec"), **inert)
    build(TermTask("t_enc_t_dec"), **inert, **remedy)


@pytest.mark.parametrize("name", [name for name in ARCH_CONFIG_REGISTRY if name.startswith("zs_transformer")])
def test_all_options_of_an_architecture_build_a_model_and_build_it_again(toy_task, name):
    """With every option given, as a checkpoint has them."""
    options = toy_options()
    ARCH_CONFIG_REGISTRY[name](options)
    for _ in range(2):
        ZeroShotTransformer.build_model(options, toy_task)
