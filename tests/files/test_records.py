"""Files that are read: what is not a file is refused before anything waits for it."""

import os

import pytest

from zsnmt.errors import InputError
from zsnmt.files.checksums import check_archive, sha256
from zsnmt.files.records import read_json


def test_a_pipe_and_a_folder_are_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for path in tmp_path.iterdir():
        for read in (lambda path: read_json(path, "make it anew"), sha256, check_archive):
            with pytest.raises(InputError, match=f"{path.name} is not a file; put the file in its place"):
                read(path)
