"""Probes of a run's encoder, made once: what its states know of token, position and language, and how
alike languages are.
"""

import shlex
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

from zsnmt.analysis.state_folder import LABELS
from zsnmt.errors import InputError
from zsnmt.files import replacing
from zsnmt.runs.folder import MODEL_FILE, PROJECT, check_trained, read_record
from zsnmt.training.locks import locked
from zsnmt.training.steps import MARKERS, Steps, made_from

PROBES, RECORD = "probes", "record.json"
SIMILARITY, CLASSIFIERS = PRINTED = ("similarity.txt", "classifiers.txt")


@dataclass(frozen=True)
class Probing:
    """What is measured: the first `lines` (None: all) of a split, by classifiers that are trained on random
    training lines.

    `kind` is the procedure of the classifiers, `variance` the share (0–1) of it that SVCCA keeps, `target`
    the language asked for, where sources bear its tag.
    """

    split: str = "test"
    lines: int | None = None
    train_lines: int = 2000
    kind: str = "published"
    labels: tuple[str, ...] = LABELS
    variance: float = 0.99
    target: str | None = None
    seed: int = 1

    def options(self) -> list[str]:
        """The words of a command for what is not the default."""
        chosen = [each for each in fields(self) if getattr(self, each.name) != each.default]
        words = {each.name.replace("_", "-"): getattr(self, each.name) for each in chosen}
        return [
            word
            for name, value in words.items()
            for word in (f"--{name}", " ".join(value) if isinstance(value, tuple) else str(value))
        ]


def probe_run(steps: Steps, run: Path, probing: Probing, keep_states: bool = False) -> list[str]:
    """Make the tables of RUN/probes, unless they were made before of the same model, text and settings;
    returns what to print.

    Earlier tables stay until all new ones are there. Raises `InputError` for a run without model, where its
    text is not there any more, and where another process is at work in the run.
    """
    check_trained(run)
    text = Path(read_record(run)["text"])
    if not text.is_dir():
        raise InputError(
            f"{text}, the text of {run}, is not there any more; make states from a copy of it with: "
            f"zsnmt probe-states {run} STATES --text FOLDER"
        )
    with locked(run):
        settings = {**asdict(probing), "keep_states": keep_states}
        work = partial(make_probes, steps, run, text, probing, keep_states)
        inputs = [run / MODEL_FILE, text]
        steps.make(
            run, "probe", run / PROBES / RECORD, work=work, inputs=inputs, settings=settings, take_older=False
        )
    return [(run / PROBES / name).read_text(encoding="utf-8").rstrip("\n") for name in PRINTED]


def make_probes(steps: Steps, run: Path, text: Path, probing: Probing, keep_states: bool) -> None:
    from zsnmt.report.probes.classifiers import write_classifiers  # loads PyTorch
    from zsnmt.report.probes.record import write_probe_record
    from zsnmt.report.probes.similarity import write_similarities

    new = run / f"{PROBES}.new"
    states, training, model = new / "states", new / "training_states", run / MODEL_FILE
    target, seed = probing.target, probing.seed
    of_split: dict[str, Any] = {"split": probing.split, "lines": probing.lines, "target": target}
    files = sorted(text.glob(f"{probing.split}.*"))
    steps.make(
        new,
        "states",
        states,
        work=partial(write_run_states, states, run, text, **of_split),
        inputs=[model, *files],
        settings=of_split,
    )
    of_training: dict[str, Any] = {
        "split": "train",
        "random": probing.train_lines,
        "seed": seed,
        "target": target,
    }
    files = sorted(text.glob("train.*"))
    work = partial(write_run_states, training, run, text, **of_training)
    steps.make(new, "training_states", training, work=work, inputs=[model, *files], settings=of_training)

    of_similarity: dict[str, Any] = {"variance": probing.variance, "seed": seed}
    work = partial(
        printed,
        new / SIMILARITY,
        write_similarities,
        states=states,
        output=new / "similarity.tsv",
        csls_neighbours=None,
        **of_similarity,
    )
    made = {"states": made_from(new, "states")}
    steps.make(new, "similarity", new / SIMILARITY, work=work, settings=of_similarity | made)
    of_classifiers = {"kind": probing.kind, "labels": probing.labels, "seed": seed}
    work = partial(
        printed,
        new / CLASSIFIERS,
        write_classifiers,
        states=training,
        output=new / "classifiers.tsv",
        held_out=states,
        **of_classifiers,
    )
    made |= {"training_states": made_from(new, "training_states")}
    steps.make(new, "classifiers", new / CLASSIFIERS, work=work, settings=of_classifiers | made)

    command = shlex.join(
        ["bash", "recipes/probe.sh", str(run).removeprefix(f"{PROJECT}/"), *probing.options()]
    )
    write_probe_record(
        new,
        run,
        states,
        training=training,
        split=probing.split,
        kind=probing.kind,
        variance=probing.variance,
        probe_seed=seed,
        command=command,
    )
    for folder in (new / MARKERS, run / PROBES, *(() if keep_states else (states, training))):
        shutil.rmtree(folder, ignore_errors=True)
    new.rename(run / PROBES)


def write_run_states(
    folder: Path,
    run: Path,
    text: Path,
    *,
    split: str,
    target: str | None,
    lines: int | None = None,
    random: int | None = None,
    seed: int = 1,
) -> None:
    """Write the states of the first lines of a multiway split, or of random lines of the files of its
    pairs.
    """
    from zsnmt.corpora.multiway import read_multiway
    from zsnmt.inference.states import load_run, write_states  # loads PyTorch
    from zsnmt.masked_lm.random_lines import random_lines

    model = load_run(run, target=target)
    if random is None:
        sentences = {
            language: of_language[:lines]
            for language, of_language in read_multiway(text, split, model.languages).items()
        }
    else:
        sentences = random_lines(text, split, model.languages, number=random, seed=seed)
    shutil.rmtree(folder, ignore_errors=True)
    write_states(folder, model, sentences, translations=random is None)


def printed(file: Path, make: Callable[..., object], **settings: Any) -> None:
    """Keep what a function returns to be printed."""
    shown = make(**settings)
    with replacing(file) as output:
        output.write(f"{shown}\n".encode())
