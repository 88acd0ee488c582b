"""FLORES-200 (NLLB Team 2022): 2,009 sentences in 204 languages, to score translations on.

The release has `dev/{code}.dev` and `devtest/{code}.devtest`; a code is that of ISO 639-3 and of a script,
such as `deu_Latn`. Line n is the same sentence in all languages. `dev` becomes the validation set, `devtest`
the test set; there is no training text.
"""

from collections.abc import Collection, Sequence
from itertools import combinations
from pathlib import Path

from zsnmt.corpora.parallel_text import SPLITS, check_corpus, write_rows
from zsnmt.corpora.releases.release import clean_rows, find_files, index_files, read_multiway_rows
from zsnmt.errors import InputError
from zsnmt.languages import check_languages
from zsnmt.text.iso_639 import three_letters

HELD_OUT = SPLITS[1:]
NAMES = dict(zip(HELD_OUT, ("dev", "devtest")))
# What the release has of macrolanguages, and the script that is meant where it has a language in several.
MEMBERS = dict(
    pair.split(":") for pair in "ara:arb aze:azj mon:khk ori:ory sqi:als uzb:uzn yid:ydd cmn:zho".split()
)
SCRIPTS = {"arb": "Arab", "zho": "Hans"}


def read_release(release: Path, target: Path, languages: Sequence[str]) -> dict[str, dict[str, int]]:
    """Write validation and test sets into `target`; returns sentence pairs by split and pair.

    `languages`: the pivot first, as codes of two letters (ISO 639-1) or of three, with the script, such as
    `zh_Hant` and the release's own `zho_Hant`, or without. Raises `InputError` for a language that the
    release has not, or has in several scripts, for two codes of one, and for files that differ in their
    number of lines.
    """
    names = index_files(release)
    codes = {language: code_of(language, names) for language in check_languages(languages)}
    for one, other in combinations(languages, 2):
        if codes[one] == codes[other]:
            raise InputError(f"{one} and {other} are the same language to FLORES; leave one of them out")
    wanted = [[[f"{code}.{name}" for code in codes.values()]] for name in NAMES.values()]
    for split, files in zip(HELD_OUT, find_files(release, wanted, "flores")):
        write_rows(target, split, languages, rows=clean_rows(read_multiway_rows(files), split))
    return check_corpus(target, [*combinations(languages, 2)], HELD_OUT)


def code_of(language: str, names: Collection[str]) -> str:
    """The release's code of a language, whose files are among the names; `InputError` where it has it in
    several scripts.
    """
    code, _, script = language.partition("_")
    three = three_letters(code)
    three = MEMBERS.get(three, three)
    if script:
        return f"{three}_{script}"
    if three in SCRIPTS:
        return f"{three}_{SCRIPTS[three]}"
    ending = f".{NAMES['test']}"
    found = sorted(
        name.removesuffix(ending) for name in names if name.startswith(f"{three}_") and name.endswith(ending)
    )
    if len(found) > 1:
        raise InputError(f"FLORES has '{language}' in several scripts; give {' or '.join(found)}")
    return found[0] if found else f"{three}_Latn"  # which is then missing
