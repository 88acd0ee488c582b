"""What a student is trained on: authentic text, what is made of its teacher's translations, and how often
each comes.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from zsnmt.corpora.parallel_text import TRAIN
from zsnmt.data.binarised_folder import shards_of
from zsnmt.distillation.data import MAIN, binarise_synthetic, directions_by_use, reverse
from zsnmt.distillation.few_lines import FewLines, make_few_lines
from zsnmt.distillation.filtered_text import make_synthetic_text
from zsnmt.distillation.further_text import WRITERS, make_further_text
from zsnmt.distillation.pivot_sides import make_pivot_sides
from zsnmt.distillation.sampling import SAMPLING_FILE, pairs_in, sampling_weights, tempered_weights
from zsnmt.distillation.settings import BETWEEN, BOTH, NONE, SELF, TARGETS, Distillation, check_taught
from zsnmt.distillation.synthetic_text import RECORD_FILE, SyntheticText, with_engine
from zsnmt.distillation.teacher import Teacher
from zsnmt.distillation.translation_pairs import pairs_of_targets
from zsnmt.errors import InputError
from zsnmt.files.locks import locked
from zsnmt.files.records import read_json, write_json
from zsnmt.languages import Direction, parse_direction
from zsnmt.processes import cores
from zsnmt.runs.commands import option_words
from zsnmt.tasks.zs_translation import FEW_LINES
from zsnmt.training.experiment import Experiment
from zsnmt.training.steps import Steps

AGAIN = "remove the folder that it is in, and run the same command again"  # which makes all of that anew


@dataclass(frozen=True)
class StudentData:
    """What a student is trained on.

    `main`: the folder with the data of the directions `authentic`, and all validation text; `extra` and
    `directions`: by name, the folders of further data and what they are for; `text`: of what they are made,
    where they are synthetic; `few_lines`: those of people. `known`: the directions with text by people, where
    those are more than it is trained on: all are validated, and an epoch is as long.
    """

    main: Path
    authentic: Sequence[str]
    extra: Mapping[str, Path] = field(default_factory=dict)
    directions: Mapping[str, Sequence[Direction]] = field(default_factory=dict)
    text: SyntheticText | None = None
    few_lines: FewLines | None = None
    known: Sequence[str] = ()

    @property
    def synthetic(self) -> list[str]:
        """All directions that have synthetic text, and none by people."""
        names = [name for name in self.directions if name != FEW_LINES]
        found = dict.fromkeys(str(each) for name in names for each in self.directions[name])
        return [each for each in found if each not in {*self.authentic, *self.known}]

    @property
    def few(self) -> list[str]:
        """The directions that have a few lines of people."""
        return [*map(str, self.few_lines.directions)] if self.few_lines else []

    def sizes(self, directions: Sequence[str]) -> dict[str, int]:
        """How many authentic pairs each of these directions has, in a shard."""
        return {f"{MAIN}:{each}": pairs_in(self.main, parse_direction(each)) for each in directions}

    def validation_directions(self) -> list[str]:
        """The directions with validation text: authentic, or held-out for the synthetic ones."""
        there = {path.name.split(".")[1] for path in self.main.glob("valid.*.idx")}
        pairs = there | {str(reverse(parse_direction(pair))) for pair in there}
        return [each for each in self.known or self.authentic if each in pairs] + [
            each for each in self.synthetic if each in there
        ]


def make_data(
    steps: Steps,
    experiment: Experiment,
    distillation: Distillation,
    *,
    teacher: Teacher,
    authentic: Sequence[str],
    known: Sequence[str] = (),
) -> StudentData:
    """Make the text that the student learns besides, and its data, unless they are there; without sides there
    is none but a few lines, if they are asked for.

    `authentic` are the directions that it is trained on with text by people, `known` those that have such
    text, where they are more. Raises `InputError` where the sides add nothing.
    """
    known = [] if [*known] == [*authentic] else known
    if distillation.few_lines:
        return few_lines_data(steps, experiment, distillation.few_lines, authentic=authentic, known=known)
    if distillation.sides == NONE:
        return StudentData(experiment.data, authentic, known=known)
    settings = replace(distillation.synthetic, direct=distillation.sides == SELF)
    text = with_engine(SyntheticText(experiment, teacher, settings))
    without_text = text.directions()
    check_taught(without_text, experiment.text)
    if distillation.sides == BETWEEN and not any(pairs_of_targets(without_text, without_text).values()):
        raise InputError(
            f"--sides {BETWEEN} adds nothing to --sides {BOTH} here: it needs three languages besides the "
            f"pivot that have no text between them; give --sides {BOTH}"
        )
    with locked(text.folder, steps.say):
        folders, directions = make_synthetic_data(steps, text, distillation, without_text=without_text)
    return StudentData(text.data / MAIN, authentic, folders, directions=directions, text=text, known=known)


def few_lines_data(
    steps: Steps, experiment: Experiment, lines: int, *, authentic: Sequence[str], known: Sequence[str]
) -> StudentData:
    """What a student is trained on that has so many lines of people in each direction without text."""
    few = make_few_lines(steps, experiment, lines, trained=known or authentic)
    return StudentData(
        few.data / MAIN,
        authentic,
        {FEW_LINES: few.data / FEW_LINES},
        directions={FEW_LINES: few.directions},
        few_lines=few,
        known=known,
    )


def make_synthetic_data(
    steps: Steps, text: SyntheticText, distillation: Distillation, *, without_text: Sequence[Direction]
) -> tuple[dict[str, Path], dict[str, list[Direction]]]:
    """Translate into the directions `without_text`, and make the data of each use, unless they are there;
    returns the folders and the directions of each, by name. Raises `InputError` where the filters leave
    nothing for a use.
    """
    authentic = text.experiment.data
    make_synthetic_text(steps, text)
    binarise = partial(
        binarise_synthetic,
        text.text,
        text.data,
        authentic=authentic,
        directions=without_text,
        workers=cores(),
    )
    steps.make(text.folder, "data", text.data, work=binarise, inputs=[text.text, authentic], settings={})
    counts = read_json(text.text / RECORD_FILE, AGAIN)["directions"]
    kept = [parse_direction(direction) for direction, number in counts.items() if number[TRAIN]]
    directions = directions_by_use(distillation.uses, kept)
    folders = {use: text.data / use for use in directions}
    if distillation.word_level:
        of_uses = make_pivot_sides(steps, text, kept, workers=cores())
        folders = {use: of_uses[use] for use in directions}
    for use in filter(WRITERS.__contains__, distillation.uses):
        further = make_further_text(steps, text, kept, use=use, workers=cores())
        if not further:
            raise InputError(
                f"--sides {distillation.sides} adds nothing to --sides {BOTH} here: the filters have left "
                f"nothing for it, as {text.text / RECORD_FILE} counts; give --sides {BOTH}"
            )
        folders |= {name: folder for name, (folder, _) in further.items()}
        directions |= {name: of_name for name, (_, of_name) in further.items()}
    return folders, directions


def pairs_of_epoch(distillation: Distillation, data: StudentData) -> int:
    """How many pairs an epoch has: as many whatever is sampled, so that all students have equal updates.

    It has the authentic pairs of a shard, which are those of the first or one less.
    """
    return sampling_weights(data.sizes(data.known or data.authentic), {}, distillation.share)[1]


def sampled_sizes(data: StudentData) -> dict[str, float]:
    """How many pairs each set of further text counts as when it is sampled: those that it has.

    But pairs of two translations, of which there may be many times as many, count together as those with a
    synthetic target do.
    """
    sizes: dict[str, float] = {
        f"{name}:{each}": pairs_in(data.extra[name], each)
        for name, directions in data.directions.items()
        for each in directions
    }
    between = [name for name in sizes if name.startswith(BETWEEN)]
    number = sum(sizes[name] for name in between)
    alike = sum(size for name, size in sizes.items() if name.startswith(f"{TARGETS}:"))
    return sizes | {name: sizes[name] * alike / number for name in between}


def record_use(run: Path, distillation: Distillation, folder: Path, *, remedy: str) -> None:
    """Write the synthetic.json of the text in a folder into a run, with how the run uses that text."""
    used = {"sides": distillation.sides, "share": distillation.share, "folder": str(folder.resolve())}
    write_json(run / RECORD_FILE, read_json(folder / "text" / RECORD_FILE, remedy) | used)


def options_of_data(run: Path, distillation: Distillation, data: StudentData) -> list[str]:
    """The options of fairseq-train for the data; writes what they need, and synthetic.json, into the run."""
    if data.text:
        record_use(run, distillation, data.text.folder, remedy=AGAIN)
    authentic_sizes = data.sizes(data.authentic)
    synthetic_sizes = sampled_sizes(data)
    if data.few:
        shards = len(shards_of(data.main))
        of_all_shards = {name: number * shards for name, number in authentic_sizes.items()}
        weights = tempered_weights(of_all_shards | synthetic_sizes)
    else:
        weights, _ = sampling_weights(authentic_sizes, synthetic_sizes, distillation.share)
    write_json(run / SAMPLING_FILE, weights)
    options = {
        "--valid-lang-pairs": ",".join(data.validation_directions()),
        "--sampling-weights-from-file": run.resolve() / SAMPLING_FILE,
        "--virtual-data-size": pairs_of_epoch(distillation, data),
    }
    if data.extra:
        listed = {name: ",".join(map(str, of_name)) for name, of_name in data.directions.items()}
        options["--extra-data"] = json.dumps({name: str(folder) for name, folder in data.extra.items()})
        options["--extra-lang-pairs"] = json.dumps(listed)
    return option_words(options)
