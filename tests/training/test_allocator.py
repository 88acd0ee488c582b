"""A training on a CPU has a faster allocator of memory than glibc's, where there is one."""

import platform
import sys

import pytest

from zsnmt.training import allocator
from zsnmt.training.allocator import TBB, TCMALLOC, faster_allocator
from zsnmt.training.children import start

LOADED = "print(open('/proc/self/maps').read())"


@pytest.fixture
def environment(tmp_path, monkeypatch):
    """Python's environment with the two libraries of TBB, on a system without tcmalloc."""
    folder = tmp_path / "environment" / "lib"
    folder.mkdir(parents=True)
    for name in TBB:
        (folder / name).touch()
    monkeypatch.setattr(allocator, "find_library", lambda name: None)
    monkeypatch.setattr(allocator.sysconfig, "get_path", lambda name: str(folder.parent))
    return folder


def test_tcmalloc_goes_before_that_of_the_environment(environment, monkeypatch):
    monkeypatch.setattr(allocator, "find_library", {TCMALLOC: "libtcmalloc_minimal.so.4"}.get)
    assert faster_allocator() == {"LD_PRELOAD": "libtcmalloc_minimal.so.4"}


def test_without_it_that_of_tbb_stands_for_glibcs(environment):
    assert faster_allocator()["LD_PRELOAD"] == f"{environment / TBB[0]}:{environment / TBB[1]}"


@pytest.mark.parametrize("missing", TBB)
def test_where_a_library_is_missing_glibcs_stays(environment, missing):
    (environment / missing).unlink()
    assert faster_allocator() == {}


@pytest.mark.parametrize("name", ["with space", "with:colon"])
def test_what_no_list_of_libraries_can_name_stays_out(environment, monkeypatch, name):
    moved = environment.parent.rename(environment.parent.parent / name)
    monkeypatch.setattr(allocator.sysconfig, "get_path", lambda key: str(moved))
    assert faster_allocator() == {}


def libraries(path, settings) -> str:
    """What a Python that is started with some settings says it has loaded."""
    with path.open("wb") as log, start([sys.executable, "-c", LOADED], log, settings) as process:
        assert process.wait() == 0
    return path.read_text()


@pytest.mark.skipif(platform.machine() != "x86_64", reason="TBB's wheels are for x86-64 alone")
def test_a_process_has_it_unless_a_person_has_chosen(tmp_path, monkeypatch):
    monkeypatch.delenv("LD_PRELOAD", raising=False)
    monkeypatch.setattr(allocator, "find_library", lambda name: None)
    settings = faster_allocator()
    printed = libraries(tmp_path / "log", settings)
    assert all(name in printed for name in TBB) and "cannot be preloaded" not in printed
    monkeypatch.setenv("LD_PRELOAD", "")
    assert not any(name in libraries(tmp_path / "log", settings) for name in TBB)
