"""Bring all wheels that zsnmt needs into a folder, from which a machine without network installs.

    zsnmt wheelhouse FOLDER                                # for a machine like this one
    zsnmt wheelhouse FOLDER --python 3.12                  # for another
    zsnmt wheelhouse FOLDER --torch-index ADDRESS          # with PyTorch for a CPU, or for a version of CUDA
    zsnmt wheelhouse FOLDER --light                        # for translating and serving exports: no PyTorch

ADDRESS is that of PyTorch's own index for a CPU, or for that version of CUDA. pip's settings say where other
packages come from. Copy the folder and the checkout to the machine, and there:
    bash scripts/setup.sh --from FOLDER
"""

import shlex
from collections.abc import Sequence
from pathlib import Path

from zsnmt import console
from zsnmt.errors import InputError
from zsnmt.files.project import CHECKOUT
from zsnmt.files.replacing import new_folder
from zsnmt.wheelhouse import (
    COMPILED,
    Target,
    add_compiled,
    download,
    download_torch,
    own_wheel,
    pinned_requirements,
)

LIGHT = "zsnmt[translate,serve,documents]"
MEGABYTE = 1_000_000


def main(arguments: Sequence[str] | None = None) -> None:
    parser = console.Parser(prog="zsnmt wheelhouse", description=__doc__)
    parser.add_argument("folder", type=Path, help="new folder for the wheels")
    parser.add_argument(
        "--light", action="store_true", help="what translates and serves exports, without PyTorch and fairseq"
    )
    parser.add_argument(
        "--torch-index",
        metavar="ADDRESS",
        help="take PyTorch from here: its index for a CPU, or for one version of CUDA (default: from where "
        "other packages come)",
    )
    console.add_fields(parser, Target)
    options = parser.parse_args(arguments)
    if options.light and options.torch_index:
        parser.error(
            "--torch-index says where PyTorch comes from, which --light leaves out; give one of them"
        )
    target = Target(options.python, options.machine, options.glibc)
    if CHECKOUT is None:
        raise InputError("the versions that belong together are in a checkout; give this command in one")
    pins = pinned_requirements(CHECKOUT)
    with new_folder(options.folder) as part:
        own_wheel(CHECKOUT, part)
        if options.light:
            constraints = part / "constraints.txt"
            constraints.write_text("".join(f"{pin}\n" for pin in pins), encoding="utf-8")
            download(part, [LIGHT], target, options=["--constraint", str(constraints)])
            constraints.unlink()
        else:
            add_all(part, pins, target, torch_index=options.torch_index)
        files = [*part.iterdir()]
        size = sum(file.stat().st_size for file in files) / MEGABYTE
    print(
        f"{options.folder}: {len(files)} packages, {size:,.0f} MB, Python {target.python}, {target.machine}"
    )
    folder = shlex.quote(str(options.folder))
    there = f"bash scripts/setup.sh --from {folder}"
    if options.light:
        there = f"pip install --no-index --find-links {folder} '{LIGHT}'"
    print(f"to install them: {there}")


def add_all(folder: Path, pins: Sequence[str], target: Target, torch_index: str | None) -> None:
    """Put all that `scripts/setup.sh` installs into a folder, PyTorch from an index of its own if given."""
    (compiled,) = (pin for pin in pins if pin.startswith(COMPILED))
    (torch,) = (pin for pin in pins if pin.startswith("torch=="))
    others = [pin for pin in pins if pin not in (compiled, torch)]
    if torch_index:
        torch = download_torch(folder, torch, target, index=torch_index)
    indexes = ["--extra-index-url", torch_index] if torch_index else []  # has the parts of CUDA, too
    download(folder, [torch, *others], target, options=indexes)
    add_compiled(folder, compiled, target)
