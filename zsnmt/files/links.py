"""A file under another name, without a second copy of it where the file system can do that."""

import os
import shutil
from pathlib import Path

from zsnmt.files.replacing import replacing


def link_or_copy(source: Path | str, path: Path | str) -> None:
    """Give a file another name; a copy where it cannot have two: on another file system, and on one without
    links, such as exFAT and many network shares.
    """
    try:
        os.link(os.path.realpath(source), path)
    except OSError:
        with Path(source).open("rb") as content, replacing(Path(path)) as file:
            shutil.copyfileobj(content, file)
