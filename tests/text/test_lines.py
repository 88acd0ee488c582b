"""Lines of files: what is written is read back, and what breaks a rule is named with its place."""

import errno
import shlex
import subprocess

import pytest

from tests.support.disk import full_after
from zsnmt.errors import InputError
from zsnmt.text.lines import iterate_lines, read_lines, write_lines


def test_what_is_written_is_read_back(tmp_path):
    lines = [
        "a b",
        "tab\there",
        "\u00a0\u2028 is \u2029 no line end \u200d",
        "क्ष",
        "“ﬁ”",
        "\U0001f600",
        " padded ",
        "a \ufeffb",
    ]
    write_lines(tmp_path / "a", iter(lines))
    assert read_lines(tmp_path / "a") == lines
    assert (tmp_path / "a").read_bytes() == "".join(line + "\n" for line in lines).encode()


def test_the_last_line_needs_no_line_end(tmp_path):
    (tmp_path / "a").write_bytes(b"x\ny")
    assert read_lines(tmp_path / "a") == ["x", "y"]


@pytest.mark.parametrize(
    "content, message",
    [
        (b"", "a is empty"),
        (b"x\ny\xfcz\n", "a, line 2, byte 2: 0xfc is not UTF-8; convert"),
        ("x\n".encode("utf-16"), "a is in UTF-16, not in UTF-8; convert it with iconv -f utf-16"),
        (b"x\n\xe2\x82\n", "a, line 2, byte 1: 0xe2 is not UTF-8"),
        (b"\xef\xbb\xbfx\n", "a, line 1 starts with a byte order mark; save the file without one"),
        (
            "x\n \u00a0\ufeffy\n".encode(),
            "a, line 2 starts with a byte order mark; save the file without one",
        ),
        (b"x\ny\r\n", "a, line 2 ends with a carriage return; convert the file with dos2unix"),
        (b"x\ry\n", r"a, line 1 has the control character U\+000D at position 2; remove it"),
        (b"x\n\x00y\n", r"a, line 2 has the control character U\+0000 at position 1; remove it, or convert"),
        ("x\n".encode("utf-16-le"), r"a, line 1 has the .* convert the file if it is in UTF-16"),
        ("x\nyy\u0085\n".encode(), r"a, line 2 has the control character U\+0085 at position 3; remove it"),
        (b"x\n\ny\n", "a, line 2 is empty"),
        ("x\ny\n \t\u00a0\n".encode(), "a, line 3 is empty"),
        (
            "x\n \u2581\u2581 \n".encode(),
            "a, line 2 has nothing but ▁, which stands for a space; write a sent",
        ),
    ],
)
def test_what_breaks_the_contract_stops_with_file_and_line(content, message, tmp_path):
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(InputError, match=message) as error:
        read_lines(tmp_path / "a")
    assert str(error.value).startswith(str(tmp_path))


def test_empty_lines_can_be_allowed_but_not_an_empty_file(tmp_path):
    (tmp_path / "a").write_bytes(b"\nx\n \n")
    assert read_lines(tmp_path / "a", allow_empty_lines=True) == ["", "x", " "]
    (tmp_path / "a").write_bytes(b"")
    with pytest.raises(InputError, match="a is empty"):
        read_lines(tmp_path / "a", allow_empty_lines=True)


def test_a_missing_file_and_a_folder_are_named(tmp_path):
    with pytest.raises(InputError, match="nowhere: there is no such file; name one that is there"):
        read_lines(tmp_path / "nowhere")
    with pytest.raises(InputError, match="is a folder"):
        read_lines(tmp_path)


def test_reading_is_lazy(tmp_path):
    (tmp_path / "a").write_bytes(b"good\n\xff\n")
    assert next(iterate_lines(tmp_path / "a")) == "good"


@pytest.mark.parametrize("line", ["two\nlines", "carriage\r", "\ufeffmark", " \ufeffmark", "nul\0"])
def test_what_cannot_be_read_back_is_not_written(line, tmp_path):
    write_lines(tmp_path / "a", ["old"])
    with pytest.raises(InputError, match="a, line 2, cannot be written"):
        write_lines(tmp_path / "a", ["good", line])
    assert read_lines(tmp_path / "a") == ["old"]
    assert [file.name for file in tmp_path.iterdir()] == ["a"]


def test_a_full_disk_leaves_the_old_file(tmp_path):
    write_lines(tmp_path / "a", ["old"])
    with pytest.raises(OSError) as error, full_after(1000):
        write_lines(tmp_path / "a", ["new"] * 99_999)
    assert (error.value.errno, error.value.filename) == (errno.EFBIG, str(tmp_path / "a"))
    assert read_lines(tmp_path / "a") == ["old"]
    assert [file.name for file in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize("bad", ["\ufeffx\n", "x\n \ufeffy\n"])
def test_the_command_that_removes_a_byte_order_mark_does(tmp_path, bad):
    """Also behind the first line, where files were put one behind the other."""
    path = tmp_path / "a"
    path.write_text(bad, encoding="utf-8")
    with pytest.raises(InputError) as fault:
        read_lines(path)
    command = shlex.split(str(fault.value).partition("remove it with ")[2])
    subprocess.run([*command, path], check=True)
    assert [line.strip() for line in read_lines(path)] == bad.replace("\ufeff", "").split()
