"""Corpora that the index of mtdata (Gowda et al. 2021) knows, hundreds of thousands: OPUS, WMT and others.

An ID such as `Statmt-news_commentary-16-deu-eng` names group, corpus, version and languages. mtdata downloads
into its own cache (`~/.mtdata`, or the folder that the variable MTDATA names) and reads what it finds there.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any

from zsnmt.corpora.own_text.held_out import hold_out
from zsnmt.corpora.own_text.languages import choose_languages
from zsnmt.corpora.own_text.rewriting import write_parallel_text
from zsnmt.corpora.own_text.table import Row, Table
from zsnmt.corpora.parallel_text import SPLITS, check_corpus, pairs_of_split
from zsnmt.corpora.releases.release import clean_sentence
from zsnmt.errors import InputError
from zsnmt.files.records import write_json
from zsnmt.files.replacing import new_folder

RECORD = "sources.json"
NEAR = 5  # IDs that are offered in place of one that is unknown


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
    an unknown ID, and for what cannot be downloaded or read.
    """
    load_index()
    entries = {split: [find_entry(name) for name in of_split] for split, of_split in names.items()}
    tables = [table_of(entry, split) for split in SPLITS for entry in entries.get(split, ())]
    chosen = choose_languages(tables, languages)
    with new_folder(target) as part:
        write_parallel_text(tables, part, chosen)
        if held_out:
            hold_out(part, chosen, held_out)
        write_json(part / RECORD, describe(entries))
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
    return INDEX


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
    """The sentence pairs of a corpus, which is downloaded unless mtdata has it."""
    import mtdata
    from mtdata.cache import Cache

    with faults_of(str(entry.did)):
        paths = Cache(mtdata.cache_dir).get_entry(entry)
    languages = tuple(map(code_of, entry.did.langs))
    if len({*languages}) < 2:
        raise InputError(
            f"{entry.did} is text in {languages[0]} alone, without its regions; name another corpus"
        )
    return Table(split, languages, files=(), rows=partial(rows_of, entry, paths))


def code_of(tag: Any) -> str:
    """The code of a language as zsnmt has it: two letters where there are two, with the script where that is
    not the usual one, and without region.
    """
    from mtdata.iso.bcp47 import bcp47

    two_letters, _ = bcp47.languages[tag.lang]
    code = two_letters or tag.lang
    return f"{code}_{tag.script}" if tag.script else code


def rows_of(entry: Any, paths: Any) -> Iterator[Row]:
    """The sentence pairs of a corpus, made to fit parallel text; one with an empty side is empty."""
    from mtdata.parser import Parser

    with faults_of(str(entry.did)):
        for segments in Parser(paths, ext=entry.in_ext or None, ent=entry).read_segs(show_pbar=False):
            yield tuple(clean_sentence(segment or "") for segment in segments[:2])


@contextmanager
def faults_of(name: str) -> Iterator[None]:
    """Turns whatever goes wrong within mtdata into an `InputError`."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        raise InputError(
            f"{name} could not be fetched ({type(error).__name__}: {error}); see whether the network and the "
            "corpus are there, and try again: what is downloaded already stays"
        ) from error


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
