"""Binarised data for a new language: what was there keeps every byte and every id."""

import shutil
from collections import Counter

import pytest
from fairseq.data import Dictionary

from tests.adaptation.conftest import FIRST, KNOWN, LANGUAGES, NEW, PIVOT, SECOND
from tests.training.test_binarised import contents
from zsnmt.adaptation.data import extend_data, extend_piece_counts
from zsnmt.data.binarised_folder import shards_of
from zsnmt.data.reading import load_dictionary
from zsnmt.errors import InputError
from zsnmt.languages import language_tag, read_languages
from zsnmt.text.lines import read_lines, write_lines
from zsnmt.text.piece_counts import PIECE_COUNTS_FILE, read_piece_counts, write_piece_counts
from zsnmt.text.pipeline import TextPipeline
from zsnmt.text.settings import TextSettings
from zsnmt.training.binarised import prepare

OWN = TextSettings(vocabulary_size=150)


@pytest.fixture(scope="module")
def extended(corpus, base):
    extend_data(corpus, corpus.with_name("extended"), base, [NEW], OWN)
    return corpus.with_name("extended")


@pytest.fixture
def own_text(corpus, tmp_path):
    """A copy of the text that a test may change."""
    return shutil.copytree(corpus, tmp_path / "text")


def symbols(folder) -> list[str]:
    return Dictionary.load(str(folder / f"dict.{PIVOT}.txt")).symbols


def test_shards_change_nothing_but_where_training_text_lies(corpus, base, extended, tmp_path):
    extend_data(corpus, tmp_path / "data", base, [NEW], OWN, shards=2)
    first, second = map(contents, shards_of(tmp_path / "data"))
    whole = contents(extended)
    assert {name for name in whole if first[name] != whole[name]} == second.keys()
    assert second.keys() == {name for name in whole if name.startswith("train.")}
    with pytest.raises(InputError, match=r"train\.\S+ has \d+ lines, and each of 9999 shards needs one"):
        extend_data(corpus, tmp_path / "data", base, [NEW], OWN, shards=9999)


def test_all_that_was_there_stays_byte_for_byte(base, extended):
    old, new = contents(base), contents(extended)
    for name in old.keys() - {"languages.txt", "pipeline.json", PIECE_COUNTS_FILE}:
        if name.startswith("dict."):
            assert new[name].startswith(old[name]) and len(new[name]) > len(old[name])
        else:
            assert new[name] == old[name], name
    assert read_languages(extended) == [*KNOWN, NEW]
    assert symbols(extended)[: len(symbols(base))] == symbols(base)


def test_pieces_of_old_languages_count_as_before_though_the_new_text_lacks_them(base, extended):
    old, new = read_piece_counts(base), read_piece_counts(extended)
    assert [*new] == [*KNOWN, NEW] and new[NEW]
    for language in KNOWN:
        assert new[language] >= old[language]


def test_what_was_counted_of_an_older_run_is_kept(tmp_path, extended):
    """`zsnmt count-pieces` writes into the run, and not into its pipeline."""
    pipeline, data = tmp_path / "run" / "pipeline", tmp_path / "data"
    pipeline.mkdir(parents=True)
    data.mkdir()
    write_piece_counts(pipeline.parent, {KNOWN[0]: Counter(a=5)})
    extend_piece_counts(pipeline, data, load_dictionary(extended / f"dict.{PIVOT}.txt"), [KNOWN[0]])
    assert read_piece_counts(data) == {KNOWN[0]: Counter(a=5)}


def test_the_tag_comes_first_then_the_types_that_were_not_there(corpus, base, extended):
    added = symbols(extended)[len(symbols(base)) :]
    assert added[0] == language_tag(NEW)
    pipeline = TextPipeline.load(extended)
    pieces = {
        piece
        for line in read_lines(corpus / f"train.{NEW}-{PIVOT}.{NEW}")
        for piece in pipeline.encode(line, NEW)
    }
    assert {*added[1:]} == pieces - {*symbols(base)}
    assert pieces & {*symbols(base)}, "types of both keep their old id"


def test_old_languages_are_read_as_before_and_the_new_one_by_its_own_model(corpus, base, extended):
    old, new = TextPipeline.load(base), TextPipeline.load(extended)
    for language in KNOWN:
        for line in read_lines(corpus / f"test.{language}"):
            assert new.encode(line, language) == old.encode(line, language)
    lines = read_lines(corpus / f"train.{NEW}-{PIVOT}.{NEW}")
    assert (
        sum(map(len, new.segment(lines, NEW))) < sum(map(len, old.segment(lines, NEW))) and new.needs_language
    )
    for line in read_lines(corpus / f"test.{NEW}"):
        assert new.decode(new.encode(line, NEW), NEW) == line


def test_another_language_joins_after_the_first(corpus, extended, tmp_path):
    text = tmp_path / "text"
    text.mkdir()
    for split in ("train", "valid", "test"):
        for side, name in (("other", NEW), (PIVOT, PIVOT)):
            shutil.copy(
                corpus / (f"train.{NEW}-{PIVOT}.{name}" if split == "train" else f"{split}.{name}"),
                text / f"{split}.other-{PIVOT}.{side}",
            )
    extend_data(text, tmp_path / "twice", extended, ["other"], TextSettings(vocabulary_size=100))
    assert read_languages(tmp_path / "twice") == [*LANGUAGES, "other"]
    assert symbols(tmp_path / "twice")[: len(symbols(extended))] == symbols(extended)
    once, twice = TextPipeline.load(extended), TextPipeline.load(tmp_path / "twice")
    assert [*twice.own_units] == [NEW, "other"] and twice.own_units[NEW].model == once.own_units[NEW].model


def test_the_threshold_bounds_what_the_new_language_uses(corpus, base, tmp_path):
    extend_data(corpus, tmp_path / "all", base, [NEW], OWN)
    extend_data(corpus, tmp_path / "frequent", base, [NEW], TextSettings(vocabulary_size=150, threshold=25))
    assert len(symbols(tmp_path / "frequent")) < len(symbols(tmp_path / "all"))


def test_words_join_words(corpus, tmp_path):
    words = TextSettings(vocabulary_size=1000, model_type="word")
    prepare(corpus, tmp_path / "base", KNOWN, words)
    extend_data(corpus, tmp_path / "extended", tmp_path / "base", [NEW], words, unknown_bound=1)
    added = symbols(tmp_path / "extended")[len(symbols(tmp_path / "base")) :]
    spoken = {word for line in read_lines(corpus / f"train.{NEW}-{PIVOT}.{NEW}") for word in line.split()}
    assert added[0] == language_tag(NEW) and {*added[1:]} == spoken - {*symbols(tmp_path / "base")}
    with pytest.raises(InputError, match="reads words, and the new language was to have 'bpe'; choose word"):
        extend_data(corpus, tmp_path / "other", tmp_path / "base", [NEW], OWN)


def test_another_script_is_shown_and_refused_above_the_bound(base, own_text, tmp_path):
    shares = extend_data(own_text, tmp_path / "data", base, [NEW], OWN)
    assert {f"test.{NEW}", f"train.{NEW}-{PIVOT}.{PIVOT}"} <= shares.keys() and max(shares.values()) <= 0.01
    before = contents(tmp_path / "data")
    lines = read_lines(own_text / f"test.{NEW}")
    write_lines(own_text / f"test.{NEW}", [lines[0], "жюри щедро", *lines[2:]])
    with pytest.raises(
        InputError,
        match=rf"test\.{NEW}: .* % of its pieces are unknown to the model in {NEW}, as '.*ж?' in line 2, "
        r".*--allow-unknown",
    ):
        extend_data(own_text, tmp_path / "data", base, [NEW], OWN)
    assert contents(tmp_path / "data") == before and not [*tmp_path.glob("*.part")]
    allowed = extend_data(own_text, tmp_path / "data", base, [NEW], OWN, unknown_bound=0.5)
    assert 0.01 < allowed[f"test.{NEW}"] < 0.5


def test_a_language_that_is_there_is_refused(corpus, base, tmp_path):
    with pytest.raises(InputError, match=f"knows {SECOND} already; name languages that it lacks"):
        extend_data(corpus, tmp_path / "data", base, [SECOND, NEW], OWN)
    assert not (tmp_path / "data").exists()


def test_a_tokenisation_may_name_known_languages(corpus, base, tmp_path):
    settings = TextSettings(vocabulary_size=150, tokenisation=f"moses {PIVOT}=raw {FIRST}=raw")
    extend_data(corpus, tmp_path / "data", base, [NEW], settings)
    assert TextPipeline.load(tmp_path / "data").kinds == {**dict.fromkeys(KNOWN, "raw"), NEW: "moses"}
