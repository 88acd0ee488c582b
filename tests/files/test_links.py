"""Other names for files."""

import os

import pytest

from zsnmt.files.links import link_or_copy


@pytest.mark.parametrize("links", [True, False])
def test_a_file_gets_another_name_or_is_copied(tmp_path, monkeypatch, links):
    def refuse(*arguments):
        raise OSError("Operation not permitted")

    (tmp_path / "file").write_text("text")
    (tmp_path / "link").symlink_to("file")
    if not links:
        monkeypatch.setattr(os, "link", refuse)
    for name in ("file", "link"):
        link_or_copy(tmp_path / name, tmp_path / f"other_{name}")
        other = tmp_path / f"other_{name}"
        assert other.read_text() == "text" and not other.is_symlink()
        assert other.samefile(tmp_path / "file") == links
    assert len([*tmp_path.iterdir()]) == 4
