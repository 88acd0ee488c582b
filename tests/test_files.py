import errno

import pytest

from zsnmt.files import replacing


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
