"""Messages of programs (gettext's .po): those without translation get one, marked as fuzzy for a person to
look at. Nothing that is there is replaced, fuzzy or not.
"""

import re
from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path

import polib

from zsnmt.documents.passages import Document, Passage, Run, is_of_language
from zsnmt.documents.plain_text import form_and_text, read_text
from zsnmt.errors import InputError

# Where a program puts a value, %s, %(name)d, %<name>d, {0}, {name!r:>5}, ${name}, %{name}, {{name}}, %1, %L1,
# %@, $t(name), <%= name %>; markup; and what sets text out: ends of lines, tabs, several blanks. Nothing is
# gone through again from each of its characters, so that the time grows with the length of a message alone.
VALUE = (
    r"%#@\w+@|%(?:\(\w+\)|<\w+>)?(?:\d+\$)?(?:[#0+']|-(?=[\d*]))*(?:[1-9]\d*|\*)?(?:\.(?:\d+|\*))?"
    r"(?:hh|h|ll|l|q|j|z|t|L)?[diouxXeEfFgGaAcsrpn%@]|%L?\d+|\$t\([^()]*\)|<%[^<>]*%>"
    r"|[%$#]?\{{1,3}[^{}]*\}{1,3}|</?\w[^<>]*>|&\w+;"
    r"|(?<![ \t])[ \t]*\n\s*|\t| {2,}"
)
# "% d" is a value in C's form alone: others have texts like "100% done".
PLACEHOLDER, PLACEHOLDER_OF_C = re.compile(f"({VALUE})"), re.compile(rf"({VALUE}|% \d*[dif](?!\w))")
# A message of ICU that has a text for each number, or for other values: cut by the rule for values, its
# syntax would be translated, and its texts not.
CHOICES = re.compile(r"\{\s*\w+\s*,\s*(?:plural|select|selectordinal|choice)\s*,")
C_FORMAT = "c-format"
NUMBER_OF_FORMS = re.compile(r"nplurals *= *([1-9])(?!\d)")
LINE = re.compile(r'(?:(?:msgctxt|msgid|msgid_plural|msgstr(?:\[\d\])?)\s*)?"(?:[^"\\]|\\.)*+"')


class Messages(Document):
    """A file of messages. A passage is a message, or each form of one that has plural forms."""

    def __init__(self, path: Path) -> None:
        self.form, text = form_and_text(read_text(path))
        check_quotes(text.replace("\r\n", "\n"), path)
        try:  # from the file: polib would end the lines of a text at U+2028 and others, too
            self.messages = polib.pofile(str(path), encoding="utf-8-sig", wrapwidth=78)
        except (OSError, ValueError) as error:
            raise InputError(
                f"{path} does not follow the form of gettext's messages ({error}); msgfmt -c names faults"
            ) from None
        if any(
            entry.msgstr or any(entry.msgstr_plural.values()) for entry in self.messages if not entry.obsolete
        ):
            self.translated_into = self.messages.metadata.get("Language") or None
        self.passages = [
            Passage(runs_of(form, placeholder(entry)))
            for entry in filter(is_open, self.messages)
            for form in filter(None, (entry.msgid, entry.msgid_plural))
        ]

    def content(self, translations: Sequence[Sequence[str]], language: str) -> bytes:
        texts = iter("".join(parts) for parts in translations)
        messages, forms = deepcopy(self.messages), plural_forms(self.messages)
        for entry in filter(is_open, messages):
            one = next(texts)
            if entry.msgid_plural:
                several = next(texts)
                numbers = {*entry.msgstr_plural, *range(forms)} or {0, 1}
                first = one if len(numbers) > 1 else several  # a form that is the only one is of all numbers
                for number in sorted(numbers):
                    made = several if number else first
                    entry.msgstr_plural[number] = entry.msgstr_plural.get(number) or made
            else:
                entry.msgstr = one
            entry.flags += ["fuzzy"] * ("fuzzy" not in entry.flags)
        if not is_of_language(messages.metadata.get("Language"), language):
            messages.metadata["Language"] = language
        messages.metadata["Content-Type"] = "text/plain; charset=UTF-8"
        written = str(messages) if messages.header else str(messages).removeprefix("#\n")
        return self.form.encoded(written)


def check_quotes(text: str, path: Path) -> None:
    """`InputError` for a line that is no remark and has no text in quotes: polib would cut a character off,
    and read a second digit of a plural form as none.
    """
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip() and not line.lstrip().startswith("#") and not LINE.fullmatch(line.strip()):
            raise InputError(
                f'{path}, line {number} is neither a remark nor text between two quotes, as in msgid "text"; '
                "mend it there (msgfmt -c names more)"
            )


def plural_forms(messages: polib.POFile) -> int:
    """How many forms the head of a file gives each message with plural forms; 0 where it does not say."""
    said = NUMBER_OF_FORMS.search(messages.metadata.get("Plural-Forms", ""))
    return int(said[1]) if said else 0


def is_open(entry: polib.POEntry) -> bool:
    """Whether a message that is in use, or a form of it, has no translation, and can be given one."""
    if entry.obsolete or not entry.msgid.strip() or has_choices(entry.msgid):
        return False
    if entry.msgid_plural:
        return not entry.msgstr_plural or not all(entry.msgstr_plural.values())
    return not entry.msgstr


def has_choices(message: str) -> bool:
    """Whether a message has several texts, of which a program chooses one by a value; it is left to a
    person.
    """
    return CHOICES.search(message) is not None


def placeholder(entry: polib.POEntry) -> re.Pattern[str]:
    """The form of places of values in a message."""
    return PLACEHOLDER_OF_C if C_FORMAT in entry.flags else PLACEHOLDER


def runs_of(message: str, form: re.Pattern[str]) -> tuple[Run, ...]:
    """A message, in which places of values are fixed."""
    return tuple(Run(piece, fixed=bool(form.fullmatch(piece))) for piece in form.split(message) if piece)
