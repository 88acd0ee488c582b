import pickle
import random
import re
from collections import Counter
from itertools import chain
from pathlib import Path

import pytest
import sentencepiece

from tests.support.disk import full_after
from zsnmt.errors import InputError
from zsnmt.text import subword
from zsnmt.text.lines import write_lines
from zsnmt.text.piece_restriction import restrict_pieces
from zsnmt.text.settings import MODEL_TYPES
from zsnmt.text.subword import Subwords, frequent_pieces, restrict, train_subwords

SYLLABLES = {
    "de": ["schu", "len", "ver", "ung", "ka", "to", "strä", "ße"],
    "fr": ["ment", "ou", "été", "l’", "ka", "to", "ça", "eau"],
    "or": ["ଓ", "ଡ଼ି", "ଆ", "କ୍ଷ", "ka", "ମା"],
}
SENTENCES = {"de": 300, "fr": 200, "or": 30}
SIZE = {"bpe": 220, "unigram": 110}
THRESHOLD = 12


def sentences_of(language: str) -> list[str]:
    """Sentences of words with a long tail, the same in each run."""
    generator = random.Random(language)
    words = ["".join(generator.choices(SYLLABLES[language], k=generator.randint(1, 4))) for _ in range(200)]
    return [
        " ".join(words[min(int(generator.paretovariate(0.6)), 199)] for _ in range(9)) + " ."
        for _ in range(SENTENCES[language])
    ]


LINES = {language: sentences_of(language) for language in SYLLABLES}
TEXT = {language: lines.__iter__ for language, lines in LINES.items()}


@pytest.fixture(scope="module", params=MODEL_TYPES)
def model(request, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp(request.param) / "a.model"
    train_subwords(TEXT, path, SIZE[request.param], request.param)
    return path


@pytest.fixture(scope="module")
def plain(model) -> Subwords:
    return Subwords(model)


@pytest.fixture(scope="module")
def restricted(model) -> Subwords:
    return Subwords(model, restrict(model, TEXT, THRESHOLD))


def used(subwords: Subwords, language: str) -> Counter:
    return Counter(chain.from_iterable(subwords.encode_lines(LINES[language], language)))


# Encoding and decoding


@pytest.mark.parametrize(
    "sentence",
    [
        "schulen ver . été",
        "“quotes” ‘and’ «such»",
        "ﬁ ligature, ½, ①, Å and A\u030a",
        "क्षत्रिय हिन्दी में",
        "\u0915\u094d\u200d\u0937 joiners \u200c",
        "x\U0001f600y 東京",
        "<unk> <s> </s> <pad> __de__ &amp;",
        "",
        "a",
        "ଡ଼ି\u200b",
    ],
)
def test_decoding_undoes_encoding(sentence, plain, restricted):
    for subwords in (plain, restricted):
        assert subwords.decode(subwords.encode(sentence, "de")) == sentence


@pytest.mark.parametrize("space", ["  ", "\t", "\u00a0", "\u2009", "\u3000", "\u2028", "\u0085", "\x1c", "▁"])
def test_all_white_space_is_one_space(space, plain):
    pieces = plain.encode(f"{space}schulen{space}ver{space}", "de")
    assert pieces == plain.encode("schulen ver", "de")
    assert plain.decode(pieces) == "schulen ver"


def test_no_piece_is_split_by_a_dictionary(tmp_path):
    path = tmp_path / "a.model"
    train_subwords({"fr": lambda: ["ça\u00a0va\u2028bien\u3000ça"] * 99}, path, 14)
    pieces = Subwords(path).encode("ça\u00a0va\u2028bien\u3000ça", "fr")
    assert pieces == " ".join(pieces).split()


def test_every_piece_is_of_the_model_or_one_character(plain, restricted):
    processor = sentencepiece.SentencePieceProcessor(model_proto=plain.model)
    for subwords in (plain, restricted):
        for piece in subwords.encode("schulen XYZ<pad>Q __QX__ 東京東 <unk>", "de"):
            assert len(piece) == 1 or not processor.is_unknown(processor.piece_to_id(piece))


def test_many_sentences_are_encoded_as_one_by_one(plain):
    lines = (LINES["de"] * 8)[:2001]  # more than two batches
    lines[1] = ""
    assert list(plain.encode_lines(iter(lines), "de")) == [plain.encode(line, "de") for line in lines]


def test_decoding_takes_any_pieces(plain):
    assert plain.decode(["▁", "▁a", "b", "▁", "▁<unk>"]) == "ab <unk>"
    assert plain.decode([]) == ""


def test_characters_stay_as_they_are(tmp_path):
    train_subwords({"de": lambda: ["ﬁn Fin"] * 9}, tmp_path / "a", 8)
    subwords = Subwords(tmp_path / "a")
    assert subwords.decode(subwords.encode("ﬁn Fin", "de")) == "ﬁn Fin"


# Restriction


def test_restriction_keeps_the_guarantee_of_the_threshold(plain, restricted):
    for language in SYLLABLES:
        before, after = used(plain, language), used(restricted, language)
        assert all(len(piece) == 1 or before[piece] >= THRESHOLD for piece in after)


def test_restriction_has_an_effect_in_every_language(plain, restricted):
    for language in SYLLABLES:
        before, after = used(plain, language), used(restricted, language)
        assert any(len(piece) > 1 and count < THRESHOLD for piece, count in before.items())
        assert sum(after.values()) > sum(before.values())
        assert any(len(piece) > 1 for piece in after)


def test_restriction_holds_for_text_it_has_not_seen(restricted):
    for language in SYLLABLES:
        allowed = set(restricted.vocabularies[language])
        for other in SYLLABLES:
            for pieces in restricted.encode_lines(LINES[other], language):
                assert all(len(piece) == 1 or piece in allowed for piece in pieces)


def test_each_language_has_its_own_restriction(model, plain, restricted):
    only_de = Subwords(model, {"de": restricted.vocabularies["de"], "fr": sorted(used(plain, "fr"))})
    assert used(only_de, "de") == used(restricted, "de")
    assert used(only_de, "fr") == used(plain, "fr")


def test_a_threshold_of_one_changes_nothing_in_the_text_it_was_counted_on(model, plain):
    subwords = Subwords(model, restrict(model, TEXT, 1))
    for language, lines in LINES.items():
        assert list(subwords.encode_lines(lines, language)) == list(plain.encode_lines(lines, language))


def test_a_threshold_nothing_reaches_leaves_characters(model):
    subwords = Subwords(model, restrict(model, TEXT, 10**9))
    assert subwords.encode("schulen", "de") == ["▁", *"schulen"]


def test_the_boundary_of_the_threshold_is_inside():
    assert frequent_pieces({"b": 3, "a": 2, "c": 1}, 2) == ["a", "b"]


def test_counts_are_those_of_the_pieces(plain):
    assert used(plain, "fr") == Counter(piece for line in LINES["fr"] for piece in plain.encode(line, "fr"))


def test_a_model_with_all_pieces_allowed_is_the_same_model(plain):
    processor = sentencepiece.SentencePieceProcessor(model_proto=plain.model)
    pieces = [processor.id_to_piece(index) for index in range(len(processor))]
    assert restrict_pieces(plain.model, pieces) == plain.model
    restricted = sentencepiece.SentencePieceProcessor(model_proto=restrict_pieces(plain.model, []))
    assert [restricted.id_to_piece(index) for index in range(len(restricted))] == pieces


def test_control_and_user_defined_symbols_survive_a_restriction(tmp_path):
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(LINES["de"]),
        model_prefix=str(tmp_path / "other"),
        vocab_size=120,
        model_type="bpe",
        pad_id=0,
        unk_id=3,
        control_symbols=["<mask>"],
        user_defined_symbols=["ABC"],
        minloglevel=2,
    )
    model = (tmp_path / "other.model").read_bytes()
    processor = sentencepiece.SentencePieceProcessor(model_proto=restrict_pieces(model, []))
    assert processor.encode("ABC schu", out_type=str) == ["▁", "ABC", "▁", *"schu"]
    assert (processor.unk_id(), processor.is_control(processor.piece_to_id("<mask>"))) == (3, True)


# Files


def test_a_saved_folder_is_enough(restricted, plain, tmp_path):
    for subwords in (restricted, plain):  # the second save finds the vocabularies of the first
        subwords.save(tmp_path / "run")
        loaded = Subwords.load(tmp_path / "run")
        assert loaded.vocabularies == subwords.vocabularies
        assert loaded.model == subwords.model
        assert used(loaded, "or") == used(subwords, "or")


def test_loading_and_saving_in_place_changes_nothing(restricted, tmp_path):
    restricted.save(tmp_path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    Subwords.load(tmp_path).save(tmp_path)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_a_save_that_fails_cannot_be_loaded(restricted, tmp_path):
    restricted.save(tmp_path)
    with pytest.raises(OSError, match="File too large"), full_after(1000):
        restricted.save(tmp_path)
    with pytest.raises(InputError, match="no such subword model"):
        Subwords.load(tmp_path)


def test_subwords_travel_to_other_processes(restricted):
    assert used(pickle.loads(pickle.dumps(restricted)), "or") == used(restricted, "or")


# Training


def trained(path: Path, text=TEXT, model_type: str = "bpe", **arguments) -> bytes:
    train_subwords(text, path, SIZE[model_type], model_type, **arguments)
    return path.read_bytes()


@pytest.mark.parametrize("model_type", MODEL_TYPES)
def test_training_is_reproducible(model_type, tmp_path, monkeypatch):
    monkeypatch.setattr(subword, "MOST_SENTENCES", 400)  # of 530
    arguments = {"model_type": model_type, "balance": 3}
    first = trained(tmp_path / "a", seed=1, **arguments)
    assert trained(tmp_path / "b", dict(reversed(TEXT.items())), seed=1, **arguments) == first
    assert trained(tmp_path / "c", seed=2, **arguments) != first


def test_files_and_sentences_give_the_same_model(tmp_path):
    files = {}
    for language, lines in LINES.items():
        files[language] = [tmp_path / f"1.{language}", tmp_path / f"2.{language}"]
        write_lines(files[language][0], ["", *lines[:11]])
        write_lines(files[language][1], lines[11:])
    assert trained(tmp_path / "a", files) == trained(tmp_path / "b")
    assert restrict(tmp_path / "a", files, THRESHOLD) == restrict(tmp_path / "b", TEXT, THRESHOLD)


def test_balance_gives_a_small_language_longer_pieces(tmp_path):
    trained(tmp_path / "natural")
    trained(tmp_path / "balanced", balance=100)
    counts = {
        name: {language: sum(used(Subwords(tmp_path / name), language).values()) for language in ("de", "or")}
        for name in ("natural", "balanced")
    }
    assert counts["balanced"]["or"] < counts["natural"]["or"]
    assert counts["balanced"]["de"] > counts["natural"]["de"]


@pytest.mark.parametrize("others", [0, 5])
def test_merges_are_counted_without_the_characters(tmp_path, others):
    """subword-nmt's -s N: N pieces are made of two others each; the characters come on top."""
    made = {}
    for merges in (40, 90):
        train_subwords(TEXT, tmp_path / "a.model", vocabulary_size=8000, merges=merges, others=others)
        made[merges] = Subwords(tmp_path / "a.model").pieces
        characters = {"\u2581"}.union(*chain.from_iterable(LINES.values())) - {" "}
        assert {piece for piece in made[merges] if len(piece) == 1} == characters
        assert sum(len(piece) > 1 for piece in made[merges]) == merges
    assert made[90][:40] == made[40][:40], "the first operations are the same"


def test_merges_that_a_text_does_not_support_name_a_possible_number(tmp_path):
    with pytest.raises(
        InputError, match=r"does not support 90000 merge operations; choose \d+ or"
    ) as refusal:
        train_subwords(TEXT, tmp_path / "a.model", vocabulary_size=8000, merges=90000)
    possible = int(str(refusal.value).split("choose ")[1].split()[0])
    train_subwords(TEXT, tmp_path / "a.model", vocabulary_size=8000, merges=possible)
    assert sum(len(piece) > 1 for piece in Subwords(tmp_path / "a.model").pieces) == possible


def test_a_very_long_line_is_not_left_out(tmp_path):
    trained(tmp_path / "a", {"de": lambda: [*LINES["de"], "lang " * 2000 + "Ω"]})
    processor = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "a"))
    assert not processor.is_unknown(processor.piece_to_id("Ω"))


def test_training_is_silent(tmp_path, capfd):
    trained(tmp_path / "a")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("model_type", MODEL_TYPES)
@pytest.mark.parametrize(
    "size, message",
    [
        (9999, r"does not support a vocabulary of 9999 pieces; choose (\d+) or fewer by --vocabulary-size"),
        (9, r"cannot hold all characters of this text; choose (\d+) or more by --vocabulary-size, in"),
    ],
)
def test_a_vocabulary_of_an_impossible_size_names_a_possible_one(model_type, size, message, tmp_path, capfd):
    with pytest.raises(InputError, match=message) as error:
        train_subwords(TEXT, tmp_path / "a", size, model_type)
    assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr().err == ""
    train_subwords(TEXT, tmp_path / "a", int(re.search(message, str(error.value))[1]), model_type)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"model_type": "word"}, "no model type 'word'; choose bpe or unigram"),
        ({"character_coverage": 0}, "character coverage 0 "),
        ({"character_coverage": 1.1}, "character coverage 1.1 "),
        ({"vocabulary_size": 0}, "vocabulary of 0 "),
        ({"vocabulary_size": 10**20}, "vocabulary of 1000.* cannot be used; give a number of pieces"),
        ({"vocabulary_size": 2**31}, "vocabulary of 2147483648 cannot be used"),
        ({"balance": 0.3}, "balance 0.3"),
        ({"text": {"de": TEXT["de"], "fr": lambda: ["", " "]}}, "no text of fr"),
        ({"text": {}}, "no text"),
    ],
)
def test_arguments_that_cannot_be_used_say_why(arguments, message, tmp_path):
    with pytest.raises(InputError, match=message):
        train_subwords(**{"text": TEXT, "model": tmp_path / "a", "vocabulary_size": 220, **arguments})
    assert list(tmp_path.iterdir()) == []


def test_training_that_fails_leaves_the_old_model(tmp_path):
    old = trained(tmp_path / "a")
    (tmp_path / "bad.de").write_bytes(b"good\nb\xe4d\n")
    with pytest.raises(InputError, match="bad.de, line 2, byte 2: 0xe4 is not UTF-8"):
        trained(tmp_path / "a", {"de": [tmp_path / "bad.de"]})
    assert (tmp_path / "a").read_bytes() == old


# Mistakes


def test_an_unknown_language_names_the_known_ones(plain, restricted):
    with pytest.raises(InputError, match="'it'.*de, fr, or"):
        restricted.encode("ka", "it")
    assert plain.encode("ka", "it") == plain.encode("ka", "de")


def test_a_vocabulary_of_another_model_is_refused(model):
    with pytest.raises(InputError, match="vocabulary of fr has pieces that .* lacks, like 'kat0'"):
        Subwords(model, {"fr": ["k", "Ω", "kat0"]})


@pytest.mark.parametrize("content", [b"", b"no model", b"\n\x03abc"])
def test_a_file_that_is_no_model_is_refused(content, tmp_path):
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(InputError, match="a is not a SentencePiece model"):
        Subwords(tmp_path / "a")
    with pytest.raises(InputError, match="nowhere.*no such subword model"):
        Subwords.load(tmp_path / "nowhere")
