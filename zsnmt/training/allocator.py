"""The allocator of memory that a training on a CPU has in place of glibc's.

PyTorch asks for memory that begins at multiples of 64 bytes. glibc cuts it out of larger pieces, and searches
what is left over for the next tensor: a quarter of an update of a small model (docs/performance.md).
"""

import sysconfig
from ctypes.util import find_library
from pathlib import Path

TCMALLOC = "tcmalloc_minimal"
TBB = ("libtbbmalloc.so.2", "libtbbmalloc_proxy.so.2")  # the second stands for glibc's, by means of the first
SEPARATORS = " :"  # of what LD_PRELOAD lists, so that no path may have them


def faster_allocator() -> dict[str, str]:
    """The variables of the environment by which a process has tcmalloc, if the system has it, else that of
    Intel's TBB, if Python's environment has it; none without either.
    """
    if library := find_library(TCMALLOC):
        return {"LD_PRELOAD": library}
    paths = [Path(sysconfig.get_path("data"), "lib", name) for name in TBB]
    if not all(path.is_file() for path in paths) or {*SEPARATORS} & {*str(paths[0])}:
        return {}
    # Else it gives large tensors back to the system, and faults them in again.
    return {"LD_PRELOAD": ":".join(map(str, paths)), "TBB_MALLOC_USE_HUGE_PAGES": "1"}
