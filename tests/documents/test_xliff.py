"""XLIFF: what lacks a translation gets one, with its markup, and nothing else changes."""

import re

import pytest

from tests.documents.shouting import shouted
from zsnmt.documents.formats import read_document
from zsnmt.documents.passages import is_of_language
from zsnmt.errors import InputError

OLD = """<?xml version="1.0" encoding="UTF-8"?>
<!-- of a tool -->
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2" xmlns:t="urn:tool">
  <file original="a.docx" source-language="en" datatype="plaintext" t:kept="yes">
    <body>
      <trans-unit id="1">
        <source xml:lang="en">Press <g id="1">the red</g> button.<x id="2"/> Then wait.</source>
        <note>stays</note>
      </trans-unit>
      <trans-unit id="2"><source>There already.</source><target state="final">Schon da.</target></trans-unit>
      <trans-unit id="3"><source>Empty &amp; new.</source><target t:by="me"> </target></trans-unit>
      <trans-unit id="4" translate="no"><source>Product</source></trans-unit>
      <group translate="no"><trans-unit id="5"><source>Names</source></trans-unit></group>
      <trans-unit id="6">
        <source><bpt id="1">&lt;b></bpt>bold<ept id="1">&lt;/b></ept> %d</source>
      </trans-unit>
      <trans-unit id="7">
        <source>One. Two.</source>
        <seg-source><mrk mtype="seg" mid="1">One.</mrk> <mrk mtype="seg" mid="2">Two.</mrk></seg-source>
        <alt-trans><source>one</source><target>eins</target></alt-trans>
      </trans-unit>
      <trans-unit id="8"><source>By <mrk mtype="protected">Acme</mrk> alone.</source></trans-unit>
      <trans-unit id="9"><source> </source></trans-unit>
      <trans-unit id="10"><source>{N, select, a {A cat} other {<x id="3"/> cats}}</source></trans-unit>
      <trans-unit id="11" approved="yes"><source>New.</source></trans-unit>
    </body>
  </file>
</xliff>
"""

NEW = """<xliff version="2.1" xmlns="urn:oasis:names:tc:xliff:document:2.0" srcLang="en">
  <file id="f">
    <unit id="1">
      <segment state="initial"><source>A <pc id="1">small<ph id="2"/> one</pc>.</source></segment>
      <ignorable><source> </source></ignorable>
      <segment><source>There.</source><target>Da.</target></segment>
    </unit>
    <unit id="2" translate="no"><segment><source>Kept</source></segment></unit>
  </file>
</xliff>
"""


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def targets(content: bytes) -> list[str]:
    """The targets as they stand, with what is in them."""
    found = re.findall(rb"<target.*?</target>", content, flags=re.DOTALL)
    return [target.decode() for target in found]


def test_texts_without_a_translation_get_one_for_a_person_to_look_at(tmp_path):
    made = shouted(write(tmp_path / "a.xlf", OLD))
    review = 'state="needs-review-translation"'
    assert targets(made) == [
        f'<target {review}>PRESS <g id="1">THE RED</g> BUTTON.<x id="2"/> THEN WAIT.</target>',
        '<target state="final">Schon da.</target>',
        f'<target t:by="me" {review}>EMPTY &amp; NEW.</target>',
        f'<target {review}><bpt id="1">&lt;b&gt;</bpt>BOLD<ept id="1">&lt;/b&gt;</ept> %d</target>',
        f'<target {review}><mrk mtype="seg" mid="1">ONE.</mrk> <mrk mtype="seg" mid="2">TWO.</mrk></target>',
        "<target>eins</target>",
        f'<target {review}>BY <mrk mtype="protected">Acme</mrk> ALONE.</target>',
        f"<target {review}>NEW.</target>",
    ]
    text = made.decode()
    assert '<trans-unit id="11" approved="no">' in text
    assert 'datatype="plaintext" t:kept="yes" target-language="xx"' in text and "<!-- of a tool -->" in text
    without = re.sub(r"<target [^>]*needs-review.*?</target>", "", text)
    assert re.findall(r"<source.*?</source>|<note>.*?</note>", without) == re.findall(
        r"<source.*?</source>|<note>.*?</note>", OLD.replace("b>", "b&gt;")
    )


def test_segments_of_the_newer_version(tmp_path):
    made = shouted(write(tmp_path / "a.xliff", NEW))
    first, there = targets(made)
    assert (
        first == '<target>A <pc id="1">SMALL<ph id="2"/> ONE</pc>.</target>'
        and there == "<target>Da.</target>"
    )
    assert made.count(b'<segment state="translated">') == 1 and b'trgLang="xx"' in made
    assert b"<source>Kept</source></segment>" in made


def test_what_was_translated_once_stays(tmp_path):
    once = shouted(write(tmp_path / "a.xlf", OLD))
    (tmp_path / "b.xlf").write_bytes(once)
    assert read_document(tmp_path / "b.xlf").passages == [] and shouted(tmp_path / "b.xlf") == once


def test_a_target_language_may_name_a_country(tmp_path):
    path = write(tmp_path / "a.xlf", OLD.replace("original", 'target-language="xx-CH" original'))
    assert b'target-language="xx-CH"' in shouted(path)


def test_entities_are_not_looked_up(tmp_path):
    (tmp_path / "secret").write_text("secret")
    entity = f'<!DOCTYPE xliff [<!ENTITY e SYSTEM "{tmp_path / "secret"}">]>\n<xliff version="1.2"'
    path = write(tmp_path / "a.xlf", OLD.replace('<xliff version="1.2"', entity).replace("wait", "&e; wait"))
    assert b">secret" not in shouted(path) and b"secret wait" not in shouted(path).lower()


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "is not well-formed XML"),
        ("<xliff version='1.2'><file>", "is not well-formed XML .*; export it again"),
        ("<html/>", "is no XLIFF 1 or 2, which begins with <xliff version=...>"),
        ("<xliff version='3.0'/>", "is no XLIFF 1 or 2"),
    ],
)
def test_what_is_no_xliff_is_refused(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        read_document(write(tmp_path / "a.xlf", text))


HOLES = """<xliff version="1.2"><file target-language="xx-CH"><body>
<trans-unit id="1"><source>Copied.</source><target state="needs-translation">Copied.</target></trans-unit>
<trans-unit id="2"><source>Same.</source><target>Same.</target></trans-unit>
<trans-unit id="3"><source>One. Two.</source>
<seg-source><mrk mtype="seg" mid="1">One.</mrk>
<mrk mtype="seg" mid="2">Two <mrk mtype="x">w</mrk>.</mrk></seg-source>
<target><mrk mtype="seg" mid="1">Eins.</mrk> <mrk mtype="seg" mid="2" c="d"/></target></trans-unit>
</body></file></xliff>
"""


def test_copies_of_the_source_and_empty_segments_are_no_translations(tmp_path):
    path = write(tmp_path / "a.xlf", HOLES)
    review = 'state="needs-review-translation"'
    assert targets(shouted(path)) == [
        f"<target {review}>COPIED.</target>",
        "<target>Same.</target>",
        f'<target {review}><mrk mtype="seg" mid="1">Eins.</mrk> '
        '<mrk mtype="seg" mid="2" c="d">TWO <mrk mtype="x">W</mrk>.</mrk></target>',
    ]
    assert read_document(path).translated_into == "xx-CH"
    assert read_document(write(tmp_path / "b.xlf", OLD.replace("Schon da.", ""))).translated_into is None


def test_languages_are_written_as_documents_write_them(tmp_path):
    document = read_document(write(tmp_path / "a.xliff", NEW))
    runs = [[run.text for run in passage.runs] for passage in document.passages]
    assert b'trgLang="pt-BR"' in document.content(runs, "pt_BR")
    assert is_of_language("DE-de", "de") and is_of_language("pt-BR", "pt_BR") and is_of_language("de", "de")
    assert not any(is_of_language(said, "de") for said in ("den", "en-DE", "", None))


def test_a_document_within_the_file_may_be_large(tmp_path):
    large = f"<header><skl><internal-file>{'QUJD' * 3_000_000}</internal-file></skl></header><body>"
    path = write(tmp_path / "a.xlf", HOLES.replace("<body>", large))
    assert len(read_document(path).passages) == 2


@pytest.mark.parametrize(
    "source, target",
    [
        ('Good morning<x id="1" ctype="lb"/>Welcome', 'GOOD MORNING<x id="1" ctype="lb"/>WELCOME'),
        ("One.<ph id='1'>&lt;br/></ph>Two", '<ph id="1">&lt;br/&gt;</ph>'),
        (
            'Hello<ph id="1"/>world <g id="2">and<x id="3"/>all</g>',
            '<ph id="1"/>WORLD <g id="2">AND<x id="3"/>ALL</g>',
        ),
    ],
)
def test_a_break_within_a_text_ends_what_is_translated_together(tmp_path, source, target):
    unit = f'<trans-unit id="1"><source>{source}</source></trans-unit>'
    path = write(tmp_path / "a.xlf", f'<xliff version="1.2"><file><body>{unit}</body></file></xliff>')
    assert target in targets(shouted(path))[0]
    assert not any("morningWelcome" in passage.text for passage in read_document(path).passages)


def test_the_language_of_translations_is_that_of_the_targets_where_the_file_says_none(tmp_path):
    unit = '<trans-unit id="1"><source>Yes</source><target xml:lang="fr-FR">Oui</target></trans-unit>'
    form = '<xliff version="1.2"><file{}><body>{}</body></file></xliff>'
    assert read_document(write(tmp_path / "a.xlf", form.format("", unit))).translated_into == "fr-FR"
    copy = unit.replace("Oui", "Yes").replace("xml:lang", 'state="new" xml:lang')
    file = form.format(' target-language="fr"', copy)
    assert read_document(write(tmp_path / "b.xlf", file)).translated_into is None


@pytest.mark.parametrize(("said", "after"), [("fr-FR", "xx"), ("xx-YY", "xx-YY")])
def test_a_target_that_says_its_language_says_the_one_of_its_translation(said, after, tmp_path):
    """As it does in files that were made for another language; one that is cut into segments, too."""
    mark = '<mrk mtype="seg" mid="1">{}</mrk>'
    units = (
        f'<trans-unit id="1"><source>Yes</source><target xml:lang="{said}"/></trans-unit>'
        f'<trans-unit id="2"><source>No</source><seg-source>{mark.format("No")}</seg-source>'
        f'<target xml:lang="{said}">{mark.format("")} - </target></trans-unit>'
    )
    text = f'<xliff version="1.2"><file target-language="{said}"><body>{units}</body></file></xliff>'
    content = shouted(write(tmp_path / "a.xlf", text)).decode()
    assert re.findall('<target xml:lang="(.*?)"', content) == [after] * 2
    assert f'target-language="{after}"' in content


def test_what_was_said_of_the_state_before_goes_with_it(tmp_path):
    """As XLIFF 2.1 wants it of who changes a state."""
    for name, text in (
        (
            "a.xlf",
            OLD.replace('<target t:by="me">', '<target t:by="me" state="new" state-qualifier="id-match">'),
        ),
        ("b.xlf", NEW.replace('state="initial"', 'state="initial" subState="tool:untouched"')),
    ):
        content = shouted(write(tmp_path / name, text))
        assert b"qualifier" not in content and b"subState" not in content


def test_what_apples_programs_fill_in_stays(tmp_path):
    """Their texts come as XLIFF from Xcode."""
    text = "Hello %@, %1$@ sent you %#@files@ of %2$lld."
    unit = f'<trans-unit id="1"><source>{text}</source></trans-unit>'
    path = write(tmp_path / "a.xliff", f'<xliff version="1.2"><file><body>{unit}</body></file></xliff>')
    (passage,) = read_document(path).passages
    assert [run.text for run in passage.runs if run.fixed] == ["%@", "%1$@", "%#@files@", "%2$lld"]
    (target,) = targets(shouted(path))
    assert "HELLO %@, %1$@ SENT YOU %#@files@ OF %2$lld." in target
