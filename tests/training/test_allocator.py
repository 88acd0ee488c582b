"""A training on a CPU has tcmalloc, where the system has it."""

import subprocess
import sys

import pytest

from zsnmt.training import allocator
from zsnmt.training.allocator import TCMALLOC, faster_allocator
from zsnmt.training.children import start


@pytest.mark.parametrize(
    "there, chosen", [(TCMALLOC, TCMALLOC[0]), (TCMALLOC[1:], TCMALLOC[1]), ((), None)], ids=str
)
def test_that_without_tools_goes_first_and_without_either_glibcs_stays(there, chosen, monkeypatch):
    monkeypatch.setattr(allocator, "find_library", lambda name: f"lib{name}.so.4" if name in there else None)
    assert faster_allocator() == ({"LD_PRELOAD": f"lib{chosen}.so.4"} if chosen else {})


def test_a_process_has_it_unless_a_person_has_chosen(tmp_path, monkeypatch):
    """Any library does for the test: one that is made here, and that nothing else loads."""
    library = tmp_path / "libnothing.so"
    subprocess.run(["cc", "-shared", "-x", "c", "/dev/null", "-o", library], check=True)
    monkeypatch.setattr(allocator, "find_library", lambda name: str(library))
    monkeypatch.delenv("LD_PRELOAD", raising=False)

    def loaded() -> str:
        command = [sys.executable, "-c", "print(open('/proc/self/maps').read())"]
        with (tmp_path / "log").open("wb") as log, start(command, log, faster_allocator()) as process:
            assert process.wait() == 0
        return (tmp_path / "log").read_text()

    assert str(library) in loaded()
    monkeypatch.setenv("LD_PRELOAD", "")
    assert str(library) not in loaded()
