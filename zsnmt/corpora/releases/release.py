"""What the readers of releases share: finding files, reading lines, and making a sentence fit parallel text.

The text of a person is never repaired; a release is, for it cannot be sent back to its makers: always in the
same way. The log counts the lines that are repaired or left out.
"""

import filecmp
import gzip
import logging
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, zip_longest
from pathlib import Path

from zsnmt.corpora.parallel_text import SPLITS, check_corpus
from zsnmt.errors import InputError, no_file
from zsnmt.text.lines import is_blank

# NUL and the byte order mark stand for nothing, in the middle of a word too.
NOTHING = re.compile("[\0\ufeff]")
CONTROL = re.compile("[\x01-\x1f\x7f-\x9f]")
REPAIRED = re.compile("[\0-\x08\n-\x1f\x7f-\x9f\u2028\u2029\ufeff]")  # a tab is not a fault
NAMES_SHOWN = 6

logger = logging.getLogger(__name__)


class MissingFiles(InputError):
    """Files of a release are not there."""


def clean_sentence(text: str) -> str:
    """A sentence of a release made to fit parallel text; empty when a subword model sees nothing in what is
    left.

    NUL and byte order marks go, control characters become spaces, and white space of any kind and
    length (line and paragraph separators too) is one space within the sentence and none around it.
    """
    sentence = " ".join(CONTROL.sub(" ", NOTHING.sub("", text)).split())
    return "" if is_blank(sentence) else sentence


def clean_rows(rows: Iterable[Sequence[str]], name: str) -> list[tuple[str, ...]]:
    """Rows of sentences that are translations of each other, cleaned; one with an empty sentence is left out.

    `name` is what they are of, for the log and the InputError raised where no row is left.
    """
    cleaned = [tuple(map(clean_sentence, row)) for row in rows]
    full = [row for row in cleaned if all(row)]
    if not full:
        raise InputError(f"no sentence of the release is left for {name}; get the release again")
    if len(full) < len(cleaned):
        logger.info("%s: lines with an empty sentence, left out: %d", name, len(cleaned) - len(full))
    return full


def read_multiway_rows(paths: Sequence[Path]) -> list[tuple[str, ...]]:
    """Line n of all files in row n; raises InputError unless they have as many lines."""
    rows = [*zip_longest(*map(open_lines, paths))]
    counts = [sum(line is not None for line in lines) for lines in zip(*rows)]
    if len(set(counts)) > 1:
        listed = ", ".join(f"{path.name} {count}" for path, count in zip(paths, counts))
        raise InputError(
            f"{paths[0].parent} has files that differ in their number of lines ({listed}); line n must be "
            f"one sentence in all languages"
        )
    return rows


def count_pairs(target: Path, languages: Sequence[str]) -> dict[str, dict[str, int]]:
    """The sentence pairs by split and pair of what a reader wrote, checked against the rules of parallel
    text.

    Of training text the pairs with the pivot, the first language; of the other sets all pairs.
    """
    pivot, *others = languages
    supervised = [(language, pivot) for language in others]
    everything = supervised + [*combinations(others, 2)]
    return check_corpus(target, supervised, SPLITS[:1]) | check_corpus(target, everything, SPLITS[1:])


def warn_of_fewer(counts: Mapping[str, int], wanted: int | None) -> None:
    """Say in the log which training pairs have less text than was asked for."""
    if fewer := {pair: number for pair, number in counts.items() if wanted is not None and number < wanted}:
        logger.warning(
            "fewer training pairs than %d: %s; the release has no more under this condition",
            wanted,
            ", ".join(f"{pair} {number}" for pair, number in fewer.items()),
        )


def find_file(release: Path, name: str) -> Path:
    """The file of this name, or `name.gz`, in the folder of a release or any folder below it.

    Raises MissingFiles, an InputError, when there is none, and InputError when there are several that differ.
    """
    if (found := look_up(index_files(release), name)) is None:
        raise MissingFiles(
            f"{release} and the folders below it have no {name} or {name}.gz; unpack the release there"
        )
    return found


def find_files(release: Path, wanted: Sequence[Sequence[Sequence[str]]], corpus: str) -> list[list[Path]]:
    """For each thing wanted the files of its first alternative, a list of names, that is all there.

    Names are looked up as by `find_file`. Raises MissingFiles that names what is missing of the first
    alternatives, and `zsnmt fetch corpus`.
    """
    index = index_files(release)
    found, missing = [], []
    for alternatives in wanted:
        files = ([path for name in names if (path := look_up(index, name))] for names in alternatives)
        complete = (paths for paths, names in zip(files, alternatives) if len(paths) == len(names))
        if (paths := next(complete, None)) is not None:
            found.append(paths)
        else:
            missing += [name for name in alternatives[0] if look_up(index, name) is None]
    if missing:
        missing = list(dict.fromkeys(missing))
        more = f" and {len(missing) - NAMES_SHOWN} more" if len(missing) > NAMES_SHOWN else ""
        raise MissingFiles(
            f"{release} and the folders below it lack {', '.join(missing[:NAMES_SHOWN])}{more}; "
            f"get the release with zsnmt fetch {corpus} --to FOLDER"
        )
    return found


def open_lines(path: Path) -> Iterator[str]:
    """The lines of a plain or `.gz` file of a release, as they are but for the `\\n`, which alone ends a
    line.

    Raises InputError for a missing, empty or damaged file, for a byte that is not UTF-8 (with its line),
    and for a file whose lines end with `\\r\\n`, as its first line shows. A carriage return elsewhere is one
    of the control characters that `clean_sentence` removes.
    """
    number = repaired = 0
    for number, line in enumerate(read(path), start=1):
        try:
            text = line.removesuffix(b"\n").decode("utf-8")
        except UnicodeDecodeError as error:
            raise InputError(
                f"{path}, line {number}, byte {error.start + 1}: 0x{line[error.start]:02x} is not UTF-8, "
                f"which the release is; get it again"
            ) from None
        if number == 1 and text.endswith("\r"):
            raise InputError(f"{path}, line 1 ends with a carriage return; convert the file with dos2unix")
        repaired += bool(REPAIRED.search(text))
        yield text
    if number == 0:
        raise InputError(f"{path} is empty, which it is not in the release; get it again")
    if repaired:
        logger.info("%s: lines with control characters, which become spaces: %d", path.name, repaired)


def read(path: Path) -> Iterator[bytes]:
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            yield from file
    except FileNotFoundError:
        raise no_file(path) from None
    except IsADirectoryError:
        raise InputError(f"{path} is a folder; name a file of the release") from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"{path} cannot be unpacked ({error}); get the release again") from None


def index_files(release: Path) -> dict[str, list[Path]]:
    """The files in and below a folder by their name without `.gz`; a plain one hides a packed one beside
    it.
    """
    if not release.is_dir():
        raise InputError(f"{release} is not a folder; give the one that holds the release")
    index: dict[str, dict[Path, Path]] = {}
    for file in sorted(release.rglob("*"), reverse=True):  # so that the plain file follows the packed one
        if file.is_file():
            index.setdefault(file.name.removesuffix(".gz"), {})[file.parent] = file
    return {name: [*files.values()][::-1] for name, files in index.items()}


def look_up(index: dict[str, list[Path]], name: str) -> Path | None:
    files = index.get(name)
    if files is None:
        return None
    for other in files[1:]:
        if not filecmp.cmp(files[0], other, shallow=False):
            raise InputError(f"{files[0]} and {other} differ; give a folder that holds one release")
    return files[0]
