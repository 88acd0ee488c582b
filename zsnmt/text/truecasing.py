"""Truecasing: the first word of a sentence as it is written elsewhere, and back again.

The model and its file are those of the Moses truecaser (Koehn et al. 2007): for every word, how often
each of its spellings occurs where no sentence starts. Applying it differs from Moses in two points, so
that it can be undone: only the first letter of a word at the start of a sentence changes, where Moses
also rewrites words elsewhere that it does not know in their spelling; and a colon ends no sentence.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from zsnmt.errors import InputError
from zsnmt.text.lines import iterate_lines, write_lines

ENDS = frozenset(".?!")
OPENS = frozenset("\"'([")  # before the first word of a sentence, and after its end


class Truecaser:
    """Changes the first letters of sentences; `path` is a file that `train_truecaser` wrote.

    Raises InputError when there is no such file or when it is not a model.
    """

    def __init__(self, path: Path):
        self._usual = dict(read(path))

    def truecase(self, tokens: Sequence[str]) -> list[str]:
        """The tokens, with first words in their usual spelling if only the first letter differs from it."""
        tokens = list(tokens)
        for start in sentence_starts(tokens):
            token = tokens[start]
            usual = self._usual.get(token.lower(), token)
            if usual[1:] == token[1:]:
                tokens[start] = usual
        return tokens


def detruecase(tokens: Sequence[str]) -> list[str]:
    """The tokens, with a capital at the start of every sentence."""
    tokens = list(tokens)
    for start in sentence_starts(tokens):
        letter, rest = tokens[start][:1], tokens[start][1:]
        capital = letter.title()  # Georgian has capitals for whole words alone, and so none here
        if capital.lower() == letter:  # unlike a German sharp s, for example
            tokens[start] = capital + rest
    return tokens


def train_truecaser(lines: Iterable[str], path: Path) -> None:
    """Writes the spellings of the words in tokenised lines to `path`, read once and never held in memory.

    One model serves one language; the reference of Liu et al. (2021) has one for all source sides and
    one for all target sides. The model is empty where words have no case, as in Arabic or Thai. Raises
    InputError when no word with case stands anywhere but at the start of a sentence, and there are no others;
    `path` is replaced at the end or stays as it was.
    """
    from sacremoses import MosesTruecaser  # loads in a quarter of a second

    counter = MosesTruecaser()
    spellings: defaultdict[str, Counter[str]] = defaultdict(Counter)
    without_case = False
    for line in lines:
        without_case = without_case or not spellings and any(map(has_no_case, line))
        for word, spelling, weight in counter.learn_truecase_weights(line.split()):
            if word[0] != "\ufeff":  # no line of a text file may start with it
                spellings[word][spelling] += weight
    if not spellings and not without_case:
        raise InputError(f"there is no text to make the truecaser {path} from; give tokenised sentences")
    write_lines(path, map(entry, spellings.values()))


def has_no_case(letter: str) -> bool:
    """Whether a character is a letter that is neither capital nor small."""
    return letter.isalpha() and letter.lower() == letter.title()


def sentence_starts(tokens: Sequence[str]) -> Iterator[int]:
    starts = True
    for position, token in enumerate(tokens):
        if token in ENDS:
            starts = True
        elif token not in OPENS:
            if starts:
                yield position
            starts = False


def entry(counts: Counter[str]) -> str:
    """`the (10/12) The (2)`, the most frequent spelling first, with the sum of all."""
    (usual, count), *others = counts.most_common()
    return " ".join(
        [f"{usual} ({count}/{counts.total()})", *(f"{form} ({number})" for form, number in others)]
    )


def read(path: Path) -> Iterator[tuple[str, str]]:
    if path.is_file() and not path.stat().st_size:
        return  # words without case
    for number, line in enumerate(iterate_lines(path), start=1):
        usual, _, count = line.partition(" ")
        if not count.startswith("("):
            raise InputError(
                f"{path}, line {number} is not an entry of a truecaser; train it again, or name its file"
            )
        yield usual.lower(), usual
