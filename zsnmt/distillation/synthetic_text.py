"""A teacher's translations as parallel text: where it is, and of which lines it is made.

There is a folder for each language whose side is authentic. `text/de/train.de-fr.de` has sentences of people,
`text/de/train.de-fr.fr` their synthetic translations, `text/de/valid.de-fr.*` those that are held out.
`text/synthetic.json` says how all was made and counts what was left out, which `text/de/dropped.de-fr.tsv`
lists: reason, line, pivot side, authentic side, translation.
"""

import logging
import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from zsnmt.corpora.parallel_text import TRAIN, directions_without_text, find_pair
from zsnmt.decoding.options import AUTO, CTRANSLATE2, PYTORCH
from zsnmt.distillation.filters import Row
from zsnmt.distillation.selection import Selection, select_lines
from zsnmt.distillation.settings import SEED, SyntheticSettings
from zsnmt.distillation.teacher import Sources, Teacher
from zsnmt.errors import InputError
from zsnmt.files.checksums import checksum_of
from zsnmt.inference.engines import engine_for, open_present_export
from zsnmt.languages import Direction
from zsnmt.text.lines import open_file, read_lines
from zsnmt.training.experiment import Experiment

logger = logging.getLogger(__name__)

RECORD_FILE = "synthetic.json"


@dataclass(frozen=True)
class SyntheticText:
    """The synthetic text of a teacher for an experiment, and the folder of all that is made with it."""

    experiment: Experiment
    teacher: Teacher
    settings: SyntheticSettings
    selections: dict[str, Selection] = field(default_factory=dict, repr=False, compare=False)

    @property
    def folder(self) -> Path:
        """Named for the teacher, with a checksum of its model and the settings."""
        made_with = checksum_of({**self.settings.to_json(), **self.teacher.checksums()})[:8]
        direct = "-direct" * self.settings.direct
        name = f"{self.teacher.record['system']}-seed{self.teacher.record['seed']}{direct}-{made_with}"
        return self.experiment.folder / "synthetic" / name

    @property
    def text(self) -> Path:
        """The folder of synthetic.json and a folder for each language."""
        return self.folder / "text"

    @property
    def data(self) -> Path:
        """The text, binarised."""
        return self.folder / "data"

    @property
    def authentic(self) -> Path:
        """The text of people."""
        return self.experiment.text

    @property
    def pivot(self) -> str:
        """The first language."""
        return self.experiment.config.languages[0]

    def translations(self, direction: Direction) -> Path:
        """What the teacher made of the text of the first language, in the second."""
        return self.folder / "translations" / f"{direction}.{direction.target}"

    def translated_by(self, direction: Direction) -> Path:
        """The file that says by what these were made."""
        return self.folder / "translations" / f"{direction}.json"

    def check_teacher(self) -> None:
        """`InputError` unless the teacher, and each model beside it, has learned what is translated by it."""
        if self.settings.direct:
            return
        directions = self.directions()
        of_pivot = [*dict.fromkeys(Direction(self.pivot, target) for _, target in directions)]
        self.teacher.check_learned(
            of_pivot, remedy=f"give a teacher of all directions from {self.pivot}, and such runs to --with"
        )
        if self.settings.ensemble:
            self.teacher.check_learned(
                directions,
                remedy="give a student as the teacher, which has learned all directions, or leave out "
                "--way ensemble, which is --rounds 3 of zsnmt direct",
            )

    def directions(self) -> list[Direction]:
        """From each language with training text to each other one, none of them the pivot, where people have
        given no text. A teacher that reads both sides and has learned some of them translates into those.
        """
        learned = self.teacher.learned_of(self.without_text) if self.settings.ensemble else []
        return learned or self.without_text

    @property
    def without_text(self) -> list[Direction]:
        """The directions between others than the pivot where people have given no text."""
        return directions_without_text(self.authentic, self.experiment.config.languages)

    def lines(self, language: str) -> tuple[list[str], list[str]]:
        """The pivot side and the other side of a language's training text."""
        pivot, other = map(read_lines, find_pair(self.authentic, TRAIN, self.pivot, target=language))
        return pivot, other

    def selection(self, language: str) -> Selection:
        """Which lines of a language are translated."""
        if language not in self.selections:
            self.selections[language] = select_lines(
                *self.lines(language),
                lines=self.settings.lines,
                held_out=self.settings.held_out,
                generator=random.Random(f"{SEED} {language}"),
            )
        return self.selections[language]

    def read(self, pivot: Sequence[str], other: Sequence[str]) -> list[Sources]:
        """What the teacher reads for the translation of each line of a language's text: the pivot's sentence,
        that of the language, or both, the pivot's last.
        """
        if self.settings.ensemble:
            return [*zip(other, pivot, strict=True)]
        return [*zip(other if self.settings.direct else pivot)]

    def sources(self, language: str) -> list[Sources]:
        """What the teacher translates of a language's text, each once."""
        return self.chosen(self.read(*self.lines(language)), language)

    def chosen(self, read: Sequence[Sources], language: str) -> list[Sources]:
        """The chosen ones of what the teacher reads of a language's text, each once."""
        return [*dict.fromkeys(read[place] for place in self.selection(language).all)]

    def rows(self, direction: Direction) -> tuple[list[Row], list[Row]]:
        """The translated lines to train on and those held out."""
        selection, (pivot, other) = self.selection(direction.source), self.lines(direction.source)
        read = self.read(pivot, other)
        translations = read_lines(self.translations(direction), allow_empty_lines=True)
        translated = dict(zip(self.chosen(read, direction.source), translations, strict=True))
        train, held_out = (
            [
                Row(place + 1, pivot[place], other[place], synthetic=translated[read[place]])
                for place in places
            ]
            for places in selection
        )
        return train, held_out

    def kept(self, direction: Direction) -> list[Row]:
        """The translated lines to train on that the filters have kept, as they are in `text`."""
        folder = self.text / direction.source
        sides = [read_lines(folder / f"{TRAIN}.{direction}.{language}") for language in direction]
        dropped = lines_listed(folder / dropped_list(direction))
        rows = [row for row in self.rows(direction)[0] if row.line not in dropped]
        return rows_of_pairs(rows, sides, folder)


def with_engine(text: SyntheticText) -> SyntheticText:
    """The text by one engine, where `auto` was asked for: that by which it was begun, else the fastest that
    can translate with the teacher at once.

    Raises `InputError` for an engine that cannot translate in the way of the settings.
    """
    settings, run = text.settings, text.teacher.run
    choice = engine_for(run, filter(None, [settings.way]), settings.engine)
    older = (text.text / RECORD_FILE).is_file()  # made to the end by `auto`
    if settings.engine.engine != AUTO or older:
        return text
    engines = [PYTORCH] if choice.engine != AUTO or choice.beside else [PYTORCH, CTRANSLATE2]
    texts = [
        replace(text, settings=replace(settings, engine=replace(choice, engine=engine))) for engine in engines
    ]
    begun = [each for each in texts if each.folder.is_dir()]
    if begun or len(texts) == 1:
        return [*begun, *texts][0]
    by_pytorch, by_ctranslate2 = texts
    try:
        open_present_export(run, settings.search, choice)
    except (InputError, OSError) as error:
        logger.warning("PyTorch translates: %s", error)
        return by_pytorch
    return by_ctranslate2


def dropped_list(direction: Direction) -> str:
    """The name of the list of what is left out of a direction."""
    return f"dropped.{direction}.tsv"


def lines_listed(path: Path) -> set[int]:
    """The numbers of the lines that are in such a list; `InputError` without it."""
    with open_file(path) as file:
        return {int(row.split(b"\t")[1]) for row in file}


def rows_of_pairs(rows: Sequence[Row], sides: Sequence[Sequence[str]], folder: Path) -> list[Row]:
    """The row of each pair of an authentic and a synthetic side; the pairs are some of the rows, in order.

    Raises `InputError` where they are not.
    """
    following, found = iter(rows), []
    for pair in zip(*sides, strict=True):
        row = next((row for row in following if (row.authentic, row.synthetic) == pair), None)
        if row is None:
            raise InputError(
                f"{folder} has pairs that its translations do not give; remove {folder.parent}, and run the "
                "same command again"
            )
        found.append(row)
    return found
