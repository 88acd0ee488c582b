"""Text in another language than the name of its file says, by py3langid among all languages it knows."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from py3langid.langid import MODEL_FILE, LanguageIdentifier

SAMPLE = 500
_NAME = re.compile(r"(?:train|test)\.(?:\w+-\w+\.)?(\w+)")


class Foreign(NamedTuple):
    """A file, the language found most in it, and the share (0–1) of its lines in the language of its name."""

    file: Path
    found: str
    share: float

    def __str__(self) -> str:
        return f"{self.file.name} looks like {self.found}: {self.share:.0%} of its lines are in the language of its name"


def foreign_files(folder: Path, languages: Sequence[str]) -> Iterator[Foreign]:
    """The training and test files of a folder of parallel text of which fewer than half the lines are as named.

    Up to 500 lines of a file are looked at, evenly spread. Languages that py3langid does not know are not checked.
    """
    model = LanguageIdentifier.from_model_file(MODEL_FILE)
    for file in sorted(folder.iterdir()):
        match = _NAME.fullmatch(file.name)
        if match and match[1] in languages and match[1] in model.labels:
            found = Counter(model.classify(line)[0] for line in sample_lines(file))
            share = found[match[1]] / found.total()
            if share < 0.5:
                yield Foreign(file, found.most_common(1)[0][0], share)


def sample_lines(file: Path) -> list[str]:
    """At most 500 lines of a file of parallel text, evenly spread; only these are decoded."""
    with file.open("rb") as lines:
        step = -(-sum(1 for _ in lines) // SAMPLE)
        lines.seek(0)
        return [line.decode("utf-8").removesuffix("\n") for line in islice(lines, 0, None, step)]
