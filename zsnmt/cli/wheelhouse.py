"""Bring all wheels that zsnmt needs into a folder, from which a machine without network installs.

    zsnmt wheelhouse FOLDER                                # for a machine like this one
    zsnmt wheelhouse FOLDER --python 3.12                  # for another
    zsnmt wheelhouse FOLDER --light                        # for translating and serving exports: no PyTorch

pip's own settings say where packages come from: PIP_EXTRA_INDEX_URL names PyTorch's index for a CPU, or for
a version of CUDA. Copy the folder and the checkout to the machine, and there:
    bash scripts/setup.sh --from FOLDER
"""

import shlex
from collections.abc import Sequence
from pathlib import Path

from zsnmt import console
from zsnmt.errors import InputError
from zsnmt.files.project import CHECKOUT
from zsnmt.files.replacing import new_folder
from zsnmt.wheelhouse import COMPILED, Target, add_compiled, download, own_wheel, pinned_requirements

LIGHT = "zsnmt[translate,serve,documents]"
MEGABYTE = 1_000_000


def main(arguments: Sequence[str] | None = None) -> None:
    parser = console.Parser(prog="zsnmt wheelhouse", description=__doc__)
    parser.add_argument("folder", type=Path, help="new folder for the wheels")
    parser.add_argument(
        "--light", action="store_true", help="what translates and serves exports, without PyTorch and fairseq"
    )
    console.add_fields(parser, Target)
    options = parser.parse_args(arguments)
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
            (compiled,) = (pin for pin in pins if pin.startswith(COMPILED))
            download(part, [pin for pin in pins if pin != compiled], target)
            add_compiled(part, compiled, target)
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
