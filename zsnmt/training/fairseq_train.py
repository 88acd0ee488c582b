"""The one place that calls fairseq's commands: a training, with its command and its log in a folder."""

import json
import shlex
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import pairwise
from pathlib import Path

from zsnmt.data.binarised_folder import shards_of
from zsnmt.errors import SAVED, InputError
from zsnmt.files.project import PACKAGE
from zsnmt.files.replacing import replacing
from zsnmt.runs.folder import CHECKPOINTS, COMMAND_FILE, LOG_FILE, MODEL_FILE, training_words
from zsnmt.runs.log import Errors, progress_line
from zsnmt.runs.remedies import TRANSLATION_WEIGHT, has_term
from zsnmt.runs.time_left import TimeLeft
from zsnmt.training.connections import Line, Lost
from zsnmt.training.hosts import free_port
from zsnmt.training.precision import FLOAT32, begun_precision, fitting_precision, in_precision
from zsnmt.training.ranks import Ranks, Work, start_ranks
from zsnmt.training.steps import Steps, files_of, read_marker, write_marker
from zsnmt.training.team import Team, shared_updates

DATA_OPTIONS = {  # options that belong to the data of one training, or to what it went on or learned from
    "--extra-data",
    "--extra-lang-pairs",
    "--sampling-weights-from-file",
    "--virtual-data-size",
    "--finetune-from-model",
    "--word-distillation-weight",
    "--word-distillation-model",
    "--word-distillation-pairs",
}
PLACES = {  # those whose values are paths, which differ where a project was moved
    "--extra-data",
    "--sampling-weights-from-file",
    "--finetune-from-model",
    "--word-distillation-model",
}
INTERVALS = ("--validate-interval", "--save-interval")  # epochs
STEP, BEGUN = "train", "train.begun"  # markers of a training that is done, and of one that has begun
PAUSE = 0.1  # seconds between two looks at a log
FIXED = (  # the last of the checkpoints within epochs stays, where there are any
    *("--no-epoch-checkpoints", "--keep-interval-updates", "1"),
    *("--log-format", "json", "--num-workers", "0"),
)


def fairseq_train(steps: Steps, folder: Path, title: str, data: Path, options: Sequence[str]) -> None:
    """Train a model on binarised data, of several shards one in each epoch, its checkpoints in `folder`; a
    training that was stopped goes on from its last one, whatever the number of processes was until then. One
    that was done stays so without its checkpoints, where the folder has their mean.

    Raises `InputError` if fairseq fails, where the team of `steps` cannot share its updates, and for
    checkpoints of a training on other data, or with other options.
    """
    shared_updates(options, steps.team.size)
    command = ["--user-dir", str(PACKAGE), "--save-dir", str(folder / CHECKPOINTS), *FIXED]
    shards = ":".join(map(str, shards_of(data)))
    told = without(options, PLACES)
    # A training keeps the precision in which it was begun, and is the same in another.
    inputs, settings = training_inputs(data, options), {"options": in_precision(told, FLOAT32)}
    done, begun = (read_marker(folder, name) for name in (STEP, BEGUN))
    for marker in (begun, done):
        steps.recall(marker)
    made_from = steps.made_from(inputs, settings)
    named = partial(steps.made_from, inputs, {"options": told})  # as older markers name the precision
    if done and done.files and done.made_from != made_from.made_from:
        older = steps.made_from([data], {"options": [*options]})  # which named places, and had the test sets
        if done.made_from in (older.made_from, named().made_from):
            write_marker(folder, STEP, made_from)
    if begun and begun.files and begun.made_from not in (made_from.made_from, named().made_from):
        check_beginning(folder)

    def work() -> None:
        write_marker(folder, BEGUN, made_from)
        train(folder, title, [shards, *options, *command], team=steps.team)

    averaged = folder / MODEL_FILE  # of a run that is done, whose checkpoints may have been removed
    output = averaged if averaged.is_file() else folder / CHECKPOINTS
    steps.make(folder, STEP, output, work=work, inputs=inputs, settings=settings)


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


def options_of(run: Path) -> list[str]:
    """The options that a run was trained with, but for its data, what it went on from and the device; and
    but for the weight of the translation loss where that leaves no term for it to be beside.

    Raises `InputError` for a run that does not say how it was trained.
    """
    path = run / COMMAND_FILE
    if not path.is_file():
        raise InputError(
            f"{path} is missing: it says with which options the run was trained; give a run made by "
            "zsnmt train"
        )
    _, _, *words = training_words(run)
    kept = [word for word in without(words, DATA_OPTIONS) if word != "--cpu"]
    return kept if has_term(kept) else without(kept, {TRANSLATION_WEIGHT})


def separate(words: Iterable[str]) -> list[str]:
    """The words of a command in which the value of an option is always a word of its own, as fairseq reads
    them: `--lr=0.1` is `--lr 0.1`.
    """
    return [part for word in words for part in (word.split("=", 1) if word.startswith("--") else [word])]


def every_epoch(options: Sequence[str]) -> dict[str, int]:
    """The options by which a training that goes on from one with these is validated in each epoch: of little
    text that one may have had more epochs from one validation to the next than the new one has in all.
    """
    return {name: 1 for name in INTERVALS if name in separate(options)}


def check_own(options: Sequence[str]) -> None:
    """`InputError` for options that a person gives and that are not fairseq's alone to say, or by which no
    checkpoint would be chosen: without validation, or with an end before the first one.
    """
    given = given_values(options)
    if "--seed" in given:
        raise InputError("--seed behind -- counts for nothing; give the command's own --seed or --seeds")
    epochs, interval = int(given.get("--max-epoch", 0)), max(int(given.get(name, 1)) for name in INTERVALS)
    if "--disable-validation" in separate(options) or 0 < epochs < interval:
        raise InputError(
            "the best checkpoint is chosen by validation, and there would be none: leave out "
            f"--disable-validation, and give {' and '.join(INTERVALS)} no more epochs than --max-epoch"
        )


def given_values(words: Iterable[str]) -> dict[str, str]:
    """The value of each option of a command, the last where it is given several times; to be asked for
    options that have one, as words that follow others are in it, too.
    """
    return dict(pairwise(separate(words)))


def without(words: Sequence[str], options: Collection[str]) -> list[str]:
    """The words of a command without some options and their values."""
    return [
        word
        for before, word in pairwise(["", *words])
        if before not in options and word.partition("=")[0] not in options
    ]


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
        raise InputError(f"{title}: {ranks.fault(reason)}; {log} has the whole log")


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
            with suppress(Lost):  # it may be the one that has failed
                line.send(failed=ranks.fault())
            raise InputError(ranks.fault())
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
