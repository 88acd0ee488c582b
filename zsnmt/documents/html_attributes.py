"""The attributes of HTML tags that have text, and new values for some."""

import re
from collections.abc import Mapping, Sequence
from html import escape, unescape

from zsnmt.documents.html_pieces import parts_of_template
from zsnmt.documents.passages import Passage, Run

# An attribute, whose value is passed over as a whole: what looks like another within it is none.
ATTRIBUTE = re.compile(r"""(?P<name>[^\s"'<>/=]+)(?:\s*=\s*(?P<value>"[^"]*"|'[^']*'|[^\s"'>]+))?""")


def attributes(source: str, names: Sequence[str]) -> list[re.Match[str]]:
    """The attributes of a start tag that have some names, and a value."""
    found = ATTRIBUTE.finditer(source)
    return [match for match in found if match["value"] and match["name"].lower() in names]


def unquote(value: str) -> str:
    """The value of an attribute as it stands between quotation marks, if there are some."""
    return value[1:-1] if value[0] in "\"'" else value


def passage_of_value(value: str) -> Passage:
    """The value of an attribute as a passage; what a program fills in is there as it stands."""
    parts = parts_of_template(value)
    return Passage(tuple(Run(part if fixed else unescape(part), fixed) for part, fixed in parts))


def quoted(passage: Passage, texts: Sequence[str]) -> str:
    """The value of an attribute with new texts, between marks that a program does not need within it."""
    pairs = zip(passage.runs, texts, strict=True)
    value = "".join(text if run.fixed else escape(text) for run, text in pairs)
    mark = "'" if '"' in value else '"'
    return f"{mark}{value}{mark}"


def with_values(source: str, names: Sequence[str], values: Mapping[int, str]) -> str:
    """A start tag with other values of some of its attributes, by their number among those of some names."""
    written, end = "", 0
    for number, match in enumerate(attributes(source, names)):
        written += source[end : match.start("value")] + values.get(number, match["value"])
        end = match.end("value")
    return written + source[end:]
