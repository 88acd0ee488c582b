"""Names that come from a person or a file and become part of a path."""

from pathlib import Path


def is_plain(name: str) -> bool:
    """Whether a name is that of something in a folder, which is seen there, and leads nowhere else."""
    return bool(name) and name.isprintable() and Path(name).name == name and not name.startswith(".")
