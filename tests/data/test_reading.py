"""Text into what a model reads, and back."""

from dataclasses import replace

import pytest
from fairseq.data import Dictionary

from tests.conftest import LANGUAGES, make_dictionary
from zsnmt.data.language_tags import TagPlacement
from zsnmt.data.reading import Codec, encode, load_dictionary
from zsnmt.decoding.search import Sentence
from zsnmt.errors import InputError
from zsnmt.languages import Direction
from zsnmt.text.pipeline import TextPipeline
from zsnmt.text.words import Words

AA_BB = Direction("aa", "bb")
LINE = "w3 w1 w4"


@pytest.fixture
def dictionary() -> Dictionary:
    return make_dictionary()


@pytest.fixture(params=TagPlacement.NAMES)
def codec(request, dictionary) -> Codec:
    return Codec(TextPipeline(Words()), TagPlacement(request.param, dictionary), LANGUAGES, [], longest=8)


def test_encoding_ends_in_eos_and_knows_its_limits(dictionary):
    assert encode(["w1", "☃"], dictionary) == [dictionary.index("w1"), dictionary.unk(), dictionary.eos()]
    assert encode([], dictionary) == [dictionary.eos()]


def test_a_source_has_its_tags_and_a_target_has_none(codec):
    index, eos = codec.dictionary.index, codec.dictionary.eos()
    words = [*map(index, LINE.split()), eos]
    tags = {
        "t_dec": [],
        "t_enc": ["bb"],
        "s_enc_t_dec": ["aa"],
        "s_enc_t_enc": ["aa", "bb"],
        "t_enc_t_dec": ["bb"],
        "s_enc_t_enc_t_dec": ["aa", "bb"],
    }[codec.placement.name]
    start = index("__bb__") if codec.placement.name.endswith("t_dec") else eos
    assert codec.source(LINE, AA_BB) == Sentence([*(index(f"__{tag}__") for tag in tags), *words], start)
    assert codec.tokens(LINE, "aa") == words and codec.sentence(words, AA_BB) == codec.source(LINE, AA_BB)
    assert [*codec.sources([LINE, "", LINE], AA_BB)] == [
        codec.source(line, AA_BB) for line in (LINE, "", LINE)
    ]
    assert codec.room(AA_BB) + len(tags) + 1 == codec.longest


def test_text_is_what_was_read_without_symbols_of_the_dictionary(codec):
    dictionary = codec.dictionary
    padded = [dictionary.pad(), *codec.tokens(f"{LINE} unheard", "aa"), dictionary.pad()]
    assert codec.text(padded, "aa") == LINE


def test_parts_fit_and_say_together_what_the_line_says(codec):
    line = " ".join(f"w{number}" for number in range(10))
    parts = codec.parts(line, "aa", room=4)
    assert [len(part) for part in parts] == [5, 5, 3] and {part[-1] for part in parts} == {
        codec.dictionary.eos()
    }
    assert " ".join(codec.text(part, "aa") for part in parts) == line
    assert (
        codec.parts(LINE, "aa", room=3) == [codec.tokens(LINE, "aa")] and codec.parts(" ", "aa", room=3) == []
    )


@pytest.mark.parametrize("known, other", [("caf\u00e9", "cafe\u0301"), ("cafe\u0301", "caf\u00e9")])
def test_an_accent_is_read_in_the_spelling_that_the_model_knows(dictionary, known, other):
    dictionary.add_symbol(known)
    codec = Codec(TextPipeline(Words()), TagPlacement("t_dec", dictionary), LANGUAGES, [], longest=8)
    assert codec.parts(f"{other} w1", "aa", room=4) == codec.parts(f"{known} w1", "aa", room=4)
    assert codec.unknown(f"{other} w1", "aa") == []
    for unknown in ("\u00eb", "e\u0308"):
        assert codec.unknown(unknown, "aa") == [unknown]  # as it is written, where no spelling is known


def test_the_source_language_is_asked_for_only_where_the_model_sees_it(codec):
    assert codec.direction("aa", "bb") == AA_BB
    if codec.placement.name.startswith("s_enc"):
        with pytest.raises(InputError, match="must be told the source language: one of piv, aa, bb, cc"):
            codec.direction(None, "bb")
    else:
        assert codec.direction(None, "bb").target == "bb" and codec.direction(None, "piv").source != "piv"
    for wrong, message in (
        (("aa", "aa"), "source and target are both 'aa'"),
        (("xx", "aa"), "unknown language 'xx': this model knows piv, aa, bb, cc"),
        (("aa", "xx"), "unknown language 'xx'"),
    ):
        with pytest.raises(InputError, match=message):
            codec.direction(*wrong)


def test_a_model_without_room_for_a_piece_is_refused(codec):
    tags = codec.longest - 1 - codec.room(AA_BB)
    for longest in range(-1, tags + 2):
        with pytest.raises(InputError, match=f"a model that reads {longest} tokens of a source has no place"):
            replace(codec, longest=longest)
    assert replace(codec, longest=tags + 2).room(AA_BB) == 1


@pytest.mark.parametrize("content", [b"\xff\xfe x 1\n", b"a\n", b"a x\n", b"\0\0", b"a 1\na 2\n"])
def test_a_file_that_is_not_a_dictionary_is_named(tmp_path, content):
    (tmp_path / "dict.aa.txt").write_bytes(content)
    with pytest.raises(
        InputError, match=f"{tmp_path}/dict.aa.txt is not a dictionary .*; copy it from where"
    ):
        load_dictionary(tmp_path / "dict.aa.txt")
