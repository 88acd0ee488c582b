"""Corpora that mtdata's index knows: a small index and a server here, no network."""

import gzip
import json
import logging
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.corpora.releases.test_unpack import zipped
from tests.support.file_server import FileServer, Served
from zsnmt.cli import run
from zsnmt.console import WrongUse
from zsnmt.corpora.parallel_text import find_pair
from zsnmt.errors import InputError
from zsnmt.text.lines import read_lines

ENGLISH = [f"Sentence {number} of the news." for number in range(100)]
GERMAN = [f"Satz {number} der Nachrichten." for number in range(100)]
NEWS = "\n".join(map("\t".join, zip(GERMAN, ENGLISH))) + "\nleer\t\nZeile\u0085mit Zeichen\tA\u2028line\n"
# A carriage return within a sentence of either side, short and long rows, and another encoding.
RETURNS = {"de": "A\rx\nB\nC\n", "en": "a\nb\nc\ry\n"}
ROWS = "eins\tone\tmore\nnur eine Spalte\nzwei\rmehr\ttwo\n"
BEYOND_UTF8 = ["caf\xe9\tcoffee", *(f"Satz {number}\tSentence {number}" for number in range(20))]
TALKS = {"talks.en-de.en": b"A talk.\n", "talks.en-de.de": "Ein Vortrag über.\n".encode()}
FILES = {
    "news.de-en.tsv.gz": gzip.compress(NEWS.encode()),
    "talks.zip": zipped(TALKS),
    **{f"returns.{side}.gz": gzip.compress(text.encode()) for side, text in RETURNS.items()},
    "rows.tsv.gz": gzip.compress(ROWS.encode()),
    "few.tsv": "\n".join(BEYOND_UTF8).encode("latin-1"),
    "many.tsv": "\n".join(BEYOND_UTF8[:5]).encode("latin-1"),
    "blank.tsv": b"a\t\nb\n",
    "damaged.tsv.gz": gzip.compress(ROWS.encode())[:20],
}
NEWS_ID, TALKS_ID = "mtdata:Made-news-1-deu-eng", "mtdata:Made-talks-2-eng-deu"


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    """mtdata with an index of a few corpora, which a server here has but for one."""
    mtdata = pytest.importorskip("mtdata", reason="mtdata is not installed: pip install 'zsnmt[corpora]'")
    server = FileServer()
    server.files = {name: Served(body) for name, body in FILES.items()}
    root = logging.getLogger()
    before, handlers = {name for name in sys.modules if name.startswith("mtdata")}, root.handlers[:]
    with pytest.MonkeyPatch.context() as patch:
        cache = tmp_path_factory.mktemp("mtdata")
        patch.setattr(mtdata, "cache_dir", cache)
        patch.setattr(mtdata, "cached_index_file", cache / "index.pkl")
        package = Path(mtdata.__file__).parent
        for file in (package / "index").rglob("*.py"):  # that list the corpora which there are
            name = ".".join(["mtdata", *file.relative_to(package).with_suffix("").parts])
            if name != "mtdata.index.__init__":
                patch.setitem(sys.modules, name, ModuleType(name))
        sys.modules["mtdata.index.statmt"].load_all = lambda index: add_entries(index, server.url)
        yield
    for name in {name for name in sys.modules if name.startswith("mtdata")} - before:
        del sys.modules[name]
    root.handlers[:] = handlers
    server.shutdown()


def add_entries(index, url: str) -> None:
    from mtdata.entry import DatasetId, Entry

    def add(name: str, version: str, languages: tuple[str, ...], file: str, **settings) -> None:
        id = DatasetId(group="Made", name=name, version=version, langs=languages)
        index.add_entry(Entry(did=id, url=f"{url}/{file}", **settings))

    cite = ("kocmi-etal-2023-findings",)
    add("news", "1", ("deu", "eng"), "news.de-en.tsv.gz", cite=cite)
    add("talks", "2", ("eng", "deu"), "talks.zip", in_paths=["*.en", "*.de"], in_ext="txt")
    add("talks", "2", ("eng", "srp_Latn"), "talks.zip", in_paths=["*.en", "*.de"], in_ext="txt")
    add("gone", "1", ("deu", "eng"), "gone.tsv")
    add("mono", "1", ("deu",), "mono.txt")
    for file in ("rows.tsv.gz", "few.tsv", "many.tsv", "blank.tsv", "damaged.tsv.gz"):
        add(file.split(".")[0], "1", ("deu", "eng"), file)
    sides = (f"{url}/returns.de.gz", f"{url}/returns.en.gz")
    index.add_entry(
        Entry(did=DatasetId("Made", "returns", "1", ("deu", "eng")), url=sides, ext="txt.gz", in_ext="txt")
    )


def fetch(*words: object) -> None:
    run(["fetch", *map(str, words)])


def test_corpora_of_a_pair_become_one_folder_of_parallel_text(index, tmp_path, capsys):
    target = tmp_path / "text"
    fetch(NEWS_ID, TALKS_ID, "--to", target, "--held-out", 4)
    printed = capsys.readouterr()
    counts = dict(line.rsplit("\t", 1) for line in printed.out.splitlines())
    assert counts == {"train\ten-de": "94", "valid\ten-de": "4", "test\ten-de": "4"}
    german, english = (
        [line for split in ("train", "valid", "test") for line in sorted(read_lines(file[split]))]
        for file in (
            {split: find_pair(target, split, "de", "en")[side] for split in ("train", "valid", "test")}
            for side in (0, 1)
        )
    )
    assert sorted(german) == sorted([*GERMAN, "Zeile mit Zeichen", "Ein Vortrag über."])
    assert sorted(english) == sorted([*ENGLISH, "A line", "A talk."])
    german, english = map(read_lines, find_pair(target, "train", "de", "en"))
    assert (german[-1], english[-1]) == ("Ein Vortrag über.", "A talk.")
    record = json.loads((target / "sources.json").read_text())
    source = record["train"]["Made-news-1-deu-eng"]
    assert source["url"].endswith("news.de-en.tsv.gz") and "@" in source["cite"][0]
    assert "sources.json says where each corpus is from" in printed.err


def test_a_corpus_may_be_a_test_set_and_a_language_keeps_its_unusual_script(index, tmp_path, capsys):
    fetch(NEWS_ID, "--test", "Made-talks-2-eng-deu", "--to", tmp_path / "news")
    assert read_lines(find_pair(tmp_path / "news", "test", "de", "en")[0]) == ["Ein Vortrag über."]
    assert not [*(tmp_path / "news").glob("valid.*")]
    fetch("mtdata:Made-talks-2-eng-srp_Latn", "--to", tmp_path / "talks")
    assert capsys.readouterr().out.endswith("train\ten-sr_Latn\t1\n")


@pytest.mark.parametrize(
    "id, message",
    [
        ("Made-news-2-deu-eng", "knows no corpus 'Made-news-2-deu-eng'; near it are Made-news-1-deu-eng"),
        ("Made-talk-2-deu-eng", "near it are .*Made-talks-2-eng-deu"),
        ("Made-news-1-xxx-yyy", "near it are Made-news-1-deu-eng"),
        ("nothing", "knows no corpus 'nothing'; mtdata list -l deu-eng -id shows"),
        ("Made-mono-1-deu", "is text in 1 language, and parallel text has two"),
        ("Made-gone-1-deu-eng", "Made-gone-1-deu-eng could not be fetched .*404"),
    ],
)
def test_what_is_not_there_gets_one_sentence(index, tmp_path, id, message):
    with pytest.raises(InputError, match=message):
        fetch(f"mtdata:{id}", "--to", tmp_path / "text")
    assert not (tmp_path / "text").exists()


@pytest.mark.parametrize(
    "name, german, english, said",
    [
        ("returns", ["A x", "B", "C"], ["a", "b", "c y"], None),
        ("rows", ["eins", "zwei mehr"], ["one", "two"], "left out of 3 sentence pairs: 1 without one of the"),
        ("few", *zip(*(row.split("\t") for row in BEYOND_UTF8[1:])), "0 without one of .* 1 not in UTF-8"),
    ],
)
def test_lines_stay_beside_each_other_and_what_is_left_out_is_counted(
    index, tmp_path, caplog, name, german, english, said
):
    fetch(f"mtdata:Made-{name}-1-deu-eng", "--to", tmp_path / "text")
    sides = [*map(read_lines, find_pair(tmp_path / "text", "train", "de", "en"))]
    assert sides == [[*german], [*english]]
    assert not said or re.search(said, caplog.text)


@pytest.mark.parametrize(
    "words, message",
    [
        (["Made-many-1-deu-eng"], "Made-many-1-deu-eng: 1 of 5 sentence pairs are not in UTF-8"),
        (["Made-blank-1-deu-eng"], "Made-blank-1-deu-eng has no sentence pair; leave it out"),
        (["Made-damaged-1-deu-eng"], "Made-damaged-1-deu-eng could not be read .*EOF.*; remove its files"),
        (["Made-news-1-deu-eng"] * 2, "Made-news-1-deu-eng is named twice"),
        (["Made-news-1-deu-eng", "--test", "Made-news-1-deu-eng"], "is named twice"),
        (
            ["Made-news-1-deu-eng", "mtdata:Made-talks-2-eng-srp_Latn", "--languages", "en", "de"],
            "Made-talks-2-eng-srp_Latn has no text in two of en, de; leave it out",
        ),
    ],
)
def test_text_that_cannot_be_used_leaves_nothing(index, tmp_path, words, message):
    first, *more = words
    more = [f"mtdata:{word}" if word == first and "--test" not in more else word for word in more]
    with pytest.raises(InputError, match=message):
        fetch(f"mtdata:{first}", *more, "--to", tmp_path / "text")
    assert not (tmp_path / "text").exists()


def test_nothing_is_downloaded_into_a_folder_that_is_there(index, tmp_path, monkeypatch):
    monkeypatch.setattr("mtdata.cache.Cache.get_entry", None)
    (tmp_path / "text").mkdir()
    with pytest.raises(InputError, match="text is there already"):
        fetch(NEWS_ID, "--to", tmp_path / "text")
    with pytest.raises(InputError, match="there is no training text for fr"):
        fetch(NEWS_ID, "--to", tmp_path / "other", "--languages", "en", "fr")


def test_without_mtdata_it_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "mtdata", None)
    with pytest.raises(InputError, match=r"not installed; run pip install 'zsnmt\[corpora\]'"):
        fetch(NEWS_ID, "--to", tmp_path)


@pytest.mark.parametrize(
    "words, message",
    [
        (["opus"], "invalid choice: 'opus' .*or write mtdata:ID"),
        (["iwslt17", "europarl"], "one corpus is fetched at a time, not iwslt17 and europarl"),
        (["iwslt17", NEWS_ID], "iwslt17 is not an ID; fetch it alone"),
        (
            ["iwslt17", "--held-out", "3", "--test", "x"],
            "--test, --held-out belongs to corpora that are named",
        ),
        ([NEWS_ID, "--held-out", "-5"], "--held-out: '-5' is not a whole number above 0"),
        ([NEWS_ID, "--mirror", "http://x"], "--mirror belongs to a corpus that is named without an ID"),
    ],
)
def test_wrong_words_get_one_sentence(tmp_path, words, message):
    with pytest.raises(WrongUse, match=message):
        fetch(*words, "--to", tmp_path)
