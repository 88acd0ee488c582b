import errno

import pytest

from zsnmt.errors import InputError
from zsnmt.files import new_folder, replacing


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
