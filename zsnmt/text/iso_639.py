"""Codes of languages: three letters (ISO 639-3) for two (ISO 639-1), and two for what corpora write.

Of a macrolanguage, such as Chinese, the code is that of the language which corpora mean by it.
"""

import re

from zsnmt.errors import InputError

SCRIPT = re.compile("_([A-Z][a-z]{3})(?:_|$)")  # in the code of a language
CODES = (
    "af:afr ar:ara az:aze be:bel bg:bul bn:ben br:bre bs:bos ca:cat cs:ces cy:cym da:dan de:deu el:ell "
    "en:eng eo:epo es:spa et:est eu:eus fa:pes fi:fin fo:fao fr:fra fy:fry ga:gle gd:gla gl:glg gu:guj "
    "he:heb hi:hin hr:hrv hu:hun hy:hye ia:ina id:ind ie:ile io:ido is:isl it:ita ja:jpn jv:jav ka:kat "
    "kk:kaz km:khm kn:kan ko:kor ku:kmr kw:cor ky:kir la:lat lb:ltz lo:lao lt:lit lv:lvs mi:mri mk:mkd "
    "ml:mal mn:mon mr:mar ms:zsm mt:mlt my:mya nb:nob ne:npi nl:nld nn:nno no:nob oc:oci or:ori pa:pan "
    "pl:pol pt:por rm:roh ro:ron ru:rus sa:san sc:srd sd:snd si:sin sk:slk sl:slv so:som sq:sqi sr:srp "
    "sv:swe sw:swh ta:tam te:tel tg:tgk th:tha tk:tuk tl:tgl tr:tur tt:tat ug:uig uk:ukr ur:urd uz:uzb "
    "vi:vie vo:vol wo:wol xh:xho yi:yid yo:yor zh:cmn zu:zul"
)
OTHERS = (  # of macrolanguages, of what corpora mean by them, and of libraries (ISO 639-2/B)
    "alb:sq als:sq arb:ar arm:hy azj:az baq:eu bur:my chi:zh cze:cs dut:nl ekk:et fas:fa fil:tl fre:fr "
    "geo:ka ger:de gre:el ice:is khk:mn kur:ku lav:lv mac:mk mao:mi may:ms msa:ms nep:ne nor:no ory:or "
    "per:fa rum:ro slo:sk swa:sw tgl:tl uzn:uz wel:cy ydd:yi zho:zh"
)
FORMER = {"in": "id", "iw": "he", "ji": "yi"}  # codes of ISO 639:1988 for those of today
THREE_LETTERS = dict(code.split(":") for code in CODES.split())
TWO_LETTERS = {three: two for two, three in reversed(THREE_LETTERS.items())} | dict(
    code.split(":") for code in OTHERS.split()
)


def three_letters(language: str) -> str:
    """The code of three letters; raises `InputError` for a code of two that is not in the table."""
    if len(language) == 3:
        return language
    if language not in THREE_LETTERS:
        raise InputError(
            f"'{language}' is not a code of two letters known here; give that of three letters (ISO 639-3)"
        )
    return THREE_LETTERS[language]


def two_letters(language: str) -> str:
    """The code by which other programs know a language, without country or script: `de` for `deu` and
    `de_CH`; that itself where it has none of two letters that is known here.
    """
    code = language.partition("_")[0].lower()
    return TWO_LETTERS.get(code, FORMER.get(code, code))


def script_of(language: str) -> str | None:
    """The script (ISO 15924) that the code of a language names, as `hin_Deva` does."""
    found = SCRIPT.search(language)
    return found[1] if found else None
