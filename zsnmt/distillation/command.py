"""The command that a distillation stands for."""

from typing import TYPE_CHECKING

from zsnmt.decoding.methods.settings import spell_method
from zsnmt.distillation.settings import Distillation, choose_distillation, default_sides

if TYPE_CHECKING:
    from zsnmt.training.config import Config

FEW_LINES = "--few-lines"


def command_words(distillation: Distillation, config: "Config", *, name: str | None = None) -> list[str]:
    """What `zsnmt distill` is told, besides the config and the teacher, so that it does this: what it would
    not do unless told. `name`: that of the run, where the command has one.
    """
    sides, remedy = distillation.sides, distillation.remedy
    usual = option_values(choose_distillation(config, distillation.teacher, sides=sides, remedy=remedy))
    usual |= {"--sides": default_sides(remedy), "--remedy": ""}
    if distillation.few_lines:
        usual[FEW_LINES] = 0  # a number of lines is in the name of the run, and in its command, too
    values = option_values(distillation, name)
    words = {option: words_of_value(value) for option, value in values.items() if value != usual[option]}
    return [word for option, own in words.items() for word in (option, *own)]


def option_values(distillation: Distillation, name: str | None = None) -> dict[str, object]:
    """All that a distillation says, by the options of `zsnmt distill`, in the order of a command."""
    synthetic = distillation.synthetic
    return {
        "--with": distillation.beside,
        "--start-from": distillation.start,
        "--from-scratch": distillation.from_scratch,
        "--student": distillation.student,
        "--language-blocks": distillation.language_blocks,
        "--remedy": distillation.remedy,
        "--sides": distillation.sides,
        "--way": synthetic.way and spell_method(synthetic.way),
        "--word-level": distillation.word_level,
        FEW_LINES: distillation.few_lines,
        "--share": distillation.share,
        "--epochs": distillation.epochs,
        "--lines": synthetic.lines,
        "--held-out": synthetic.held_out,
        "--identifier": synthetic.identifier,
        "--beam": synthetic.search.beam,
        "--length-penalty": synthetic.search.length_penalty,
        "--length-penalty-form": synthetic.search.length_penalty_form,
        "--name": name,
        "--engine": synthetic.engine.engine,
        "--precision": synthetic.engine.precision,
    }


def words_of_value(value: object) -> list[str]:
    """The words after an option: none after a flag."""
    if isinstance(value, tuple):
        return [*map(str, value)]
    if isinstance(value, float):
        return [str(value).removesuffix(".0")]
    return [] if value is True else [str(value)]
