"""README.md and the tour: short, with paths that exist, commands that are understood, Python that runs."""

import re
import shlex

import pytest

from tests.conftest import ROOT
from zsnmt import cli, console
from zsnmt.modules.position_names import ENCODINGS, INPUT_ENCODINGS, POSITION_ENCODINGS, RELATIVE_KEYS, TUPE

README, TOUR, OPTIONS = (
    (ROOT / name).read_text(encoding="utf-8")
    for name in ("README.md", "docs/tour.md", "docs/which_option.md")
)
FOLDERS = ("recipes/", "scripts/", "docs/", "configs/", "zsnmt/")
MADE = "mine"  # what a reader makes
INDENTED = re.compile(r" {4}(zsnmt |bash recipes/)")
PAGES = [page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs").glob("*.md"))]


class Understood(Exception):
    """Ends a command once its words are read."""


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)


def commands(text: str) -> list[str]:
    lines = "".join(blocks(text, "bash")).replace("\\\n", " ").splitlines()
    found = [line.split("  #")[0].partition(" < ")[0].replace("[RUN ...]", "").strip() for line in lines]
    return [line for line in found if line]


def indented_commands(text: str) -> list[str]:
    """Those of pages that set them off by four spaces, without the ones that are only sketched."""
    lines = text.replace("\\\n", " ").splitlines()
    found = [
        line.strip().split("  #")[0].partition(" < ")[0].partition(" | ")[0].strip()
        for line in lines
        if INDENTED.match(line)
    ]
    return [line for line in found if not {*"…[$"} & {*line}]


def test_the_readme_fits_on_a_few_screens():
    assert len(README.splitlines()) <= 150


@pytest.mark.parametrize("text", [README, TOUR, OPTIONS], ids=["README", "tour", "options"])
def test_paths_in_prose_exist(text):
    for word in re.sub(r"[`()\[\]]", " ", text).split():
        if word.startswith(FOLDERS) and MADE not in word:
            assert (ROOT / word.rstrip(".,:;").split("#")[0]).exists(), word


def test_the_tour_names_every_verb():
    found = re.findall(r"zsnmt ([a-z-]+)|recipes/([a-z_]+)\.sh|`([a-z-]+)`", TOUR)
    named = {word.replace("_", "-") for words in found for word in words}
    assert [verb for verb in cli.VERBS if verb not in named] == []


def test_every_position_encoding_is_named():
    assert f"| `--encoder-position-encoding` | {', '.join(f'`{name}`' for name in ENCODINGS)} |" in OPTIONS
    assert {*INPUT_ENCODINGS, *TUPE, *RELATIVE_KEYS} == {*POSITION_ENCODINGS}


@pytest.mark.parametrize(
    "command",
    dict.fromkeys(
        [*commands(README), *commands(TOUR), *(each for page in PAGES for each in indented_commands(page))]
    ),
)
def test_a_command_is_understood(command, monkeypatch, tmp_path, capsys):
    """Its verb reads its words without an error; fairseq's commands are run by tests of their own."""
    words = shlex.split(command)
    if words[0] in ("source", "cp", "fairseq-train", "fairseq-generate"):
        return
    if words[0] == "bash":
        path = ROOT / words[1]
        assert path.is_file(), words[1]
        if path.name == "test.sh":
            return
        words = [
            "zsnmt",
            *re.search(r"zsnmt ([a-z-]+)", path.read_text(encoding="utf-8")).groups(),
            *words[2:],
        ]
    assert words[0] == "zsnmt", command
    if words[1:] == ["--help"]:
        cli.run(words[1:])
        assert "zsnmt VERB" in capsys.readouterr().out
        return
    read = {name: getattr(console.Parser, name) for name in ("parse_args", "parse_intermixed_args")}

    def stop(name):
        def parse(self, *arguments):
            monkeypatch.undo()
            read[name](self, *arguments)
            raise Understood

        return parse

    for name in read:
        monkeypatch.setattr(console.Parser, name, stop(name))
    with pytest.raises((Understood, SystemExit)) as ended:
        cli.run(
            [
                str(ROOT / word) if word.startswith("configs/") and MADE not in word else word
                for word in words[1:]
            ]
        )
    if ended.type is SystemExit:  # of --help
        assert ended.value.code in (0, None) and "--help" in words


@pytest.mark.slow
def test_the_python_of_the_readme_runs(tiny, capsys):
    (code,) = blocks(README, "python")
    assert len(code.splitlines()) == 6
    sentences = (tiny.folder / "text/test.velan").read_text(encoding="utf-8").splitlines()[:2]
    for shown, meant in (
        ("runs/mine/zs_transformer_direct/seed1", str(tiny.run())),
        ("Ein Hund rennt.", sentences[0]),
        ("Zwei Katzen schlafen.", sentences[1]),
        ('"fr"', '"velor"'),
        ('"de"', '"velan"'),
    ):
        assert shown in code
        code = code.replace(shown, meant)
    exec(compile(code, "README.md", "exec"), {})
    assert len(capsys.readouterr().out.splitlines()) == 2
