"""What the rule chooses for a text whatever the model: held-out sets, cleaning, vocabulary, scoring."""

import math
from collections import Counter

from zsnmt.corpora.cleaning import ALL_RULES
from zsnmt.corpora.own_text.held_out import set_size
from zsnmt.corpora.own_text.survey import Survey
from zsnmt.languages import LANGUAGE_OF
from zsnmt.scoring.options import SUBWORDS
from zsnmt.training.rule.choice import NOTHING, Choice, because
from zsnmt.training.rule.model import LITTLE_TEXT

HELD_OUT = 500  # sentence pairs of a set, as of Tatoeba's test sets
MOST_PIECES = 40_000  # of the papers' vocabularies
PIECES_BY_ROOT = 5.5  # a million words give 5,500 pieces besides the characters, 16 million 22,000


def choose_held_out(text: Survey) -> Choice:
    """Held-out sets of its own for a text without."""
    if not text.lacking:
        return because("The validation and test sets are those of the text.")
    kinds = " and ".join({"valid": "validation", "test": "test"}[split] for split in text.lacking)
    numbers = sorted(set_size(lines, HELD_OUT) for lines in text.pairs.values())
    shown = f"{numbers[0]:,}" if numbers[0] == numbers[-1] else f"{numbers[0]:,} to {numbers[-1]:,}"
    return because(
        f"The text lacks {kinds} sets, so {shown} sentence pairs of each pair of languages are held out "
        "for each such set, fewer where many repeat: always the same ones, which training text does not "
        "have.",
        HELD_OUT=str(HELD_OUT),
    )


def warn_of_little(text: Survey) -> Choice:
    """What to expect of text that is hardly enough to learn to translate."""
    if text.words >= LITTLE_TEXT:
        return NOTHING
    return because(
        f"{text.words:,} words are little text. With 55,000 words in nine languages a model learned "
        "next to nothing (about 1 BLEU); with 320,000 words in four languages it learned to translate "
        "(23 BLEU with the pivot)."
    )


def warn_of_countries(text: Survey) -> Choice:
    """Codes of countries in the place of languages: identification would not know them."""
    wrong = [f"{code} is {LANGUAGE_OF[code]}" for code in text.languages if code in LANGUAGE_OF]
    if not wrong:
        return NOTHING
    return because(
        f"These are codes of countries, as a language {', '.join(wrong)}: change "
        "them in the text, in the names of files or where a table or memory has them."
    )


def choose_cleaning() -> Choice:
    """All rules: what people have is seldom clean."""
    return because(
        "Training pairs that are empty, copies, too long, of unlike lengths, in another language, or "
        "there before will be left out; cleaning.tsv in the text of the runs will list them.",
        CLEANING=str(ALL_RULES),
    )


def choose_vocabulary(text: Survey) -> Choice:
    """Pieces by the root of the words, besides the characters."""
    pieces = rounded_up(text.characters + pieces_by_words(text.words, text.different_words))
    return because(
        f"The vocabulary has {pieces:,} pieces, for {text.words:,} words of training text in "
        f"{text.characters:,} characters; SentencePiece cuts raw text in {scripts_of(text)}.",
        VOCABULARY=str(pieces),
    )


def pieces_by_words(words: float, different: float) -> float:
    """How many pieces so many words, some of them different, call for besides the characters."""
    return min(PIECES_BY_ROOT * math.sqrt(words), different, MOST_PIECES)


def rounded_up(number: float) -> int:
    """A number with two digits that are not 0."""
    unit = 10 ** max(0, len(str(int(number))) - 2)
    return math.ceil(number / unit) * unit


def scripts_of(text: Survey) -> str:
    scripts = [*dict.fromkeys(text.scripts.values())]
    return f"the {'scripts' if len(scripts) > 1 else 'script'} {', '.join(scripts)}"


def choose_scoring(text: Survey) -> Choice:
    """BLEU over pieces where 13a would take a sentence for a word, and languages by the words of their
    training text where py3langid, which does not know some, would have to tell them from others.
    """
    choice = NOTHING
    if text.unspaced:
        choice |= because(
            f"BLEU counts pieces, for {', '.join(text.unspaced)} has no spaces between words.",
            BLEU_TOKENIZER=SUBWORDS,
        )
    if unknown := unidentified(text):
        choice |= because(
            f"py3langid does not know {', '.join(unknown)}, so translations in a wrong language "
            "are found by the words of the training text. If a code is not that of ISO 639-1, "
            "change it in the text: in the names of files, or where a table or memory has it.",
            IDENTIFIER="lexicon",
        )
    return choice


def unidentified(text: Survey) -> list[str]:
    """The languages that py3langid does not know, or not from another of them, and that their script does not
    tell from the others.
    """
    from zsnmt.scoring.language_identification import all_languages, code_of  # takes a while to load

    scripts, known = Counter(text.scripts.values()), {*all_languages().labels}
    codes = Counter(map(code_of, text.languages))
    return [
        language
        for language in text.languages
        if (code_of(language) not in known or codes[code_of(language)] > 1)
        and scripts[text.scripts.get(language, "")] != 1
    ]
