"""The layers that an option names."""

from zsnmt.errors import InputError


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
