"""Translation memories: what of a file in TMX becomes a row, and one sentence for what cannot be read."""

import logging
from pathlib import Path

import pytest

from zsnmt.corpora.own_text.forms import is_own_form, read_tables, unread_files
from zsnmt.corpora.own_text.languages import choose_languages
from zsnmt.corpora.own_text.rewriting import write_parallel_text
from zsnmt.corpora.own_text.survey import survey
from zsnmt.errors import InputError

HEAD = '<?xml version="1.0" encoding="{}"?>\n<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n'


def unit(**segments: str) -> str:
    """A unit, its segments by language, with _ for a hyphen."""
    variants = (
        f'<tuv xml:lang="{language.replace("_", "-")}"><note>n</note><seg>{segment}</seg></tuv>'
        for language, segment in segments.items()
    )
    return f"<tu><prop>p</prop>{''.join(variants)}</tu>"


def write_memory(path: Path, *units: str, encoding: str = "UTF-8") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    header = '<header srclang="en" datatype="plaintext"/>'
    body = f'<tmx version="1.4">{header}<body>{"".join(units)}</body></tmx>'
    path.write_text(HEAD.format(encoding) + body, encoding=encoding)
    return path


def rows(path: Path) -> list[tuple[str, ...]]:
    (table,) = read_tables(path)
    return [*table.rows()]


def test_a_unit_is_a_row_by_its_languages_alone(tmp_path):
    path = write_memory(
        tmp_path / "memory.tmx",
        unit(en_GB="Good morning.", de_DE="Guten Morgen."),
        unit(en_US="Colour.", en_GB="Color.", DE="Farbe.", fr="Couleur."),
    )
    (table,) = read_tables(path)
    assert (table.split, table.languages, table.files) == ("train", ("de", "en", "fr"), (path,))
    expected = [("Guten Morgen.", "Good morning.", ""), ("Farbe.", "Colour.", "Couleur.")]
    assert [*table.rows()] == [*table.rows()] == expected


def test_second_sentences_of_a_language_in_a_unit_are_counted(tmp_path, caplog):
    both = unit(en="Bus.", pt_BR="Ônibus.", pt_PT="Autocarro.")
    (table,) = read_tables(
        write_memory(tmp_path / "m.tmx", both, both, unit(en="A.", pt_BR="B.", pt_PT="B."))
    )
    assert [*table.rows()] == [("Bus.", "Ônibus.")] * 2 + [("A.", "B.")]
    (warning,) = caplog.messages
    assert "before: 2 sentences in 'pt-PT'; to train variants" in warning


@pytest.mark.parametrize(
    "segment, sentence",
    [
        ('A <bpt i="1">&lt;b></bpt>bold<ept i="1">&lt;/b></ept> word.', "A bold word."),
        ('See<ph><sub>a note</sub></ph> <hi>there <it pos="begin">x</it>now</hi>.', "See there now."),
        ("\n  Two\n\tlines \u2028and &amp;\u00a0more\n", "Two lines and &\u00a0more"),
        ("<![CDATA[a < b]]>", "a < b"),
        ("Hello<ph x='1'/>world<bpt i='1'/>s<ept i='1'/>, all<ph/>.\ufeff", "Hello worlds, all."),
        ("First.<ph>&lt;br/></ph>Second (<ph/>third) <ph/>fourth<ph/>!", "First. Second (third) fourth!"),
        ('ここを<ph x="1"/>押して', "ここを押して"),
        ("<ph/>Begin \u201e<ph/>quoted\u201c", "Begin \u201equoted\u201c"),
    ],
)
def test_markup_is_left_out_and_a_break_of_a_line_is_a_space(tmp_path, segment, sentence):
    path = write_memory(tmp_path / "memory.TMX", unit(en=segment, de="Ja."))
    assert rows(path) == [("Ja.", sentence)]


def test_of_units_in_several_languages_no_pair_is_lost(tmp_path):
    units = [unit(de=f"Satz {n}.", fr=f"Phrase {n}.") for n in range(120)]
    units += [unit(de=f"Wort {n}.", en=f"Word {n}.") for n in range(300)]
    both = [unit(de=f"Tag {n}.", en=f"Day {n}.", fr=f"Jour {n}.") for n in range(100)]
    tables = read_tables(write_memory(tmp_path / "memory.tmx", *units, *both))
    assert choose_languages(tables) == ("en", "de", "fr")
    counted = survey(tables, ("en", "de", "fr"))
    assert counted.pairs == {"en-de": 400, "en-fr": 100, "de-fr": 120}
    assert not counted.stray and not counted.beside_pivot
    few = read_tables(write_memory(tmp_path / "few.tmx", *units[60:], *both))
    counted = survey(few, ("en", "de", "fr"))
    assert counted.pairs == {"en-de": 400, "en-fr": 100} and counted.stray == {"de-fr": 60}
    (tmp_path / "text").mkdir()
    write_parallel_text(few, tmp_path / "text", ("en", "de", "fr"))
    assert sorted(file.name for file in (tmp_path / "text").glob("*-fr.*")) == [
        "train.en-fr.en",
        "train.en-fr.fr",
    ]


@pytest.mark.parametrize(
    "numbers, pivots",
    [
        ({"de-fr": 5, "de-en": 4}, {"de"}),  # English stands with no French
        ({"de-fr": 4, "de-en": 6}, {"de"}),
        ({"de-fr": 5, "de-en": 1, "en-fr": 1}, {"de", "fr"}),
        ({"de-en-fr": 1, "de-en": 5, "en-fr": 5}, {"de", "en", "fr"}),
        ({"de-en-fr": 1, "de-en": 5, "en-fr": 3}, {"de", "en"}),
        ({"de-en-fr": 3}, {"de", "en", "fr"}),
    ],
)
def test_the_pivot_stands_with_each_other_language_and_in_most_units(tmp_path, numbers, pivots):
    units = [
        unit(**dict.fromkeys(kind.split("-"), "A."))
        for kind, number in numbers.items()
        for _ in range(number)
    ]
    tables = read_tables(write_memory(tmp_path / "memory.tmx", *units))
    assert tables[0].pivots == pivots
    if pivots == {"de", "fr"}:
        with pytest.raises(InputError, match="all of de, fr could be the pivot"):
            choose_languages(tables)
    else:
        assert choose_languages(tables)[0] == ("en" if "en" in pivots else "de")


@pytest.mark.parametrize("encoding", ["UTF-8", "UTF-16", "ISO-8859-1"])
def test_the_encoding_is_what_the_file_says(tmp_path, encoding):
    path = write_memory(tmp_path / "memory.tmx", unit(en="Yes.", fr="Oui, \u00e9t\u00e9."), encoding=encoding)
    assert rows(path) == [("Yes.", "Oui, \u00e9t\u00e9.")]


def test_the_attribute_of_older_versions_names_a_language_too(tmp_path):
    path = write_memory(tmp_path / "memory.tmx", unit(en="Yes.", de="Ja.").replace("xml:lang", "lang"))
    assert rows(path) == [("Ja.", "Yes.")]


def test_units_without_a_translation_are_left_out_and_counted(tmp_path, caplog):
    nothing = unit(en="Nothing.", de=" ") + "<tu><tuv xml:lang='de'/></tu>"
    path = write_memory(tmp_path / "memory.tmx", unit(en="No."), nothing, unit(en="Yes.", de="Ja."))
    with caplog.at_level(logging.WARNING):
        assert rows(path) == [("Ja.", "Yes.")]
    assert "memory.tmx: 3 of 4 units have no translation and are left out" in caplog.text


@pytest.mark.parametrize("name", ["test.tmx", "Test.de-en.TMX", "test_2020.tmx", "dev-set.tmx", "tests.tmx"])
def test_the_first_word_of_a_name_says_what_a_memory_is_for(tmp_path, name):
    write_memory(tmp_path / "text" / "mine.tmx", unit(en="Yes.", de="Ja."))
    path = write_memory(tmp_path / "text" / name, unit(en="No.", de="Nein."))
    of_name = {table.files[0].name: table.split for table in read_tables(tmp_path / "text")}
    splits = {"dev-set.tmx": "valid", "tests.tmx": "train"}
    assert of_name == {"mine.tmx": "train", name: splits.get(name, "test")}
    (table,) = read_tables(path)  # given by itself it is what is trained on
    assert table.split == "train"


def test_held_out_files_of_pairs_are_read_beside_memories(tmp_path):
    write_memory(tmp_path / "mine.tmx", unit(en="Yes.", de="Ja."))
    for language, sentence in (("de", "Nein."), ("fr", "Non.")):
        (tmp_path / f"test.de-fr.{language}").write_text(f"{sentence}\n")
    test, train = read_tables(tmp_path)
    assert (test.split, [*test.rows()]) == ("test", [("Nein.", "Non.")])
    (tmp_path / "overlap.tsv").write_text("a list of zsnmt's own")
    assert not unread_files(tmp_path, [train, test])
    assert {file.name for file in unread_files(tmp_path, [test])} == {"mine.tmx"}


def test_a_folder_may_have_memories_beside_text_separated_by_tabs(tmp_path):
    write_memory(tmp_path / "one.tmx", unit(en="Yes.", de="Ja."))
    write_memory(tmp_path / "test.tmx", unit(en="No.", de="Nein."))
    (tmp_path / "two.tsv").write_text("en\tfr\nYes.\tOui.\n", encoding="utf-8")
    (tmp_path / "old.tmx").mkdir()
    tables = read_tables(tmp_path)
    assert [(table.split, table.languages) for table in tables] == [
        ("train", ("de", "en")),
        ("test", ("de", "en")),
        ("train", ("en", "fr")),
    ]
    assert not is_own_form(tmp_path)


@pytest.mark.parametrize(
    "text, message",
    [
        ("<tmx><body><tu>", "is not well-formed XML .*line 1, column 15.*; export the memory again"),
        ("", "is not well-formed XML"),
        ('<?xml version="1.0" encoding="klingon"?><tmx/>', "is not well-formed XML .unknown encoding"),
        ("<html/>", "begins with <html> and is no TMX, which begins with <tmx>"),
        ("<tmx><body/></tmx>", "has no unit with a translation; write sentences of two"),
        (f"<tmx><body>{unit(en='Yes.')}</body></tmx>", "has no unit with a translation"),
        (
            f"<tmx><body>{unit(en='Yes.', de='Ja.').replace('xml:lang', 'code')}</body></tmx>",
            "has a sentence whose language is ''; each <tuv> needs the code of one, as in xml:lang=\"en\"",
        ),
        (
            f"<tmx><body>{unit(English='Yes.', German='Ja.')}</body></tmx>",
            "memory.tmx, unit 1 has a sentence whose language is 'English'; each <tuv> needs the code of one",
        ),
        (
            f"<tmx><body>\n{unit(en='Yes.', de='J&#x1f;a.')}</body></tmx>",
            "invalid character number: line 2, column .*, or mend that line$",
        ),
        (
            f"<tmx><body>{unit(en='Yes.', de='J&#x7f;a.')}</body></tmx>",
            "memory.tmx, unit 1 has the control character U.007F at position 2",
        ),
    ],
)
def test_what_cannot_be_read_gets_one_sentence(tmp_path, text, message):
    path = tmp_path / "memory.tmx"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        rows(path)


def test_units_that_were_read_are_forgotten(tmp_path, monkeypatch):
    kept = []
    path = write_memory(tmp_path / "memory.tmx", *(unit(en=f"Yes {n}.", de=f"Ja {n}.") for n in range(50)))
    from zsnmt.corpora.own_text import translation_memory

    forget = translation_memory.clear
    monkeypatch.setattr(
        translation_memory,
        "clear",
        lambda root: (forget(root), kept.append(sum(1 for _ in root.iter("tu")))),
    )
    assert len(rows(path)) == 50 and {*kept} == {0}
