"""First words of sentences in their usual spelling, and capitals again."""

import pytest
from sacremoses import MosesTruecaser

from zsnmt.errors import InputError
from zsnmt.text.truecasing import Truecaser, detruecase, train_truecaser

TEXT = [
    "Then the boats left Oslo .",
    "Oslo is where the boats are , said Kim .",
    "Are they NATO boats ? No , the boats of Kim , not THE boats .",
    "All said : we are in Oslo , and the rain is in Oslo .",
]


@pytest.fixture
def model(tmp_path):
    train_truecaser(TEXT, tmp_path / "truecaser.en")
    return tmp_path / "truecaser.en"


@pytest.fixture
def truecaser(model):
    return Truecaser(model)


@pytest.mark.parametrize(
    "sentence, expected",
    [
        ("The boats left .", "the boats left ."),
        ("Oslo is far .", "Oslo is far ."),
        ("Tromsø is far .", "Tromsø is far ."),
        ("The boats . Are they ? The", "the boats . are they ? the"),
        ('" The boats , " said Kim', '" the boats , " said Kim'),
        ("( The Kim", "( the Kim"),
        ("kim : The", "Kim : The"),
        ("THE boats left The Oslo .", "THE boats left The Oslo ."),
        ("Nato boats", "Nato boats"),
        ("", ""),
    ],
)
def test_only_first_letters_of_sentences_change(truecaser, sentence, expected):
    assert truecaser.truecase(sentence.split()) == expected.split()


def test_capitals_come_back(truecaser):
    for sentence in TEXT:
        assert detruecase(truecaser.truecase(sentence.split())) == sentence.split()
    assert detruecase("' so ? \" yes .".split()) == "' So ? \" Yes .".split()
    assert detruecase("3 days : no".split()) == "3 days : no".split()


def test_a_letter_without_a_capital_of_its_own_stays():
    assert detruecase(["ßa", ".", "ıb", ".", ""]) == ["ßa", ".", "ıb", ".", ""]


def test_georgian_sentences_begin_with_a_small_letter(tmp_path):
    tokens = "გამარჯობა , როგორ ხარ ? კარგად .".split()
    assert detruecase(tokens) == tokens
    train_truecaser(["გამარჯობა"], tmp_path / "truecaser.ka")  # as of Arabic: no word has case
    assert (tmp_path / "truecaser.ka").read_bytes() == b""
    # Which has something to say of other words.
    train_truecaser(["აქ NATO UNESCO", *TEXT], tmp_path / "mixed")
    assert Truecaser(tmp_path / "mixed").truecase(["The", "NATO", ".", *tokens]) == [
        "the",
        "NATO",
        ".",
        *tokens,
    ]
    assert Truecaser(tmp_path / "mixed").truecase(["nATO", *tokens]) == ["NATO", *tokens]
    # A word of that line alone.
    assert Truecaser(tmp_path / "mixed").truecase(["uNESCO", *tokens]) == ["UNESCO", *tokens]
    assert Truecaser(tmp_path / "truecaser.ka").truecase(tokens) == tokens


def test_the_model_is_that_of_moses(model, tmp_path):
    theirs = MosesTruecaser()
    theirs.train([line.split() for line in TEXT], save_to=str(tmp_path / "theirs"))
    assert sorted(model.read_text().splitlines()) == sorted((tmp_path / "theirs").read_text().splitlines())
    assert "the (4/5) THE (1)" in model.read_text().splitlines()
    assert MosesTruecaser(str(model)).model["best"] == theirs.model["best"]


def test_the_same_text_gives_the_same_bytes(model, tmp_path):
    train_truecaser(iter(TEXT), tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == model.read_bytes()


def test_a_word_that_starts_with_a_byte_order_mark_is_left_out(tmp_path):
    train_truecaser(["a b \ufeffc d"], tmp_path / "truecaser.en")
    assert Truecaser(tmp_path / "truecaser.en").truecase(["B"]) == ["b"]


def test_training_without_words_leaves_the_old_model(model):
    before = model.read_bytes()
    with pytest.raises(InputError, match="no text to make the truecaser .*truecaser.en from; give tokenised"):
        train_truecaser(["Hello", "", "1 2 3"], model)
    assert model.read_bytes() == before and [*model.parent.iterdir()] == [model]


@pytest.mark.parametrize("line", ["ฉัน ไป .", "أنا ذاهب .", "우리는 갑니다 .", "OK , 好 的"])
def test_text_without_case_has_an_empty_model_that_changes_nothing(tmp_path, line):
    train_truecaser(["1 2", line, line], tmp_path / "truecaser")
    assert (tmp_path / "truecaser").read_bytes() == b""
    truecaser = Truecaser(tmp_path / "truecaser")
    assert detruecase(truecaser.truecase(line.split())) == line.split()


def test_training_that_fails_leaves_the_old_model(model):
    def lines():
        yield TEXT[0]
        raise InputError("line 2")

    before = model.read_bytes()
    with pytest.raises(InputError, match="line 2"):
        train_truecaser(lines(), model)
    assert model.read_bytes() == before


@pytest.mark.parametrize("line", ["the", "the 5", "the boats left"])
def test_a_file_that_is_no_model_is_refused(tmp_path, line):
    (tmp_path / "model").write_text(f"a (1/1)\n{line}\n")
    with pytest.raises(
        InputError, match="model, line 2 is not an entry of a truecaser; train it again, or name its file"
    ):
        Truecaser(tmp_path / "model")
