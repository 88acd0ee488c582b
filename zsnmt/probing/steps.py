"""The steps of the probes of a run: states of a text, how alike languages are in them, figures of their
layers, and classifiers.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from zsnmt.analysis import layer_figures
from zsnmt.analysis.state_folder import STATES_FILE
from zsnmt.corpora.multiway import is_multiway, own_lines, read_translations
from zsnmt.corpora.random_lines import random_lines
from zsnmt.errors import InputError
from zsnmt.files.records import write_json
from zsnmt.files.replacing import replacing
from zsnmt.languages import check_known, read_languages
from zsnmt.probing.settings import TRAIN, Probing
from zsnmt.runs.folder import MODEL_FILE, PIPELINE_FOLDER
from zsnmt.runs.probe_folder import TABLES
from zsnmt.training.steps import Steps, made_from

if TYPE_CHECKING:
    from zsnmt.inference.probed_model import ProbedModel

SIMILARITY, FIGURES, CLASSIFIERS = PRINTED_TABLES = ("similarity.txt", "layer_figures.txt", "classifiers.txt")
SIMILARITY_TABLE, FIGURES_TABLE, CLASSIFIERS_TABLE = TABLES[:3]
# Folders: states of translations, of what classifiers are measured on, and of what they are trained on.
STATES, HELD_OUT, TRAINING = "states", "held_out_states", "training_states"
RECORDS = "live"  # folder of the records of states that are not stored


@dataclass(frozen=True)
class ProbeSteps:
    """The steps that make the tables of a run's probes of a `text`, in the folder `new`."""

    steps: Steps
    run: Path
    text: Path
    probing: Probing
    new: Path

    @cached_property
    def languages(self) -> list[str]:
        """Those that are probed, in the order of the model."""
        known = read_languages(self.run / PIPELINE_FOLDER)
        chosen = {check_known(language, known) for language in self.probing.languages or known}
        if len(chosen) == 1 and (not self.probing.classifiers_only or "language" in self.probing.labels):
            raise InputError(
                "similarity and the classifier of the language are of two languages or more, not of "
                f"{''.join(chosen)} alone; name more, or give --classifiers-only and --labels without "
                "language"
            )
        return [language for language in known if language in chosen]

    def make(self) -> dict[str, Path]:
        """Make the tables; returns the folders with the records of what they are of, see
        `write_probe_record`.
        """
        alone, live = self.probing.classifiers_only, self.probing.live
        multiway = is_multiway(self.text, self.probing.split, self.languages)
        held_out = STATES if multiway and not alone and not live else HELD_OUT
        stored = [] if alone else [STATES]
        stored += [] if live else [held_out, TRAINING]
        for what in (STATES, HELD_OUT, TRAINING):
            if what in stored:
                self.make_states(what)
            else:  # another call, which was stopped, may have made them
                shutil.rmtree(self.new / what, ignore_errors=True)
        if alone:
            self.leave_out(SIMILARITY, SIMILARITY_TABLE)
        else:
            self.make_similarity()
        if stored:
            self.make_figures(stored[0])
        else:
            self.leave_out(FIGURES, FIGURES_TABLE)
            self.steps.say("layer_figures: left out, since no states are stored")
        self.make_classifiers(held_out)
        learned_from = self.new / RECORDS if live else self.new
        measured = learned_from / held_out
        return {
            "states": measured if alone else self.new / STATES,
            "held_out": measured,
            "training": learned_from / TRAINING,
        }

    def leave_out(self, *names: str) -> None:
        """Remove what a call that was stopped may have made."""
        for name in names:
            (self.new / name).unlink(missing_ok=True)

    def files(self, what: str) -> list[Path]:
        """What the states of a text depend on."""
        split = TRAIN if what == TRAINING else self.probing.split
        return [self.run / MODEL_FILE, *sorted(self.text.glob(f"{split}.*"))]

    def settings(self, what: str) -> dict[str, object]:
        """Which lines are read, and how."""
        probing = self.probing
        if what == TRAINING:
            lines: dict[str, object] = {"random": probing.train_lines or "all", "seed": probing.seed}
        else:
            lines = {"split": probing.split, "lines": probing.lines}
        return {**lines, "target": probing.target, "languages": self.languages}

    def sentences(self, what: str) -> dict[str, list[str]]:
        """The lines of each language: translations of each other, a language's own, or those of training."""
        probing, languages = self.probing, self.languages
        if what == TRAINING:
            return random_lines(self.text, TRAIN, languages, number=probing.train_lines, seed=probing.seed)
        if what == HELD_OUT:
            lines = own_lines(self.text, probing.split, languages)
        else:
            with similarity_remedy():
                pivot = read_languages(self.run / PIPELINE_FOLDER)[0]
                lines = read_translations(self.text, probing.split, languages, pivot=pivot)
            self.steps.say(f"{len(lines[languages[0]])} sentences are common to {', '.join(languages)}")
        return {language: of_language[: probing.lines] for language, of_language in lines.items()}

    def make_states(self, what: str) -> None:
        """Store the states of a text."""
        work = partial(self.write_states, what)
        self.steps.make(
            self.new, what, self.new / what, work=work, inputs=self.files(what), settings=self.settings(what)
        )

    def write_states(self, what: str) -> None:
        from zsnmt.inference.probed_model import load_probed_run  # loads PyTorch
        from zsnmt.inference.states import write_states

        folder, model = self.new / what, load_probed_run(self.run, target=self.probing.target)
        shutil.rmtree(folder, ignore_errors=True)
        write_states(folder, model, self.text_for(model, what), translations=what == STATES)

    def text_for(self, model: "ProbedModel", what: str) -> dict[str, list[str]]:
        """The lines of each language; those of training without what the model does not read."""
        from zsnmt.inference.states import readable_lines

        text = self.sentences(what)
        if what != TRAINING:
            return text
        read = readable_lines(model, text)
        drawn, left = (sum(map(len, lines.values())) for lines in (text, read))
        if left < drawn:
            self.steps.say(
                f"{drawn - left:,} of {drawn:,} training lines have more pieces than the model reads, or "
                "none, and are left out"
            )
        return read

    def make_similarity(self) -> None:
        """Compare the languages' translations."""
        self.steps.make(
            self.new,
            "similarity",
            self.new / SIMILARITY,
            work=self.write_similarity,
            settings={
                "variance": self.probing.variance,
                "seed": self.probing.seed,
                STATES: made_from(self.new, STATES),
            },
        )

    def write_similarity(self) -> None:
        from zsnmt.report.probes.similarity import write_similarities  # loads PyTorch

        with similarity_remedy():
            shown = write_similarities(
                self.new / STATES,
                self.new / SIMILARITY_TABLE,
                variance=self.probing.variance,
                csls_neighbours=None,
                seed=self.probing.seed,
            )
        keep(self.new / SIMILARITY, shown)

    def make_figures(self, measured: str) -> None:
        """Compute the figures of the layers of some states."""
        names = [figure.name for figure in layer_figures.LAYER_FIGURES]
        self.steps.make(
            self.new,
            "layer_figures",
            self.new / FIGURES,
            work=partial(self.write_figures, measured),
            settings={"figures": names, measured: made_from(self.new, measured)},
        )

    def write_figures(self, measured: str) -> None:
        from zsnmt.report.probes.layer_figures import write_layer_figures

        keep(self.new / FIGURES, write_layer_figures(self.new / measured, self.new / FIGURES_TABLE))

    def make_classifiers(self, held_out: str) -> None:
        """Train the classifiers, and measure them on held-out states."""
        settings = {"kind": self.probing.kind, "labels": self.probing.labels, "seed": self.probing.seed}
        if self.probing.live:
            work, inputs = self.write_live_classifiers, [*self.files(HELD_OUT), *self.files(TRAINING)]
            settings |= {what: self.settings(what) for what in (HELD_OUT, TRAINING)} | {"live": True}
        else:
            work, inputs = partial(self.write_stored_classifiers, held_out), []
            settings |= {what: made_from(self.new, what) for what in (held_out, TRAINING)}
        self.steps.make(
            self.new, "classifiers", self.new / CLASSIFIERS, work=work, inputs=inputs, settings=settings
        )

    def write_stored_classifiers(self, held_out: str) -> None:
        from zsnmt.report.probes.classifiers import write_classifiers  # loads PyTorch

        shown = write_classifiers(
            self.new / TRAINING,
            self.new / CLASSIFIERS_TABLE,
            held_out=self.new / held_out,
            kind=self.probing.kind,
            labels=self.probing.labels,
            seed=self.probing.seed,
        )
        keep(self.new / CLASSIFIERS, shown)

    def write_live_classifiers(self) -> None:
        from zsnmt.inference.probed_model import load_probed_run  # loads PyTorch
        from zsnmt.inference.states import live_states
        from zsnmt.report.probes.classifiers import write_live_classifiers

        model = load_probed_run(self.run, target=self.probing.target)
        texts = {what: live_states(model, self.text_for(model, what)) for what in (TRAINING, HELD_OUT)}
        shown = write_live_classifiers(
            texts[TRAINING],
            self.new / CLASSIFIERS_TABLE,
            held_out=texts[HELD_OUT],
            labels=self.probing.labels,
            seed=self.probing.seed,
        )
        for what, states in texts.items():
            folder = self.new / RECORDS / what
            folder.mkdir(parents=True, exist_ok=True)
            write_json(folder / STATES_FILE, states.record)
        keep(self.new / CLASSIFIERS, shown)


@contextmanager
def similarity_remedy() -> Iterator[None]:
    """Say in an error that classifiers need no sentences in common."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{error}; or probe without similarity, by --classifiers-only") from error


def keep(file: Path, shown: str) -> None:
    """Keep what is to be printed."""
    with replacing(file) as output:
        output.write(f"{shown}\n".encode())
