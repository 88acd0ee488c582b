"""Archives: everything or nothing, and nothing outside the folder."""

import errno
import gzip
import io
import stat
import tarfile
import zipfile

import pytest

from tests.support.disk import full_after
from zsnmt.corpora.releases.unpack import unpack, unpacked_name
from zsnmt.errors import InputError

TEXTS = {"set/train.de": b"Guten Tag.\n" * 700, "set/train.en": b"Good day.\n" * 700}


def tgz(members: dict[str, bytes], *others: tarfile.TarInfo) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        for member in others:
            archive.addfile(member)
    return packed.getvalue()


def zipped(members: dict[str, bytes], mode: int = stat.S_IFREG | 0o644) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            member = zipfile.ZipInfo(name)
            member.external_attr = mode << 16
            archive.writestr(member, content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def special(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    return member


def texts(folder) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def put(tmp_path):
    """Writes an archive, in a folder where `set` was unpacked before."""
    (tmp_path / "releases" / "set").mkdir(parents=True)
    (tmp_path / "releases" / "set" / "earlier").write_bytes(b"earlier\n")

    def put(content: bytes, name: str = "set.tgz"):
        (tmp_path / "releases" / name).write_bytes(content)
        return tmp_path / "releases" / name

    return put


def refused(archive, message: str, **options) -> None:
    """Unpacking stops with one sentence that names the archive, and leaves everything as it was."""
    before = texts(archive.parent.parent)
    with pytest.raises(InputError, match=message) as error:
        unpack(archive, archive.with_name(unpacked_name(archive.name)), **options)
    assert str(error.value).startswith(str(archive)) and str(error.value).endswith("fetch it anew")
    assert texts(archive.parent.parent) == before
    assert sorted(path.name for path in archive.parent.iterdir()) == sorted({"set", archive.name})


@pytest.mark.parametrize("name, pack", [("set.tgz", tgz), ("set.tar.gz", tgz), ("set.zip", zipped)])
def test_an_archive_replaces_what_was_there(put, name, pack):
    archive = put(pack(TEXTS), name)
    target = archive.with_name(unpacked_name(name))
    unpack(archive, target)
    assert target.name == "set" and texts(target) == TEXTS
    assert sorted(path.name for path in archive.parent.iterdir()) == sorted(["set", name])


def test_folders_in_an_archive_are_no_obstacle(put):
    archive = put(tgz(TEXTS, special("./", tarfile.DIRTYPE), special("set", tarfile.DIRTYPE)))
    unpack(archive, archive.with_name("set"))
    assert texts(archive.with_name("set")) == TEXTS


@pytest.mark.parametrize(
    "members",
    [
        {"a.part": b"part", "a": b"whole"},
        {".a.0123abcd.part": b"part", "a": b"whole"},
        {"set.part/a": b"part", "a": b"whole"},
    ],
)
@pytest.mark.parametrize("pack, name", [(tgz, "set.tgz"), (zipped, "set.zip")])
def test_members_with_names_of_what_is_written_beside_are_kept(put, members, pack, name):
    archive = put(pack(members), name)
    unpack(archive, archive.with_name("set"))
    assert texts(archive.with_name("set")) == members


def test_a_single_packed_file_becomes_a_file(tmp_path):
    (tmp_path / "train.de.gz").write_bytes(gzip.compress(b"Hallo.\n"))
    unpack(tmp_path / "train.de.gz", tmp_path / "train.de")
    assert (tmp_path / "train.de").read_bytes() == b"Hallo.\n"
    assert len(list(tmp_path.iterdir())) == 2


def test_a_name_without_an_ending_of_an_archive_is_kept():
    assert [unpacked_name(name) for name in ("a.v1.bn-en.tsv", "train.de.gz", "x.tar.gz")] == [
        "a.v1.bn-en.tsv",
        "train.de",
        "x",
    ]


def test_nested_archives_that_are_named_are_unpacked(put):
    inner = {f"{pair}/tst2017.{pair}.xml": pair.encode() for pair in ("de-en", "en-de")}
    outer = {f"test/texts/{name.split('/')[0]}.tgz": tgz({name: content}) for name, content in inner.items()}
    archive = put(tgz({**outer, "test/texts/._de-en.tgz": b"no archive", "test/README": b"read"}))
    unpack(archive, archive.with_name("set"), ["**/[a-z][a-z]-[a-z][a-z].tgz"])
    assert texts(archive.with_name("set")) == {
        "test/texts/de-en/de-en/tst2017.de-en.xml": b"de-en",
        "test/texts/en-de/en-de/tst2017.en-de.xml": b"en-de",
        "test/texts/._de-en.tgz": b"no archive",
        "test/README": b"read",
    }


# What is refused


@pytest.mark.parametrize("name", ["../out", "set/../../out", "/tmp/out", "C:/out", "..\\out"])
@pytest.mark.parametrize("pack, archive", [(tgz, "set.tgz"), (zipped, "set.zip")])
def test_a_path_out_of_the_folder(put, name, pack, archive):
    refused(put(pack({**TEXTS, name: b"out"}), archive), "in it leads out of its folder")


@pytest.mark.parametrize("members", [{"a": b"", "a/b": b""}, {"a/b": b"", "a": b""}])
@pytest.mark.parametrize("pack, archive", [(tgz, "set.tgz"), (zipped, "set.zip")])
def test_a_name_of_a_file_and_of_a_folder(put, members, pack, archive):
    refused(put(pack(members), archive), "'a(/b)?' in it is both a file and a folder")


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE])
def test_a_link_or_a_device(put, kind):
    refused(
        put(tgz(TEXTS, special("set/link", kind, "set/train.de"))), "'set/link' in it is a link or a device"
    )


def test_a_link_in_a_zip(put):
    refused(put(zipped({"link": b"/etc/passwd"}, stat.S_IFLNK | 0o777), "set.zip"), "'link' in it is a link")


@pytest.mark.parametrize("pack, name", [(tgz, "set.tgz"), (zipped, "set.zip")])
def test_more_than_the_limits(put, pack, name):
    total = sum(map(len, TEXTS.values()))
    archive = put(pack(TEXTS), name)
    refused(archive, "it holds more bytes than a release does", byte_limit=total - 1)
    refused(archive, "it holds more files than a release does", member_limit=1)
    unpack(archive, archive.with_name("set"), byte_limit=total, member_limit=2)


def test_a_bomb_is_stopped_while_it_is_unpacked(put, tmp_path):
    bomb = put(gzip.compress(bytes(50_000_000)), "bomb.gz")
    with pytest.raises(InputError, match="more bytes than a release"):
        unpack(bomb, tmp_path / "bomb", byte_limit=1_000_000)
    assert not (tmp_path / "bomb").exists()


def test_nested_archives_share_the_limits(put):
    archive = put(tgz({"a.tgz": tgz({"a": bytes(600)}), "b.tgz": tgz({"b": bytes(600)})}))
    refused(archive, "more bytes", nested=["*.tgz"], byte_limit=len(archive.read_bytes()) + 1000)
    refused(archive, "more files", nested=["*.tgz"], member_limit=3)


@pytest.mark.parametrize("part", [0.1, 0.5, 0.99])
@pytest.mark.parametrize("pack, name", [(tgz, "set.tgz"), (zipped, "set.zip")])
def test_a_truncated_archive(put, pack, name, part):
    content = pack(TEXTS)
    refused(put(content[: int(len(content) * part)], name), "is damaged or cut short")


@pytest.mark.parametrize("name", ["set.tgz", "set.zip", "text.gz"])
@pytest.mark.parametrize("content", [b"", b"<html>not found</html>"])
def test_something_else_under_the_name_of_an_archive(put, name, content):
    if (name, content) != ("text.gz", b""):  # gzip takes nothing for an empty file
        refused(put(content, name), "is damaged or cut short|holds no file")


@pytest.mark.parametrize(
    "padding", [0, 3_000_000]
)  # a tar may end with any number of zeros, which nobody reads
def test_a_wrong_checksum_in_the_archive(put, padding):
    content = bytearray(gzip.compress(gzip.decompress(tgz(TEXTS)) + bytes(padding)))
    content[-8] ^= 1  # of the checksum behind the compressed data
    refused(put(bytes(content)), "is damaged or cut short")


def test_a_damaged_archive_in_the_archive(put):
    refused(put(tgz({"inner.tgz": tgz(TEXTS)[:-20]})), "is damaged or cut short", nested=["*.tgz"])


def test_an_archive_without_the_one_it_should_hold(put):
    refused(put(tgz(TEXTS)), r"it holds no \*\*/inner.tgz", nested=["**/inner.tgz"])


def test_an_archive_of_nothing(put):
    refused(put(tgz({}, special("set", tarfile.DIRTYPE))), "it holds no file")


def test_an_encrypted_zip(put):
    content = bytearray(zipped({"a": b"text"}))
    for start in (content.index(b"PK\3\4") + 6, content.index(b"PK\1\2") + 8):
        content[start] |= 1  # the flag of encryption, in the file's own head and in the directory
    refused(put(bytes(content), "set.zip"), "is damaged or cut short.*encrypted")


def test_a_full_disk_leaves_what_was_there(put):
    archive = put(tgz({"set/large": bytes(300_000)}))
    before = texts(archive.parent)
    with pytest.raises(OSError) as error, full_after(200_000):
        unpack(archive, archive.with_name("set"))
    assert error.value.errno == errno.EFBIG
    assert error.value.filename == str(archive.with_name("set") / "set" / "large")
    assert texts(archive.parent) == before and not [*archive.parent.glob("*.part")]
