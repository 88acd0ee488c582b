"""LibreTranslate's own client library against a server of a trained run."""

import json
from collections.abc import Iterator
from dataclasses import replace
from urllib.error import HTTPError

import pytest

from tests.conftest import OLDER_RUN
from tests.support.serving import Client, serving
from zsnmt.decoding.options import EngineChoice
from zsnmt.decoding.search import Search
from zsnmt.inference.translator import Translator
from zsnmt.serving.limits import Limits
from zsnmt.serving.systems import open_systems
from zsnmt.text.lines import read_lines

libretranslatepy = pytest.importorskip(
    "libretranslatepy", reason="libretranslatepy is not installed: no client of LibreTranslate was tried"
)
pytestmark = pytest.mark.slow
SEARCH, CHOICE = Search(beam=2), EngineChoice(workers=1)


@pytest.fixture(scope="module")
def lines(older) -> list[str]:
    return read_lines(older / "runs/tiny/text/test.velan")


@pytest.fixture(scope="module")
def systems(older):
    return open_systems([older / OLDER_RUN, older / OLDER_RUN / "ctranslate2-int8"], SEARCH, CHOICE)


@pytest.fixture(scope="module")
def client(systems) -> Iterator[Client]:
    with serving(*systems.values(), limits=Limits(gather=0), keys=["secret"]) as made:
        yield made


@pytest.fixture
def libre(client):
    return libretranslatepy.LibreTranslateAPI(client.url, "secret")


def test_the_client_library_translates_as_the_run_does(libre, older, lines):
    translator = Translator.open(older / OLDER_RUN, SEARCH, CHOICE)
    expected = translator.translate(lines[:3], "tamun", "velan")
    assert [libre.translate(line, "velan", "tamun") for line in lines[:3]] == expected
    assert libre.translate("\n".join(lines[:3]), "velan", "tamun") == "\n".join(expected)


def test_the_client_library_lists_languages(libre):
    assert [each["code"] for each in libre.languages()] == ["inglan", "velan", "tamun", "velor"]


def test_the_client_library_is_told_of_errors(client, libre):
    for api, words in (
        (libre, ("text", "velan", "german")),
        (libretranslatepy.LibreTranslateAPI(client.url, "wrong"), ("text", "velan", "tamun")),
    ):
        with pytest.raises(HTTPError) as error:
            api.translate(*words)
        assert error.value.code == (400 if api is libre else 403)
        assert json.loads(error.value.read())["error"]


def test_alternatives_are_different_translations(client, lines):
    status, answer = client.translate(lines[0], "velan", "tamun", alternatives=3, api_key="secret")
    assert status == 200 and len(answer["alternatives"]) == 1  # the beam less one
    assert answer["alternatives"][0] != answer["translatedText"]


def test_systems_stand_side_by_side(client, systems, lines):
    assert [*systems] == ["zs_transformer_residual, seed 1", "zs_transformer_residual, seed 1, export"]
    for name in systems:
        found = client.translate(lines[0], "velan", ["tamun", "velor"], system=name, api_key="secret")
        assert found[0] == 200 and all(found[1]["translatedText"])


def test_a_line_too_long_for_the_model_is_translated_in_parts(client, lines):
    status, answer = client.translate(" ".join(lines * 4), "velan", "tamun", alternatives=1, api_key="secret")
    assert status == 200 and len(answer["translatedText"].split()) > 20


def test_what_nothing_detects_must_be_named(systems, lines):
    """As of invented languages whose lexicons are not on this machine."""
    name, system = next(iter(systems.items()))
    with serving(replace(system, detector=None)) as client:
        for path, body in (("/translate", {"q": "a", "target": "tamun"}), ("/detect", {"q": "a"})):
            status, answer = client.ask(path, body)
            assert status == 400 and "name the source: one of inglan, velan" in answer["error"]
        status, answer = client.translate(lines[0], "velan", "tamun", details=True)
        assert status == 200 and answer["details"]["identified"] is None
