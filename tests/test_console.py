import errno
import os
import subprocess
import sys

import pytest

from zsnmt.console import run
from zsnmt.errors import InputError
from zsnmt.processes import worker_pool


def raising(error: BaseException):
    def main() -> None:
        raise error

    return main


def ending(main, capsys) -> tuple[int, str]:
    with pytest.raises(SystemExit) as exit_:
        run(main)
    return exit_.value.code, capsys.readouterr().err


def shell(body: str, tail: str) -> subprocess.CompletedProcess:
    """A program of which `body` is the main function, in bash; its exit status is kept through a pipe."""
    program = f"from zsnmt.console import run\ndef main():\n    {body}\nrun(main)\n"
    return subprocess.run(
        ["bash", "-c", f'set -o pipefail; "$0" -c "$1" {tail}', sys.executable, program],
        capture_output=True,
        text=True,
    )


def test_success_exits_with_zero(capsys):
    assert ending(lambda: None, capsys) == (0, "")


def test_an_input_error_is_one_line_and_status_1(capsys):
    assert ending(raising(InputError("a.de is empty;\nwrite it")), capsys) == (
        1,
        "error: a.de is empty; write it\n",
    )


@pytest.mark.parametrize(
    "error, line",
    [
        (OSError(errno.ENOSPC, "No space left on device", "a.de"), "error: a.de: No space left on device\n"),
        (OSError(errno.EIO, "Input/output error"), "error: Input/output error\n"),
        (OSError("out of luck"), "error: out of luck\n"),
    ],
)
def test_an_operating_system_error_is_one_line_with_the_file(error, line, capsys):
    assert ending(raising(error), capsys) == (1, line)


def test_a_worker_that_is_killed_is_one_line(capsys):
    def main() -> None:
        with worker_pool(2) as pool:
            pool.submit(os._exit, 9).result()

    line = "error: a process that shared the work was ended, as the system does where memory is short\n"
    assert ending(main, capsys) == (1, line)


def test_an_interrupt_is_quiet(capsys):
    assert ending(raising(KeyboardInterrupt()), capsys) == (130, "")


def test_a_bug_propagates():
    with pytest.raises(ZeroDivisionError):
        run(raising(ZeroDivisionError()))


def test_a_chosen_exit_status_is_kept():
    with pytest.raises(SystemExit) as exit_:
        run(raising(SystemExit(7)))
    assert exit_.value.code == 7


def test_a_reader_that_leaves_is_no_error():
    result = shell("[print('x' * 99) for _ in range(9999)]", "| head -n 1")
    assert (result.returncode, result.stderr) == (141, "")


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_standard_output_on_a_full_disk_is_one_line(unbuffered, monkeypatch):
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    result = shell("print('x')", "> /dev/full")
    assert (result.returncode, result.stderr) == (1, "error: No space left on device\n")


def test_what_was_printed_before_an_error_is_kept():
    result = shell("print('x'); open('/no/such')", "")
    assert (result.returncode, result.stdout) == (1, "x\n")
    assert result.stderr == "error: /no/such: No such file or directory\n"
