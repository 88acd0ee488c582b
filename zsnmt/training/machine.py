"""The machine that a training is for."""

from dataclasses import dataclass

from zsnmt.processes import cores, in_another_process, memory

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
    """What this machine has; of several GPUs the first.

    Asked in another process: one that has asked for a GPU cannot be copied to processes that use it.
    """
    return in_another_process(ask)


def ask() -> Machine:
    """The same, in this process."""
    import torch  # takes seconds to load

    from zsnmt.modules.cpu_bfloat16 import multiplies_bfloat16

    gpu = torch.cuda.get_device_properties(0).total_memory if torch.cuda.is_available() else 0
    return Machine(
        cores=cores(), memory=memory() / GIGABYTE, gpu=gpu / GIGABYTE, bfloat16=multiplies_bfloat16()
    )
