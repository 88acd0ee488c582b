"""The trained run that translates for its student."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import permutations
from pathlib import Path

import torch

from zsnmt.decoding.methods.settings import Method
from zsnmt.decoding.options import CTRANSLATE2, PYTORCH, EngineChoice
from zsnmt.decoding.search import Search
from zsnmt.errors import InputError
from zsnmt.files.checksums import sha256
from zsnmt.inference.translator import Translator
from zsnmt.languages import Direction, parse_direction, read_languages
from zsnmt.processes import Progress
from zsnmt.runs.checkpoints import load_checkpoint, trained_directions
from zsnmt.runs.checksums import check_model, check_pipeline
from zsnmt.runs.folder import (
    MODEL_FILE,
    PIPELINE_FOLDER,
    check_trained,
    commit,
    differing,
    piece_counts,
    read_record,
)
from zsnmt.runs.several_models import Member, check_together
from zsnmt.training.option_words import options_of

Sources = tuple[str, ...]  # the sentences that one translation is made of
TEACHERS_CONFIG = "give the config that the teacher was trained with"


class Teacher:
    """A trained run and what its checkpoint says.

    `checksum`: of its model; `trained`: the directions that it has learned. `beside`: teachers that translate
    together with it. Raises `InputError` for a folder that is not one of a trained run, and for a model that
    is there twice, or that cannot translate together with the others.
    """

    def __init__(self, run: Path, beside: Sequence[Path] = ()) -> None:
        check_trained(run)
        check_pipeline(run)
        self.run, self.record, self.model = run, read_record(run), run / MODEL_FILE
        self.pipeline = run / PIPELINE_FOLDER
        self.languages = read_languages(self.pipeline)
        with check_model(run) as self.checksum:
            state = load_checkpoint(self.model)
        self.architecture: str = state["cfg"]["model"].arch
        self.frozen: str = getattr(state["cfg"]["model"], "frozen_vocabulary", "none")
        self.tags: str = state["task_state"]["language_tags"]
        self.longest: int = state["cfg"]["task"].max_source_positions
        self.trained = {*map(parse_direction, trained_directions(state))}
        self.beside = [*map(Teacher, beside)]
        models = self, *self.beside
        check_together([Member(each.run, each.checksum, each.tags, longest=each.longest) for each in models])
        self.sizes = {name: weight.shape for name, weight in state["model"].items()}

    @cached_property
    def options(self) -> list[str]:
        """Those of its training, as `options_of`."""
        return options_of(self.run)

    @property
    def remedy(self) -> str:
        """That of its training, if it had one."""
        return self.record.get("distillation", {}).get("remedy", "")

    def describe(self) -> dict:
        """What records of synthetic text and of students say of it."""
        named = {key: self.record.get(key) for key in ("config", "system", "seed", "commit")}
        beside = {"beside": [each.describe() for each in self.beside]} if self.beside else {}
        return {"run": str(self.run.resolve()), **named, "model": self.checksum, **beside}

    def checksums(self) -> dict:
        """Those of all models that translate."""
        beside = {"beside": [each.checksum for each in self.beside]} if self.beside else {}
        return {"model": self.checksum, **beside}

    def check_going_on(self) -> None:
        """`InputError` for a model that no student goes on from: one adapted with all else frozen."""
        if self.frozen != "none":
            raise InputError(
                f"{self.run} was adapted with --frozen, and a student that begins with it would train only "
                "what is new; adapt without --frozen, or train the student --from-scratch"
            )

    @property
    def knows_others(self) -> bool:
        """Whether it has learned all directions between the languages that are not the pivot."""
        return {Direction(*pair) for pair in permutations(self.languages[1:], 2)} <= self.trained

    def learned_of(self, directions: Iterable[Direction]) -> list[Direction]:
        """Those of the directions that all models that translate have learned, in order."""
        models = self, *self.beside
        return [direction for direction in directions if all(direction in each.trained for each in models)]

    def check_learned(self, directions: Iterable[Direction], *, remedy: str) -> None:
        """`InputError` unless all models that translate have learned these directions."""
        for each in (self, *self.beside):
            if missing := [str(direction) for direction in directions if direction not in each.trained]:
                raise InputError(f"{each.run} was not trained on {', '.join(missing)}; {remedy}")

    def check_unchanged(self) -> None:
        """`InputError` if a model was made anew after it was read: a student would have parts of both."""
        for each in (self, *self.beside):
            if sha256(each.model) != each.checksum:
                raise InputError(
                    f"{each.model} was made anew after it was read; run the same command again, which takes "
                    "what is there now"
                )

    def check_languages(
        self, config: Path, languages: Sequence[str], *, remedy: str = TEACHERS_CONFIG
    ) -> None:
        """`InputError` unless a config has the languages of the teacher."""
        if [*languages] != self.languages:
            raise InputError(
                f"{config} has the languages {' '.join(languages)}, and {self.run} was trained on "
                f"{' '.join(self.languages)}; {remedy}"
            )

    def check_others(self, config: Path) -> None:
        """`InputError` for a teacher of two languages, between which there is text."""
        if len(self.languages) < 3:
            raise InputError(
                f"{config} has only {' '.join(self.languages)}: there is no direction without text to teach; "
                "give a teacher of three languages or more, or train this one further by --sides none"
            )

    def check_pipeline(self, data: Path, *, remedy: str = TEACHERS_CONFIG) -> None:
        """`InputError` unless binarised data have the text pipeline and the dictionary of the teacher."""
        if changed := differing(self.pipeline, data):
            raise InputError(f"{data} has another {changed[0]} than {self.run} was trained with; {remedy}")


class Interpreter:
    """A teacher at work: by some search and engine, and a way to translate, if any."""

    def __init__(
        self, teacher: Teacher, search: Search, engine: EngineChoice, *, way: Method | None = None
    ) -> None:
        self.teacher, self.search, self.engine, self.way = teacher, search, engine, way

    @cached_property
    def translator(self) -> Translator:
        """The loaded model; an export is made where the engine needs one."""
        opened = Translator.open(self.teacher.run, self.search, self.engine, prepare=True)
        if self.way is None:
            return opened
        return opened.by(self.way, piece_counts(self.teacher.run) if self.way.mask else None)

    def describe(self) -> dict[str, str]:
        """What records say of the program, the engine and the device that translate."""
        signature = self.translator.signature
        on_gpu = torch.cuda.is_available() and CTRANSLATE2 not in signature
        return {
            "commit": commit(),
            "engine": signature or PYTORCH,
            "device": torch.cuda.get_device_name() if on_gpu else "cpu",
        }

    def translate(self, lines: Sequence[Sources], direction: Direction, finished: Progress) -> list[str]:
        """A translation for each line, which may have the pivot's sentence beside it."""
        first, *beside = zip(*lines)
        through = {self.translator.pivot: beside[0]} if beside else None
        found = self.translator.translate_into_with_scores(
            first, [direction], first_line=None, finished=finished, through=through
        )
        return [each.text for each in found[direction]]
