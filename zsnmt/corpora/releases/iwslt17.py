"""The multilingual TED talks of IWSLT 2017 (German, English, Italian, Dutch, Romanian) as parallel text.

The release names a pair in both orders, `de-en` and `en-de`; of two that are there, the one that ends in the
pivot is read (dev2010 and tst2010 are the same in both). Every pair is cut into lines on its own: no set is
multiway, and pairs have the more talks in common the older these are.

The conditions of training text:

* `diverse`: each pair has the lines of its files, or a number of them, drawn for each pair alone. Of three
  pairs with 145,000 of 230,000 lines, at best two in five English sentences of one are in both others.
* `multiway`: each pair has the same English sentences, of those that all of them have, or a number of them,
  in one order: line n is the same sentence in all. Where a pair has several lines of one it has the first.

Liu et al. (2021) have 145 thousand sentences in each of three pairs, of the collection MMCR4NLP, which is
multiway. How those were chosen is not published: the rule here is this project's. Under `multiway`, and where
a number of lines is asked for, lines with a sentence of `valid` or `test` on either side are left out first,
as in `zsnmt.corpora.overlap`, so that none is missing later and pairs stay alike.
"""

import logging
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, combinations, zip_longest
from pathlib import Path
from xml.etree import ElementTree
from xml.sax.saxutils import unescape

from tqdm import tqdm

from zsnmt.corpora.overlap import normalised_sentences, without_sentences
from zsnmt.corpora.parallel_text import SPLITS, write_rows
from zsnmt.corpora.releases.release import (
    MissingFiles,
    clean_rows,
    clean_sentence,
    count_pairs,
    find_files,
    open_lines,
    warn_of_fewer,
)
from zsnmt.errors import InputError
from zsnmt.languages import check_languages

TRAINING = "train.tags.{}.{}"
VALID = "IWSLT17.TED.dev2010.{}.{}.xml"
TEST = "IWSLT17.TED.tst2017.mltlng.{}.{}.xml"
OLDER_TEST = "IWSLT17.TED.tst2010.{}.{}.xml"

CONDITIONS = DIVERSE, MULTIWAY = "diverse", "multiway"

METADATA = re.compile(r"</?(?:url|keywords|speaker|talkid|title|description|reviewer|translator|doc)\b")
FURTHER_ENTITIES = {"&quot;": '"', "&apos;": "'"}

Row = tuple[str, ...]  # a sentence of each language of a pair

logger = logging.getLogger(__name__)


def read_release(
    release: Path,
    target: Path,
    languages: Sequence[str],
    condition: str = DIVERSE,
    pairs: int | None = None,
    seed: int = 1,
) -> dict[str, dict[str, int]]:
    """Write parallel text from the release into `target`; returns sentence pairs by split and pair.

    `languages`: the pivot first. Training text is that of the pairs with the pivot, under a condition, at
    most `pairs` lines of each, which are drawn by the seed; `valid` (dev2010) and `test` are those of every
    pair. `test` is tst2017 (as in Liu et al. 2021) where the release has it for every pair, otherwise
    tst2010, of which the log warns. Raises InputError for files that are missing, that are not parallel, or
    not in the form of the release, and where no sentence is in all pairs.
    """
    if condition not in CONDITIONS:
        raise InputError(f"unknown condition '{condition}': it must be one of {', '.join(CONDITIONS)}")
    if pairs is not None and pairs < 1:
        raise InputError(f"{pairs} sentence pairs are too few to train on; give 1 or more")
    pivot, *others = check_languages(languages)
    supervised = [(language, pivot) for language in others]
    every = supervised + [*combinations(others, 2)]
    files = {
        "train": find_files(release, [both_orders(TRAINING, pair) for pair in supervised], "iwslt17"),
        "valid": find_files(release, [both_orders(VALID, pair) for pair in every], "iwslt17"),
        "test": find_test_files(release, every),
    }

    def read(
        split: str, reader: Callable, pairs: Sequence[tuple[str, str]]
    ) -> Iterator[tuple[str, list[Row]]]:
        """Name and rows of each pair's text."""
        for pair, sides in zip(pairs, tqdm(files[split], desc=split, disable=None, leave=False), strict=True):
            name = f"{split}.{'-'.join(pair)}"
            yield name, clean_rows(reader(*sides), name)

    held_out = {name: rows for split in SPLITS[1:] for name, rows in read(split, read_segments, every)}
    training = read("train", read_tagged, supervised)
    if condition == MULTIWAY or pairs is not None:
        seen = normalised_sentences(chain(*held_out.values()))
        training = choose_training(
            {name: without_sentences(rows, seen) for name, rows in training}, condition, pairs, seed=seed
        )
    for name, rows in chain(training, held_out.items()):
        write_rows(target, name, name.partition(".")[2].split("-"), rows=rows)
    counts = count_pairs(target, languages)
    warn_of_fewer(counts["train"], pairs)
    return counts


def choose_training(
    text: Mapping[str, Sequence[Row]], condition: str, number: int | None, seed: int
) -> Iterator[tuple[str, list[Row]]]:
    """The rows of each pair to train on, the pivot's sentence last: under a condition, at most a `number`."""
    if condition == DIVERSE:
        for name, rows in text.items():
            yield name, [*draw(rows, number, seed=f"{seed} {name}")]
        return
    first = {name: {row[1]: row for row in reversed(rows)} for name, rows in text.items()}
    common = sorted(set.intersection(*map(set, first.values())))
    if not common:
        raise InputError(f"no English sentence is in all of {', '.join(text)}; take the condition {DIVERSE}")
    chosen = {*draw(common, number, seed=seed)}
    in_order = dict.fromkeys(row[1] for row in next(iter(text.values())) if row[1] in chosen)
    for name in text:
        yield name, [first[name][sentence] for sentence in in_order]


def draw(things: Sequence, number: int | None, seed: int | str) -> Sequence:
    """A number of things, in their order; all of them where they are no more."""
    if number is None or number >= len(things):
        return things
    return [things[place] for place in sorted(random.Random(seed).sample(range(len(things)), number))]


def both_orders(form: str, pair: tuple[str, str]) -> list[list[str]]:
    """The names of a pair's two files in the order of the pair, and in the other."""
    return [[form.format("-".join(order), side) for side in pair] for order in (pair, pair[::-1])]


def file_names(form: str, pair: tuple[str, str]) -> list[str]:
    """The names of a pair's two files, each in the order in which it is the source."""
    return [form.format("-".join(order), order[0]) for order in (pair, pair[::-1])]


def find_test_files(release: Path, pairs: Sequence[tuple[str, str]]) -> list[list[Path]]:
    """The files of tst2017, of which only sources were released, for all pairs; else those of tst2010."""
    try:
        return find_files(
            release, [[file_names(TEST, pair), *both_orders(TEST, pair)] for pair in pairs], "iwslt17"
        )
    except MissingFiles as error:
        files = find_files(release, [both_orders(OLDER_TEST, pair) for pair in pairs], "iwslt17")
        logger.warning("the test sets are tst2010, not tst2017: %s", error)
        return files


def read_tagged(source: Path, target: Path) -> Iterator[tuple[str, str]]:
    """The sentence pairs of two `train.tags` files: the lines without those that tell about a talk.

    Raises InputError unless such lines stand at the same places in both.
    """
    lines = [map(clean_sentence, open_lines(path)) for path in (source, target)]
    for number, sides in enumerate(zip_longest(*lines), start=1):
        if None in sides:
            short, long = (source, target) if sides[0] is None else (target, source)
            raise InputError(f"{short} ends before line {number} of {long}; get the release again")
        about_talk = [bool(METADATA.match(side)) for side in sides]
        if about_talk[0] != about_talk[1]:
            raise InputError(
                f"{source} and {target} are not parallel at line {number}: one has a sentence there "
                f"and the other tells about a talk; get the release again"
            )
        if not about_talk[0]:
            first, second = (unescape(side, FURTHER_ENTITIES) for side in sides)
            yield first, second


def read_segments(source: Path, target: Path) -> list[tuple[str, str]]:
    """The sentence pairs of two XML files; raises InputError unless they have the same segments of the
    same talks.
    """
    sides = [parse_segments(path) for path in (source, target)]
    for first, second in zip_longest(*sides):
        if first != second:
            talk, segment = first or second
            raise InputError(
                f"{source} and {target} part at segment {segment} of talk {talk}; get the release again"
            )
    return [*zip(*(segments.values() for segments in sides))]


def parse_segments(path: Path) -> dict[tuple[str | None, str | None], str]:
    """The text of an XML file's segments by talk and number, in their order.

    Raises InputError for a file that declares a document type or entities, which no file of the release does.
    """
    lines = [clean_sentence(line) for line in open_lines(path)]
    for number, line in enumerate(lines, start=1):
        if "<!DOCTYPE" in line or "<!ENTITY" in line:
            raise InputError(
                f"{path}, line {number} defines a document type or an entity, which is not read; "
                f"get the release again"
            )
    try:
        root = ElementTree.fromstring("\n".join(lines))
    except ElementTree.ParseError as error:
        raise InputError(
            f"{path}, line {error.position[0]} is not XML ({error.msg.split(':')[0]}); get the release "
            f"again, or write a stray & as &amp;"
        ) from None
    segments = {}
    for talk in root.iter("doc"):
        for segment in talk.iter("seg"):
            key = talk.get("docid"), segment.get("id")
            if key in segments:
                raise InputError(f"{path} has segment {key[1]} of talk {key[0]} twice; get the release again")
            segments[key] = "".join(segment.itertext())
    return segments
