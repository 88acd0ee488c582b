"""A Python that has fairseq loaded already: processes of tests start at once instead of after seconds.

`environment()` is a folder like a virtual environment. Its `bin/python` and `bin/fairseq-train` ask a server
for a copy of the server (fork), hand over their arguments, folder, variables, input and output to it, and end
as it ends. A copy behaves as a fresh process does: what is loaded beforehand stays out of `sys.modules` until
it is imported, and it is in the network namespace of who asks. Only the number of threads, the hash seed and
what loading prints are the server's. Of files beside input, output and errors it has those of a process that
multiprocessing starts.
"""

import array
import atexit
import ctypes
import fcntl
import functools
import gc
import importlib
import json
import logging
import os
import random
import runpy
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Sequence
from contextlib import suppress
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from multiprocessing import resource_tracker, spawn
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

LOADED = (
    "numpy",
    "torch",
    "torch.fx.experimental.symbolic_shapes",  # by the first attention
    "fairseq.tasks",
    "fairseq.models",
    "fairseq.checkpoint_utils",
    "fairseq.trainer",
    "fairseq.quantization_utils",
    "fairseq.model_parallel.megatron_trainer",
    "fairseq.sequence_scorer",
    "sacrebleu.metrics",
    "sacrebleu.significance",
    "sacremoses",
    "sentencepiece",
    "fontTools.unicodedata",
    "py3langid.langid",
    "jinja2",
    "matplotlib.figure",
    "sklearn.linear_model",
    "ctranslate2",
)
NEEDED = {
    "torch": "numpy",
    "fairseq": "torch",
    "py3langid": "numpy",
    "matplotlib": "numpy",
    "sklearn": "numpy",
}  # loaded with them
FILES = 64  # that are handed over, at most
SELDOM = 10_000, 10, 10  # thresholds of collecting garbage, which else takes a twentieth of the time of tests
HIGH = 512  # above the numbers of files that anyone has
NETWORK = "/proc/self/ns/net"
NETWORK_HERE = os.readlink(NETWORK) if os.path.exists(NETWORK) else ""

CLIENT = f"""#!{sys.executable} -IS
import array, json, os, signal, socket, sys
name, folder = os.path.basename(sys.argv[0]), os.path.dirname(sys.argv[0])
call = sys.argv[1:]
if call[:1] == ["-B"]:  # from multiprocessing, where PYTHONDONTWRITEBYTECODE is set, as it is for the copy
    call = call[1:]
if name == "python" and (not call or call[0].startswith("-") and call[0] not in ("-c", "-m")):
    os.execv({sys.executable!r}, [{sys.executable!r}, *call])
if name != "python":
    call = [os.path.join({str(Path(sys.executable).parent)!r}, name), *call]
files = range(3)
if "--multiprocessing-fork" in call:
    files = map(int, os.listdir("/proc/self/fd"))  # and that of the listed folder, which is closed now
files = [number for number in files if os.path.exists(f"/proc/self/fd/{{number}}")]
handed = files[:]
if os.readlink("{NETWORK}") != {NETWORK_HERE!r}:
    handed.append(os.open("{NETWORK}", os.O_RDONLY))
signals = {{signal.SIGINT, signal.SIGTERM}}
signal.pthread_sigmask(signal.SIG_BLOCK, signals)
server = socket.socket(socket.AF_UNIX)
server.connect(os.path.join(folder, "socket"))
server.sendmsg([b"+"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", handed))])
python = sys.argv[0] if name == "python" else ""
asked = json.dumps([files, call, python, os.getcwd(), dict(os.environ)]).encode()
server.sendall(len(asked).to_bytes(8, "big") + asked)
for number in signals:
    signal.signal(number, lambda number, frame: server.send(bytes([number])))
signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)
status = server.recv(4)
if len(status) < 4:
    sys.exit("the server of warm processes is gone")
status = int.from_bytes(status, "big", signed=True)
if status < 0:
    if status != -signal.SIGKILL:
        signal.signal(-status, signal.SIG_DFL)
    os.kill(os.getpid(), -status)
sys.exit(status)
"""
COMMANDS = ("python", "fairseq-train", "zsnmt")


@functools.cache
def environment() -> Path:
    """The folder, for `VENV`; the real one where the system cannot wait for processes as the server does.

    The processes of a test run share a server, which the first that needs it starts. It ends, and removes the
    folder, when the last of them has ended: each holds the server's input open for writing.
    """
    if not hasattr(os, "pidfd_open"):
        return Path(sys.prefix)
    name = f"warm_{os.environ.get('PYTEST_XDIST_TESTRUNUID', os.getpid())}"
    folder = Path(tempfile.gettempdir()) / name
    with folder.with_name(f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if folder.exists():
            os.open(folder / "input", os.O_WRONLY | os.O_NONBLOCK)
        else:
            start_server(folder)
    return folder


def spawn_copies(monkeypatch: "pytest.MonkeyPatch") -> None:
    """Let a process that multiprocessing starts anew be a copy."""
    resource_tracker.ensure_running()  # which is none
    monkeypatch.setattr(spawn, "_python_exe", os.fsencode(environment() / "bin" / "python"))


def start_server(folder: Path) -> None:
    (folder / "bin").mkdir(parents=True)
    for name in COMMANDS:
        (folder / "bin" / name).write_text(CLIENT)
        (folder / "bin" / name).chmod(0o755)
    os.mkfifo(folder / "input")
    source = os.open(folder / "input", os.O_RDONLY | os.O_NONBLOCK)
    os.open(folder / "input", os.O_WRONLY)
    command = [sys.executable, __file__, folder / "bin" / "socket"]
    server = subprocess.Popen(command, stdin=source, stdout=subprocess.PIPE)
    os.close(source)
    assert server.stdout.read(1), "the server of warm processes did not start"


class Preloaded(MetaPathFinder, Loader):
    """Gives packages that were loaded before to whoever imports them, each with what importing it loads."""

    def __init__(self) -> None:
        logging.disable()
        own, self.packages = {*sys.modules, *sys.stdlib_module_names}, {}
        for name in LOADED:
            before = {*sys.modules}
            if find_spec(name.partition(".")[0]) is None:  # a package that is not for every machine
                continue
            importlib.import_module(name)
            package = name.partition(".")[0]
            self.packages[package] = self.packages.get(package, set()) | {*sys.modules} - before
        read_language_model(sys.modules["py3langid.langid"])
        others = [name for name in sys.modules if name not in own and name.partition(".")[0] not in own]
        self.modules = {name: sys.modules.pop(name) for name in others}
        self.handlers, self.level = logging.root.handlers[:], logging.root.level  # fairseq sets them
        logging.disable(logging.NOTSET)
        logging.root.handlers.clear()
        logging.root.setLevel(logging.WARNING)
        self.spec: ModuleSpec | None = None

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        return ModuleSpec(name, self) if name in self.modules else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        self.spec = self.modules[spec.name].__spec__
        return self.modules[spec.name]

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.spec
        package = module.__name__.partition(".")[0]
        loaded = self.packages.get(package, ())
        for name in [*self.modules]:
            if name in loaded or name.partition(".")[0] == package:
                sys.modules[name] = self.modules.pop(name)
        if package in NEEDED:
            importlib.import_module(NEEDED[package])
        if package == "fairseq" and not logging.root.handlers:
            logging.root.handlers[:] = self.handlers
            logging.root.setLevel(self.level)


def read_language_model(langid: ModuleType) -> None:
    """Read py3langid's model, which takes longer than a tiny training, for all copies."""
    langid._load_model_file = functools.cache(langid._load_model_file)
    langid._load_model_file(langid.MODEL_DIR / langid.MODEL_FILE)


def serve(address: str) -> tuple[list[str], str, str, dict[str, str]] | None:
    """Start a copy for each client until the input ends; returns in a copy, with what it is to do."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen(64)
    os.write(sys.stdout.fileno(), b"+")
    gc.collect()
    gc.freeze()  # memory that a collection looks at would be copied
    gc.set_threshold(*SELDOM)
    waiting = selectors.DefaultSelector()
    waiting.register(listener, selectors.EVENT_READ)
    waiting.register(sys.stdin.fileno(), selectors.EVENT_READ)
    ends: dict[int, tuple[int, socket.socket]] = {}  # of copies, by what tells that one has ended
    copies: dict[socket.socket, int] = {}
    while True:
        for key, _ in waiting.select():
            if key.fileobj is listener:
                client = listener.accept()[0]
                files = array.array("i")
                try:
                    for _, _, data in client.recvmsg(1, socket.CMSG_SPACE(FILES * files.itemsize))[1]:
                        files.frombytes(data)
                    length = int.from_bytes(received(client, 8), "big")
                    numbers, *asked = json.loads(received(client, length))
                except ConnectionError:  # it was killed before it had asked
                    for file in files:
                        os.close(file)
                    client.close()
                    continue
                if not (process := os.fork()):
                    os.setpgid(0, 0)
                    handed = [fcntl.fcntl(file, fcntl.F_DUPFD, HIGH) for file in files]
                    for file in (*files, *ends):
                        os.close(file)
                    for each in (listener, client, *copies, waiting):
                        each.close()
                    take(handed, numbers)
                    return asked
                with suppress(ProcessLookupError):
                    os.setpgid(process, process)  # whoever is first
                for file in files:
                    os.close(file)
                end = os.pidfd_open(process)
                ends[end], copies[client] = (process, client), process
                waiting.register(end, selectors.EVENT_READ)
                waiting.register(client, selectors.EVENT_READ)
            elif key.fileobj in copies:  # a signal for a copy, or its client is dead
                number = key.fileobj.recv(1)
                kill(copies[key.fileobj], number[0] if number else signal.SIGKILL)
                if not number:
                    waiting.unregister(key.fileobj)
            elif key.fileobj in ends:
                process, client = ends.pop(key.fileobj)
                waiting.unregister(key.fileobj)
                os.close(key.fileobj)
                status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
                if client in waiting.get_map():
                    waiting.unregister(client)
                    with suppress(OSError):  # it was killed
                        client.sendall(status.to_bytes(4, "big", signed=True))
                del copies[client]
                client.close()
            elif key.fileobj == sys.stdin.fileno():
                for process in copies.values():
                    kill(process, signal.SIGKILL)
                return None


def take(files: Sequence[int], numbers: Sequence[int]) -> None:
    """Give files the numbers that they have where they come from; one more is the network to be in."""
    for file, number in zip(files, numbers):
        os.dup2(file, number)
    for file in files[len(numbers) :]:
        assert ctypes.CDLL(None).setns(file, 0) == 0, "the copy cannot enter the network"
    for file in files:
        os.close(file)


def kill(process: int, number: int) -> None:
    """Send a signal to a copy; to it and what it started if that ends them."""
    with suppress(ProcessLookupError):
        (os.killpg if number == signal.SIGKILL else os.kill)(process, number)


def received(client: socket.socket, length: int) -> bytes:
    """So many bytes."""
    parts = b""
    while len(parts) < length:
        if not (part := client.recv(length - len(parts))):
            raise ConnectionError("a client ended before it said what to do")
        parts += part
    return parts


def become(call: list[str], python: str, folder: str, variables: dict[str, str], paths: list[str]) -> None:
    """Run a command as a process of its own would; `paths` are those where the environment's packages are."""
    kind, *arguments = call
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables)
    sys.executable = python or sys.executable
    if variables.get("PYTHONWARNINGS") == "ignore":
        warnings.simplefilter("ignore")
    first = {"-c": "", "-m": folder}.get(kind, str(Path(kind).resolve().parent))
    sys.path[:] = [first, *filter(None, variables.get("PYTHONPATH", "").split(os.pathsep)), *paths]
    if kind == "-c":
        sys.argv = ["-c", *arguments[1:]]
        exec(compile(arguments[0], "<string>", "exec"), vars(sys.modules["__main__"]))
    elif kind == "-m":
        sys.argv = arguments
        runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
    else:
        sys.argv = call
        runpy.run_path(kind, run_name="__main__")


def ended(function, *arguments) -> int:
    """The exit status after a call, as the interpreter makes it."""
    try:
        function(*arguments)
    except SystemExit as end:
        if isinstance(end.code, int | None):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except BaseException:
        sys.excepthook(*sys.exc_info())
        return 1
    return 0


def main() -> None:
    preloaded = Preloaded()
    sys.meta_path.insert(0, preloaded)
    given = [*filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    paths = sys.path[1 + len(given) :]
    asked = serve(sys.argv[1])
    if asked:
        numpy, torch = preloaded.modules["numpy"], preloaded.modules["torch"]
        for seed in (random.seed, numpy.random.seed, torch.default_generator.seed):
            seed()
        status = ended(become, *asked, paths)
        threading._shutdown()
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.closed or stream.flush()
            except OSError:
                status = 120  # as the interpreter says it
        os._exit(status)
    folder = Path(sys.argv[1]).parent.parent
    shutil.rmtree(folder, ignore_errors=True)
    folder.with_name(f"{folder.name}.lock").unlink(missing_ok=True)


if __name__ == "__main__":
    main()
