"""Models of random weights, to be measured."""

from argparse import Namespace

import torch
from fairseq.models import ARCH_CONFIG_REGISTRY, ARCH_MODEL_REGISTRY, BaseFairseqModel

import zsnmt
from zsnmt.training.model_check import made_up_dictionary

LANGUAGES = ("en", "it", "nl", "ro")
LONGEST = 1024  # positions of a model of translation


class BenchmarkTask:
    """As much of a task as a model reads: four languages and a dictionary of `vocabulary` symbols."""

    def __init__(self, vocabulary: int) -> None:
        self.langs = list(LANGUAGES)
        self.source_dictionary = self.target_dictionary = made_up_dictionary(LANGUAGES, vocabulary)


def build(architecture: str, task: BenchmarkTask, **options: object) -> BaseFairseqModel:
    """A model of an architecture with the given options, and everything else as the architecture says."""
    zsnmt.register()
    args = Namespace(max_source_positions=LONGEST, max_target_positions=LONGEST, **options)
    ARCH_CONFIG_REGISTRY[architecture](args)
    torch.manual_seed(1)
    return ARCH_MODEL_REGISTRY[architecture].build_model(args, task)


def parameters(model: BaseFairseqModel) -> int:
    """How many weights a model has."""
    return sum(parameter.numel() for parameter in model.parameters())
