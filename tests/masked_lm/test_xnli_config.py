"""The config of the study of inference: what its keys say may not be said by options, too."""

import pytest

from tests.conftest import ROOT
from zsnmt.errors import InputError
from zsnmt.masked_lm.config import XnliConfig, read_xnli_config
from zsnmt.training.config_file import ConfigFile, keys_of

PUBLISHED = ROOT / "configs" / "bert_xnli.conf"


@pytest.mark.parametrize(
    "key, option, message",
    [
        # the first two would be every run's, whatever its system and seed
        ("PRETRAINING", "--position-encoding learned", "--position-encoding, which SYSTEMS says already"),
        ("FINETUNING", "--seed 7", "--seed, which SEEDS says already"),
        ("FINETUNING", "--max-epoch=9", "--max-epoch, which the keys of batches and epochs say already"),
        ("MODEL", "--update-freq 2", "--update-freq, which the keys of batches and epochs say already"),
        ("PRETRAINING", "--lr-scheduler fixed", "--lr-scheduler, which the study sets itself"),
    ],
)
def test_an_option_that_a_key_says_is_refused(tmp_path, key, option, message):
    file = ConfigFile(PUBLISHED, keys_of(XnliConfig), {"ROOT": str(ROOT)})
    path = tmp_path / "some.conf"
    values = {each: " ".join(file.value(each).split()) for each in file.keys}  # each on a line
    values[key] += f" {option}"
    path.write_text("".join(f'{each}="{value}"\n' for each, value in values.items()))
    line = 1 + file.keys.index(key)
    with pytest.raises(InputError, match=f"some.conf, line {line}, has {message}; leave it out"):
        read_xnli_config(path, {})
