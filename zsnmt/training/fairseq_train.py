"""The one place that calls fairseq's commands: a training, with its command and its log in a folder."""

import json
import shlex
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from zsnmt.data.binarised_folder import shards_of
from zsnmt.errors import SAVED, InputError, PassingError
from zsnmt.files.project import PACKAGE
from zsnmt.files.replacing import replacing
from zsnmt.runs.commands import option_words
from zsnmt.runs.folder import CHECKPOINTS, COMMAND_FILE, LOG_FILE, MODEL_FILE
from zsnmt.runs.log import Errors, progress_line
from zsnmt.runs.time_left import TimeLeft
from zsnmt.training.connections import Line, Lost
from zsnmt.training.hosts import free_port
from zsnmt.training.option_words import PLACES, given_values, without
from zsnmt.training.precision import WHOLE_PRECISION, begun_precision, fitting_precision, in_precision
from zsnmt.training.ranks import Ranks, Work, start_ranks
from zsnmt.training.steps import Steps, files_of, read_marker, write_marker
from zsnmt.training.team import Team, shared_updates

STEP, BEGUN = "train", "train.begun"  # markers of a training that is done, and of one that has begun
PAUSE = 0.1  # seconds between two looks at a log
FIXED = ("--no-epoch-checkpoints", "--log-format", "json")
# Unless others are given: the last of the checkpoints within epochs stays, where there are any.
DEFAULTS = {"--keep-interval-updates": 1, "--num-workers": 0}


def fairseq_train(steps: Steps, folder: Path, title: str, data: Path, options: Sequence[str]) -> None:
    """Train a model on binarised data, of several shards one in each epoch, its checkpoints in `folder`; a
    training that was stopped goes on from its last one, whatever the number of processes was until then. One
    that was done stays so without its checkpoints, where the folder has their mean.

    Raises `InputError` if fairseq fails, where the team of `steps` cannot share its updates, and for
    checkpoints of a training on other data, or with other options.
    """
    shared_updates(options, steps.team.size)
    inputs = training_inputs(data, options)
    # A training keeps the precision in which it was begun, and is the same in another.
    settings = {"options": in_precision(without(options, PLACES), WHOLE_PRECISION)}
    done, begun = (read_marker(folder, name) for name in (STEP, BEGUN))
    for marker in (begun, done):
        steps.recall(marker)
    made_from = steps.made_from(inputs, settings)
    others = {marker.made_from for marker in (done, begun) if marker and marker.files} - {made_from.made_from}
    older = older_checksums(steps, data, options) if others else []
    if done and done.files and done.made_from in older:
        write_marker(folder, STEP, made_from)
    if begun and begun.files and begun.made_from not in (made_from.made_from, *older):
        check_beginning(folder)

    def work() -> None:
        write_marker(folder, BEGUN, made_from)
        own = ["--user-dir", str(PACKAGE), "--save-dir", str(folder / CHECKPOINTS), *FIXED]
        given = given_values(options)
        own += option_words({name: value for name, value in DEFAULTS.items() if name not in given})
        shards = ":".join(map(str, shards_of(data)))
        train(folder, title, [shards, *options, *own], team=steps.team)

    averaged = folder / MODEL_FILE  # of a run that is done, whose checkpoints may have been removed
    output = averaged if averaged.is_file() else folder / CHECKPOINTS
    steps.make(folder, STEP, output, work=work, inputs=inputs, settings=settings)


def older_checksums(steps: Steps, data: Path, options: Sequence[str]) -> list[str]:
    """What the markers of earlier versions say of such a training: these named the precision, and before that
    also places and the test sets.
    """
    named = steps.made_from(training_inputs(data, options), {"options": without(options, PLACES)})
    placed = steps.made_from([data], {"options": [*options]})
    return [named.made_from, placed.made_from]


def training_inputs(data: Path, options: Sequence[str]) -> list[Path]:
    """The files that a training reads: binarised text but for the test sets, which may be added to, and how
    often each direction is sampled.
    """
    given = given_values(options)
    folders = [data, *map(Path, json.loads(given.get("--extra-data", "{}")).values())]
    files = [path for folder in folders for path in files_of(folder) if not path.name.startswith("test.")]
    weights = given.get("--sampling-weights-from-file")
    return [*files, Path(weights)] if weights else files


def check_beginning(folder: Path) -> None:
    """`InputError` for checkpoints, or their mean, where a training began on something else than now."""
    if any((folder / CHECKPOINTS).glob("*.pt")) or (folder / MODEL_FILE).is_file():
        raise InputError(
            f"{folder} has checkpoints of a training on other text, or with other options, than now; choose "
            "another name with --name, or remove the folder to train anew"
        )


def train(folder: Path, title: str, arguments: Sequence[str], *, team: Team = Team()) -> None:
    """Run fairseq with its command and its whole log, which it adds to itself, in a folder; a line for each
    epoch on the terminal. The command is that of one process, whose updates a team shares.
    """
    from zsnmt.runs.checkpoints import replace_damaged_last  # loads PyTorch

    try:
        precision, other = fitting_precision(arguments, begun_precision(folder), on_gpus=team.on_gpus)
    except InputError as error:
        raise InputError(f"{title}: {error}") from None
    arguments = [*in_precision(arguments, precision), *team.device()]
    command = [program(), *arguments]
    shared = shared_updates(arguments, team.size)
    folder.mkdir(parents=True, exist_ok=True)
    remove_halves(folder / CHECKPOINTS)
    if said := replace_damaged_last(folder / CHECKPOINTS):
        sys.stderr.write(f"{title}: {said}\n")
    if other:
        sys.stderr.write(f"{title}: {other}\n")
    if shared:
        sys.stderr.write(f"{title}: {team.size} processes share each update: {shlex.join(shared)} for each\n")
    with replacing(folder / COMMAND_FILE) as file:
        file.write(shlex.join(command).encode("utf-8"))
    meeting = f"tcp://{team.address[0]}:{free_port(team.address[0])}" if shared else ""
    work = Work(folder, [*command, *shared], meeting)
    for line in team.lines:
        line.send(folder=str(folder.resolve()), words=[*arguments, *shared], meeting=meeting)
    log = folder / LOG_FILE
    try:
        with (
            log.open("a+b") as file,
            # The processes move the place in the file, which they have from this one.
            saying_what_is_saved(title, log, start := file.tell()),
            start_ranks(work, team, team.lines, first_log=file) as ranks,
            saying_that_it_is_saved(title),
        ):
            time_left = TimeLeft(given_values(arguments))
            reason = show_progress(lines_of(log, start, ranks), title, time_left)
    finally:
        remove_halves(folder / CHECKPOINTS)
    if ranks.returncode != 0:
        fault = ranks.fault(reason)
        raise type(fault)(f"{title}: {fault}{of_full_disk(str(fault), folder)}; {log} has the whole log")


def of_full_disk(fault: str, folder: Path) -> str:
    """What PyTorch does not say where it could not write a checkpoint whole; nothing for another fault."""
    if not any(part in fault for part in ("inline_container", "PytorchStreamWriter")):
        return ""
    free = shutil.disk_usage(folder).free
    return (
        f" (a checkpoint could not be written whole; the disk of {folder} has {free:,} bytes free: make "
        "room, and give the same command again)"
    )


@contextmanager
def saying_that_it_is_saved(title: str) -> Iterator[None]:
    """Tells who interrupts a training what it does then."""
    try:
        yield
    except KeyboardInterrupt:
        sys.stderr.write(f"\n{title}: saves where it is, and ends; Ctrl-C again ends it without that\n")
        raise


@contextmanager
def saying_what_is_saved(title: str, log: Path, start: int) -> Iterator[None]:
    """Tells who has ended a training from where it goes on, by its log behind a place in bytes."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        if saved := saved_in(log, start):
            sys.stderr.write(f"{title}: {saved}, from where the same command goes on\n")
        raise


def saved_in(log: Path, start: int) -> str:
    """What a training that was told to end says of it, by its log behind a place in bytes; else nothing."""
    with log.open("rb") as file:
        file.seek(start)
        said = [line for line in file.read().decode("utf-8", errors="replace").splitlines() if SAVED in line]
    return "".join(said[-1].partition(SAVED)[1:]) if said else ""


def program() -> str:
    """fairseq's command for trainings."""
    return str(Path(sys.executable).with_name("fairseq-train"))


def follow(team: Team, line: Line, say: Callable[[str], object]) -> None:
    """Do what the first host starts, with the processes of this one, until it says that all is over.

    Raises `InputError` for a training that fails, here or elsewhere, and where the first host ends before.
    """
    while not (order := line.receive(None) or {}).get("over"):
        folder = Path(order["folder"])
        if not folder.is_dir():
            line.send(failed=f"{folder} is not there: all hosts must share the folder of runs")
            raise InputError(f"{folder} is not there: all hosts must share the folder of runs")
        say(f"takes part in {folder}")
        work = Work(folder, [program(), *order["words"]], order["meeting"])
        with start_ranks(work, team, [line]) as ranks:
            while ranks.poll() is None:
                time.sleep(PAUSE)
        if ranks.returncode != 0:
            fault = ranks.fault()
            with suppress(Lost):  # it may be the one that has failed
                line.send(failed=str(fault), passes=isinstance(fault, PassingError))
            raise fault
        line.send(done=True)


def remove_halves(checkpoints: Path) -> None:
    """Remove what a training left that was ended while it saved a checkpoint."""
    for kind in ("part", "tmp"):
        for path in checkpoints.glob(f"*.pt.{kind}"):
            path.unlink()


def lines_of(log: Path, start: int, ranks: Ranks) -> Iterator[str]:
    """The lines that a process writes to its log behind a place in bytes, until it has ended."""
    rest, ended = b"", False
    with log.open("rb") as file:
        file.seek(start)
        while not ended:
            ended = ranks.poll() is not None
            *lines, rest = (rest + file.read()).split(b"\n")
            for line in [*lines, rest] if ended else lines:
                yield line.decode("utf-8", errors="replace")
            if not ended:
                time.sleep(PAUSE)


def show_progress(lines: Iterable[str], title: str, time_left: TimeLeft) -> str:
    """Show a training log, line by line as it is written, each message once, and how long it goes on; returns
    what an error in it says, or nothing.
    """
    shown, errors = set(), Errors()
    for line in lines:
        if (message := progress_line(line)) and message not in shown:
            shown.add(message)
            sys.stderr.write(f"{title}: {message}{time_left.after(line)}\n")
        errors.read(line)
    return errors.reason
