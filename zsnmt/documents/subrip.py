"""Subtitles in the form of SubRip (.srt): a number, times and lines of text."""

import re
from pathlib import Path

import srt

from zsnmt.documents.subtitles import Cue, Subtitles
from zsnmt.errors import InputError

CONTENT = 5  # the group of its text in the form of a subtitle


class SubRip(Subtitles):
    """A file of SubRip."""

    def find_cues(self, path: Path) -> list[Cue]:
        try:
            subtitles = [*srt.parse(self.text)]
        except srt.SRTParseError as error:
            strange = error.unmatched_content
            begin = error.expected_start + len(strange) - len(strange.lstrip())
            line = self.text.count("\n", 0, begin) + 1
            raise InputError(
                f"{path}, line {line} does not follow the form of SubRip subtitles, each a number, its times "
                "(00:00:01,000 --> 00:00:02,500) and lines of text; repair it there"
            ) from None
        except (ValueError, OverflowError) as error:  # of numbers that are too large
            raise InputError(
                f"{path} does not follow the form of SubRip subtitles ({error}); repair it there"
            ) from None
        found = srt.SRT_REGEX.finditer(self.text)
        return [
            Cue(subtitle.start, subtitle.end, *bounds_of_content(match))
            for subtitle, match in zip(subtitles, found, strict=True)
        ]


def bounds_of_content(subtitle: re.Match[str]) -> tuple[int, int]:
    """Where the text of a subtitle begins and ends, without empty lines around it."""
    content = subtitle[CONTENT]
    first = subtitle.start(CONTENT) + len(content) - len(content.lstrip("\r\n"))
    return first, max(first, subtitle.start(CONTENT) + len(content.rstrip("\r\n")))
