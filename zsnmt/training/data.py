"""The text and the binarised data of an experiment, made once for all its runs."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from zsnmt.data.binarised_folder import SHARD
from zsnmt.errors import InputError
from zsnmt.files.locks import LOCK_FILE, locked, work_in
from zsnmt.processes import cores
from zsnmt.runs.start import check_config, keep_config
from zsnmt.training.cleaned_text import clean
from zsnmt.training.config import Config
from zsnmt.training.experiment import Experiment
from zsnmt.training.sources import files_beside_runs, make_source
from zsnmt.training.steps import Steps


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
        chosen = {"languages": config.languages, "pairs": config.pairs, "cleaning": str(config.cleaning)}
        steps.make(
            experiment.folder,
            "text",
            experiment.text,
            work=partial(clean, source, experiment, options),
            inputs=files_beside_runs(source, experiment),
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


def binarise(experiment: Experiment) -> None:
    from zsnmt.corpora.releases.foreign_text import warn_of_foreign_text  # loads py3langid
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
