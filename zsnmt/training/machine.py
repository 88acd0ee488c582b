"""The machine that a training is for."""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from zsnmt.processes import cores

LIMIT_FILE = Path("/sys/fs/cgroup/memory.max")  # of a container
GIGABYTE = 10**9


@dataclass(frozen=True)
class Machine:
    """Cores, memory (GB), the memory of its GPU (GB, 0 without one), and whether its CPU multiplies in
    bfloat16.
    """

    cores: int
    memory: float
    gpu: float = 0
    bfloat16: bool = False

    def __str__(self) -> str:
        gpu = f"a GPU of {self.gpu:.0f} GB" if self.gpu else "no GPU"
        return f"{self.cores} {'cores' if self.cores > 1 else 'core'}, {self.memory:.0f} GB of memory, {gpu}"


def this_machine() -> Machine:
    """What this machine has; of several GPUs the first."""
    import torch  # takes seconds to load

    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with suppress(OSError, ValueError):  # no such file, or no limit in it
        memory = min(memory, int(LIMIT_FILE.read_text(encoding="ascii")))
    gpu = torch.cuda.get_device_properties(0).total_memory if torch.cuda.is_available() else 0
    return Machine(
        cores=cores(),
        memory=memory / GIGABYTE,
        gpu=gpu / GIGABYTE,
        bfloat16=getattr(torch.cpu, "_is_avx512_bf16_supported", bool)(),
    )
