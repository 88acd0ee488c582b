"""The one error a person can mend."""


class InputError(ValueError):
    """What a person gave cannot be used; the message says what, the rule and the remedy."""
