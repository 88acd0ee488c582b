"""The parallel text of a run and that of the languages it is to learn, in one folder."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory

from zsnmt.corpora.cleaning import Cleaning
from zsnmt.corpora.limits import limit_of
from zsnmt.corpora.parallel_text import SPLITS, find_pair, pairs_of_split, refuse_untrained
from zsnmt.corpora.training_text import copy_beside, make_training_text
from zsnmt.errors import InputError
from zsnmt.languages import check_languages
from zsnmt.runs.folder import same_bytes


def new_languages(languages: Sequence[str], known: Sequence[str]) -> list[str]:
    """Those of `languages` that a model does not know; both begin with the pivot.

    Raises `InputError` for another pivot, and if there is none to add.
    """
    check_languages(languages)
    if languages[0] != known[0]:
        raise InputError(
            f"the new text has the pivot {languages[0]}, the run has {known[0]}; name the run's pivot first"
        )
    if not (new := [language for language in languages if language not in known]):
        raise InputError(
            f"the run knows {', '.join(languages)} already (it has {', '.join(known)}); name a language "
            "that it lacks"
        )
    return new


def join_text(
    added: Path,
    target: Path,
    known: Sequence[str],
    new: Sequence[str],
    original: Path | None,
    limits: Mapping[str, int],
    cleaning: Cleaning = Cleaning(),
    workers: int = 1,
) -> dict:
    """Write the text of a run, unchanged, and what `added` has of the new languages into the folder `target`.

    `original`: the run's text, None to go without. What overlaps with held-out sentences is left out of
    training, `cleaning` cleans the new pairs, and `limits` bound them, as in `make_training_text`, whose
    counts are returned. Raises `InputError` where `added` has no training text for a new language, or for a
    pair that `limits` name.
    """
    languages = [*known, *new]
    pairs = {split: new_pairs(added, split, languages, new=new) for split in SPLITS}
    refuse_untrained(added, [language for language in new if language not in {*sum(pairs["train"], ())}])
    trained = [{*pair} for pair in pairs["train"]]
    if strangers := [pair for pair in limits if pair and {*pair.split("-")} not in trained]:
        raise InputError(
            f"{added} has no training text of a new language for {', '.join(strangers)}, of which a number "
            "of pairs is asked for; leave that out, the pairs of the run's own languages stay as they are"
        )
    beside = TemporaryDirectory(dir=target.parent, prefix=f"{target.name}.joined.")
    with beside as name, naming_sources(joined := Path(name)):
        if original:
            for file in files_of(original, known):
                os.symlink(file.resolve(), joined / file.name)
            copy_beside(original, joined, known)
        for split, of_split in pairs.items():
            for pair in of_split:
                link_pair(added, joined, split, pair=pair, new=new, known=known)
        copy_beside(added, joined, new)
        bounded = {"-".join(pair): limit for pair in pairs["train"] if (limit := limit_of(pair, limits))}
        return make_training_text(
            joined,
            target,
            languages,
            limits=bounded,
            cleaning=cleaning,
            cleaned=pairs["train"],
            workers=workers,
        )


@contextmanager
def naming_sources(joined: Path) -> Iterator[None]:
    """What is wrong with a file of `joined`, which soon is gone, is said of the file that it stands for."""
    try:
        yield
    except InputError as error:
        sentence = str(error)
        for link in sorted(joined.iterdir(), key=lambda path: -len(path.name)):  # a name may begin another
            sentence = sentence.replace(str(link), str(link.resolve()))
        raise InputError(sentence) from error


def new_pairs(text: Path, split: str, languages: Sequence[str], new: Sequence[str]) -> list[tuple[str, str]]:
    """The pairs of languages with text in a split, one of them new at least."""
    return [pair for pair in pairs_of_split(text, split, languages) if {*pair} & {*new}]


def files_of(text: Path, languages: Sequence[str]) -> list[Path]:
    """The files of sentences in a folder of parallel text that are of these languages alone."""
    pairs = [f"{one}-{other}" for pair in combinations(languages, 2) for one, other in (pair, pair[::-1])]
    names = [f"{split}.{pair}.{side}" for split in SPLITS for pair in pairs for side in pair.split("-")]
    names += [f"{split}.{language}" for split in SPLITS[1:] for language in languages]
    return [text / name for name in names if (text / name).is_file()]


def link_pair(
    added: Path, joined: Path, split: str, pair: tuple[str, str], new: Sequence[str], known: Sequence[str]
) -> None:
    """Put a pair with a new language beside what is in `joined`.

    A multiway set stays one where the sentences of the known languages are the same in both, and for pairs
    whose known language is in both; else its pairs are files of their own.
    """
    files = find_pair(added, split, *pair)
    common = [
        language
        for language in known
        if (joined / f"{split}.{language}").is_file() and (added / f"{split}.{language}").is_file()
    ]
    same = all(
        same_bytes(joined / f"{split}.{language}", added / f"{split}.{language}") for language in common
    )
    extends = common and same and {*pair} & {*known} <= {*common}
    multiway = files[0].name == f"{split}.{pair[0]}"
    for file, language in zip(files, pair):
        name = file.name if not multiway or extends else f"{split}.{pair[0]}-{pair[1]}.{language}"
        if language in new or not (multiway and extends):
            (joined / name).unlink(missing_ok=True)
            os.symlink(file.resolve(), joined / name)
