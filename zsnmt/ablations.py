"""The ablations of Liu et al. (2021) on residual removal: each study is a list of systems to train and compare.

All begin with the baseline and the model without the middle layer's residual, named as `recipes/train.sh` names them,
so that studies share these runs and take them over where they are there.
"""

from argparse import Namespace
from collections.abc import Callable, Sequence
from typing import NamedTuple, NoReturn

from fairseq import options

import zsnmt.models  # noqa: F401  (registers the architectures)
import zsnmt.tasks  # noqa: F401  (registers the task)
from zsnmt.errors import InputError
from zsnmt.models.zs_transformer import chosen_layers


class System(NamedTuple):
    """A system to train: its name in tables, its architecture, and the options it has beyond those of the config."""

    name: str
    architecture: str
    options: tuple[str, ...] = ()


BASELINE = System("zs_transformer", "zs_transformer")
RESIDUAL = System("zs_transformer_residual", "zs_transformer_residual")
REMOVAL, REPLACEMENT = "--encoder-residual-removal-layers", "--encoder-residual-replacement"
LEARNED = ("--encoder-position-encoding", "learned", "--decoder-learned-pos")


def removal_layer(layers: int) -> list[System]:
    """Section 5.4: the residual removed at each encoder layer in turn, from the lowest; raises `InputError` for one layer."""
    if layers < 2:
        raise InputError(f"removal_layer compares encoder layers, and the model has {layers}; give it 2 or more")
    at = [System(f"residual_at_{layer}", RESIDUAL.architecture, (REMOVAL, str(layer))) for layer in range(1, layers + 1)]
    (middle,) = chosen_layers("middle", layers)
    at[middle - 1] = RESIDUAL
    return [BASELINE, *at]


def positions(layers: int) -> list[System]:
    """Section 5.5: baseline and residual removal with sinusoidal positions, and with learned ones in both stacks."""
    learned = [System("learned_positions", BASELINE.architecture, LEARNED),
               System("residual_learned_positions", RESIDUAL.architecture, LEARNED)]  # fmt: skip
    return [BASELINE, RESIDUAL, *learned]


def replacement(layers: int) -> list[System]:
    """Footnote 6, and the reference code's third kind: what stands in for the removed residual."""
    kinds = "mean_pool", "stochastic"
    return [BASELINE, RESIDUAL, *(System(f"residual_{kind}", RESIDUAL.architecture, (REPLACEMENT, kind)) for kind in kinds)]


STUDIES: dict[str, Callable[[int], list[System]]] = {
    study.__name__: study for study in (removal_layer, positions, replacement)
}  # each called with the number of encoder layers


def systems(studies: Sequence[str], config_options: Sequence[str]) -> list[System]:
    """The systems of some studies, each once, the baseline first.

    The config's options of fairseq-train say how many encoder layers there are. Raises `InputError` for a study that does
    not exist, and for options that fairseq refuses or that a study varies.
    """
    for study in studies:
        if study not in STUDIES:
            raise InputError(f"there is no study '{study}'; there are {', '.join(STUDIES)}")
    layers = training_options(BASELINE.architecture, config_options).encoder_layers
    found = {system.name: system for study in studies for system in STUDIES[study](layers)}
    varied = {REMOVAL, *(option for system in found.values() for option in system.options)}
    for option in config_options:
        if option.startswith("--") and option.partition("=")[0] in varied:
            raise InputError(f"the config sets {option}, which a study varies; leave it out of MODEL and TRAINING")
    return [*found.values()]


def training_options(architecture: str, arguments: Sequence[str]) -> Namespace:
    """Options as fairseq-train reads them, with the architecture's defaults; `InputError` where it refuses them."""
    parser = options.get_training_parser("zs_translation")
    parser.error = refuse
    return options.parse_args_and_arch(parser, ["DATA", "--arch", architecture, *arguments])


def refuse(message: str) -> NoReturn:
    raise InputError(f"fairseq refuses the MODEL and TRAINING of the config: {message}")
