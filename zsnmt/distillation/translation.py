"""What a teacher translates for its students, a step for each direction."""

import gc
import hashlib
import os
from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from itertools import chain
from pathlib import Path
from time import perf_counter

import torch
from tqdm import tqdm

from zsnmt.corpora.parallel_text import find_pair
from zsnmt.distillation.synthetic_text import TRAIN, SyntheticText
from zsnmt.distillation.teacher import Interpreter, Sources
from zsnmt.files.records import read_json, write_json
from zsnmt.files.replacing import errors_naming
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
    spent: list[float] = []
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
        if len(spent) > before and (left := len(directions) - place):
            time = timedelta(seconds=round(left * sum(spent) / len(spent)))
            steps.say(f"{left} of {len(directions)} directions are left to translate, about {time}")
    del interpreter
    gc.collect()
    torch.cuda.empty_cache()


def translate_direction(
    synthetic: SyntheticText, interpreter: Interpreter, direction: Direction, spent: list[float]
) -> None:
    """Write the translations of a direction, and add the seconds that they took."""
    begin, lines = perf_counter(), synthetic.sources(direction.source)
    read = direction.source if synthetic.settings.reads_authentic else synthetic.pivot
    output = synthetic.translations(direction)
    output.parent.mkdir(parents=True, exist_ok=True)
    part = part_of(output, lines)
    done = keep_blocks(part)
    add_program(synthetic.translated_by(direction), interpreter.describe(), whole=not done)
    options = dict(unit=" sentences", unit_scale=True, disable=None, leave=False)
    with (
        errors_naming(part),
        part.open("ab") as file,
        tqdm(desc=str(direction), initial=done, total=len(lines), **options) as bar,
    ):
        for first in range(done, len(lines), BLOCK):
            block = lines[first : first + BLOCK]
            translated = interpreter.translate(block, Direction(read, direction.target), finished=bar.update)
            numbered = enumerate(translated, start=first + 1)
            file.write(b"".join(encode(line, part, number) for number, line in numbered))
            file.flush()
            os.fsync(file.fileno())
    part.replace(output)
    spent.append(perf_counter() - begin)


def add_program(path: Path, program: dict[str, str], *, whole: bool) -> None:
    """Write down what translates a direction: the `whole` of it, or what others have left."""
    before = [] if whole else read_programs(path)
    write_json(path, {PROGRAMS: [*before, *([] if program in before else [program])]})


def read_programs(path: Path) -> list[dict[str, str]]:
    """What translated a direction, by its file; nothing where that is of a time without such files."""
    return read_json(path, "remove it, and run the same command again")[PROGRAMS] if path.is_file() else []


def part_of(output: Path, lines: Sequence[Sources]) -> Path:
    """Where the translations of these lines are until all are there; those of other lines are removed."""
    digest = hashlib.sha256("\n".join(chain.from_iterable(lines)).encode("utf-8")).hexdigest()[:16]
    part = output.with_name(f"{output.name}.{digest}.part")
    for other in output.parent.glob(f"{output.name}.*.part"):
        if other != part:
            other.unlink()
    return part


def keep_blocks(part: Path) -> int:
    """Cut what was begun down to its whole blocks; returns how many lines those have."""
    if not part.exists():
        return 0
    with part.open("r+b") as file:
        ends = [0]  # of each line
        for line in file:
            if line.endswith(b"\n"):
                ends.append(ends[-1] + len(line))
        kept = (len(ends) - 1) // BLOCK * BLOCK
        file.truncate(ends[kept])
    return kept
