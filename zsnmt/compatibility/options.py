"""Repairs of how fairseq and PyTorch read options."""

import argparse
import ast
import sys

import torch
from fairseq import utils
from fairseq.models.transformer import transformer_config

from zsnmt.errors import InputError

# The parts of an expression that computes with nothing but what it spells.
VALUES = (
    ast.Expression,
    *(ast.Constant, ast.Tuple, ast.List, ast.Dict, ast.Load),
    *(ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.UnaryOp, ast.USub, ast.UAdd),
)


def allow_namespaces_in_checkpoints() -> None:
    """Let PyTorch >= 2.6 read the options in fairseq's checkpoints, and nothing else.

    fairseq saves an `argparse.Namespace`, which `torch.load` refuses by default. Naming that one
    harmless class keeps loading safe: a checkpoint that carries code is still refused.
    """
    torch.serialization.add_safe_globals([argparse.Namespace])


def read_options_without_running_them() -> None:
    """Make fairseq take `(0.9, 0.98)` or `[(512, 3)] * 20` in an option for the value that it spells.

    It evaluates such options as Python, those in a checkpoint too: a checkpoint or a config from a stranger
    would run any code.
    """
    for name, module in [*sys.modules.items()]:
        if name.startswith("fairseq."):
            vars(module)["eval"] = value_of


def train_in_bfloat16_without_a_tpu(args: argparse.Namespace) -> None:
    """Let `--bf16` train on a GPU: fairseq-train takes it for a word about TPUs, and fails where their
    library is not installed. To be called when options are read, by the architecture.
    """
    if getattr(args, "bf16", False) and utils.xm is None:
        args.tpu = False


def value_of(text: str) -> object:
    """The value of an expression of numbers, words and lists; `InputError` for one that does more.

    What is no string is a TypeError, as of Python's `eval`, on which fairseq relies.
    """
    if not isinstance(text, str):
        raise TypeError(f"{text!r} is not a string")
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError:
        tree = None
    if tree is None or not all(isinstance(node, VALUES) for node in ast.walk(tree)):
        raise InputError(
            f"the option '{text}' is not a value; give a number, a word in quotes, or a list like (0.9,0.98)"
        )
    return eval(compile(tree, "an option", "eval"))


def give_each_transformer_its_own_options() -> None:
    """Make `TransformerConfig()` hold its own encoder, decoder and noise options.

    The fork writes `default=EncDecBaseConfig`, the class where an instance is meant: setting
    `config.encoder.layers` on one configuration would set it for every other one in the process.
    """
    stock_init = transformer_config.TransformerConfig.__init__
    if stock_init.__module__ == __name__:  # replaced before
        return

    def init(self: transformer_config.TransformerConfig, *args: object, **kwargs: object) -> None:
        stock_init(self, *args, **kwargs)
        for name in ("encoder", "decoder", "quant_noise"):
            if isinstance(getattr(self, name), type):
                setattr(self, name, getattr(self, name)())

    transformer_config.TransformerConfig.__init__ = init
