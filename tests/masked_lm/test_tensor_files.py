"""Arrays from the files of other programs: what is read is what was written, and what is not of the form is
refused.
"""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from tests.support.pretrained import KINDS, safetensors
from zsnmt.errors import InputError
from zsnmt.masked_lm.tensor_files import read_by_endings, read_header, read_npy, read_tensor

TABLE = np.random.default_rng(3).standard_normal((5, 3))


@pytest.mark.parametrize("kind, exact", [("F64", 0), ("F32", 2**-23), ("F16", 2**-10), ("BF16", 2**-7)])
def test_a_tensor_of_each_kind_is_read_alone(tmp_path, kind, exact):
    path = safetensors(tmp_path / "x.safetensors", {"a": np.ones((2, 2)), "b": TABLE, "c": np.ones(7)}, kind)
    header = read_header(path)
    assert [*header] == ["a", "b", "c"] and header["b"].shape == (5, 3)
    assert read_tensor(path, "b", header["b"]).astype(np.float64) == pytest.approx(
        TABLE, rel=max(exact, 1e-15)
    )


def test_names_are_known_by_their_ends_with_a_prefix_or_without(tmp_path):
    for number, name in enumerate(("x.weight", "bert.x.weight")):
        path = safetensors(tmp_path / f"{number}.safetensors", {name: TABLE, "bert.max.weight": TABLE + 1})
        found = read_by_endings(path, {"table": "x.weight", "other": "y.weight"})
        assert [*found] == ["table"] and found["table"] == pytest.approx(TABLE, rel=1e-6)


def test_a_name_that_two_tensors_could_have_is_refused(tmp_path):
    path = safetensors(tmp_path / "x.safetensors", {"one.x": TABLE, "other.x": TABLE})
    with pytest.raises(InputError, match="one.x and other.x could both be the table; give a model"):
        read_by_endings(path, {"table": "x"})


def with_header(path: Path, header: object, data: bytes = b"") -> Path:
    said = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(len(said).to_bytes(8, "little") + said + data)
    return path


ENTRY = {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}


@pytest.mark.parametrize(
    "header, data, message",
    [
        (b"{no", b"", "its header is not JSON"),
        ([1], b"", "its header names no tensors"),
        ({"x": 3}, b"", "its header says neither kind, shape nor place of x"),
        ({"x": {"dtype": "F32", "shape": [2]}}, b"", "its header says neither kind, shape nor place of x"),
        ({"x": ENTRY}, bytes(9), "x ends at byte [0-9]+ of [0-9]+, as in a download that was cut off"),
        (
            {"x": {**ENTRY, "data_offsets": [0, float("inf")]}},
            bytes(16),
            "its header says neither kind, shape nor place of x",
        ),
        (
            {"x": {**ENTRY, "shape": [-2, -2]}},
            bytes(16),
            r"its header gives x the shape \(-2, -2\)",
        ),
        ({"x": {**ENTRY, "data_offsets": [-4, 12]}}, bytes(16), "as in a download that was cut off"),
        (
            {"x": {**ENTRY, "shape": [2, 3]}},
            bytes(16),
            r"x has 16 bytes, which the shape \(2, 3\) does not fill",
        ),
        (
            {"x": {**ENTRY, "dtype": "I64"}},
            bytes(16),
            "x holds numbers of the kind I64, which is none of F64",
        ),
    ],
)
def test_a_file_of_another_form_is_refused_with_its_name_and_the_fault(tmp_path, header, data, message):
    path = with_header(tmp_path / "x.safetensors", header, data)
    with pytest.raises(
        InputError, match=f"x.safetensors is not a safetensors file that can be read: .*{message}"
    ):
        read_by_endings(path, {"table": "x"})


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"\x80\x02}q\x00X\x01\x00\x00\x00a" * 3, bytes(40)])
def test_what_is_no_safetensors_file_at_all_is_refused(tmp_path, content):
    path = tmp_path / "pytorch_model.bin"
    path.write_bytes(content)
    with pytest.raises(InputError, match="its first bytes announce a header of [0-9,]+ bytes, and it has"):
        read_header(path)
    with pytest.raises(InputError, match=re.escape(f"{tmp_path / 'no'}: there is no such file")):
        read_header(tmp_path / "no")


def test_numpys_files_are_read_unless_they_hold_something_else(tmp_path):
    np.save(tmp_path / "x.npy", TABLE)
    assert (read_npy(tmp_path / "x.npy") == TABLE).all()
    np.save(tmp_path / "words.npy", np.array(["a", "b"]))
    np.save(tmp_path / "objects.npy", np.array([{}], dtype=object))
    (tmp_path / "text.npy").write_text("1 2 3")
    (tmp_path / "empty.npy").touch()
    (tmp_path / "archive.npy").write_bytes(b"PK\x03\x04 cut off")  # as numpy.savez begins
    for name in ("words", "objects", "text", "empty", "archive"):
        with pytest.raises(
            InputError, match=f"{name}.npy is not a .npy file of numbers; write one with numpy.save"
        ):
            read_npy(tmp_path / f"{name}.npy")
    with pytest.raises(InputError, match="no.npy: there is no such file"):
        read_npy(tmp_path / "no.npy")


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_numbers_that_are_not_finite_are_refused(tmp_path, number):
    table = TABLE.copy()
    table[2, 1] = number
    path = safetensors(tmp_path / "x.safetensors", {"b": table}, "BF16")
    np.save(tmp_path / "x.npy", table)
    with pytest.raises(InputError, match="x.safetensors .*: b holds numbers that are not finite"):
        read_tensor(path, "b", read_header(path)["b"])
    with pytest.raises(InputError, match="x.npy holds numbers that are not finite"):
        read_npy(tmp_path / "x.npy")


def test_every_kind_has_a_test():
    assert {*KINDS} == {"F64", "F32", "F16", "BF16"}
