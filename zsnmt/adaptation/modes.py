"""What of a model is trained when a language joins it: all, or nothing that its old directions use."""

FULL, FROZEN = "full", "frozen"
