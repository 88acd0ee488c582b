"""From raw text to pieces and back, as a run keeps it: tokenisation, units, marks; what learning leaves."""

import json
import pickle
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from fairseq.data import Dictionary, data_utils

from zsnmt.cli import prepare as prepare_command
from zsnmt.errors import InputError
from zsnmt.languages import language_tag
from zsnmt.text.learning import learn_tokenisation
from zsnmt.text.lines import read_lines, write_lines
from zsnmt.text.pipeline import TextPipeline
from zsnmt.text.settings import TextSettings
from zsnmt.text.transliteration import from_devanagari
from zsnmt.text.words import Words
from zsnmt.training.binarised import prepare

LANGUAGES = ["en", "de", "hi"]
SENTENCES = {
    "en": [
        "The dog's bone isn't old.",
        "Anna saw the dog (twice).",
        'We say "yes" & mean it: 3 < 5.',
        "Then the dog saw Anna.",
    ],
    "de": [
        "Der Hund sieht den alten Knochen.",
        "Anna sah den Hund (zweimal).",
        "Wir sagen ja & meinen es: 3 < 5.",
        "Dann sah der Hund Anna.",
    ],
    "hi": [
        "कुत्ते की हड्डी पुरानी नहीं है।",
        "अन्ना ने कुत्ते को देखा (दो बार)।",
        "हम हाँ कहते हैं, और मानते हैं।",
        "फिर कुत्ते ने अन्ना को देखा।",
    ],
}
TOKENISED = TextSettings(vocabulary_size=220, tokenisation="by_script")


@pytest.fixture(scope="module")
def text(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("text")
    for language in LANGUAGES[1:]:
        for side in (language, "en"):
            write_lines(folder / f"train.{language}-en.{side}", SENTENCES[side] * 3)
    for language in LANGUAGES:
        write_lines(folder / f"test.{language}", SENTENCES[language])
    return folder


@pytest.fixture(scope="module")
def prepared(text, tmp_path_factory):
    """Makes the data of some settings, once."""
    made = {}

    def of(settings: TextSettings) -> Path:
        if settings not in made:
            made[settings] = tmp_path_factory.mktemp("data") / "data"
            prepare(text, made[settings], LANGUAGES, settings, workers=2)
        return made[settings]

    return of


def pieces_of(folder: Path, name: str) -> list[list[str]]:
    """The pieces of each sentence of a binarised file, EOS left out."""
    dictionary = Dictionary.load(str(folder / "dict.en.txt"))
    return [
        [dictionary[token] for token in ids][:-1]
        for ids in data_utils.load_indexed_dataset(str(folder / name), dictionary)
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        TextSettings(vocabulary_size=220),
        TOKENISED,
        TextSettings(vocabulary_size=220, tokenisation="by_script_joined en=moses"),
        TextSettings(vocabulary_size=220, tokenisation="by_script", mark_tokens=True),
        TextSettings(vocabulary_size=220, tokenisation="by_script", threshold=3),
        TextSettings(vocabulary_size=220, model_type="word", tokenisation="moses hi=indic"),
        TextSettings(merges=100, tokenisation="by_script_as_spelt", transliterate="devanagari"),
    ],
)
def test_binarised_text_decodes_to_the_raw_text(text, prepared, settings):
    folder = prepared(settings)
    pipeline = TextPipeline.load(folder)
    for language in LANGUAGES:
        other = "en" if language != "en" else "de"
        pair = f"en-{other if language == 'en' else language}"
        encoded = pieces_of(folder, f"test.{pair}.{language}")
        assert [pipeline.decode(pieces, language) for pieces in encoded] == SENTENCES[language]
        assert encoded == [pipeline.encode(sentence, language) for sentence in SENTENCES[language]]
    assert not (folder / "tokenised").exists()


@pytest.mark.slow
def test_indic_languages_share_pieces_where_they_are_written_alike(tmp_path):
    lines = {"en": SENTENCES["en"], "hi": SENTENCES["hi"]}
    lines["bn"] = [line.translate(from_devanagari("bn")) for line in SENTENCES["hi"]]
    for language in ("hi", "bn"):
        for side in (language, "en"):
            write_lines(tmp_path / f"train.{language}-en.{side}", lines[side] * 3)
    settings = TextSettings(merges=60, tokenisation="by_script", transliterate="devanagari")
    prepare(tmp_path, tmp_path / "data", [*lines], settings)
    pipeline = TextPipeline.load(tmp_path / "data")
    assert pipeline.kinds == {"en": "moses_truecase", "hi": "indic_devanagari", "bn": "indic_devanagari"}
    for hindi, bengali in zip(lines["hi"], lines["bn"]):
        pieces = pipeline.encode(bengali, "bn")
        assert pieces == pipeline.encode(hindi, "hi")
        assert (pipeline.decode(pieces, "bn"), pipeline.decode(pieces, "hi")) == (bengali, hindi)
    with pytest.raises(
        InputError, match="no language of en, de is tokenised as indic, so none can be written in"
    ):
        learn_tokenisation({}, ["en", "de"], tmp_path, replace(settings, tokenisation="moses"))


def test_text_is_tokenised_and_truecased_before_it_is_cut(prepared):
    pipeline = TextPipeline.load(prepared(TOKENISED))
    assert pipeline.tokenise("The dog's bone isn't old.", "en") == "the dog 's bone isn 't old ."
    assert pipeline.tokenise("Anna saw the dog (twice).", "en").startswith("Anna saw the dog ( twice")
    assert pipeline.tokenise(SENTENCES["hi"][0], "hi").endswith(" है ।")
    assert json.loads((prepared(TOKENISED) / "pipeline.json").read_text())["tokenisation"] == {
        "en": "moses_truecase",
        "de": "moses_truecase",
        "hi": "indic",
    }
    assert {path.name for path in prepared(TOKENISED).glob("truecaser.*")} == {"truecaser.en", "truecaser.de"}


def test_marked_tokens_belong_to_one_language(prepared):
    unmarked, marked = (
        prepared(settings)
        for settings in (TOKENISED, TextSettings(220, tokenisation="by_script", mark_tokens=True))
    )

    def used(folder: Path, language: str) -> set[str]:
        return {
            piece
            for path in folder.glob(f"*.{language}.bin")
            for sentence in pieces_of(folder, path.name.removesuffix(".bin"))
            for piece in sentence
        }

    assert used(unmarked, "en") & used(unmarked, "de")
    for one, other in (("en", "de"), ("en", "hi"), ("de", "hi")):
        assert not used(marked, one) & used(marked, other)
    assert "<unk>" not in used(marked, "de")
    assert all(piece.startswith("de:") for piece in used(marked, "de"))
    # what decoding gives does not depend on whose mark a piece has: off-target output stays readable
    pipeline = TextPipeline.load(marked)
    assert pipeline.decode(pipeline.encode("Der Hund sah Anna.", "de"), "en") == "Der Hund sah Anna."


def test_words_are_the_most_frequent_ones_and_the_others_unknown(text, prepared):
    folder = prepared(TextSettings(vocabulary_size=12, model_type="word", tokenisation="moses hi=indic"))
    dictionary = Dictionary.load(str(folder / "dict.en.txt"))
    assert dictionary.symbols[dictionary.nspecial :][:3] == [language_tag(language) for language in LANGUAGES]
    assert len(dictionary) == dictionary.nspecial + 3 + 12
    counts = dictionary.count[dictionary.nspecial + 3 :]
    assert counts == sorted(counts, reverse=True) and not (folder / "subwords.model").exists()
    english = TextPipeline.load(folder).tokenise(SENTENCES["en"][0], "en").split()
    binarised = pieces_of(folder, "test.en-de.en")[0]
    assert [word if word in dictionary else "<unk>" for word in english] == binarised and "<unk>" in binarised


def test_a_pipeline_travels_whole(prepared, tmp_path):
    for settings in (
        TOKENISED,
        TextSettings(220, tokenisation="by_script", mark_tokens=True),
        TextSettings(220, "word"),
    ):
        before = TextPipeline.load(prepared(settings))
        (tmp_path / settings.model_type).mkdir(exist_ok=True)
        before.save(tmp_path / settings.model_type)
        after = TextPipeline.load(tmp_path / settings.model_type)
        for pipeline in (after, pickle.loads(pickle.dumps(before))):
            for language in LANGUAGES:
                for sentence in SENTENCES[language]:
                    assert pipeline.encode(sentence, language) == before.encode(sentence, language)


def test_a_folder_of_subwords_alone_was_a_pipeline_without_tokenisation(prepared, tmp_path):
    for path in prepared(TextSettings(vocabulary_size=220)).glob("subwords.model"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    pipeline = TextPipeline.load(tmp_path, before_pipelines=True)
    assert not pipeline.needs_language
    assert pipeline.decode(pipeline.encode(SENTENCES["de"][0], "anything"), "anything") == SENTENCES["de"][0]


def test_a_tokenised_pipeline_that_lost_its_settings_is_refused(prepared, tmp_path):
    shutil.copytree(prepared(TOKENISED), tmp_path / "pipeline")
    (tmp_path / "pipeline" / "pipeline.json").unlink()
    for before_pipelines in (False, True):
        with pytest.raises(InputError, match="pipeline.json is missing; copy it from the data folder of the"):
            TextPipeline.load(tmp_path / "pipeline", before_pipelines)


def test_a_pipeline_without_truecasers_that_lost_its_settings_is_not_taken_for_subwords_alone(
    prepared, tmp_path
):
    shutil.copytree(prepared(TextSettings(220, mark_tokens=True)), tmp_path / "pipeline")
    (tmp_path / "pipeline" / "pipeline.json").unlink()
    with pytest.raises(InputError, match="pipeline.json is missing; copy it from the data folder of the run"):
        TextPipeline.load(tmp_path / "pipeline")


def test_what_depends_on_the_language_says_so(prepared):
    assert TextPipeline.load(prepared(TOKENISED)).needs_language
    with pytest.raises(InputError, match="unknown language 'fr'"):
        TextPipeline.load(prepared(TOKENISED)).encode("oui", "fr")
    assert TextPipeline(Words(), mark_tokens=True).needs_language and not TextPipeline(Words()).needs_language


def test_words_begin_where_the_units_say(prepared):
    pipeline = TextPipeline.load(prepared(TextSettings(220, tokenisation="by_script", mark_tokens=True)))
    pieces = pipeline.encode("old dogs", "en")
    assert (
        "".join("|" * pipeline.starts_word(piece) + piece.removeprefix("en:").lstrip("▁") for piece in pieces)
        == "|old|dogs"
    )
    assert TextPipeline(Words()).starts_word("dogs")


def test_a_damaged_pipeline_is_refused(prepared, tmp_path):
    (tmp_path / "pipeline.json").write_text('{"units": "words"}')
    with pytest.raises(InputError, match="it lacks tokenisation, mark_tokens.; remove it, then copy it"):
        TextPipeline.load(tmp_path)
    (tmp_path / "pipeline.json").write_text("{")
    with pytest.raises(InputError, match="is damaged"):
        TextPipeline.load(tmp_path)


def test_a_threshold_of_one_keeps_a_language_to_its_own_pieces(text, prepared):
    pipeline = TextPipeline.load(prepared(TextSettings(vocabulary_size=220, threshold=1)))
    for language in LANGUAGES:
        lines = read_lines(
            text / ("train.de-en.en" if language == "en" else f"train.{language}-en.{language}")
        )
        assert {*pipeline.units.vocabularies[language]} == {*pipeline.piece_counts(lines, language)}


@pytest.mark.parametrize("setting", [{"threshold": 50}, {"balance": 5.0}])
def test_what_words_do_not_have_is_refused(setting):
    with pytest.raises(InputError, match="words have no threshold and no balance"):
        TextSettings(model_type="word", **setting)


@pytest.mark.parametrize(
    "setting, message",
    [
        ({"threshold": -5}, "a threshold of -5 cannot be used; give how often a piece must occur, or 0"),
        ({"model_type": "word", "threshold": -5}, "a threshold of -5 cannot be used"),
        ({"model_type": "word", "vocabulary_size": 0}, "a vocabulary of 0 words cannot be used; give 1"),
        ({"model_type": "word", "vocabulary_size": -5}, "a vocabulary of -5 words cannot be used"),
    ],
)
def test_numbers_that_mean_nothing_are_refused(setting, message):
    with pytest.raises(InputError, match=message):
        TextSettings(**setting)


def test_a_number_of_processes_is_refused_before_subwords_are_learned(text, tmp_path):
    with pytest.raises(InputError, match="argument --workers: '0' is not a whole number above 0"):
        prepare_command.main([str(text), str(tmp_path / "data"), "--languages", *LANGUAGES, "--workers", "0"])


def test_training_text_of_an_unknown_kind_is_refused(text, tmp_path):
    with pytest.raises(InputError, match="there is no tokenisation 'mosses'"):
        prepare(text, tmp_path / "data", LANGUAGES, TextSettings(tokenisation="mosses"))
    assert not (tmp_path / "data").exists()
    assert read_lines(text / "test.en") == SENTENCES["en"]


def test_a_byte_order_mark_within_a_line_is_a_character_like_others(text, tmp_path):
    shutil.copytree(text, tmp_path / "text")
    write_lines(tmp_path / "text" / "train.de-en.de", [f"Wort \ufeff{line}" for line in SENTENCES["de"] * 3])
    prepare(
        tmp_path / "text", tmp_path / "data", LANGUAGES, TextSettings(vocabulary_size=220, mark_tokens=True)
    )
    pipeline = TextPipeline.load(tmp_path / "data")
    assert pipeline.decode(pipeline.encode("Wort \ufeffDer", "de"), "de") == "Wort \ufeffDer"
