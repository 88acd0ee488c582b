"""The export of Tatoeba, in small: which sentences become training, validation and test text."""

import bz2
import logging
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest

from tests.support.file_server import FileServer, Served
from zsnmt.corpora.overlap import normalise
from zsnmt.corpora.parallel_text import FEWEST_TO_TEST
from zsnmt.corpora.releases.catalogue import CATALOGUE, TATOEBA
from zsnmt.corpora.releases.fetch import ReleaseFile, fetch, for_languages
from zsnmt.corpora.releases.tatoeba import read_release
from zsnmt.corpora.releases.unpack import unpack
from zsnmt.errors import InputError
from zsnmt.text.iso_639 import THREE_LETTERS, three_letters
from zsnmt.text.lines import read_lines

LANGUAGES = ["en", "pt", "ru", "da"]
SENTENCES = {"en": range(900), "pt": range(1000, 1900), "ru": range(2000, 2900), "da": range(3000, 3900)}
LINKS = {  # of sentences n of both languages, counted from the first of each
    ("en", "pt"): range(400),
    ("en", "ru"): range(350, 800),
    ("en", "da"): range(500, 900),
    ("pt", "ru"): range(100, 350),
    ("pt", "da"): range(FEWEST_TO_TEST - 1),
    ("da", "ru"): range(400, 400 + FEWEST_TO_TEST),
}
SIZES = {"test": 40, "valid": 30}


def sentence(language: str, number: int) -> str:
    return f"{language} says {number}."


def write(path: Path, lines: list[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


@pytest.fixture
def release(tmp_path) -> Path:
    folder = tmp_path / "release"
    folder.mkdir()
    for language, numbers in SENTENCES.items():
        code = three_letters(language)
        lines = [f"{number}\t{code}\t{sentence(language, number)}" for number in numbers]
        write(folder / f"{code}_sentences.tsv", lines)
    for (one, other), numbers in LINKS.items():
        codes = three_letters(one), three_letters(other)
        starts = SENTENCES[one].start, SENTENCES[other].start
        lines = ["\t".join(str(start + number) for start in starts) for number in numbers]
        write(folder / f"{'-'.join(codes)}_links.tsv", [*lines, "7777777\t8888888", lines[0]])
    return folder


def read(release: Path, name: str = "text", languages=LANGUAGES, **settings):
    folder = release.parent / name
    folder.mkdir()
    return folder, read_release(release, folder, languages, **{**SIZES, **settings})


def rows(folder: Path, split: str, one: str, other: str) -> list[tuple[str, str]]:
    name = f"{split}.{one}-{other}"
    return [*zip(read_lines(folder / f"{name}.{one}"), read_lines(folder / f"{name}.{other}"), strict=True)]


def test_pairs_with_the_pivot_are_trained_and_all_others_tested(release, caplog):
    text, counts = read(release)
    assert [*counts["train"]] == [*counts["valid"]] == ["pt-en", "ru-en", "da-en"]
    assert [*counts["test"]] == ["pt-en", "ru-en", "da-en", "pt-ru", "ru-da"]
    assert {*counts["test"].values()} == {SIZES["test"]} and {*counts["valid"].values()} == {SIZES["valid"]}
    assert (
        f"pt-da has {FEWEST_TO_TEST - 1} sentence pairs, fewer than {FEWEST_TO_TEST}: it is not tested"
        in caplog.text
    )
    starts = {language: numbers.start for language, numbers in SENTENCES.items()}
    for split, pairs in counts.items():
        for pair in pairs:
            one, other = pair.split("-")
            for left, right in rows(text, split, one, other):
                numbers = [int(side.split()[-1].strip(".")) for side in (left, right)]
                assert (left, right) == (sentence(one, numbers[0]), sentence(other, numbers[1]))
                number = numbers[0] - starts[one]
                links = LINKS.get((one, other)) or LINKS[other, one]
                assert number == numbers[1] - starts[other] and number in links


def test_no_sentence_is_in_two_splits(release):
    text, counts = read(release)
    seen = {
        split: {
            normalise(side) for pair in pairs for row in rows(text, split, *pair.split("-")) for side in row
        }
        for split, pairs in counts.items()
    }
    for one, other in combinations(seen, 2):
        assert seen[one] and not seen[one] & seen[other]


def test_what_is_left_out_is_counted(release, caplog):
    caplog.set_level(logging.INFO, "zsnmt.corpora")
    _, counts = read(release)
    for (one, other), numbers in LINKS.items():
        if one == "en":
            left_out = len(numbers) - sum(counts[split][f"{other}-en"] for split in counts)
            logged = [
                int(record.message.rsplit(" ", 1)[1])
                for record in caplog.records
                if record.message.startswith(f"{other}-en: pairs with a sentence of a ")
            ]
            assert len(logged) == 2 and sum(logged) == left_out


def test_the_draw_follows_from_seed_and_pair_not_from_the_order_of_languages(release):
    one, counts = read(release)
    other, _ = read(release, "other", ["en", "da", "ru", "pt"])
    third, _ = read(release, "third", seed=2)
    for split in counts:
        for pair in counts[split]:
            first, second = pair.split("-")
            name = pair if (other / f"{split}.{pair}.{first}").exists() else f"{second}-{first}"
            for side in (first, second):
                lines = read_lines(one / f"{split}.{pair}.{side}")
                assert lines == read_lines(other / f"{split}.{name}.{side}")
                assert lines != read_lines(third / f"{split}.{pair}.{side}")


def test_links_of_the_other_language_do_as_well(release):
    one, _ = read(release)
    turned = release / "eng-rus_links.tsv"
    links = [line.split("\t") for line in turned.read_text().splitlines()]
    turned.unlink()
    write(release / "rus-eng_links.tsv", [f"{right}\t{left}" for left, right in reversed(links)])
    other, _ = read(release, "other")
    assert rows(one, "test", "ru", "en") == rows(other, "test", "ru", "en")


def test_training_text_is_bounded_after_the_draw(release):
    whole, _ = read(release)
    bounded, counts = read(release, "bounded", pairs=50)
    assert {*counts["train"].values()} == {50}
    for language in LANGUAGES[1:]:
        assert rows(bounded, "train", language, "en") == rows(whole, "train", language, "en")[:50]
        assert rows(bounded, "valid", language, "en") == rows(whole, "valid", language, "en")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("por_sentences.tsv", "1\tpor\n", "por_sentences.tsv, line 1 is not a sentence of the export"),
        ("por_sentences.tsv", "x\tpor\tOi.\n", "line 1 is not a sentence of the export"),
        ("eng-por_links.tsv", "1\t2\n3\n", "eng-por_links.tsv, line 2 is not a link of the export"),
        ("eng-por_links.tsv", "0\t1000\n", "pt-en has 1 sentence pairs, and none is left to train on"),
    ],
)
def test_files_of_another_form_are_refused(release, name, content, message):
    (release / name).write_text(content)
    with pytest.raises(InputError, match=message):
        read(release)


def test_what_is_missing_is_named(release):
    (release / "dan_sentences.tsv").unlink()
    with pytest.raises(InputError, match="have no dan_sentences.tsv"):
        read(release)
    with pytest.raises(InputError, match="a valid set of 0 sentence pairs is empty"):
        read(release, "other", ["en", "pt"], valid=0)
    for number in (0, -5):
        with pytest.raises(InputError, match=f"training text of {number} sentence pairs is empty"):
            read(release, f"bounded{number}", ["en", "pt"], pairs=number)
    with pytest.raises(InputError, match="no and nb are the same language to Tatoeba"):
        read(release, "twice", ["en", "no", "nb"])
    with pytest.raises(InputError, match="'qq' is not a code of two letters known here"):
        read(release, "third", ["en", "qq"])


def test_a_language_without_links_to_the_pivot_is_named(release):
    (release / "eng-dan_links.tsv").unlink()
    with pytest.raises(InputError, match="no links between en and da: no file dan-eng_links.tsv or eng-dan_"):
        read(release)


def test_codes_are_of_two_and_of_three_letters():
    assert all(len(two) == 2 and len(three) == 3 for two, three in THREE_LETTERS.items())
    assert three_letters("ber") == "ber" and three_letters("de") == "deu"


def test_an_export_is_fetched_and_read(release, tmp_path):
    """From the address of each language; links may be named either way, and what has none is left out."""
    server = FileServer()
    for file in release.iterdir():
        server.files[f"{file.name[:3]}/{file.name}.bz2"] = Served(bz2.compress(file.read_bytes()))
    corpus = for_languages(CATALOGUE["tatoeba"], LANGUAGES)
    moved = [
        replace(part, files=tuple(replace(file, urls=at(server.url, file)) for file in part.files))
        for part in corpus.parts
    ]
    fetched = fetch(replace(corpus, parts=tuple(moved)), tmp_path / "fetched", LANGUAGES, waits=())
    there = {"eng-por", "eng-rus", "eng-dan", "por-rus", "por-dan", "dan-rus"}
    assert {path.name.removesuffix("_links.tsv") for path in fetched if "links" in path.name} == there
    assert len(fetched) == len(LANGUAGES) + len(there)
    one, counts = read(tmp_path / "fetched")
    assert [*counts["train"]] == ["pt-en", "ru-en", "da-en"] and rows(one, "train", "pt", "en")


def at(address: str, file: ReleaseFile) -> tuple[str, ...]:
    return tuple(url.replace(TATOEBA, address) for url in file.urls)


def test_a_damaged_file_of_bzip2_is_refused(tmp_path):
    archive = tmp_path / "eng_sentences.tsv.bz2"
    whole = bz2.compress(b"1\teng\tHello.\n" * 1000)
    for content in (whole[: len(whole) // 2], b"BZh9" + b"x" * 50, b"no archive"):
        archive.write_bytes(content)
        with pytest.raises(InputError, match="eng_sentences.tsv.bz2 is damaged or cut short"):
            unpack(archive, tmp_path / "eng_sentences.tsv")
        assert [*tmp_path.iterdir()] == [archive]


def test_languages_are_to_be_named():
    with pytest.raises(InputError, match="name two or more, as in --languages en pt"):
        for_languages(CATALOGUE["tatoeba"], None)
    with pytest.raises(InputError, match="two or more"):
        for_languages(CATALOGUE["tatoeba"], ["en"])
