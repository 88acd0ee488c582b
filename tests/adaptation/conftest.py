"""A synthetic corpus of four languages: three that a model knows, and one that joins."""

import shutil
from pathlib import Path

import pytest

from zsnmt.corpora.invented.corpus import SyntheticCorpus, write_corpus
from zsnmt.corpora.invented.languages import standard_languages
from zsnmt.text.settings import TextSettings
from zsnmt.training.binarised import prepare

PIVOT, FIRST, SECOND, NEW = LANGUAGES = ["inglan", "velan", "tamun", "velor"]
KNOWN = LANGUAGES[:3]
PAIRS, VALID, TEST = 211, 7, 9
SETTINGS = TextSettings(vocabulary_size=200)


@pytest.fixture(scope="session")
def corpus(tmp_path_factory) -> Path:
    """Parallel text of all four languages."""
    folder = tmp_path_factory.mktemp("adaptation") / "text"
    write_corpus(
        SyntheticCorpus(standard_languages(3), concepts=60, pairs=PAIRS, valid=VALID, test=TEST), folder
    )
    return folder


def only(corpus: Path, folder: Path, *languages: str) -> Path:
    """The text of some of a corpus's languages."""
    folder.mkdir()
    for path in corpus.iterdir():
        kind, _, language = path.name.partition(".")
        if {*language.replace("-", ".").split(".")} <= {*languages} and kind in ("train", "valid", "test"):
            shutil.copy(path, folder)
    return folder


@pytest.fixture(scope="session")
def base(corpus) -> Path:
    """The binarised data of the three known languages, which hold a pipeline."""
    prepare(corpus, corpus.with_name("base"), KNOWN, SETTINGS)
    return corpus.with_name("base")
