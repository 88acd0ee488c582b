"""Subtitles in the form of WebVTT (.vtt), which web pages show; https://www.w3.org/TR/webvtt1."""

import re
from collections.abc import Sequence
from datetime import timedelta
from html import escape, unescape
from pathlib import Path

from zsnmt.documents.passages import language_tag
from zsnmt.documents.subtitles import Cue, Subtitles
from zsnmt.errors import InputError

BEGIN = re.compile(r"WEBVTT(?!\S)")
LINE = re.compile(r"(?P<text>[^\r\n]*)(?:\r\n|\r|\n|\Z)")
ARROW = "-->"
TIME = r"(?:(\d+):)?([0-5]\d):([0-5]\d)\.(\d{3})"  # hours, minutes, seconds, thousandths
TIMES = re.compile(rf"{TIME}[ \t]+{ARROW}[ \t]+{TIME}(?![^ \t])")
LANGUAGE = re.compile(rb"(\A(?:\xef\xbb\xbf)?WEBVTT[^\n]*\n(?:[^\r\n]+\r?\n)*?Language:[ \t]*)[\w-]+")


class WebVtt(Subtitles):
    """A file of WebVTT. Notes and styles stay; the language that its head names becomes the new one."""

    def find_cues(self, path: Path) -> list[Cue]:
        if not BEGIN.match(self.text):
            raise InputError(
                f"{path} does not begin with WEBVTT, as each file of that form does; put it there"
            )
        cues: list[Cue] = []
        within = False  # the text of a subtitle
        for number, line in enumerate(LINE.finditer(self.text), start=1):
            if ARROW in line["text"]:
                if not (times := TIMES.match(line["text"])):
                    raise InputError(
                        f"{path}, line {number} has no times as WebVTT has them, such as 00:01.000 {ARROW} "
                        "00:02.500; repair it there"
                    )
                start, end = duration(*times.groups()[:4]), duration(*times.groups()[4:])
                cues.append(Cue(start, end, first=line.end(), last=line.end()))
                within = True
            elif not line["text"]:
                within = False
            elif within:
                cues[-1] = cues[-1]._replace(last=line.end("text"))
        return cues

    @staticmethod
    def words_of(source: str) -> str:
        return unescape(source)

    @staticmethod
    def source_of(words: str) -> str:
        return escape(words, quote=False)

    def content(self, translations: Sequence[Sequence[str]], language: str) -> bytes:
        said = language_tag(language).encode()
        return LANGUAGE.sub(lambda found: found[1] + said, super().content(translations, language))


def duration(hours: str | None, minutes: str, seconds: str, thousandths: str) -> timedelta:
    """A time of WebVTT, from its parts."""
    return timedelta(
        hours=int(hours or 0), minutes=int(minutes), seconds=int(seconds), milliseconds=int(thousandths)
    )
