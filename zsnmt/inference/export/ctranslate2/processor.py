"""The kind of processor that computes, as far as it decides how CTranslate2 and its libraries compute."""

import os
import platform
from pathlib import Path

# How their names begin.
INSTRUCTIONS = ("sse4", "avx", "amx", "fma", "f16c", "neon", "asimd", "sve", "i8mm", "bf16")
DESCRIPTION = Path("/proc/cpuinfo")  # what Linux says of the processor
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
    known = description(DESCRIPTION)
    instructions = f"{known.get('flags', '')} {known.get('Features', '')}".split()  # of Intel, of ARM
    return {
        "name": known.get("model name") or platform.processor() or "unknown",
        "architecture": platform.machine(),
        "instructions": sorted({name for name in instructions if name.startswith(INSTRUCTIONS)}),
        "forced": {name: os.environ[name] for name in FORCED_BY if name in os.environ},
    }


def description(path: Path) -> dict[str, str]:
    """The lines `name : value` of a file on the first of some processors; none where there is no file."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    pairs = (line.partition(":") for line in reversed(lines))
    return {name.strip(): value.strip() for name, _, value in pairs}
