"""A made-up language for tests: the same words in capitals."""

from zsnmt.documents.formats import read_document
from zsnmt.documents.translation import translate_passages


def shout(lines, source):
    """Each line in capitals; what a program fills in stays."""
    assert all(line and line == " ".join(line.split()) for line in lines)
    return [line.upper() for line in lines]


def shouted(path, translate=shout):
    """The content of a document in capitals."""
    document = read_document(path)
    languages = ["en"] * len(document.passages)
    return document.content(translate_passages(document.passages, languages, translate, target="xx"), "xx")


def unchanged(path):
    """The content of a document whose texts stay as they are."""
    document = read_document(path)
    return document.content([[run.text for run in each.runs] for each in document.passages], "en")
