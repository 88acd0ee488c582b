"""What of a model is trained when a language joins it, and how its new rows begin."""

FULL, FROZEN = "full", "frozen"  # all, or nothing that its old directions use
NOISES = MULTIPLICATIVE, ADDITIVE, NO_NOISE = "multiplicative", "additive", "none"
UNKNOWN_BOUND = 0.01  # share of the pieces of a file that may be unknown, unless told
