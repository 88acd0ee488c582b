"""Tokens of every language and back: kinds, settings, nothing lost, marks that make it exact."""

import pickle
import random
import unicodedata

import pytest
from indicnlp.langinfo import SCRIPT_RANGES

from zsnmt.errors import InputError
from zsnmt.text.token_rules import IndicRules, MosesRules
from zsnmt.text.tokenisation import (
    INDIC_LANGUAGES,
    KINDS,
    devanagari_kind,
    kind_before_truecasing,
    kind_of,
    load_tokeniser,
    needs_truecaser,
)
from zsnmt.text.transliteration import from_devanagari, to_devanagari
from zsnmt.text.truecasing import train_truecaser

SENTENCES = {
    "en": [
        "The teachers' room isn't open (it's 11:27), is it?",
        'At 50% off, the R&D team\'s no. 5 costs $3.50; "wow!"',
        'and that is all."',
        "A well-known man/woman said: no... never!",
    ],
    "de": [
        'Er sagte: "Ich komme um 10:30 Uhr", z. B. am 3. Mai.',
        "Wie geht's dem E-Mail-Dienst, (fast) 50% teurer?",
    ],
    "it": [
        "L'uomo dell'anno è qui: c'è un po' di sole.",
        'Le donne (due) hanno detto "sì", e poi?',
        "Un po' tardi.",
    ],
    "nl": [
        "We zagen zo'n foto's van z'n auto's!",
        "'s Ochtends is het (nog) stil.",
        'Hij zei: "Nee, dank je." En toen?',
    ],
    "ro": ['Nu-i așa? Într-o zi s-a dus "acasă", pe jos.', "Costă 2,5 lei; nu-l vrei?"],
    "da": ["Det er 'godt', sagde hun; 50% af dem er væk.", "Hvem kommer kl. 12 (i dag)?"],
    "es": ['¿Qué pasa? ¡Nada! Dijo: "No lo sé".', "Cuesta 1,20 (más o menos)."],
    "fi": [
        "EU:n komissio lupasi 20:een mennessä, että talo (uusi) on valmis.",
        '"Mitä nyt?" hän kysyi: ei mitään.',
    ],
    "fr": ["L'homme d'aujourd'hui n'a pas faim, et toi ?", 'Elle dit "oui", puis (non).'],
    "pt": ['"Olá!", disse ele: a água-de-coco custa 3,50 (três e meio).', "O que é isto?"],
    "cs": ["V roce 2012 přišel e-mail č. 5, ale nikdo ho nečetl.", 'Řekl: "Nevím." A odešel?'],
    "bn": ["আজ সকালে আমরা বাজারে গেলাম, কিন্তু দোকান বন্ধ ছিল।", 'তিনি বললেন, "এখন যাও।"', 'চলে যাও।"'],
    "gu": ["મારી બહેન શાળામાં ભણે છે, અને રોજ સાંજે (૫ વાગ્યે) રમે છે.", "શું તમે આવશો?"],
    "hi": ['उसने पूछा, "क्या तुम कल आओगे?" मैंने कहा, हाँ।', "12,500 रुपये (या 10/12), और 3, 4 दिन।"],
    "kn": ["ನಾವು ನಾಳೆ ಬೆಂಗಳೂರಿಗೆ ಹೋಗುತ್ತೇವೆ; ನೀವು ಬರುತ್ತೀರಾ?", "ಪುಸ್ತಕ (ಹೊಸದು) ಇಲ್ಲಿದೆ."],
    "ml": ["ഞങ്ങൾ ഇന്നലെ ചായ കുടിച്ചു, പിന്നെ പുസ്തകം വായിച്ചു.", "നാളെ വരുമോ?"],
    "mr": ["माझ्या भावाने 12,500 रुपये दिले, पण घर-दुरुस्ती झाली नाही!", "ते example.in वर आहे."],
    "or": ["ମୋର ଭାଇ ସ୍କୁଲକୁ ଯାଏ, ଏବଂ ମୁଁ ଘରେ ରହେ ।", "ସେ କ'ଣ କଲା?"],
    "pa": ["ਸਾਡੇ ਪਿੰਡ ਵਿੱਚ 3 ਸਕੂਲ ਹਨ, ਪਰ ਇੱਕ ਬੰਦ ਹੈ।", "ਮੋਹਨ : ਜੀ, ਮੈਂ ਆਇਆ।"],
    "te": ["మేము రేపు హైదరాబాదుకు వెళ్తాము, మీరు వస్తారా?", "ఇది (కొత్త) ఇల్లు!"],
    "th": ["เราเชื่อว่าทุกคนมีสิทธิ์ (ใช่ไหม) ที่นี่."],
    "my": ["ကျွန်ုပ်တို့ သွားမည်။ ဟုတ်လား၊"],
    "km": ["យើងទៅផ្សារ។ តើអ្នកទៅទេ?"],
    "ne": ['हामी काठमाडौं जान्छौं। "तिमी कहाँ जान्छौ?"', 'म जान्छु।"'],
    "ur": ["میں گھر جا رہا ہوں۔ کیا تم، آؤ گے؟"],
    "am": ["ሰላም ነው። እንዴት ነህ፣ ጥሩ፤"],
    "ar": ["كَتَبَ الوَلَدُ، ثُمَّ ذهب؛ أين؟"],
    "fa": ["می‌خواهم بروم، شما چطور؟"],
    "yo": ["Mo fẹ́ràn rẹ̀, o dàbọ̀."],
}
TRICKY = [
    *"aAzZß09 .,;:?!'\"-–—()[]{}<>|&#@+/%$€`´’„“”«»…ıİé।ॐकाର୍ো中ア",
    *[" "] * 20,
    "\u00a0",
    "\u200d",
    "\u2028",
    "\t",
    "\uffed",
    "\u25a0",
    "DOTMULTI",
    "@-@",
    " -li ",
    " x' - li ",
    "&lt;",
    "&apos;",
    "<b>",
    "'s",
    "..",
    "1,000",
    "ୈ",
    "\u0e48",
    "e\u0301",
    "❤\ufe0f",
]


def plain_kind(language: str) -> str:
    return "indic" if language in INDIC_LANGUAGES else "moses"


def unspaced(text: str) -> str:
    return text.replace(" ", "")


@pytest.fixture(scope="module")
def truecaser(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "truecaser"
    train_truecaser(["x a the A kind z b B Z l' n't we"], path)
    return path


# There and back


@pytest.mark.parametrize("language", SENTENCES)
def test_natural_sentences_come_back_exactly(language):
    tokeniser = load_tokeniser(plain_kind(language), language)
    for sentence in SENTENCES[language]:
        tokens = tokeniser.tokenise(sentence)
        assert tokeniser.normalise(sentence) == sentence
        assert len(tokens.split(" ")) > len(sentence.split()), "punctuation stands alone"
        assert tokeniser.detokenise(tokens) == sentence


@pytest.mark.parametrize("language", SENTENCES)
def test_nothing_but_spaces_and_first_letters_changes_in_any_text(language, truecaser):
    random_text = random.Random(language)
    for kind in KINDS if language not in INDIC_LANGUAGES else ("indic", "indic_joined"):  # Devanagari: below
        if kind.startswith("indic") and language not in INDIC_LANGUAGES:
            continue
        tokeniser = load_tokeniser(kind, language, truecaser)
        for _ in range(40):
            sentence = "".join(random_text.choices(TRICKY, k=random_text.randrange(25)))
            expected, tokens = tokeniser.normalise(sentence), tokeniser.tokenise(sentence)
            back = tokeniser.detokenise(tokens)
            assert tokens == " ".join(tokens.split()) and back == " ".join(back.split())
            if needs_truecaser(kind):
                assert unspaced(back).lower() == unspaced(expected).lower()
            elif kind.endswith("_joined"):
                assert back == expected
            else:
                assert unspaced(back) == unspaced(expected)
            tokeniser.detokenise(sentence)  # a model may write anything


def test_no_character_is_taken_for_an_escape():
    tokeniser = load_tokeniser("moses", "en")
    sentence = 'If x < 3 & y > 2, [the | bar] isn\'t "&lt;" or &#124;.'
    assert "&" in tokeniser.tokenise(sentence).split()
    assert "&lt;" not in tokeniser.tokenise("a < b") and "<" in tokeniser.tokenise("a < b").split()
    assert unspaced(tokeniser.detokenise(tokeniser.tokenise(sentence))) == unspaced(sentence)
    assert tokeniser.detokenise("&lt; &gt; &amp;") == "&lt; &gt; &amp;"


def test_normalisation_is_of_spelling_only():
    tokeniser = load_tokeniser("moses", "de")
    assert (
        tokeniser.normalise("  „So“,\u00a0 sagte  er – 10\u00a0000-mal … ")
        == '"So", sagte er - 10 000-mal ...'
    )
    assert tokeniser.normalise('Er sagte "ja". Und "nein," dann.') == 'Er sagte "ja". Und "nein," dann.'


def test_no_sentence_becomes_empty():
    tokeniser = load_tokeniser("indic", "bn")
    assert tokeniser.detokenise(tokeniser.tokenise(" \u200d ")) == "\u200d"


def test_raw_words_stay():
    tokeniser = load_tokeniser("raw", "en")
    assert (
        tokeniser.tokenise("“Well,” she  said")
        == tokeniser.detokenise("“Well,” she said")
        == "“Well,” she said"
    )


def test_numbers_stay_whole():
    assert load_tokeniser("indic", "hi").tokenise("1,200 या 3, 4 (5.5)") == "1,200 या 3 , 4 ( 5.5 )"
    assert load_tokeniser("moses", "de").tokenise("1,200 oder 3, 4 (5.5)") == "1,200 oder 3 , 4 ( 5.5 )"


def test_french_has_its_spaces_before_punctuation():
    tokeniser = load_tokeniser("moses", "fr")
    assert (
        tokeniser.detokenise(tokeniser.tokenise("Ça va\u00a0? Oui\u00a0; 50\u00a0%."))
        == "Ça va ? Oui ; 50 %."
    )


@pytest.mark.parametrize(
    "language, word",
    [("th", "เชื่อว่า"), ("my", "ကျွန်ုပ်"), ("km", "ផ្សារ"), ("fa", "می‌خواهم"), ("yo", "fẹ́ràn"), ("ru", "за́мок")],
)
def test_no_word_is_cut_at_a_combining_mark(language, word):
    tokeniser = load_tokeniser("moses", language)
    assert tokeniser.tokenise(f"({word}, {word})") == f"( {word} , {word} )"


def test_a_mark_that_is_not_of_a_letter_stays_alone_as_in_moses():
    assert load_tokeniser("moses", "en").tokenise("a❤\ufe0fb") == "a ❤ \ufe0f b"


def test_hyphenated_words_stay_whole():
    assert load_tokeniser("moses", "en").tokenise("A well-known e-mail.") == "A well-known e-mail ."


def test_a_language_without_rules_has_those_of_english():
    sentence = "Mr. Jensen kom, sagde Dr. Olsen."
    assert load_tokeniser("moses", "da").tokenise(sentence) == load_tokeniser("moses", "en").tokenise(
        sentence
    )


def test_vowel_of_odia_composes_to_a_letter_that_exists():
    assert IndicRules("or").normalise("ବ\u0b47\u0b56ଦ") == "ବୈଦ"


def test_words_of_the_library_that_stand_for_punctuation_survive():
    assert MosesRules("en").split("the DOTMULTI sign") == ["the", "DOTMULTI", "sign"]
    assert MosesRules("cs").join("x' - li".split()) == "x' - li"


# Marks


def test_marks_tell_where_no_space_was():
    tokeniser = load_tokeniser("moses_joined", "en")
    tokens = tokeniser.tokenise('Is " it"F.A.O.?')
    assert tokens.replace("\uffed", "") == load_tokeniser("moses", "en").tokenise('Is " it"F.A.O.?')
    assert tokeniser.detokenise(tokens) == 'Is " it"F.A.O.?'
    assert tokeniser.detokenise("\uffedHi \uffed \uffed, you\uffed") == "Hi, you"


def test_marks_do_not_hide_a_word_from_the_truecaser(truecaser):
    marked = load_tokeniser("moses_truecase_joined", "en", truecaser)
    assert marked.tokenise('"The kind." The') == '" \uffedthe kind \uffed. \uffed" the'
    assert marked.detokenise(marked.tokenise('"The kind." The')) == '"The kind." The'


# Kinds


def test_settings():
    assert kind_of("moses", "hi") == "moses"
    assert [kind_of("by_script", code) for code in ("hi", "en")] == ["indic", "moses_truecase"]
    assert [kind_of("by_script_joined", code) for code in ("or", "it")] == [
        "indic_joined",
        "moses_truecase_joined",
    ]
    setting = "by_script en=moses hi=raw"
    assert [kind_of(setting, code) for code in ("en", "hi", "de", "te")] == [
        "moses",
        "raw",
        "moses_truecase",
        "indic",
    ]
    assert kind_of("raw de=by_script", "de") == "moses_truecase"


@pytest.mark.parametrize(
    "setting, message",
    [
        ("mose", "no tokenisation 'mose'; choose raw, moses,.* by_script"),
        ("", "no tokenisation ''"),
        ("moses en=mose", "no tokenisation 'mose'"),
        ("moses en", "'en' in 'moses en' is not an exception"),
        ("moses en=raw en=moses", "'en=moses' in .* a language once"),
        ("moses e-n=raw", "'e-n' is not a language code"),
        ("moses ne=raw", "'ne=raw' in .* is for none of en, de"),
    ],
)
def test_mistakes_in_settings(setting, message):
    with pytest.raises(InputError, match=message):
        kind_of(setting, "en", ["en", "de"])


def test_mistakes_in_kinds(tmp_path):
    with pytest.raises(InputError, match="no tokenisation 'by_script'"):
        load_tokeniser("by_script", "en")
    with pytest.raises(InputError, match="IndicNLP is not for 'de' but for bn, .*; choose another kind"):
        load_tokeniser("indic", "de")
    with pytest.raises(InputError, match="'moses_truecase' of de needs a truecaser; train one"):
        load_tokeniser("moses_truecase", "de")
    with pytest.raises(InputError, match="truecaser.de: there is no such file"):
        load_tokeniser("moses_truecase", "de", tmp_path / "truecaser.de")


@pytest.mark.parametrize("kind, language", [("moses_truecase", "cs"), ("indic_joined", "ml"), ("raw", "en")])
def test_a_tokeniser_can_be_pickled(kind, language, truecaser):
    tokeniser = load_tokeniser(kind, language, truecaser)
    copy = pickle.loads(pickle.dumps(tokeniser))
    for sentence in SENTENCES[language]:
        assert copy.tokenise(sentence) == tokeniser.tokenise(sentence)
        assert copy.detokenise(copy.tokenise(sentence)) == tokeniser.detokenise(tokeniser.tokenise(sentence))


# Punctuation as it is spelt


@pytest.mark.parametrize("kind", ["moses_as_spelt", "moses_as_spelt_joined", "moses_truecase_as_spelt"])
def test_punctuation_keeps_its_spelling(kind, truecaser):
    tokeniser = load_tokeniser(kind, "de", truecaser)
    sentence = "Er sagte: „Schön – oder…“, nicht wahr’s?"
    assert tokeniser.normalise(f" {sentence}  ") == sentence
    assert load_tokeniser("moses", "de").normalise(sentence) != sentence
    tokens = tokeniser.tokenise(sentence)
    assert {"„", "“"} <= {token.strip("\uffed") for token in tokens.split()}
    assert unspaced(tokeniser.detokenise(tokens)) == unspaced(sentence)


def test_a_truecaser_learns_from_the_tokens_of_its_kind():
    assert kind_before_truecasing("moses_truecase_as_spelt_joined") == "moses_as_spelt"
    assert kind_before_truecasing("moses_truecase_joined") == kind_before_truecasing("moses") == "moses"
    assert kind_of("by_script_as_spelt", "de") == "moses_truecase_as_spelt"
    assert kind_of("by_script_as_spelt_joined", "hi") == "indic_joined"


def test_an_indic_language_is_known_by_each_of_its_codes_in_its_own_script():
    sentence, *_ = SENTENCES["or"]
    for code in ("ory", "ori_Orya", "or_IN", "or_Orya_IN"):
        assert kind_of("by_script", code) == "indic"
        for kind in ("indic", "indic_devanagari"):
            tokens = load_tokeniser(kind, "or").tokenise(sentence)
            assert load_tokeniser(kind, code).tokenise(sentence) == tokens != sentence
            assert load_tokeniser(kind, code).detokenise(tokens) == sentence
    for code in ("hin_Latn", "pan_Arab", "mar_Latn_IN", "mai", "eng_Latn"):
        assert kind_of("by_script", code) == "moses_truecase"
        with pytest.raises(InputError, match=f"IndicNLP is not for '{code}' but for bn, gu"):
            load_tokeniser("indic", code)


# Devanagari

SCRIPTS = {language: SENTENCES[language] for language in INDIC_LANGUAGES}


@pytest.mark.parametrize("language", SCRIPTS)
@pytest.mark.parametrize("kind", ["indic_devanagari", "indic_devanagari_joined"])
def test_indic_text_is_devanagari_in_between_and_comes_back(language, kind):
    plain, tokeniser = (load_tokeniser(name, language) for name in (kind.replace("_devanagari", ""), kind))
    for sentence in SCRIPTS[language]:
        tokens = tokeniser.tokenise(sentence)
        letters = [character for character in tokens if character.isalpha() and not character.isascii()]
        shares = [unicodedata.name(letter).startswith("DEVANAGARI") for letter in letters]
        assert sum(shares) > 0.9 * len(shares) and len(tokens) == len(plain.tokenise(sentence))
        assert tokeniser.detokenise(tokens) == sentence
    if language in ("hi", "mr"):
        assert tokeniser.tokenise(sentence) == plain.tokenise(sentence)


@pytest.mark.parametrize("language", INDIC_LANGUAGES)
def test_every_letter_of_a_script_comes_back(language):
    there, back = to_devanagari(language), from_devanagari(language)
    assert len({*there.values()}) == len(there) == (0 if language in ("hi", "mr") else len(back))
    first, last = SCRIPT_RANGES[language]
    script = "".join(map(chr, range(first, last + 1)))
    assert script.translate(there).translate(back) == script
    assert "।॥".translate(there) == "।॥".translate(back) == "।॥"
    assert "abc 123 é".translate(there) == "abc 123 é".translate(back) == "abc 123 é"


def test_words_of_one_sound_are_spelt_alike():
    """Namaskār, in five scripts."""
    words = {"hi": "नमस्कार", "bn": "নমস্কার", "gu": "નમસ્કાર", "te": "నమస్కార", "kn": "ನಮಸ್ಕಾರ"}
    assert {word.translate(to_devanagari(language)) for language, word in words.items()} == {words["hi"]}


def test_what_was_devanagari_in_another_script_comes_back_in_that_one():
    tokeniser = load_tokeniser("indic_devanagari", "bn")
    assert tokeniser.detokenise(tokeniser.tokenise("নাম राम")) == "নাম রাম"


def test_what_has_no_counterpart_stays():
    tippi, chillu, unassigned = "\u0a70", "\u0d7b", "\u0934"
    assert tippi.translate(to_devanagari("pa")) == tippi and chillu.translate(to_devanagari("ml")) == chillu
    assert unassigned.translate(from_devanagari("pa")) == unassigned  # Gurmukhi has no LLLA


def test_only_indic_languages_change_script():
    assert (
        devanagari_kind("indic_joined")
        == "indic_devanagari_joined"
        == devanagari_kind("indic_devanagari_joined")
    )
    assert devanagari_kind("moses_truecase") == "moses_truecase"
    with pytest.raises(InputError, match="IndicNLP is not for 'de'"):
        load_tokeniser("indic_devanagari", "de")
