"""Ablations of the papers' models: each study is a list of systems to train and compare.

All begin with the baseline. Systems without options of their own are named as `recipes/train.sh` names them,
so that studies share these runs and take them over where they are there.
"""

from argparse import Namespace
from collections.abc import Callable, Iterable, Sequence

from zsnmt.errors import InputError
from zsnmt.runs.systems import (
    BASELINE,
    BELOW,
    BY_ENCODING,
    CLIP_DISTANCES,
    DISTANCE,
    ENCODER_POSITIONS,
    RELATIVE,
    RESIDUAL,
    System,
)
from zsnmt.seams.layers import chosen_layers
from zsnmt.training.fairseq_options import training_options

REMOVAL, REPLACEMENT = "--encoder-residual-removal-layers", "--encoder-residual-replacement"
DECODER_POSITIONS = "--decoder-position-encoding"
LEARNED = (ENCODER_POSITIONS, "learned", DECODER_POSITIONS, "learned")
STANDS_FOR = {  # the options whose defaults make an architecture a system of its own
    RESIDUAL.architecture: {REMOVAL},
    RELATIVE.architecture: {DISTANCE, ENCODER_POSITIONS, DECODER_POSITIONS},
}


def removal_layer(layers: int) -> list[System]:
    """Liu et al. (2021), section 5.4: the residual removed at each encoder layer in turn, from the lowest;
    raises `InputError` for one layer.
    """
    if layers < 2:
        raise InputError(
            f"removal_layer compares encoder layers, and the model has {layers}; give it 2 or more"
        )
    at = [
        System(f"residual_at_{layer}", RESIDUAL.architecture, (REMOVAL, str(layer)))
        for layer in range(1, layers + 1)
    ]
    (middle,) = chosen_layers("middle", layers)
    at[middle - 1] = RESIDUAL
    return [BASELINE, *at]


def positions(layers: int) -> list[System]:
    """Liu et al., section 5.5: baseline and residual removal with sinusoidal positions, and with learned
    ones in both stacks.
    """
    learned = [
        System("learned_positions", BASELINE.architecture, LEARNED),
        System("residual_learned_positions", RESIDUAL.architecture, LEARNED),
    ]
    return [BASELINE, RESIDUAL, *learned]


def replacement(layers: int) -> list[System]:
    """Liu et al., footnote 6, and the reference code's third kind: what stands in for the removed
    residual.
    """
    kinds = "mean_pool", "stochastic"
    return [
        BASELINE,
        RESIDUAL,
        *(System(f"residual_{kind}", RESIDUAL.architecture, (REPLACEMENT, kind)) for kind in kinds),
    ]


def clip_distance(layers: int) -> list[System]:
    """Li (2019), Table 2: relative attention in both stacks by the distance at which it is clipped, after
    the baseline.
    """
    return [BASELINE, *CLIP_DISTANCES.values()]


def encodings(layers: int) -> list[System]:
    """What tells the encoder its positions, with and without the residual: the encodings of Ravishankar
    and Søgaard (2021).
    """
    return [system for pair in BY_ENCODING.values() for system in pair]


def bias_layers(layers: int) -> list[System]:
    """Without the residual: positions in the attention of all layers, or below the removal alone, where
    sinusoids come in.

    Raises `InputError` for one layer, which has none below.
    """
    if layers < 2:
        raise InputError(
            f"bias_layers needs layers below the middle one, and the model has {layers}; give it 2 or more"
        )
    below = "--encoder-position-bias-layers", ",".join(map(str, range(1, layers // 2 + 1)))
    pairs = [
        (BY_ENCODING[encoding][1], System(name, RESIDUAL.architecture, (ENCODER_POSITIONS, encoding, *below)))
        for encoding, name in BELOW.items()
    ]
    return [BASELINE, RESIDUAL, *(system for pair in pairs for system in pair)]


STUDIES: dict[str, Callable[[int], list[System]]] = {
    study.__name__: study
    for study in (removal_layer, positions, replacement, clip_distance, encodings, bias_layers)
}  # each called with the number of encoder layers


def systems(studies: Sequence[str], config_options: Sequence[str]) -> list[System]:
    """The systems of some studies, each once, the baseline first.

    The config's options of fairseq-train say how many encoder layers there are. Raises `InputError` for a
    study that does not exist, for options that fairseq refuses or that a study varies, and where
    architectures differ by others too.
    """
    for study in studies:
        if study not in STUDIES:
            raise InputError(f"there is no study '{study}'; there are {', '.join(STUDIES)}")
    baseline = training_options(BASELINE.architecture, config_options)
    found = {system.name: system for study in studies for system in STUDIES[study](baseline.encoder_layers)}
    varied = {
        option
        for system in found.values()
        for option in (*system.options, *STANDS_FOR.get(system.architecture, ()))
    }
    for option in config_options:
        if option.startswith("--") and option.partition("=")[0] in varied:
            raise InputError(
                f"the config sets {option}, which a study varies; leave it out of MODEL and TRAINING"
            )
    for architecture in dict.fromkeys(system.architecture for system in found.values()):
        check_alike(baseline, training_options(architecture, config_options), varied)
    return [*found.values()]


def check_alike(baseline: Namespace, other: Namespace, varied: Iterable[str]) -> None:
    """`InputError` where an architecture has other defaults than the baseline for options that no study
    varies.
    """
    compared = {*vars(baseline)} - {
        "arch",
        *(option.removeprefix("--").replace("-", "_") for option in varied),
    }
    if different := sorted(name for name in compared if getattr(baseline, name) != getattr(other, name)):
        values = ", ".join(
            f"--{name.replace('_', '-')} ({getattr(baseline, name)}, {getattr(other, name)})"
            for name in different
        )
        raise InputError(
            f"the defaults of {baseline.arch} and {other.arch} differ in {values}: set them in MODEL, so "
            "that the systems differ in nothing but what the study varies"
        )
