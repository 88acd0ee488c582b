"""Documents over the wire: a file is sent, and its translation waits for who knows its address."""

import json
import time
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from urllib.parse import urlsplit

import pytest

from tests.support.serving import FRENCH, GERMAN, Client, ToldTranslator, serving, told_system, wait_until
from zsnmt.decoding.methods.settings import parse_method
from zsnmt.errors import InputError
from zsnmt.serving import server
from zsnmt.serving.limits import Limits
from zsnmt.serving.requests import File
from zsnmt.serving.uploads import WAITS, Parcels, name_of_translation, read_upload

LIMITS = Limits(document=400, upload=20_000, seconds=30, gather=0)
BOUNDARY = "------some-boundary"
XLIFF = """<xliff version="1.2"><file source-language="en" original="x" target-language="{}"><body>
<trans-unit id="1"><source>Hello</source></trans-unit>
<trans-unit id="2"><source>Done</source><target>Fait</target></trans-unit></body></file></xliff>"""


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    method = ToldTranslator(parse_method("ensemble"))
    with serving(told_system("told", ensemble=method), limits=LIMITS) as made:
        yield made


def form(name: str | None, content: str | bytes, **fields: str) -> bytes:
    """A form with a file, unless it has no name."""
    content = content if isinstance(content, bytes) else content.encode()
    parts = [f'name="{field}"\r\n\r\n{value}'.encode() for field, value in fields.items()]
    if name is not None:
        head = f'name="file"; filename="{name}"\r\nContent-Type: application/octet-stream\r\n\r\n'
        parts.append(head.encode() + content)
    start = f"--{BOUNDARY}\r\nContent-Disposition: form-data; ".encode()
    return b"\r\n".join([*(start + part for part in parts), f"--{BOUNDARY}--\r\n".encode()])


def send(client: Client, name: str | None, content: str | bytes, **fields: str) -> tuple[int, dict]:
    fields = {"source": "en", "target": "de", **fields}
    kind = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
    return client.ask("/translate_file", form(name, content, **fields), kind)


def fetched(client: Client, answer: tuple[int, dict]) -> tuple[str, dict]:
    """The document at the address of an answer, and its headers."""
    status, content = answer
    assert (status, [*content]) == (200, ["translatedFileUrl"])
    assert content["translatedFileUrl"].startswith(f"{client.url}/download_file/")
    status, text, headers = client.answer(urlsplit(content["translatedFileUrl"]).path)
    assert status == 200
    return text, headers


def test_a_page_with_a_byte_order_mark_is_read():
    document = read_upload(File("page.html", b"\xef\xbb\xbf<html><p>Hello</p></html>"), most=1000)
    assert [passage.text for passage in document.passages] == ["Hello"]


def test_a_document_comes_back_in_its_form_under_a_new_name(client):
    page = '<html lang="en"><p>Hello <b>there</b>.</p><pre>kept</pre></html>'
    text, headers = fetched(client, send(client, "my page.html", page))
    assert text.startswith('<html lang="de"><p>en-de: Hello') and "<pre>kept</pre>" in text
    assert headers["content-disposition"] == "attachment; filename*=UTF-8''my%20page_de.html"
    assert headers["x-content-type-options"] == "nosniff"
    assert fetched(client, send(client, "a.txt", "One.\n\nTwo.\n"))[0] == "en-de: One.\n\nen-de: Two.\n"
    assert "<target state" in fetched(client, send(client, "a.XLF", XLIFF.format("de-CH")))[0]


def test_the_language_is_found_and_the_way_is_the_one_that_is_asked_for(client):
    assert fetched(client, send(client, "a.txt", FRENCH, source="auto"))[0] == f"fr-de: {FRENCH}"
    assert fetched(client, send(client, "a.txt", GERMAN, source="auto"))[0] == GERMAN
    through = fetched(client, send(client, "a.txt", FRENCH, source="fr", via="en", system=""))[0]
    assert through == f"en-de: fr-en: {FRENCH}"
    assert fetched(client, send(client, "a.txt", "Yes.", way="ensemble"))[0] == "ensemble en-de: Yes."
    assert fetched(client, send(client, "a.html", "<p>12:30</p>"))[0] == "<p>12:30</p>"


@pytest.mark.parametrize(
    "name, content, fields, status, message",
    [
        (None, "", {}, 400, "'file' is missing: it must be a document, with its name"),
        ("a.txt", "Yes.", {"target": ""}, 400, "'target' is missing"),
        ("a.txt", "Yes.", {"target": "xx"}, 400, "unknown language 'xx'"),
        ("a.pdf", "Yes.", {}, 400, "'a.pdf' is not of a known format; send a file that ends in .txt, .html"),
        ("a", "Yes.", {}, 400, "'a' is not of a known format; send a file that ends in .txt, .html"),
        ("a.docx", "Yes.", {}, 400, "'a.docx' is not a Word document (.docx), or is protected or damaged"),
        ("a.txt", b"\xff", {}, 400, "'a.txt', line 1: byte 0xff is not UTF-8"),
        ("a.txt", "", {}, 400, "'a.txt' is empty"),
        ("a.txt", "a\0b", {}, 400, "control character U+0000"),
        ("a.txt", "word " * 81, {}, 413, "the request has 405 characters, and this server takes at most 400"),
        ("a.txt", b"a" * 100_000, {}, 413, "the request is larger than 85536 bytes"),
        ("a.txt", "Yes.", {"system": "none"}, 400, "there is no system 'none'"),
        ("a.xlf", XLIFF.format("fr"), {}, 400, "has translations into 'fr', beside which those into 'de'"),
        ("../../a/../b.txt", b"\xff", {}, 400, "'b.txt', line 1"),
    ],
)
def test_what_cannot_be_translated_is_refused_in_a_sentence(client, name, content, fields, status, message):
    found, answer = send(client, name, content, **fields)
    assert found == status and [*answer] == ["error"] and message in answer["error"]
    assert "/tmp" not in answer["error"]


def test_forms_that_are_none(client):
    for body, kind, status in (
        (b"nothing", "multipart/form-data; boundary=x", 400),
        (b"nothing", "multipart/form-data", 400),
        (b"{}", "application/json", 415),
    ):
        assert client.ask("/translate_file", body, {"Content-Type": kind})[0] == status
    assert client.translate("after")[0] == 200


def test_a_document_goes_into_one_language(client):
    body = form("a.txt", "Yes.", source="en", target="de", other="fr").replace(b'"other"', b'"target"')
    kind = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
    error = "'target' is not right: it must be the language to translate into"
    assert client.ask("/translate_file", body, kind) == (400, {"error": error})


def test_a_server_below_a_prefix_names_the_address_there():
    """The web server in front of it takes the prefix off."""
    with serving(told_system(), limits=LIMITS, prefix="/mt") as client:
        address = send(client, "a.txt", "Yes.")[1]["translatedFileUrl"]
        assert address.startswith(f"{client.url}/mt/download_file/")
        assert client.answer(urlsplit(address).path.removeprefix("/mt"))[1] == "en-de: Yes."
        assert client.figure('zsnmt_requests_total{path="/translate_file",status="200"}') == 1
        assert client.answer("/")[0] == 200


def test_a_document_that_is_not_there_any_more(client):
    status, answer = client.ask("/download_file/nonsense/a_de.txt")
    assert status == 404 and "is not here any more; send it again" in answer["error"]


def test_a_server_may_take_no_documents_or_ask_for_a_key():
    with serving(told_system(), limits=replace(LIMITS, document=0)) as client:
        assert send(client, "a.txt", "Yes.")[0] == 403
        settings = client.ask("/frontend/settings")[1]
        assert (settings["filesTranslation"], settings["supportedFilesFormat"]) == (False, [])
    with serving(told_system(), limits=LIMITS, keys=["secret"]) as client:
        assert send(client, "a.txt", "Yes.")[0] == 403
        assert fetched(client, send(client, "a.txt", "Yes.", api_key="secret"))[0] == "en-de: Yes."


def test_the_settings_and_the_description_know_of_documents(client):
    settings = client.ask("/frontend/settings")[1]
    assert settings["filesTranslation"] and {".docx", ".txt", ".xlf"} <= {*settings["supportedFilesFormat"]}
    body = client.ask("/openapi.json")[1]["paths"]["/translate_file"]["post"]["requestBody"]
    schema = body["content"]["multipart/form-data"]["schema"]
    assert schema["required"] == ["file", "target"] and json.dumps(schema)


def test_what_unpacks_to_too_much_is_not_unpacked(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.docx", "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("word/document.xml", b"0" * 2_000_000)
    content = (tmp_path / "a.docx").read_bytes()
    with pytest.raises(InputError, match="'a.docx' unpacks to too much"):
        read_upload(File("a.docx", content), 20_000)


@pytest.mark.parametrize(
    "name, translated",
    [
        ("a.docx", "a_de.docx"),
        ("a b.tar.html", "a b.tar_de.html"),
        ("..\\x\\a.txt", "a_de.txt"),
        ("/a.po", "a_de.po"),
    ],
)
def test_the_name_of_a_translation(name, translated):
    assert name_of_translation(name, "de") == translated


def test_translations_wait_some_minutes_and_no_more_than_there_is_room_for():
    now = [0.0]
    parcels = Parcels(10, clock=lambda: now[0])  # a hundred bytes
    first = parcels.keep(File("a", b"1" * 60))
    assert parcels.fetch(first).content == b"1" * 60
    now[0] = WAITS - 1
    second = parcels.keep(File("b", b"2" * 50))
    assert parcels.fetch(first) is None and parcels.fetch(second).name == "b"
    third = parcels.keep(File("c", b"3" * 50))
    now[0] = 2 * WAITS - 1
    assert parcels.fetch(second) and parcels.fetch(third)
    now[0] += 2
    assert not parcels.fetch(second) and not parcels.fetch(third) and not parcels.waiting
    assert len({parcels.keep(File("d", b"")) for _ in range(9)}) == 9


def test_long_documents_leave_half_of_the_queue_to_sentences():
    translator, limits = ToldTranslator(), replace(LIMITS, queue=16, batch=1, document=10_000)
    text = "\n".join(f"wait {number}." for number in range(50))
    with serving(told_system("told", translator), limits=limits) as client, ThreadPoolExecutor(8) as threads:
        documents = [threads.submit(send, client, f"{number}.txt", text) for number in range(6)]
        wait_until(lambda: sum(each.done() for each in documents) == 2)
        assert client.app.state.batcher.lines == 8
        sentence = threads.submit(client.translate, "Hello.")
        wait_until(lambda: client.app.state.batcher.lines == 9)
        translator.go.set()
        assert sentence.result(60) == (200, {"translatedText": "en-de: Hello."})
        assert sorted(each.result(60)[0] for each in documents) == [200] * 4 + [503] * 2


def test_a_long_document_is_translated_in_portions():
    limits = replace(LIMITS, queue=8, document=10_000)
    lines = [f"Line {number}." for number in range(50)]
    with serving(told_system(), limits=limits) as client:
        translated = fetched(client, send(client, "a.txt", "\n".join(lines)))[0]
    assert translated == "\n".join(f"en-de: {line}" for line in lines)


class Slow(ToldTranslator):
    """Takes a while for each line."""

    def n_best(self, lines):
        time.sleep(0.2 * len(lines))
        return super().n_best(lines)


@pytest.mark.slow
def test_a_document_that_a_server_cannot_end_before_it_stops_is_refused(monkeypatch, caplog):
    monkeypatch.setattr(server, "PATIENCE", 0)
    limits, translator = replace(LIMITS, seconds=2, batch=1, queue=16), Slow()
    with ThreadPoolExecutor() as threads, serving(told_system("told", translator), limits=limits) as client:
        text = "\n".join(f"Line {number}." for number in range(40))
        answer = threads.submit(send, client, "a.txt", text)
        wait_until(lambda: translator.batches)
    error = "the server is stopping; ask again when it is back"
    assert answer.result(60) == (503, {"error": error})
    assert "Traceback" not in caplog.text
