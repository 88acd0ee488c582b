"""Arrays by name from files that other programs wrote: safetensors, and NumPy's .npy.

A safetensors file (https://github.com/huggingface/safetensors) begins with the length of its header, 8 bytes,
little-endian; the header is JSON and says of each tensor its kind of number, its shape, and where it stands
in the bytes after the header. A tensor is read alone, whatever else the file holds.
"""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, NoReturn
from zipfile import BadZipFile

import numpy as np

from zsnmt.errors import InputError, no_file

KINDS = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}  # the last is the upper half of an F32
LENGTH = 8  # bytes
REMEDY = "give a model as transformers saves it, or its tables as .npy"


class Tensor(NamedTuple):
    """What a header says of a tensor: the kind of number, the shape, and where it begins and ends in the
    file.
    """

    kind: str
    shape: tuple[int, ...]
    start: int
    end: int


def read_header(path: Path) -> dict[str, Tensor]:
    """The tensors of a safetensors file by name; `InputError` for a file of another form."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            length = int.from_bytes(file.read(LENGTH), "little")
            said = file.read(length) if 2 <= length <= size - LENGTH else None
    except FileNotFoundError:
        raise no_file(path) from None
    if said is None:
        refuse(path, f"its first bytes announce a header of {length:,} bytes, and it has {size:,} in all")
    try:
        header = json.loads(said)
    except ValueError:
        refuse(path, "its header is not JSON")
    if not isinstance(header, dict):
        refuse(path, "its header names no tensors")
    begin = LENGTH + length
    return {
        name: parse_entry(path, name, said, begin=begin, size=size)
        for name, said in header.items()
        if name != "__metadata__"
    }


def parse_entry(path: Path, name: str, said: Any, begin: int, size: int) -> Tensor:
    """A tensor by its entry in the header; `begin`: where the bytes after the header start. `InputError` for
    an entry that cannot be true.
    """
    try:
        start, end = (begin + int(offset) for offset in said["data_offsets"])
        tensor = Tensor(str(said["dtype"]), tuple(map(int, said["shape"])), start, end=end)
    except (TypeError, KeyError, ValueError, OverflowError):  # the last of infinity
        refuse(path, f"its header says neither kind, shape nor place of {name}")
    if min(tensor.shape, default=0) < 0:
        refuse(path, f"its header gives {name} the shape {tensor.shape}")
    if not begin <= start <= end <= size:
        refuse(path, f"{name} ends at byte {end:,} of {size:,}, as in a download that was cut off")
    return tensor


def read_tensor(path: Path, name: str, tensor: Tensor) -> np.ndarray:
    """The numbers of a tensor, in the shape that its header says; `InputError` for a kind that is not of a
    table, or too few of them.
    """
    if tensor.kind not in KINDS:
        refuse(path, f"{name} holds numbers of the kind {tensor.kind}, which is none of {', '.join(KINDS)}")
    kind = np.dtype(KINDS[tensor.kind])
    if math.prod(tensor.shape) * kind.itemsize != tensor.end - tensor.start:
        refuse(
            path,
            f"{name} has {tensor.end - tensor.start:,} bytes, which the shape {tensor.shape} does not fill",
        )
    with path.open("rb") as file:
        file.seek(tensor.start)
        numbers = np.frombuffer(file.read(tensor.end - tensor.start), kind)
    if tensor.kind == "BF16":
        numbers = (numbers.astype("<u4") << 16).view("<f4")
    if not np.isfinite(numbers).all():
        refuse(path, f"{name} holds numbers that are not finite")
    return numbers.reshape(tensor.shape)


def read_by_endings(path: Path, endings: Mapping[str, str]) -> dict[str, np.ndarray]:
    """The tensors whose names end as said, each by the name of its ending; without those that are not there.

    `InputError` for an ending of several, and for a file of another form.
    """
    header, found = read_header(path), {}
    for what, ending in endings.items():
        names = [name for name in header if f".{name}".endswith(f".{ending}")]
        if len(names) > 1:
            refuse(path, f"{' and '.join(names)} could both be the {what}")
        if names:
            found[what] = read_tensor(path, names[0], header[names[0]])
    return found


def read_npy(path: Path) -> np.ndarray:
    """The numbers of a .npy file; `InputError` for a file of another form."""
    try:
        array = np.load(path, allow_pickle=False)
    except FileNotFoundError:
        raise no_file(path) from None
    except (ValueError, EOFError, BadZipFile):
        array = None
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "fiu":
        raise InputError(f"{path} is not a .npy file of numbers; write one with numpy.save")
    if not np.isfinite(array).all():
        raise InputError(f"{path} holds numbers that are not finite; {REMEDY}")
    return array


def refuse(path: Path, fault: str) -> NoReturn:
    """`InputError` that says why a file is not read."""
    raise InputError(f"{path} is not a safetensors file that can be read: {fault}; {REMEDY}")
