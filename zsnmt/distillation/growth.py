"""A student with other numbers of layers than the run that it begins with, or with language blocks that the
run lacks.
"""

import logging
from argparse import Namespace
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from torch import Size

from zsnmt.distillation.layers import Growth, depths, fit_layers, places_of
from zsnmt.distillation.settings import Distillation
from zsnmt.distillation.start import Start
from zsnmt.distillation.student_options import has_blocks, read_options
from zsnmt.errors import InputError
from zsnmt.modules.attention_residual import is_switch
from zsnmt.modules.language_feed_forward import NAME_OF_WEIGHTS, OF_BLOCKS
from zsnmt.runs.commands import option_words
from zsnmt.runs.grid import BLOCK_LAYERS
from zsnmt.seams import position_query, positions, residual_removal
from zsnmt.seams.layers import chosen_layers
from zsnmt.seams.options import attribute_of

logger = logging.getLogger(__name__)

ENCODER_LAYERS = "--encoder-layers"
OF_ENCODER_LAYERS = residual_removal.OPTION, residual_removal.OF_FEED_FORWARD, position_query.OPTION


def growth_of(start: Start, sizes: Mapping[str, Size], options: Namespace) -> Growth:
    """What a student of these sizes and options has in other numbers than the run that it begins with.

    Raises `InputError` unless the other weights fit, and for more layers where the student would not begin
    with the run's translations.
    """
    wanted = depths(sizes)
    given, copies = fit_layers(start.sizes, wanted)
    if copies:
        check_growth(read_options(start.architecture, start.options, Path(options.data)), options)
    gains = not any(map(OF_BLOCKS.fullmatch, start.sizes))
    blocks = {name: size for name, size in sizes.items() if gains and OF_BLOCKS.fullmatch(name)}
    given |= blocks
    check_blocks(given, sizes, start.run)
    different = [
        name for name in {**given, **sizes} if given.get(name) != sizes.get(name) and not is_switch(name)
    ]
    if different:
        raise InputError(
            f"{options.arch} cannot begin with the weights of {start.run}: {different[0]} is not of one "
            "size in both; train the student --from-scratch, or leave out --student and what changes its "
            "size (it may have fewer layers, or more)"
        )
    return Growth(wanted if wanted != depths(start.sizes) else {}, blocks)


def check_blocks(given: Iterable[str], wanted: Iterable[str], run: Path) -> None:
    """`InputError` for a student with weights of these names whose language blocks are in other layers than
    those that a run gives it.
    """
    found = layers_with_blocks(given)
    if layers_with_blocks(wanted) != found:
        numbers = ",".join(map(str, found)) or "none"
        raise InputError(
            f"a student with so many decoder layers begins with those of {run} only by {BLOCK_LAYERS} "
            f"{numbers}; give that after --, or train it --from-scratch"
        )


def layers_with_blocks(names: Iterable[str]) -> list[int]:
    """The decoder layers, from 1, that have language blocks among weights of these names."""
    return sorted(int(match[1]) + 1 for match in map(NAME_OF_WEIGHTS.fullmatch, names) if match)


def deeper_options(
    layers: int | None, distillation: Distillation, start: Start, *, data: Path, options: Sequence[str] = ()
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
    before = read_options(start.architecture, start.options, data)
    if layers <= before.encoder_layers:
        return []
    if fault := growth_fault(before):
        logger.warning(
            "the student has the %d encoder layers of %s, not %d (STUDENT_LAYERS): with %s more would not "
            "begin with the same translations",
            before.encoder_layers,
            start.run,
            layers,
            fault,
        )
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
        positions.BIAS_LAYERS: options.encoder_position_bias_layers not in ("all", "none"),
        "--encoder-target-language": options.encoder_target_language != "none",
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
    copies_blocks = has_blocks(before) and student.decoder_layers > before.decoder_layers
    if fault := growth_fault(student) or copies_blocks and BLOCK_LAYERS:
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
