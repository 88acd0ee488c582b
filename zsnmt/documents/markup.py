"""XML in documents: how it is read, and the places in it where text stands."""

from collections.abc import Collection
from typing import NamedTuple

from lxml import etree
from lxml.etree import QName, _Element

LARGEST = 2**30  # bytes of a document when it is unpacked
# An entity may name a file of this machine; a document may hold another one whole.
PARSER = etree.XMLParser(resolve_entities=False, huge_tree=True)
SPACE, LANGUAGE = (f"{{http://www.w3.org/XML/1998/namespace}}{name}" for name in ("space", "lang"))


class Place(NamedTuple):
    """Where a text stands: in an element, or behind it; and whether it stays as it is."""

    element: _Element
    behind: bool = False
    fixed: bool = False

    @property
    def text(self) -> str:
        return (self.element.tail if self.behind else self.element.text) or ""

    def write(self, text: str) -> None:
        if self.behind:
            self.element.tail = text
        else:
            self.element.text = text


def local_name(element: _Element) -> str:
    """The name of an element without its namespace; none of a comment and the like."""
    return QName(element).localname if isinstance(element.tag, str) else ""


def within(element: _Element, name: str) -> str:
    """A name in the namespace of an element."""
    return f"{{{QName(element).namespace}}}{name}"


def child_of(parent: _Element, name: str, *, before: Collection[str] | None = None) -> _Element:
    """The child of a name in the namespace of its parent. Where there is none, it is made: in front of the
    first of the children that stand `before` others have room, or as the first of all.
    """
    child = parent.find(within(parent, name))
    if child is None:
        child = parent.makeelement(within(parent, name))
        places = (place for place, each in enumerate(parent) if before is None or local_name(each) in before)
        parent.insert(next(places, len(parent)), child)
    return child
