"""Steps that are done once: what makes them be done again, what does not, and what older markers say."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from zsnmt.errors import InputError
from zsnmt.training import steps as module
from zsnmt.training.children import side_by_side
from zsnmt.training.steps import MARKERS, Steps, content_of, listing, made_from, read_marker


class Recipe:
    """A step that copies the names and content of its input, which counts how often it was done and which
    files were read.
    """

    def __init__(self, folder: Path, monkeypatch) -> None:
        self.folder, self.input, self.output, self.done, self.read = (
            folder,
            folder / "input",
            folder / "output",
            0,
            [],
        )
        (self.input / "below").mkdir(parents=True)
        for name in ("one", "below/two"):
            (self.input / name).write_text(name)
        digest = module.sha256
        monkeypatch.setattr(module, "sha256", lambda path: self.read.append(path.name) or digest(path))

    def work(self) -> None:
        self.done += 1
        self.output.write_text(str(self.done))

    def __call__(self, check: bool = False, take_older: bool = True, **settings) -> int:
        """Ask for the step; how often it was done by now."""
        self.read.clear()
        Steps("test", check).make(
            self.folder,
            "step",
            self.output,
            self.work,
            inputs=[self.input],
            settings=settings,
            take_older=take_older,
        )
        return self.done


@pytest.fixture
def recipe(tmp_path, monkeypatch) -> Recipe:
    return Recipe(tmp_path, monkeypatch)


def touch(path: Path, seconds: int) -> None:
    """Move the time of a file."""
    os.utime(path, ns=(0, path.stat().st_mtime_ns + seconds * 10**9))


def test_a_step_is_done_once_and_its_inputs_are_read_once(recipe, capsys):
    assert recipe(size=3) == 1 and sorted(recipe.read) == ["one", "two"]
    assert recipe(size=3) == 1 and recipe.read == []
    assert capsys.readouterr().err == "test: step\ntest: step: done before\n"


def test_a_step_that_is_asked_for_twice_is_told_of_once(recipe, capfd):
    steps = Steps("test")

    def ask() -> None:
        settings = {"size": 3}
        steps.make(
            recipe.folder, "step", recipe.output, recipe.work, inputs=[recipe.input], settings=settings
        )

    ask()
    ask()
    assert capfd.readouterr().err == "test: step\n"
    steps = Steps("test")
    ask()
    assert side_by_side([ask, ask], most=2)
    assert capfd.readouterr().err == "test: step: done before\n"
    recipe.output.unlink()
    ask()
    assert capfd.readouterr().err == "test: step\n" and recipe.done == 2


def test_it_is_done_again_when_a_setting_an_input_or_the_output_changed(recipe):
    recipe(size=3)
    assert recipe(size=4) == 2
    assert recipe(size=4, other=None, flag=False, words=()) == 2  # as if they were left out
    (recipe.input / "one").write_text("another")
    assert recipe(size=4) == 3
    (recipe.input / "one").rename(recipe.input / "three")
    assert recipe(size=4) == 4
    (recipe.input / "new").write_text("")
    assert recipe(size=4) == 5
    recipe.output.unlink()
    assert recipe(size=4) == 6
    assert recipe(size=4) == 6


def test_a_number_that_is_zero_is_a_setting_and_what_is_empty_is_none():
    nothing = Steps("a").made_from([], {})
    assert Steps("a").made_from([], {"penalty": 0.0}) != nothing
    left_out = {"one": None, "two": False, "three": (), "four": [], "five": "", "six": 0}
    assert Steps("a").made_from([], left_out) == nothing


def test_a_file_of_another_time_is_read_and_its_new_time_kept(recipe):
    recipe()
    touch(recipe.input / "one", 5)
    assert recipe() == 1 and recipe.read == ["one"]
    assert recipe() == 1 and recipe.read == []


def test_check_reads_all_and_finds_what_size_and_time_hide(recipe):
    recipe()
    path = recipe.input / "one"
    time = path.stat().st_mtime_ns
    path.write_text("eno")
    os.utime(path, ns=(time, time))
    assert recipe() == 1 and recipe.read == []
    assert recipe(check=True) == 2 and sorted(recipe.read) == ["one", "two"]


def test_a_folder_that_is_moved_is_the_same(recipe, tmp_path, monkeypatch):
    recipe()
    moved = tmp_path / "moved"
    shutil.copytree(tmp_path, moved)
    other = Recipe(tmp_path / "unused", monkeypatch)
    other.folder, other.input, other.output = moved, moved / "input", moved / "output"
    assert other() == 0 and sorted(other.read) == ["one", "two"]


def test_a_failure_leaves_no_marker_and_says_how_to_go_on(recipe, capsys):
    recipe()
    (recipe.input / "one").write_text("another")

    def fail() -> None:
        raise InputError("it is wrong")

    recipe.work = fail
    with pytest.raises(InputError, match="it is wrong"):
        recipe()
    assert (
        "step failed; what was done is kept, and the same command goes on from it once that is mended"
        in capsys.readouterr().err
    )
    assert read_marker(recipe.folder, "step") is None


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"made_from": "x"}', '{"made_from": "x", "files": {"a": 3}}', "\0\0"]
)
def test_a_damaged_marker_counts_as_none(recipe, content):
    recipe()
    (recipe.folder / MARKERS / "step").write_text(content)
    assert recipe() == 2 and recipe() == 2


def test_a_marker_of_bash_holds_until_an_input_is_newer_or_the_output_is_gone(recipe):
    recipe(size=3)
    marker = recipe.folder / MARKERS / "step"
    marker.write_text("0123456789abcdef" * 4)
    assert recipe(size=3) == recipe(size=4) == 1 and recipe.read == []
    assert made_from(recipe.folder, "step") == marker.read_text() == "0123456789abcdef" * 4
    assert recipe(size=3, take_older=False) == 2  # where settings may differ from those of then
    marker.write_text("0123456789abcdef" * 4)
    touch(recipe.input / "one", 60)
    assert recipe(size=3) == 3 and json.loads(marker.read_text())["files"]
    marker.write_text("0123456789abcdef" * 4)
    recipe.output.unlink()
    assert recipe(size=3) == 4


def test_a_listing_changes_with_names_sizes_and_times_alone(recipe):
    before = listing(recipe.input)
    assert [name for name, *_ in before] == ["below/two", "one"] and recipe.read == []
    touch(recipe.input / "one", 1)
    assert listing(recipe.input) != before


def test_the_content_of_a_folder_has_the_checksum_that_bash_gave(recipe):
    (recipe.input / "One-2").write_text("")
    pipeline = "find -L . -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum | cut -d' ' -f1"
    of_bash = subprocess.run(
        ["bash", "-c", pipeline], cwd=recipe.input, capture_output=True, text=True, check=True
    ).stdout
    assert content_of(recipe.input) == of_bash.strip()


def test_links_that_lead_nowhere_are_no_files_of_a_folder(tmp_path):
    """As an editor's lock is one."""
    (tmp_path / "one").touch()
    (tmp_path / ".#one").symlink_to("somebody@somewhere.1")
    assert [*module.files_of(tmp_path)] == [tmp_path / "one"]
    assert [*module.files_of(tmp_path / "gone")] == [tmp_path / "gone"]  # which is then missed
