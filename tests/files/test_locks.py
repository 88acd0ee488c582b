"""Locks on folders: who has one, who waits, and what happens when its owner is killed."""

import errno
import fcntl
import os
import re
import signal
import socket
import subprocess
import sys
import time

import pytest

from zsnmt.errors import InputError
from zsnmt.files import locks
from zsnmt.files.locks import Busy, lives, locked

OWNER = """
import subprocess, sys
from pathlib import Path
from zsnmt.files.locks import locked
with locked(Path(sys.argv[1])):
    child = subprocess.Popen(["sleep", sys.argv[2]], close_fds=False)
    print(child.pid, flush=True)
    sys.stdin.read()
"""


def start_owner(folder, seconds: int):
    """A process that holds the lock and has started another, which ends after some seconds; and the number
    of that one.
    """
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, folder, str(seconds)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    return owner, int(owner.stdout.readline())


def test_a_lock_that_another_process_holds_names_it(tmp_path):
    owner, child = start_owner(tmp_path, 0)
    with (
        pytest.raises(
            Busy,
            match=re.escape(
                f"another process is at work in {tmp_path} (process {owner.pid}); wait for it or end it"
            ),
        ),
        locked(tmp_path),
    ):
        pass
    owner.communicate("")
    with locked(tmp_path):
        pass
    with locked(tmp_path):  # a lock that is given back is free
        pass


def test_it_is_waited_for_where_that_is_asked_for(tmp_path):
    owner, _ = start_owner(tmp_path, 0)

    def waiting(sentence: str) -> None:
        assert sentence == f"waiting: another process is at work in {tmp_path} (process {owner.pid})"
        owner.communicate("")

    with locked(tmp_path, waiting):
        assert owner.poll() == 0


def test_what_a_killed_process_started_keeps_its_lock_and_is_told_of(tmp_path, monkeypatch):
    monkeypatch.setattr(locks, "PATIENCE", 0.3)
    owner, child = start_owner(tmp_path, 60)
    owner.kill()
    owner.wait()
    started = time.monotonic()
    with pytest.raises(Busy, match=rf"\(process {owner.pid} has ended, but one that it started goes on\)"):
        with locked(tmp_path):
            pass
    assert time.monotonic() - started >= 0.3
    os.kill(child, signal.SIGKILL)
    monkeypatch.setattr(locks, "PATIENCE", 30)
    with locked(tmp_path):  # which takes no more patience than the child takes to end
        pass


def test_a_lock_of_another_host_is_busy_at_once_and_names_the_host(tmp_path):
    with (tmp_path / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write("123 elsewhere")
        file.flush()
        started = time.monotonic()
        with pytest.raises(Busy, match=r"\(process 123 on elsewhere\); wait for it"), locked(tmp_path):
            pass
    assert time.monotonic() - started < locks.PATIENCE


def test_a_process_that_has_ended_and_was_not_asked_about_does_not_live():
    child = subprocess.Popen(["sleep", "0"])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert not lives(child.pid, socket.gethostname())
    child.wait()


def test_a_process_lives_whatever_bytes_its_name_has():
    program = "open('/proc/self/comm', 'wb').write(b'\\xfc'); print('named', flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout.readline() == "named\n"
        assert lives(child.pid, socket.gethostname())
        child.communicate("\n")


def test_a_lock_says_who_has_it_and_nothing_afterwards(tmp_path):
    with locked(tmp_path):
        assert (tmp_path / ".lock").read_text() == f"{os.getpid()} {socket.gethostname()}"
    assert (tmp_path / ".lock").read_text() == ""


def test_a_lock_of_a_process_that_wrote_nothing_is_only_busy(tmp_path):
    with (tmp_path / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(Busy, match=re.escape(f"another process is at work in {tmp_path}; wait for it")):
            with locked(tmp_path):
                pass


def test_a_file_system_without_locks_is_told_of(tmp_path, monkeypatch):
    def refuse(*given):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(InputError, match=r"\.lock cannot be locked \(No locks available\): .*; put RUNS"):
        with locked(tmp_path):
            pass


def test_a_lock_that_is_a_link_is_not_written_to(tmp_path):
    target = tmp_path / "a file of mine"
    target.write_text("content")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / ".lock").symlink_to(target)
    with pytest.raises(InputError, match="run/.lock is a link, which no lock is; remove it"):
        with locked(tmp_path / "run"):
            pass
    assert target.read_text() == "content"
    with pytest.raises(InputError, match="run/.export.lock is a link"):
        (tmp_path / "run" / ".export.lock").symlink_to(target)
        with locked(tmp_path / "run", name=".export.lock"):
            pass
    assert target.read_text() == "content"
