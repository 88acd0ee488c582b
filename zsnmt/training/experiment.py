"""An experiment: a config, and the folder with the text and the data that its runs share."""

import logging
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from filecmp import cmpfiles
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from zsnmt.corpora.invented.corpus import write_corpus
from zsnmt.corpora.invented.options import files_in, parse_corpus
from zsnmt.corpora.left_out import OVERLAP_LIST, say_what_is_left_out
from zsnmt.corpora.multiway import cut_training_pairs
from zsnmt.corpora.own_text.forms import is_own_form, read_tables
from zsnmt.corpora.own_text.held_out import hold_out
from zsnmt.corpora.own_text.rewriting import write_parallel_text
from zsnmt.corpora.own_text.saved_dataset import state_files
from zsnmt.corpora.own_text.table import Table
from zsnmt.corpora.parallel_text import check_trained, pairs_of_split
from zsnmt.corpora.releases.options import parse_release
from zsnmt.corpora.training_text import copy_beside, files_beside, make_training_text
from zsnmt.data.binarised_folder import SHARD
from zsnmt.errors import InputError
from zsnmt.files.locks import LOCK_FILE, locked, work_in
from zsnmt.files.replacing import replacing_folder
from zsnmt.languages import other_pairs
from zsnmt.processes import cores
from zsnmt.runs.folder import MODEL_FILE, TEXT_FOLDER, check_place, check_system_name
from zsnmt.runs.start import Beginning, check_config, keep_config, start_run
from zsnmt.training.config import Config, read_config
from zsnmt.training.steps import Steps, listing

MADE_FOR = "made_for"  # the file beside text and data that an adaptation has made
CHOOSING = ("--lang-pairs", "--valid-lang-pairs", "--valid-subset", "--disable-validation")
T = TypeVar("T")


@dataclass(frozen=True)
class Experiment:
    """The settings, the file they stand in, and the folder of all that is made with them."""

    config: Config
    file: Path
    folder: Path

    @property
    def text(self) -> Path:
        """Parallel text, the training pairs without overlap with held-out sets."""
        return self.folder / TEXT_FOLDER

    @property
    def data(self) -> Path:
        """The text, binarised."""
        return self.folder / "data"

    @property
    def is_adaptation(self) -> bool:
        """Whether text and data are those that `zsnmt adapt` has made."""
        return (self.folder / MADE_FOR).is_file()

    def run(self, system: str, seed: int) -> Path:
        """The folder of a run; `InputError` for a system whose name is not that of a folder of its own, and
        for a folder that fairseq could not read.
        """
        check_system_name(system)
        check_place(run := self.folder / system / f"seed{seed}")
        return run

    def start(self, system: str, seed: int, *, command: str, **further: Any) -> None:
        """Make the folder of a run on the text and the data of this experiment; `further` is as of
        `Beginning`.
        """
        beginning = Beginning(
            self.file, self.data, self.text, system=system, seed=seed, command=command, **further
        )
        start_run(self.run(system, seed), beginning)


def read_experiment(file: Path, runs: Path, variables: Mapping[str, str]) -> Experiment:
    """The experiment of a config, which lives in `runs`; `InputError` for a config that breaks a rule."""
    return Experiment(read_config(file, variables), file, runs / file.stem)


@contextmanager
def hold(steps: Steps, folder: Path, file: Path) -> Iterator[None]:
    """Be the only process that makes the data of an experiment; waits for another, and keeps the config
    beside the data.

    Raises `InputError` for data that were made with another config.
    """
    with locked(folder, steps.say):
        check_config(folder, file)
        yield
        keep_config(folder, file)


def prepare_data(steps: Steps, experiment: Experiment, options: Sequence[str] = ()) -> None:
    """Make the text and the binarised data of an experiment, unless they are there, for a training with
    further options of fairseq-train. Raises `InputError` where an adaptation has made them.
    """
    config = experiment.config
    with hold(steps, experiment.folder, experiment.file):
        if experiment.is_adaptation:
            raise InputError(
                f"{experiment.folder} has the text and the data of an adaptation, which would be made anew "
                "with other subwords; go on from its runs with zsnmt distill or zsnmt adapt, or copy "
                f"{experiment.file} to another name"
            )
        source = make_source(steps, experiment)
        chosen = {
            "languages": config.languages,
            "pairs": config.pairs,
            "cleaning": str(config.cleaning),
        }
        steps.make(
            experiment.folder,
            "text",
            experiment.text,
            work=partial(clean, source, experiment, options),
            inputs=[source],
            settings=chosen,
        )
        settings = {"languages": config.languages, **changed_settings(config)}
        steps.make(
            experiment.folder,
            "data",
            experiment.data,
            work=partial(binarise, experiment),
            inputs=[experiment.text],
            settings=settings,
        )


def changed_settings(config: Config) -> dict[str, object]:
    """The settings of the text pipeline and of shards that are not the default ones, so that a new setting is
    not a change to older data.
    """
    chosen, default = vars(config.text_settings), vars(type(config.text_settings)())
    changed = {key: value for key, value in chosen.items() if value != default[key]}
    return changed | ({"shards": config.shards} if config.shards > 1 else {})


def make_source(steps: Steps, experiment: Experiment) -> Path:
    """The folder of parallel text, made if the config says from what; `InputError` for a folder that is
    not there.
    """
    config, source = experiment.config, experiment.folder / "source"
    if config.text and not Path(config.text).exists():
        raise InputError(
            f"TEXT={config.text} is not there; it must hold parallel text, as docs/data.md says, or text in "
            f"another form of docs/own_text.md. If it was moved, say in {experiment.file} where it is now"
        )
    make = partial(steps.make, experiment.folder, "source", source)
    if config.synthetic:
        invented = parse_key(experiment, "SYNTHETIC", parse_corpus, words=config.synthetic)
        make(
            partial(replace_folder, source, partial(write_corpus, invented)),
            inputs=files_in(config.synthetic),
            settings={"synthetic": config.synthetic},
        )
    elif config.multiway:
        folder = Path(config.multiway)
        check_folder(
            folder,
            f"MULTIWAY={folder}",
            f"it must hold {{train,valid,test}}.xx for {' '.join(config.languages)}",
        )
        settings = {"languages": config.languages, "condition": config.condition}
        cut = partial(cut_training_pairs, folder, languages=config.languages, condition=config.condition)
        make(partial(replace_folder, source, cut), inputs=[folder], settings=settings)
    elif config.release:
        folder, corpus = Path(config.release), config.corpus[0]
        reader, settings = parse_key(experiment, "CORPUS", parse_release, words=config.corpus)
        check_folder(folder, f"RELEASE={folder}", f"fetch it with: zsnmt fetch {corpus} --to {folder}")
        settings_of_step = {
            "corpus": config.corpus,
            "languages": config.languages,
            "release": listing(folder),
        }
        make(partial(import_release, source, config, reader, settings), settings=settings_of_step)
    elif config.pattern or config.held_out or not is_own_form(Path(config.text)):
        tables = read_tables(Path(config.text), config.pattern)
        further = ("all_pairs",) if config.all_pairs else ()  # which texts made before do not have
        keys = ("languages", "pattern", "held_out", *further)
        settings_of_step = {key: getattr(config, key) for key in keys}
        files = [*dict.fromkeys(file for table in tables for file in table.files)]
        files += files_beside(Path(config.text), config.languages)
        make(
            partial(replace_folder, source, partial(rewrite, tables, config, steps.say)),
            inputs=files,
            settings=settings_of_step,
        )
    else:
        return Path(config.text).resolve()
    return source


def rewrite(tables: Sequence[Table], config: Config, say: Callable[[str], object], folder: Path) -> None:
    """Write a person's text as parallel text, with held-out sets if the config asks for them; say which
    directions then have no test set.
    """
    write_parallel_text(tables, folder, config.languages, all_pairs=config.all_pairs)
    copy_beside(Path(config.text), folder, config.languages)
    if config.held_out:
        hold_out(folder, config.languages, config.held_out)
    tested = pairs_of_split(folder, "test", config.languages)
    if without := other_pairs(config.languages, tested):
        first = without[0]
        files = " and ".join(f"test.{first}.{side}" for side in first.split("-"))
        text = Path(config.text)
        if text.is_file():
            advice = f"train on a folder that has {files} beside the text"
        elif config.pattern or state_files(text):
            advice = "add one in the form of the text"
        else:
            advice = f"put {files} beside the text"
        say(
            f"{', '.join(without)} will have no scores, as there is no test set for them; to have some, "
            f"{advice}"
        )


def parse_key(
    experiment: Experiment, key: str, parse: Callable[[tuple[str, ...]], T], words: tuple[str, ...]
) -> T:
    """What the words of a key mean, `InputError` naming the config where they mean nothing."""
    try:
        return parse(words)
    except InputError as error:
        raise InputError(f"{experiment.file} sets {key}={' '.join(words)}: {error}") from error


def check_folder(folder: Path, given: str, remedy: str) -> None:
    if not folder.is_dir():
        raise InputError(f"{given} is not a folder; {remedy}")


def replace_folder(folder: Path, write: Callable[[Path], object]) -> None:
    """Put what a function writes into a new folder in the place of a folder that is there."""
    with replacing_folder(folder) as part:
        write(part)


def import_release(source: Path, config: Config, reader: Callable, settings: dict) -> None:
    """Read a release into parallel text, and say what was repaired or left out."""
    logging.getLogger("zsnmt.corpora").setLevel(logging.INFO)
    with replacing_folder(source) as part:
        reader(Path(config.release), part, config.languages, **settings)
        warn_of_foreign_text(part, config.languages)


def clean(source: Path, experiment: Experiment, options: Sequence[str] = ()) -> None:
    """Write the text without training pairs that overlap with held-out sets or that the rules leave out."""
    config = experiment.config
    check_trained(source, config.languages)
    check_validation(source, config.languages, [*config.fairseq_options, *options])
    with replacing_folder(experiment.text) as part:
        counts = make_training_text(
            source,
            part,
            config.languages,
            limits=config.pairs,
            cleaning=config.cleaning,
            workers=cores(),
        )
        check_trained_on(experiment, source, part)
    say_what_is_left_out(counts, experiment.text)


def check_trained_on(experiment: Experiment, source: Path, text: Path) -> None:
    """`InputError` where a run was trained on other training text than that which is to take its place."""
    runs = sorted(model.parent for model in experiment.folder.glob(f"*/*/{MODEL_FILE}"))
    if not runs or not experiment.text.is_dir():
        return
    names = {file.name for folder in (experiment.text, text) for file in folder.glob("train.*")}
    same, *_ = cmpfiles(experiment.text, text, names, shallow=False)
    if len(same) == len(names):
        return
    anew = f"give {experiment.file} another name to train anew"
    before = {*rows_of_list(experiment.text / OVERLAP_LIST)}
    for overlap in rows_of_list(text / OVERLAP_LIST):
        if overlap not in before:
            training, line, held_out, place, sentence = overlap.split("\t")
            raise InputError(
                f"{held_out}, line {place} is '{sentence}', which {runs[0]} was trained on ({training}, line "
                f"{line} of {source}); take it out of the set and of its other language, or {anew}"
            )
    raise InputError(f"{source} has other training text than {runs[0]} was trained on; {anew}")


def rows_of_list(path: Path) -> list[str]:
    """The rows of a list of what is left out, ended by `\\n` alone; none where it is missing or empty."""
    return path.read_text(encoding="utf-8").split("\n")[:-1] if path.is_file() else []


def check_validation(text: Path, languages: Sequence[str], options: Sequence[str]) -> None:
    """`InputError` where a pair with training text has no validation text, unless the options of
    fairseq-train choose what is validated on: the training would say so when the data are made.
    """
    if any(word.partition("=")[0] in CHOOSING for word in options):
        return
    validated = pairs_of_split(text, "valid", languages)
    for pair in pairs_of_split(text, "train", languages):
        if pair not in validated:
            files = " and ".join(f"valid.{'-'.join(pair)}.{language}" for language in pair)
            raise InputError(
                f"{text} has training text for {'-'.join(pair)}, but no validation text; add {files}, or "
                f"valid.{pair[0]} and valid.{pair[1]} of a multiway set, take it from the training text by "
                "HELD_OUT=500, or name the directions to validate on by --valid-lang-pairs in TRAINING"
            )


def check_unused(experiment: Experiment) -> None:
    """`InputError` where a run is trained on data of several shards, which it opens one after the other: they
    must not become others meanwhile.
    """
    if any(experiment.data.glob(f"{SHARD}[0-9]*")):
        for lock in experiment.folder.glob(f"*/*/{LOCK_FILE}"):
            if busy := work_in(lock.parent):
                raise InputError(
                    f"{experiment.data} is to be made anew from what is in {experiment.text} now, and "
                    f"{busy}, which may be trained on it; wait for it or end it"
                )


def binarise(experiment: Experiment) -> None:
    from zsnmt.training.binarised import prepare  # loads PyTorch

    check_unused(experiment)
    prepare(
        experiment.text,
        experiment.data,
        experiment.config.languages,
        settings=experiment.config.text_settings,
        shards=experiment.config.shards,
        workers=cores(),
    )
    warn_of_foreign_text(experiment.text, experiment.config.languages)


def warn_of_foreign_text(folder: Path, languages: Sequence[str]) -> None:
    """Tell of files that seem to be in another language than their names say."""
    from zsnmt.corpora.releases.foreign_text import foreign_files  # loads py3langid

    for foreign in foreign_files(folder, languages):
        print(f"warning: {foreign}", file=sys.stderr)
