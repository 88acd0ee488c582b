"""What of a model is trained when a language joins it, and how its new rows begin."""

FULL, FROZEN = "full", "frozen"  # all, or nothing that its old directions use
NOISES = MULTIPLICATIVE, ADDITIVE, NO_NOISE = "multiplicative", "additive", "none"
SHARE = 0.5  # of training pairs with a new language, where a person's own text is to join a run
UNKNOWN_BOUND = 0.01  # share of the pieces of a file that may be unknown, unless told
