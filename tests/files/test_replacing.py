import errno
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.support.disk import full_after
from zsnmt.errors import InputError
from zsnmt.files import replacing as module
from zsnmt.files.checksums import check_archive, sha256, unchanged
from zsnmt.files.replacing import new_folder, replacing, replacing_folder


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def write(path: Path, content: bytes) -> None:
    with replacing(path) as file:
        file.write(content)


def fill(folder: Path, name: str) -> None:
    with replacing_folder(folder) as part:
        (part / name).write_text("x")


def test_replacing_is_whole_or_nothing(tmp_path):
    path = tmp_path / "scores"
    write(path, b"old")
    with pytest.raises(KeyboardInterrupt), replacing(path) as file:
        file.write(b"new")
        raise KeyboardInterrupt
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["scores"]


def test_replacing_names_the_file_when_the_disk_is_full(tmp_path):
    path = tmp_path / "scores"
    path.write_bytes(b"old")
    with pytest.raises(OSError) as error, full_after(2), replacing(path) as file:
        file.write(b"new")
    assert (error.value.errno, error.value.filename) == (errno.EFBIG, str(path))
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["scores"]


def test_what_cannot_be_written_is_named_as_it_was_given(tmp_path):
    with pytest.raises(FileNotFoundError) as error:
        write(tmp_path / "nowhere" / "scores", b"")
    assert error.value.filename == str(tmp_path / "nowhere" / "scores")
    with pytest.raises(OSError) as error, replacing_folder(tmp_path / "folder") as part:
        (part / "nowhere" / "scores").open("wb")
    assert error.value.filename == str(tmp_path / "folder" / "nowhere" / "scores")


@pytest.mark.parametrize("path", ["", "folder"])
def test_a_folder_is_not_replaced_by_a_file(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="is a folder; name a file to write"):
        write(Path(path), b"new")
    assert names(tmp_path) == ["folder"]


def test_a_file_is_not_replaced_by_a_folder(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="is not a folder; remove it or name another"):
        fill(tmp_path / "file", "new")
    assert (tmp_path / "file").read_text() == "x" and names(tmp_path) == ["file"]


def test_a_name_may_be_as_long_as_the_system_allows(tmp_path):
    write(tmp_path / ("ü" * 127), b"new")
    fill(tmp_path / ("x" * 255), "new")
    assert len(names(tmp_path)) == 2


# What is not a file


def test_a_link_is_followed_to_the_file_that_it_names(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "target").write_bytes(b"old")
    (tmp_path / "far" / "link").symlink_to("target")
    (tmp_path / "link").symlink_to("far/link")
    (tmp_path / "dangling").symlink_to("far/new")
    write(tmp_path / "link", b"new")
    write(tmp_path / "dangling", b"newer")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "far" / "link").is_symlink()
    assert (tmp_path / "far" / "target").read_bytes() == b"new"
    assert (tmp_path / "dangling").is_symlink() and (tmp_path / "far" / "new").read_bytes() == b"newer"
    assert names(tmp_path) == ["dangling", "far", "link"]
    assert names(tmp_path / "far") == ["link", "new", "target"]


def test_a_link_to_a_folder_is_followed(tmp_path):
    (tmp_path / "target").mkdir()
    (tmp_path / "target" / "old").write_text("x")
    (tmp_path / "link").symlink_to("target")
    fill(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink() and names(tmp_path / "target") == ["new"]
    assert names(tmp_path) == ["link", "target"]


def test_a_device_is_written_to(tmp_path):
    device = tmp_path / "full"
    try:
        os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 7))  # as /dev/full
        device.open("wb").close()
    except PermissionError:
        pytest.skip("this user cannot make or open devices here")
    with pytest.raises(OSError) as error:
        write(device, b"new")
    assert (error.value.errno, error.value.filename) == (errno.ENOSPC, str(device))
    assert stat.S_ISCHR(device.stat().st_mode) and names(tmp_path) == ["full"]


def test_the_reader_of_a_fifo_gets_what_is_written(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    read = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "fifo").read_bytes()), daemon=True)
    reader.start()
    write(tmp_path / "fifo", b"new")
    reader.join(10)
    assert read == [b"new"] and names(tmp_path) == ["fifo"]


def test_an_open_file_that_is_named_by_its_number_is_written_to(tmp_path):
    (tmp_path / "out").symlink_to("/proc/self/fd/1")  # as /dev/stdout
    program = (
        "import sys; from pathlib import Path; from zsnmt.files.replacing import replacing\n"
        "with replacing(Path(sys.argv[1])) as file: file.write(b'new\\n')"
    )
    command = f'{{ echo before; "{sys.executable}" -c "$1" "$2"; echo after; }} > "$3"'
    written = tmp_path / "written"
    subprocess.run(["bash", "-c", command, "", program, tmp_path / "out", written], check=True)
    assert written.read_text() == "before\nnew\nafter\n"
    assert names(tmp_path) == ["out", "written"]


# Two writers


def test_two_writers_of_a_file_do_not_disturb_each_other(tmp_path):
    path = tmp_path / "scores"
    with replacing(path) as one:
        one.write(b"one" * 1000)
        with pytest.raises(KeyboardInterrupt), replacing(path) as failing:
            failing.write(b"failing")
            raise KeyboardInterrupt
        write(path, b"other")
        assert path.read_bytes() == b"other"
    assert path.read_bytes() == b"one" * 1000 and names(tmp_path) == ["scores"]


def test_two_writers_of_a_folder_do_not_disturb_each_other(tmp_path):
    folder = tmp_path / "data"
    fill(folder, "old")
    with replacing_folder(folder) as part:
        (part / "one").write_text("x")
        fill(folder, "other")
        assert names(folder) == ["other"]
    assert names(folder) == ["one"] and names(tmp_path) == ["data"]


def test_a_folder_is_replaced_by_what_replaces_its_own_folder(tmp_path):
    """As a recipe does when the settings of an invented text change: its writer replaces folders too."""
    folder = tmp_path / "folder"
    for content in ("old", "new"):
        with replacing_folder(folder) as outer, replacing_folder(outer) as inner:
            (inner / "file").write_text(content)
    assert (folder / "file").read_text() == "new"
    assert os.listdir(tmp_path) == ["folder"]


def test_of_two_that_make_a_new_folder_the_second_is_refused(tmp_path):
    folder = tmp_path / "export"
    with pytest.raises(InputError, match="is there already"), new_folder(folder) as part:
        (part / "one").write_text("x")
        with new_folder(folder) as other:
            (other / "other").write_text("x")
    assert names(folder) == ["other"] and names(tmp_path) == ["export"]


def test_a_folder_stays_when_the_new_one_cannot_take_its_place(tmp_path, monkeypatch):
    fill(tmp_path / "data", "old")
    rename = os.rename

    def interrupted(source, target) -> None:
        if (Path(source) / "new").exists() and not Path(target).exists():
            raise KeyboardInterrupt
        rename(source, target)

    monkeypatch.setattr(os, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fill(tmp_path / "data", "new")
    assert names(tmp_path / "data") == ["old"] and names(tmp_path) == ["data"]


# What a killed process leaves


KILLED = """
import os, signal, sys
from pathlib import Path
from zsnmt.files.replacing import replacing, replacing_folder
with replacing(Path(sys.argv[1], "scores")) as file, replacing_folder(Path(sys.argv[1], "data")) as part:
    file.write(b"half")
    file.flush()
    (part / "half").write_text("x")
    print("+", flush=True)
    signal.pause()
"""


def test_what_a_killed_process_leaves_is_removed_by_the_next_and_what_a_living_one_has_is_not(tmp_path):
    killed, living = (
        subprocess.Popen([sys.executable, "-c", KILLED, tmp_path], stdout=subprocess.PIPE) for _ in range(2)
    )
    for process in (killed, living):
        assert process.stdout.read(1) == b"+"
    try:
        assert len(names(tmp_path)) == 4
        killed.kill()
        killed.wait()
        (tmp_path / "scores.part").write_text("of a person")
        (tmp_path / ".scores.v2.0123abcd.part").write_text("of another file")
        write(tmp_path / "scores", b"new")
        fill(tmp_path / "data", "new")
        parts = [path for path in tmp_path.iterdir() if path.suffix == ".part"]
        assert len(parts) == 4 and {path.name[:6] for path in parts} == {".score", ".data.", "scores"}
    finally:
        for process in (killed, living):
            process.kill()
            process.wait()
            process.stdout.close()


@pytest.mark.parametrize("place", [replacing, replacing_folder])
def test_a_signal_that_comes_as_soon_as_a_part_is_there_leaves_none(place, tmp_path, monkeypatch):
    def interrupted(part: Path) -> int:
        assert part.exists()
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "open_to_lock", interrupted)
    with pytest.raises(KeyboardInterrupt), place(tmp_path / "a"):
        pass
    assert not [*tmp_path.iterdir()]


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
