"""What a teacher translates for its students, a step for each direction."""

from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from time import perf_counter

from tqdm import tqdm

from zsnmt.corpora.parallel_text import find_pair
from zsnmt.distillation.synthetic_text import TRAIN, SyntheticText
from zsnmt.distillation.teacher import Interpreter
from zsnmt.languages import Direction
from zsnmt.text.lines import write_lines
from zsnmt.training.steps import Steps


def translate(steps: Steps, synthetic: SyntheticText, directions: Sequence[Direction]) -> None:
    """Translate each language's text into the others, unless it was done before; says what is left."""
    settings = synthetic.settings.to_json()
    interpreter = Interpreter(synthetic.teacher, synthetic.settings.search, synthetic.settings.engine)
    spent: list[float] = []
    for place, direction in enumerate(directions, start=1):
        pair = find_pair(synthetic.authentic, TRAIN, synthetic.pivot, target=direction.source)
        before = len(spent)
        steps.make(
            synthetic.folder,
            f"translate.{direction}",
            synthetic.translations(direction),
            work=partial(translate_direction, synthetic, interpreter, direction, spent=spent),
            inputs=[*pair, synthetic.teacher.model],
            settings=settings,
        )
        if len(spent) > before and (left := len(directions) - place):
            time = timedelta(seconds=round(left * sum(spent) / len(spent)))
            steps.say(f"{left} of {len(directions)} directions are left to translate, about {time}")


def translate_direction(
    synthetic: SyntheticText, interpreter: Interpreter, direction: Direction, spent: list[float]
) -> None:
    """Write the translations of a direction, and add the seconds that they took."""
    begin, lines = perf_counter(), synthetic.sources(direction.source)
    read = direction.source if synthetic.settings.direct else synthetic.pivot
    with tqdm(
        desc=str(direction), total=len(lines), unit=" sentences", unit_scale=True, disable=None, leave=False
    ) as bar:
        translations = interpreter.translate(lines, Direction(read, direction.target), finished=bar.update)
    output = synthetic.translations(direction)
    output.parent.mkdir(parents=True, exist_ok=True)
    write_lines(output, translations)
    spent.append(perf_counter() - begin)
