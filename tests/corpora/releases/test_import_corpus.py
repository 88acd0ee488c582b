"""`zsnmt import-corpus`: a release in, a folder of parallel text out, or one sentence and nothing."""

from pathlib import Path

import pytest

from tests.conftest import ROOT, run_command
from zsnmt.corpora.releases.multi30k import read_release
from zsnmt.text.lines import write_lines

SCRIPT = ROOT / "scripts/import_corpus.py"
TEXT = {
    "en": "A man with a red hat is sitting on the bench in the park.",
    "de": "Ein Mann mit einem roten Hut sitzt auf der Bank im Park.",
    "fr": "Un homme avec un chapeau rouge est assis sur le banc dans le parc.",
}


@pytest.fixture
def release(tmp_path) -> Path:
    (release := tmp_path / "release").mkdir()
    for name, size in (("train", 9), ("val", 2), ("test_2016_flickr", 3)):
        for language, sentence in TEXT.items():
            write_lines(release / f"{name}.{language}", [f"{sentence} {name} {line}" for line in range(size)])
    return release


def import_corpus(release: Path, *options, folder: str = "text", corpus: str = "multi30k"):
    return run_command(SCRIPT, corpus, release, release.parent / folder, "--languages", *TEXT, *options)


@pytest.mark.slow
def test_the_folder_and_the_printed_counts_are_those_of_the_reader(release, tmp_path):
    for number, settings in enumerate([{}, {"condition": "non_overlap", "seed": 5}]):
        options = [word for name, value in settings.items() for word in (f"--{name}", value)]
        done = import_corpus(release, *options, folder=f"text{number}")
        assert done.returncode == 0 and not done.stderr, done.stderr
        (expected := tmp_path / f"expected{number}").mkdir()
        counts = read_release(release, expected, list(TEXT), **settings)
        assert done.stdout == "".join(
            f"{s}\t{p}\t{n}\n" for s, pairs in counts.items() for p, n in pairs.items()
        )
        for path in expected.iterdir():
            assert path.read_bytes() == (tmp_path / f"text{number}" / path.name).read_bytes()
    assert not [*tmp_path.glob("*.part")]


@pytest.mark.slow
def test_what_is_left_out_and_text_in_another_language_is_said(release):
    write_lines(release / "train.de", [TEXT["fr"]] * 8 + ["\u2028"])
    done = import_corpus(release)
    assert done.returncode == 0
    repaired, left_out, *warnings = done.stderr.splitlines()
    assert repaired == "train.de: lines with control characters, which become spaces: 1"
    assert left_out == "train: lines with an empty sentence, left out: 1"
    assert warnings == [
        "warning: only 0% of the lines of train.de-en.de are in the language of its name, "
        "and most look like fr"
    ]
    assert "train\tde-en\t8\n" in done.stdout


def test_what_is_there_is_left_alone(release, tmp_path):
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "mine").write_text("mine")
    done = import_corpus(release)
    assert done.returncode == 1 and "text is there already; remove it or give another folder" in done.stderr
    assert [path.name for path in (tmp_path / "text").iterdir()] == ["mine"]


@pytest.mark.parametrize("corpus", ["multi30k", "iwslt17", "pmindia"])
def test_a_failure_is_one_line_and_leaves_nothing(release, tmp_path, corpus):
    (release / "val.fr").unlink()
    done = import_corpus(release, corpus=corpus)
    assert done.returncode == 1 and done.stderr.startswith("error: ") and done.stderr.count("\n") == 1
    assert f"get the release with zsnmt fetch {corpus}" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["release"] and not done.stdout


def test_a_corpus_has_only_the_settings_that_it_reads(release):
    done = import_corpus(release, "--held-out", "5", corpus="iwslt17")
    assert done.returncode == 2 and "unrecognized arguments: --held-out 5" in done.stderr
