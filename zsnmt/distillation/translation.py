"""What a teacher translates for its students, a step for each direction."""

from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from tqdm import tqdm

from zsnmt.corpora.parallel_text import TRAIN, find_pair
from zsnmt.distillation.synthetic_text import SyntheticText
from zsnmt.distillation.teacher import Interpreter
from zsnmt.files.blocks import writing_blocks
from zsnmt.files.checksums import checksum_of
from zsnmt.files.records import read_json, write_json
from zsnmt.inference.many_gpus import free_gpus
from zsnmt.languages import Direction
from zsnmt.text.lines import encode
from zsnmt.training.steps import Steps

BLOCK = 10_000  # sentences that are translated together, and kept where the others do not follow
PROGRAMS = "programs"  # what translated a direction, one after the other: commit, engine and device of each


def translate(steps: Steps, synthetic: SyntheticText, directions: Sequence[Direction]) -> None:
    """Translate each language's text into the others, unless it was done before; says what is left. Then the
    memory of GPUs is free for the training, which is another process.
    """
    settings = synthetic.settings.to_json()
    chosen = synthetic.settings
    interpreter = Interpreter(synthetic.teacher, chosen.search, chosen.engine, way=chosen.way)
    spent: list[Spent] = []
    for place, direction in enumerate(directions, start=1):
        pair = find_pair(synthetic.authentic, TRAIN, synthetic.pivot, target=direction.source)
        before = len(spent)
        steps.make(
            synthetic.folder,
            f"translate.{direction}",
            synthetic.translations(direction),
            work=partial(translate_direction, synthetic, interpreter, direction, spent=spent),
            inputs=[*pair, *(each.model for each in (synthetic.teacher, *synthetic.teacher.beside))],
            settings=settings,
        )
        if len(spent) > before and (left := directions[place:]):
            steps.say(
                f"{len(left)} of {len(directions)} directions are left to translate"
                f"{time_for(sum(len(synthetic.selection(each.source).all) for each in left), spent)}"
            )
    del interpreter
    free_gpus()


class Spent(NamedTuple):
    """How long some lines took."""

    seconds: float
    lines: int


def time_for(lines: int, spent: Sequence[Spent]) -> str:
    """How long so many lines take if they are like those before, in words; nothing where none is known."""
    done = sum(each.lines for each in spent)
    seconds = lines * sum(each.seconds for each in spent) / done if done else 0.0
    return f", about {timedelta(seconds=round(seconds))}" if done else ""


def translate_direction(
    synthetic: SyntheticText, interpreter: Interpreter, direction: Direction, spent: list[Spent]
) -> None:
    """Write the translations of a direction, and add what they took here, where it may go on after a stop."""
    begin, lines = perf_counter(), synthetic.sources(direction.source)
    read = direction.source if synthetic.settings.reads_authentic else synthetic.pivot
    output = synthetic.translations(direction)
    output.parent.mkdir(parents=True, exist_ok=True)
    options = dict(unit=" sentences", unit_scale=True, disable=None, leave=False)
    with (
        writing_blocks(output, checksum_of({"lines": lines})) as blocks,
        tqdm(desc=str(direction), initial=blocks.done, total=len(lines), **options) as bar,
    ):
        before = blocks.done
        add_program(synthetic.translated_by(direction), interpreter.describe(), whole=not blocks.done)
        for first in range(blocks.done, len(lines), BLOCK):
            block = lines[first : first + BLOCK]
            translated = interpreter.translate(block, Direction(read, direction.target), finished=bar.update)
            numbered = enumerate(translated, start=first + 1)
            content = b"".join(encode(line, output, number) for number, line in numbered)
            blocks.add(content, len(block))
    spent.append(Spent(perf_counter() - begin, len(lines) - before))


def add_program(path: Path, program: dict[str, str], *, whole: bool) -> None:
    """Write down what translates a direction: the `whole` of it, or what others have left."""
    before = [] if whole else read_programs(path)
    write_json(path, {PROGRAMS: [*before, *([] if program in before else [program])]})


def read_programs(path: Path) -> list[dict[str, str]]:
    """What translated a direction, by its file; nothing where that is of a time without such files."""
    return read_json(path, "remove it, and run the same command again")[PROGRAMS] if path.is_file() else []
