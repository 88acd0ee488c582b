"""Rules by which sentences are cut at their punctuation and put together again.

Rules have three methods. `normalise` gives a sentence one spelling, with single spaces. `split` cuts
such a sentence into tokens: nothing but spaces goes, and no token reaches over one. `join` guesses where
the spaces were; nothing but spaces comes or goes. Libraries do the work; where they change a character,
cross a space or guess against the odds of real text, the rules mend it.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence

Substitution = tuple[re.Pattern[str], str]

ENDS = frozenset(".?!।॥۔؟።။។")
JOINERS = frozenset("\u200c\u200d")  # of zero width
WORD_END, WORD_START = (
    r"(?<=[^\s.,:;?!।-])",
    r"(?=[^\s.,:;?!।-])",
)  # \w lacks the vowel signs of Indic scripts

# Languages in which an apostrophe that is alone in a sentence is not an opening quotation mark.
APOSTROPHE_INSIDE_WORDS = ("cs", "de", "or")  # gibt's
APOSTROPHE_AFTER_WORDS = ("it",)  # un po' di


class RawRules:
    """Words as they are, between white space."""

    def normalise(self, sentence: str) -> str:
        return " ".join(sentence.split())

    def split(self, sentence: str) -> list[str]:
        return sentence.split()

    def join(self, tokens: Sequence[str]) -> str:
        return " ".join(tokens)


class MosesRules:
    """The Moses tokenizer and detokenizer (Koehn et al. 2007), without escapes like `&quot;`; hyphens split
    no word.

    A language that Moses does not know, such as Danish, has the abbreviations of English. Of Moses'
    normalisation of punctuation two steps are left out, as they change more than a spelling: a full stop
    or comma instead of a space between digits, and the order of quotation marks and full stops. What it
    leaves out comes back in French, where a space stands before `;`, `:`, `?`, `!` and `%`. Without `respell`
    punctuation is not normalised at all. No word is cut at a combining mark, and marks like the danda end a
    sentence without a space before them.
    """

    _UNSPACED = [
        (re.compile(pattern), replacement)
        for pattern, replacement in (
            (r"(?<!\S)([#+]) (?=\d)", r"\1"),  # #5 and +1
            (r"(?<=\d) : (?=\d)", ":"),  # 11:27
            (r"(?<=\w) / (?=\w)", "/"),
            (r"(?<!\S)([A-Z]) & (?=[A-Z](?!\S))", r"\1&"),  # R&D
        )
    ]
    _ENDING = re.compile(rf"{WORD_END} ' (?=[ns](?!\S))"), "'"  # zo'n and foto's
    _CASE_ENDING = re.compile(r"(?<=[A-ZÄÖÅ\d]) : (?=[a-zäöå]{1,4}(?!\S))"), ":"  # EU:n
    _BEFORE_MARK = re.compile(r"(?<=\S) (?=[।۔،؛؟።፣፤፥፦၊။។៕։])"), ""  # which Moses does not know

    def __init__(self, language: str, respell: bool = True):
        import sacremoses  # loads in a quarter of a second

        self._language, self._respell = language, respell
        self._unspaced = list(self._UNSPACED)
        if language not in ("en", "fr", "it"):  # where Moses leaves an apostrophe with its word
            self._unspaced.append(self._ENDING)
        if language in ("fi", "sv"):
            self._unspaced.append(self._CASE_ENDING)
        self._normaliser = sacremoses.MosesPunctNormalizer(
            language, norm_quote_commas=False, norm_numbers=False
        )
        self._tokenizer = sacremoses.MosesTokenizer(language)
        # sacremoses' rules for Czech fail on some input, and take the space from before every last number.
        self._detokenizer = sacremoses.MosesDetokenizer("" if language == "cs" else language)

    def normalise(self, sentence: str) -> str:
        respelt = self._normaliser.normalize(sentence) if self._respell else sentence
        return " ".join(respelt.split())

    def split(self, sentence: str) -> list[str]:
        tokens = tokens_or_words(self._tokenizer.tokenize(sentence, escape=False), sentence)
        return tokens if sentence.isascii() else [*whole_words(tokens, sentence)]

    def join(self, tokens: Sequence[str]) -> str:
        text = join_tokens(
            tokens,
            self._language,
            self._unspaced,
            detokenise=lambda text: self._detokenizer.detokenize(text.split(), unescape=False),
        )
        pattern, replacement = self._BEFORE_MARK
        return pattern.sub(replacement, text)


class IndicRules:
    """The normaliser, tokenizer and detokenizer of IndicNLP (Kunchukuttan 2020).

    Normalisation removes zero-width joiners and takes a colon after a letter for the sign visarga, as in
    the experiments of Liu et al. (2021).
    """

    _UNSPACED = [
        (re.compile(pattern), replacement)
        for pattern, replacement in (
            (r"(?<=[A-Za-z]) \. (?=[A-Za-z])", "."),  # example.in
            (r"(?<=\d) ,(?= \d)", ","),  # between numbers; the library would take the space as well
        )
    ]
    _SPACED_COLON = re.compile(r"(?<=[\u0900-\u0d7f]):"), " :"  # else it would have become a visarga
    _SPACED_DANDA = re.compile(r"(?<=[^\s।])।"), " ।"  # the custom in Odia

    def __init__(self, language: str):
        from indicnlp.normalize.indic_normalize import IndicNormalizerFactory  # large, and for few
        from indicnlp.tokenize.indic_detokenize import trivial_detokenize_indic
        from indicnlp.tokenize.indic_tokenize import trivial_tokenize_indic

        self._language = language
        self._normaliser = IndicNormalizerFactory().get_normalizer(language)
        self._tokenize, self._detokenize = trivial_tokenize_indic, trivial_detokenize_indic
        self._spaced = [self._SPACED_COLON]
        if language == "or":
            self._spaced.append(self._SPACED_DANDA)

    def normalise(self, sentence: str) -> str:
        # Composed first: IndicNLP composes one vowel of Odia to a code point that does not exist.
        return " ".join(self._normaliser.normalize(unicodedata.normalize("NFC", sentence)).split())

    def split(self, sentence: str) -> list[str]:
        # Word by word, as the library takes the spaces from between numbers, and each after another word, as
        # it splits a number that comes first.
        words = sentence.split()
        return tokens_or_words(
            [token for word in words for token in self._tokenize(f"a {word}")[1:]], sentence
        )

    def join(self, tokens: Sequence[str]) -> str:
        text = join_tokens(tokens, self._language, self._UNSPACED, detokenise=self._detokenize)
        for pattern, replacement in self._spaced:
            text = pattern.sub(replacement, text)
        return text


def tokens_or_words(tokens: list[str], sentence: str) -> list[str]:
    """The tokens, or the words of the sentence where the tokens have lost or gained a character."""
    return tokens if "".join(tokens) == sentence.replace(" ", "") else sentence.split()


def whole_words(tokens: Iterable[str], sentence: str) -> Iterator[str]:
    """The tokens of a sentence, joined again where a word was cut at a combining mark: Moses takes those of
    Thai, Khmer, Burmese and others for punctuation.
    """
    word, position = "", 0
    for token in tokens:
        spaced = sentence[position] == " "
        position += spaced + len(token)
        if spaced or not is_cut(word, token):
            if word:
                yield word
            word = ""
        word += token
    if word:
        yield word


def is_cut(word: str, following: str) -> bool:
    """Whether a word was cut before what follows, which begins with a combining mark, or stands behind
    one.
    """
    if not any(map(str.isalpha, word)):
        return False  # an emoji may have such a mark, too
    last, first = word[-1], following[0]
    if is_combining(first):
        return last.isalpha() or is_combining(last)
    return is_combining(last) and first.isalnum()


def is_combining(character: str) -> bool:
    """Whether a character is part of the one before it, or joins two."""
    return character in JOINERS or unicodedata.category(character).startswith("M")


def join_tokens(
    tokens: Sequence[str], language: str, unspaced: Iterable[Substitution], detokenise: Callable[[str], str]
) -> str:
    """Tokens put together by a library, which is shown the opening mark of a quotation that began earlier.

    It takes every odd quotation mark for an opening one.
    """
    text = " ".join(tokens)
    if language in APOSTROPHE_INSIDE_WORDS and tokens.count("'") == 1:
        text = re.sub(f"{WORD_END} ' {WORD_START}", "'", text)
    for pattern, replacement in unspaced:
        text = pattern.sub(replacement, text)
    opened = "".join(mark for mark in "'\"" if closes_first(text.split(), mark, language))
    joined = detokenise(" ".join([*opened, text])).strip().removeprefix(opened).strip()
    return joined if joined.replace(" ", "") == "".join(tokens) else " ".join(tokens)


def closes_first(tokens: Sequence[str], mark: str, language: str) -> bool:
    """Whether the first mark, of an odd number, closes what an earlier sentence has opened."""
    if tokens.count(mark) % 2 == 0 or tokens[0] == mark:
        return False
    first = tokens.index(mark)
    return (
        first == len(tokens) - 1
        or tokens[first - 1] in ENDS
        or mark == "'"
        and language in APOSTROPHE_AFTER_WORDS
    )
