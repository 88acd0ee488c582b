"""What a wheel of the project carries, and that it works where nothing else of the project is."""

import os
import re
import subprocess
import sys
import venv
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest

from tests.conftest import OLDER_RUN, ROOT
from tests.support.serving import Client
from zsnmt.benchmarks.installation import needed
from zsnmt.wheelhouse import own_wheel

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    own_wheel(ROOT, folder)
    (path,) = folder.iterdir()
    return path


class Installed:
    """An environment with the wheel, and with what its extras need and no more: links to the packages here.

    Commands run in an empty folder.
    """

    def __init__(self, folder: Path, wheel: Path, *extras: str) -> None:
        self.place = folder / "empty"
        self.place.mkdir()
        venv.create(folder / "venv", symlinks=True)
        self.python = folder / "venv" / "bin" / "python"
        (site,) = (folder / "venv" / "lib").glob("*/site-packages")
        with zipfile.ZipFile(wheel) as archive:
            (metadata,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
            requirements = message_from_bytes(archive.read(metadata)).get_all("Requires-Dist")
        links = {  # some packages share a folder
            file.parts[0]: package.locate_file(file.parts[0])
            for package in needed(requirements, extras).values()
            for file in package.files
        }
        for name in links.keys() - {"..", "__pycache__"}:
            (site / name).symlink_to(links[name])
        words = ["--python", self.python, "install", "--quiet", "--no-deps", "--no-index", wheel]
        subprocess.run([sys.executable, "-m", "pip", *map(str, words)], check=True, env=self.environment)

    @property
    def environment(self) -> dict[str, str]:
        return {
            name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VENV", "RUNS")
        }

    def start(self, *words, **options) -> subprocess.Popen:
        command = [self.python.with_name("zsnmt"), *words]
        return subprocess.Popen(
            [*map(str, command)],
            cwd=self.place,
            env=self.environment,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )

    def zsnmt(self, *words, text: str | None = None) -> tuple[int, str, str]:
        """How the command ended, and what it printed and said."""
        with self.start(*words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            printed, said = process.communicate(text, timeout=300)
        return process.returncode, printed, said


@pytest.fixture(scope="module")
def light(wheel, tmp_path_factory) -> Installed:
    pytest.importorskip("ctranslate2")
    return Installed(tmp_path_factory.mktemp("light"), wheel, "translate", "serve")


@pytest.fixture(scope="module")
def full(wheel, tmp_path_factory) -> Installed:
    return Installed(tmp_path_factory.mktemp("full"), wheel, "train")


def test_a_wheel_carries_what_lies_beside_the_code_and_nothing_else(wheel):
    carried = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    listed = subprocess.run(["git", "ls-files", "zsnmt", "configs"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("this is not a checkout")
    tracked = {name if name.startswith("zsnmt/") else f"zsnmt/{name}" for name in listed.stdout.split()}
    assert {name for name in carried if name.endswith(".py")} >= {
        name for name in tracked if name.endswith(".py")
    }
    beside = {name for name in carried if not name.endswith(".py")}
    assert beside == {name for name in tracked if not name.endswith(".py")}
    assert {"zsnmt/serving/page.html", "zsnmt/configs/word_orders.json", "zsnmt/report/page.css"} <= beside


def test_a_wheel_carries_licence_and_notices(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    for name in ("LICENSE", "THIRD_PARTY_NOTICES.md"):
        assert any(member.endswith(f".dist-info/licenses/{name}") for member in names)


def test_the_light_install_translates_and_says_what_it_lacks(light, older):
    export, text = older / OLDER_RUN / "ctranslate2-int8", "Memu vuhwu wima.\n"
    assert "usage: zsnmt VERB" in light.zsnmt("--help")[1]
    status, translation, said = light.zsnmt("translate", export, "--to", "tamun", text=text)
    assert status == 0 and translation.strip() and translation.count("\n") == 1, said
    for words in (("options",), ("translate", older / OLDER_RUN, "--to", "tamun")):
        status, _, said = light.zsnmt(*words, text=text)
        assert status == 1 and "pip install 'zsnmt[train]'" in said and said.count("\n") == 1
    assert not [*light.place.iterdir()]


def test_the_light_install_serves_the_page_and_translations(light, older):
    with light.start("serve", older / OLDER_RUN / "ctranslate2-int8", "--port", "0") as process:
        try:
            said = ""
            while not (greeting := re.search(r"at http://([\d.]+):(\d+);", said)):
                said += process.stderr.readline() or pytest.fail(f"the server ended: {said}")
            client = Client(greeting[1], int(greeting[2]))
            status, answer = client.translate("Memu vuhwu wima.", "velan", "tamun")
            assert status == 200 and answer["translatedText"]
            assert "<html" in client.answer("/")[1]
        finally:
            process.terminate()
    assert process.returncode == 0


def test_the_full_install_trains_where_it_is_called(full, tmp_path):
    text = tmp_path / "mine"
    text.mkdir()
    for name, lines in (("de", "Ein Hund rennt.\nZwei Katzen.\n"), ("en", "A dog runs.\nTwo cats.\n")):
        (text / f"train.de-en.{name}").write_text(lines * 40)
    status, printed, said = full.zsnmt("options", "zs_transformer_residual", "--own")
    assert status == 0 and "--encoder-residual-removal-layers" in printed, said
    said = full.zsnmt("train", "nothing.conf", "zs_transformer")[2]
    configs = Path(re.search("the ones that come with zsnmt are in (.*)", said)[1])
    assert (configs / "word_orders.conf").is_file() and full.python.parents[1] in configs.parents
    status, _, said = full.zsnmt("train", text, "--plan")
    assert status == 0 and (full.place / "runs" / "mine.conf").is_file(), said
