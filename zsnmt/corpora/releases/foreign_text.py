"""Text in another language than the name of its file says, by py3langid among all languages it knows."""

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from zsnmt.corpora.parallel_text import find_pair, pairs_of_split
from zsnmt.scoring.language_identification import all_languages, code_of
from zsnmt.text.sampling import sample_lines


class Foreign(NamedTuple):
    """A file, the language found most in it, and the share (0–1) of its lines in the language of its name."""

    file: Path
    found: str
    share: float

    def __str__(self) -> str:
        own = f"only {self.share:.0%} of the lines of {self.file.name} are in the language of its name"
        return (
            own if code_of(self.file.suffix[1:]) == self.found else f"{own}, and most look like {self.found}"
        )


def foreign_files(folder: Path, languages: Sequence[str]) -> Iterator[Foreign]:
    """The training and test files of checked parallel text of which fewer than half the lines are as named.

    Up to 500 lines of a file are looked at, evenly spread; files that no pair of the languages uses are not.
    Languages that py3langid does not know are not checked.
    """
    model = all_languages()
    files = {
        file: language
        for split in ("train", "test")
        for pair in pairs_of_split(folder, split, languages)
        for file, language in zip(find_pair(folder, split, *pair), pair)
        if code_of(language) in model.labels
    }
    for file, language in sorted(files.items()):
        found = Counter(model.classify(line)[0] for line in sample_lines(file))
        share = found[code_of(language)] / found.total()
        if share < 0.5:
            yield Foreign(file, found.most_common(1)[0][0], share)


def warn_of_foreign_text(folder: Path, languages: Sequence[str]) -> None:
    """Tell of the files that seem to be in another language than their names say."""
    for foreign in foreign_files(folder, languages):
        print(f"warning: {foreign}", file=sys.stderr)
