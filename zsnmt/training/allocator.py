"""The allocator of memory that a training on a CPU has in place of glibc's.

PyTorch asks for memory that begins at multiples of 64 bytes. glibc cuts it out of larger pieces, and searches
what is left over for the next tensor: a quarter of an update of a small model (docs/training_speed.md).
"""

from ctypes.util import find_library

TCMALLOC = "tcmalloc_minimal", "tcmalloc"  # alone, and with tools that look into memory


def faster_allocator() -> dict[str, str]:
    """The variable of the environment by which a process has tcmalloc, if the system has it."""
    found = next(filter(None, map(find_library, TCMALLOC)), None)
    return {"LD_PRELOAD": found} if found else {}
