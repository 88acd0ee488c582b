"""The switches by which the libraries take the kernels of another processor.

    python -m tests.support.processors avx2 tests/modules

runs tests so, and stops where PyTorch does not take the kernels that are asked for.
"""

import os
import sys

# oneDNN and MKL multiply for PyTorch, ATen does the rest of it; CTranslate2 and numpy's OpenBLAS choose for
# themselves.
NAMES = ("ONEDNN_MAX_CPU_ISA", "MKL_CBWR", "ATEN_CPU_CAPABILITY", "CT2_FORCE_CPU_ISA", "OPENBLAS_CORETYPE")
SWITCHES = {
    "sse4.1": dict(zip(NAMES, ("SSE41", "COMPATIBLE", "default", "GENERIC", "Nehalem"))),
    "avx": dict(zip(NAMES, ("AVX", "AVX", "default", "AVX", "Sandybridge"))),
    "avx2": dict(zip(NAMES, ("AVX2", "AVX2", "avx2", "AVX2", "Haswell"))),
    "avx512": dict(zip(NAMES, ("AVX512_CORE", "AVX512", "avx512", "AVX512", "SkylakeX"))),
}


def environment(processor: str) -> dict[str, str]:
    return {**os.environ, **SWITCHES[processor]}


def check(processor: str) -> None:
    """In a process with the environment of a processor: whether PyTorch follows."""
    import torch

    wanted, found = SWITCHES[processor]["ATEN_CPU_CAPABILITY"], torch.backends.cpu.get_cpu_capability()
    assert wanted.upper() == found, f"PyTorch takes the kernels for {found} where {wanted} is asked for"


if __name__ == "__main__":
    chosen, *arguments = sys.argv[1:]
    if os.environ.items() >= SWITCHES[chosen].items():
        import pytest

        check(chosen)
        sys.exit(pytest.main(arguments))
    os.execve(
        sys.executable,
        [sys.executable, "-m", "tests.support.processors", chosen, *arguments],
        environment(chosen),
    )
