"""`zsnmt check`: what is there in every form of text, and some of it."""

import re

import pytest

from zsnmt.cli.check import main
from zsnmt.console import WrongUse
from zsnmt.errors import InputError


@pytest.fixture
def folder(tmp_path):
    """A hundred pairs of German and English, and a test set of German and French."""
    texts = {
        "train.de-en.de": [f"Satz {n}." for n in range(100)],
        "train.de-en.en": [f"Sentence {n}." for n in range(100)],
        "test.fr-de.de": ["Ja."],
        "test.fr-de.fr": ["Oui."],
        "train.pt-BR-en.en": ["Yes."],
    }
    for name, lines in texts.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return tmp_path


def test_all_that_is_there_is_counted_and_what_is_not_read_is_named(folder, capsys):
    main([str(folder)])
    printed = capsys.readouterr()
    assert printed.out == "pair\ttrain\tvalid\ttest\nde-en\t100\t0\t0\nde-fr\t0\t0\t1\n"
    assert "not read, since their names" in printed.err and "train.pt-BR-en.en" in printed.err


def test_examples_are_training_pairs_in_the_order_of_the_text_the_same_each_time(folder, capsys):
    main([str(folder), "--show", "10"])
    shown = capsys.readouterr().out
    blocks = [block.split("\n") for block in shown.strip().split("\n\n")[1:]]
    numbers = [int(block[0].removeprefix("de\tSatz ").removesuffix(".")) for block in blocks]
    assert [block[1] for block in blocks] == [f"en\tSentence {number}." for number in numbers]
    assert len(numbers) == 10 and numbers == sorted({*numbers}) and numbers[-1] > 10
    main([str(folder), "--show", "10"])
    assert capsys.readouterr().out == shown
    main([str(folder), "--show", "200"])
    assert capsys.readouterr().out.count("Satz") == 100


def test_accents_that_are_characters_of_their_own_are_told_of(tmp_path, capsys):
    rows = ["Ol\u00e1.\tYes.\t\u0915\u093c", "Na\u0303o.\tNo.\t", "So\u0301.\tAlone.\t\u0958"]
    (tmp_path / "mine.tsv").write_text("\n".join(["pt\ten\thi", *rows]) + "\n", encoding="utf-8")
    main([str(tmp_path / "mine.tsv")])
    said = capsys.readouterr().err
    assert "(Unicode NFD): en-pt 2, hi-pt 1; a model" in said and "as by uconv -x any-nfc\n" in said


def test_a_table_in_several_languages_counts_for_all_its_pairs(tmp_path, capsys):
    (tmp_path / "mine.tsv").write_text("fr\ten\tde\nOui.\tYes.\tJa.\nNon.\tNo.\t\n", encoding="utf-8")
    main([str(tmp_path / "mine.tsv")])
    rows = capsys.readouterr().out.splitlines()[1:]
    assert sorted(rows) == ["de-en\t1\t0\t0", "de-fr\t1\t0\t0", "en-fr\t2\t0\t0"]


def test_pairs_that_must_be_there(folder, capsys):
    main([str(folder), "--pairs", "de-en", "--splits", "train"])
    assert capsys.readouterr().out == "pair\ttrain\nde-en\t100\n"
    with pytest.raises(InputError, match="has no text for de-en in split 'valid'"):
        main([str(folder), "--pairs", "de-en", "--splits", "valid"])


def test_all_that_is_wrong_with_pairs_is_told_of(folder, capsys):
    (folder / "train.de-en.de").write_text("Ja.\n\nJa.\n" + 97 * "Nein.\n", encoding="utf-8")
    with pytest.raises(InputError, match="breaks rules in the places above"):
        main([str(folder), "--pairs", "de-en", "fr-de"])
    printed = capsys.readouterr()
    told = [line.removeprefix(str(folder)) for line in printed.err.splitlines()]
    assert not printed.out and [line.split(";")[0] for line in told] == [
        "/train.de-en.de, line 2 is empty",
        " has no text for fr-de in split 'train'",
        " has no text for de-en in split 'valid'",
        " has no text for fr-de in split 'valid'",
        " has no text for de-en in split 'test'",
    ]


@pytest.mark.parametrize(
    "options, message",
    [
        (["--splits", "train"], "--splits is for --pairs; name the pairs that must be there"),
        (["--pairs", "de-en", "--show", "3"], "--pairs is for a folder in zsnmt's own form; leave it out"),
        (["--show", "0"], "'0' is not a whole number above 0"),
    ],
)
def test_options_that_do_not_go_together(folder, options, message):
    with pytest.raises(WrongUse, match=message):
        main([str(folder), *options])


def test_a_fault_is_told_of_with_its_place(folder):
    (folder / "train.de-en.de").write_text("Ja.\n", encoding="utf-8")
    with pytest.raises(InputError, match="has 1 line and .* has 100; line n of one must be the translation"):
        main([str(folder)])


def test_all_faults_are_told_of_and_of_a_file_with_many_some(folder, capsys):
    lines = [f"Satz {n}.".encode() for n in range(100)]
    lines[3], lines[40], lines[99] = b"Gr\xfc\xdfe.", b"", b"Ja.\r"
    (folder / "train.de-en.de").write_bytes(b"\n".join(lines) + b"\n")
    (folder / "test.fr-de.fr").write_bytes(b"\xe9t\xe9\n" * 15)
    (folder / "test.fr-de.de").write_text("Ja.\n" * 16, encoding="utf-8")
    (folder / "valid.de-en.de").write_text("Ja.\nNein.\n", encoding="utf-8")
    (folder / "valid.de-en.en").write_text("Yes.\n", encoding="utf-8")
    with pytest.raises(InputError, match="breaks rules in the places above; mend them, and check it again"):
        main([str(folder)])
    printed = capsys.readouterr()
    told = [line.removeprefix(str(folder)) for line in printed.err.splitlines() if str(folder) in line]
    told = [line for line in told if line.startswith("/")]
    assert not printed.out and len(told) == 3 + 10 + 1 + 2
    of_train = [line for line in told if line.startswith("/train.de-en.de, line ")]
    assert [line.split(",")[1].split()[1] for line in of_train] == ["4", "41", "100"]
    assert "0xfc is not UTF-8" in of_train[0] and "dos2unix" in of_train[2]
    assert any(line.endswith("/test.fr-de.de: 5 more such faults") for line in told)
    assert any(line.startswith("/test.fr-de.fr has 15 lines and") for line in told), "misaligned, too"
    assert any("has 1 line and" in line and "has 2" in line for line in told)


def test_two_empty_sides_are_both_told_of(folder, capsys):
    for side in ("de", "en"):
        (folder / f"train.de-en.{side}").write_text("")
    for further in ([], ["--pairs", "de-en", "--splits", "train"]):
        with pytest.raises(InputError, match="breaks rules in the places above"):
            main([str(folder), *further])
        told = capsys.readouterr().err
        assert all(
            f"train.de-en.{side} is empty; it needs at least one line" in told for side in ("de", "en")
        )


def test_a_file_in_another_encoding_has_one_fault(folder):
    (folder / "train.de-en.de").write_text("Ja.\n" * 100, encoding="utf-16")
    with pytest.raises(InputError, match="train.de-en.de is in UTF-16, not in UTF-8; convert it with iconv"):
        main([str(folder)])


@pytest.mark.parametrize(
    "name, text, faults",
    [
        ("mine.tsv", 'en\tde\nYes.\tJa.\nNo.\nA.\tB.\x07\n"a ""b"\tC.\n', ["line 3", "line 4", "line 5"]),
        ("mine.csv", "en,de\nYes.,Ja.\nNo.,N\x07ein.\nA.,\x07B.\n", ["line 3", "line 4"]),
        (
            "mine.tmx",
            "<tmx><body><tu><tuv lang='en'><seg>Yes.</seg></tuv><tuv lang='de'><seg>Ja.</seg></tuv></tu>"
            "<tu><tuv><seg>No.</seg></tuv></tu><tu><tuv lang='en'><seg>A.</seg></tuv>"
            "<tuv lang='?'><seg>B.</seg></tuv></tu></body></tmx>",
            ["unit 2", "unit 3"],
        ),
    ],
)
def test_all_rows_of_a_table_that_break_a_rule_are_told_of(tmp_path, capsys, name, text, faults):
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="breaks rules in the places above"):
        main([str(tmp_path / name)])
    told = [line for line in capsys.readouterr().err.splitlines() if line.startswith(f"{tmp_path}")]
    places = [re.match(rf"{re.escape(str(tmp_path / name))}, (\w+ \d+)", line) for line in told]
    assert [place and place[1] for place in places] == faults


def test_a_table_of_faults_alone_is_told_of_by_the_first(tmp_path):
    (tmp_path / "mine.tsv").write_text("en\tde\nYes.\nNo.\n", encoding="utf-8")
    with pytest.raises(InputError, match="mine.tsv, line 2 has 1 column and line 1 has 2; put a tab"):
        main([str(tmp_path / "mine.tsv")])
