import errno
import logging
import os
import signal
import subprocess
import sys
from argparse import ArgumentTypeError, Namespace

import pytest

from zsnmt.console import EachOnce, Parser, Printable, Several, WrongUse, folder_name, output_file, run
from zsnmt.errors import InputError
from zsnmt.files.locks import Busy
from zsnmt.processes import worker_pool


def raising(error: BaseException):
    def main() -> None:
        raise error

    return main


def ending(main, capsys) -> tuple[int, str]:
    with pytest.raises(SystemExit) as exit_:
        run(main)
    return exit_.value.code, capsys.readouterr().err


def shell(body: str, tail: str, before: str = "true") -> subprocess.CompletedProcess:
    """A program of which `body` is the main function, in bash; its exit status is kept through a pipe."""
    program = f"from zsnmt.console import run\ndef main():\n    {body}\nrun(main)\n"
    return subprocess.run(
        ["bash", "-c", f'set -o pipefail; {before}; "$0" -c "$1" {tail}', sys.executable, program],
        capture_output=True,
        text=True,
    )


def test_an_interrupt_says_what_it_is_given_to_say(capsys):
    for said, line in ((None, ""), ("train: stopped", "\ntrain: stopped\n")):
        with pytest.raises(SystemExit) as exit_:
            run(raising(KeyboardInterrupt()), said)
        assert exit_.value.code == 130 and capsys.readouterr().err == line


def test_success_exits_with_zero(capsys):
    assert ending(lambda: None, capsys) == (0, "")


@pytest.mark.parametrize("end, printed", [("pass", "main\nlast\n"), ("raise SystemExit(3)", "main\n")])
def test_what_is_for_the_end_is_done_after_success_alone(end, printed):
    body = f"from zsnmt.console import when_done; when_done(lambda: print('last')); print('main'); {end}"
    done = shell(body, "")
    assert (done.stdout, done.returncode) == (printed, 0 if end == "pass" else 3)


@pytest.mark.parametrize(
    "closed, body, status, said",
    [
        ("<&-", "import sys; print(repr(sys.stdin.read()))", 0, "''"),
        (">&-", "print('lost')", 1, "error: standard output: Bad file descriptor"),
        ("2>&-", "import sys; print('here'); print('there', file=sys.stderr)", 0, "here"),
    ],
)
def test_a_closed_stream_is_no_fault_of_the_program(closed, body, status, said):
    done = shell(body, closed)
    assert done.returncode == status and said in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_a_file_in_a_folder_that_is_not_there_is_refused_before_the_work(tmp_path):
    with pytest.raises(ArgumentTypeError, match="nowhere is not there; make the folder first"):
        output_file(str(tmp_path / "nowhere" / "a.txt"))
    assert output_file(str(tmp_path / "a.txt")) == tmp_path / "a.txt"
    assert str(output_file("/dev/stdout")) == "/dev/stdout"


def test_a_file_where_nothing_can_be_written_is_refused_before_the_work(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write everywhere
    with pytest.raises(ArgumentTypeError, match=f"no file can be written in {tmp_path}; name another place"):
        output_file(str(tmp_path / "a.txt"))
    assert str(output_file("/dev/stdout")) == "/dev/stdout"


def test_an_input_error_is_one_line_and_status_1(capsys):
    assert ending(raising(InputError("a.de is empty;\nwrite it")), capsys) == (
        1,
        "error: a.de is empty; write it\n",
    )


@pytest.mark.parametrize(
    "error, line",
    [
        (OSError(errno.ENOSPC, "No space left on device", "a.de"), "error: a.de: No space left on device\n"),
        (
            OSError(errno.EROFS, "Read-only file system", "a.de"),
            "error: a.de: Read-only file system; name another place, or have the rights to it changed\n",
        ),
        (
            OSError(errno.EEXIST, "File exists", "runs"),
            "error: runs: File exists; a folder is to be there; name another place, or remove the file\n",
        ),
        (OSError(errno.ENOENT, "No such file or directory"), "error: No such file or directory\n"),
        (OSError(errno.EIO, "Input/output error"), "error: Input/output error\n"),
        (OSError("out of luck"), "error: out of luck\n"),
    ],
)
def test_an_operating_system_error_is_one_line_with_the_file(error, line, capsys):
    assert ending(raising(error), capsys) == (1, line)


def test_control_characters_of_a_message_do_not_reach_the_terminal(capsys):
    told = "404 \x1b[2J\x1b]0;title\x07\x9b1m\r\x08\u202eüber\tall\x7f\u2028"
    shown = r"404 \x1b[2J\x1b]0;title\x07\x9b1m\r\x08\u202eüber" + "\tall" + r"\x7f\u2028"
    assert ending(raising(InputError(told)), capsys) == (1, f"error: {shown}\n")
    record = logging.LogRecord("", logging.WARNING, "", 0, "%s", (told,), None)
    assert Printable("%(levelname)s: %(message)s").format(record) == f"WARNING: {shown}"


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_ends_a_command_leaves_nothing_half_written(tmp_path, sent):
    program = (
        "import signal, sys; from pathlib import Path; from zsnmt.console import run\n"
        "from zsnmt.files.replacing import replacing, replacing_folder\n"
        "def main():\n"
        "    with replacing(Path(sys.argv[1], 'a')), replacing_folder(Path(sys.argv[1], 'b')):\n"
        "        print('+', flush=True)\n"
        "        signal.pause()\n"
        "run(main)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, tmp_path], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout.read(1) == b"+" and len([*tmp_path.iterdir()]) == 2
        process.send_signal(sent)
        assert (process.wait(30), process.stderr.read()) == (128 + sent, b"")
    assert not [*tmp_path.iterdir()]


def test_a_signal_that_is_ignored_stays_ignored():
    body = "import os, signal; os.kill(os.getpid(), signal.SIGHUP); print('on')"
    assert shell(body, "").returncode == 128 + signal.SIGHUP
    ignored = shell(body, "", before="trap '' HUP")  # as nohup does
    assert (ignored.returncode, ignored.stdout) == (0, "on\n")


def test_a_worker_that_is_killed_is_one_line(capsys):
    def main() -> None:
        with worker_pool(2) as pool:
            pool.submit(os._exit, 9).result()

    line = "error: a process that shared the work was ended, as the system does where memory is short\n"
    assert ending(main, capsys) == (75, line)


def test_what_may_pass_has_a_status_of_its_own(capsys):
    assert ending(raising(Busy("another process is at work")), capsys) == (
        75,
        "error: another process is at work\n",
    )


def test_an_interrupt_within_a_fork_is_not_lost():
    program = (
        "import os, signal, time; from zsnmt.console import run\n"
        "def main():\n"
        "    os.register_at_fork(after_in_parent=lambda: signal.raise_signal(signal.SIGINT))\n"
        "    os.fork() or os._exit(0)\n"
        "    time.sleep(60)\n"
        "run(main)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=30)
    assert (done.returncode, done.stderr) == (130, b"")


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_comes_while_fairseq_is_loaded_is_not_lost(tmp_path, sent):
    """As if it came where fairseq looks for a part that may be missing."""
    (tmp_path / "fairseq").mkdir()
    (tmp_path / "fairseq" / "__init__.py").write_text(
        "import os, signal\n"
        "try:\n"
        f"    os.kill(os.getpid(), {sent:d})\n"
        "except BaseException:\n"
        "    print('a part that is missing')\n"
    )
    program = (
        "import sys; from zsnmt.console import run\n"
        "def main():\n"
        "    sys.path.insert(0, sys.argv[1])\n"
        "    import fairseq, time\n"
        "    print('loaded', flush=True)\n"
        "    time.sleep(60)\n"
        "run(main)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, tmp_path], capture_output=True, timeout=30)
    assert (done.returncode, done.stderr) == (128 + sent, b"") and b"missing" not in done.stdout


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
    assert (result.returncode, result.stderr) == (1, "error: standard output: No space left on device\n")


def test_a_character_that_standard_output_does_not_have_is_one_line():
    result = shell("print(chr(0x2212))", "", before="export PYTHONIOENCODING=latin-1")
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == (
        "error: standard output: latin-1 has no '\\u2212'; set PYTHONIOENCODING=utf-8, or choose a locale of "
        "UTF-8\n"
    )


@pytest.mark.parametrize("action", [None, Several, EachOnce])
def test_an_option_of_several_values_is_given_once(action):
    parser = Parser()
    several = {} if action is Several else {"nargs": "+"}
    parser.add_argument("--systems", action=action, **several)
    parser.add_argument("--beam")
    assert parser.parse_args("--systems a b --beam 1 --beam 2".split()) == Namespace(
        systems=["a", "b"], beam="2"
    )
    with pytest.raises(WrongUse, match="--systems: given twice; give it once, with all of its values"):
        parser.parse_args("--systems a --systems b".split())


def test_what_was_printed_before_an_error_is_kept():
    result = shell("print('x'); open('/no/such')", "")
    assert (result.returncode, result.stdout) == (1, "x\n")
    assert result.stderr == (
        "error: /no/such: No such file or directory; check the path; where something is to be written, name "
        "a folder that is there and takes files\n"
    )


@pytest.mark.parametrize("name", ["", ".hidden", "a/b", "..", "a\n"])
def test_the_name_of_a_run_is_that_of_a_folder(name):
    with pytest.raises(ArgumentTypeError, match="cannot name a folder"):
        folder_name(name)
    assert folder_name("zs_transformer-2") == "zs_transformer-2"
