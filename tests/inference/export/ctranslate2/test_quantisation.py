"""Weights in 8 bits: exact sums on every processor, as fine as that allows, and no type that is wrong
somewhere.
"""

import os
import subprocess
import sys

import numpy as np
import pytest
import torch

from tests.conftest import ROOT, make_dictionary
from tests.support.exports import export, random_model, random_translations
from zsnmt.decoding.search import Search
from zsnmt.errors import InputError
from zsnmt.inference.export.ctranslate2.check import MARGIN, differences, stock_model
from zsnmt.inference.export.ctranslate2.engine import CTranslate2Engine
from zsnmt.inference.export.ctranslate2.quantisation import check_quantization, int8_rows
from zsnmt.inference.export.run import export_run

pytest.importorskip("ctranslate2")

# Routines that processors without VNNI take: for Intel's library, and for oneDNN, which CTranslate2 uses on
# others.
OLDER_PROCESSORS = [
    dict(MKL_ENABLE_INSTRUCTIONS="AVX2"),
    dict(CT2_USE_MKL="0", ONEDNN_MAX_CPU_ISA="AVX2", DNNL_MAX_CPU_ISA="AVX2"),
]
MEASURE = """
import sys
from pathlib import Path
from tests.inference.export.ctranslate2.test_quantisation import noise
print(noise(Path(sys.argv[1])))
"""


def noise(folder) -> float:
    """The root mean square difference of an int8 export without residual in two layers, in a new folder."""
    model, dictionary = random_model(encoder_residual_removal_layers="1,3"), make_dictionary()
    engine = CTranslate2Engine(export(model, dictionary, folder, "int8"), Search())
    return differences(model, engine, random_translations(16, dictionary)).rms


def test_no_sum_of_two_products_leaves_16_bits():
    weight = np.random.default_rng(3).standard_t(2, (50, 31)).astype(np.float32)
    weight[0] = 0
    weight[1] = 1e-38
    quantised, scales = int8_rows(weight)
    pairs = np.abs(np.pad(quantised.astype(int), ((0, 0), (0, 1)))).reshape(50, 16, 2).sum(2)
    assert quantised.dtype == np.int8 and pairs.max() * 255 < 2**15
    assert np.isfinite(scales).all() and not quantised[0].any()
    assert (pairs[2:].max(1) >= 126).all()  # no finer scale would do
    error = np.abs(quantised / scales[:, None] - weight)
    assert (error <= 0.5 / scales[:, None] * (1 + 1e-6)).all()


def test_a_row_of_single_weights_keeps_all_bits():
    quantised, scales = int8_rows(np.array([[0, 2, 0, -1, 0]], dtype=np.float32))
    assert quantised.tolist() == [[0, 127, 0, -64, 0]] and scales.tolist() == [63.5]


@pytest.mark.slow
@pytest.mark.parametrize("forced", OLDER_PROCESSORS, ids=str)
def test_older_processors_compute_the_same(tmp_path, forced):
    """With CTranslate2's own scales the noise there is twenty times as large."""
    environment = {**os.environ, **forced, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", MEASURE, tmp_path / "there"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert float(done.stdout.split()[-1]) == pytest.approx(noise(tmp_path / "here"), rel=0.05)


@pytest.mark.parametrize("quantization", ["int8", "int8_float32", "bfloat16"])
@pytest.mark.parametrize("factor", [1, 300], ids=["small activations", "large activations"])
def test_long_sentences_and_large_activations_are_no_noisier_than_a_stock_models(
    tmp_path, quantization, factor
):
    model, dictionary = random_model(encoder_residual_removal_layers="1,3"), make_dictionary()
    with torch.no_grad():
        for layer in model.encoder.layers:
            layer.fc1.weight *= factor**0.5
            layer.fc2.weight *= factor**0.5
    stock, translations = stock_model(model), random_translations(16, dictionary, longest=30)
    measured = {}
    for name, each in {"own": model, "stock": stock}.items():
        engine = CTranslate2Engine(export(each, dictionary, tmp_path / name, quantization), Search())
        measured[name] = differences(each, engine, translations).rms
    assert 0 < measured["own"] < MARGIN * measured["stock"]


def test_a_type_that_is_wrong_on_some_processors_is_refused_with_the_reason(tmp_path):
    reason = (
        "--quantization int16 is not offered: CTranslate2 computes int16 on Intel processors alone, .* "
        "choose int8"
    )
    with pytest.raises(InputError, match=reason):
        export_run(tmp_path, quantization="int16")
    with pytest.raises(InputError, match="--quantization int4 is not offered: choose float32, int8"):
        check_quantization("int4")
