"""A trained run that learns new languages, from their text to an averaged model."""

import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from zsnmt.adaptation.joined_text import join_text
from zsnmt.adaptation.modes import FROZEN, FULL, UNKNOWN_BOUND
from zsnmt.adaptation.settings import SYNTHETIC_FROM, Adaptation
from zsnmt.corpora.left_out import say_what_is_left_out
from zsnmt.errors import InputError
from zsnmt.files.checksums import sha256
from zsnmt.files.locks import locked
from zsnmt.files.replacing import replacing, replacing_folder
from zsnmt.languages import read_languages
from zsnmt.processes import cores
from zsnmt.runs.checksums import check_pipeline
from zsnmt.runs.folder import MODEL_FILE, check_trained, direction_lists, read_record
from zsnmt.runs.start import ADAPTED_FROM, check_same_run, checksum_of_training
from zsnmt.training.cleaned_text import check_trained_on, check_validation
from zsnmt.training.data import changed_settings, check_unused, hold
from zsnmt.training.experiment import MADE_FOR, Experiment
from zsnmt.training.option_words import options_of
from zsnmt.training.sources import files_beside_runs, make_source
from zsnmt.training.steps import Steps, content_of
from zsnmt.training.team import shared_updates
from zsnmt.training.train import train_and_average

if TYPE_CHECKING:
    from zsnmt.adaptation.student_text import StudentText

START = "initial.pt"


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

    `recipe`: the command that makes it, for its record; `begin`: what else is to be done when the data are
    made, before the run begins. What is done already is left out.
    """
    run = experiment.run(name, seed)
    check_adaptation(steps, experiment, adaptation, run=run, recipe=recipe, options=options)
    text = text_of_students(steps, adaptation, run)
    make_joined_data(steps, experiment, adaptation, options=options)
    begin()
    with locked(run):
        experiment.start(
            name,
            seed,
            command=recipe,
            adapted_from=adaptation.base,
            mode=adaptation.mode,
            further={SYNTHETIC_FROM: str(text.folder)} if text else {},
        )
        own = [*experiment.config.fairseq_options, *options, "--finetune-from-model", str(run / START)]
        begun = make_beginning(steps, experiment, adaptation, run=run, seed=seed, own=own)
        data, of_data = choose_data(steps, experiment, adaptation, text=text, run=run, options=[*begun, *own])
        train_and_average(
            steps, experiment, run, system=name, seed=seed, options=[*begun, *of_data, *own], data=data
        )
    return run


def text_of_students(steps: Steps, adaptation: Adaptation, run: Path) -> "StudentText | None":
    """The synthetic text that the base learned from and `run` is to learn again; None where there is none."""
    if not any(direction_lists(adaptation.base).values()):
        return None
    from zsnmt.adaptation.student_text import choose_text  # loads fairseq

    return choose_text(steps, adaptation, run)


def make_beginning(
    steps: Steps, experiment: Experiment, adaptation: Adaptation, *, run: Path, seed: int, own: Sequence[str]
) -> list[str]:
    """Make the model that a training with its `own` options begins with, unless it is there; returns the
    options that it has of the base, and those for what is new.
    """
    from zsnmt.training.fairseq_options import without_replaced  # loads fairseq

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
    begun = (run / START).with_suffix(".options").read_text(encoding="utf-8").splitlines()
    return without_replaced(begun, own)


def choose_data(
    steps: Steps,
    experiment: Experiment,
    adaptation: Adaptation,
    *,
    text: "StudentText | None",
    run: Path,
    options: Sequence[str],
) -> tuple[Path, list[str]]:
    """The data that a run trains on, and the options of fairseq-train that belong to these besides
    `options`: with the students' text, and with the share of the new languages.
    """
    data, chosen = experiment.data, list[str]()
    if text:
        from zsnmt.adaptation.student_data import train_on_text  # loads fairseq

        data, chosen = train_on_text(steps, experiment, text, run=run, options=options)
    if adaptation.share is not None:
        from zsnmt.adaptation.share import write_share  # loads fairseq

        chosen += write_share(
            run,
            data,
            adaptation.new_languages(experiment.config.languages),
            share=adaptation.share,
            is_student=text is not None,
            options=options,
        )
    return data, chosen


def check_adaptation(
    steps: Steps,
    experiment: Experiment,
    adaptation: Adaptation,
    *,
    run: Path,
    recipe: str,
    options: Sequence[str] = (),
) -> None:
    """`InputError` for what cannot become the adapted `run`, before anything is made."""
    base = adaptation.base
    check_trained(base)
    check_pipeline(base)
    if run.resolve() == base.resolve():
        raise InputError(f"the adapted run would take the place of {base}; give it another --name")
    adaptation.new_languages(experiment.config.languages)
    check_same_run(run, recipe, {ADAPTED_FROM: {"run": str(base), "model": sha256(base / MODEL_FILE)}})
    if adaptation.text is None and adaptation.mode == FULL:
        raise InputError(
            f"{text_is_gone(base)}, and without it the model forgets its languages; bring it back, or adapt "
            "with --frozen, which needs only the new text"
        )
    if (run / MODEL_FILE).is_file():
        return
    given = [*experiment.config.fairseq_options, *options]
    check_training(adaptation, given)
    shared_updates([*options_of(base), *given], steps.team.size)
    check_text(adaptation)  # which reads it


def check_training(adaptation: Adaptation, given: Sequence[str]) -> None:
    """`InputError` for a model, or a training with these options besides, that cannot go on so."""
    from zsnmt.adaptation.extended_run import check_options  # loads PyTorch

    check_options(adaptation, given)


def check_text(adaptation: Adaptation) -> None:
    """`InputError` where other training text than the base's is by now in its place."""
    base, text = adaptation.base, adaptation.text
    kept = read_record(base).get("training_text")
    if text and kept and checksum_of_training(text) != kept:
        raise InputError(
            f"{text} has other training text than {base} was trained on; bring that back, or move this to "
            "another place and adapt with --frozen, which needs only the new text"
        )


def text_is_gone(base: Path) -> str:
    """What is said where the text of the base's training is missing."""
    return f"{read_record(base)['text']}, the text that {base} was trained on, is not there any more"


def make_joined_data(
    steps: Steps, experiment: Experiment, adaptation: Adaptation, options: Sequence[str] = ()
) -> None:
    """Make the text and the binarised data of a run and its new languages, unless they are there, for a
    training with further options of fairseq-train. Raises `InputError` for a folder of another text pipeline.
    """
    config, folder = experiment.config, experiment.folder
    made_for = folder / MADE_FOR  # which has the checksum of the text pipeline that the data go on from
    pipeline = content_of(adaptation.pipeline)
    with hold(steps, folder, experiment.file):
        if made_for.is_file() and made_for.read_text(encoding="utf-8") != pipeline:
            raise InputError(
                f"{folder} was made for runs with another text pipeline than {adaptation.base} has; give "
                "the config a new name, or remove the folder"
            )
        source, original = make_source(steps, experiment), adaptation.text
        read = files_beside_runs(source, experiment)
        sources = [*read, *([original] if original else []), adaptation.pipeline]
        alone = adaptation.mode == FROZEN and original is None
        chosen: dict = {"languages": config.languages, "pairs": config.pairs, "without_original": alone}
        if config.cleaning.rules:  # only then, since texts were made before it was possible
            chosen["cleaning"] = str(config.cleaning)
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
            work=partial(binarise_joined_text, experiment, adaptation),
            inputs=inputs,
            settings=settings,
        )
        with replacing(made_for) as file:
            file.write(pipeline.encode("utf-8"))


def write_joined_text(
    source: Path, experiment: Experiment, adaptation: Adaptation, options: Sequence[str]
) -> None:
    """Write the text of the old languages, if it is there, and the new ones, and say what is left out."""
    config, original = experiment.config, adaptation.text
    check_validation(source, config.languages, [*config.fairseq_options, *options])
    new = adaptation.new_languages(config.languages)
    if original is None:
        print(f"{text_is_gone(adaptation.base)}: only the new languages can be scored", file=sys.stderr)
    with replacing_folder(experiment.text) as part:
        known = read_languages(adaptation.pipeline)
        counts = join_text(
            source,
            part,
            known,
            new=new,
            original=original,
            limits=config.pairs or {},
            cleaning=config.cleaning,
            workers=cores(),
        )
        check_trained_on(experiment, source, part)
    say_what_is_left_out(counts, experiment.text)


def binarise_joined_text(experiment: Experiment, adaptation: Adaptation) -> None:
    """Write the data of the joined text, by the base's pipeline, and print the share of unknown pieces (in %)
    of each file.
    """
    from zsnmt.adaptation.data import extend_data  # loads PyTorch

    check_unused(experiment)
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
    """Write the model that a training begins with: the base's, with rows for what is new."""
    from zsnmt.adaptation.extended_run import extend_run  # loads PyTorch

    extend_run(adaptation, experiment.data, run / START, seed=seed)
