"""Files that are written in blocks: what was done is gone on with, and nothing else is left behind."""

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.disk import full_after
from zsnmt.errors import InputError
from zsnmt.files.blocks import writing_blocks

KEY, OTHER = "0123456789abcdef", "fedcba9876543210"
BLOCKS = ["one\ntwo\n", "three\n", "\nfive\n"]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def write(path: Path, key: str = KEY, stop_before: int | None = None, seen: list[int] | None = None) -> None:
    """Write the blocks that are not there; of an interrupt before one of them."""
    with writing_blocks(path, key) as blocks:
        if seen is not None:
            seen.append(blocks.done)
        done = 0
        for place, block in enumerate(BLOCKS):
            done += block.count("\n")
            if done > blocks.done:
                if place == stop_before:
                    raise KeyboardInterrupt
                blocks.add(block.encode(), block.count("\n"))


def stop(path: Path, before: int, key: str = KEY) -> None:
    with pytest.raises(KeyboardInterrupt):
        write(path, key, stop_before=before)


def parts(key: str = KEY) -> list[str]:
    return [f"out.{key}.part", f"out.{key}.part.ends"]


def test_what_was_begun_is_gone_on_with_and_the_file_is_as_if_it_were_written_at_once(tmp_path):
    path, seen = tmp_path / "out", []
    path.write_text("before")
    stop(path, before=2)
    assert path.read_text() == "before" and names(tmp_path) == ["out", *parts()]
    write(path, seen=seen)
    assert seen == [3]
    assert path.read_text() == "".join(BLOCKS) and names(tmp_path) == ["out"]


def test_nothing_is_left_of_what_has_no_whole_block(tmp_path):
    stop(tmp_path / "out", before=0)
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    "torn, notes, done",
    [
        ("thr", "2 8\n", 2),  # in the midst of a block
        ("three\n", "2 8\n", 2),  # before the note on it
        ("three\n", "2 8\n3 1", 2),  # in the midst of that
        ("th", "2 8\n3 14\n", 2),  # of which the disk lost something
        ("three\n", "2 8\n\0\0\0\0", 2),
        ("three\n", "2 8\n3 14\n", 3),
        ("three\n", "", 0),
    ],
)
def test_what_is_no_whole_block_is_written_again(tmp_path, torn, notes, done):
    for name, content in zip(parts(), (BLOCKS[0] + torn, notes)):
        (tmp_path / name).write_text(content)
    seen: list[int] = []
    stop(tmp_path / "out", before=2)
    write(tmp_path / "out", seen=seen)
    assert seen == [3] and (tmp_path / "out").read_text() == "".join(BLOCKS)
    for name, content in zip(parts(), (BLOCKS[0] + torn, notes)):
        (tmp_path / name).write_text(content)
    write(tmp_path / "out", seen=seen)
    assert seen == [3, done] and (tmp_path / "out").read_text() == "".join(BLOCKS)
    assert names(tmp_path) == ["out"]


def test_another_key_begins_anew_and_the_outdated_part_goes_when_the_file_is_there(tmp_path):
    path, seen = tmp_path / "out", []
    (tmp_path / "out.of-my-own-dictio.part").touch()
    stop(path, before=2)
    stop(path, before=1, key=OTHER)
    assert {*parts(), *parts(OTHER)} < {*names(tmp_path)}
    write(path, OTHER, seen=seen)
    assert seen == [2] and names(tmp_path) == ["out", "out.of-my-own-dictio.part"]


def test_the_part_of_another_file_is_left_however_long_their_names_are(tmp_path):
    one, other = (tmp_path / ("a long name, " * 15 + language) for language in ("de", "nl"))
    seen: list[int] = []
    stop(one, before=2)
    write(other, OTHER)
    write(one, seen=seen)
    assert seen == [3] and names(tmp_path) == [one.name, other.name]


def test_a_full_disk_is_named_by_the_file_and_leaves_what_was_done(tmp_path):
    path, seen = tmp_path / "out", []
    with pytest.raises(OSError) as error, full_after(10):
        write(path)
    assert (error.value.errno, error.value.filename) == (errno.EFBIG, str(path))
    write(path, seen=seen)
    assert seen == [2] and path.read_text() == "".join(BLOCKS) and names(tmp_path) == ["out"]


def test_a_link_is_followed_and_a_folder_refused(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "out").symlink_to("far/out")
    write(tmp_path / "out")
    assert (tmp_path / "out").is_symlink() and names(tmp_path / "far") == ["out"]
    with pytest.raises(InputError, match="far is a folder; name a file to write"):
        write(tmp_path / "far")


def test_a_name_may_be_as_long_as_the_system_allows(tmp_path):
    for name in ("ü" * 127, "x" * 255, "𝔵" * 63):
        stop(tmp_path / name, before=1)
        write(tmp_path / name)
    assert len(names(tmp_path)) == 3


ANOTHER = """
import sys
from pathlib import Path
from zsnmt.files.blocks import writing_blocks
with writing_blocks(Path(sys.argv[1]), sys.argv[2]) as blocks:
    blocks.add(b"one\\ntwo\\n", 2)
    print("written", flush=True)
    sys.stdin.read()
"""


def another_process(path: Path, key: str = KEY) -> subprocess.Popen:
    """A process that has written the first block, and goes on when it is told to."""
    words: Sequence[str | Path] = [sys.executable, "-c", ANOTHER, path, key]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout and process.stdout.readline() == b"written\n"
    return process


def test_two_processes_do_not_write_the_same_and_one_that_was_killed_is_gone_on_with(tmp_path):
    path, seen = tmp_path / "out", []
    process = another_process(path)
    with pytest.raises(InputError, match="another process is writing .*out; wait for it or end it"):
        write(path)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    write(path, seen=seen)
    assert seen == [2] and path.read_text() == "".join(BLOCKS) and names(tmp_path) == ["out"]


def test_what_another_process_is_writing_is_not_outdated(tmp_path):
    path = tmp_path / "out"
    process = another_process(path, OTHER)
    write(path)
    assert names(tmp_path) == ["out", *parts(OTHER)]
    process.communicate()
    assert process.returncode == 0 and path.read_text() == BLOCKS[0] and names(tmp_path) == ["out"]


def test_where_the_file_system_has_no_locks_blocks_are_written_without(tmp_path, monkeypatch):
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("fcntl.lockf", refuse)
    write(tmp_path / "out")
    assert names(tmp_path) == ["out"]
