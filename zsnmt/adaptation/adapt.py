"""A trained run that learns new languages, from their text to an averaged model."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from zsnmt.adaptation.joined_text import join_text, new_languages
from zsnmt.adaptation.modes import FROZEN, FULL
from zsnmt.corpora.training_text import say_what_is_left_out
from zsnmt.errors import InputError
from zsnmt.files.locks import locked
from zsnmt.files.replacing import replacing, replacing_folder
from zsnmt.languages import read_languages
from zsnmt.processes import cores
from zsnmt.runs.checksums import check_pipeline
from zsnmt.runs.folder import MODEL_FILE, PIPELINE_FOLDER, check_trained, direction_lists, read_record
from zsnmt.runs.systems import BASELINE
from zsnmt.training.experiment import (
    Experiment,
    changed_settings,
    check_validation,
    hold,
    make_source,
)
from zsnmt.training.fairseq_train import options_of
from zsnmt.training.steps import Steps, content_of
from zsnmt.training.team import shared_updates
from zsnmt.training.train import check_options, train_and_average

MADE_FOR = "made_for"  # file with the checksum of the text pipeline that the data go on from
START = "initial.pt"
LARGEST_NOISE = 100  # in deviations of what is there; one is usual


@dataclass(frozen=True)
class Adaptation:
    """How the run `base` goes on: everything is trained, or in the mode `frozen` what is new alone.

    `adapter_dim`: the size of adapters in the decoder, 0 for none; `noise` and `noise_scale` are those of new
    rows; `allow_unknown`: the share (0–1) of the pieces of a file that the model may not know, None for the
    usual one. Raises `InputError` for numbers out of range.
    """

    base: Path
    mode: str = FULL
    adapter_dim: int = 0
    noise: str = "multiplicative"
    noise_scale: float = 1.0
    allow_unknown: float | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.noise_scale <= LARGEST_NOISE:  # which no NaN is
            raise InputError(f"--noise-scale is {self.noise_scale:g}; it must be from 0 to {LARGEST_NOISE}")
        if self.allow_unknown is not None and not 0 <= self.allow_unknown <= 1:
            raise InputError(f"--allow-unknown is {self.allow_unknown:g}; it is a share, from 0 to 1")

    @property
    def pipeline(self) -> Path:
        """The text pipeline of the run."""
        return self.base / PIPELINE_FOLDER

    @property
    def text(self) -> Path | None:
        """The text that the run was trained on; None where it is not there any more."""
        text = Path(read_record(self.base)["text"])
        return text if text.is_dir() else None

    def new_languages(self, languages: Sequence[str]) -> list[str]:
        """Those that the run does not know."""
        return new_languages(languages, read_languages(self.pipeline))


def adapt_run(
    steps: Steps,
    experiment: Experiment,
    adaptation: Adaptation,
    *,
    name: str,
    seed: int,
    recipe: str,
    options: Sequence[str] = (),
    begin: Callable[[], object] = lambda: None,
) -> Path:
    """Teach a run the new languages of an experiment, with further options of fairseq-train; returns the new
    run's folder.

    `recipe`: the command that makes it, for its record; `begin`: what else is to be done when all is checked,
    before anything is made. What is done already is left out.
    """
    run = experiment.run(name, seed)
    check_adaptation(steps, experiment, adaptation, run=run, options=options)
    begin()
    if not (run / MODEL_FILE).is_file():
        say_what_is_forgotten(steps, adaptation)
    extend_data(steps, experiment, adaptation, options=options)
    with locked(run):
        experiment.start(name, seed, command=recipe, adapted_from=adaptation.base, mode=adaptation.mode)
        settings = {
            "mode": adaptation.mode,
            "seed": seed,
            "adapter_dim": adaptation.adapter_dim,
            "noise": adaptation.noise,
            "noise_scale": adaptation.noise_scale,
        }
        inputs = [adaptation.base / MODEL_FILE, experiment.data]
        work = partial(extend_model, run, experiment, adaptation, seed)
        steps.make(run, "extend", run / START, work=work, inputs=inputs, settings=settings)
        base_options = (run / START).with_suffix(".options").read_text(encoding="utf-8").splitlines()
        further = [*experiment.config.fairseq_options, *options, "--finetune-from-model", str(run / START)]
        train_and_average(steps, experiment, run, system=name, seed=seed, options=[*base_options, *further])
    return run


def check_adaptation(
    steps: Steps, experiment: Experiment, adaptation: Adaptation, *, run: Path, options: Sequence[str] = ()
) -> None:
    """`InputError` for what cannot become the adapted `run`, before anything is made."""
    if experiment.config.cleaning.rules:
        raise InputError(
            f"{experiment.file} sets CLEANING, and a run that goes on keeps its text as it is; clean the new "
            "text alone by zsnmt clean, name the result in TEXT, and leave CLEANING out"
        )
    base = adaptation.base
    check_trained(base)
    check_pipeline(base)
    if run.resolve() == base.resolve():
        raise InputError(f"the adapted run would take the place of {base}; give it another --name")
    if (run / MODEL_FILE).is_file():
        return
    given = [*experiment.config.fairseq_options, *options]
    check_options(BASELINE.architecture, given)  # those of all architectures of the model
    shared_updates([*options_of(base), *given], steps.team.size)


def say_what_is_forgotten(steps: Steps, adaptation: Adaptation) -> None:
    """Tell of directions that the training of all weights may forget, since their text is no part of it."""
    if adaptation.mode == FULL and any(direction_lists(adaptation.base).values()):
        steps.say(
            f"{adaptation.base} has directions that it learned from synthetic text or from a few lines, "
            "which are no part of this training, so that it may forget them; --frozen keeps them, or adapt "
            "the run that taught it, and distill that again"
        )


def extend_data(
    steps: Steps, experiment: Experiment, adaptation: Adaptation, options: Sequence[str] = ()
) -> None:
    """Make the text and the binarised data of a run and its new languages, unless they are there, for a
    training with further options of fairseq-train.
    """
    config, folder = experiment.config, experiment.folder
    made_for, pipeline = folder / MADE_FOR, content_of(adaptation.pipeline)
    with hold(steps, folder, experiment.file):
        if made_for.is_file() and made_for.read_text(encoding="utf-8") != pipeline:
            raise InputError(
                f"{folder} was made for runs with another text pipeline than {adaptation.base} has; give "
                "the config a new name, or remove the folder"
            )
        source, original = make_source(steps, experiment), adaptation.text
        sources = [source, *([original] if original else []), adaptation.pipeline]
        alone = adaptation.mode == FROZEN and original is None
        chosen = {"languages": config.languages, "pairs": config.pairs, "without_original": alone}
        join = partial(write_joined_text, source, experiment, adaptation, options=options)
        whole = original is not None  # else what an earlier version made may be for the mode frozen
        steps.make(
            folder, "text", experiment.text, work=join, inputs=sources, settings=chosen, take_older=whole
        )
        settings = {
            "languages": config.languages,
            "allow_unknown": adaptation.allow_unknown,
            **changed_settings(config),
        }
        inputs = [experiment.text, adaptation.pipeline]
        steps.make(
            folder,
            "data",
            experiment.data,
            work=partial(binarise, experiment, adaptation),
            inputs=inputs,
            settings=settings,
        )
        with replacing(made_for) as file:
            file.write(pipeline.encode("utf-8"))


def write_joined_text(
    source: Path, experiment: Experiment, adaptation: Adaptation, options: Sequence[str]
) -> None:
    config, original = experiment.config, adaptation.text
    check_validation(source, config.languages, [*config.fairseq_options, *options])
    new = adaptation.new_languages(config.languages)
    if original is None:
        gone = (
            f"{read_record(adaptation.base)['text']}, the text that {adaptation.base} was trained on, is "
            "not there any more"
        )
        if adaptation.mode != FROZEN:
            raise InputError(
                f"{gone}, and without it the model forgets its languages; bring it back, or adapt with "
                "--frozen, which needs only the new text"
            )
        print(f"{gone}: only the new languages can be scored", file=sys.stderr)
    with replacing_folder(experiment.text) as part:
        known = read_languages(adaptation.pipeline)
        counts = join_text(
            source, part, known, new=new, original=original, limits=config.pairs or {}, workers=cores()
        )
    say_what_is_left_out(counts)


def binarise(experiment: Experiment, adaptation: Adaptation) -> None:
    from zsnmt.adaptation.data import UNKNOWN_BOUND, extend_data  # loads PyTorch

    new = adaptation.new_languages(experiment.config.languages)
    bound = UNKNOWN_BOUND if adaptation.allow_unknown is None else adaptation.allow_unknown
    settings = experiment.config.text_settings
    shares = extend_data(
        experiment.text,
        experiment.data,
        adaptation.pipeline,
        new=new,
        settings=settings,
        unknown_bound=bound,
        shards=experiment.config.shards,
        workers=cores(),
    )
    for name, share in shares.items():
        print(f"{name}\t{100 * share:.2f} % unknown", file=sys.stderr)


def extend_model(run: Path, experiment: Experiment, adaptation: Adaptation, seed: int) -> None:
    from zsnmt.adaptation.run import extend_run  # loads PyTorch

    extend_run(
        adaptation.base,
        experiment.data,
        run / START,
        mode=adaptation.mode,
        adapter_dim=adaptation.adapter_dim,
        noise=adaptation.noise,
        scale=adaptation.noise_scale,
        seed=seed,
    )
