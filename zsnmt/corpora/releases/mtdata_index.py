"""Corpora that the index of mtdata (Gowda et al. 2021) knows, hundreds of thousands: OPUS, WMT and others.

An ID such as `Statmt-news_commentary-16-deu-eng` names group, corpus, version and languages. mtdata downloads
into its own cache (`~/.mtdata`, or the folder that the variable MTDATA names) and reads what it finds there.
"""

import bz2
import gzip
import logging
import lzma
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any

from zsnmt.corpora.own_text.held_out import hold_out
from zsnmt.corpora.own_text.languages import choose_languages, pairs_of
from zsnmt.corpora.own_text.rewriting import write_parallel_text
from zsnmt.corpora.own_text.table import Row, Table
from zsnmt.corpora.parallel_text import SPLITS, check_corpus, pairs_of_split
from zsnmt.corpora.releases.release import clean_sentence
from zsnmt.errors import InputError, OnFault, refuse
from zsnmt.files.records import write_json
from zsnmt.files.replacing import new_folder
from zsnmt.text.lines import is_blank

logger = logging.getLogger(__name__)

RECORD_FILE = "sources.json"
NEAR = 5  # IDs that are offered in place of one that is unknown
NOT_UTF8 = "\ufffd"  # which mtdata puts in the place of bytes that are not
MOST_NOT_UTF8 = 0.1  # of the rows of a corpus


def fetch_indexed(
    names: Mapping[str, Sequence[str]],
    target: Path,
    languages: Sequence[str] = (),
    held_out: int | None = None,
) -> dict[str, dict[str, int]]:
    """Write the corpora of these IDs, by split, into a new folder of parallel text; returns the sentence
    pairs by split and pair.

    Corpora of a pair follow one another. `languages`: the pivot first, all unless given. Pairs without a
    validation or test set get ones of at most `held_out` sentence pairs from their training text, if that is
    given. `sources.json` says where the text is from. Raises `InputError` where mtdata is not installed, for
    an unknown ID, one that is named twice or has no text in two of the languages, and for what cannot be
    downloaded or read.
    """
    load_index()
    refuse_repeated([name for of_split in names.values() for name in of_split])
    entries = {split: [find_entry(name) for name in of_split] for split, of_split in names.items()}
    tables = {entry.did: table_of(entry, split) for split in SPLITS for entry in entries.get(split, ())}
    chosen = choose_languages(tables.values(), languages)
    if useless := [name for name, table in tables.items() if not pairs_of(table, chosen)]:
        raise InputError(
            f"{useless[0]} has no text in two of {', '.join(chosen)}; leave it out, or name its "
            "languages, too"
        )
    with new_folder(target) as part:
        write_parallel_text([*tables.values()], part, chosen)
        if held_out:
            hold_out(part, chosen, held_out)
        write_json(part / RECORD_FILE, describe(entries))
        pairs = {split: pairs_of_split(part, split, chosen) for split in SPLITS}
        return {
            split: check_corpus(part, of_split, [split])[split]
            for split, of_split in pairs.items()
            if of_split
        }


def load_index() -> Any:
    """All corpora that mtdata knows; the first time they are listed, which takes a while."""
    logging.basicConfig(format="%(message)s")  # else mtdata has everything logged that it does
    try:
        import mtdata
    except ImportError:
        raise InputError(
            "corpora of this kind are fetched by mtdata, which is not installed; run pip install "
            "'zsnmt[corpora]'"
        ) from None
    if not mtdata.cached_index_file.exists():
        logging.getLogger(__name__).warning("mtdata lists its corpora in %s, once", mtdata.cache_dir)
        mtdata.cache_dir.mkdir(parents=True, exist_ok=True)
    with faults_of("the index of mtdata"):
        from mtdata.index import INDEX
        from mtdata.utils import COMPRESSORS
    # Its own openers end a line at a carriage return, too, so that the sentences of two files part company.
    openers: dict[str, Callable] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
    COMPRESSORS.update({suffix: partial(opener, newline="\n") for suffix, opener in openers.items()})
    return INDEX


def refuse_repeated(names: Sequence[str]) -> None:
    """`InputError` for an ID that is named twice."""
    if repeated := [name for name, number in Counter(names).items() if number > 1]:
        raise InputError(f"{repeated[0]} is named twice; name each corpus once, as the text of one set")


def find_entry(name: str) -> Any:
    """The entry of an ID; `InputError` for text in one language, and for an unknown ID, with near ones."""
    from mtdata.entry import DatasetId
    from mtdata.index import INDEX

    try:
        entry = INDEX[DatasetId.parse(name)]
    except Exception:  # of several kinds: for what is not an ID, for a language, for an ID that is not there
        near = near_names(name)
        offered = (
            f"near it are {', '.join(near)}" if near else "mtdata list -l deu-eng -id shows those of a pair"
        )
        raise InputError(f"mtdata knows no corpus '{name}'; {offered}") from None
    if len(entry.did.langs) != 2:
        raise InputError(f"{name} is text in {len(entry.did.langs)} language, and parallel text has two")
    return entry


def near_names(name: str) -> list[str]:
    """IDs like one that is unknown: of the same languages, or of the same corpus."""
    from mtdata.index import INDEX

    words = name.split("-")
    known = [str(each) for each in INDEX.entries if len(each.langs) == 2]
    alike = [each for each in known if {*each.split("-")[-2:]} == {*words[-2:]}]
    alike = alike or [each for each in known if each.split("-")[1] in words]
    return get_close_matches(name, alike, n=NEAR, cutoff=0.5)


def table_of(entry: Any, split: str) -> Table:
    """The sentence pairs of a corpus, which is downloaded when they are read, unless mtdata has it."""
    languages = tuple(map(code_of, entry.did.langs))
    if len({*languages}) < 2:
        raise InputError(
            f"{entry.did} is text in {languages[0]} alone, without its regions; name another corpus"
        )
    return Table(split, languages, files=(), rows=partial(rows_of, entry))


def code_of(tag: Any) -> str:
    """The code of a language as zsnmt has it: two letters where there are two, with the script where that is
    not the usual one, and without region.
    """
    from mtdata.iso.bcp47 import bcp47

    two_letters, _ = bcp47.languages[tag.lang]
    code = two_letters or tag.lang
    return f"{code}_{tag.script}" if tag.script else code


def rows_of(entry: Any, on_fault: OnFault = refuse) -> Iterator[Row]:
    """The sentence pairs of a corpus, made to fit parallel text. Those without one of their sentences, or not
    in UTF-8, are left out and counted.

    Raises `InputError` for a corpus of which nothing is left, or of which much is not in UTF-8.
    """
    counts: Counter[str] = Counter()
    for row in read_rows(entry):
        counts["rows"] += 1
        if len(row) < 2 or any(map(is_blank, row)):
            counts["without a sentence"] += 1
        elif any(NOT_UTF8 in sentence for sentence in row):
            counts["not in UTF-8"] += 1
        else:
            yield row
    rows, *left_out = (counts[name] for name in ("rows", "without a sentence", "not in UTF-8"))
    if left_out[1] > MOST_NOT_UTF8 * rows:
        on_fault(
            InputError(
                f"{entry.did}: {left_out[1]} of {rows} sentence pairs are not in UTF-8, so the corpus is in "
                "another encoding; leave it out, or convert its files and train on them as text of your own"
            )
        )
    if rows == sum(left_out):
        on_fault(InputError(f"{entry.did} has no sentence pair; leave it out"))
    if any(left_out):
        logger.warning(
            "%s: left out of %d sentence pairs: %d without one of the sentences, %d not in UTF-8",
            *(entry.did, rows, *left_out),
        )


def read_rows(entry: Any) -> Iterator[Row]:
    """All sentences of a corpus as mtdata reads them, cleaned; downloads it unless mtdata has it."""
    import mtdata
    from mtdata.cache import Cache
    from mtdata.parser import Parser

    with faults_of(str(entry.did)):
        paths = Cache(mtdata.cache_dir).get_entry(entry)
    remedy = f"remove its files from {mtdata.cache_dir}, and fetch it again, or leave it out"
    with faults_of(str(entry.did), "read", remedy):
        parser = Parser(paths, ext=entry.in_ext or None, ent=entry)
        parser.read_tsv = rows_of_tsv  # in place of its own, for which a short row is a fault of its program
        for segments in parser.read_segs(show_pbar=False):
            yield tuple(clean_sentence(segment or "") for segment in segments[:2])


def rows_of_tsv(path: Any, cols: Sequence[int] = (0, 1), **_: object) -> Iterator[list[str]]:
    """The fields of some columns in each row of a file, empty where a row is too short."""
    from mtdata.utils import IO

    with IO.reader(path) as lines:
        for line in lines:
            fields = line.rstrip("\r\n").split("\t")
            yield [fields[column] if column < len(fields) else "" for column in cols]


@contextmanager
def faults_of(
    name: str,
    what: str = "fetched",
    remedy: str = "see whether the network and the corpus are there, and try again: what is downloaded "
    "already stays",
) -> Iterator[None]:
    """Turns whatever goes wrong within mtdata into an `InputError`."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"{name} could not be {what} ({type(error).__name__}: {error}); {remedy}") from error


def describe(entries: Mapping[str, Sequence[Any]]) -> dict:
    """What `sources.json` says: the version of mtdata, where each corpus is from, and what to cite."""
    import mtdata
    from mtdata.index import INDEX

    return {
        "mtdata": mtdata.__version__,
        **{
            split: {
                str(entry.did): {
                    "url": entry.url,
                    "cite": [INDEX.ref_db.get_bibtex(key) for key in entry.cite or ()],
                }
                for entry in of_split
            }
            for split, of_split in entries.items()
            if of_split
        },
    }
