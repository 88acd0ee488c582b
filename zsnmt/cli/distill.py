"""Train a student on the translations of a trained run, so that it translates directly in the directions that
have no text by people; or train a run further. Run it again to go on after a stop.

    zsnmt distill configs/multi30k.conf runs/multi30k/zs_transformer/seed1
    zsnmt distill CONFIG TEACHER --remedy consistency --epochs 3    # trained further, without synthetic text
    zsnmt distill CONFIG TEACHER --remedy consistency --name strong -- --consistency-weight 1
    zsnmt distill CONFIG TEACHER --with RUN2 RUN3   # translations by an ensemble of runs
    zsnmt distill CONFIG TEACHER --start-from STUDENT    # a student goes on, with another teacher
    zsnmt distill CONFIG TEACHER --language-blocks  # the student gains weights of each language's own
    zsnmt distill CONFIG RUN --sides none           # RUN trained further on its own text; no student
    zsnmt distill CONFIG TEACHER --sides none --few-lines 10    # with ten real lines of each other direction

The teacher translates the English (pivot) side of the training text into all other languages. A translation,
and the sentence that people wrote beside the same English, are a pair. The student is trained on such pairs,
both ways, and on all text of the teacher. It starts from the teacher's weights, or those of another run;
options of fairseq-train may come after `--`. docs/distillation.md says what is left out, sampled and
recorded.
"""

import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from zsnmt import console
from zsnmt.cli.common.argument_types import positive, seed_number, whole_number
from zsnmt.cli.common.recipe import Recipe, add_check
from zsnmt.cli.common.team import TEAM_OPTIONS, add_team, check_precision_here, chosen_team, gpus_here
from zsnmt.cli.common.words import parse_own, remove_options, split_options, without_positionals
from zsnmt.decoding.methods.settings import OWN_PIVOT_NAME, parse_method
from zsnmt.decoding.options import (
    PYTORCH,
    add_beside,
    add_engine_options,
    add_search_options,
    chosen_search,
    engine_choice,
)
from zsnmt.distillation.settings import (
    ANY,
    HELD_OUT,
    NONE,
    SIDES,
    Distillation,
    SyntheticSettings,
    choose_distillation,
    default_sides,
)
from zsnmt.languages import read_languages
from zsnmt.runs.commands import verb_command
from zsnmt.runs.folder import PIPELINE_FOLDER
from zsnmt.runs.remedies import REMEDIES
from zsnmt.scoring.options import IDENTIFIERS

if TYPE_CHECKING:
    from zsnmt.training.config import Config


def main(arguments: Sequence[str] | None = None) -> None:
    own, further = split_options(sys.argv[1:] if arguments is None else arguments)
    options = parse_own(make_parser(), own)
    recipe = Recipe("distill", options.check, chosen_team(options))
    if recipe.join_hosts():
        return

    from zsnmt.distillation.rounds import distill_rounds  # loads PyTorch
    from zsnmt.runs.folder import check_trained
    from zsnmt.training.experiment import read_experiment
    from zsnmt.training.train import say_ending

    for there in filter(None, (Path(options.teacher), options.start_from)):
        check_trained(there)
    refuse_what_nothing_reads(options)
    if options.engine in (None, PYTORCH):
        check_precision_here(options.precision)
    experiment = read_experiment(Path(options.config), recipe.runs, recipe.variables)
    distillation = chosen_distillation(options, experiment.config)
    run = distill_rounds(
        recipe.steps,
        experiment,
        distillation,
        rounds=options.rounds,
        name=options.name,
        seed=options.seed,
        words=own_words(own),
        options=further,
    )
    say_ending(recipe.steps, run)
    compared = ["--pivot", options.teacher, "--ways", OWN_PIVOT_NAME] if distillation.sides != NONE else []
    recipe.steps.say(f"next: {verb_command('evaluate', run, *compared)}")
    if not compared and not options.remedy and len(read_languages(run / PIPELINE_FOLDER)) > 2:
        recipe.steps.say(f"to let it teach a student: {verb_command('distill', options.config, run)}")


def make_parser() -> console.Parser:
    """The options of the verb."""
    parser = console.Parser(prog="zsnmt distill", description=__doc__)
    parser.add_argument("config", help="config that the teacher was trained with")
    parser.add_argument("teacher", metavar="TEACHER_RUN", help="the trained run that translates")
    add_lesson_options(parser)
    add_student_options(parser)
    add_text_options(parser)
    add_search_options(parser)
    add_engine_options(parser)
    add_beside(parser, "the teacher")
    add_check(parser)
    add_team(parser)
    return parser


def add_lesson_options(parser: console.Parser) -> None:
    """Add those of what is learned, and how long."""
    group = parser.add_argument_group("what the student learns")
    group.add_argument(
        "--sides",
        choices=[*SIDES],
        help="side of the student's pairs that translations are: targets, sources, or both; with between "
        "those of one sentence of the pivot are also pairs of each other; with all they are also sources of "
        "the pivot's sentences, more text to learn the pivot from; as controls, none "
        "trains as long without translations, and self uses the teacher's direct translations instead "
        f"(default: {Distillation.sides}, or {NONE} if --remedy is given)",
    )
    group.add_argument(
        "--remedy",
        metavar="NAME[+NAME]",
        default=Distillation.remedy,
        help=f"train with a remedy of translation between all languages ({', '.join(REMEDIES)}), or with "
        "several and + between; the best one here is consistency. docs/grid.md says what each does and "
        "which options it stands for, of which others may come after --",
    )
    group.add_argument(
        "--word-level",
        type=float,
        metavar="WEIGHT",
        help="with this weight, also learn the probability that the teacher, who reads the pivot's sentence, "
        "gives each piece in each place of a pair's target (word-level distillation; 1 is usual; default: "
        "WORD_LEVEL of the config, or 0)",
    )
    group.add_argument(
        "--few-lines",
        type=whole_number,
        metavar="N",
        help="with --sides none: also train on N real lines of each zero-shot direction, which is "
        "then few-shot (default: FEW_LINES of the config, or none)",
    )
    group.add_argument(
        "--share",
        type=float,
        metavar="SHARE",
        help="share (0–1) of the sentence pairs of an epoch that is synthetic; with --sides none, where "
        "none is, an epoch is as long as with that share, and authentic pairs come again "
        f"(default: {Distillation.share:g})",
    )
    group.add_argument(
        "--epochs",
        type=positive,
        metavar="N",
        help="epochs of the training; the schedule of the learning rate is stretched or shortened to end "
        "with them (default: those of the config)",
    )
    group.add_argument(
        "--rounds",
        type=positive,
        default=1,
        metavar="N",
        help="rounds of distillation: the student of each teaches that of the next",
    )


def add_student_options(parser: console.Parser) -> None:
    """Add those of the model that learns."""
    group = parser.add_argument_group("the student")
    group.add_argument(
        "--student",
        metavar="ARCHITECTURE",
        help="architecture of the student (default: that of the run that it starts from)",
    )
    group.add_argument(
        "--start-from",
        metavar="RUN",
        type=Path,
        help="start from the weights of this run, of the same text and subwords, such as a student that a "
        "better teacher is to teach further; the first of several rounds alone does (default: the teacher)",
    )
    group.add_argument(
        "--from-scratch", action="store_true", help="do not start from the weights of the teacher"
    )
    group.add_argument(
        "--language-blocks",
        action="store_true",
        help="the student has a feed-forward block for each target language in the decoder's middle layer, "
        "half as wide as the layer's own; where the run that it starts from has none, they add nothing at "
        "first",
    )
    group.add_argument(
        "--name",
        type=console.folder_name,
        help="name of the student (default: that of the system it starts from, and what it learns)",
    )
    group.add_argument("--seed", type=seed_number, metavar="K", help="seed (default: that of the teacher)")


def add_text_options(parser: console.Parser) -> None:
    """Add those of the translations that it learns from, but for the search and the engine."""
    group = parser.add_argument_group("the teacher's translations")
    group.add_argument(
        "--lines",
        type=positive,
        metavar="N",
        help="lines of each language, besides those held out (default: all there are)",
    )
    group.add_argument(
        "--held-out",
        type=whole_number,
        metavar="N",
        help="further lines, at most a tenth, that validate the directions without text by people "
        f"(default: {HELD_OUT})",
    )
    group.add_argument(
        "--identifier",
        choices=[*IDENTIFIERS, ANY],
        help="identifier of translations in another language, which are left out (default: that of "
        "the config)",
    )
    group.add_argument(
        "--way",
        metavar="METHOD",
        help="how the teacher translates, as in zsnmt translate: sample or mask; or ensemble, by which it "
        "reads each sentence and the pivot's beside it for one translation, for a teacher that has learned "
        "all directions, such as a student; of several rounds, the first is then without",
    )


def chosen_distillation(options: Namespace, config: "Config") -> Distillation:
    """What the options ask for, and the config where they do not; `InputError` for what does not go
    together.
    """
    synthetic = SyntheticSettings(
        lines=options.lines,
        way=options.way and parse_method(options.way),
        held_out=HELD_OUT if options.held_out is None else options.held_out,
        identifier=options.identifier or config.identifier,
        search=chosen_search(options),
        engine=engine_choice(options, gpus_here(options.gpus)),
    )
    return choose_distillation(
        config,
        Path(options.teacher),
        sides=options.sides,
        student=options.student,
        start=options.start_from,
        from_scratch=options.from_scratch,
        language_blocks=options.language_blocks,
        share=options.share,
        few_lines=options.few_lines,
        remedy=options.remedy,
        word_level=options.word_level,
        epochs=options.epochs,
        synthetic=synthetic,
    )


OF_SYNTHETIC_TEXT = (
    *("lines", "held_out", "identifier", "way"),
    *("beam", "length_penalty", "length_penalty_form", "engine", "precision"),
)


def refuse_what_nothing_reads(options: Namespace) -> None:
    """`WrongUse` for options of the synthetic text where there is none."""
    given = [name for name in OF_SYNTHETIC_TEXT if getattr(options, name) is not None]
    if given and (options.sides or default_sides(options.remedy)) == NONE:
        raise console.WrongUse(
            f"--{given[0].replace('_', '-')} is of translations to learn from, and with --sides none, which "
            "--remedy means too, there are none; leave it out, or name other sides"
        )


def own_words(words: Sequence[str]) -> list[str]:
    """The words of the command without config and teacher, and without what does not change a student."""
    kept = without_positionals(make_parser(), words, ("config", "teacher"))
    return remove_options(kept, ("--rounds", "--workers", *TEAM_OPTIONS))
