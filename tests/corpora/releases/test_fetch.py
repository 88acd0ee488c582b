"""Whole corpora: mirrors, checksums, files of one's own, and what a second run does. A server here, no
network.
"""

import gzip
import hashlib
import os
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conftest import ROOT, run_command
from tests.corpora.releases.test_unpack import TEXTS, special, texts, tgz, zipped
from tests.support.file_server import FileServer, Served
from zsnmt.corpora.releases.catalogue import CATALOGUE
from zsnmt.corpora.releases.fetch import (
    SUMS,
    Corpus,
    Part,
    ReleaseFile,
    alone_in,
    fetch,
    for_languages,
    use_mirror,
)
from zsnmt.corpora.releases.release import find_file
from zsnmt.errors import InputError
from zsnmt.masked_lm.config import read_study_config

TRAINING = {
    f"DeEnItNlRo-DeEnItNlRo/train.tags.de-en.{language}": f"<url>\n{language}\n".encode() * 50
    for language in ("de", "en")
}
TRAINING_ARCHIVE = "2017-01-trnmted/texts/DeEnItNlRo/DeEnItNlRo/DeEnItNlRo-DeEnItNlRo.tgz"
INNER_TEST = {
    f"{pair}/IWSLT17.TED.tst2017.mltlng.{pair}.{pair[:2]}.xml": pair.encode() for pair in ("de-en", "en-de")
}
RELEASE = {
    "DeEnItNlRo-DeEnItNlRo.tgz": tgz(TRAINING),
    "2017-01-trnmted.tgz": tgz({TRAINING_ARCHIVE: tgz(TRAINING)}),
    "DeEnItNlRo-DeEnItNlRo.zip": zipped(TRAINING),
    "2017-01-mted-test.tgz": tgz(
        {
            f"2017-01-mted-test/texts/{name[:2]}/{name[3:5]}/{name[:5]}.tgz": tgz({name: content})
            for name, content in INNER_TEST.items()
        }
    ),
    "da-en.tgz": tgz({f"europarl-v7.da-en.{language}": language.encode() for language in ("da", "en")}),
    "de-en.tgz": tgz({f"europarl-v7.de-en.{language}": language.encode() for language in ("de", "en")}),
    "train.en.gz": gzip.compress(b"A dog.\n"),
    "pmindia.v1.bn-en.tsv": b"one\teins\n" * 1000,
}
HOMEPAGE = "https://example.org/corpus"


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    server = FileServer()
    server.files = {name: Served(content) for name, content in RELEASE.items()}
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def corpus(server):
    """A corpus with every kind of file: unpinned and pinned, with an alternative, nested, packed and
    plain.
    """

    def file(name: str, **facts) -> ReleaseFile:
        return ReleaseFile(name, (f"{server.url}/{name}",), **facts)

    pinned = RELEASE["DeEnItNlRo-DeEnItNlRo.tgz"]
    return Corpus(
        "CC BY",
        HOMEPAGE,
        ("en", "da", "bn"),
        (
            Part(
                (
                    file(
                        "DeEnItNlRo-DeEnItNlRo.tgz",
                        size=len(pinned),
                        sha256=hashlib.sha256(pinned).hexdigest(),
                    ),
                    file("2017-01-trnmted.tgz", nested=("**/DeEnItNlRo-DeEnItNlRo.tgz",)),
                )
            ),
            Part((file("2017-01-mted-test.tgz", nested=("**/[a-z][a-z]-[a-z][a-z].tgz",)),)),
            Part((file("da-en.tgz"),), "da"),
            Part((file("train.en.gz"),), "en"),
            Part((file("pmindia.v1.bn-en.tsv"),), "bn"),
        ),
    )


def single(name: str, *urls: str, **facts) -> Corpus:
    return Corpus("CC BY", HOMEPAGE, ("en", "de"), (Part((ReleaseFile(name, urls, **facts),)),))


def bring(corpus: Corpus, folder, **options) -> list[str]:
    return [str(text.relative_to(folder)) for text in fetch(corpus, folder, waits=(0, 0), **options)]


def fails(corpus: Corpus, folder, message: str, **options) -> str:
    """Fetching stops with one sentence, and what was there before stays."""
    before = texts(folder)
    with pytest.raises(InputError, match=message) as error:
        bring(corpus, folder, **options)
    after = texts(folder)
    assert before.items() <= after.items() and "\n" not in str(error.value)
    assert not any(name.endswith(".part") or ".part/" in name for name in after)
    return str(error.value)


# What is fetched


def test_a_corpus_is_there_for_its_readers(server, corpus, tmp_path):
    assert bring(corpus, tmp_path / "new/corpus") == [
        "DeEnItNlRo-DeEnItNlRo",
        "2017-01-mted-test",
        "da-en",
        "train.en",
        "pmindia.v1.bn-en.tsv",
    ]
    folder = tmp_path / "new/corpus"
    contents = {
        **TRAINING,
        **INNER_TEST,
        "europarl-v7.da-en.da": b"da",
        "europarl-v7.da-en.en": b"en",
        "train.en": b"A dog.\n",
        "pmindia.v1.bn-en.tsv": RELEASE["pmindia.v1.bn-en.tsv"],
    }
    for name, content in contents.items():
        assert find_file(folder, name.split("/")[-1]).read_bytes() == content
    assert sorted(server.names()) == sorted(
        [
            "DeEnItNlRo-DeEnItNlRo.tgz",
            "2017-01-mted-test.tgz",
            "da-en.tgz",
            "train.en.gz",
            "pmindia.v1.bn-en.tsv",
        ]
    )
    assert not list(folder.rglob("*.part*"))
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", SUMS], cwd=folder, check=True)
    assert len((folder / SUMS).read_text().splitlines()) == 6, "train.en besides, which was unpacked"


def test_a_second_run_asks_for_nothing_and_writes_no_text(server, corpus, tmp_path):
    def written() -> dict:
        return {path: path.stat().st_ino for path in tmp_path.rglob("*") if path.name != SUMS}

    first = bring(corpus, tmp_path)
    before, sums = written(), (tmp_path / SUMS).read_bytes()
    server.requests.clear()
    assert bring(corpus, tmp_path) == first
    assert written() == before and (tmp_path / SUMS).read_bytes() == sums
    assert server.requests == []


def test_a_run_after_one_that_was_killed_does_only_the_rest(server, corpus, tmp_path):
    bring(corpus, tmp_path)
    before = texts(tmp_path)
    (tmp_path / SUMS).unlink()
    (tmp_path / "train.en").unlink()
    server.requests.clear()
    bring(corpus, tmp_path)
    assert texts(tmp_path) == before and server.requests == []


def test_another_archive_is_unpacked_again(server, corpus, tmp_path):
    bring(corpus, tmp_path)
    for name in (SUMS, "da-en.tgz"):
        (tmp_path / name).unlink()
    server.files["da-en.tgz"] = Served(tgz({"europarl-v7.da-en.da": b"later"}))
    bring(corpus, tmp_path)
    assert texts(tmp_path / "da-en") == {"europarl-v7.da-en.da": b"later"}


def test_what_was_unpacked_is_verified_too(server, corpus, tmp_path):
    bring(corpus, tmp_path)
    before = texts(tmp_path)
    with (tmp_path / "train.en").open("ab") as file:
        file.write(b"planted\n")
    server.requests.clear()
    bring(corpus, tmp_path)
    assert texts(tmp_path) == before and server.requests == []


def test_a_download_that_was_cut_off_is_continued(server, tmp_path):
    body = RELEASE["pmindia.v1.bn-en.tsv"]
    server.files["pmindia.v1.bn-en.tsv"] = Served(body, cuts=[4000, 7000, 8000])
    corpus = single("pmindia.v1.bn-en.tsv", f"{server.url}/pmindia.v1.bn-en.tsv")
    with pytest.raises(InputError, match="cut after 8000 of 9000 bytes"):
        bring(corpus, tmp_path)
    bring(corpus, tmp_path)
    assert server.ranges() == [None, "bytes=4000-", "bytes=7000-", "bytes=8000-"]
    assert (tmp_path / "pmindia.v1.bn-en.tsv").read_bytes() == body


def test_languages_choose_the_files(server, corpus, tmp_path):
    assert bring(corpus, tmp_path, languages=["bn"]) == [
        "DeEnItNlRo-DeEnItNlRo",
        "2017-01-mted-test",
        "pmindia.v1.bn-en.tsv",
    ]
    fails(corpus, tmp_path, "unknown language 'te': the corpus has en, da, bn", languages=["en", "te"])
    pairs = replace(corpus, parts=corpus.parts[2:3])
    fails(pairs, tmp_path, "nothing to fetch; name one or more of da, bn", languages=["en"])


# Mirrors and alternatives


def test_the_next_mirror_is_asked_when_one_fails(server, tmp_path):
    server.files["damaged/de-en.tgz"] = Served(RELEASE["de-en.tgz"][:-1] + b"x")
    server.files["short/de-en.tgz"] = Served(RELEASE["de-en.tgz"][:-1])
    mirrors = [f"{server.url}/{folder}de-en.tgz" for folder in ("gone/", "damaged/", "short/", "")]
    digest = hashlib.sha256(RELEASE["de-en.tgz"]).hexdigest()
    bring(single("de-en.tgz", *mirrors, size=len(RELEASE["de-en.tgz"]), sha256=digest), tmp_path)
    assert server.names() == ["gone/de-en.tgz", "damaged/de-en.tgz", "short/de-en.tgz", "de-en.tgz"]
    assert (tmp_path / "de-en/europarl-v7.de-en.de").read_bytes() == b"de"


def test_when_all_mirrors_fail_each_is_named_with_its_reason(server, tmp_path):
    server.files["other/de-en.tgz"] = Served(b"other")
    mirrors = [
        f"{server.url}/gone/de-en.tgz",
        f"{server.url}/other/de-en.tgz",
        "http://127.0.0.1:9/de-en.tgz",
    ]
    digest = hashlib.sha256(RELEASE["de-en.tgz"]).hexdigest()
    error = fails(
        single("de-en.tgz", *mirrors, sha256=digest), tmp_path, "^de-en.tgz could not be downloaded"
    )
    for mirror, reason in zip(
        mirrors,
        ["404 Not Found", "its file has the SHA-256 d9298a.*, not .* as the release", "Connection refused"],
    ):
        assert re.search(f"{re.escape(mirror)}: {reason}", error)
    assert f"get it from {HOMEPAGE} yourself and name the folder it is in with --from-dir" in error


def test_an_alternative_will_do(server, corpus, tmp_path):
    del server.files["DeEnItNlRo-DeEnItNlRo.tgz"]
    bring(corpus, tmp_path)
    for path, content in TRAINING.items():
        assert find_file(tmp_path, path.split("/")[-1]).read_bytes() == content
    server.requests.clear()
    bring(corpus, tmp_path)
    assert server.requests == []


def test_a_mirror_of_ones_own_is_asked_instead(server, corpus, tmp_path):
    server.files = {f"mirror/{name}": served for name, served in server.files.items()}
    bring(use_mirror(corpus, f"{server.url}/mirror/"), tmp_path)
    assert all(name.startswith("mirror/") for name in server.names())
    for url in ("ftp://example.org", "/srv/mirror", "http://exämple.org"):
        with pytest.raises(InputError, match="must begin with http:// or https://"):
            use_mirror(corpus, url)


# Files that are damaged, or other ones than they were


@pytest.mark.parametrize(
    "content, message",
    [
        (tgz(TEXTS)[:-20], "da-en.tgz is damaged or cut short .*; remove it and fetch it anew"),
        (tgz({"../out": b""}), "'../out' in it leads out of its folder"),
        (tgz({"/out": b""}), "'/out' in it leads out of its folder"),
        (tgz({}, special("link", b"2", "/etc/passwd")), "'link' in it is a link or a device"),
    ],
    ids=["cut", "above", "absolute", "link"],
)  # bytes would be named by their time of day
def test_an_archive_that_cannot_be_unpacked_is_named(server, corpus, tmp_path, content, message):
    folder = tmp_path / "europarl"
    server.files["da-en.tgz"] = Served(content)
    fails(corpus, folder, message)
    assert not (folder / "da-en").exists() and not [*tmp_path.glob("**/out"), *Path("/").glob("out")]
    server.files["da-en.tgz"] = Served(RELEASE["da-en.tgz"])
    fails(corpus, folder, message)
    (folder / "da-en.tgz").unlink()
    assert "da-en" in bring(corpus, folder)


@pytest.mark.parametrize(
    "name, told",
    [("pmindia.v1.bn-en.tsv", f"as {SUMS} tells"), ("DeEnItNlRo-DeEnItNlRo.tgz", "as the release")],
)
def test_a_file_that_changed_since_is_refused(server, corpus, tmp_path, name, told):
    bring(corpus, tmp_path)
    content = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(content[::-1])
    fails(corpus, tmp_path, rf"{name} has the SHA-256 \w+, not \w+ {told}; remove it to fetch it anew")
    (tmp_path / name).unlink()
    bring(corpus, tmp_path)
    assert (tmp_path / name).read_bytes() == content


def test_another_file_than_the_first_time_is_refused(server, corpus, tmp_path):
    bring(corpus, tmp_path)
    (tmp_path / "pmindia.v1.bn-en.tsv").unlink()
    server.files["pmindia.v1.bn-en.tsv"] = Served(b"a later release\n")
    fails(corpus, tmp_path, rf"bn-en.tsv: its file has the SHA-256 \w+, not \w+ as {SUMS} tells")


TSV = "pmindia.v1.bn-en.tsv"


def pmindia(server) -> Corpus:
    """The Bengali part of PMIndia, as the catalogue has it."""
    corpus = use_mirror(CATALOGUE["pmindia"], server.url)
    return replace(corpus, parts=corpus.parts[:1])


@pytest.mark.parametrize(
    "content, message",
    [
        (b"one\teins\n" * 9 + b"\0" * 50, "has a row of NULs in line 10, as where a part is lost"),
        (b"one\teins\n" * 9 + b"on\xe0\xa6", "line 10, byte 3: 0xe0 is not UTF-8"),
        (b"one\teins\n" * 9 + b"one", "line 10 has 1 column; it needs two"),
        (b"", "is empty"),
    ],
)
def test_a_plain_text_that_is_not_as_in_the_release_is_refused_and_not_believed_later(
    server, tmp_path, content, message
):
    server.files[TSV] = Served(content)
    fails(pmindia(server), tmp_path, message)
    assert not [*tmp_path.iterdir()]
    server.files[TSV] = Served(RELEASE[TSV])
    bring(pmindia(server), tmp_path)
    assert (tmp_path / TSV).read_bytes() == RELEASE[TSV]


def test_a_plain_text_of_unknown_length_is_refused(server, tmp_path):
    server.files[TSV] = Served(RELEASE[TSV], sizes=False, cuts=[80])
    fails(pmindia(server), tmp_path, "does not say how long its file is")
    assert not [*tmp_path.iterdir()]


def test_a_given_plain_text_is_read_before_it_is_taken(server, tmp_path):
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / TSV).write_bytes(RELEASE[TSV][:-2] + b"\xff")
    fails(
        pmindia(server), tmp_path / "taken", f"given/{TSV} is not as in the release", given=tmp_path / "given"
    )
    assert not [*(tmp_path / "taken").iterdir()]


def test_two_processes_do_not_fetch_into_one_folder(server, corpus, tmp_path):
    with alone_in(tmp_path):
        fails(corpus, tmp_path, f"another process fetches into {tmp_path}; wait for it or end it")
    bring(corpus, tmp_path)


@pytest.mark.parametrize("line", ["no checksum", "0" * 64 + " one space"])
def test_a_damaged_list_of_checksums_is_refused(corpus, tmp_path, line):
    (tmp_path / SUMS).write_text(line + "\n")
    fails(corpus, tmp_path, f"{SUMS}, line 1 is not one of sha256sum; remove the line")


# Files that a person has


@pytest.fixture
def given(corpus, tmp_path):
    folder = tmp_path / "given"
    folder.mkdir()
    for part in corpus.parts:
        (folder / part.files[0].name).write_bytes(RELEASE[part.files[0].name])
    return folder


@pytest.mark.parametrize("links", [True, False])
def test_files_that_are_given_are_used(server, corpus, given, tmp_path, monkeypatch, links):
    if not links:
        monkeypatch.setattr(
            os, "link", lambda *arguments: (_ for _ in ()).throw(OSError("another file system"))
        )
    downloaded = bring(corpus, tmp_path / "downloaded")
    server.requests.clear()
    assert bring(corpus, tmp_path / "taken", given=given) == downloaded
    assert texts(tmp_path / "taken") == texts(tmp_path / "downloaded")
    (given / "da-en.tgz").unlink()
    bring(corpus, tmp_path / "taken")
    assert server.requests == []


def test_an_alternative_may_be_given(server, corpus, given, tmp_path):
    (given / "DeEnItNlRo-DeEnItNlRo.tgz").unlink()
    (given / "2017-01-trnmted.tgz").write_bytes(RELEASE["2017-01-trnmted.tgz"])
    assert bring(corpus, tmp_path / "taken", given=given)[0] == "2017-01-trnmted"
    assert find_file(tmp_path / "taken", "train.tags.de-en.en").is_file() and server.requests == []
    before = texts(tmp_path / "taken")
    (given / "DeEnItNlRo-DeEnItNlRo.tgz").write_bytes(RELEASE["DeEnItNlRo-DeEnItNlRo.tgz"])
    bring(corpus, tmp_path / "taken", given=given)
    assert texts(tmp_path / "taken") == before, "one form is enough"


def test_what_is_not_given_is_named(server, corpus, given, tmp_path):
    for name in ("DeEnItNlRo-DeEnItNlRo.tgz", "train.en.gz"):
        (given / name).unlink()
    fails(
        corpus,
        tmp_path / "taken",
        f"given lacks DeEnItNlRo-DeEnItNlRo.tgz or 2017-01-trnmted.tgz, train.en.gz; "
        f"get what is missing from {HOMEPAGE}, or leave --from-dir out",
        given=given,
    )
    assert not (tmp_path / "taken").exists() and server.requests == []
    fails(corpus, tmp_path / "taken", "nowhere is not a folder", given=tmp_path / "nowhere")


def test_a_given_file_must_be_the_one_released(corpus, given, tmp_path):
    (given / "DeEnItNlRo-DeEnItNlRo.tgz").write_bytes(b"another")
    fails(
        corpus,
        tmp_path / "taken",
        r"given/DeEnItNlRo-DeEnItNlRo.tgz has 7 bytes, not \d+ as the release",
        given=given,
    )
    (given / "DeEnItNlRo-DeEnItNlRo.tgz").write_bytes(RELEASE["DeEnItNlRo-DeEnItNlRo.tgz"])
    (given / "2017-01-mted-test.tgz").write_bytes(RELEASE["2017-01-mted-test.tgz"][:-20])
    fails(corpus, tmp_path / "taken", "given/2017-01-mted-test.tgz is damaged or cut short", given=given)
    assert not (tmp_path / "taken" / "2017-01-mted-test.tgz").exists()


# The catalogue and the command


def test_the_catalogue_is_well_formed():
    for corpus in (for_languages(each, ["en", "de"]) for each in CATALOGUE.values()):
        files = [file for part in corpus.parts for file in part.files]
        assert len({file.name for file in files}) == len(files) and corpus.languages[:1] in (("en",), ())
        assert {part.language for part in corpus.parts} <= {None, *corpus.languages}
        for file in files:
            assert file.urls and all(url.startswith("https://") for url in file.urls)
            renamed = "drive.google.com", "/UniversalDependencies/"
            assert all(url.endswith(f"/{file.name}") or any(map(url.count, renamed)) for url in file.urls)
            assert file.sha256 is None or re.fullmatch("[0-9a-f]{64}", file.sha256)
    assert len(CATALOGUE["europarl"].parts) == 8 and len(CATALOGUE["pmindia"].parts) == 9
    assert all(part.files[0].size and part.files[0].sha256 for part in CATALOGUE["multi30k"].parts)


def test_treebanks_have_the_names_that_the_configs_of_masked_language_models_read():
    config = read_study_config(ROOT / "configs" / "bert_fake_english_orders.conf", {"UD": "ud"})
    read = dict(each.split(":") for each in config.treebanks)
    named = {part.language: f"ud/{part.files[0].name}" for part in CATALOGUE["ud"].parts}
    assert named == read | {"en": "ud/en.conllu"} and [*named] == [*CATALOGUE["ud"].languages]


@pytest.mark.parametrize(
    "name", ["DeEnItNlRo-DeEnItNlRo.tgz", "2017-01-trnmted.tgz", "DeEnItNlRo-DeEnItNlRo.zip"]
)
def test_every_form_of_the_iwslt_release_gives_the_readers_files(server, tmp_path, name):
    """The catalogue's own names of nested archives, without its checksums of what is not ours to make."""
    corpus = CATALOGUE["iwslt17"]
    server.files = {name: Served(RELEASE[name]) for name in (name, "2017-01-mted-test.tgz")}
    parts = [
        Part(tuple(replace(file, size=None, sha256=None) for file in part.files)) for part in corpus.parts
    ]
    bring(use_mirror(replace(corpus, parts=tuple(parts)), server.url), tmp_path)
    for path, content in {**TRAINING, **INNER_TEST}.items():
        assert find_file(tmp_path, path.split("/")[-1]).read_bytes() == content


def test_the_command(server, tmp_path):
    command = ("scripts/fetch_corpus.py", "europarl", "--to", tmp_path / "corpus", "--languages", "de", "en")
    done = run_command(*command, "--mirror", server.url)
    assert (done.returncode, done.stdout) == (0, f"{tmp_path}/corpus/de-en\n")
    licence, homepage = CATALOGUE["europarl"].licence, CATALOGUE["europarl"].homepage
    assert done.stderr == f"{licence}; see {homepage}\n"
    assert server.names() == ["de-en.tgz"]
    again = run_command(*command)
    assert (again.returncode, again.stdout) == (0, done.stdout)


def test_the_command_ends_in_one_line(server, tmp_path):
    stopped = run_command(
        "scripts/fetch_corpus.py",
        "europarl",
        "--to",
        tmp_path,
        "--languages",
        "da",
        "fi",
        "--mirror",
        server.url,
    )
    assert (stopped.returncode, stopped.stdout) == (1, "")
    _, *errors = stopped.stderr.splitlines()
    assert len(errors) == 1
    assert errors[0].startswith(f"error: fi-en.tgz could not be downloaded ({server.url}/fi-en.tgz: 404")
    assert (tmp_path / "da-en/europarl-v7.da-en.da").read_bytes() == b"da"
