"""The release of FLORES-200, in small: test sets of any of its languages, line by line as they are."""

from pathlib import Path

import pytest

from tests.conftest import run_command
from zsnmt.corpora.releases.catalogue import CATALOGUE
from zsnmt.corpora.releases.fetch import choose
from zsnmt.corpora.releases.flores import read_release
from zsnmt.errors import InputError
from zsnmt.text.lines import read_lines, write_lines

CODES = "eng_Latn deu_Latn nob_Latn lvs_Latn arb_Arab arb_Latn zho_Hans zho_Hant kas_Arab kas_Deva".split()
SIZES = {"dev": 3, "devtest": 5}


def sentences(name: str, code: str) -> list[str]:
    return [f"A sentence of {name} in {code}, {line}." for line in range(SIZES[name])]


@pytest.fixture
def release(tmp_path) -> Path:
    release = tmp_path / "release"
    for name in SIZES:
        (folder := release / "flores200_dataset" / name).mkdir(parents=True)
        for code in CODES:
            write_lines(folder / f"{code}.{name}", sentences(name, code))
    return release


@pytest.mark.parametrize(
    "languages, codes",
    [
        ("en de no", "eng_Latn deu_Latn nob_Latn"),
        ("eng deu lvs", "eng_Latn deu_Latn lvs_Latn"),
        ("en ar zh zho_Hant kas_Deva", "eng_Latn arb_Arab zho_Hans zho_Hant kas_Deva"),
        ("en ar_Latn zh_Hans zh_Hant", "eng_Latn arb_Latn zho_Hans zho_Hant"),
    ],
)
def test_a_language_may_have_any_of_its_codes(release, tmp_path, languages, codes):
    languages, codes = languages.split(), codes.split()
    (text := tmp_path / "text").mkdir()
    counts = read_release(release, text, languages)
    number = len(languages) * (len(languages) - 1) // 2
    assert {split: [*found.values()] for split, found in counts.items()} == {
        "valid": [SIZES["dev"]] * number,
        "test": [SIZES["devtest"]] * number,
    }
    for split, name in (("valid", "dev"), ("test", "devtest")):
        for language, code in zip(languages, codes, strict=True):
            assert read_lines(text / f"{split}.{language}") == sentences(name, code)
    assert len([*text.iterdir()]) == 2 * len(languages), "there is no training text"


@pytest.mark.parametrize(
    "languages, message",
    [
        ("en kas", "FLORES has 'kas' in several scripts; give kas_Arab or kas_Deva"),
        ("en de deu_Latn", "de and deu_Latn are the same language to FLORES; leave one of them out"),
        ("en zh_Hant zho_Hant", "zh_Hant and zho_Hant are the same language to FLORES"),
        ("en qq", "'qq' is not a code of two letters known here"),
        ("en tlh", r"lack tlh_Latn.dev, tlh_Latn.devtest; get the release with zsnmt fetch flores"),
        ("en de", "files that differ in their number of lines .eng_Latn.dev 3, deu_Latn.dev 2."),
    ],
)
def test_what_cannot_be_read_is_said_in_one_sentence(release, tmp_path, languages, message):
    if languages == "en de":
        write_lines(release / "flores200_dataset" / "dev" / "deu_Latn.dev", ["Zwei.", "Zeilen."])
    with pytest.raises(InputError, match=message):
        read_release(release, tmp_path / "text", languages.split())


def test_one_file_has_all_languages():
    corpus = CATALOGUE["flores"]
    assert choose(corpus, ["en", "any"]) == choose(corpus, None) == [*corpus.parts]
    assert all(part.files[0].size and part.files[0].sha256 for part in corpus.parts)


def test_the_command_makes_a_folder_to_score_on(release, tmp_path):
    done = run_command(
        "scripts/import_corpus.py", "flores", release, tmp_path / "text", "--languages", "en", "de"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "valid\ten-de\t3\ntest\ten-de\t5\n"
