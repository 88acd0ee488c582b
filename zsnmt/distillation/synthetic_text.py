"""A teacher's translations as parallel text, in a folder for each language whose side is authentic.

`text/de/train.de-fr.de` has sentences of people, `text/de/train.de-fr.fr` their synthetic translations, and
`text/de/valid.de-fr.*` those that are held out. `text/synthetic.json` says how all was made and counts what
was dropped, which `text/de/dropped.de-fr.tsv` lists: reason, line, pivot side, authentic side, translation.
"""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from itertools import islice
from pathlib import Path
from time import perf_counter

from tqdm import tqdm

from zsnmt.corpora.overlap import held_out_sentences
from zsnmt.corpora.parallel_text import find_pair, pairs_of_split
from zsnmt.distillation.filters import REASONS, Filters, Row
from zsnmt.distillation.selection import Selection, select_lines
from zsnmt.distillation.settings import ANY, SEED, SyntheticSettings
from zsnmt.distillation.teacher import Interpreter, Teacher
from zsnmt.errors import InputError
from zsnmt.files.checksums import checksum_of
from zsnmt.files.records import write_json
from zsnmt.files.replacing import replacing, replacing_folder
from zsnmt.languages import Direction
from zsnmt.processes import cores, map_in_processes, progress
from zsnmt.scoring.language_identification import Identifier, load_identifier, scripts_of
from zsnmt.text.lines import iterate_lines, read_lines, write_lines
from zsnmt.text.pipeline import TextPipeline
from zsnmt.training.experiment import Experiment
from zsnmt.training.steps import Steps

RECORD = "synthetic.json"
SAMPLE = 1000  # lines of a language that show its script, and how often its identifier errs
TRAIN, VALID = "train", "valid"


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
        made_with = checksum_of({**self.settings.to_json(), "model": self.teacher.checksum})[:8]
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
        return self.experiment.config.languages[0]

    def translations(self, direction: Direction) -> Path:
        """What the teacher made of the text of the first language, in the second."""
        return self.folder / "translations" / f"{direction}.{direction.target}"

    def directions(self) -> list[Direction]:
        """From each language with training text to each other one, none of them the pivot, where people have
        given no text.
        """
        languages = self.experiment.config.languages
        pairs = pairs_of_split(self.authentic, TRAIN, languages)
        others = [language for language in languages[1:] if (self.pivot, language) in pairs]
        return [
            Direction(source, target)
            for source in others
            for target in others
            if source != target and not {(source, target), (target, source)} & {*pairs}
        ]

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

    def sources(self, language: str) -> list[str]:
        """What the teacher translates of a language's text, each sentence once."""
        side = self.lines(language)[1 if self.settings.direct else 0]
        return [*dict.fromkeys(side[place] for place in self.selection(language).all)]

    def rows(self, direction: Direction) -> tuple[list[Row], list[Row]]:
        """The translated lines to train on and those held out."""
        selection, (pivot, other) = self.selection(direction.source), self.lines(direction.source)
        translated = dict(
            zip(
                self.sources(direction.source),
                read_lines(self.translations(direction), allow_empty_lines=True),
                strict=True,
            )
        )
        side = other if self.settings.direct else pivot
        train, held_out = (
            [
                Row(place + 1, pivot[place], other[place], synthetic=translated[side[place]])
                for place in places
            ]
            for places in selection
        )
        return train, held_out


def make_synthetic_text(steps: Steps, synthetic: SyntheticText) -> None:
    """Translate and filter, unless it was done before. Raises `InputError` where nothing is left."""
    directions = synthetic.directions()
    if not directions:
        raise InputError(
            f"{synthetic.authentic} has training text between all its languages, or with one of them alone: "
            "there is nothing to distil"
        )
    translate(steps, synthetic, directions)
    steps.make(
        synthetic.folder,
        "text",
        synthetic.text,
        work=partial(write_text, steps, synthetic, directions),
        inputs=[synthetic.authentic, *map(synthetic.translations, directions)],
        settings=synthetic.settings.to_json(),
    )


def translate(steps: Steps, synthetic: SyntheticText, directions: Sequence[Direction]) -> None:
    """Translate each language's text into every other language, a step for each direction."""
    settings = synthetic.settings
    interpreter = Interpreter(synthetic.teacher, settings.search, settings.engine)
    spent: list[float] = []
    for place, direction in enumerate(directions):
        output = synthetic.translations(direction)

        def work() -> None:
            begin = perf_counter()
            output.parent.mkdir(parents=True, exist_ok=True)
            number = translate_direction(synthetic, interpreter, direction)
            spent.append(perf_counter() - begin)
            left = len(directions) - place - 1
            steps.say(
                f"{number:,} sentences for {direction} are translated in {spent[-1]:.0f} seconds; {left} of "
                f"{len(directions)} directions are left"
                + f", about {timedelta(seconds=round(left * sum(spent) / len(spent)))}"
                * bool(left)
            )

        steps.make(
            synthetic.folder,
            f"translate.{direction}",
            output,
            work=work,
            inputs=[
                *find_pair(synthetic.authentic, TRAIN, synthetic.pivot, target=direction.source),
                synthetic.teacher.model,
            ],
            settings=settings.to_json(),
        )


def translate_direction(synthetic: SyntheticText, interpreter: Interpreter, direction: Direction) -> int:
    """Write the translations of a direction; the number of sentences."""
    lines = synthetic.sources(direction.source)
    read = direction.source if synthetic.settings.direct else synthetic.pivot
    with tqdm(
        desc=str(direction), total=len(lines), unit=" sentences", unit_scale=True, disable=None, leave=False
    ) as bar:
        translations = interpreter.translate(lines, Direction(read, direction.target), finished=bar.update)
    write_lines(synthetic.translations(direction), translations)
    return len(lines)


def write_text(steps: Steps, synthetic: SyntheticText, directions: Sequence[Direction]) -> None:
    """Write what the filters keep, the lists of what they drop, and synthetic.json."""
    languages = synthetic.experiment.config.languages
    samples = {
        language: [*islice(iterate_lines(file), SAMPLE)]
        for other in dict.fromkeys(direction.source for direction in directions)
        for language, file in zip(
            (synthetic.pivot, other), find_pair(synthetic.authentic, TRAIN, synthetic.pivot, target=other)
        )
    }
    identifier, signature = chosen_identifier(synthetic, languages, samples)
    filters = Filters(
        TextPipeline.load(synthetic.teacher.pipeline),
        identifier,
        held_out_sentences(synthetic.authentic, languages),
        longest=synthetic.teacher.longest,
        direct=synthetic.settings.direct,
    )
    with replacing_folder(synthetic.text) as part:
        for source in dict.fromkeys(direction.source for direction in directions):
            (part / source).mkdir()
        write = partial(write_direction, synthetic, filters, part)
        written = map_in_processes(write, directions, cores(), together=1)
        counts = dict(zip(map(str, directions), progress(written, "filtering", len(directions))))
        write_json(
            part / RECORD,
            {
                "teacher": synthetic.teacher.describe(),
                **synthetic.settings.to_json(),
                "identifier": signature,
                "identifier_error": {
                    language: sum(found != language for found in identifier.identify(lines)) / len(lines)
                    for language, lines in samples.items()
                    if identifier and language != synthetic.pivot
                },
                "directions": counts,
            },
        )
    if not sum(of_direction["train"] for of_direction in counts.values()):
        raise InputError(
            f"the filters keep none of the translations of {synthetic.teacher.run}; "
            f"{synthetic.text}/*/dropped.*.tsv say why: train the teacher longer, or give another "
            "--identifier"
        )
    say_what_is_dropped(steps, counts)


def chosen_identifier(
    synthetic: SyntheticText, languages: Sequence[str], samples: dict[str, list[str]]
) -> tuple[Identifier | None, str]:
    """The identifier of the settings with its signature."""
    kind = synthetic.settings.identifier
    if kind == ANY:
        return None, ANY
    return load_identifier(kind, languages, synthetic.authentic, scripts=scripts_of(samples))


def write_direction(synthetic: SyntheticText, filters: Filters, folder: Path, direction: Direction) -> dict:
    """Write what is kept of a direction and the list of the others into a folder; counts."""
    counts: Counter[str] = Counter(dict.fromkeys((TRAIN, VALID, *REASONS), 0))
    source, target = direction
    dropped = []
    for split, rows in zip((TRAIN, VALID), synthetic.rows(direction)):
        reasons = filters.reasons(rows, direction)
        kept = [row for row, reason in zip(rows, reasons) if not reason]
        counts.update(reasons)
        counts[split] = len(kept)
        if kept:
            write_lines(folder / source / f"{split}.{direction}.{source}", [row.authentic for row in kept])
            write_lines(folder / source / f"{split}.{direction}.{target}", [row.synthetic for row in kept])
        dropped += [(reason, row) for row, reason in zip(rows, reasons) if reason]
    with replacing(folder / source / f"dropped.{direction}.tsv") as file:
        for reason, (line, *sentences) in dropped:
            shown = (sentence.replace("\t", " ") for sentence in sentences)
            file.write("\t".join([reason, str(line), *shown]).encode("utf-8") + b"\n")
    return {
        TRAIN: counts[TRAIN],
        VALID: counts[VALID],
        "dropped": {reason: counts[reason] for reason in REASONS},
    }


def say_what_is_dropped(steps: Steps, counts: dict[str, dict]) -> None:
    """Tell how many pairs there are, and why others are not."""
    total: Counter[str] = sum(
        (Counter(of_direction["dropped"]) for of_direction in counts.values()), Counter()
    )
    kept = sum(of_direction[split] for of_direction in counts.values() for split in (TRAIN, VALID))
    why = ", ".join(f"{reason} {number:,}" for reason, number in total.items() if number)
    steps.say(
        f"{kept:,} synthetic pairs in {len(counts)} directions; {total.total():,} translations are left out"
        + f" ({why})" * bool(why)
    )
    if without := [direction for direction, of_direction in counts.items() if not of_direction["train"]]:
        steps.say(f"nothing is left of {', '.join(without)}")
