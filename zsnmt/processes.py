"""Long work: processes that share it, a function on every item of a stream among it, and how far it is."""

import gc
import math
import os
import resource
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator, MutableMapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from itertools import chain, islice
from multiprocessing import get_context, parent_process
from multiprocessing.process import BaseProcess
from threading import Thread, current_thread, main_thread
from time import process_time
from types import TracebackType
from typing import Any, TypeVar

from tqdm import tqdm

from zsnmt import console
from zsnmt.control_groups import cores_limit, memory_limit
from zsnmt.errors import InputError

T = TypeVar("T")
R = TypeVar("R")

KERNEL = 700 * 1000  # bytes of a product's kernel, at most
HELD_BY_DEFAULT = 1024  # kernels
# How many kernels oneDNN keeps, and how many PyTorch holds on to besides; both are read at the first product.
KERNELS, HELD = "ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY"
SHARING = "ZSNMT_PROCESSES"  # how many processes these bounds are for, where no person has set any of them

# A copy of this process leaves the garbage alone that it has from it: some, as of CTranslate2, waits at its
# end for threads that only this process has.
os.register_at_fork(after_in_child=gc.freeze)

worker_function: Callable  # of a worker process, given to it once
told_seconds = 0.0  # of processors, that processes which go on working said they used


def end_with_parent() -> None:
    """A worker whose main process was killed would wait for work, and keep the locks it inherited, for
    ever. A signal ends it at once: only the main process has something to remove; an interrupt, which that
    hears too, it leaves to it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in console.ENDING:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, console.STOPPING)

    def wait() -> None:
        parent = parent_process()
        assert parent is not None  # which a worker has
        parent.join()
        os._exit(1)

    Thread(target=wait, daemon=True).start()


def cores() -> int:
    """How many cores this process may use, of which a cluster, a container or `taskset` may leave it fewer
    than there are; one where that is not known.
    """
    told = hasattr(os, "sched_getaffinity")  # not on macOS
    here = len(os.sched_getaffinity(0)) if told else os.cpu_count() or 1
    return max(1, math.ceil(min(here, cores_limit())))


def memory() -> int:
    """The bytes of memory of this machine, or of the container or the cluster's job in which this process
    is.
    """
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return int(min(physical, memory_limit()))


def kernel_limit(memory: int, processes: int = 1) -> int:
    """How many products' kernels oneDNN is to keep in each of some processes, on a machine with so many bytes
    of memory: as many as an eighth of it holds, within bounds.

    It compiles one for each shape of factors, and a training's batches, like the steps of a search, have
    thousands of shapes. One takes 0.5 to 0.7 MB and about half a millisecond (weights of 128×128 to
    512×2,048, AVX-512; docs/training_speed.md has a processor with AMX). Of its own accord oneDNN keeps
    1,024, and compiles the others over and over.
    """
    return min(max(memory // 8 // processes // KERNEL, 128), 16384)


def share_kernels(environment: MutableMapping[str, str], processes: int = 1, *, workers: int = 1) -> None:
    """Bound the kernels of each of so many processes that get an environment, unless a person has; of
    processes that each of several jobs starts, all together count.

    `workers`: how many each of them shares its own work among, any of which may ask for the same again.
    """
    if SHARING in environment or not {KERNELS, HELD} & environment.keys():
        together = processes * int(environment.get(SHARING, "1"))
        limit = kernel_limit(memory(), together * workers)
        held = min(limit, HELD_BY_DEFAULT)
        environment.update({SHARING: str(together), KERNELS: str(limit), HELD: str(held)})


def used_seconds() -> float:
    """The seconds of processors that this process has used, and those that it started: all of those that have
    ended, and what others told (`add_used_seconds`).
    """
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    own = process_time() + ended.ru_utime + ended.ru_stime  # the parts move in steps, their sum does not
    return own + told_seconds


def add_used_seconds(seconds: float) -> None:
    """Count what a process has used that goes on until this one ends."""
    global told_seconds
    told_seconds += seconds


@contextmanager
def holding_signals() -> Iterator[Callable[[], None]]:
    """Signals that would end this process wait until the block is left, in which it starts or ends others:
    one that came between the start and the note of it would leave a process of which nobody knows.

    Gives a function by which the other process, a copy of this one, heeds them again.
    """
    heard: list[int] = []  # those that came to another thread
    here = current_thread() is main_thread()  # where Python calls functions for signals
    functions = {
        number: function
        for number in (console.STOPPING if here else ())
        if callable(function := signal.getsignal(number))
    }
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, ())

    def heed() -> None:
        for number, function in functions.items():
            signal.signal(number, function)
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        if heard:
            signal.raise_signal(heard[0])

    try:
        # So the other process does not miss one that it gets.
        signal.pthread_sigmask(signal.SIG_BLOCK, console.STOPPING)
        for number in functions:
            signal.signal(number, lambda number, frame: heard.append(number))
        yield heed
    finally:
        heed()


class WorkerPool(ProcessPoolExecutor):
    """Processes that share work; an exception does not wait until what they have begun is done."""

    def submit(self, function: Callable[..., R], /, *arguments: Any, **options: Any) -> Future[R]:
        """The stock method; a signal waits until the processes that it starts are known."""
        with holding_signals():  # it may start processes
            return super().submit(function, *arguments, **options)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        processes = [*(self._processes or {}).values()]
        manager: Thread | None = getattr(self, "_executor_manager_thread", None)
        results: Any = vars(self)["_result_queue"]
        with ExitStack() as at_once:
            at_once.callback(self.end_at_once, processes, manager, results)
            if kind is None:
                super().__exit__(kind, error, trace)
                at_once.pop_all()
        return None

    def end_at_once(self, processes: Sequence[BaseProcess], manager: Thread | None, results: Any) -> None:
        """End its processes, the thread that deals them work, and what that waits for."""
        with holding_signals():
            self.shutdown(wait=False, cancel_futures=True)  # first: what waits is then not missed
            for process in processes:
                process.kill()  # which one that has just started heeds, too
            for process in processes:
                process.join()
            if results:
                results._writer.close()  # nobody waits for the rest of a result that was on its way
            if manager:
                manager.join()


def worker_pool(workers: int, initializer: Callable = end_with_parent, arguments: tuple = ()) -> WorkerPool:
    """So many processes, which end with this one; raises `InputError` for fewer than one."""
    if workers < 1:
        raise InputError(f"{workers} processes cannot work; give one or more")
    return WorkerPool(workers, get_context("fork"), initializer=initializer, initargs=arguments)


def in_another_process(function: Callable[[], R]) -> R:
    """What a function returns that would keep this process from hearing signals for long, as one in C++
    does.
    """
    with worker_pool(1, start, (function,)) as pool:
        return pool.submit(call).result()


def map_in_processes(
    function: Callable[[T], R], items: Iterable[T], workers: int = 1, together: int = 500
) -> Iterator[R]:
    """What `map(function, items)` gives, from so many processes; one is this process itself.

    Items travel so many `together`, and a few times as many are in memory at a time. What the function raises
    is raised here, and BrokenProcessPool when a process ends before its work. What is raised here, a signal's
    exception too, ends the processes at once. Items that travel at once are worked on here.
    """
    if workers == 1:
        yield from map(function, items)
        return
    items = iter(items)
    first, second = (list(islice(items, together)) for _ in range(2))
    if workers > 1 and not second:  # a process would start later than the work is done
        yield from map(function, first)
        return
    items = chain(first, second, items)
    waiting: deque[Future[list[R]]] = deque()
    with worker_pool(workers, start, (function,)) as pool:
        while chunk := list(islice(items, together)):
            waiting.append(pool.submit(apply, chunk))
            if len(waiting) > 2 * workers:
                yield from waiting.popleft().result()
        while waiting:
            yield from waiting.popleft().result()


Progress = Callable[[float], object]  # is told how many things are done


def unheard(number: float) -> None:
    """The progress of what nobody watches."""


def progress(results: Iterable[T], title: str, total: int | None = None, unit: str = "it") -> Iterable[T]:
    """The results, with a bar on a terminal."""
    return tqdm(results, desc=title, total=total, unit=unit, leave=False, disable=None)


def start(function: Callable) -> None:
    """What a process of a pool begins with: the function that it is given, once, and the watch of its
    parent.
    """
    global worker_function
    worker_function = function
    end_with_parent()


def call() -> Any:
    """What the process's function returns."""
    return worker_function()


def apply(chunk: list) -> list:
    """What the process's function makes of each item."""
    return [worker_function(item) for item in chunk]
