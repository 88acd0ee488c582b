import errno
from zipfile import ZipFile

import pytest

from zsnmt.errors import InputError
from zsnmt.files import check_archive, new_folder, replacing, sha256, unchanged


def test_replacing_is_whole_or_nothing(tmp_path):
    path = tmp_path / "scores"
    with replacing(path) as file:
        file.write(b"old")
    with pytest.raises(KeyboardInterrupt), replacing(path) as file:
        file.write(b"new")
        raise KeyboardInterrupt
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_replacing_names_the_file_when_the_disk_is_full(tmp_path):
    path = tmp_path / "scores"
    path.write_bytes(b"old")
    (tmp_path / "scores.part").symlink_to("/dev/full")
    with pytest.raises(OSError) as error, replacing(path) as file:
        file.write(b"new")
    assert (error.value.errno, error.value.filename) == (errno.ENOSPC, str(path))
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_folder_is_whole_or_not_there(tmp_path):
    folder = tmp_path / "a" / "folder"
    with pytest.raises(KeyboardInterrupt), new_folder(folder) as part:
        (part / "half").write_text("x")
        raise KeyboardInterrupt
    assert not [*folder.parent.iterdir()]
    with new_folder(folder) as part:
        (part / "whole").write_text("x")
    assert [path.name for path in folder.iterdir()] == ["whole"]
    with pytest.raises(InputError, match="is there already; remove it"), new_folder(folder):
        raise AssertionError("not reached")
    assert (folder / "whole").read_text() == "x"


def test_an_archive_with_a_flipped_bit_is_refused_or_holds_nothing_wrong(tmp_path):
    path, content = tmp_path / "archive", {"one": b"first" * 40, "two": b"second" * 40}
    with ZipFile(path, "w") as archive:
        for name, part in content.items():
            archive.writestr(name, part)
    check_archive(path)
    whole, refused = path.read_bytes(), 0
    for place in range(len(whole) - 22):  # without its last record no file is taken for an archive
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << place % 8]) + whole[place + 1 :])
        try:
            check_archive(path)
        except InputError:
            refused += 1
        else:
            with ZipFile(path) as archive:
                assert {name: archive.read(name) for name in archive.namelist()}.items() <= content.items()
    assert refused > len(whole) / 2


def test_what_stands_before_or_behind_an_archive_is_noticed(tmp_path):
    path = tmp_path / "archive"
    with ZipFile(path, "w") as archive:
        archive.writestr("one", b"first")
    whole = path.read_bytes()
    for changed in (whole + b"x", whole + whole, b"x" + whole):
        path.write_bytes(changed)
        with pytest.raises(InputError, match="archive is damaged: it is not as it was written"):
            check_archive(path)
    path.write_bytes(b"no archive")
    check_archive(path)


def test_a_file_that_is_replaced_while_it_is_read_is_noticed(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with unchanged(path) as checksum:
        assert checksum == sha256(path)
    with pytest.raises(InputError, match="file was replaced while it was read"), unchanged(path):
        with replacing(path) as file:
            file.write(b"new")
