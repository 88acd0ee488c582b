"""A handful of numeric tests by the plainest kernels, which no present processor takes by itself."""

import subprocess
import sys

import pytest

from tests.conftest import ROOT

HANDFUL = [
    "tests/modules/test_onednn_linear.py::test_factors_may_have_any_strides",
    "tests/decoding/packed/test_linear.py",
    "tests/decoding/test_pytorch_engine.py::test_every_architecture_finds_what_fairseq_does",
    "tests/models/test_frozen_vocabulary.py::test_steps_equal_the_full_pass_whatever_the_stages",
    "tests/models/test_zs_transformer.py::test_neutral_seams_are_fairseqs_model_bit_for_bit",
    "tests/criterions/test_chunked_label_smoothed_cross_entropy.py::test_loss_gradients_and_figures_are_fairseqs",
    "tests/optim/test_fused_adam.py::test_updates_are_fairseqs",
    "tests/analysis/test_svcca.py::test_it_agrees_with_the_arithmetic_of_covariances",
]


@pytest.mark.slow
def test_a_handful_passes_by_the_plainest_kernels():
    command = [
        sys.executable,
        "-m",
        "tests.support.processors",
        "sse4.1",
        "-q",
        "-x",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        *HANDFUL,
    ]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stdout + run.stderr
    assert " passed" in run.stdout and "skipped" not in run.stdout
