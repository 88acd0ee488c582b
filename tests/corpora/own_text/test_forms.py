"""A person's text in every form: what is read of it, and one sentence for what cannot be."""

import json
import sys
import unicodedata
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from zsnmt.corpora.own_text import saved_dataset
from zsnmt.corpora.own_text.forms import is_own_form, notices, read_tables, unread_files
from zsnmt.corpora.own_text.languages import choose_languages
from zsnmt.corpora.own_text.rewriting import write_parallel_text
from zsnmt.corpora.own_text.table import Table
from zsnmt.errors import InputError

DE, EN, FR = ["Ja.", "Nein.", "Danke."], ["Yes.", "No.", "Thanks."], ["Oui.", "Non.", "Merci."]


def write(folder: Path, **files: list[str]) -> Path:
    """Files by name, with __ for a dot and ___ for a hyphen."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in files.items():
        path = folder / name.replace("___", "-").replace("__", ".")
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return folder


def rewritten(path: Path, pattern: str = "", languages: tuple[str, ...] = ()) -> dict[str, list[str]]:
    """The lines of each file that the text becomes."""
    tables = read_tables(path, pattern)
    target = path.with_name("rewritten")
    target.mkdir()
    write_parallel_text(tables, target, choose_languages(tables, languages))
    return {file.name: file.read_text(encoding="utf-8").splitlines() for file in sorted(target.iterdir())}


THREE = {"train.en-de.de": DE, "train.en-de.en": EN, "train.en-fr.en": EN, "train.en-fr.fr": FR}


def test_files_by_a_pattern(tmp_path):
    write(tmp_path / "text", corpus__de___en__de=DE, corpus__de___en__en=EN, README__txt=["no text"])
    write(tmp_path / "text", corpus__fr___en__fr=FR, corpus__fr___en__en=EN, corpus__fr___en__ids=["1"])
    assert rewritten(tmp_path / "text", "corpus.{pair}.{language}") == THREE
    assert not is_own_form(tmp_path / "text" / "README.txt")


def test_a_pattern_has_folders_splits_by_any_usual_name_and_anything(tmp_path):
    text = tmp_path / "text"
    for name, lines in (("train1", EN[:1]), ("train2", EN[1:])):
        write(text / "de-en", **{f"{name}__en": lines, f"{name}__de": DE[: len(lines)]})
    assert rewritten(text, "{pair}/train*.{language}") == {
        "train.en-de.de": [DE[0], *DE[:2]],
        "train.en-de.en": EN,
    }
    write(tmp_path / "splits", train__de___en__de=DE, train__de___en__en=EN, dev__de___en__de=DE[:1])
    write(tmp_path / "splits", dev__de___en__en=EN[:1])
    assert {table.split for table in read_tables(tmp_path / "splits")} == {"train", "valid"}


def test_lines_in_several_languages_become_pairs_with_english_and_all_pairs_of_a_test_set(tmp_path):
    text = write(tmp_path / "text", train__de=DE, train__en=EN, train__fr=FR, test__de=DE[:1])
    write(text, test__en=EN[:1], test__fr=FR[:1])
    assert not is_own_form(text)
    made = rewritten(text)
    assert {name: lines for name, lines in made.items() if name.startswith("train")} == THREE
    pairs = {name.split(".")[1] for name in made if name.startswith("test")}
    assert pairs == {"en-de", "en-fr", "de-fr"} and made["test.de-fr.fr"] == FR[:1]


def test_text_separated_by_tabs_may_lack_a_translation(tmp_path):
    rows = ["en\tde\tfr", *map("\t".join, zip(EN, DE, FR)), "Please.\tBitte.\t", "\tGut.\tBien."]
    write(tmp_path, mine__tsv=rows)
    made = rewritten(tmp_path / "mine.tsv")
    assert made == THREE | {
        "train.en-de.de": [*DE, "Bitte."],
        "train.en-de.en": [*EN, "Please."],
    }
    folder = write(tmp_path / "text", one__tsv=["de\ten", "Ja.\tYes."], test__tsv=["de\ten", "Nein.\tNo."])
    assert not is_own_form(folder)
    assert [(table.split, [*table.rows()]) for table in read_tables(folder)] == [
        ("train", [("Ja.", "Yes.")]),
        ("test", [("Nein.", "No.")]),
    ]


@pytest.mark.parametrize("nested", [False, True])
def test_lines_of_json_have_a_text_for_each_language(tmp_path, nested, caplog):
    rows = [
        {"en": "Yes.", "pt-BR": "Sim.\n Sim. ", "de": None, "n": 1},
        {"pt-BR": "Não.", "en": "No."},
        {"en": "Alone.", "de": 7, "note": "x"},
    ]
    lines = [json.dumps({"id": 1, "translation": row} if nested else row) for row in rows]
    path = as_of_windows(write(tmp_path, mine__jsonl=[*lines, ""])) / "mine.jsonl"
    (table,) = read_tables(path)
    assert table.languages == ("en", "pt")
    assert [*table.rows()] == [("Yes.", "Sim. Sim."), ("No.", "Não.")]
    assert "at their head: 'n'" in caplog.text and "is of de" in caplog.text
    assert "1 of 3 rows have no translation" in caplog.text


def test_codes_at_the_heads_of_columns_may_have_capitals_where_they_are_clear(tmp_path):
    rows = ["ID\tEN\tDe\tSKU\tPT_BR\tOK", "A-1\tYes.\tJa.\tX\tSim.\tok"]
    (table,) = read_tables(write(tmp_path, mine__tsv=rows) / "mine.tsv")
    assert table.languages == ("en", "de", "pt_BR") and [*table.rows()] == [("Yes.", "Ja.", "Sim.")]
    with pytest.raises(InputError, match="each once; here it is 'en de de'"):
        read_tables(write(tmp_path, twice__tsv=["EN\tde\tDE", "a\tb\tc"]) / "twice.tsv")


def as_of_windows(folder: Path) -> Path:
    """The same files as an editor or a spreadsheet of Windows writes them."""
    for file in folder.rglob("*.*"):
        file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes().replace(b"\n", b"\r\n"))
    return folder


def test_what_windows_adds_to_a_file_that_is_written_anew_is_left_out(tmp_path):
    rows = as_of_windows(write(tmp_path / "tabs", mine__tsv=["en\tde\tfr", *map("\t".join, zip(EN, DE, FR))]))
    assert rewritten(rows / "mine.tsv") == THREE
    files = as_of_windows(write(tmp_path / "lines", x__de=DE, x__en=EN, x__fr=FR))
    assert rewritten(files, "x.{language}") == THREE


def test_columns_of_other_things_and_rows_without_a_translation_are_passed_over_and_named(tmp_path, caplog):
    rows = ["SKU\ten-GB\tPrice\tde", "A1\tYes.\t5\tJa.", "A2\tNo.\t6\t", "A3\tThanks.\t7\tDanke."]
    (table,) = read_tables(write(tmp_path, mine__tsv=rows) / "mine.tsv")
    assert table.languages == ("en", "de") and [*table.rows()] == [("Yes.", "Ja."), ("Thanks.", "Danke.")]
    assert "read are the columns en de; not read, since" in caplog.text and "'SKU', 'Price'" in caplog.text
    assert "1 of 3 rows have no translation and are left out" in caplog.text


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_columns_with_the_code_of_a_language_but_no_sentences_of_it_are_passed_over(tmp_path, caplog, ending):
    rows = [
        ["id", "key", "en", "de", "fr"],
        ["1", "menu.ok", "Yes.", "Ja.", ""],
        ["2", "menu.no", "No.", "7", ""],
    ]
    (tmp_path / f"mine.{ending}").write_text(
        "".join(f"{chr(9 if ending == 'tsv' else 44).join(row)}\n" for row in rows)
    )
    (table,) = read_tables(tmp_path / f"mine.{ending}")
    assert table.languages == ("en", "de") and [*table.rows()] == [("Yes.", "Ja."), ("No.", "7")]
    assert "not read, since they have no code of a language at their head: 'key'" in caplog.text
    assert "not read, since they hold numbers: the columns id" in caplog.text
    assert "no sentence that has a translation is of fr" in caplog.text


def test_indonesian_is_read(tmp_path):
    (table,) = read_tables(write(tmp_path, mine__tsv=["id\ten", "Ya.\tYes.", "7\t7"]) / "mine.tsv")
    assert table.languages == ("id", "en") and [*table.rows()] == [("Ya.", "Yes."), ("7", "7")]


def test_hidden_files_are_not_read(tmp_path):
    text = write(tmp_path, mine__tsv=["en\tde", "Yes.\tJa."])
    for name in ("._mine.tsv", "~$mine.xlsx"):
        (text / name).write_bytes(b"\0\5\26\7")
    (table,) = read_tables(text)
    assert table.files == (text / "mine.tsv",) and not unread_files(text, [table])


def test_hidden_files_are_not_what_a_pattern_means_by_anything(tmp_path):
    text = write(tmp_path / "text", mine__de=DE, mine__en=EN)
    for name in ("._mine.de", "._mine.en", ".hidden.de"):
        (text / name).write_bytes(b"\0\5\26\7")
    for path, pattern in ((text, "*.{language}"), (tmp_path, "*/*.{language}")):
        (table,) = read_tables(path, pattern)
        assert table.files == (text / "mine.de", text / "mine.en")
    write(tmp_path, __named__de=DE, __named__en=EN)
    (table,) = read_tables(tmp_path, ".*.{language}")
    assert table.languages == ("de", "en")


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("given", ["NFC", "NFD"])
def test_an_accent_in_a_name_may_be_a_character_of_its_own(tmp_path, form, given):
    name, pattern = "t\u00e9xtos", unicodedata.normalize(given, "t\u00e9xtos.{language}")
    write(tmp_path, **{unicodedata.normalize(form, f"{name}__{code}"): EN for code in ("de", "en")})
    (table,) = read_tables(tmp_path, pattern)
    assert [*table.rows()] == [*zip(EN, EN)]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("head", ["", "\ufeff"], ids=["", "mark"])
def test_a_csv_file_has_the_separator_of_its_first_row_and_quotes(tmp_path, separator, head):
    cells = [["en", "Nr", "de"], ["Yes.", "1", '"Ja, ""ja""; gut\tja"'], ['"Two\nlines."', "2", '" Zwei. "']]
    text = head + "\r\n".join(separator.join(row) for row in cells)
    (tmp_path / "mine.csv").write_bytes(text.encode())
    (table,) = read_tables(tmp_path / "mine.csv")
    assert [*table.rows()] == [("Yes.", 'Ja, "ja"; gut ja'), ("Two lines.", "Zwei.")]


@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["", "mark"])
def test_a_csv_file_may_name_its_separator_above_its_first_row(tmp_path, mark):
    (tmp_path / "mine.csv").write_bytes(f"{mark}sep=;\r\nen;de, at\r\nYes, yes.;Ja, ja.\r\n".encode())
    with pytest.raises(InputError, match="mine.csv, line 2 must name the language"):
        read_tables(tmp_path / "mine.csv")
    (tmp_path / "mine.csv").write_bytes(f"{mark}sep=;\r\nen;de\r\nYes, yes.;Ja, ja.\r\n".encode())
    (table,) = read_tables(tmp_path / "mine.csv")
    assert [*table.rows()] == [("Yes, yes.", "Ja, ja.")]


@pytest.mark.parametrize("above", [[], ["sep=,"]])
def test_a_row_of_a_csv_file_with_line_breaks_is_told_of_by_its_first_line(tmp_path, above):
    rows = [
        *above,
        "en,de",
        '"Two',
        'lines.",Zwei.',
        '"Bell \u0007',
        'rung.",Klang.',
        '"Open,Offen.',
        "a,b",
        "c,d",
    ]
    faults: list[InputError] = []
    with pytest.raises(InputError, match=f"mine.csv, line {len(above) + 6} does not follow the form of CSV"):
        read_tables(write(tmp_path, mine__csv=rows) / "mine.csv")
    write(tmp_path, mine__csv=rows[:-3])
    (table,) = read_tables(tmp_path / "mine.csv")
    assert [*table.rows(faults.append)] == [("Two lines.", "Zwei.")]
    assert f"mine.csv, line {len(above) + 4} has the control character" in str(faults[0])


def test_a_workbook_is_read_sheet_by_sheet(tmp_path):
    """Hidden sheets, those without languages, cells that are no text, and those beyond the first row are
    passed over.
    """
    sheets = {
        "Words": [["en", "Nr", "de"], ["Yes.", 5, "Ja."], [], ["No.", 6, 7.5], ["Two\nlines.", 7, "Zwei."]],
        "Notes": [["to do"], ["all"]],
        "More": [["fr", "en"], ["Oui.", "Yes.", "a remark"]],
        "old": [["en", "de"], ["a", "b"]],
    }
    write_workbook(tmp_path / "mine.xlsx", sheets, hidden="old")
    (table,) = read_tables(tmp_path / "mine.xlsx")
    assert table.languages == ("en", "de", "fr")
    assert [*table.rows()] == [("Yes.", "Ja.", ""), ("Two lines.", "Zwei.", ""), ("Yes.", "", "Oui.")]


def test_sheets_of_a_workbook_that_are_not_read_are_named(tmp_path, caplog):
    sheets = {
        "Words": [["en", "de"], ["Yes.", "Ja."]],
        "More": [["No.", "Nein."]],
        "Empty": [],
        "old": [["a"]],
    }
    write_workbook(tmp_path / "mine.xlsx", sheets | {"Twice": [["en", "pt-BR", "pt-PT"]]}, hidden="old")
    (table,) = read_tables(tmp_path / "mine.xlsx")
    assert [*table.rows()] == [("Yes.", "Ja.")]
    (warning,) = caplog.messages
    assert warning.endswith("languages or more, each once: sheet 'More', sheet 'Twice'")


def write_workbook(path, sheets, hidden):
    """A workbook of texts and numbers, as small as one can be."""
    main, relations = "http://schemas.openxmlformats.org/spreadsheetml/2006/main", "application/vnd.openxml"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    kind = f"{relations}formats-officedocument.spreadsheetml."
    with zipfile.ZipFile(path, "w") as packed:
        parts, listed, targets = [], [], []
        for number, (name, rows) in enumerate(sheets.items(), start=1):
            written = "".join("<row>" + "".join(cell_of(cell) for cell in row) + "</row>" for row in rows)
            data = f'<worksheet xmlns="{main}"><sheetData>{written}</sheetData></worksheet>'
            packed.writestr(f"xl/sheet{number}.xml", data)
            parts.append(f'<Override PartName="/xl/sheet{number}.xml" ContentType="{kind}worksheet+xml"/>')
            state = ' state="hidden"' if name == hidden else ""
            listed.append(f'<sheet name="{name}" sheetId="{number}"{state} r:id="r{number}"/>')
            targets.append(
                f'<Relationship Id="r{number}" Type="{office}/worksheet" Target="sheet{number}.xml"/>'
            )
        book = f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>{"".join(listed)}</sheets></workbook>'
        packed.writestr("xl/workbook.xml", book)
        package = "http://schemas.openxmlformats.org/package/2006/"
        links = f'<Relationships xmlns="{package}relationships">{"".join(targets)}</Relationships>'
        packed.writestr("xl/_rels/workbook.xml.rels", links)
        first = f'<Override PartName="/xl/workbook.xml" ContentType="{kind}sheet.main+xml"/>'
        types = f'<Types xmlns="{package}content-types">{first}{"".join(parts)}</Types>'
        packed.writestr("[Content_Types].xml", types)
        top = f'<Relationship Id="r1" Type="{office}/officeDocument" Target="xl/workbook.xml"/>'
        packed.writestr("_rels/.rels", f'<Relationships xmlns="{package}relationships">{top}</Relationships>')


def cell_of(value):
    """A cell with a text or a number."""
    text = isinstance(value, str)
    return f'<c t="inlineStr"><is><t>{value}</t></is></c>' if text else f"<c><v>{value}</v></c>"


def test_a_set_in_several_languages_serves_the_pairs_that_have_none_of_their_own(tmp_path):
    text = write(tmp_path / "text", train__de___en__de=DE, train__de___en__en=EN)
    write(text, train__fr___en__fr=FR, train__fr___en__en=EN, dev__de=DE, dev__en=EN, dev__fr=FR)
    write(text, test__de___en__de=["Gut."], test__de___en__en=["Good."])
    write(text, test__de=DE, test__en=EN, test__fr=FR)
    made = rewritten(text)
    assert made["test.en-de.de"] == ["Gut."] and made["test.en-fr.fr"] == FR and made["valid.en-de.de"] == DE


def test_a_whole_table_gives_no_text_to_pairs_that_have_a_set_of_their_own(tmp_path):
    text = write(tmp_path / "text", mine__tsv=["en\tde\tfr", "Yes.\tJa.\tOui."])
    write(text, test__tsv=["en\tde\tfr", "No.\tNein.\tNon."], test__de___en__de=["Gut."])
    write(text, test__de___en__en=["Good."])
    made = rewritten(text)
    assert made["test.en-de.de"] == ["Gut."] and made["test.de-fr.de"] == ["Nein."]


def test_what_is_no_text_beside_pairs_is_not_read(tmp_path):
    text = write(tmp_path / "text", train__de___en__de=DE, train__de___en__en=EN)
    write(text, train__log=["a"], train__sh=["b"], train__py=["b"], mine__tsv=["de\ten", "Ja.\tYes."])
    tables = read_tables(text)
    assert [table.languages for table in tables] == [("de", "en")]
    read = {file.name for file in unread_files(text, tables)}
    assert read == {"train.log", "train.sh", "train.py", "mine.tsv"}


@pytest.mark.parametrize("pattern", ["", "{split}.{language}"])
def test_numbers_of_lines_beside_text_in_several_languages_are_no_language(tmp_path, pattern):
    text = write(
        tmp_path / "text", train__de=DE, train__en=EN, train__ids=["1", "2", "3"], train__txt_Latn=FR
    )
    tables = read_tables(text, pattern)
    assert [table.languages for table in tables] == [("de", "en", "txt_Latn")]
    assert unread_files(text, tables, pattern) == [text / "train.ids"]


@pytest.mark.parametrize("pair", ["", "{pair}."])
def test_a_code_with_a_hyphen_is_not_passed_over_in_silence_where_a_pattern_is_given(tmp_path, pair):
    """Not a file beside pairs either, which is not of one of their languages."""
    names = ("de-en.de", "de-en.en", "en-pt-BR.en", "en-pt-BR.pt-BR") if pair else ("de", "en", "pt-BR")
    for name in (*names, "de-en.ids") if pair else names:
        (tmp_path / f"talks.{name}").write_text("A line.\n")
    pattern = f"talks.{pair}{{language}}"
    tables = read_tables(tmp_path, pattern)
    assert [table.languages for table in tables] == [("de", "en")]
    unread = {file.name for file in unread_files(tmp_path, tables, pattern)}
    assert unread == {f"talks.{name}" for name in names if "BR" in name}


@pytest.mark.parametrize("begin, pattern", [("talks", "talks.{pair}.{language}"), ("train", "")])
def test_codes_with_a_hyphen_are_the_reason_where_nothing_is_read(tmp_path, begin, pattern):
    for language in ("en-GB", "pt-BR"):
        (tmp_path / f"{begin}.en-GB-pt-BR.{language}").write_text("A line.\n")
    with pytest.raises(
        InputError, match="pt-BR; a code has no hyphen, so rename them, as to pt_BR for pt-BR$"
    ):
        read_tables(tmp_path, pattern)


@pytest.mark.parametrize(
    "name, doubtful",
    [
        *[
            (name, True)
            for name in ("testset", "my_test", "development", "Eval-2", "newstest2019", "a.valid")
        ],
        *[(name, False) for name in ("test", "dev-2", "mine", "latest", "contest")],
    ],
)
def test_what_may_be_a_held_out_set_is_said_where_it_is_read_as_training_text(tmp_path, name, doubtful):
    text = write(tmp_path / "text", mine__tsv=["de\ten", "Ja.\tYes."])
    (text / f"{name}.tsv").write_text("de\ten\nNein.\tNo.\n")
    said = [*notices(text, read_tables(text))]
    assert len(said) == doubtful and all(f"read as training text: {name}.tsv; " in each for each in said)
    alone = text / f"{name}.tsv"
    assert not [*notices(alone, read_tables(alone))]  # a person has named it


def test_what_is_compressed_is_named_with_what_to_do(tmp_path):
    rows = ["de\ten", "Ja.\tYes."]
    text = write(tmp_path / "text", mine__tsv=rows, more__tsv__gz=["b"], notes__txt__gz=["c"])
    assert [*notices(text, read_tables(text))] == [
        "not read, since they are compressed: more.tsv.gz; unpack them, as by gunzip"
    ]
    with pytest.raises(InputError, match="that zsnmt reads: the file is compressed; unpack it, as by gunzip"):
        read_tables(text / "more.tsv.gz")
    with pytest.raises(InputError, match=r"that zsnmt reads: looked for train\.de-en\.de"):
        read_tables(write(tmp_path / "unpacked.zip", notes__txt=["c"]))


def test_a_file_named_by_its_pair_is_no_file_of_lines(tmp_path):
    text = write(tmp_path / "text", train__de___en__tsv=["de\ten", "Ja.\tYes."])
    assert rewritten(text) == {"train.en-de.de": ["Ja."], "train.en-de.en": ["Yes."]}


def test_zsnmts_own_form_is_read_as_it_is(tmp_path):
    text = write(tmp_path / "text", train__de___en__de=DE, train__de___en__en=EN, notes__tsv=["a"])
    write(text, valid__de=DE[:1], valid__en=EN[:1])
    assert is_own_form(text) and is_own_form(write(tmp_path / "nothing", a__txt=["b"]))
    assert rewritten(text)["valid.en-de.en"] == EN[:1]


@pytest.mark.parametrize(
    "files",
    [
        {"dev__de": DE[:1], "dev__en": EN[:1]},
        {"validation__de___en__de": DE[:1], "validation__de___en__en": EN[:1]},
        {"train__en": EN, "train__fr": FR},
    ],
)
def test_text_that_experiments_know_by_other_names_is_not_left_where_it_is(tmp_path, files):
    text = write(tmp_path / "text", train__de___en__de=DE, train__de___en__en=EN, train__log=["a"])
    assert is_own_form(text)
    (text / "train.log").unlink()
    assert not is_own_form(write(text, **files))
    made = rewritten(text)
    assert {"valid.en-de.en", "train.en-fr.en"} & made.keys() and made["train.en-de.en"] == EN


def test_a_pair_in_both_orders_is_put_together(tmp_path):
    text = write(tmp_path / "text", train__de___en__de=DE, train__de___en__en=EN)
    write(text, train__en___de__de=DE[:1], train__en___de__en=EN[:1], valid__de=DE[:1], valid__en=EN[:1])
    assert not is_own_form(text)
    assert rewritten(text)["train.en-de.de"] == [*DE, *DE[:1]]


@pytest.mark.parametrize(
    "files, pattern, message",
    [
        ({"a__txt": ["b"]}, "", "no training text in a form that zsnmt reads: .* files there: a.txt$"),
        ({"a__txt": ["b"]}, "x.{pair}.{language}", "looked for files named x.{pair}.{language}; files there"),
        ({"x__tsv__gz": ["b"]}, "", "files there: x.tsv.gz; unpack those that are compressed, as by gunzip$"),
        ({"x__de___en__de": DE}, "x.{pair}.{language}", "x.de-en.de stands alone; add the same in en, or"),
        ({"x__de": DE}, "x.{language}", "x.de stands alone; add the same in another language"),
        ({"a": ["b"]}, "x.{pair}", "'x.{pair}' does not describe names of files; write {language} once"),
        ({"a": ["b"]}, "{lang}.{language}", "does not describe names of files"),
        (
            {"x__de___en__de": DE, "x__de___en__en": EN[:2]},
            "x.{pair}.{language}",
            "x.de-en.en has 2 lines and .*x.de-en.de has 3; line n of one must be the translation",
        ),
        ({"train__de___de__de": DE}, "", "train.de-de.de stands alone; add the same in another language"),
        ({"x__de": DE, "x__en": []}, "x.{language}", "x.en is empty"),
        ({"x__de": DE, "x__en": ["a", "", "b"]}, "x.{language}", "x.en, line 2 is empty"),
        ({"x__tsv": ["en\tde", "a\tb\tc"]}, "", "x.tsv, line 2 has 3 columns and line 1 has 2; put a tab"),
        ({"x__tsv": ["en\tde", "a\t "]}, "", "x.tsv has no row with a translation; write sentences"),
        ({"x__tsv": ["en-GB\ten-US", "a\tb"]}, "", "each once.*; write en_GB and en_US$"),
        ({"x__tsv": ["SKU\ten", "a\tb"]}, "", "x.tsv, line 1 must name the language of each column"),
        ({"x__tsv": ["en\tde", '"a ""b"" c"\td']}, "", "x.tsv, line 2 has a cell in the quotes of a spr"),
        ({"x__csv": ["en,de", '"a,b']}, "", "x.csv, line 2 does not follow the form of CSV"),
        (
            {"x__csv": ["en,de", f"a,{'b' * 131_073}"]},
            "",
            "x.csv, line 2 has a cell of more than 131,072 characters; shorten it, or close the quotation",
        ),
        (
            {"x__csv": ["en,de", "a, b,c"]},
            "",
            "x.csv, line 2 has 3 cells and the first row has 2; put a sent",
        ),
        ({"x__csv": ["Our words;", "en;de", "a;b"]}, "", "has 'Our words'; put two codes or more there, in"),
        ({"x__csv": ["ENG;DEU", "a;b"]}, "", "has 'ENG', 'DEU'; put two codes or more there, in small"),
        ({"x__csv": ["a,b", "c,d"]}, "", "x.csv, line 1 must name the language of each column"),
        ({"x__csv": ["en,de", "a\u0007,b"]}, "", "x.csv, line 2 has the control character U.0007"),
        ({"x__jsonl": ["[1]"]}, "", 'x.jsonl, line 1 is not an object of JSON; write {"en": "Yes.", "de'),
        ({"x__jsonl": ['{"en": "a", "de": "b"}', '{"en": "c'] * 2}, "", "x.jsonl, line 2 is not an object"),
        ({"x__jsonl": ['{"en": "a", "of": "b"}', '{"fr": "c"}']}, "", "line 2 has 'fr', which the first"),
        ({"x__jsonl": ['{"text": "a"}']}, "", "x.jsonl, line 1 must name the language of each column"),
        (
            {"x__jsonl": ['{"en": "a\\ud83d", "de": "b"}']},
            "",
            "line 1 has half a character, U.D83D at position 2; remove",
        ),
        ({"x__jsonl": []}, "", "x.jsonl is empty"),
        ({"x__xlsx": ["no archive"]}, "", "x.xlsx is not a spreadsheet, or is protected or damaged"),
        (
            {"x__tsv": ["Yes.\tJa.", "a\tb"]},
            "",
            "x.tsv, line 1 must .*, as in en and de, and has 'Yes.', 'Ja.'",
        ),
        ({"x__tsv": ["en\tde"]}, "", "x.tsv has no row with a translation; write sentences"),
        ({"x__tsv": ["en\tde", "a\u0007\tb"]}, "", "x.tsv, line 2 has the control character U.0007"),
    ],
)
def test_what_cannot_be_read_gets_one_sentence(tmp_path, files, pattern, message):
    text = write(tmp_path / "text", **files)
    with pytest.raises(InputError, match=message.replace("{", "[{]").replace("}", "[}]")):
        for table in read_tables(text, pattern):
            [*table.rows()]


@pytest.mark.parametrize("lost", ["", "</table:table>"])
def test_an_ods_file_whose_xml_is_broken_is_not_read_for_ever(tmp_path, lost):
    names = " ".join(
        f'xmlns:{each}="urn:oasis:names:tc:opendocument:xmlns:{each}:1.0"'
        for each in ("office", "table", "text")
    )
    rows = "".join(
        "<table:table-row>"
        + "".join(
            f'<table:table-cell office:value-type="string"><text:p>{cell}</text:p></table:table-cell>'
            for cell in cells
        )
        + "</table:table-row>"
        for cells in (("en", "de"), ("Yes.", "Ja."))
    )
    sheet = f'<table:table table:name="S">{rows}</table:table>'
    body = f"<office:body><office:spreadsheet>{sheet}</office:spreadsheet></office:body>"
    xml = f"<office:document-content {names}>{body}</office:document-content>"
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    listed = f'<m:file-entry m:full-path="/" m:media-type="{kind}"/>'
    manifest = "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"
    with zipfile.ZipFile(tmp_path / "x.ods", "w") as archive:
        archive.writestr("mimetype", kind)
        archive.writestr("META-INF/manifest.xml", f'<m:manifest xmlns:m="{manifest}">{listed}</m:manifest>')
        archive.writestr("content.xml", xml.replace(lost, "", 1))
    if not lost:
        (table,) = read_tables(tmp_path / "x.ods")
        assert [*table.rows()] == [("Yes.", "Ja.")]
        return
    with pytest.raises(
        InputError, match="x.ods is not a spreadsheet, or is protected or damaged .*mismatched"
    ):
        read_tables(tmp_path / "x.ods")


def test_bytes_that_are_not_utf_8_are_told_of_with_their_line(tmp_path):
    text = write(tmp_path / "text", x__en=EN)
    (text / "x.de").write_bytes(b"Ja.\nN\xe9in.\nDanke.\n")
    (table,) = read_tables(text, "x.{language}")
    with pytest.raises(InputError, match="x.de, line 2, byte 2: 0xe9 is not UTF-8; convert the file"):
        [*table.rows()]


def test_a_path_that_is_not_there_or_of_another_kind(tmp_path):
    with pytest.raises(InputError, match="there is no such file or folder"):
        read_tables(tmp_path / "none")
    (tmp_path / "x.docx").write_text("a")
    with pytest.raises(
        InputError, match="a file must end in .tsv, .jsonl, .tmx, .csv, .xlsx, .xls, .ods: a table"
    ):
        read_tables(tmp_path / "x.docx")
    with pytest.raises(InputError, match="is not a folder; a pattern describes the names of files in one"):
        read_tables(tmp_path / "x.docx", "x.{language}")


# Languages


def tables(*splits: str) -> list:
    """Tables of training text between the languages of each word, `de-en`."""
    return [Table("train", tuple(word.split("-")), (), rows=lambda on_fault: iter(())) for word in splits]


@pytest.mark.parametrize(
    "pairs, languages",
    [
        (["de-en", "en-fr"], ("en", "de", "fr")),
        (["de-fr", "it-fr"], ("fr", "de", "it")),
        (["nl-de"], ("de", "nl")),
        (["nl-en"], ("en", "nl")),
        (["de-en-fr"], ("en", "de", "fr")),
        (["deu-eng-fra"], ("eng", "deu", "fra")),
        (["de_CH-en_GB"], ("en_GB", "de_CH")),
    ],
)
def test_the_pivot_is_what_all_pairs_share_and_english_where_that_are_several(pairs, languages):
    assert choose_languages(tables(*pairs)) == languages


@pytest.mark.parametrize(
    "pairs, given, message",
    [
        (["de-en", "en-fr", "it-es"], (), "no language is in all of de-en, en-fr, es-it, as the pivot must"),
        (["de-it-fr"], (), "all of de, fr, it could be the pivot; name the languages by --languages"),
        (["de-en"], ("en", "ro"), "there is no training text for ro; the languages there are de, en"),
        (["de-en"], ("en",), "a set of languages needs two or more"),
    ],
)
def test_languages_without_a_pivot_get_one_sentence(pairs, given, message):
    with pytest.raises(InputError, match=message):
        choose_languages(tables(*pairs), given)
    assert choose_languages(tables("de-en", "it-es", "es-en"), ("en", "es")) == ("en", "es")


# Datasets of Hugging Face


def save_dataset(folder: Path, files: list[str]) -> Path:
    """What save_to_disk leaves, with empty Arrow files."""
    folder.mkdir(parents=True)
    (folder / "state.json").write_text(json.dumps({"_data_files": [{"filename": name} for name in files]}))
    (folder / "dataset_info.json").write_text("{}")
    for name in files:
        (folder / name).touch()
    return folder


def test_a_dataset_without_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    text = save_dataset(tmp_path / "books", ["data-00000-of-00001.arrow"])
    assert not is_own_form(text)
    with pytest.raises(InputError, match="a dataset of Hugging Face, .* run pip install pyarrow"):
        read_tables(text)


def test_a_dataset_that_is_damaged_or_empty_gets_one_sentence(tmp_path):
    with pytest.raises(InputError, match="books is an empty dataset"):
        read_tables(save_dataset(tmp_path / "books", []))
    (tmp_path / "books" / "state.json").write_text("{}")
    with pytest.raises(InputError, match=r"state.json is damaged \(it lacks _data_files\)"):
        read_tables(tmp_path / "books")


class Stream(list):
    """As much of an Arrow stream as is read: batches, and a schema of columns with names and types."""

    def __init__(self, rows: list[dict], columns: dict[str, object]) -> None:
        super().__init__([SimpleNamespace(to_pylist=lambda: rows)])
        fields = [SimpleNamespace(name=name, type=kind) for name, kind in columns.items()]
        self.schema = type("Schema", (list,), {})(fields)
        self.schema.names = [*columns]
        self.schema.field = lambda name: next(field for field in fields if field.name == name)


TEXTS = [SimpleNamespace(name=name, type="string") for name in ("de", "en")]
IN_A_COLUMN = Stream(
    [{"id": 1, "translation": {"en": "Yes.", "de": "Ja."}}], {"id": "int64", "translation": TEXTS}
)
IN_COLUMNS = Stream(
    [{"de": "Ja. \r\n Ja.\n", "en": "Yes.", "fr": None, "score": 1.0}],
    {"de": "string", "en": "string", "fr": "string", "score": "double"},
)


@pytest.mark.parametrize(
    "stream, languages, row",
    [(IN_A_COLUMN, ("de", "en"), ("Ja.", "Yes.")), (IN_COLUMNS, ("de", "en", "fr"), ("Ja. Ja.", "Yes.", ""))],
)
def test_a_dataset_has_a_column_of_translations_or_one_for_each_language(
    stream, languages, row, tmp_path, monkeypatch
):
    monkeypatch.setattr(saved_dataset, "open_stream", lambda file: stream)
    for split in ("train", "validation"):
        save_dataset(tmp_path / "books" / split, ["a.arrow", "b.arrow"])
    save_dataset(tmp_path / "books" / "test_2016", ["a.arrow"])
    test, train, valid = sorted(read_tables(tmp_path / "books"), key=lambda table: table.split)
    assert (test.split, train.split, valid.split, train.languages) == ("test", "train", "valid", languages)
    assert [*train.rows()] == [row, row]
    assert train.files[1:] == tuple(tmp_path / "books" / "train" / name for name in ("a.arrow", "b.arrow"))


def test_columns_of_a_dataset_that_are_passed_over_are_named(tmp_path, monkeypatch, caplog):
    save_dataset(tmp_path / "books", ["a.arrow"])
    rows = [{"id": str(number), "de": "Ja.", "en": "Yes.", "pt-BR": "Sim."} for number in range(3)]
    stream = Stream(rows, dict.fromkeys(rows[0], "string"))
    monkeypatch.setattr(saved_dataset, "open_stream", lambda file: stream)
    (table,) = read_tables(tmp_path / "books")
    assert table.languages == ("de", "en") and [*table.rows()] == [("Ja.", "Yes.")] * 3
    assert "books: not read, since they hold numbers: the columns id" in caplog.text
    assert "not read, since they have no code of a language at their head: 'pt-BR'" in caplog.text
    stream = Stream([{"translation": rows[0]}], {"translation": TEXTS[:1]})
    with pytest.raises(InputError, match="has the columns 'translation' with de; it needs 'translation', or"):
        read_tables(tmp_path / "books")


def test_a_column_of_translations_that_has_them_not_by_language_is_another_one(tmp_path, monkeypatch):
    save_dataset(tmp_path / "books", ["a.arrow"])
    row = {"de": "Ja.", "en": "Yes.", "translation": ["Oui."]}
    stream = Stream([row], {"de": "string", "en": "string", "translation": object()})
    monkeypatch.setattr(saved_dataset, "open_stream", lambda file: stream)
    (table,) = read_tables(tmp_path / "books")
    assert [*table.rows()] == [("Ja.", "Yes.")]


def test_a_dataset_without_languages_and_a_row_without_a_translation(tmp_path, monkeypatch):
    save_dataset(tmp_path / "books", ["a.arrow"])
    monkeypatch.setattr(saved_dataset, "open_stream", lambda file: Stream([], {"text": "string"}))
    with pytest.raises(InputError, match="has the columns text; it needs 'translation'"):
        read_tables(tmp_path / "books")
    half = Stream([{"de": "Ja.", "en": None}], {"de": "string", "en": "string"})
    for empty in half, Stream([{"translation": None}], {"translation": TEXTS}):
        monkeypatch.setattr(saved_dataset, "open_stream", lambda file, empty=empty: empty)
        (table,) = read_tables(tmp_path / "books")
        with pytest.raises(InputError, match="books, row 1 has no sentence with a translation"):
            [*table.rows()]


def test_an_arrow_file_is_read(tmp_path):
    """By pyarrow itself, where it is installed."""
    pyarrow = pytest.importorskip("pyarrow")
    rows = [{"translation": {"de": de, "en": en}} for de, en in zip(DE, EN)]
    folder = save_dataset(tmp_path / "books" / "train", ["a.arrow"])
    table = pyarrow.Table.from_pylist(rows)
    with pyarrow.ipc.new_stream(str(folder / "a.arrow"), table.schema) as file:
        file.write_table(table, max_chunksize=2)
    (train,) = read_tables(tmp_path / "books")
    assert [*train.rows()] == [*zip(DE, EN)]
    (folder / "a.arrow").write_bytes(b"no arrow")
    with pytest.raises(InputError, match="a.arrow is damaged"):
        read_tables(tmp_path / "books")
