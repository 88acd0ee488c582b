"""A server's answers over the wire, to right requests and broken ones; translators do as they are told."""

import asyncio
import json
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from http.client import HTTPConnection
from typing import Any

import pytest
from sacrebleu import sentence_chrf

from tests.support.serving import FRENCH, GERMAN, Client, ToldTranslator, serving, told_system, wait_until
from zsnmt.decoding.methods.settings import parse_method
from zsnmt.inference.translation import Translation
from zsnmt.serving import errands
from zsnmt.serving.limits import Limits
from zsnmt.serving.texts import SplitText

LIMITS = Limits(characters=300, texts=5, queue=20, seconds=30, gather=0)
WAYS = ["ensemble", "contrast"]
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
MULTIPART = {"Content-Type": "multipart/form-data; boundary=x"}


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with serving(told_system("first"), told_system("second"), limits=LIMITS) as made:
        yield made


@pytest.fixture
def slow() -> Iterator[tuple[Client, ToldTranslator]]:
    """A server with little patience, and its translator."""
    translator = ToldTranslator()
    with serving(told_system("told", translator), limits=Limits(queue=3, seconds=3, gather=0)) as made:
        yield made, translator


# What is right


def multipart(**fields):
    """A form as a page sends it that may have a file; `file` is one."""
    parts = [
        f'--x\r\nContent-Disposition: form-data; name="{name}"'
        f"{'; filename=a.txt' * (name == 'file')}\r\n\r\n{value}\r\n"
        for name, value in fields.items()
    ]
    return ("".join(parts) + "--x--\r\n").encode()


def test_a_text_is_translated(client):
    assert client.translate("Hello") == (200, {"translatedText": "en-de: Hello"})


def test_texts_are_translated_each(client):
    answer = {"translatedText": ["en-de: one", "", "en-de: two\n en-de: three"]}
    assert client.translate(["one", "", "two\n three"]) == (200, answer)
    assert client.translate([]) == (200, {"translatedText": []})


def test_a_form_is_read_as_json_is(client):
    assert client.ask("/translate", b"q=gr%C3%BCn+%26+blau&source=de&target=en", FORM) == (
        200,
        {"translatedText": "de-en: grün & blau"},
    )
    empty = b"q=gr%C3%BCn&source=de&target=en&via=&way=&system=&alternatives=&api_key="
    assert client.ask("/translate", empty, FORM)[0] == 200
    assert client.ask("/translate", b"q=a&q=b&source=de&target=en&alternatives=1", FORM) == (
        200,
        {"translatedText": ["de-en: a", "de-en: b"], "alternatives": [["de-en+: a"], ["de-en+: b"]]},
    )
    whole = multipart(q="grün & blau", source="de", target="en", via="")
    assert client.ask("/translate", whole, MULTIPART) == (200, {"translatedText": "de-en: grün & blau"})


@pytest.mark.parametrize("nothing", [None, ""])
def test_a_field_that_says_nothing_is_as_if_it_were_not_there(client, nothing):
    """As programs send what their user has not set."""
    names = ("format", "alternatives", "api_key", "system", "via", "way", "confidence", "details")
    answer = {"translatedText": "en-de: Hello"}
    assert client.translate("Hello", **dict.fromkeys(names, nothing)) == (200, answer)
    assert client.translate(GERMAN, nothing, "en")[1]["detectedLanguage"]["language"] == "de"


def test_the_source_is_detected(client):
    status, answer = client.translate(GERMAN, "auto", "en")
    assert status == 200 and answer["translatedText"] == f"de-en: {GERMAN}"
    assert answer["detectedLanguage"]["language"] == "de"
    assert 50 < answer["detectedLanguage"]["confidence"] <= 100
    status, answer = client.translate([GERMAN, FRENCH], "auto", "en")
    assert [each[:7] for each in answer["translatedText"]] == ["de-en: ", "fr-en: "]
    assert [each["language"] for each in answer["detectedLanguage"]] == ["de", "fr"]


def test_a_text_that_is_in_the_target_language_stays(client):
    status, answer = client.translate(GERMAN, "auto", "de")
    assert (status, answer["translatedText"]) == (200, GERMAN)


def test_alternatives_are_other_translations(client):
    answer = {"translatedText": "en-de: Hello", "alternatives": ["en-de+: Hello", "en-de++: Hello"]}
    assert client.translate("Hello", alternatives=2) == (200, answer)


def test_markup_is_kept_and_says_nothing_of_the_language(client):
    page = (
        f"<p class='the English words of this tag say nothing about it'>{FRENCH}</p>"
        "<script>if (a < b) go()</script><P>&lt;bleu&gt;</P><!-- a comment -->"
    )
    status, answer = client.translate(page, "auto", "en", format="html")
    assert status == 200 and answer["detectedLanguage"]["language"] == "fr"
    translated = page.replace(FRENCH, f"fr-en: {FRENCH}").replace("&lt;bleu", "fr-en: &lt;bleu")
    assert answer["translatedText"] == translated


def test_a_text_is_cut_into_sentences_and_what_stands_between_them_is_kept(client):
    text = "One is here.  Two is there!\r\n\r\n\t12:30\nThree."
    expected = "en-de: One is here.  en-de: Two is there!\r\n\r\n\t12:30\nen-de: Three."
    assert client.translate(text) == (200, {"translatedText": expected})


def test_one_text_goes_into_several_languages_with_details(client):
    status, answer = client.translate(GERMAN, "de", ["en", "fr"], via="en", system="second", details=True)
    assert status == 200
    assert answer["translatedText"] == [f"de-en: {GERMAN}", f"en-fr: de-en: {GERMAN}"]
    seconds = answer["details"].pop("seconds")
    assert seconds >= 0 and answer["details"] == {
        "system": "second",
        "legs": [["de-en"], ["de-en", "en-fr"]],
        "kinds": ["supervised", "zero_shot"],
        "ways": [None, None],
        "identified": ["de", "de"],  # what was written is German all the same
    }


def test_languages_are_detected(client):
    status, answer = client.ask("/detect", {"q": FRENCH})
    assert status == 200 and answer[0]["language"] == "fr" and len(answer) == 3
    assert client.ask("/detect", {"q": " "}) == (200, [])


def test_languages_have_names_and_targets(client):
    status, answer = client.ask("/languages")
    assert status == 200 and answer[1] == {"code": "de", "name": "German", "targets": ["en", "fr"]}
    assert client.ask("/languages?system=second") == (200, answer)
    assert client.ask("/languages?system=third")[0] == 400


def test_settings_name_the_systems(client):
    status, answer = client.ask("/frontend/settings")
    assert status == 200 and answer["charLimit"] == 300 and answer["language"]["target"]["code"] == "de"
    assert [each["name"] for each in answer["systems"]] == ["first", "second"]


def test_health_and_metrics(client):
    before = client.figure('zsnmt_requests_total{path="/health",status="200"}')
    assert client.ask("/health") == (200, {"status": "ok"})
    assert client.figure('zsnmt_requests_total{path="/health",status="200"}') == before + 1
    lines = client.figure('zsnmt_lines_total{system="first"}')
    client.translate("one\ntwo")
    assert client.figure('zsnmt_lines_total{system="first"}') == lines + 2
    assert client.figure("zsnmt_queue_lines") == 0


@pytest.mark.parametrize(
    "path, status", [("/", 200), ("/health", 200), ("/nothing", 404), ("/translate", 405)]
)
def test_the_head_of_an_answer_can_be_asked_for(client, path, status):
    """As what watches a server does. It is that of the whole answer, without its body."""
    found, text, headers = client.answer(path, method="HEAD")
    assert (found, text) == (status, "")
    whole = client.answer(path)
    assert headers["content-length"] == str(len(whole[1].encode())) and whole[0] == status


def test_the_interface_describes_itself(client):
    status, answer = client.ask("/openapi.json")
    fields = answer["paths"]["/translate"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert status == 200 and {"q", "source", "target", "format"} < {*fields["properties"]}


# What is wrong


@pytest.mark.parametrize(
    "body, status, message",
    [
        (b"", 400, "is not application/json"),
        (b"{", 400, "is not application/json"),
        (b"\xff", 400, "is not application/json"),
        (b"[" * 2000, 400, "is not application/json"),
        (b"9" * 3000, 400, "must be a JSON object"),
        (b"9" * 5000, 400, "is not application/json"),
        ([], 400, "must be a JSON object"),
        ({}, 400, "'q' is missing"),
        ({"q": "a"}, 400, "'target' is missing: it must be the language"),
        ({"q": 3, "target": "de"}, 400, "'q' is not right: it must be a text, or an array"),
        ({"q": None, "target": "de"}, 400, "'q' is not right"),
        ({"q": ["a", 3], "target": "de"}, 400, "'q' is not right"),
        ({"q": [["a"]], "target": "de"}, 400, "'q' is not right"),
        ({"q": "a", "target": "xx"}, 400, "unknown language 'xx'"),
        ({"q": "a", "target": ""}, 400, "unknown language ''"),
        ({"q": "a", "source": "xx", "target": "de"}, 400, "unknown language 'xx'"),
        ({"q": "a", "source": "en", "target": "de", "via": "xx"}, 400, "unknown language 'xx'"),
        ({"q": "a", "source": "de", "target": "de"}, 400, "source and target are both 'de'"),
        ({"q": ["a"], "source": "en", "target": ["de"]}, 400, "both arrays"),
        ({"q": "a", "source": "en", "target": "de", "format": "pdf"}, 400, "must be text or html"),
        ({"q": "a", "source": "en", "target": "de", "alternatives": -1}, 400, "from 0 to 100"),
        ({"q": "a", "source": "en", "target": "de", "alternatives": "many"}, 400, "from 0 to 100"),
        ({"q": "a", "source": "en", "target": "de", "system": "third"}, 400, "choose one of: first; second"),
        ({"q": "a\0b", "source": "en", "target": "de"}, 400, "control character U+0000"),
        ({"q": "<![<b>", "source": "en", "target": "de", "format": "html"}, 400, "is not HTML"),
        ({"q": "\ud800", "source": "en", "target": "de"}, 400, "half a character"),
        ({"q": "a", "source": "en", "target": "\ud800"}, 400, "unknown language"),
        ({"q": "a", "source": "\ud800", "target": "de"}, 400, "unknown language"),
        ({"q": "fail", "source": "en", "target": "de"}, 500, "the log of the server says why"),
        ({"q": "a" * 301, "source": "en", "target": "de"}, 413, "301 characters"),
        ({"q": ["a"] * 6, "source": "en", "target": "de"}, 413, "6 texts"),
        ({"q": "a", "source": "en", "target": ["de"] * 6}, 413, "6 texts or languages"),
        ({"q": "\n".join("abcdefghijklmnopqrstu"), "source": "en", "target": "de"}, 413, "21 lines"),
        (b" " * 100_000, 413, "larger than"),
    ],
)
def test_a_broken_request_is_answered_in_words(client, body, status, message, caplog):
    found, answer = client.ask("/translate", body)
    assert found == status and [*answer] == ["error"] and message in answer["error"]
    assert client.translate("after")[0] == 200 and client.figure("zsnmt_queue_lines") == 0


@pytest.mark.parametrize(
    "path, body, headers, method, status",
    [
        ("/nothing", None, {}, "GET", 404),
        ("/translate", None, {}, "GET", 405),
        ("/health", None, {}, "DELETE", 405),
        ("/translate", b"q=a&target=de&source=en", {"Content-Type": "text/plain"}, "POST", 415),
        ("/translate", b"q=a&target=de&source=en", {"Content-Type": "multipart/form-data"}, "POST", 400),
        ("/translate", multipart(q="a", file="b"), MULTIPART, "POST", 400),
        ("/translate", b"q=%ff&target=de&source=en", FORM, "POST", 400),
        ("/translate", b"q=a&" + b"x=1&" * 2000, FORM, "POST", 400),
        ("/detect", b"q=a&q=b", FORM, "POST", 400),
        ("/detect", b"", FORM, "POST", 400),
    ],
)
def test_a_request_of_another_kind_is_answered_in_json(client, path, body, headers, method, status):
    found, answer = client.ask(path, body, headers, method)
    assert found == status and [*answer] == ["error"] and answer["error"].count("send") < 2


def test_a_wrong_method_is_told_the_right_ones(client):
    status, _, headers = client.answer("/translate", None, method="GET")
    assert (status, headers["allow"]) == (405, "POST")


class BrokenDetector:
    def rank(self, text: str) -> list[tuple[str, float]]:
        raise RuntimeError("a fault of the program")


def test_a_fault_of_the_server_itself_is_answered_and_counted():
    with serving(replace(told_system(), detector=BrokenDetector()), limits=LIMITS) as client:
        assert client.ask("/detect", {"q": "a"}) == (500, {"error": "the server failed; its log says why"})
        assert client.figure('zsnmt_requests_total{path="/detect",status="500"}') == 1
        assert client.translate("a")[0] == 200


def raw(client: Client, sent: bytes, end: bool = False) -> bytes:
    """What comes back for bytes, until the server closes the connection or has answered."""
    with socket.create_connection((client.host, client.port), timeout=60) as wire:
        wire.sendall(sent)
        if end:
            wire.shutdown(socket.SHUT_WR)
        answer = b""
        while not (answer.endswith(b"}") or b"Invalid" in answer) and (part := wire.recv(65536)):
            answer += part
        return answer


def test_what_is_not_http_is_answered_too(client):
    assert raw(client, b"\x16\x03\x01 hello\r\n\r\n").startswith(b"HTTP/1.1 400 ")
    assert raw(client, b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"x" * 200_000).startswith(b"HTTP/1.1 4")


def test_a_request_that_grows_without_end_is_stopped(client):
    chunk = b"2000\r\n" + b" " * 0x2000 + b"\r\n"
    head = b"POST /translate HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
    answer = raw(client, head + b"Transfer-Encoding: chunked\r\n\r\n" + chunk * 12)
    assert answer.startswith(b"HTTP/1.1 413 ") and b"larger than" in answer


@pytest.mark.slow
def test_a_request_that_does_not_come_to_its_end_is_answered(slow):
    head = b"POST /translate HTTP/1.1\r\nHost: a\r\nContent-Length: 50\r\n\r\n{"
    assert raw(slow[0], head).startswith(b"HTTP/1.1 408 ")
    assert raw(slow[0], head, end=True) == b""  # nobody is there
    assert slow[0].translate("after")[0] == 200


@pytest.mark.slow
def test_a_translation_that_is_late_is_refused_and_frees_its_place(slow):
    client, translator = slow
    assert client.translate("wait")[0] == 504
    assert client.translate("one")[0] == 504  # behind the first
    translator.go.set()
    wait_until(lambda: client.figure("zsnmt_queue_lines") == 0)
    assert client.translate("one")[0] == 200 and ["one"] not in translator.batches[:-1]


@pytest.mark.slow
def test_a_full_queue_refuses_for_a_moment(slow):
    client, translator = slow
    threads = [threading.Thread(target=client.translate, args=("wait",)) for _ in range(3)]
    for thread in threads:
        thread.start()
    wait_until(lambda: client.app.state.batcher.lines == 3)
    status, text, headers = client.answer("/translate", {"q": "a", "source": "en", "target": "de"})
    assert status == 503 and "ask again" in json.loads(text)["error"] and headers["retry-after"] == "1"
    translator.go.set()
    for thread in threads:
        thread.join()
    assert client.translate("a")[0] == 200


@pytest.mark.slow
def test_a_client_that_goes_away_frees_its_place():
    translator = ToldTranslator()
    with serving(told_system("told", translator), limits=Limits(queue=3, gather=0, batch=1)) as client:
        batcher, body = client.app.state.batcher, b'{"q": "wait\\na\\nb", "source": "en", "target": "de"}'
        head = b"POST /translate HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % len(body)
        with socket.create_connection((client.host, client.port)) as wire:
            wire.sendall(head + body)
            wait_until(lambda: translator.batches == [["wait"]])
            assert batcher.lines == 3
        wait_until(lambda: batcher.lines == 1)  # that which is being translated
        translator.go.set()
        wait_until(lambda: batcher.lines == 0)
        assert client.figure('zsnmt_requests_total{path="/translate",status="499"}') == 1
        assert client.translate("after")[0] == 200


# Who may ask


@pytest.mark.slow
def test_a_key_is_asked_for_in_the_body_or_the_header():
    with serving(told_system(), limits=LIMITS, keys=["secret"]) as client:
        assert client.translate("a")[0] == client.translate("a", api_key="wrong")[0] == 403
        assert client.translate("a", api_key="secret")[0] == 200
        body = {"q": "a", "source": "en", "target": "de"}
        assert client.ask("/translate", body, {"Authorization": "Bearer secret"})[0] == 200
        assert client.ask("/detect", {"q": "a"})[0] == client.ask("/metrics")[0] == 403
        assert "Authorization: Bearer KEY" in client.ask("/metrics")[1]["error"]
        assert client.answer("/metrics", headers={"Authorization": "Bearer secret"})[0] == 200
        assert client.ask("/health")[0] == client.ask("/languages")[0] == client.answer("/")[0] == 200
        assert client.ask("/frontend/settings")[1]["keyRequired"] is True


@pytest.mark.slow
def test_an_address_that_asks_too_often_is_told_so():
    with serving(told_system(), limits=Limits(rate=3, gather=0)) as client:
        begin = time.monotonic()
        found = [client.translate("a")[0] for _ in range(6)]
        if time.monotonic() - begin < 20:  # after which another one is allowed
            assert found == [200] * 3 + [429] * 3
        assert client.ask("/health")[0] == 200


@pytest.mark.slow
def test_pages_of_other_sites_may_ask_where_they_are_named():
    origin = {"Origin": "https://site.example"}
    body = {"q": "a", "source": "en", "target": "de"}
    with serving(told_system(), limits=LIMITS) as client:
        assert "access-control-allow-origin" not in client.answer("/translate", body, origin)[2]
    with serving(told_system(), limits=LIMITS, origins=["https://site.example"]) as client:
        headers = client.answer("/translate", body, origin)[2]
        assert headers["access-control-allow-origin"] == "https://site.example"
        assert headers["access-control-expose-headers"] == "Retry-After"  # which a page may read, too
        asked = {  # as a browser asks before it sends JSON
            **origin,
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "content-type",
        }
        connection = HTTPConnection(client.host, client.port, timeout=30)
        connection.request("OPTIONS", "/translate", headers=asked)
        answer = connection.getresponse()
        assert answer.status == 200 and "POST" in answer.headers["access-control-allow-methods"]
        connection.close()


# How sure, and by which method


def test_a_server_has_a_method_of_its_own_for_requests_that_name_none():
    ways = {way: ToldTranslator(parse_method(way).of(ToldTranslator.languages)) for way in WAYS}
    system = replace(told_system("told", None, **ways), way="contrast", via="en")
    with serving(system, limits=LIMITS) as client:
        for way, shown, used in ((None, "contrast ", "contrast"), ("direct", "", None)):
            answer = client.translate("One. Two.", way=way, details=True)[1]
            assert answer["translatedText"] == f"{shown}en-de: One. {shown}en-de: Two."
            assert answer["details"]["ways"] == used
        assert client.ask("/frontend/settings")[1]["systems"][0]["way"] == "contrast"


@pytest.mark.parametrize("server_goes", [None, "en"])
def test_the_servers_own_method_is_also_for_what_goes_through_another_language(server_goes):
    """And then for both translations. Another method of a request goes directly."""
    ways = {each: ToldTranslator(parse_method(each)) for each in ("mask", "ensemble:through=en")}
    system = replace(told_system("told", None, **ways), way="mask", via=server_goes)
    through = "mask en-fr: mask de-en: Hallo."
    with serving(system, limits=LIMITS) as client:
        for target, asked, text in (
            ("en", {}, "mask de-en: Hallo."),
            ("fr", {"via": "en"}, through),
            ("fr", {}, through if server_goes else "mask de-fr: Hallo."),
            ("fr", {"way": "direct", "via": "en"}, "en-fr: de-en: Hallo."),
            ("fr", {"way": "direct"}, "de-fr: Hallo."),
            ("fr", {"way": "ensemble:through=en"}, "ensemble de-fr: Hallo."),
        ):
            assert client.translate("Hallo.", "de", target, **asked)[1]["translatedText"] == text


@pytest.fixture(scope="module")
def offering() -> Iterator[Client]:
    """A server that offers methods."""
    ways = {way: ToldTranslator(parse_method(way).of(ToldTranslator.languages)) for way in WAYS}
    with serving(told_system("told", None, **ways), limits=LIMITS) as made:
        yield made


def test_a_translation_has_a_confidence_on_request(client):
    answer = {"translatedText": "en-de: Hello", "confidence": {"mean_log_probability": -0.25}}
    assert client.translate("Hello", confidence=True) == (200, answer)
    status, answer = client.translate(["Hello", ""], confidence=True, alternatives=1)
    assert answer["confidence"] == [{"mean_log_probability": -0.25}, {"mean_log_probability": None}]
    assert client.ask("/translate", b"q=Hello&source=en&target=de&confidence=true", FORM)[0] == 200


def test_the_agreement_is_with_the_other_way(client):
    direct, through = "de-fr: Hallo. de-fr: Du.", "en-fr: de-en: Hallo. en-fr: de-en: Du."
    for via, one, other in ((None, direct, through), ("en", through, direct)):
        status, answer = client.translate("Hallo. Du.", "de", "fr", via=via, agreement=True)
        assert (status, answer["translatedText"]) == (200, one)
        agreement = round(sentence_chrf(one, [other]).score, 2)
        assert answer["confidence"] == {"mean_log_probability": -0.25, "agreement": agreement}
    status, answer = client.translate(GERMAN, "de", ["en", "fr"], agreement=True, details=True)
    assert [each["agreement"] is None for each in answer["confidence"]] == [True, False]
    assert answer["details"]["legs"] == [["de-en"], ["de-fr"]]  # of what is given alone
    status, answer = client.translate(GERMAN, "auto", "de", agreement=True)
    assert answer["confidence"] == {"mean_log_probability": None, "agreement": None}


def test_a_server_that_goes_through_the_pivot_compares_with_the_direct_translation():
    with serving(replace(told_system(), via="en"), limits=LIMITS) as client:
        for via in (None, "en"):
            status, answer = client.translate("Hallo.", "de", "fr", via=via, agreement=True)
            assert (status, answer["translatedText"]) == (200, "en-fr: de-en: Hallo.")
            agreement = round(sentence_chrf(answer["translatedText"], ["de-fr: Hallo."]).score, 2)
            assert answer["confidence"]["agreement"] == agreement < 100


class OneSentence(ToldTranslator):
    """Has one translation of a text with a space, at a nat for each token, and several of a word."""

    def n_best(self, lines):
        return [
            [Translation(f"{line.direction} {line.text}", -1.0, 1)]
            if " " in line.text
            else [Translation(line.text + "!" * number, -9.0, 1) for number in range(line.number)]
            for line in lines
        ]


def test_of_a_sentence_with_markup_the_whole_counts_and_not_the_parts_by_which_it_is_cut():
    with serving(told_system("told", OneSentence()), limits=LIMITS) as client:
        status, answer = client.translate(
            "<b>Hello</b> you there", format="html", alternatives=2, confidence=True
        )
    assert status == 200 and answer == {
        "translatedText": "<b>en-de Hello</b> you there",
        "alternatives": [],  # none that differs
        "confidence": {"mean_log_probability": -1.0},
    }


def test_markup_is_neither_compared_nor_identified(client):
    script = "<script>if (there are many English words in this script) go()</script>"
    asked = {"source": "de", "target": "fr", "agreement": True, "details": True}
    _, text = client.translate(GERMAN, **asked)
    _, page = client.translate(f"{script}<p>{GERMAN}</p>", **asked, format="html")
    assert page["translatedText"] == f"{script}<p>{text['translatedText']}</p>"
    assert page["confidence"] == text["confidence"]
    assert page["details"]["identified"] == text["details"]["identified"] == "de"


def test_answers_are_made_beside_the_loop_that_serves_others(client, monkeypatch):
    made = []

    def note(answer: Any) -> Any:
        with pytest.raises(RuntimeError, match="no running event loop"):
            asyncio.get_running_loop()
        made.append(answer)
        return answer

    monkeypatch.setattr(errands, "agreement_score", lambda one, other: note(1.0))
    monkeypatch.setattr(SplitText, "fill", lambda *others: note("a text"))
    status, answer = client.translate(GERMAN, "de", "fr", agreement=True)
    assert (status, answer["translatedText"], made) == (200, "a text", ["a text", "a text", 1.0])


def test_a_method_translates_where_it_can_and_says_where(offering):
    status, answer = offering.translate(GERMAN, "de", ["en", "fr"], way="ensemble", details=True)
    assert status == 200 and answer["translatedText"] == [f"de-en: {GERMAN}", f"ensemble de-fr: {GERMAN}"]
    assert answer["details"]["ways"] == [None, "ensemble"]  # there is no second source into the pivot
    status, answer = offering.translate("One. Two.", way="contrast", agreement=True)
    assert answer["translatedText"] == "contrast en-de: One. contrast en-de: Two."
    assert offering.ask("/frontend/settings")[1]["systems"][0]["ways"] == WAYS


@pytest.mark.parametrize(
    "asked, message",
    [
        (
            {"q": "a", "way": "mask"},
            "told is not translated by 'mask' here; choose one of: ensemble; contrast",
        ),
        ({"q": "a", "way": "contrast"}, "all of this one are alike; give it two different lines"),
        ({"q": "a", "way": "ensemble", "source": "de", "target": "fr", "via": "en"}, "no other language"),
    ],
)
def test_what_a_method_cannot_do_is_said(offering, asked, message):
    status, answer = offering.translate(**{"source": "en", "target": "de", **asked})
    assert status == 400 and message in answer["error"]


def test_a_server_without_methods_says_so(client):
    status, answer = client.translate("a", way="mask")
    assert status == 400 and answer["error"] == "first is not translated by 'mask' here; leave 'way' out"
