"""What 8-bit products of two neighbouring columns add up to.

Processors without the instructions for them (VNNI) add the products of two neighbouring inputs (0 to 255) and
weights in 16 bits, and cut off what is larger. Where the largest *pair* of a row becomes `LARGEST_PAIR`, and
not its largest weight, no sum leaves 16 bits.
"""

import numpy as np

LARGEST_PAIR = 127.0  # rounded, at most 128; 128 times the largest input, 255, is below 2^15


def largest_pairs(weight: np.ndarray) -> np.ndarray:
    """For each row of a weight (D×C) the largest sum (D) of the sizes of two neighbours."""
    even = np.pad(np.abs(weight), ((0, 0), (0, weight.shape[1] % 2)))
    return even.reshape(len(weight), -1, 2).sum(2).max(1)
