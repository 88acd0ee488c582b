"""Tokenizers of transformers against the text pipelines that they were made of, without zsnmt on the path."""

import itertools
import json
from pathlib import Path

import pytest
from fairseq.data import Dictionary

from tests.support.exports import OTHER_TRANSFORMERS, needs_transformers, run_without_zsnmt
from tests.text.test_pipeline import LANGUAGES, SENTENCES
from zsnmt.data.language_tags import TagPlacement
from zsnmt.data.reading import Codec
from zsnmt.files.records import write_json
from zsnmt.inference.export.huggingface.remote_code import write_code
from zsnmt.inference.export.huggingface.self_check import CHECK_FILE, lines_to_check
from zsnmt.inference.export.huggingface.tokenizer import CODE, write_tokenizer
from zsnmt.languages import language_tag
from zsnmt.text.learning import learn_tokenisation, learn_units
from zsnmt.text.lines import write_lines
from zsnmt.text.pipeline import TextPipeline
from zsnmt.text.settings import TextSettings
from zsnmt.text.subword import Subwords

SETTINGS = {  # placement of tags, and how text is prepared
    "subwords": ("t_dec", TextSettings(140)),
    "unigram": ("t_enc", TextSettings(80, "unigram")),
    "own vocabularies": ("s_enc_t_dec", TextSettings(160, threshold=3)),
    "own subwords": ("t_enc_t_dec", TextSettings(140)),
    "marked": ("s_enc_t_enc", TextSettings(140, mark_tokens=True)),
    "words": ("s_enc_t_enc_t_dec", TextSettings(60, "word")),
    "Moses and IndicNLP": ("t_dec", TextSettings(160, tokenisation="by_script")),
    "joined, in Devanagari": (
        "t_dec",
        TextSettings(160, tokenisation="by_script_joined en=moses_as_spelt", transliterate="devanagari"),
    ),
}
LOADED = """
import json, pathlib, runpy, sys
from transformers import AutoTokenizer
for folder in map(pathlib.Path, sys.argv[1:]):
    differences = runpy.run_path(str(folder / "check_zsnmt.py"))["tokenizer_differences"]
    lines = json.loads((folder / "check.json").read_text())["lines"]
    tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=True)
    print(json.dumps([tokenizer.__class__.__name__, len(lines), differences(tokenizer, lines)]))
"""


def codec_of(text: Path, folder: Path, placement: str, settings: TextSettings, own: bool = False) -> Codec:
    """A pipeline that was learned from text, with a dictionary of the pieces of it."""
    files = {language: [text / f"test.{language}"] for language in LANGUAGES}
    tokenisation = learn_tokenisation(files, LANGUAGES, folder, settings)
    tokens = {}
    for language, (file,) in files.items():
        tokens[language] = [folder / f"tokens.{language}"]
        lines = [tokenisation.tokenise(line, language) for line in SENTENCES[language]]
        write_lines(tokens[language][0], lines)
    pipeline = learn_units(tokens, tokenisation, folder, settings)
    if own:
        restricted = learn_units(tokens, tokenisation, folder, TextSettings(120)).units
        assert isinstance(restricted, Subwords)
        pipeline = TextPipeline(pipeline.units, pipeline.kinds, own_units={"hi": restricted})
    dictionary = Dictionary()
    pieces = (pipeline.encode(line, language) for language in LANGUAGES for line in SENTENCES[language])
    for symbol in (*map(language_tag, LANGUAGES), *itertools.chain.from_iterable(pieces)):
        dictionary.add_symbol(symbol)
    return Codec(pipeline, TagPlacement(placement, dictionary), LANGUAGES, trained=[], longest=50)


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> list[Path]:
    """A folder for each of the settings, with lines of text and their tokens."""
    base = tmp_path_factory.mktemp("tokenizers")
    for language, sentences in SENTENCES.items():
        write_lines(base / f"test.{language}", sentences)
    made = []
    for name, (placement, settings) in SETTINGS.items():
        folder = base / name.replace(" ", "_")
        folder.mkdir()
        codec = codec_of(base, folder, placement, settings, own=name == "own subwords")
        write_tokenizer(folder, codec, max_target_length=40)
        write_code(folder, [CODE.format("check_zsnmt")])
        write_json(folder / CHECK_FILE, {"lines": [*lines_to_check(codec, base)]})
        made.append(folder)
    return made


@needs_transformers
@pytest.mark.slow
@pytest.mark.parametrize("path", ["", *OTHER_TRANSFORMERS])
def test_every_line_becomes_the_same_tokens_and_comes_back(folders, path, tmp_path):
    (tmp_path / "loaded.py").write_text(LOADED)
    printed = run_without_zsnmt(tmp_path / "loaded.py", *folders, home=tmp_path, path=path)
    found = [json.loads(line) for line in printed.splitlines()]
    assert [differences for _, _, differences in found] == [[]] * len(SETTINGS)
    assert min(lines for _, lines, _ in found) > 20
    assert [name for name, _, _ in found] == ["ZsnmtTokenizer"] * 6 + ["ZsnmtRulesTokenizer"] * 2


@needs_transformers
@pytest.mark.slow
@pytest.mark.parametrize(
    "texts, source, message",
    [("A text.", "en", "give a list of texts"), (["A text."], "hi", "source and target are both 'hi'")],
)
def test_what_is_not_a_list_of_texts_into_another_language_is_refused(folders, texts, source, message):
    from zsnmt.inference.export.huggingface.remote.tokenization_zsnmt import ZsnmtTokenizer

    tokenizer = ZsnmtTokenizer.from_pretrained(folders[0])
    with pytest.raises(ValueError, match=message):
        tokenizer.translate(None, texts, "hi", source)


class Copies:
    """Stands for a model that writes each source, so many times, and nothing else."""

    device = "cpu"

    def __init__(self) -> None:
        self.read: list[list[int]] = []

    def generate(self, input_ids, num_return_sequences=1, return_dict_in_generate=False, **others):
        self.read += input_ids.tolist()
        outputs = input_ids.repeat_interleave(num_return_sequences, dim=0)
        return {"sequences": outputs} if return_dict_in_generate else outputs


@needs_transformers
@pytest.mark.slow
@pytest.mark.parametrize("options", [dict(num_return_sequences=2), dict(return_dict_in_generate=True)])
def test_a_translation_is_one_of_each_text_or_refused(folders, options):
    from zsnmt.inference.export.huggingface.remote.tokenization_zsnmt import ZsnmtTokenizer

    tokenizer, texts = ZsnmtTokenizer.from_pretrained(folders[0]), SENTENCES["en"][:3]
    assert tokenizer.translate(Copies(), texts, "hi", "en") == texts
    with pytest.raises(ValueError, match="one translation of each text.*leave out num_return_sequences"):
        tokenizer.translate(Copies(), texts, "hi", "en", **options)


@needs_transformers
@pytest.mark.slow
@pytest.mark.parametrize("known, other", [("caf\u00e9", "cafe\u0301"), ("cafe\u0301", "caf\u00e9")])
def test_an_accent_is_read_in_the_spelling_that_the_model_knows(folders, known, other):
    from zsnmt.inference.export.huggingface.remote.tokenization_zsnmt import ZsnmtTokenizer

    tokenizer = ZsnmtTokenizer.from_pretrained(folders[[*SETTINGS].index("words")])
    tokenizer.ids[known] = len(tokenizer.symbols)
    tokenizer.symbols.append(known)
    assert tokenizer.translate(Copies(), [known, f"Anna {other}"], "hi", "en") == [known, f"Anna {known}"]
    unknown = Copies()
    tokenizer.translate(unknown, ["Anna \u00eb"], "hi", "en")
    assert tokenizer.unk_token_id in unknown.read[0]


@needs_transformers
@pytest.mark.slow
def test_a_target_that_was_refused_changes_no_source(folders):
    from zsnmt.inference.export.huggingface.remote.tokenization_zsnmt import ZsnmtTokenizer

    tokenizer, before, after = ZsnmtTokenizer.from_pretrained(folders[2]), Copies(), Copies()
    tokenizer.translate(before, SENTENCES["en"], "hi", "en")
    tokenizer.tgt_lang = None
    with pytest.raises(ValueError, match="tgt_lang is None"):
        tokenizer(text_target=SENTENCES["hi"])
    tokenizer.translate(after, SENTENCES["en"], "hi", "en")
    assert after.read == before.read


@needs_transformers
@pytest.mark.slow
def test_a_mask_says_which_tokens_are_not_of_the_text(folders):
    from zsnmt.inference.export.huggingface.remote.tokenization_zsnmt import ZsnmtTokenizer

    tokenizer = ZsnmtTokenizer.from_pretrained(folders[4], src_lang="en", tgt_lang="hi")  # two tags, and EOS
    made = tokenizer("A \u2603", return_special_tokens_mask=True)
    ids, mask = made["input_ids"], made["special_tokens_mask"]
    assert mask == [1, 1, *[0] * (len(ids) - 3), 1] and tokenizer.unk_token_id in ids
    padded = tokenizer.pad(made, padding="max_length", max_length=len(ids) + 2)["input_ids"]
    assert tokenizer.get_special_tokens_mask(padded, already_has_special_tokens=True) == [*mask, 1, 1]
    of_target = tokenizer(text_target="A", return_special_tokens_mask=True)
    assert of_target["special_tokens_mask"] == [*[0] * (len(of_target["input_ids"]) - 1), 1]


@needs_transformers
@pytest.mark.slow
@pytest.mark.parametrize("skip", [False, True])
def test_what_is_not_the_id_of_a_token_is_not_decoded(folders, skip):
    from zsnmt.inference.export.huggingface.remote.tokenization_zsnmt import ZsnmtTokenizer

    tokenizer = ZsnmtTokenizer.from_pretrained(folders[0], tgt_lang="en")
    labels = tokenizer(text_target=SENTENCES["en"][0])["input_ids"]
    assert tokenizer.decode(labels, skip_special_tokens=True) == SENTENCES["en"][0]
    for odd in (-100, len(tokenizer)):
        with pytest.raises(ValueError, match=f"{odd} is not the id of a token.*put pad_token_id there"):
            tokenizer.decode([*labels, odd], skip_special_tokens=skip)
    with pytest.raises(ValueError, match="-100 is not the id of a token"):
        tokenizer.convert_ids_to_tokens([-100])


@pytest.mark.slow
def test_what_is_copied_imports_nothing_of_the_toolkit(folders):
    for folder in folders:
        for path in folder.glob("*.py"):
            assert "from zsnmt" not in (text := path.read_text()) and "fairseq" not in text.replace(
                "fairseq's", ""
            ), path
