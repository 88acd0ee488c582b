"""The command: what it refuses, what it says, and how it ends."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import replace

import pytest

from tests.conftest import OLDER_RUN, ROOT
from tests.support import warm
from tests.support.serving import Client, serving, wait_until
from zsnmt.cli import serve
from zsnmt.console import WrongUse
from zsnmt.decoding.options import EngineChoice
from zsnmt.decoding.search import Search
from zsnmt.errors import InputError
from zsnmt.inference.translation import join_translations
from zsnmt.languages import Direction
from zsnmt.serving.server import bind
from zsnmt.serving.server import serve as serve_at
from zsnmt.serving.systems import open_systems


def test_a_port_that_is_taken_is_refused():
    with bind("127.0.0.1", 0) as taken:
        taken.listen()
        with pytest.raises(InputError, match="cannot be had.*give another --port"):
            bind("127.0.0.1", taken.getsockname()[1])


def test_a_port_that_is_taken_while_a_model_is_opened_is_refused(caplog):
    """Two sockets may be bound to a port as long as nobody listens at either."""
    from fastapi import FastAPI

    with bind("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with bind("127.0.0.1", port) as second:
            first.listen()
            with pytest.raises(InputError, match=f"^port {port} of 127.0.0.1 cannot be had"):
                serve_at(FastAPI(), second, seconds=1, names=[])
    assert not caplog.records


@pytest.mark.parametrize(
    "host, port, message",
    [
        ("127.0.0.1", 70_000, "--port is 70000"),
        ("127.0.0.1", -1, "--port is -1"),
        ("no such host", 0, "cannot be had"),
        ("a..b", 0, "cannot be had"),  # which is no name of a host
        ("192.0.2.1", 0, "cannot be had"),  # nobody's address, RFC 5737
    ],
)
def test_an_address_that_cannot_be_had_is_refused(host, port, message):
    with pytest.raises(InputError, match=message):
        bind(host, port)


def test_each_address_of_a_host_is_tried(monkeypatch):
    """As of localhost, where that has one of a kind that the machine does not use."""
    (family, kind, protocol, name, _), *_ = socket.getaddrinfo("127.0.0.1", 0, type=socket.SOCK_STREAM)
    found = [(family, kind, protocol, name, (host, 0)) for host in ("192.0.2.1", "127.0.0.1")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *given, **named: found)
    with bind("localhost", 0) as listener:
        assert listener.getsockname()[0] == "127.0.0.1"


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setattr(serve, "PACKAGES", ("no_such_package",))
    with pytest.raises(InputError, match="needs no_such_package; install it with pip install 'zsnmt.serve.'"):
        serve.main(["RUN"])


@pytest.mark.parametrize(
    "words, message",
    [
        (["no_such_run"], "no_such_run"),
        (["RUN", "RUN"], "is named twice"),
        (["RUN", "--queue", "0"], "--queue is 0"),
        (["RUN", "--keys", "no_such_file"], "no_such_file"),
        (["RUN", "--beam", "0"], "a beam of 0"),
        (["RUN", "--ways", "vote"], "no way 'vote' to translate"),
        (["RUN", "--ways", "mask"], "piece_counts.tsv is missing"),
        (["RUN", "--way", "mask"], "piece_counts.tsv is missing"),
        (["RUN", "--way", "ensemble"], "--way ensemble reads several sentences .*; give --ways ensemble"),
        (["RUN", "RUN/ctranslate2-int8", "--ways", "ensemble"], "an export, cannot translate by ensemble"),
    ],
)
def test_what_cannot_be_served_is_refused(older, words, message):
    run = str(older / OLDER_RUN)
    with pytest.raises(InputError, match=message):
        serve.main([*(word.replace("RUN", run) for word in words), "--port", "0"])


def test_a_run_translates_by_methods_and_says_how_sure_it_is(older):
    search, choice, text = Search(beam=2), EngineChoice(workers=1), "Memu vuhwu wima. Vugih wimamom."
    (system,) = open_systems([older / OLDER_RUN], search, choice, ways=["ensemble", "contrast"]).values()
    lines = ["Memu vuhwu wima.", "Vugih wimamom."]
    with serving(system) as client:
        for way in (None, "ensemble", "contrast"):
            status, answer = client.translate(text, "velan", "tamun", way=way, agreement=True)
            translator = system.translator_by(way)
            expected = translator.translate_with_scores(lines, "tamun", "velan")
            assert (status, answer["translatedText"]) == (200, " ".join(each.text for each in expected))
            mean = join_translations(expected).mean_log_probability
            assert answer["confidence"]["mean_log_probability"] == (mean and pytest.approx(mean, abs=1e-3))
            assert 0 <= answer["confidence"]["agreement"] <= 100


def test_a_search_with_a_beam_of_its_own_is_a_method_like_others(older):
    search, choice = Search(beam=2), EngineChoice(workers=1)
    (system,) = open_systems([older / OLDER_RUN], search, choice, way="search:beam=1").values()
    direction = Direction("velan", "tamun")
    assert system.way_of(None, direction) == system.way_of("search:beam=1", direction) == "search:beam=1"
    assert system.translator_by("search:beam=1").settings.beam == 1
    with serving(system) as client:
        own, direct = (
            client.translate("Memu vuhwu wima.", *direction, way=way, alternatives=1, details=True)[1]
            for way in (None, "direct")
        )
    assert (own["details"]["ways"], direct["details"]["ways"]) == ("search:beam=1", None)
    assert (own["alternatives"], len(direct["alternatives"])) == ([], 1)


def test_what_was_not_trained_goes_through_another_language_if_the_server_is_told_so(older):
    search, choice = Search(beam=2), EngineChoice(workers=1)
    (system,) = open_systems([older / OLDER_RUN], search, choice, via="inglan").values()
    two = [Direction("velan", "inglan"), Direction("inglan", "tamun")]
    assert [*system.legs("velan", "tamun")] == two
    assert [*system.legs("velan", "inglan")] == two[:1]
    assert [*replace(system, via=None).legs("velan", "tamun")] == [Direction("velan", "tamun")]
    with pytest.raises(InputError, match="unknown language 'xx'"):
        open_systems([older / OLDER_RUN], search, choice, via="xx")


def test_what_an_option_names_is_added_to_what_it_named_before():
    words = "RUN --origins http://a https://b:8080/ --origins * --ways mask --ways ensemble contrast".split()
    options = serve.make_parser().parse_args(words)
    assert options.origins == ["http://a", "https://b:8080", "*"]
    assert options.ways == ["mask", "ensemble", "contrast"]
    options = serve.make_parser().parse_args(["RUN"])
    assert (options.origins, options.ways) == ([], [])


@pytest.mark.parametrize("wrong", ["example.org", "https://example.org/page", "https://", "//example.org"])
def test_a_site_that_no_browser_names_so_is_refused(wrong):
    with pytest.raises(WrongUse, match=f"'{wrong}' is not a site; write one as https://example.org"):
        serve.make_parser().parse_args(["RUN", "--origins", wrong])
    assert serve.site("HTTPS://Example.org/") == "https://example.org"


@pytest.mark.parametrize("given", ["/mt", "mt", "/mt/"])
def test_a_prefix_is_read_with_or_without_its_slashes(given):
    assert serve.path_of(given) == "/mt" and serve.path_of("/") == serve.path_of("") == ""


@contextmanager
def command(python, *words):
    """A server in a process of its own, and a client of it."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        [python, "-m", "zsnmt", "serve", *map(str, words), "--port", "0"],
        cwd=ROOT,
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            said = ""
            while not (greeting := re.search(r"at http://([\d.]+):(\d+);", said)):
                said += process.stderr.readline() or pytest.fail(f"the server ended: {said}")
            yield process, Client(greeting[1], int(greeting[2]))
        finally:
            process.kill()


@pytest.mark.slow
def test_a_server_that_is_told_twice_ends_without_a_word(older):
    with command(sys.executable, older / OLDER_RUN) as (process, _):
        for _ in range(2):
            process.send_signal(signal.SIGTERM)
            time.sleep(0.05)
        process.wait(60)
        assert process.stderr.read() == ""


@pytest.mark.slow
@pytest.mark.parametrize("number, fresh", [(signal.SIGTERM, True), (signal.SIGINT, False)])
def test_a_server_that_is_told_to_end_answers_what_it_has(older, number, fresh):
    python = sys.executable if fresh else warm.environment() / "bin" / "python"
    with command(python, older / OLDER_RUN, "--gather", "10000", "--workers", "1") as (process, client):
        found = []
        body = {"q": "Memu vuhwu wima.", "source": "velan", "target": "tamun"}
        threads = [
            threading.Thread(target=lambda: found.append(client.ask("/translate", body))) for _ in range(3)
        ]
        for thread in threads:
            thread.start()
        wait_until(lambda: client.figure("zsnmt_queue_lines") == 3)
        process.send_signal(number)
        for thread in threads:
            thread.join()
        assert process.wait(60) == 0 and process.stderr.read() == ""
        assert [status for status, _ in found] == [200] * 3 and json.dumps(found).count("translatedText") == 3
        with pytest.raises(ConnectionRefusedError):
            client.ask("/health")
