"""The kind of processor that computes, as far as it decides how CTranslate2 and its libraries compute."""

import os
import platform

import torch

INSTRUCTIONS = (
    "sse4",
    "avx",
    "amx",
    "fma",
    "f16c",
    "neon",
    "asimd",
    "sve",
    "i8mm",
    "bf16",
)  # how their names begin
FORCED_BY = (
    "CT2_FORCE_CPU_ISA",
    "CT2_USE_MKL",
    "MKL_ENABLE_INSTRUCTIONS",
    "MKL_CBWR",
    "ONEDNN_MAX_CPU_ISA",
    "DNNL_MAX_CPU_ISA",
)


def this_processor() -> dict:
    """The name, architecture and instruction sets of this machine's processor, and which of them the
    environment forbids.

    Two processors that give equal descriptions compute alike: a library chooses its routines by nothing else.
    """
    known = torch.cpu.get_capabilities() if hasattr(torch.cpu, "get_capabilities") else {}
    return {
        "name": known.get("cpu_name") or platform.processor() or "unknown",
        "architecture": known.get("architecture") or platform.machine(),
        "instructions": sorted(
            name for name, there in known.items() if there is True and name.startswith(INSTRUCTIONS)
        ),
        "forced": {name: os.environ[name] for name in FORCED_BY if name in os.environ},
    }
