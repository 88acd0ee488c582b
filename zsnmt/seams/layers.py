"""The layers that an option names."""

import re

from zsnmt.errors import InputError


def chosen_layers(text: str, number_of_layers: int, option: str = "") -> list[int]:
    """Layers, counted from 1, that an option names: none, middle (L//2 + 1), top2, or numbers like 2,3.

    `InputError` for anything else, with the name of the option.
    """
    if text == "none":
        return []
    if text == "middle":
        return [number_of_layers // 2 + 1]
    if (top := re.fullmatch("top([1-9][0-9]*)", text)) and int(top[1]) <= number_of_layers:
        return [*range(number_of_layers - int(top[1]) + 1, number_of_layers + 1)]
    layers = text.split(",")
    if not all(layer.isdecimal() and 1 <= int(layer) <= number_of_layers for layer in layers):
        raise InputError(
            f"'{text}' names no layers of {number_of_layers}: write none, middle, top2, or numbers from 1 to "
            f"{number_of_layers} with commas between" + (option and f", in {option}")
        )
    return sorted({int(layer) for layer in layers})
