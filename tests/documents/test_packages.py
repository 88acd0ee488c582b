"""Documents that are archives: slides, spreadsheets, LibreOffice's files and books."""

import io
import zipfile
from time import process_time
from xml.etree import ElementTree

import pytest

from tests.documents.shouting import shouted, unchanged
from zsnmt.documents.formats import read_document
from zsnmt.errors import InputError

DRAWING = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
SHEET = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
OFFICE = "application/vnd.openxmlformats-officedocument."
SLIDE = f"""<p:sld xmlns:p="urn:p" {DRAWING} xmlns:m="urn:m"><a:p><a:pPr/>
<a:r><a:rPr lang="en" b="1"/><a:t>Hello </a:t></a:r><a:r><a:rPr lang="fr" b="1"/><a:t>wor</a:t></a:r>
<a:r><a:rPr b="1" dirty="0"/><a:t>ld.</a:t></a:r><a:r><a:t> Page </a:t></a:r>
<a:fld type="slidenum"><a:t>seven</a:t></a:fld><a:br/><a:r><a:t>next\tline</a:t></a:r>
<m:oMath><m:t>x</m:t></m:oMath><a:r><a:t> and more</a:t></a:r><a:endParaRPr/></a:p></p:sld>"""
CHART = f'<c:chart xmlns:c="urn:c" {DRAWING}><a:p><a:r><a:t>Sales</a:t></a:r></a:p><c:v>East</c:v></c:chart>'
STRINGS = f"""<sst {SHEET}><si><t>A chair</t></si><si><t>Name</t></si><si><t>Unit
price</t></si><si><t>Region</t></si>
<si><r><t>Two </t></r><r><rPr><b/></rPr><t>bold</t></r><r><t> words
on two lines</t></r><rPh><t>read aloud</t></rPh></si></sst>"""
CELLS = f"""<worksheet {SHEET}><c t="inlineStr"><is><t>within</t></is></c>
<c t="str"><f>A1</f><v>worked out</v></c></worksheet>"""
TABLE = f'<table {SHEET}><tableColumns><tableColumn name="Name"/><tableColumn name="Unit_x000a_price"/>\
</tableColumns></table>'
PIVOT = f'<pivotCacheDefinition {SHEET}><cacheField name="Region"/></pivotCacheDefinition>'
COMMENTS = f"""<comments {SHEET}><authors><author>Ann</author><author>tc=7</author></authors><commentList>
<comment authorId="0"><text><t>an old_x000D_one</t></text></comment>
<comment authorId="1"><text><t>a copy</t></text></comment></commentList></comments>"""
ANSWERS = "<ThreadedComments><threadedComment><text>a new one</text></threadedComment></ThreadedComments>"
OASIS = "urn:oasis:names:tc:opendocument:xmlns:"
TEXT = f"""<office:document-content xmlns:office="{OASIS}office:1.0" xmlns:style="{OASIS}style:1.0"
 xmlns:text="{OASIS}text:1.0" xmlns:table="{OASIS}table:1.0" xmlns:o="urn:officeooo" xmlns:fo="urn:fo">
<style:style style:name="T1" style:family="text"><style:text-properties o:rsid="77" fo:language="en"/>
</style:style><style:style style:name="T2" style:family="text"><style:text-properties fo:font-weight="bold"/>
</style:style><text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>
<text:p>Hello <text:span text:style-name="T1">wor</text:span>ld, \
<text:span text:style-name="T2">bold</text:span>.<text:s/> Page \
<text:page-number>seven</text:page-number> ends<text:note><text:note-citation>1\
</text:note-citation><text:note-body><text:p>a note</text:p></text:note-body></text:note> here.<text:tab/>\
after <text:soft-page-break/>a tab</text:p>
<table:table-cell office:value-type="string" office:string-value="a"><text:p>cell</text:p></table:table-cell>
<table:table-cell office:value-type="date"><text:p>12 May</text:p></table:table-cell>
<table:table-cell office:value-type="string" table:formula="x"><text:p>worked out</text:p></table:table-cell>
</office:document-content>"""
MIMETYPE = "application/vnd.oasis.opendocument.text"
BOOK = {
    "mimetype": "application/epub+zip",
    "META-INF/container.xml": '<container><rootfile full-path="in/book.opf"/></container>',
    "in/book.opf": """<package xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:language>en</dc:language>
<item href="text/one%20a.xhtml" media-type="application/xhtml+xml"/>
<item href="toc.ncx" media-type="application/x-dtbncx+xml"/></package>""",
    "in/text/one a.xhtml": '<html lang="en"><body><h1>One</h1><p>Hello <b>you</b>.</p></body></html>',
    "in/toc.ncx": "<ncx><navLabel><text>One</text></navLabel></ncx>",
}


def office(main, parts):
    """A document of Office: its parts with their types, and a picture."""
    types = "".join(
        f'<Override PartName="/{name}" ContentType="{OFFICE}{type_}"/>' for name, (type_, _) in parts.items()
    )
    first = f'<Override PartName="/main.xml" ContentType="{OFFICE}{main}"/>'
    index = f'<Types xmlns="urn:types">{first}{types}</Types>'
    contents = {name: content for name, (_, content) in parts.items()}
    return {"[Content_Types].xml": index, "main.xml": "<main/>", "picture.png": "\x89 a picture", **contents}


DOCUMENTS = {
    ".pptx": office(
        "presentationml.presentation.main+xml",
        {"slide1.xml": ("presentationml.slide+xml", SLIDE), "chart1.xml": ("drawingml.chart+xml", CHART)},
    ),
    ".xlsx": office(
        "spreadsheetml.sheet.main+xml",
        {
            "strings.xml": ("spreadsheetml.sharedStrings+xml", STRINGS),
            "sheet1.xml": ("spreadsheetml.worksheet+xml", CELLS),
            "table1.xml": ("spreadsheetml.table+xml", TABLE),
            "pivot1.xml": ("spreadsheetml.pivotCacheDefinition+xml", PIVOT),
            "comments1.xml": ("spreadsheetml.comments+xml", COMMENTS),
            "threads1.xml": ("ms-excel.threadedcomments+xml", ANSWERS),
        },
    ),
    ".odt": {"mimetype": MIMETYPE, "content.xml": TEXT, "styles.xml": "<styles/>", "picture.png": "\x89"},
    ".epub": BOOK,
}


@pytest.fixture(params=DOCUMENTS)
def document(request, tmp_path):
    """A file of each kind."""
    return write(tmp_path / f"a{request.param}", DOCUMENTS[request.param])


def write(path, contents):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in contents.items():
            kind = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            packed.writestr(name, content, kind)
    return path


def members(content):
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        return {member.filename: packed.read(member) for member in packed.infolist()}


def texts(content):
    """The text of all elements of a file, in order."""
    return [text.strip("\n") for text in ElementTree.fromstring(content).itertext() if text.strip()]


def test_of_slides_what_is_shown_changes_and_looks_fields_and_formulas_stay(tmp_path):
    path = write(tmp_path / "a.pptx", DOCUMENTS[".pptx"])
    assert [[run.text for run in each.runs] for each in read_document(path).passages] == [
        ["Hello world.", " Page ", "seven"],
        ["next", "\t", "line", " and more"],
        ["Sales"],
    ]
    made = members(shouted(path))
    assert texts(made["slide1.xml"]) == ["HELLO WORLD.", " PAGE ", "seven", "NEXT\tLINE", "x", " AND MORE"]
    assert texts(made["chart1.xml"]) == ["SALES", "East"]


def test_of_a_spreadsheet_texts_change_and_heads_of_tables_and_what_is_worked_out_stay(tmp_path):
    made = members(shouted(write(tmp_path / "a.xlsx", DOCUMENTS[".xlsx"])))
    assert (
        "".join(texts(made["strings.xml"]))
        == "A CHAIRNameUnit\npriceRegionTWO BOLD WORDS\nON TWO LINESread aloud"
    )
    assert texts(made["sheet1.xml"]) == ["WITHIN", "A1", "worked out"]
    assert texts(made["comments1.xml"]) == ["Ann", "tc=7", "AN OLD_x000D_ONE", "a copy"]
    assert texts(made["threads1.xml"]) == ["A NEW ONE"]


def test_a_document_with_a_password_is_refused_by_name(tmp_path):
    (tmp_path / "a.xlsx").write_bytes(bytes.fromhex("D0CF11E0A1B11AE1") + b"encrypted")
    with pytest.raises(InputError, match="has a password, or is of an older program .* a spreadsheet"):
        read_document(tmp_path / "a.xlsx")


def test_a_part_without_a_type_of_its_own_has_that_of_its_ending(tmp_path):
    contents = {
        "[Content_Types].xml": f'<Types xmlns="urn:types"><Default Extension="XML" ContentType="{OFFICE}'
        'spreadsheetml.sheet.main+xml"/><Override PartName="/strings.xml" ContentType="{}'
        'spreadsheetml.sharedStrings+xml"/></Types>'.format(OFFICE),
        "book.xml": "<workbook/>",
        "strings.xml": STRINGS,
    }
    made = members(shouted(write(tmp_path / "a.xlsx", contents)))
    assert texts(made["strings.xml"])[0] == "A CHAIR"


def test_of_a_text_of_libreoffice_words_change_and_fields_notes_marks_and_values_stay(tmp_path):
    path = write(tmp_path / "a.odt", DOCUMENTS[".odt"])
    assert [[run.text for run in each.runs] for each in read_document(path).passages] == [
        ["Hello world, ", "bold", ".", " ", " Page ", "seven", " ends", " here."],
        ["after a tab"],
        ["a note"],
        ["cell"],
    ]
    made = members(shouted(path))["content.xml"].decode()
    for there in (
        '<text:p>HELLO WORLD, <text:span text:style-name="T1"></text:span>',
        '<text:span text:style-name="T2">BOLD</text:span>.<text:s/> PAGE <text:page-number>seven<',
        "</text:page-number> ENDS<text:note>",
        "<text:note-citation>1</text:note-citation><text:note-body><text:p>A NOTE</text:p>",
        "</text:note> HERE.<text:tab/>AFTER A TAB<text:soft-page-break/></text:p>",
        '<table:table-cell office:value-type="string"><text:p>CELL</text:p>',
        "<text:p>12 May</text:p>",
        "<text:p>worked out</text:p>",
        "<text:p>deleted</text:p>",
    ):
        assert there in made
    with zipfile.ZipFile(io.BytesIO(shouted(path))) as packed:  # a reader knows the kind by these bytes
        first = packed.infolist()[0]
    assert (first.filename, first.compress_type) == ("mimetype", zipfile.ZIP_STORED)


def test_comments_in_the_xml_of_libreoffice_are_no_text(tmp_path):
    commented = TEXT.replace("Hello <", "Hello <!-- checked --><?seen by?><")
    path = write(tmp_path / "a.odt", {**DOCUMENTS[".odt"], "content.xml": commented})
    assert read_document(path).passages[0].text.startswith("Hello world, bold.")
    made = members(shouted(path))["content.xml"].decode()
    assert "<text:p>HELLO WORLD, <!-- checked --><?seen by?><text:span" in made


def test_a_space_that_is_an_element_does_not_cut_a_sentence(tmp_path):
    """As of two spaces of LibreOffice the second one is; many set a text out."""
    text = "<text:p>A man <text:s/>rides a horse.</text:p><text:p>Name<text:s text:c='9'/>age</text:p>"
    content = f"{TEXT[: TEXT.index('<text:p>Hello')]}{text}</office:document-content>"
    path = write(tmp_path / "a.odt", {"mimetype": MIMETYPE, "content.xml": content})
    whole = {"A man rides a horse.": "Ein Mann reitet ein Pferd.", "A man": "Ein Mann"}

    def translate(lines, source):
        return [whole.get(line, line.upper()) for line in lines]

    made = members(shouted(path, translate))["content.xml"].decode()
    assert "<text:p>Ein Mann <text:s/>reitet ein Pferd.</text:p>" in made
    assert 'NAME<text:s text:c="9"/>AGE' in made


def test_one_element_may_stand_for_a_thousand_million_spaces(tmp_path):
    many = '<text:s text:c="1000000000"/>'
    content = TEXT.replace("<text:s/>", many)
    path = write(tmp_path / "a.odt", {**DOCUMENTS[".odt"], "content.xml": content})
    assert len(read_document(path).passages[0].text) < 1000
    assert f"{many} PAGE" in members(shouted(path))["content.xml"].decode()


def test_of_a_book_chapters_titles_and_the_language_change(tmp_path):
    made = members(shouted(write(tmp_path / "a.epub", BOOK)))
    assert made["in/text/one a.xhtml"].decode() == (
        '<html lang="xx"><body><h1>ONE</h1><p>HELLO <b>YOU</b>.</p></body></html>'
    )
    assert (
        b"<text>ONE</text>" in made["in/toc.ncx"] and b"<dc:language>xx</dc:language>" in made["in/book.opf"]
    )


def test_a_book_may_name_chapters_from_a_folder_beside_its_list(tmp_path):
    listed = BOOK["in/book.opf"].replace('href="', 'href="../')
    moved = {**BOOK, "in/list/book.opf": listed}
    del moved["in/book.opf"]
    moved["META-INF/container.xml"] = BOOK["META-INF/container.xml"].replace("in/book", "in/list/book")
    made = members(shouted(write(tmp_path / "a.epub", moved)))
    assert b"<h1>ONE</h1>" in made["in/text/one a.xhtml"] and b"<text>ONE</text>" in made["in/toc.ncx"]


def test_what_has_no_text_stays_to_the_byte_and_what_has_it_says_the_same(document):
    before, after = members(document.read_bytes()), members(unchanged(document))
    assert [*after] == [*before]
    assert any("picture" in name or name == "mimetype" for name in before)
    for name, content in before.items():
        if name.endswith(".xml") and name not in ("[Content_Types].xml", "main.xml"):
            words = ["".join(texts(each)).split() for each in (content, after[name])]
            assert words[0] == words[1]
        elif not name.endswith((".xhtml", ".opf", ".ncx")):
            assert after[name] == content


def test_a_document_is_what_its_name_says(document, tmp_path):
    for ending in {".docx", *DOCUMENTS} - {document.suffix}:
        other = tmp_path / f"b{ending}"
        other.write_bytes(document.read_bytes())
        with pytest.raises(
            InputError, match=rf"b{ending} is not an? .*\({ending}.*\), or is protected or damaged"
        ):
            read_document(other)


@pytest.mark.parametrize("ending", [".xlf", ".po", *DOCUMENTS])
def test_a_document_can_be_written_in_one_language_after_the_other(ending, tmp_path):
    """As if it were read anew: nothing of the first translation is in the second."""
    path = tmp_path / f"a{ending}"
    if ending in DOCUMENTS:
        write(path, DOCUMENTS[ending])
    else:
        path.write_text(MESSAGES if ending == ".po" else UNITS, encoding="utf-8")
    twice = read_document(path)
    for language in ("de", "fr"):
        translations = [[language + run.text for run in each.runs] for each in twice.passages]
        assert twice.content(translations, language) == read_document(path).content(translations, language)


MESSAGES = """msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\\n"

msgid "one"
msgid_plural "many"
msgstr[0] ""
msgstr[1] ""
"""
UNITS = """<xliff version="1.2"><file source-language="en"><body>
<trans-unit id="1"><source>Hello <g id="1">you</g>.</source></trans-unit></body></file></xliff>"""

HOSTILE = {
    ".po": ("{", "%0", "\t", " ", "<a", "&a", "% "),
    ".srt": (" ", "<i", "{", "\t"),
    ".html": ("<b>", "</i>", "<b></i>", "<p><b>", "&amp"),
    ".xlf": ("{", "\t", "%0"),
}


@pytest.mark.parametrize(
    "ending, piece", [(ending, piece) for ending in HOSTILE for piece in HOSTILE[ending]]
)
def test_the_time_to_read_a_document_grows_with_its_length_alone(ending, piece, tmp_path):
    """Whatever stands there again and again: what is gone through from each character takes minutes."""
    text = piece * 20_000
    if ending == ".po":
        text = f'{MESSAGES}\nmsgid "a{text}b"\nmsgstr ""\n'
    elif ending == ".srt":
        text = f"1\n00:00:01,000 --> 00:00:02,000\na{text}b\n"
    elif ending == ".xlf":
        text = UNITS.replace("Hello ", f"Hello {text}")
    (tmp_path / f"a{ending}").write_text(text, encoding="utf-8")
    before = process_time()
    read_document(tmp_path / f"a{ending}")
    assert process_time() - before < 10


def test_what_says_that_it_unpacks_to_too_much_is_refused(document, monkeypatch):
    for module in ("package", "book"):
        monkeypatch.setattr(f"zsnmt.documents.{module}.LARGEST", 20)
    with pytest.raises(InputError, match="it would take more than 20 bytes unpacked"):
        read_document(document)
