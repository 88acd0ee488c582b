"""Documents whose translation is written from right to left, where the text was not, and the other way."""

import io
import re

import docx
import pytest
from docx.oxml.ns import qn
from lxml import etree

from tests.documents.test_packages import BOOK, DRAWING, OASIS, members, office, write
from zsnmt.documents.formats import read_document
from zsnmt.documents.open_document import ALIGNED, NAME, PARENT, WRITTEN
from zsnmt.documents.passages import Passage, Run
from zsnmt.documents.writing_direction import from_right, turned

FROM_RIGHT = str.maketrans("abcdefghijklmnopqrstuvwxyz", "ابتثجحخدذرزسشصضطظعغفقكلمنه")
FROM_LEFT = {there: here for here, there in FROM_RIGHT.items()}


def translated(document, letters, *, but=()):
    """A document with other letters, but for the passages that begin with some words."""
    return document.content(
        [
            [
                run.text if run.fixed or each.text.startswith(but) else run.text.translate(letters)
                for run in each.runs
            ]
            for each in document.passages
        ],
        "ar" if letters is FROM_RIGHT else "en",
    )


def there_and_back(path, *, but=()):
    """The content of a document in letters from the right, and of that again in its own letters."""
    arabic = path.with_name(f"arabic{path.suffix}")
    arabic.write_bytes(translated(read_document(path), FROM_RIGHT, but=but))
    return arabic.read_bytes(), translated(read_document(arabic), FROM_LEFT)


@pytest.mark.parametrize(
    "text, way",
    [
        ("a dog", False),
        ("שלום", True),
        ("سلام PDF", True),
        ("سلام a file", False),
        ("狗", False),
        ("12:30 —", None),
        ("", None),
    ],
)
def test_most_letters_say_which_way_a_text_is_written(text, way):
    assert from_right(text) is way


def test_a_text_is_turned_only_where_both_have_letters_and_are_written_apart():
    latin, arabic, none = [Passage((Run("a "), Run("dog")))], [Passage((Run("كلب"),))], [Passage((Run("7"),))]
    assert turned(latin, [["ك", "لب"]]) is True and turned(arabic, [["dog"]]) is False
    assert turned(latin, [["un ", "chien"]]) is turned(arabic, [["שלום"]]) is turned(none, [["كلب"]]) is None
    assert turned(latin, [["7"]]) is None


def word(path):
    """A document with a title, a bold word, a table and a number."""
    made = docx.Document()
    made.add_heading("title", 1)
    paragraph = made.add_paragraph("hello ")
    paragraph.add_run("you").bold = True
    paragraph.paragraph_format.space_after = 0
    made.add_paragraph("stays here")
    made.add_paragraph("12:30")
    made.add_table(1, 1).cell(0, 0).text = "cell"
    made.save(path)
    return path


def flags(paragraph):
    """What a paragraph and its runs say of the way that they are written."""
    return [(qn_name(each), each.get(qn("w:val"))) for each in paragraph.iter(qn("w:bidi"), qn("w:rtl"))]


def qn_name(element):
    return etree.QName(element).localname


def test_of_a_word_document_paragraphs_runs_and_tables_are_turned(tmp_path):
    path = word(tmp_path / "a.docx")
    there, back = map(docx.Document, map(io.BytesIO, there_and_back(path, but=("stays",))))
    title, hello, stays, number = there.paragraphs
    assert flags(title._p) == [("bidi", "1"), ("rtl", "1")] and flags(hello._p) == [
        ("bidi", "1"),
        *[("rtl", "1")] * 2,
    ]
    assert not flags(stays._p) and not flags(number._p)
    assert [qn_name(each) for each in hello._p.pPr] == ["bidi", "spacing"]  # as the standard orders them
    assert [qn_name(each) for each in hello.runs[1]._r.rPr] == ["b", "bCs", "rtl"]
    (cell,) = there.tables[0].cell(0, 0).paragraphs
    assert flags(cell._p) == [("bidi", "1"), ("rtl", "1")]
    properties = [qn_name(each) for each in there.tables[0]._tbl.tblPr]
    assert properties.index("bidiVisual") < properties.index("tblW")
    assert {value for each in back.paragraphs[:2] for _, value in flags(each._p)} == {"0"}
    assert back.tables[0]._tbl.tblPr.find(qn("w:bidiVisual")).get(qn("w:val")) == "0"
    assert [each.text for each in back.paragraphs] == [each.text for each in docx.Document(path).paragraphs]


def test_charts_of_a_word_document_are_turned_as_drawings(tmp_path):
    chart = f'<c:chart xmlns:c="urn:c" {DRAWING}><a:p><a:r><a:t>sales</a:t></a:r></a:p></c:chart>'
    parts = {"chart.xml": ("drawingml.chart+xml", chart)}
    path = write(tmp_path / "a.docx", office("wordprocessingml.document.main+xml", parts))
    there, back = (members(content)["chart.xml"].decode() for content in there_and_back(path))
    assert '<a:p><a:pPr rtl="1"/><a:r>' in there and '<a:p><a:pPr rtl="0"/><a:r>' in back


SHAPE = """<p:sp><p:nvSpPr><p:nvPr>{place}</p:nvPr></p:nvSpPr><p:txBody><a:p>{looks}
<a:r><a:t>hello</a:t></a:r></a:p></p:txBody></p:sp>"""


@pytest.mark.parametrize(
    "place, looks, there, back",
    [
        ("", "", 'rtl="1" algn="r"', 'rtl="0" algn="l"'),
        ('<p:ph type="body"/>', '<a:pPr lvl="1"/>', 'lvl="1" rtl="1" algn="r"', 'lvl="1" rtl="0" algn="l"'),
        ("", '<a:pPr algn="ctr"/>', 'algn="ctr" rtl="1"', 'algn="ctr" rtl="0"'),
        ("", '<a:pPr algn="r"/>', 'algn="r" rtl="1"', 'algn="l" rtl="0"'),
        ('<p:ph type="ctrTitle"/>', "", 'rtl="1"', 'rtl="0"'),
    ],
)
def test_paragraphs_of_slides_begin_at_the_other_side(place, looks, there, back, tmp_path):
    slide = f'<p:sld xmlns:p="urn:p" {DRAWING}>{SHAPE.format(place=place, looks=looks)}</p:sld>'
    parts = {"slide1.xml": ("presentationml.slide+xml", slide)}
    path = write(tmp_path / "a.pptx", office("presentationml.presentation.main+xml", parts))
    found = [
        re.search("<a:pPr ([^>]*)/>", members(content)["slide1.xml"].decode())[1]
        for content in there_and_back(path)
    ]
    assert found == [there, back]


def test_a_table_of_a_slide_is_turned(tmp_path):
    table = "<a:tbl><a:tblPr/><a:tr><a:tc><a:p><a:r><a:t>hello</a:t></a:r></a:p></a:tc></a:tr></a:tbl>"
    parts = {"slide1.xml": ("presentationml.slide+xml", f'<p:sld xmlns:p="urn:p" {DRAWING}>{table}</p:sld>')}
    path = write(tmp_path / "a.pptx", office("presentationml.presentation.main+xml", parts))
    there, back = (members(content)["slide1.xml"].decode() for content in there_and_back(path))
    assert '<a:tblPr rtl="1"/>' in there and '<a:pPr rtl="1" algn="r"/>' in there
    assert '<a:tblPr rtl="0"/>' in back and '<a:pPr rtl="0" algn="l"/>' in back


NAMESPACES = f'''xmlns:office="{OASIS}office:1.0" xmlns:style="{OASIS}style:1.0" xmlns:text="{OASIS}text:1.0"
xmlns:table="{OASIS}table:1.0" xmlns:fo="{OASIS}xsl-fo-compatible:1.0"'''
PARAGRAPH = '<style:style style:family="paragraph" style:name='
STYLED = f"""<office:document-content {NAMESPACES}><office:automatic-styles>
{PARAGRAPH}"P1" style:parent-style-name="Standard"><style:paragraph-properties fo:text-align="left"/>
<style:text-properties fo:color="red"/></style:style>
<style:style style:family="table" style:name="T1"/></office:automatic-styles><office:body>
<text:p text:style-name="P1">hello <text:span>you</text:span></text:p>
<text:p text:style-name="P1">stays</text:p><text:h text:style-name="Title">title</text:h>
<text:p text:style-name="Foot">foot</text:p><text:p>none</text:p><table:table table:style-name="T1">
<table:table-cell><text:p text:style-name="P1">cell</text:p></table:table-cell></table:table>
</office:body></office:document-content>"""
NAMED = f"""<office:document-styles {NAMESPACES}><office:styles>
{PARAGRAPH}"Heading"><style:paragraph-properties fo:text-align="center"/></style:style>
{PARAGRAPH}"Title" style:parent-style-name="Heading"/>
{PARAGRAPH}"Foot"><style:paragraph-properties fo:text-align="end"/></style:style>
{PARAGRAPH}"Round" style:parent-style-name="Round"/></office:styles><office:master-styles>
<text:p text:style-name="Header">above</text:p></office:master-styles></office:document-styles>"""


def styles_of(content):
    """What the styles that were made say: which way, at which side, and on which style they stand."""
    made = etree.fromstring(content).iterfind(".//{*}style")
    properties = {each.get(NAME): (each.get(PARENT), each.find("{*}paragraph-properties")) for each in made}
    return {
        name.rpartition("_")[0]: (parent, found.get(WRITTEN), found.get(ALIGNED))
        for name, (parent, found) in properties.items()
        if name.endswith("-tb")
    }


def test_paragraphs_of_libreoffice_get_a_style_that_says_how_they_are_written(tmp_path):
    contents = {
        "mimetype": "application/vnd.oasis.opendocument.text",
        "content.xml": STYLED,
        "styles.xml": NAMED,
    }
    there, back = map(members, there_and_back(write(tmp_path / "a.odt", contents), but=("stays",)))
    content = there["content.xml"].decode()
    names = re.findall(r'<text:[ph] text:style-name="([^"]*)"', content)
    assert names == ["P1_rl-tb", "P1", "Title_rl-tb", "Foot_rl-tb", "Standard_rl-tb", "P1_rl-tb"]
    assert styles_of(there["content.xml"]) == {
        "P1": ("Standard", "rl-tb", "right"),
        "Title": ("Title", "rl-tb", None),  # in the middle, by the style that it stands on
        "Foot": ("Foot", "rl-tb", "left"),
        "Standard": ("Standard", "rl-tb", "right"),
    }
    assert styles_of(there["styles.xml"]) == {"Header": ("Header", "rl-tb", "right")}
    assert (
        content.count('fo:color="red"') == 2
        and content.count('style:table-properties style:writing-mode="rl') == 1
    )
    assert b"</office:automatic-styles><office:master-styles>" in there["styles.xml"]
    assert styles_of(back["content.xml"])["P1_rl-tb"] == ("Standard", "lr-tb", "left")
    assert b'<style:table-properties style:writing-mode="lr-tb"/>' in back["content.xml"]


def test_the_sheets_of_libreoffice_stay_as_they_are(tmp_path):
    cells = STYLED.replace("<office:body>", "<office:body><office:spreadsheet>")
    cells = cells.replace("</office:body>", "</office:spreadsheet></office:body>")
    contents = {"mimetype": "application/vnd.oasis.opendocument.spreadsheet", "content.xml": cells}
    there, _ = map(members, there_and_back(write(tmp_path / "a.ods", contents)))
    assert "دجسسض" in there["content.xml"].decode() and b"rl-tb" not in there["content.xml"]


PAGE = """<!DOCTYPE html><html lang="en"><body><p dir="ltr">hello</p><p dir=auto>you</p>
<code dir="ltr">x</code><bdo dir="ltr">abc</bdo></body></html>"""


def test_a_web_page_says_so_where_it_begins_and_where_it_has_said_it(tmp_path):
    (tmp_path / "a.html").write_text(PAGE)
    there, back = (content.decode() for content in there_and_back(tmp_path / "a.html"))
    assert '<html dir="rtl" lang="ar"><body><p dir="rtl">' in there and "<p dir=auto>" in there
    assert '<code dir="ltr">x</code>' in there and '<bdo dir="ltr">' in there
    assert back == PAGE.replace("<html ", '<html dir="ltr" ')


def test_a_piece_of_a_page_and_one_that_is_not_turned_say_nothing(tmp_path):
    (tmp_path / "a.html").write_text("<p>hello</p>")
    assert "dir" not in there_and_back(tmp_path / "a.html")[0].decode()
    (tmp_path / "a.html").write_text(PAGE)
    document = read_document(tmp_path / "a.html")
    assert (
        document.content([[run.text for run in each.runs] for each in document.passages], "en").decode()
        == PAGE
    )


@pytest.mark.parametrize("version, says", [("3.0", True), ("2.0", False)])
def test_the_pages_of_a_book_turn_the_other_way(version, says, tmp_path):
    listed = BOOK["in/book.opf"].replace("<package ", f'<package version="{version}" ')
    contents = {**BOOK, "in/book.opf": listed.replace("</package>", "<spine/></package>")}
    there, back = map(members, there_and_back(write(tmp_path / "a.epub", contents)))
    assert (b'<spine page-progression-direction="rtl"/>' in there["in/book.opf"]) is says
    assert (b'<spine page-progression-direction="ltr"/>' in back["in/book.opf"]) is says
    assert b'<html dir="rtl" lang="ar">' in there["in/text/one a.xhtml"]


def test_a_document_is_turned_anew_each_time_it_is_written(tmp_path):
    document = read_document(word(tmp_path / "a.docx"))
    before = translated(document, {})
    assert translated(document, FROM_RIGHT) != before
    assert members(translated(document, {})) == members(before)
