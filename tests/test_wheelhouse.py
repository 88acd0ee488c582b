"""A folder of wheels for a machine without network, and the set-up from it."""

import io
import os
import re
import shlex
import subprocess
import sys
import tarfile
import venv
import zipfile
from collections.abc import Sequence
from importlib.metadata import distribution
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.conftest import OLDER_RUN, ROOT
from zsnmt.cli import run, wheelhouse
from zsnmt.errors import InputError
from zsnmt.wheelhouse import COMPILED, Target, download, pinned_requirements

OTHER = Target("3.12", "aarch64")
SETUP = """from setuptools import Distribution, setup
class Compiled(Distribution):
    def has_ext_modules(self): return {compiled}
setup(name="{name}", version="1", py_modules=[], distclass=Compiled, install_requires={needs})
"""


def write_wheel(folder: Path, name: str, version: str) -> None:
    """A package with nothing in it."""
    name = name.replace("-", "_")
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


def write_source(folder: Path, name: str, needs: list[str] = [], compiled: bool = False) -> None:
    """The source of a package of version 1, which has no wheel."""
    files = {
        "setup.py": SETUP.format(name=name, needs=needs, compiled=compiled),
        "PKG-INFO": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n",
    }
    with tarfile.open(folder / f"{name}-1.tar.gz", "w:gz") as archive:
        for file, content in files.items():
            entry = tarfile.TarInfo(f"{name}-1/{file}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content.encode()))


@pytest.fixture
def offered(tmp_path, monkeypatch) -> Path:
    """A folder where pip finds packages, and nowhere else."""
    folder = tmp_path / "offered"
    folder.mkdir()
    settings = {
        "FIND_LINKS": str(folder),
        "NO_INDEX": "1",
        "NO_BUILD_ISOLATION": "false",
        "CONFIG_FILE": os.devnull,
    }
    for name, value in settings.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    return folder


def test_a_target_takes_wheels_for_its_system_and_for_older_ones():
    options = Target("3.12", "aarch64", glibc=17).options
    platforms = options[3::2]
    assert options[:2] == ["--python-version", "3.12"] and {*options[2::2]} == {"--platform"}
    assert platforms[0] == "manylinux_2_17_aarch64" and "manylinux_2_18_aarch64" not in platforms
    assert {f"{name}_aarch64" for name in ("manylinux2014", "manylinux2010", "linux")} <= {*platforms}
    older = Target(glibc=12, machine="x86_64").options
    assert "manylinux2010_x86_64" in older and "manylinux2014_x86_64" not in older  # which needs glibc 2.17
    assert Target().is_here and not Target(machine="other").is_here
    with pytest.raises(InputError, match="Python 3.10 is not supported; give 3.11 or 3.12"):
        Target("3.10")
    for glibc in (-1, 4, 2_000_000_000):
        with pytest.raises(InputError, match=f"--glibc is {glibc}; give the N of 2.N, from 5 to 99"):
            Target(glibc=glibc)


@pytest.mark.slow
def test_wheels_come_with_all_that_they_need_and_sources_are_built(offered, tmp_path):
    for name in ("plain", "needed"):
        write_wheel(offered, name, "1")
    write_source(offered, "source_alone", needs=["needed"])
    (folder := tmp_path / "wheels").mkdir()
    download(folder, ["plain", "source_alone"], OTHER)
    assert sorted(file.name.split("-")[0] for file in folder.iterdir()) == ["needed", "plain", "source_alone"]
    assert all(file.name.endswith("-none-any.whl") for file in folder.iterdir())


@pytest.mark.slow
def test_what_would_not_run_there_is_not_brought(offered, tmp_path):
    write_source(offered, "compiled", compiled=True)
    (folder := tmp_path / "wheels").mkdir()
    with pytest.raises(
        InputError, match="compiled==1 has no wheel.* does not run with Python 3.12 on aarch64"
    ):
        download(folder, ["compiled"], OTHER)
    assert not [*folder.iterdir()]


def write_index(folder: Path, **packages: Sequence[str]) -> str:
    """The address of a package index in a folder, with some versions of some packages."""
    for name, versions in packages.items():
        (page := folder / name).mkdir(parents=True)
        for version in versions:
            write_wheel(page, name, version)
        links = "".join(f'<a href="{quote(wheel.name)}">{wheel.name}</a>' for wheel in page.glob("*.whl"))
        (page / "index.html").write_text(f"<!DOCTYPE html><html><body>{links}</body></html>")
    return folder.as_uri()


@pytest.fixture
def indexes(tmp_path, monkeypatch) -> tuple[str, str]:
    """Where pip finds packages, and an index of PyTorch for one version of CUDA; the versions that belong
    together are in them.
    """
    usual = write_index(tmp_path / "usual", torch=["2", "3"], plain=["1"])
    of_torch = write_index(tmp_path / "cu128", torch=["1+cu128", "2+cu128", "3+cu128"])
    for name, value in {"INDEX_URL": usual, "CONFIG_FILE": os.devnull}.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    for name in ("EXTRA_INDEX_URL", "FIND_LINKS", "NO_INDEX"):
        monkeypatch.delenv(f"PIP_{name}", raising=False)
    monkeypatch.setattr(
        wheelhouse, "pinned_requirements", lambda checkout: ["torch==2", f"{COMPILED}==1", "plain==1"]
    )
    for name in ("own_wheel", "add_compiled"):
        monkeypatch.setattr(wheelhouse, name, lambda *arguments: None)
    return usual, of_torch


@pytest.mark.slow
@pytest.mark.parametrize("chosen, torch", [(False, "torch-2-"), (True, "torch-2+cu128-")])
def test_pytorch_comes_from_the_index_that_is_given(indexes, tmp_path, capsys, chosen, torch):
    options = ["--torch-index", indexes[1]] if chosen else []
    wheelhouse.main([str(tmp_path / "wheels"), "--python", "3.12", *options])
    brought = sorted(file.name.removesuffix("py3-none-any.whl") for file in (tmp_path / "wheels").iterdir())
    assert brought == ["plain-1-", torch]


@pytest.mark.slow
def test_an_index_without_that_pytorch_is_refused(indexes, tmp_path):
    """Though pip would find it elsewhere, as another build."""
    other = write_index(tmp_path / "cu99", torch=["1+cu99"])
    with pytest.raises(InputError, match="cu99 has no torch==2 for Python 3.12 on aarch64"):
        wheelhouse.main(
            [str(tmp_path / "wheels"), "--torch-index", other, "--python", "3.12", "--machine", "aarch64"]
        )
    assert not (tmp_path / "wheels").exists()


def test_what_has_no_pytorch_takes_it_from_nowhere(tmp_path):
    with pytest.raises(InputError, match="which --light leaves out; give one of them"):
        wheelhouse.main([str(tmp_path / "wheels"), "--light", "--torch-index", "ADDRESS"])


@pytest.mark.parametrize("options", [[], ["--light"]])
def test_the_command_that_installs_names_the_folder_as_a_shell_reads_it(
    tmp_path, monkeypatch, capsys, options
):
    for name in ("own_wheel", "download", "add_compiled"):
        monkeypatch.setattr(wheelhouse, name, lambda *arguments, **settings: None)
    folder = str(tmp_path / "my wheels")
    wheelhouse.main([folder, *options])
    _, _, command = capsys.readouterr().out.rpartition("to install them: ")
    assert folder in shlex.split(command)


def test_a_folder_that_is_there_is_not_filled(tmp_path):
    with pytest.raises(InputError, match="is there already"):
        run(["wheelhouse", str(tmp_path)])


@pytest.mark.parametrize(
    "words, message",
    [
        (["--from", "EMPTY"], "there is no wheel in '.*'; make it with zsnmt wheelhouse"),
        (["--from"], "there is no wheel in ''"),
        (["--form"], "there is no option '--form'"),
        (
            ["--from", "EMPTY", "now", "--list"],
            "'now --list' is too much; give --from FOLDER, --list or nothing",
        ),
        (["--list", "now"], "'now' is too much"),
    ],
)
def test_set_up_refuses_what_it_cannot_install_from(tmp_path, words, message):
    words = [str(tmp_path) if word == "EMPTY" else word for word in words]
    stopped = set_up(tmp_path / "venv", *words)
    assert stopped.returncode == 1 and stopped.stderr.count("\n") == 1
    assert re.search(message, stopped.stderr)
    assert not (tmp_path / "venv").exists()


def set_up(folder: Path, *words: str) -> subprocess.CompletedProcess:
    """scripts/setup.sh for an environment in a folder; no package index answers it."""
    environment = {
        name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PIP_FIND_LINKS")
    }
    environment |= {"VENV": str(folder), "PYTHON": sys.executable, "PIP_CONFIG_FILE": os.devnull}
    environment |= {"PIP_INDEX_URL": "http://127.0.0.1:9/", "PIP_RETRIES": "0", "PIP_NO_COMPILE": "1"}
    command = ["bash", str(ROOT / "scripts" / "setup.sh"), *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True)


@pytest.mark.slow
def test_set_up_from_a_folder_needs_no_network(tmp_path):
    (wheels := tmp_path / "wheels").mkdir()
    environment = tmp_path / "venv"
    venv.create(environment, symlinks=True)
    (site,) = (environment / "lib").glob("*/site-packages")
    present = [distribution(name) for name in ("pip", "setuptools", "wheel")]
    for name in {file.parts[0] for each in present for file in each.files} - {"..", "__pycache__"}:
        (site / name).symlink_to(present[0].locate_file(name))
    pins = dict(pin.split("==") for pin in pinned_requirements(ROOT))
    for name, version in pins.items():
        write_wheel(wheels, name, version)
    done = set_up(environment, "--from", str(wheels))
    assert done.returncode == 0 and (environment / ".zsnmt-setup").is_file(), done.stderr
    installed = {path.name.partition("-")[0] for path in site.glob("*.dist-info")}
    assert {name.replace("-", "_") for name in pins} | {"zsnmt"} <= installed
    (tmp_path / "zsnmt" / "text").mkdir(parents=True)  # as a clone with a person's text
    where = subprocess.run(
        [environment / "bin" / "python", "-c", "import zsnmt.text.lines; print(zsnmt.__file__)"],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
    )
    assert where.stdout.strip() == str(ROOT / "zsnmt" / "__init__.py"), where.stderr


@pytest.mark.slow
def test_an_empty_environment_installs_from_the_folder_and_translates(tmp_path, older):
    """The one test that needs a package index."""
    asked = [sys.executable, "-m", "pip", "index", "versions", "srt", "--retries", "0", "--timeout", "10"]
    if subprocess.run(asked, capture_output=True).returncode:
        pytest.skip("no package index answers, from which wheels could be brought")
    folder, environment = tmp_path / "wheels", tmp_path / "venv"
    run(["wheelhouse", str(folder), "--light"])
    venv.create(environment, symlinks=True)
    pip = [sys.executable, "-m", "pip", "--python", str(environment / "bin" / "python")]
    words = ["--no-index", "--find-links", str(folder), "zsnmt[translate,serve,documents]"]
    settings = {"PATH": os.environ["PATH"], "PIP_CONFIG_FILE": os.devnull, "PIP_NO_COMPILE": "1"}  # sooner
    subprocess.run([*pip, "install", "--quiet", *words], env=settings, check=True)
    translated = subprocess.run(
        [environment / "bin" / "zsnmt", "translate", older / OLDER_RUN / "ctranslate2-int8", "--to", "tamun"],
        input="Memu vuhwu wima.\n",
        cwd=tmp_path,
        env=settings,
        capture_output=True,
        text=True,
    )
    assert translated.returncode == 0 and translated.stdout.strip(), translated.stderr
