"""Subtitles of any form: a sentence may go on over several; times, numbers and tags stay."""

import re
import unicodedata
from abc import abstractmethod
from collections.abc import Sequence
from datetime import timedelta
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from zsnmt.documents.passages import Document, Passage, Run
from zsnmt.documents.plain_text import form_and_text, read_text
from zsnmt.errors import InputError
from zsnmt.text.unspaced import closes_up, gap_behind

TAG = re.compile(r"(</?[a-zA-Z][^<>]*>|<[\d:]+\.\d{3}>|\{[^{}]*\})")  # also a time, which WebVTT may have
VOICE = re.compile(r"<v[ .\t][^<>]*>")  # says who speaks
TWICE = re.compile(rf" +((?:{TAG.pattern})+)(?=\s)")  # a space before tags that another one is behind
LINE_BREAK = re.compile(r"(?<!\s)\s*\n\s*")
SPEAKER = re.compile(r"\s*[-–—]\s*")  # what begins a line of another speaker
END = re.compile(r"[.!?…。！？؟।:♪\]\)\"”»]\s*$")
FEW, HARDLY = 5, 0.1  # so many subtitles, of which at most that share ends as a sentence does
PAUSE = timedelta(seconds=1.5)  # a longer one ends a sentence
LONGEST = 42  # characters of a line, as most broadcasters want it; one that is wide counts as two
MOST = 250  # characters of a passage: subtitles without full stops do not go on for ever


class Cue(NamedTuple):
    """A subtitle: when it is shown, and where in the file its text begins and ends, without empty lines
    around it.
    """

    start: timedelta
    end: timedelta
    first: int
    last: int


class Subtitles(Document):
    """A file of subtitles. A passage is what one speaker says until a sentence ends or a pause comes, or
    until it would be too long; its runs are the texts of each subtitle between tags. Where hardly any
    subtitle ends as a sentence does, each is a passage by itself. All else stays to the byte, and so does
    a subtitle without a new text.
    """

    def __init__(self, path: Path) -> None:
        self.form, self.text = form_and_text(read_text(path))
        self.cues = self.find_cues(path)
        if not self.cues:
            raise InputError(f"{path} holds no subtitle")
        self.contents = [self.text[cue.first : cue.last].replace("\r\n", "\n") for cue in self.cues]
        # For each subtitle its pieces: tags and breaks of lines as they stand, and places of runs.
        self.pieces: list[list[str | tuple[int, int]]] = []
        self.passages: list[Passage] = []
        self.read()

    @abstractmethod
    def find_cues(self, path: Path) -> list[Cue]:
        """The subtitles of the text; `InputError` where it does not follow its form."""

    @staticmethod
    def words_of(source: str) -> str:
        """What is read where this stands in the file."""
        return source

    @staticmethod
    def source_of(words: str) -> str:
        """What must stand in the file for these words."""
        return words

    def read(self) -> None:
        """The pieces of all subtitles, and their passages."""
        runs: list[Run] = []

        def end() -> None:
            if runs:
                self.passages.append(Passage(tuple(runs)))
                runs.clear()

        for place, content in enumerate(self.contents):
            if self.begins_passage(place) or sum(len(run.text) for run in runs) + len(content) > MOST:
                end()
            elif runs:
                runs[-1] = going_on(runs[-1])
            pieces: list[str | tuple[int, int]] = []
            for number, line in enumerate(speakers(content)):
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
                    runs.append(Run(LINE_BREAK.sub(end_of_line, self.words_of(piece))))
            self.pieces.append(pieces)
        end()

    def begins_passage(self, place: int) -> bool:
        """Whether no sentence goes on in a subtitle from the one before it."""
        if place == 0 or self.are_alone:
            return True
        pause = self.cues[place].start - self.cues[place - 1].end
        before, content = self.contents[place - 1 : place + 1]
        return pause > PAUSE or ends_sentence(before) or voice_of(before) != voice_of(content)

    @cached_property
    def are_alone(self) -> bool:
        """Whether hardly any subtitle ends as a sentence does, so that no end of one can be told."""
        ended = sum(map(ends_sentence, self.contents))
        return len(self.contents) >= FEW and ended < HARDLY * len(self.contents)

    def content(self, translations: Sequence[Sequence[str]], language: str) -> bytes:
        written, end = "", 0
        for cue, pieces in zip(self.cues, self.pieces, strict=True):
            runs = [piece for piece in pieces if not isinstance(piece, str)]
            if any(translations[of][run] != self.passages[of].runs[run].text for of, run in runs):
                made = self.new_content(pieces, translations)
                written += self.text[end : cue.first] + made.replace("\n", self.form.end)
                end = cue.last
        return (self.form.mark + written + self.text[end:]).encode("utf-8")

    def new_content(
        self, pieces: Sequence[str | tuple[int, int]], translations: Sequence[Sequence[str]]
    ) -> str:
        """The text of a subtitle of some pieces."""
        texts = [
            piece if isinstance(piece, str) else self.source_of(translations[piece[0]][piece[1]])
            for piece in pieces
        ]
        lines = TWICE.sub(r"\1", "".join(texts)).split("\n")
        return "\n".join(two_lines(line.strip()) for line in lines)


def ends_sentence(content: str) -> bool:
    """Whether a sentence ends with a subtitle."""
    return END.search(TAG.sub("", content)) is not None


def speakers(content: str) -> list[str]:
    """The lines of a subtitle where each says who speaks or begins with a dash, else all of it."""
    lines = content.split("\n")
    several = len(lines) > 1 and (
        all(map(voice_of, lines)) or all(SPEAKER.match(TAG.sub("", line)) for line in lines)
    )
    return lines if several else [content]


def voice_of(content: str) -> str:
    """The tag with which a subtitle says who speaks; empty for none."""
    found = VOICE.match(content)
    return found[0] if found else ""


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
