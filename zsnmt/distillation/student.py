"""How a student is trained: options of fairseq-train, and how often each direction is sampled."""

import math
from argparse import Namespace
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from fairseq.data import indexed_dataset
from fairseq.models import ARCH_MODEL_NAME_REGISTRY
from fairseq.tasks import setup_task
from torch import Size

import zsnmt
from zsnmt.data.binarised_folder import find_data
from zsnmt.data.directions import directions_of, directions_with_data
from zsnmt.distillation.layers import depths, fit_layers, places_of
from zsnmt.distillation.settings import Distillation
from zsnmt.distillation.teacher import Teacher
from zsnmt.errors import InputError
from zsnmt.languages import Direction
from zsnmt.runs.folder import LOG_FILE
from zsnmt.runs.grid import options_of_remedy, term_options
from zsnmt.runs.log import pairs_of_update
from zsnmt.runs.systems import DIRECTIONS
from zsnmt.seams.layers import chosen_layers
from zsnmt.seams.options import attribute_of
from zsnmt.tasks.zs_translation import DEFAULT_PLACEMENT
from zsnmt.training.config import Config
from zsnmt.training.fairseq_options import training_options
from zsnmt.training.fairseq_train import given_values, options_of, separate, without

MODEL = "zs_transformer"
EPOCHS, PATIENCE = 10, 3  # of a student that goes on from its teacher
LONGEST, ENDS = "--max-epoch", ("--total-num-update", "--max-update")
ENCODER_LAYERS = "--encoder-layers"
OF_ENCODER_LAYERS = (
    "--encoder-residual-removal-layers",
    "--encoder-feed-forward-residual-removal-layers",
    "--encoder-position-query-layers",
)
COUNTED = ("--warmup-updates", *ENDS)
SAMPLING_FILE = "sampling.json"


def student_options(config: Config, distillation: Distillation, start: Teacher) -> list[str]:
    """The options of fairseq-train for a student, but for its data; later ones override earlier ones.

    One that goes on from a run, its teacher or another, has that run's options but for a remedy, half of the
    config's learning rate, or of the run's, and few epochs, or few for each shard, each of them validated;
    one from scratch those of the config. Raises `InputError` for an architecture that there is not.
    """
    architecture = distillation.student or start.architecture
    check_architecture(architecture)
    if distillation.from_scratch:
        return ["--arch", architecture, "--distributed-world-size", "1", *config.fairseq_options]
    remedy = start.record.get("distillation", {}).get("remedy", "")
    before = without_remedy(options_of(start.run), remedy)
    # The config of an adaptation may leave the rate to the run that was adapted.
    own_rate = "--lr" in separate(config.fairseq_options)
    peak = training_options(architecture, config.fairseq_options if own_rate else before).lr[0]
    going_on = {
        "--arch": architecture,
        "--lr": peak / 2,
        "--max-epoch": EPOCHS * config.shards,
        "--patience": PATIENCE * config.shards,
        "--finetune-from-model": start.model.resolve(),
    }
    given = separate(before)
    # Of little text a run may have more epochs from one validation to the next than a student has.
    going_on |= {name: 1 for name in ("--validate-interval", "--save-interval") if name in given}
    return [*before, *option_words(going_on)]


def without_remedy(options: Sequence[str], remedy: str) -> list[str]:
    """The options of a training without those that its remedy stands for, or that go with the remedy's terms;
    the criterion stays, which without terms is the stock one.
    """
    stands_for = options_of_remedy(remedy)
    terms = tuple(word.removesuffix("weight") for word in stands_for if word.endswith("-weight"))
    of_terms = {word for word in separate(options) if word.startswith(terms)}
    kept = without(options, of_terms | ({"--translation-weight"} if terms else set()))
    directions = {pair for pair in pairwise(stands_for) if pair[0] == DIRECTIONS}
    places = {place for place, pair in enumerate(pairwise(kept)) if pair in directions}
    return [word for place, word in enumerate(kept) if not {place, place - 1} & places]


def word_level_options(distillation: Distillation, options: Sequence[str], teacher: Teacher) -> list[str]:
    """The options of word-level distillation, if there is any, for a training with these."""
    if not distillation.word_level:
        return []
    return [
        *term_options(separate(options)),
        *("--word-distillation-weight", str(distillation.word_level)),
        *("--word-distillation-model", str(teacher.model.resolve())),
    ]


def check_tags(teacher: Teacher, options: Namespace) -> None:
    """`InputError` for a student with these options that does not read tags as its teacher does, who cannot
    say then what the student should.
    """
    tags = options.language_tags or DEFAULT_PLACEMENT
    if tags != teacher.tags:
        raise InputError(
            f"the student has --language-tags {tags}, and its teacher {teacher.tags}: word by word a student "
            "learns from one with the same tags; give these, or leave out --word-level"
        )


def options_of_config(config: Config, distillation: Distillation) -> Sequence[str]:
    """The options that a config has for students, which are for those that go on from a run."""
    return [] if distillation.from_scratch else config.distillation


def stretch(options: Sequence[str], epochs: int | None, updates: float | None = None) -> list[str]:
    """The options that make a schedule so many epochs long, each of about so many `updates`; none for those
    that it has.

    All that it counts in updates changes in proportion, so that a learning rate that falls for some number of
    them has fallen at the end. Where nobody knows the updates of an epoch, the epochs that it has now count.
    Raises `InputError` where there are none.
    """
    if epochs is None:
        return []
    given = given_values(options)
    counted = {name: int(given[name]) for name in COUNTED if int(given.get(name, 0)) > 0}
    longest = int(given.get(LONGEST, 0))  # to fairseq 0 is no bound
    end = max((counted[name] for name in ENDS if name in counted), default=0)
    if end and updates:
        share = epochs * updates / end
    elif longest or not end:
        share = epochs / (longest or epochs)
    else:
        raise InputError(
            f"--epochs {epochs}: the schedule counts updates, and the teacher's log does not say how many "
            "make an epoch; leave out --epochs, and give --total-num-update and --max-update after --"
        )
    return option_words(
        {LONGEST: epochs, **{name: max(1, round(number * share)) for name, number in counted.items()}}
    )


def option_words(options: Mapping[str, object]) -> list[str]:
    """Options as a command line has them."""
    return [word for name, value in options.items() for word in (name, str(value))]


def check_architecture(name: str) -> None:
    """`InputError` for an architecture that does not translate."""
    zsnmt.register()
    known = [each for each, model in ARCH_MODEL_NAME_REGISTRY.items() if model == MODEL]
    if name not in known:
        raise InputError(f"there is no architecture '{name}' that translates; choose {', '.join(known)}")


def read_options(architecture: str, options: Sequence[str], data: Path) -> Namespace:
    """The options as fairseq-train reads them, for some data."""
    return Namespace(**{**vars(training_options(architecture, options)), "data": str(data)})


def sizes_of_student(options: Namespace) -> dict[str, Size]:
    """The sizes of the weights of a model with these options, by name.

    Task, model and criterion are made as in the training, so that what these refuse is refused now, by
    `InputError`; but for the term of word-level distillation, whose data are not there yet.
    """
    later = {"word_distillation_weight": 0.0, "word_distillation_model": "", "translation_weight": 1.0}
    given = vars(options) | (later if getattr(options, "word_distillation_weight", 0) else {})
    task = setup_task(Namespace(**given))
    task.build_criterion(Namespace(**given))
    return {name: weight.shape for name, weight in task.build_model(options).state_dict().items()}


def shared_depths(start: Teacher, sizes: Mapping[str, Size], options: Namespace) -> dict[str, int]:
    """How many layers the stacks have of a student of these sizes and options, which begins with weights of
    a run; nothing where it has all of that run's layers.

    Raises `InputError` unless the weights fit, and for more layers where the student would not begin with the
    run's translations.
    """
    wanted = depths(sizes)
    given, copies = fit_layers(start.sizes, wanted)
    different = [name for name in {**given, **sizes} if given.get(name) != sizes.get(name)]
    if different:
        raise InputError(
            f"{options.arch} cannot begin with the weights of {start.run}: {different[0]} is not of one "
            "size in both; train the student --from-scratch, or leave out --student and what changes its "
            "size (it may have fewer layers, or more)"
        )
    if copies:
        check_growth(read_options(start.architecture, options_of(start.run), Path(options.data)), options)
    return wanted if wanted != depths(start.sizes) else {}


def deeper_options(
    layers: int | None,
    distillation: Distillation,
    start: Teacher,
    *,
    data: Path,
    options: Sequence[str] = (),
) -> list[str]:
    """The options of a student with so many encoder layers, for one that learns from translations and begins
    with a run that has fewer; those that choose layers choose that run's. None for others, where a person's
    `options` say how many layers it has, and where one with more would not begin with the run's translations.
    """
    own_architecture = distillation.student not in (None, start.architecture)
    if layers is None or own_architecture or distillation.from_scratch or not distillation.uses:
        return []
    if any(word.partition("=")[0] == ENCODER_LAYERS for word in options):
        return []
    before = read_options(start.architecture, options_of(start.run), data)
    if layers <= before.encoder_layers or growth_fault(before):
        return []
    places = places_of_choices(before, layers)
    chosen = {option: ",".join(map(str, numbers)) for option, numbers in places.items() if numbers}
    return option_words({ENCODER_LAYERS: layers, **chosen})


def growth_fault(options: Namespace) -> str | None:
    """The option by which copies of layers would not be without effect at first: behind normalisation, or
    where they lack weights; None where there is none.
    """
    whole = {
        "--normalization post": options.normalization != "pre",
        "--encoder-position-bias-layers": options.encoder_position_bias_layers not in ("all", "none"),
        "--encoder-target-language": options.encoder_target_language != "none",
        "--decoder-language-feed-forward-layers": options.decoder_language_feed_forward_layers != "none",
    }
    return next((option for option, given in whole.items() if given), None)


def places_of_choices(before: Namespace, layers: int) -> dict[str, list[int]]:
    """By the options that choose encoder layers, from 1, where those chosen before stand among so many."""
    places = places_of(before.encoder_layers, layers)
    return {
        option: [places[layer - 1][0] + 1 for layer in layers_chosen_by(option, before)]
        for option in OF_ENCODER_LAYERS
    }


def layers_chosen_by(option: str, options: Namespace) -> list[int]:
    """The encoder layers, from 1, that an option chooses."""
    value = getattr(options, attribute_of(option))
    return [*chosen_layers(value, options.encoder_layers)]


def check_growth(before: Namespace, student: Namespace) -> None:
    """`InputError` for a model with more layers than that before in which copies of layers would not be
    without effect at first (see `growth_fault`), or where other layers are chosen by their numbers.
    """
    if fault := growth_fault(student):
        raise InputError(
            f"a student with {fault} cannot have more layers than the run that it starts from and "
            "begin with the same translations; train it --from-scratch, or give it as many layers"
        )
    for option, same in places_of_choices(before, student.encoder_layers).items():
        if layers_chosen_by(option, student) != same:
            numbers = ",".join(map(str, same)) or "none"
            raise InputError(
                "a student with more layers than the run that it starts from begins with the same "
                f"translations only by {option} {numbers}, which are the layers of that run; give that after "
                "--, or train it --from-scratch"
            )


def authentic_directions(options: Namespace, data: Path, languages: Sequence[str]) -> list[str]:
    """The directions that are trained on text by people."""
    return directions_of(options.lang_pairs, [*languages]) or directions_with_data(
        data, "train", [*languages]
    )


def updates_of_epoch(start: Teacher, pairs: int) -> float | None:
    """About how many updates an epoch of so many sentence pairs takes, by how many pairs an update had of the
    run that the student begins with; None where its log does not say.
    """
    log = start.run / LOG_FILE
    each = log.is_file() and pairs_of_update(log.read_text(encoding="utf-8", errors="replace"))
    return pairs / each if each else None


def pairs_in(data: Path, direction: Direction) -> int:
    """How many training pairs a direction has in binarised data, or in a shard of them."""
    path = find_data(data, "train", direction, language=direction.source)
    return len(indexed_dataset.make_dataset(str(path), impl="mmap"))


def tempered_share(few: Mapping[str, float], authentic: Mapping[str, int]) -> float:
    """The share (0–1) of an epoch that a few lines have, by the number of pairs in each set: each set counts
    as the square root of its number, sampling at temperature 2 (Wu et al. 2024).
    """
    of_few, of_authentic = (sum(map(math.sqrt, sizes.values())) for sizes in (few, authentic))
    return of_few / (of_few + of_authentic)


def sampling_weights(
    authentic: Mapping[str, int], synthetic: Mapping[str, float], share: float
) -> tuple[dict[str, float], int]:
    """The weight of each set of pairs, and how many pairs an epoch has, by the number of pairs in each set.

    In an epoch every authentic pair comes once, and a `share` (0–1) of the epoch is synthetic. Without
    synthetic pairs the epoch is as long, and authentic pairs come again: equal updates.
    """
    total = sum(authentic.values())
    rest = sum(synthetic.values())
    authentic_share = 1 - share if synthetic else 1.0
    weights = {name: authentic_share * number / total for name, number in authentic.items()}
    weights |= {name: share * number / rest for name, number in synthetic.items()}
    return weights, round(total / (1 - share))
