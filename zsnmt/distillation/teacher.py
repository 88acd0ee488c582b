"""The trained run that translates for its student."""

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

from zsnmt.decoding.methods.settings import Method
from zsnmt.decoding.options import EngineChoice
from zsnmt.decoding.search import Search
from zsnmt.errors import InputError
from zsnmt.files.checksums import sha256
from zsnmt.inference.translator import Translator
from zsnmt.languages import Direction, read_languages
from zsnmt.runs.checkpoints import load_checkpoint
from zsnmt.runs.checksums import check_model, check_pipeline
from zsnmt.runs.folder import (
    MODEL_FILE,
    PIPELINE_FOLDER,
    check_trained,
    differing,
    piece_counts,
    read_record,
)

Sources = tuple[str, ...]  # the sentences that one translation is made of


class Teacher:
    """A trained run, what its checkpoint says, and its translator, which is loaded when it first translates.

    `checksum`: of its model. `beside`: teachers that translate together with it. Raises `InputError` for a
    folder that is not one of a trained run.
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
        self.tags: str = state["task_state"]["language_tags"]
        self.longest: int = state["cfg"]["task"].max_source_positions
        self.beside = [*map(Teacher, beside)]
        self.sizes = {name: weight.shape for name, weight in state["model"].items()}

    def describe(self) -> dict:
        """What records of synthetic text and of students say of it."""
        named = {key: self.record[key] for key in ("config", "system", "seed", "commit")}
        beside = {"beside": [each.describe() for each in self.beside]} if self.beside else {}
        return {"run": str(self.run.resolve()), **named, "model": self.checksum, **beside}

    def checksums(self) -> dict:
        """Those of all models that translate."""
        beside = {"beside": [each.checksum for each in self.beside]} if self.beside else {}
        return {"model": self.checksum, **beside}

    def check_unchanged(self) -> None:
        """`InputError` if a model that taught has been made anew since: the student would begin with it."""
        for each in (self, *self.beside):
            if sha256(each.model) != each.checksum:
                raise InputError(
                    f"{each.model} was made anew while {each.run} taught; run the same command again, which "
                    "translates with what is there now"
                )

    def check_languages(self, config: Path, languages: Sequence[str]) -> None:
        """`InputError` unless a config has the languages of the teacher."""
        if [*languages] != self.languages:
            raise InputError(
                f"{config} has the languages {' '.join(languages)}, and {self.run} was trained on "
                f"{' '.join(self.languages)}; give the config that the teacher was trained with"
            )
        if len(languages) < 3:
            raise InputError(
                f"{config} has only {' '.join(languages)}: there is no direction without text to teach; give "
                "a teacher of three languages or more"
            )

    def check_pipeline(self, data: Path) -> None:
        """`InputError` unless binarised data have the text pipeline and the dictionary of the teacher."""
        if changed := differing(self.pipeline, data):
            raise InputError(
                f"{data} has another {changed[0]} than {self.run} was trained with; give the config that the "
                "teacher was trained with"
            )


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

    def translate(
        self, lines: Sequence[Sources], direction: Direction, finished: Callable[[float], object]
    ) -> list[str]:
        """A translation for each line, which may have the pivot's sentence beside it.

        Raises `InputError` for a direction from the pivot, or one with its sentence beside, that the teacher
        was not trained on.
        """
        translator, (first, *beside) = self.translator, zip(*lines)
        if beside and direction not in translator.trained:
            raise InputError(
                f"{self.teacher.run} has not learned {direction}, and by an ensemble it reads "
                f"{direction.source}, too; give a student as the teacher, which has learned all directions, "
                "or leave that out"
            )
        if direction.source == translator.pivot and direction not in translator.trained:
            raise InputError(
                f"{self.teacher.run} was not trained on {direction}; give a teacher of all directions from "
                f"{translator.pivot}"
            )
        if not beside:
            return translator.translate_into(first, [direction], finished=finished)[direction]
        read = {translator.pivot: beside[0]}
        return translator.translate_through(first, direction, read, finished=finished)
