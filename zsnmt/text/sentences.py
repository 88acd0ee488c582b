"""Whether a line holds several sentences, as far as one can see without knowing its language."""

import re

# The end of a word of four letters or more, which few abbreviations have, and what follows it.
END = re.compile(r"\w{4,}[.!?…]+[\"'”»)\]]*\s+[\"'“„«¿¡(\[–—-]*\s*(\w)")
END_WITHOUT_CASE = re.compile(r"[。！？।؟።]\s*\w")  # in scripts without capital letters


def holds_several(line: str) -> bool:
    """Whether a full stop and a capital letter stand in a line, or a full stop of another script and more."""
    cased = any(found[1].isupper() for found in END.finditer(line))
    return cased or END_WITHOUT_CASE.search(line) is not None
