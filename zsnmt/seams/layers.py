"""Seams of layers: the attention residual, the position query, variational dropout."""

from argparse import Namespace
from collections.abc import Callable

from torch import nn

from zsnmt.errors import InputError
from zsnmt.modules.attention_residual import MeanPoolResidual, RemoveResidual, StochasticResidual
from zsnmt.modules.encoder import Encoder
from zsnmt.modules.position_query import PositionQuery
from zsnmt.modules.variational_dropout import VariationalDropout


def chosen_layers(text: str, number_of_layers: int) -> list[int]:
    """Layers, counted from 1, that an option names: none, middle (L//2 + 1), or numbers like 2,3."""
    if text == "none":
        return []
    if text == "middle":
        return [number_of_layers // 2 + 1]
    layers = text.split(",")
    if not all(layer.isdecimal() and 1 <= int(layer) <= number_of_layers for layer in layers):
        raise InputError(
            f"'{text}' names no layers of {number_of_layers}: write none, middle, or numbers from 1 to "
            f"{number_of_layers} with commas between"
        )
    return sorted({int(layer) for layer in layers})


def fill_encoder_seams(encoder: Encoder, args: Namespace) -> None:
    """Set the attention residual and the position query of the chosen layers."""
    number_of_layers = len(encoder.layers)
    for number in chosen_layers(args.encoder_residual_removal_layers, number_of_layers):
        replacements: dict[str, Callable[[], nn.Module]] = {
            "nothing": RemoveResidual,
            "mean_pool": MeanPoolResidual,
            "stochastic": lambda: StochasticResidual(0.5 * number / number_of_layers),
        }
        encoder.layers[number - 1].attention_residual = replacements[args.encoder_residual_replacement]()
    for number in chosen_layers(args.encoder_position_query_layers, number_of_layers):
        encoder.layers[number - 1].use_position_query(
            PositionQuery(args.encoder_embed_dim, args.position_query_base)
        )


def share_dropout_over_time(stack: nn.Module) -> None:
    """Swap the dropout of embeddings and blocks, not of attention probabilities, for the variational one."""
    stack.dropout_module = VariationalDropout(stack.dropout_module.p, time_axis=1)
    for layer in stack.layers.children():  # iterating would skip layers at random under layer drop
        layer.dropout_module = VariationalDropout(layer.dropout_module.p, time_axis=0)
        layer.activation_dropout_module = VariationalDropout(layer.activation_dropout_module.p, time_axis=0)
