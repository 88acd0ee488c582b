"""One address: whole files, tries that are cut off, and servers that cannot continue."""

import errno
import json
import random
import shutil

import pytest

from tests.support.file_server import FileServer, Served
from zsnmt.corpora.releases import download as module
from zsnmt.corpora.releases.download import DownloadError, Wanted, download
from zsnmt.errors import InputError

BODY = random.Random(1).randbytes(300_000)
NO_WAITS = (0, 0)


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    server = FileServer()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def part(tmp_path):
    return tmp_path / "corpus.tgz.part"


def get(server, part, waits=NO_WAITS) -> bytes:
    download(f"{server.url}/corpus.tgz", part, waits=waits)
    assert list(part.parent.iterdir()) == [part], "the note is gone when the file is whole"
    return part.read_bytes()


def test_a_file_arrives_whole(server, part):
    server.files["corpus.tgz"] = Served(BODY)
    assert get(server, part) == BODY
    assert server.ranges() == [None]


def test_a_server_that_names_no_size_is_believed(server, part):
    server.files["corpus.tgz"] = Served(BODY, sizes=False)
    assert get(server, part) == BODY


def test_what_was_cut_off_is_continued(server, part):
    server.files["corpus.tgz"] = Served(BODY, cuts=[100_000, 250_000])
    assert get(server, part) == BODY
    assert server.ranges() == [None, "bytes=100000-", "bytes=250000-"]
    assert server.requests[1][1]["If-Range"] == '"one"'


def test_a_later_call_continues_too(server, part):
    server.files["corpus.tgz"] = Served(BODY, cuts=[70_000])
    with pytest.raises(DownloadError, match="the connection was cut after 70000 of 300000 bytes"):
        download(f"{server.url}/corpus.tgz", part, waits=())
    assert part.read_bytes() == BODY[:70_000]
    assert get(server, part) == BODY
    assert server.ranges() == [None, "bytes=70000-"]


@pytest.mark.parametrize(
    "change",
    [
        dict(ranges=False),
        dict(tag='"two"'),
        dict(tag='"two"', conditions=False),
        dict(tag='W/"weak"'),
        dict(tag=None),
    ],
)
def test_what_cannot_be_continued_starts_anew(server, part, change):
    other = BODY[::-1]
    server.files["corpus.tgz"] = Served(BODY, cuts=[100_000])
    with pytest.raises(DownloadError):
        download(f"{server.url}/corpus.tgz", part, waits=())
    server.files["corpus.tgz"] = Served(other, **change)
    assert get(server, part) == other


@pytest.mark.parametrize("tag", ['W/"weak"', None])
def test_without_a_validator_no_rest_is_asked_for(server, part, tag):
    server.files["corpus.tgz"] = Served(BODY, tag=tag, cuts=[100_000])
    assert get(server, part) == BODY
    assert server.ranges() == [None, None]


def test_a_file_that_became_shorter_starts_anew(server, part):
    server.files["corpus.tgz"] = Served(BODY, cuts=[100_000])
    with pytest.raises(DownloadError):
        download(f"{server.url}/corpus.tgz", part, waits=())
    server.files["corpus.tgz"] = Served(BODY[:50_000], tag='"two"', conditions=False)
    assert get(server, part) == BODY[:50_000]
    assert server.ranges() == [None, "bytes=100000-", None]


def test_a_rest_of_another_file_is_not_appended(server, part):
    """The tag is the same, but not the size."""
    server.files["corpus.tgz"] = Served(BODY)
    part.write_bytes(b"x" * 1000)
    note = {"url": f"{server.url}/corpus.tgz", "validator": '"one"', "size": len(BODY) + 1}
    part.with_name(part.name + ".json").write_text(json.dumps(note))
    assert get(server, part) == BODY
    assert server.ranges() == ["bytes=1000-", None]


def test_the_beginning_from_another_address_is_not_continued(server, part):
    server.files["corpus.tgz"] = Served(BODY)
    server.files["mirror.tgz"] = Served(BODY[::-1], cuts=[100_000])
    with pytest.raises(DownloadError):
        download(f"{server.url}/mirror.tgz", part, waits=())
    assert get(server, part) == BODY
    assert server.ranges() == [None, None]


@pytest.mark.parametrize(
    "note", ["", "{", "[]", "null", '{"url": "elsewhere"}', '{"url": HERE, "size": "2000"}']
)
def test_a_damaged_note_is_ignored(server, part, note):
    server.files["corpus.tgz"] = Served(BODY)
    part.write_bytes(b"x" * 1000)
    part.with_name(part.name + ".json").write_text(note.replace("HERE", f'"{server.url}/corpus.tgz"'))
    assert get(server, part) == BODY


def test_a_passing_fault_is_tried_again(server, part):
    server.files["corpus.tgz"] = Served(BODY, statuses=[503, 429])
    assert get(server, part) == BODY
    assert len(server.requests) == 3


def test_a_passing_fault_that_stays_is_told(server, part):
    server.files["corpus.tgz"] = Served(BODY, statuses=[503, 503, 503])
    with pytest.raises(DownloadError, match="503 Service Unavailable"):
        download(f"{server.url}/corpus.tgz", part, waits=NO_WAITS)
    assert not part.exists()


def test_a_missing_file_is_not_tried_again(server, part):
    with pytest.raises(DownloadError, match="404 Not Found"):
        download(f"{server.url}/corpus.tgz", part, waits=NO_WAITS)
    assert len(server.requests) == 1


def test_a_web_page_is_no_file(server, part):
    server.files["corpus.tgz"] = Served(b"<html>Quota exceeded</html>", kind="text/html; charset=utf-8")
    with pytest.raises(DownloadError, match="a web page instead of the file"):
        download(f"{server.url}/corpus.tgz", part, waits=NO_WAITS)
    assert len(server.requests) == 1 and not part.exists()


def test_no_server_is_told(part, monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    with pytest.raises(DownloadError, match="^Connection refused$"):
        download("http://127.0.0.1:9/corpus.tgz", part, waits=NO_WAITS)


def test_a_full_disk_is_not_taken_for_a_fault_of_the_server(server, part):
    server.files["corpus.tgz"] = Served(BODY)
    part.symlink_to("/dev/full")
    with pytest.raises(OSError) as error:
        download(f"{server.url}/corpus.tgz", part, waits=NO_WAITS)
    assert (error.value.errno, error.value.filename) == (errno.ENOSPC, str(part))
    assert len(server.requests) == 1


# How much is fetched


def refused(server, part, message: str, error: type[Exception] = DownloadError, **wanted) -> None:
    """Nothing is kept, and no second try is made."""
    with pytest.raises(error, match=message):
        download(f"{server.url}/corpus.tgz", part, Wanted(**wanted), NO_WAITS)
    assert not [*part.parent.iterdir()] and len(server.requests) == 1


@pytest.mark.parametrize("sizes", [True, False])
def test_a_file_of_another_size_is_not_fetched_to_its_end(server, part, sizes):
    server.files["corpus.tgz"] = Served(BODY, sizes=sizes)
    known = len(BODY) - 1
    message = "has 300000 bytes, not 299999 as the release" if sizes else "more than the 299999 bytes"
    refused(server, part, message, size=known)


def test_an_endless_answer_ends_at_the_size_that_is_known(server, part):
    server.files["corpus.tgz"] = Served(BODY, sizes=False, endless=True)
    refused(server, part, "sends more than the 300000 bytes that its file can have", size=len(BODY))


def test_an_endless_answer_ends_at_a_bound_where_no_size_is_known(server, part, monkeypatch):
    monkeypatch.setattr(module, "MOST", 1_000_000)
    server.files["corpus.tgz"] = Served(BODY, sizes=False, endless=True)
    refused(server, part, "sends more than the 1000000 bytes")


def test_a_file_larger_than_any_release_is_not_fetched(server, part, monkeypatch):
    monkeypatch.setattr(module, "MOST", 100_000)
    server.files["corpus.tgz"] = Served(BODY)
    refused(server, part, "has 300000 bytes, which is more than any release has")


def test_an_endless_rest_ends_at_the_size_that_the_server_said(server, part):
    server.files["corpus.tgz"] = Served(BODY, cuts=[100_000])
    with pytest.raises(DownloadError):
        download(f"{server.url}/corpus.tgz", part, waits=())
    server.files["corpus.tgz"] = Served(BODY, sizes=False, endless=True)
    with pytest.raises(DownloadError, match="sends more than the 300000 bytes"):
        download(f"{server.url}/corpus.tgz", part, waits=())
    assert not [*part.parent.iterdir()]


def disk(monkeypatch, free: list[int]) -> None:
    """A disk that has so many bytes free at each look."""
    usage = type("Usage", (), {})
    looks = iter(free)

    def look(folder) -> object:
        answer = usage()
        answer.free = next(looks) + module.KEPT_FREE
        return answer

    monkeypatch.setattr(shutil, "disk_usage", look)


def test_a_file_that_the_disk_has_no_room_for_is_not_fetched(server, part, monkeypatch):
    disk(monkeypatch, [len(BODY) - 1])
    server.files["corpus.tgz"] = Served(BODY)
    refused(server, part, "bytes free, and .* are needed; make room there", error=InputError)


@pytest.mark.parametrize("sizes", [True, False])
def test_a_download_ends_before_the_disk_is_full_and_is_kept_if_it_can_be_continued(
    server, part, monkeypatch, sizes
):
    with monkeypatch.context() as patch:
        disk(patch, [10**9, 10**9, 10**9, -1])
        server.files["corpus.tgz"] = Served(BODY, sizes=sizes)
        with pytest.raises(InputError, match="make room there"):
            download(f"{server.url}/corpus.tgz", part, waits=())
    assert part.is_file() == sizes
    assert get(server, part) == BODY
    assert (server.ranges()[1] is not None) == sizes


# What could be cut short


def test_a_file_that_may_be_cut_short_unnoticed_is_refused(server, part):
    server.files["corpus.tgz"] = Served(BODY, sizes=False, cuts=[80])
    refused(
        server, part, "does not say how long its file is: one cut short would pass for whole", checked=False
    )


@pytest.mark.parametrize("cuts", [0, 1])
def test_an_answer_in_chunks_says_its_end(server, part, cuts):
    server.files["corpus.tgz"] = Served(BODY, sizes=False, chunked=True, cuts=[80] * cuts)
    download(f"{server.url}/corpus.tgz", part, Wanted(checked=False), NO_WAITS)
    assert part.read_bytes() == BODY and len(server.requests) == 1 + cuts


def test_an_address_that_is_none_is_told_of(tmp_path):
    with pytest.raises(DownloadError, match="Invalid IPv6 URL"):
        download("http://[", tmp_path / "part", waits=())
