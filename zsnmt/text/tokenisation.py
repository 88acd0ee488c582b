"""Tokens: a sentence into words and punctuation marks with spaces between them, and back again.

The kinds of tokenisation, one for each language:

* `raw` leaves the words as they are;
* `moses` splits at punctuation by the rules of Moses, `indic` by those of IndicNLP;
* `moses_truecase` is `moses`, with the first words of sentences in their usual spelling;
* `indic_devanagari` is `indic`, in the letters of Devanagari.

`by_script` is `indic` for the nine Indic languages of PMIndia and `moses_truecase` for all others. With
`_as_spelt` after its name a kind of Moses leaves punctuation as it is spelt; the others normalise it. With
`_joined` after its name a kind marks every token that had no space before it with U+FFED, so that nothing has
to be guessed when the tokens are put together again; the papers have no such marks.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from itertools import product
from pathlib import Path

from zsnmt.errors import InputError
from zsnmt.languages import check_language
from zsnmt.text.iso_639 import script_of, two_letters
from zsnmt.text.token_rules import IndicRules, MosesRules, RawRules
from zsnmt.text.transliteration import Letters, from_devanagari, to_devanagari
from zsnmt.text.truecasing import Truecaser, detruecase

SCRIPTS = {  # of IndicNLP's languages (ISO 15924)
    "bn": "Beng",
    "gu": "Gujr",
    "hi": "Deva",
    "kn": "Knda",
    "ml": "Mlym",
    "mr": "Deva",
    "or": "Orya",
    "pa": "Guru",
    "te": "Telu",
}
INDIC_LANGUAGES = (*SCRIPTS,)
TRUECASE, AS_SPELT, DEVANAGARI, JOINED = "_truecase", "_as_spelt", "_devanagari", "_joined"
KINDS = (
    "raw",
    *("".join(("moses", *parts)) for parts in product(("", TRUECASE), ("", AS_SPELT), ("", JOINED))),
    *("".join(("indic", *parts)) for parts in product(("", DEVANAGARI), ("", JOINED))),
)

BY_SCRIPT = {
    f"by_script{spelling}{joined}": (f"moses{TRUECASE}{spelling}{joined}", f"indic{joined}")
    for spelling, joined in product(("", AS_SPELT), ("", JOINED))
}
Rules = RawRules | MosesRules | IndicRules
JOINER, JOINER_IN_TEXT = "\uffed", "\u25a0"  # a small black square, and the full one


class Tokeniser:
    """Cuts the sentences of one language into tokens and puts them together again; it can be pickled.

    `detokenise(tokenise(sentence))` has all characters of `normalise(sentence)` in their order, but for the
    spaces, guessed unless `joined`, and, with a truecaser, the case of first letters. `letters` are what
    tokens have in place of the sentence's, and `own_letters` the way back.
    """

    def __init__(
        self,
        rules: Rules,
        truecaser: Truecaser | None = None,
        joined: bool = False,
        letters: Letters | None = None,
        own_letters: Letters | None = None,
    ):
        self._rules, self._truecaser, self._joined = rules, truecaser, joined
        self._letters, self._own_letters = letters or {}, own_letters or {}

    def normalise(self, sentence: str) -> str:
        """The sentence with single spaces and in the one spelling that its tokens have."""
        if self._joined:
            sentence = sentence.replace(JOINER, JOINER_IN_TEXT)
        # The latter if it is all zero-width joiners.
        return self._rules.normalise(sentence) or " ".join(sentence.split())

    def tokenise(self, sentence: str) -> str:
        """The tokens of a sentence, with single spaces between them."""
        sentence = self.normalise(sentence)
        tokens = self._rules.split(sentence)
        if self._truecaser:
            tokens = self._truecaser.truecase(tokens)
        return " ".join(mark_joins(tokens, sentence) if self._joined else tokens).translate(self._letters)

    def detokenise(self, tokens: str) -> str:
        """The sentence that these tokens make, whether or not `tokenise` could give them."""
        marked = tokens.translate(self._own_letters).split()
        plain = [token.replace(JOINER, "") for token in marked] if self._joined else marked
        if self._truecaser:
            plain = detruecase(plain)
        return join_marked(plain, marked) if self._joined else self._rules.join(plain)


def load_tokeniser(kind: str, language: str, truecaser: Path | None = None) -> Tokeniser:
    """The tokeniser of a kind for a language; `truecaser` is the file of a kind that `needs_truecaser`.

    Raises InputError for a kind that is not there or not for this language, and for a truecaser that is
    missing or cannot be read.
    """
    check_kind(kind, KINDS)
    base = kind.partition("_")[0]
    known_as = indic_code(language) if base == "indic" else language
    if not known_as:
        raise InputError(
            f"IndicNLP is not for '{language}' but for {', '.join(INDIC_LANGUAGES)}; choose another kind"
        )
    if needs_truecaser(kind) and truecaser is None:
        raise InputError(
            f"tokenisation '{kind}' of {language} needs a truecaser; train one on its tokenised text"
        )
    rules: dict[str, Callable[[str], Rules]] = {
        "raw": lambda _: RawRules(),
        "moses": partial(MosesRules, respell=AS_SPELT not in kind),
        "indic": IndicRules,
    }
    cased = Truecaser(truecaser) if truecaser and needs_truecaser(kind) else None
    scripts = (to_devanagari(known_as), from_devanagari(known_as)) if DEVANAGARI in kind else ()
    return Tokeniser(rules[base](known_as), cased, kind.endswith(JOINED), *scripts)


def indic_code(language: str) -> str:
    """IndicNLP's code of a language, `hi` for `hin` and `hin_Deva`; empty for one that it does not know, or
    not in this script.
    """
    code = two_letters(language)
    return code if code in SCRIPTS and script_of(language) in (None, SCRIPTS[code]) else ""


def needs_truecaser(kind: str) -> bool:
    """Whether a kind changes the case of first words."""
    return TRUECASE in kind


def kind_before_truecasing(kind: str) -> str:
    """The kind whose tokens a truecaser is trained on."""
    return kind.replace(TRUECASE, "").removesuffix(JOINED)


def devanagari_kind(kind: str) -> str:
    """The kind with Devanagari for other Indic scripts; what is not Indic stays."""
    return kind.replace("indic", f"indic{DEVANAGARI}") if DEVANAGARI not in kind else kind


def kind_of(setting: str, language: str, languages: Collection[str] = ()) -> str:
    """The kind for a language under a setting: a kind or `by_script`, then exceptions, as in `by_script
    en=moses`.

    Raises InputError for an unknown kind, for an exception that is malformed or said twice, and for one
    that is not among `languages` where these are given.
    """
    default, *exceptions = setting.split() or [""]
    kinds = {}
    for exception in exceptions:
        code, equals, kind = exception.partition("=")
        if not equals or check_language(code) in kinds:
            raise InputError(
                f"'{exception}' in '{setting}' is not an exception; write a language once, as in en=moses"
            )
        if languages and code not in languages:
            raise InputError(
                f"'{exception}' in '{setting}' is for none of {', '.join(languages)}; correct it"
            )
        kinds[code] = kind
    for kind in (default, *kinds.values()):
        check_kind(kind, (*KINDS, *BY_SCRIPT))
    kind = kinds.get(language, default)
    return BY_SCRIPT[kind][indic_code(language) != ""] if kind in BY_SCRIPT else kind


def check_kind(kind: str, known: Collection[str]) -> None:
    if kind not in known:
        raise InputError(f"there is no tokenisation '{kind}'; choose {', '.join(known)}")


def mark_joins(tokens: Iterable[str], sentence: str) -> Iterator[str]:
    """The tokens of a sentence, marked where no space stands before them."""
    position = 0
    for token in tokens:
        spaced = sentence[position] == " "
        yield token if spaced or position == 0 else JOINER + token
        position += spaced + len(token)


def join_marked(plain: Iterable[str], marked: Iterable[str]) -> str:
    """The tokens with a space between two unless the second is marked."""
    spaced = (token if mark.startswith(JOINER) else f" {token}" for token, mark in zip(plain, marked))
    return "".join(spaced).strip()
