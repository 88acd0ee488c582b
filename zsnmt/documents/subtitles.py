"""Subtitles (SubRip): a sentence may go on over several; times, numbers and tags stay."""

import re
import unicodedata
from collections.abc import Sequence
from datetime import timedelta
from itertools import accumulate
from pathlib import Path

import srt

from zsnmt.documents.passages import Document, Passage, Run
from zsnmt.documents.plain_text import form_and_text, read_text
from zsnmt.errors import InputError
from zsnmt.text.unspaced import closes_up, gap_behind

TAG = re.compile(r"(</?[a-zA-Z][^<>]*>|\{[^{}]*\})")
TWICE = re.compile(rf" +((?:{TAG.pattern})+)(?=\s)")  # a space before tags that another one is behind
LINE_BREAK = re.compile(r"(?<!\s)\s*\n\s*")
SPEAKER = re.compile(r"\s*[-–—]\s*")  # what begins a line of another speaker
END = re.compile(r"[.!?…。！？؟।:♪\]\)\"”»]\s*$")
FEW, HARDLY = 5, 0.1  # so many subtitles, of which at most that share ends as a sentence does
PAUSE = timedelta(seconds=1.5)  # a longer one ends a sentence
LONGEST = 42  # characters of a line, as most broadcasters want it; one that is wide counts as two
CONTENT = 5  # the group of its text in the form of a subtitle
MOST = 250  # characters of a passage: subtitles without full stops do not go on for ever


class Subtitles(Document):
    """A file of subtitles. A passage is what one speaker says until a sentence ends or a pause comes, or
    until it would be too long; its runs are the texts of each subtitle between tags. Where hardly any
    subtitle ends as a sentence does, each is a passage by itself. All else stays to the byte, and so does
    a subtitle without a new text.
    """

    def __init__(self, path: Path) -> None:
        self.form, self.text = form_and_text(read_text(path))
        text = self.text
        try:
            self.subtitles = [*srt.parse(text)]
        except srt.SRTParseError as error:
            strange = error.unmatched_content
            begin = error.expected_start + len(strange) - len(strange.lstrip())
            line = text.count("\n", 0, begin) + 1
            raise InputError(
                f"{path}, line {line} does not follow the form of SubRip subtitles, each a number, its times "
                "(00:00:01,000 --> 00:00:02,500) and lines of text; repair it there"
            ) from None
        except (ValueError, OverflowError) as error:  # of numbers that are too large
            raise InputError(
                f"{path} does not follow the form of SubRip subtitles ({error}); repair it there"
            ) from None
        if not self.subtitles:
            raise InputError(f"{path} holds no subtitle")
        for subtitle in self.subtitles:  # behind which more than one line may be empty
            subtitle.content = subtitle.content.strip("\n")
        self.places = [bounds_of_content(match) for match in srt.SRT_REGEX.finditer(text)]
        # For each subtitle its pieces: tags and breaks of lines as they stand, and places of runs.
        self.pieces: list[list[str | tuple[int, int]]] = []
        self.passages: list[Passage] = []
        self.read()

    def read(self) -> None:
        runs: list[Run] = []

        def end() -> None:
            if runs:
                self.passages.append(Passage(tuple(runs)))
                runs.clear()

        before = None
        ended = sum(ends_sentence(subtitle) for subtitle in self.subtitles)
        alone = len(self.subtitles) >= FEW and ended < HARDLY * len(self.subtitles)
        for subtitle in self.subtitles:
            length = sum(len(run.text) for run in runs) + len(subtitle.content)
            if (
                before is None
                or alone
                or length > MOST
                or subtitle.start - before.end > PAUSE
                or ends_sentence(before)
            ):
                end()
            elif runs:
                runs[-1] = going_on(runs[-1])
            pieces: list[str | tuple[int, int]] = []
            for number, line in enumerate(speakers(subtitle.content)):
                if number:
                    end()
                    pieces.append("\n")
                for piece in TAG.split(line):
                    if TAG.fullmatch(piece) or not piece.strip():
                        if piece.isspace() and runs:  # between two tags, where it parts words
                            runs[-1] = going_on(runs[-1])
                        pieces.append(piece)
                        continue
                    dash = SPEAKER.match(piece)
                    if dash:
                        pieces.append(dash[0])
                        piece = piece[dash.end() :]
                    pieces.append((len(self.passages), len(runs)))
                    runs.append(Run(LINE_BREAK.sub(end_of_line, piece)))
            self.pieces.append(pieces)
            before = subtitle
        end()

    def content(self, translations: Sequence[Sequence[str]], language: str) -> bytes:
        written, end = "", 0
        for (first, last), pieces in zip(self.places, self.pieces, strict=True):
            runs = [piece for piece in pieces if not isinstance(piece, str)]
            if any(translations[of][run] != self.passages[of].runs[run].text for of, run in runs):
                made = new_content(pieces, translations)
                written += self.text[end:first] + made.replace("\n", self.form.end)
                end = last
        return (self.form.mark + written + self.text[end:]).encode("utf-8")


def bounds_of_content(subtitle: re.Match[str]) -> tuple[int, int]:
    """Where the text of a subtitle begins and ends, without empty lines around it."""
    content = subtitle[CONTENT]
    first = subtitle.start(CONTENT) + len(content) - len(content.lstrip("\r\n"))
    return first, max(first, subtitle.start(CONTENT) + len(content.rstrip("\r\n")))


def new_content(pieces: Sequence[str | tuple[int, int]], translations: Sequence[Sequence[str]]) -> str:
    """The text of a subtitle of some pieces."""
    texts = [piece if isinstance(piece, str) else translations[piece[0]][piece[1]] for piece in pieces]
    lines = TWICE.sub(r"\1", "".join(texts)).split("\n")
    return "\n".join(two_lines(line.strip()) for line in lines)


def ends_sentence(subtitle: srt.Subtitle) -> bool:
    """Whether a sentence ends with a subtitle."""
    return END.search(TAG.sub("", subtitle.content)) is not None


def speakers(content: str) -> list[str]:
    """The lines of a subtitle where each begins with a dash, else all of it."""
    lines = content.split("\n")
    return lines if len(lines) > 1 and all(SPEAKER.match(TAG.sub("", line)) for line in lines) else [content]


def two_lines(text: str) -> str:
    """A text that is too long for a line, broken where its halves are most alike."""
    widths = [1 + (unicodedata.east_asian_width(each) in "WF") for each in text]
    inside = set[int]()  # places within tags, which have no width
    for tag in TAG.finditer(text):
        inside |= {*range(tag.start() + 1, tag.end())}
        widths[tag.start() : tag.end()] = [0] * len(tag[0])
    before = [*accumulate(widths, initial=0)]  # how much is in front of each place
    gaps = [gap for gap in gaps_of(text) if gap[0] not in inside] if before[-1] > LONGEST else []
    if not gaps:
        return text
    end, begin = min(gaps, key=lambda gap: abs(before[gap[0]] - (before[-1] - before[gap[1]])))
    return f"{text[:end]}\n{text[begin:]}"


def going_on(run: Run) -> Run:
    """A run that another one goes on with."""
    text = run.text.rstrip()
    return Run(text + gap_behind(text))


def end_of_line(found: re.Match[str]) -> str:
    """What stands in the place of an end of a line in the text that goes on behind it."""
    return gap_behind(found.string[: found.start()])


def gaps_of(text: str) -> list[tuple[int, int]]:
    """Where a line may end in a text, and the next one begin: around spaces; where there are none, behind
    marks of a script without spaces, or else between any two characters of it.
    """
    if " " in text:
        return [match.span() for match in re.finditer(" ", text)]
    places = [place for place in range(1, len(text)) if closes_up(text[:place]) and text[place].isalnum()]
    behind_marks = [place for place in places if not text[place - 1].isalnum()]
    return [(place, place) for place in behind_marks or places]
