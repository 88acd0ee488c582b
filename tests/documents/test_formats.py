"""Documents of each format: what is text, what stays, and files that are not what their names say."""

import io
import re
import zipfile

import docx
import polib
import pytest
import srt
from docx.opc.constants import RELATIONSHIP_TYPE as RT
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml.ns import qn
from lxml import html

from tests.documents.shouting import shouted, unchanged
from zsnmt.documents.formats import FORMATS, PLAIN, format_of, read_document
from zsnmt.documents.subtitles import two_lines
from zsnmt.errors import InputError
from zsnmt.text.lines import read_lines

PAGE = """<!DOCTYPE html>
<html lang='en'><head><title>My page &amp; more</title><style>p { color: red }</style></head>
<body class=x><h1>A title</h1>
<p>Hello <b>bold &lt; world</b> and <a href="x?a=1&amp;b=2" title='See "it"'>a link</a>.
Second   sentence<br/>next line.</p> <!-- a comment -->
<ul><li>one<li>two <em>or <u>three</u></em></ul>
<img src=a alt="A picture"><input placeholder=Name value="stay">
<p>Use <code>rm -rf</code> now. <span translate="no">Keep me</span>, please. 42&nbsp;&#8364;</p>
<div class="notranslate">Leave <b>this</b> alone.</div><pre>code here</pre>
<script>var a = "<b>text</b>";</script></body></html>
"""


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return path


def test_plain_text_keeps_its_lines_and_their_ends(tmp_path):
    path = write(tmp_path / "a.txt", "\ufeffHello. Dr. No is in!\r\n\r\n  Indented.\t42\n\x0bend")
    assert unchanged(path) == path.read_bytes()
    assert read_document(path).passages[0].text == "Hello. Dr. No is in!"
    assert shouted(path).decode() == "\ufeffHELLO. DR. NO IS IN!\r\n\r\n  INDENTED.\t42\n\x0bEND"


def test_a_carriage_return_alone_ends_a_line_of_plain_text(tmp_path):
    path = write(tmp_path / "a.txt", "Contents\rThe house\r\rIs it red?\n\rYes")
    assert [passage.text for passage in read_document(path).passages if passage.text] == [
        "Contents",
        "The house",
        "Is it red?",
        "Yes",
    ]
    assert shouted(path).decode() == "CONTENTS\rTHE HOUSE\r\rIS IT RED?\n\rYES"


def test_a_web_page_without_changes_is_the_same_to_the_byte(tmp_path):
    path = write(tmp_path / "a.html", PAGE)
    assert unchanged(path).decode() == PAGE.replace("lang='en'", 'lang="en"')


def test_of_a_web_page_text_alone_changes(tmp_path):
    page = shouted(write(tmp_path / "a.HTML", PAGE)).decode()
    for there in (
        '<html lang="xx">',
        "<title>MY PAGE &amp; MORE</title><style>p { color: red }</style>",
        '<p>HELLO <b>BOLD &lt; WORLD</b> AND <a href="x?a=1&amp;b=2" title="SEE &quot;IT&quot;">A LINK</a>.',
        "SECOND SENTENCE<br/>NEXT LINE.</p> <!-- a comment -->",
        "<li>ONE<li>TWO <em>OR <u>THREE</u></em></ul>",
        '<img src=a alt="A PICTURE"><input placeholder="NAME" value="stay">',
        '<p>USE <code>rm -rf</code> NOW. <span translate="no">Keep me</span>, PLEASE. 42',
        '<div class="notranslate">Leave <b>this</b> alone.</div><pre>code here</pre>',
        '<script>var a = "<b>text</b>";</script></body></html>',
    ):
        assert there in page
    tags = [[each.tag for each in html.fromstring(source).iter()] for source in (PAGE, page)]
    assert tags[0] == tags[1]


@pytest.mark.parametrize(
    ("source", "passages"),
    [
        ("<a href=1>Home</a><a href=2>Contact us</a>", ["Home", "Contact us"]),
        ("<span>Free</span><b><span>Fast</span></b>", ["FreeFast"]),
        ("<span>Free</span><span><b>Fast</b></span>", ["Free", "Fast"]),
        ("<a>One</a>, <a>two</a> and un<b>believ</b>able", ["One, two and unbelievable"]),
        ("<a>One</a><span>.</span><span>Two</span>", ["One.Two"]),
    ],
)
def test_links_beside_each_other_without_space_are_apart(tmp_path, source, passages):
    path = write(tmp_path / "a.html", f"<p>{source}</p>")
    assert [each.text for each in read_document(path).passages] == passages


def test_what_a_program_fills_into_a_page_stays(tmp_path):
    source = "<p>{% if user %}Hello <b>{{ user.name }}</b>, you have {{n}} messages.{% endif %}</p>"
    path = write(tmp_path / "a.html", source)
    words = re.compile("Hello|you have|messages")
    assert shouted(path).decode() == words.sub(lambda found: found[0].upper(), source)


def test_what_a_program_fills_into_an_attribute_stays(tmp_path):
    """Quotation marks within it, too, which else end the attribute, or are none to the program."""
    source = """<img alt="{% if n %}Hello {{ name|d('x') }} & you{% endif %}"
      title='{{ "Save"|t }} now' placeholder="{{ _('Kept') }}" aria-label=Menu label="">"""
    path = write(tmp_path / "a.html", source)
    changed = {"Hello": "HELLO", "& you": "&amp; YOU", "now": "NOW", "=Menu": '="MENU"'}
    words = re.compile("|".join(changed))
    assert shouted(path).decode() == words.sub(lambda found: changed[found[0]], source)


def test_readings_above_words_of_a_page_stay_and_are_no_part_of_the_sentence(tmp_path):
    source = (
        "<p>A <ruby>first<rp>(</rp><rt>fst</rt><rp>)</rp></ruby> and <ruby>second<rt>snd</ruby> word.</p>"
    )
    path = write(tmp_path / "a.html", source)
    (passage,) = read_document(path).passages
    assert passage.text == "A first and second word."
    words = re.compile(r"\b(?:A|first|and|second|word)\b")
    assert shouted(path).decode() == words.sub(lambda found: found[0].upper(), source)


def test_formulas_of_books_stay_whatever_name_their_language_is_given(tmp_path):
    source = '<html xmlns:m="urn:m"><p>Let</p><m:math><m:mi>x</m:mi></m:math><p>be.</p></html>'
    path = write(tmp_path / "a.xhtml", source)
    assert shouted(path).decode() == source.replace("Let", "LET").replace("be.", "BE.")


def test_space_beside_a_link_does_not_become_a_part_of_it(tmp_path):
    source = "<ul>\n<li>\n  <a href=x>One</a>\n</li>\n<li>First.<br>\n <b>Second.</b> <i>Third.</i>\n</ul>"
    page = shouted(write(tmp_path / "a.html", source)).decode()
    words = re.compile("(?<=>)(One|First|Second|Third)")
    assert page == words.sub(lambda found: found[0].upper(), source)


@pytest.mark.parametrize("value", ["no", '"NO"', "No"])
def test_what_is_not_to_be_translated_stays_in_whatever_letters_that_is_said(tmp_path, value):
    source = f"<p translate={value}>Keep.</p>"
    assert shouted(write(tmp_path / "a.html", f"{source}<p>Go</p>")).decode() == f"{source}<p>GO</p>"


def test_broken_markup_is_kept_as_it_is(tmp_path):
    source = "</><p>One < two &amp three <b>bold</p></i></><p title=>four <a href='x>five</p>"
    path = write(tmp_path / "a.html", source)
    assert unchanged(path).decode() == source and b"ONE" in shouted(path)


SUBTITLES = """1
00:00:01,000 --> 00:00:02,000
<i>Hello my
friend</i>, this is

2
00:00:02,100 --> 00:00:03,000
a sentence. And one.

3
00:00:09,000 --> 00:00:10,000
- Hi!
- Ho! How are you doing today, my very old friend of mine?

5
00:00:10,500 --> 00:00:11,000
{\\an8}♪
"""


def test_a_sentence_goes_on_over_subtitles_and_times_numbers_and_tags_stay(tmp_path):
    path = write(tmp_path / "a.srt", SUBTITLES.replace("\\\\", "\\"))
    assert [each.text for each in read_document(path).passages][:2] == [
        "Hello my friend, this is a sentence. And one.",
        "Hi!",
    ]
    before, after = (list(srt.parse(text)) for text in (path.read_text(), shouted(path).decode()))
    times = [[(one.index, one.start, one.end) for one in subtitles] for subtitles in (before, after)]
    assert times[0] == times[1]
    assert [one.content for one in after] == [
        "<i>HELLO MY FRIEND</i>, THIS IS",
        "A SENTENCE. AND ONE.",
        "- HI!\n- HO! HOW ARE YOU DOING TODAY,\nMY VERY OLD FRIEND OF MINE?",
        "{\\an8}♪",
    ]


WEBVTT = """WEBVTT - An old friend
Kind: captions
Language: en

STYLE
::cue { color: yellow }

NOTE This is said twice.

first
00:01.000 --> 00:02.000 position:10%
<v Anna>Hello my <c.loud>friend</c>,
this is

00:02.100 --> 01:00:03.000
<v Anna>a &amp; b. <00:02.500>And one.

01:00:03.100 --> 01:00:04.000
<v Ben>Good

01:00:04.100 --> 01:00:05.000
<v Anna>Yes &lt;3
<v Ben>No
"""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_subtitles_of_web_pages_keep_all_but_what_is_said(tmp_path, end):
    path = tmp_path / "a.vtt"
    path.write_bytes(("\ufeff" + WEBVTT).replace("\n", end).encode())
    document = read_document(path)
    assert [each.text for each in document.passages] == [
        "Hello my friend, this is a & b. And one.",
        "Good",
        "Yes <3",
        "No",
    ]
    same = [[run.text for run in passage.runs] for passage in document.passages]
    assert document.content(same, "en") == path.read_bytes()
    expected = WEBVTT
    for said in ("Hello my", "friend", ",\nthis is", "a &amp; b.", "And one.", "Good", "Yes", "No\n"):
        expected = expected.replace(said, said.replace(",\nthis", ", this").upper().replace("&AMP;", "&amp;"))
    expected = expected.replace("An old FRIEND", "An old friend").replace("Language: en", "Language: xx")
    assert shouted(path).decode() == "\ufeff" + expected.replace("\n", end)


@pytest.mark.parametrize(
    "text, said",
    [
        ("00:01.000 --> 00:02.000\nHello.\n", "a.vtt does not begin with WEBVTT, as each file"),
        ("WEBVTT\n\n00:01,000 --> 00:02,000\nHello.\n", "a.vtt, line 3 has no times as WebVTT has them"),
        ("WEBVTT\n\nNOTE Nothing.\n", "a.vtt holds no subtitle"),
    ],
)
def test_what_is_not_webvtt_gets_one_sentence(tmp_path, text, said):
    with pytest.raises(InputError, match=said):
        read_document(write(tmp_path / "a.vtt", text))


def test_subtitles_without_spaces_go_on_without_them(tmp_path):
    text = subtitles("我今天早上看见", "一只狗\n在花园里跑。", "I see\na dog.")
    passages = read_document(write(tmp_path / "a.srt", text)).passages
    assert [each.text for each in passages] == ["我今天早上看见一只狗在花园里跑。", "I see a dog."]


@pytest.mark.parametrize(
    "line, broken",
    [
        ("我" * 21, "我" * 21),
        ("我" * 22, "我" * 11 + "\n" + "我" * 11),
        ("我" * 9 + "，" + "你" * 14, "我" * 9 + "，\n" + "你" * 14),
        ("<i>" + "我" * 20 + "</i>你好", "<i>" + "我" * 11 + "\n" + "我" * 9 + "</i>你好"),
        ("a" * 30 + " " + "b" * 30, "a" * 30 + "\n" + "b" * 30),
        ("a" * 60, "a" * 60),
    ],
)
def test_a_line_that_is_too_long_is_broken_by_how_wide_it_is(line, broken):
    assert two_lines(line) == broken


def test_space_between_tags_of_subtitles_parts_words(tmp_path):
    spoken = "<i>never seen</i>\n<i>such a house</i> <b>here</b>."
    path = write(tmp_path / "a.srt", f"1\n00:00:01,000 --> 00:00:02,000\n{spoken}\n")
    assert [each.text for each in read_document(path).passages] == ["never seen such a house here."]
    (subtitle,) = srt.parse(shouted(path).decode())
    assert subtitle.content == "<i>NEVER SEEN</i>\n<i>SUCH A HOUSE</i> <b>HERE</b>."


def test_a_further_empty_line_after_a_subtitle_stays(tmp_path):
    spoken = "1\n00:00:01,000 --> 00:00:02,000\n- Yes.\n- No.\n\n"
    once, twice = (
        shouted(write(tmp_path / f"{name}.srt", text)).decode()
        for name, text in (("once", spoken * 2), ("twice", f"{spoken}\n{spoken}"))
    )
    assert once.count("- YES.\n- NO.") == 2
    assert twice == once.replace("\n\n1\n", "\n\n\n1\n")


@pytest.mark.parametrize(
    "text",
    [
        "1\n00:00:01,000 --> 00:00:02,000\n\n2\n00:00:03,000 --> 00:00:04,000\n\n",
        "1\r\n00:00:01,000 --> 00:00:02,000\r\n...\r\n\r\n02\r\n0:00:03.5 --> 00:00:04,000\r\n\r\n\r\n",
        "1\n00:00:01,000 --> 00:00:02,000\n 12 \n - 4\n\n\n\n2\n00:00:03,000 --> 00:00:04,000\n \n",
        f"\n\n1\n00:00:01,000 --> 00:00:02,000\n{'1234 ' * 10}\n",
    ],
)
def test_subtitles_without_anything_to_translate_stay_to_the_byte(text, tmp_path):
    path = tmp_path / "a.srt"
    path.write_bytes(text.encode())
    assert shouted(path).decode() == text


def test_an_empty_subtitle_stays_as_it_is_between_others(tmp_path):
    text = subtitles("One.", "", "Two.").replace("\n\n\n", "\n\n")
    path = write(tmp_path / "a.srt", text)
    assert shouted(path).decode() == text.replace("One", "ONE").replace("Two", "TWO")


@pytest.fixture
def word(tmp_path):
    document = docx.Document()
    paragraph = document.add_paragraph("Hello ")
    paragraph.add_run("bo").bold = True
    paragraph.add_run("ld").bold = True  # as Word cuts what was typed at two times
    paragraph.add_run(" world. Next sentence\tafter a tab")
    document.add_heading("A title", 1)
    document.add_table(1, 2).cell(0, 0).text = "Cell one"
    document.tables[0].cell(0, 1).text = "12"
    document.sections[0].header.paragraphs[0].text = "Header text"
    document.save(path := tmp_path / "a.docx")
    return path


def test_a_word_document_keeps_its_structure_and_looks(word):
    document = docx.Document(io.BytesIO(shouted(word)))
    shown = [[(run.text, run.bold) for run in each.runs] for each in document.paragraphs]
    assert shown == [
        [("HELLO ", None), ("BOLD", True), ("", True), (" WORLD. NEXT SENTENCE\tAFTER A TAB", None)],
        [("A TITLE", None)],
    ]
    assert document.paragraphs[1].style.name == "Heading 1"
    assert [cell.text for cell in document.tables[0].rows[0].cells] == ["CELL ONE", "12"]
    assert document.sections[0].header.paragraphs[0].text == "HEADER TEXT"


FOOTNOTES = """<!DOCTYPE w:footnotes [<!ENTITY of_a_stranger "not read">]>
<w:footnotes xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:footnote w:id="2">
<w:p><w:r><w:t>A note.</w:t></w:r><w:r><w:t>&of_a_stranger;</w:t></w:r></w:p></w:footnote></w:footnotes>"""


def test_notes_are_translated_and_entities_of_their_xml_are_not_looked_up(word):
    document = docx.Document(str(word))
    kinds = "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml", RT.FOOTNOTES
    part = Part(PackURI("/word/footnotes.xml"), kinds[0], FOOTNOTES.encode(), document.part.package)
    document.part.relate_to(part, kinds[1])
    document.save(str(word))
    with zipfile.ZipFile(io.BytesIO(shouted(word))) as packed:
        notes = packed.read("word/footnotes.xml").decode()
    assert "A NOTE." in notes and "&of_a_stranger;" in notes and "not read" not in notes.partition("<w:p>")[2]


def test_a_word_document_without_changes_has_the_same_texts(word):
    def text(file):
        document = docx.Document(file)
        parts = document.element, document.sections[0].header._element
        return "|".join("".join(each.text or "" for each in part.iter(qn("w:t"))) for part in parts)

    assert text(word) == text(io.BytesIO(unchanged(word)))


MESSAGES = """msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\\n"
"Plural-Forms: nplurals=3; plural=n%10==1 ? 0 : n%10<5 ? 1 : 2;\\n"

#. a note
#: a.c:12
#, c-format
msgid "Delete %(count)d files in {folder}? 100% sure"
msgstr ""

msgid "one file"
msgid_plural "%d files"
msgstr[0] ""
msgstr[1] ""
msgstr[2] ""

msgid "done"
msgstr "fertig"

msgid "{n, plural, one {# file} other {# files}}"
msgstr ""
"""


def test_messages_without_translation_get_one_that_is_fuzzy(tmp_path):
    path = write(tmp_path / "a.po", MESSAGES.replace("\\\\", "\\"))
    one, several, done, chosen = polib.pofile(shouted(path).decode())
    assert one.msgstr == "DELETE %(count)d FILES IN {folder}? 100% SURE"
    assert (
        one.flags == ["c-format", "fuzzy"] and one.comment == "a note" and one.occurrences == [("a.c", "12")]
    )
    assert several.msgstr_plural == {0: "ONE FILE", 1: "%d FILES", 2: "%d FILES"}
    assert done.msgstr == "fertig" and done.flags == []
    assert chosen.msgstr == "" and chosen.flags == []  # of several texts, which are for a person


OTHER_MESSAGES = """msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\\n"

msgid ""
"  -h   show this help\\n"
"  -v   be verbose\\n"
msgstr ""

msgid "Name:\\tvalue"
msgstr ""

msgid "Hello %{name} and {{other}}!"
msgstr ""

#, c-format
msgid "%*d items, % d left, %'d in all, 100% done"
msgstr ""

msgid "100% d'accord"
msgstr ""

msgid "%<count>d files of %L1, <%= user %>, $t(more), %-5s, 50 %-off"
msgstr ""
"""


def test_lines_tabs_and_values_of_messages_stay(tmp_path):
    path = write(tmp_path / "a.po", OTHER_MESSAGES)
    assert [entry.msgstr for entry in polib.pofile(shouted(path).decode())] == [
        "  -H   SHOW THIS HELP\n  -V   BE VERBOSE\n",
        "NAME:\tVALUE",
        "HELLO %{name} AND {{other}}!",
        "%*d ITEMS, % d LEFT, %'d IN ALL, 100% DONE",
        "100% D'ACCORD",
        "%<count>d FILES OF %L1, <%= user %>, $t(more), %-5s, 50 %-OFF",
    ]


def test_what_stands_within_a_paragraph_of_a_word_document_stays_where_it_is(tmp_path):
    document = docx.Document()
    for tag in ("m:oMath", "w:commentRangeStart", "w:sym", "w:bookmarkStart", "w:permEnd"):
        paragraph = document.add_paragraph()
        paragraph.add_run("The value of ")
        paragraph._p.append(paragraph._p.makeelement(qn(tag)))
        paragraph.add_run(" must be positive.")
    paragraph = document.add_paragraph()
    paragraph.add_run("Our company")
    paragraph.runs[0]._r.append(paragraph._p.makeelement(qn("w:ptab")))
    paragraph.add_run("First draft")
    control = document.add_paragraph("Name of ")._p
    control.append(there := control.makeelement(qn("w:sdt")))
    there.append(document.add_paragraph("the customer")._p.r_lst[0])
    control.append(another := control.makeelement(qn("w:sdt")))
    another.append(document.add_paragraph(" and the date")._p.r_lst[0])
    control.append(document.add_paragraph(" and more")._p.r_lst[0])
    document.save(path := tmp_path / "a.docx")
    after = docx.Document(io.BytesIO(shouted(path))).paragraphs
    for paragraph in after[:5]:
        assert [run.text for run in paragraph.runs] == ["THE VALUE OF ", " MUST BE POSITIVE."]
    assert [run.text.strip("\t") for run in after[5].runs] == ["OUR COMPANY", "FIRST DRAFT"]
    texts = [text.text for text in after[6]._p.iter(qn("w:t"))]
    assert len(texts) == 4 and all(text.strip() for text in texts)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<p translate=no>Kept<p>Second<div>Fourth</div>", "<p translate=no>Kept<p>SECOND<div>FOURTH</div>"),
        (
            "<ul><li class=notranslate>Kept<ul><li>this</ul><li>Second</ul>",
            "<ul><li class=notranslate>Kept<ul><li>this</ul><li>SECOND</ul>",
        ),
        (
            "<table><tr><td translate=no>Kept<p>this<td>One<tr><td>Two",
            "<table><tr><td translate=no>Kept<p>this<td>ONE<tr><td>TWO",
        ),
        (
            "<table><thead><tr><td translate=no>Kept<tbody><tr><td>One</table>",
            "<table><thead><tr><td translate=no>Kept<tbody><tr><td>ONE</table>",
        ),
    ],
)
def test_an_element_without_end_tag_ends_where_the_next_one_begins(tmp_path, source, expected):
    assert shouted(write(tmp_path / "a.html", source)).decode() == expected


@pytest.mark.parametrize("ending", sorted(FORMATS))
def test_files_that_are_not_what_their_names_say_are_refused(tmp_path, ending):
    for number, content in enumerate((b"", b"\xff\xfe\x00broken", b"PK\x03\x04 cut")):
        path = write(tmp_path / f"{number}{ending}", content)
        with pytest.raises(InputError, match=str(path)):
            read_document(path)
    with pytest.raises(InputError, match="no such file"):
        read_document(tmp_path / f"missing{ending}")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"PK\x03\x04...", "is an archive, as documents of Office are, and no text"),
        (b"\x1f\x8b...", r"is compressed \(\.gz\), and no text; unpack it first"),
        (b"%PDF-1.7", "is a PDF, and no text; export its text"),
    ],
)
def test_what_is_no_text_is_named_where_text_is_read(tmp_path, content, said):
    path = write(tmp_path / "a.txt", content)
    for read in (read_document, read_lines):
        with pytest.raises(InputError, match=said):
            read(path)


def test_an_unknown_format_is_refused_with_those_that_are_known(tmp_path):
    for name, paragraphs, form in (
        ("a.DOCX", False, ".docx"),
        ("a.html", True, ".html"),
        ("a.txt", False, None),
        ("a.txt", True, PLAIN),
        ("novel", True, PLAIN),
        ("novel.de", False, None),
    ):
        assert format_of(tmp_path / name, paragraphs=paragraphs) == form, name
    assert format_of(None) is None
    for name in ("film.ass", "app.TMX", "letter.pdf", "project.sdlxliff", "menu.properties"):
        with pytest.raises(
            InputError, match=f"{name} is of a format that is not read; convert it into a file"
        ):
            format_of(tmp_path / name)
    with pytest.raises(
        InputError, match=r"a\.pdf is not of a known format; give a file that ends in \.txt, \.html"
    ):
        read_document(tmp_path / "a.pdf")


def test_a_page_with_a_declaration_that_cannot_be_read_is_refused(tmp_path):
    path = write(tmp_path / "a.html", "<p>a</p><![<b>c")
    with pytest.raises(InputError, match="the page is not HTML .*; mend that declaration"):
        read_document(path)


def test_a_byte_order_mark_before_a_page_stays_and_is_no_text(tmp_path):
    for page in ("<html><p>Hello</p></html>", "Hello"):
        path = write(tmp_path / "a.html", f"\ufeff{page}")
        assert [each.text for each in read_document(path).passages] == ["Hello"]
        assert shouted(path).decode() == f"\ufeff{page.replace('Hello', 'HELLO')}"


def subtitles(*contents: str) -> str:
    """One after the other without a pause."""
    return "".join(
        f"{number}\n00:00:{number:02},000 --> 00:00:{number:02},900\n{content}\n\n"
        for number, content in enumerate(contents, start=1)
    )


def test_the_ends_of_lines_of_subtitles_stay_and_a_byte_order_mark(tmp_path):
    text = subtitles("One.", "Two.")
    for form in (text, f"\ufeff{text}".replace("\n", "\r\n")):
        (tmp_path / "a.srt").write_bytes(form.encode())
        assert shouted(tmp_path / "a.srt").decode() == form.replace("One", "ONE").replace("Two", "TWO")


def test_subtitles_without_full_stops_do_not_become_one_sentence(tmp_path):
    spoken = [f"two dogs run on beach {number}" for number in range(1, 31)]
    path = write(tmp_path / "a.srt", subtitles(*spoken))
    assert [each.text for each in read_document(path).passages] == spoken
    long = ["A sentence that goes on and on, over many subtitles,"] * 20
    passages = read_document(write(tmp_path / "b.srt", subtitles(*long, *["It ends."] * 9))).passages
    assert max(len(each.text) for each in passages) <= 250 and len(passages) < 20
    assert passages[0].text == " ".join(long[:4])


def test_subtitles_without_numbers_get_none(tmp_path):
    text = "00:00:01,000 --> 00:00:02,000\nOne.\n\n00:00:03,000 --> 00:00:04,000\nTwo.\n"
    path = write(tmp_path / "a.srt", text)
    assert unchanged(path).decode() == text
    path = write(tmp_path / "b.srt", f"0\n{text}")
    assert unchanged(path).decode() == f"0\n{text}"


@pytest.mark.parametrize("line", ["99999999999999:00:00,000 --> 99999999999999:00:01,000", "9" * 5000])
def test_subtitles_with_numbers_that_are_too_large_are_refused(tmp_path, line):
    first = line if line.isdigit() else "1"
    times = "00:00:00,000 --> 00:00:01,000" if line.isdigit() else line
    with pytest.raises(InputError, match=r"a\.srt does not follow the form of SubRip subtitles"):
        read_document(write(tmp_path / "a.srt", f"{first}\n{times}\nHello.\n"))


@pytest.mark.parametrize(
    "before, after, line", [("nonsense\n\n", "", 1), ("", "\n\n2\n00:00:01\nHello.\n", 7)]
)
def test_what_is_not_a_subtitle_is_refused_with_its_line(tmp_path, before, after, line):
    path = write(tmp_path / "a.srt", before + subtitles("One.") + after)
    with pytest.raises(InputError, match=rf"a\.srt, line {line} does not follow the form .* its times"):
        read_document(path)


def test_messages_have_as_many_plural_forms_as_the_head_says_and_an_only_one_is_of_all_numbers(tmp_path):
    source = 'msgid "one file"\nmsgid_plural "%d files"\nmsgstr[0] ""\n'
    told = 'msgid ""\nmsgstr "Plural-Forms: nplurals={}; plural=0;\\n"\n\n'
    (message,) = polib.pofile(shouted(write(tmp_path / "a.po", source)).decode())
    assert message.msgstr_plural == {0: "%d FILES"}
    (message,) = polib.pofile(shouted(write(tmp_path / "b.po", told.format(1) + source)).decode())
    assert message.msgstr_plural == {0: "%d FILES"}
    (message,) = polib.pofile(shouted(write(tmp_path / "c.po", told.format(3) + source)).decode())
    assert message.msgstr_plural == {0: "ONE FILE", 1: "%d FILES", 2: "%d FILES"}


def test_translations_of_people_stay_fuzzy_or_not(tmp_path):
    """So the same command a second time replaces nothing either; the file says that it is in UTF-8."""
    source = MESSAGES.replace("\\\\", "\\").replace("charset=UTF-8", "charset=CHARSET")
    source += '\n#, fuzzy\nmsgid "a horse"\nmsgstr "ein Pferd (von Hand)"\n'
    source = source.replace('msgstr[0] ""', 'msgstr[0] "eine Datei (von Hand)"')
    once = shouted(write(tmp_path / "a.po", source))
    messages = polib.pofile(once.decode())
    assert messages.find("a horse").msgstr == "ein Pferd (von Hand)"
    assert messages.find("one file").msgstr_plural == {
        0: "eine Datei (von Hand)",
        1: "%d FILES",
        2: "%d FILES",
    }
    assert messages.metadata["Content-Type"] == "text/plain; charset=UTF-8"
    corrected = once.replace(b"DELETE", b"LOESCHE")
    assert b"LOESCHE %(count)d" in shouted(write(tmp_path / "b.po", corrected))


@pytest.mark.parametrize(
    "source, expected",
    [
        *(
            (kept, kept)
            for kept in (
                """<button onclick="title = 'A man rides.'"></button>""",
                """<p @click='label = "x"' data-x="alt=y">""",
                """<meta name="x" content="the title = horses">""",
                '<img translate="no" alt="A man">',
                '<abbr class="notranslate" title="A man">A man</abbr>',
                '<br translate="no" title="A man"/>',
                '<meta charset="UTF-8">',
            )
        ),
        (
            '<img src="a b" ALT="a man"title=\'a "dog"\'>',
            '<img src="a b" ALT="A MAN"title="A &quot;DOG&quot;">',
        ),
        ("<meta charset=iso-8859-1>", "<meta charset=utf-8>"),
        (
            '<meta http-equiv="Content-Type" content="text/html; charset=windows-1252">',
            '<meta http-equiv="Content-Type" content="text/html; charset=utf-8">',
        ),
    ],
)
def test_of_attributes_the_whole_text_of_some_changes_and_nothing_within_others(tmp_path, source, expected):
    assert shouted(write(tmp_path / "a.html", f"<p>text</p>{source}")).decode() == f"<p>TEXT</p>{expected}"


def field(paragraph, instruction: str, shown: str) -> None:
    """A field as Word writes it: begin, instruction, separate, what it shows, end."""
    for kind in ("begin", instruction, "separate", shown, "end"):
        run = paragraph.add_run(shown if kind == shown else "")._r
        if kind == instruction:
            run.append(docx.oxml.OxmlElement("w:instrText"))
            run[-1].text = instruction
        elif kind != shown:
            run.append(docx.oxml.OxmlElement("w:fldChar"))
            run[-1].set(qn("w:fldCharType"), kind)


def test_what_fields_show_stays_and_marks_stay_where_they_are(tmp_path):
    document = docx.Document()
    footer = document.sections[0].footer.paragraphs[0]
    footer.add_run("A page ")
    field(footer, " PAGE ", "1")
    footer.add_run(" of ")
    field(footer, " NUMPAGES ", "9")
    body = document.add_paragraph("A man rides")
    body.add_run()._r.append(docx.oxml.OxmlElement("w:footnoteReference"))
    body.add_run(" a horse, ")
    field(body, ' HYPERLINK "x" ', "a link")
    document.save(path := tmp_path / "a.docx")
    shown = docx.Document(io.BytesIO(shouted(path)))
    texts = [each.text or "" for each in shown.sections[0].footer._element.iter(qn("w:t"))]
    assert texts == ["A PAGE ", "1", " OF ", "9"]
    runs = [run.text for run in shown.paragraphs[0].runs if run.text]
    assert runs == ["A MAN RIDES", " A HORSE, ", "A LINK"]


@pytest.mark.parametrize(
    ("has_end", "expected"),
    [(True, ["One", "Two", "Three", "AFTER"]), (False, ["One", "TWO", "THREE", "AFTER"])],
)
def test_what_a_field_shows_in_several_paragraphs_stays(has_end, expected, tmp_path):
    """Of one without an end, as no program should write it, only the first is known to be such."""
    document = docx.Document()
    field(document.add_paragraph(), " ADDIN ZOTERO_BIBL {} ", "One")
    end = document.paragraphs[0]._p[-1]
    document.add_paragraph("Two")
    document.add_paragraph("Three")._p.append(end)
    document.add_paragraph("After")
    if not has_end:
        end.getparent().remove(end)
    document.save(path := tmp_path / "a.docx")
    assert [each.text for each in docx.Document(io.BytesIO(shouted(path))).paragraphs] == expected


def test_a_control_shows_its_translation_and_not_a_property_of_the_document(tmp_path):
    """Word and LibreOffice put the property that a control is bound to in the place of its text."""
    document = docx.Document()
    for around, text in ((document.element.body, "Title"), (document.add_paragraph()._p, "12:30")):
        around.insert(0, control := docx.oxml.OxmlElement("w:sdt"))
        control.append(properties := docx.oxml.OxmlElement("w:sdtPr"))
        properties.append(docx.oxml.OxmlElement("w:dataBinding"))
        control.append(shown := docx.oxml.OxmlElement("w:sdtContent"))
        added = document.add_paragraph(text)
        shown.append(added._p if around is document.element.body else added.runs[0]._r)
    document.save(path := tmp_path / "a.docx")
    body = docx.Document(io.BytesIO(shouted(path))).element.body
    bound, free = body.findall(f".//{qn('w:sdt')}")[::-1]
    assert [each.text for each in free.iter(qn("w:t"))] == ["TITLE"]
    assert not [*free.iter(qn("w:dataBinding"))] and [*bound.iter(qn("w:dataBinding"))]


def test_headings_in_a_table_of_contents_and_what_was_typed_into_a_form_are_translated(tmp_path):
    document = docx.Document()
    first, last = document.add_paragraph(), document.add_paragraph()
    field(first, ' TOC \\o "1-3" ', "First")
    end = first._p[-1]
    field(first, " PAGEREF x ", "one")
    first._p.append(end)  # the table ends behind the number of its page
    field(last, " FORMTEXT ", "typed")
    document.save(path := tmp_path / "a.docx")
    shown = docx.Document(io.BytesIO(shouted(path))).paragraphs
    assert [text.text for each in shown for text in each._p.iter(qn("w:t"))] == ["FIRST", "one", "TYPED"]


def test_hyphens_of_word_are_read_within_their_word(tmp_path):
    document = docx.Document()
    paragraph = document.add_paragraph()
    for text, mark in (("An e", "w:noBreakHyphen"), ("mail, trans", "w:softHyphen"), ("lated", None)):
        run = paragraph.add_run(text)
        if mark:
            run._r.append(docx.oxml.OxmlElement(mark))
    document.save(path := tmp_path / "a.docx")
    assert [each.text for each in read_document(path).passages] == ["An e-mail, translated"]
    (shown,) = docx.Document(io.BytesIO(shouted(path))).paragraphs
    assert shown.text == "AN E-MAIL, TRANSLATED" and not [*shown._p.iter(qn("w:softHyphen"))]


def test_tracked_changes_of_a_word_document_stay_apart_from_other_text(tmp_path):
    """Else all of a sentence would be in the insertion, and lost where that is refused."""
    document = docx.Document()

    def paragraph(inside, *tags):
        added = document.add_paragraph()
        around = added._p
        for tag in tags:
            around.append(docx.oxml.OxmlElement(tag))
            around = around[-1]
        around.append(added.add_run(inside)._r)
        added.add_run(" here.")

    for inside, *tags in (("A man", "w:ins"), ("Away.", "w:moveFrom"), ("kana", "w:r", "w:ruby", "w:rt")):
        paragraph(inside, *tags)
    document.save(path := tmp_path / "a.docx")
    shown = docx.Document(io.BytesIO(shouted(path))).paragraphs
    texts = [[text.text for text in each._p.iter(qn("w:t"))] for each in shown]
    assert texts == [["A MAN", " HERE."], ["Away.", " HERE."], ["kana", " HERE."]]


def test_a_damaged_or_protected_word_document_is_refused_in_a_sentence(word, tmp_path):
    with zipfile.ZipFile(word) as whole:
        members = {name: whole.read(name) for name in whole.namelist()}
    damages = {
        "word/document.xml": b"<w:document",
        "[Content_Types].xml": b"<Types/>",
    }
    for number, (name, content) in enumerate(damages.items()):
        path = tmp_path / f"{number}.docx"
        with zipfile.ZipFile(path, "w") as damaged:
            for each, kept in (members | {name: content}).items():
                damaged.writestr(each, kept)
        with pytest.raises(InputError, match="is not a Word document .*, or is protected or damaged"):
            read_document(path)
    encrypted = bytearray(word.read_bytes())
    for entry in re.finditer(b"PK\x01\x02", encrypted):  # of the archive's list: its flags begin at byte 8
        encrypted[entry.start() + 8] |= 1
    with pytest.raises(InputError, match="or is protected or damaged"):
        read_document(write(tmp_path / "e.docx", bytes(encrypted)))


def test_a_page_in_xml_says_its_language_and_encoding_twice(tmp_path):
    page = '<?xml version="1.0" encoding="ISO-8859-1"?>\n<html lang="en" xml:lang="en"><p>Hello</p></html>'
    made = shouted(write(tmp_path / "a.xhtml", page)).decode()
    assert made == page.replace("ISO-8859-1", "UTF-8").replace('"en"', '"xx"').replace("Hello", "HELLO")


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_messages_keep_their_ends_of_lines_and_their_mark(tmp_path, mark, end):
    source = mark + MESSAGES.replace("\\\\", "\\").replace("\n", end)
    path = write(tmp_path / "a.po", source)
    made = shouted(path).decode()
    assert made.startswith(f'{mark}msgid ""{end}') and made.count("\n") == made.count(end)
    assert polib.pofile(made.removeprefix(mark)).find("done").msgstr == "fertig"


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85"])
def test_only_an_end_of_line_ends_a_line_of_messages(separator, tmp_path):
    """Other programs take more characters for one; they come with text that is pasted from elsewhere."""
    source = f'msgid "one{separator}two"\nmsgstr ""\n'
    (path := tmp_path / "b.po").write_bytes(shouted(write(tmp_path / "a.po", source)))
    (message,) = polib.pofile(str(path))
    assert (message.msgid, message.msgstr) == (f"one{separator}two", "ONE TWO")


@pytest.mark.parametrize("line", ['msgid "without an end', 'msgid "one" two"', 'msgstr[12] "a"', "words"])
def test_messages_without_their_quotes_are_refused_with_the_line(tmp_path, line):
    path = write(tmp_path / "a.po", MESSAGES.replace('msgid "done"', line))
    number = MESSAGES.split("\n").index('msgid "done"') + 1
    with pytest.raises(
        InputError, match=f"a.po, line {number} is neither a remark nor text between two quotes"
    ):
        read_document(path)


@pytest.mark.parametrize("end", ['<a href="http://x.org/y', "<!-- a comment <b>without</b> end", "< 5 <b"])
def test_markup_without_an_end_stays(tmp_path, end):
    made = shouted(write(tmp_path / "a.html", f"<p>Hello</p>{end}")).decode()
    assert made == f"<p>HELLO</p>{end}"


@pytest.mark.parametrize(
    "script", ["<script>s = '<!--'</script>", "<STYLE>/* <!-- */</STYLE><script><!--</script>"]
)
def test_what_looks_like_a_comment_in_a_script_is_none(tmp_path, script):
    made = shouted(
        write(tmp_path / "a.html", f"<p>Hello</p>{script}<p>again</p><!-- a <b>comment</b>")
    ).decode()
    assert made == f"<p>HELLO</p>{script}<p>AGAIN</p><!-- a <b>comment</b>"


def test_a_long_subtitle_is_no_pause_and_the_file_ends_as_it_did(tmp_path):
    for tail in ("", "\n", "\n\n"):
        text = (
            "1\n00:00:01,000 --> 00:00:04,000\nThis one is long and\n\n"
            f"2\n00:00:04,100 --> 00:00:05,000\ngoes on here.{tail}"
        )
        path = write(tmp_path / "a.srt", text)
        assert [each.text for each in read_document(path).passages] == ["This one is long and goes on here."]
        assert unchanged(path).decode() == text


def test_markup_that_is_nested_too_deeply_is_refused(tmp_path):
    deep = "<g>" * 1500 + "a" + "</g>" * 1500
    unit = f"<trans-unit><source>{deep}</source></trans-unit>"
    text = f'<xliff version="1.2"><file><body>{unit}</body></file></xliff>'
    with pytest.raises(InputError, match="a.xlf has markup within markup a thousand times; export it again"):
        read_document(write(tmp_path / "a.xlf", text))
