"""The one error a person can mend."""


class InputError(ValueError):
    """What a person gave cannot be used; the message says what, the rule and the remedy."""


GO_ON = "what was done is kept, and the same command goes on from it once that is mended"
SAVED = "told to end: saved after"  # so many updates: what a training says last that saved where it was
