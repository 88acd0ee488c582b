"""Probes of a run's encoder, made once: what its states know of token, position and language, how alike
languages are, and the figures of its layers.
"""

import shutil
from dataclasses import asdict
from functools import partial
from pathlib import Path

from zsnmt.analysis import layer_figures
from zsnmt.analysis.state_folder import ROWS, SENTENCES
from zsnmt.errors import InputError
from zsnmt.files.locks import locked
from zsnmt.files.replacing import put_in_place
from zsnmt.probing.settings import Probing
from zsnmt.probing.steps import HELD_OUT, PRINTED_TABLES, RECORDS, STATES, TRAINING, ProbeSteps
from zsnmt.runs.commands import recipe_command, verb_command
from zsnmt.runs.folder import MODEL_FILE, check_trained, read_record
from zsnmt.runs.probe_folder import PROBE_RECORD, PROBES
from zsnmt.training.steps import MARKERS, Steps


def probe_run(steps: Steps, run: Path, probing: Probing, keep_states: bool = False) -> list[str]:
    """Make the tables of RUN/probes, unless they were made before of the same model, text and settings;
    returns what to print.

    Earlier tables stay until all new ones are there. Raises `InputError` for a run without model, where its
    text is not there any more, where another process is at work in the run, and where states are to be kept
    and none are stored.
    """
    if keep_states and probing.live and probing.classifiers_only:
        raise InputError(
            "--keep-states has nothing to keep: live classifiers without similarity store no states; leave "
            "it out, or add --training-states stored"
        )
    check_trained(run)
    text = Path(read_record(run)["text"])
    if not text.is_dir():
        raise InputError(
            f"{text}, the text of {run}, is not there any more; make states from a copy of it with: "
            + verb_command("probe-states", run, "STATES", "--text", "FOLDER")
        )
    with locked(run):
        names = [figure.name for figure in layer_figures.LAYER_FIGURES]
        settings = {**asdict(probing), "keep_states": keep_states, "figures": names}
        work = partial(make_probes, steps, run, text, probing, keep_states)
        inputs = [run / MODEL_FILE, text]
        steps.make(
            run,
            "probe",
            run / PROBES / PROBE_RECORD,
            work=work,
            inputs=inputs,
            settings=settings,
            take_older=False,
        )
    files = [run / PROBES / name for name in PRINTED_TABLES]
    return [file.read_text(encoding="utf-8").rstrip("\n") for file in files if file.is_file()]


def make_probes(steps: Steps, run: Path, text: Path, probing: Probing, keep_states: bool) -> None:
    from zsnmt.probing.record import write_probe_record

    new = run / f"{PROBES}.new"
    command = recipe_command("probe", run, *probing.options(), *["--keep-states"] * keep_states)
    made = ProbeSteps(steps, run, text, probing=probing, new=new)
    write_probe_record(
        new,
        run,
        **made.make(),
        split=probing.split,
        kind=probing.kind,
        batches=SENTENCES if probing.live else ROWS,
        variance=probing.variance,
        classifiers_only=probing.classifiers_only,
        probe_seed=probing.seed,
        command=command,
    )
    stored = () if keep_states else (new / STATES, new / HELD_OUT, new / TRAINING)
    for folder in (new / MARKERS, new / RECORDS, *stored):
        shutil.rmtree(folder, ignore_errors=True)
    put_in_place(new, run / PROBES)
