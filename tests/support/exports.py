"""Small models of random weights, and exports of them."""

import copy
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch
from fairseq.data import Dictionary
from fairseq.sequence_generator import SequenceGenerator

from tests.conftest import LANGUAGES, ToyTask, toy_options
from tests.support.rounding import assert_as_near
from zsnmt.data.language_tags import TagPlacement
from zsnmt.data.reading import Codec
from zsnmt.decoding.fairseq_engine import FairseqEngine
from zsnmt.decoding.options import CTRANSLATE2
from zsnmt.decoding.search import Search, Sentence
from zsnmt.files.records import write_json
from zsnmt.inference.export.ctranslate2.check import log_probabilities
from zsnmt.inference.export.ctranslate2.engine import CTranslate2Engine
from zsnmt.inference.export.ctranslate2.writing import write_model
from zsnmt.inference.export.folder import EXPORT_FILE, checksums, codec_record
from zsnmt.inference.export.huggingface.self_check import RUN_WITHOUT_ZSNMT
from zsnmt.languages import LANGUAGES_FILE, language_tag
from zsnmt.models.zs_transformer import ZeroShotTransformer
from zsnmt.text.pipeline import TextPipeline
from zsnmt.text.words import Words

EOS = 2
# Without importing it, which takes seconds, in each process that collects tests.
needs_transformers = pytest.mark.skipif(not find_spec("transformers"), reason="transformers is not installed")
# folders of other versions of transformers, for `pip install --target`, that exports are tested with
OTHER_TRANSFORMERS = [*filter(None, os.environ.get("OTHER_TRANSFORMERS", "").split(os.pathsep))]


def run_without_zsnmt(script: Path, *arguments: Path, home: Path, path: str) -> str:
    """What a script prints in a process that has neither zsnmt nor fairseq; `home`: where transformers keeps
    what it is given, `path`: a folder of another version of it, or nothing.
    """
    done = subprocess.run(
        [sys.executable, "-c", RUN_WITHOUT_ZSNMT, script, *arguments],
        env={
            **os.environ,
            "HF_HOME": str(home),
            "PYTHONPATH": os.pathsep.join(filter(None, [path, os.environ.get("PYTHONPATH")])),
        },
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def random_model(task=None, seed: int = 7, **options) -> ZeroShotTransformer:
    """A model whose weights are all random, biases and layer normalisations among them; sizes all
    different.
    """
    sizes = dict(
        encoder_embed_dim=16,
        decoder_embed_dim=12,
        decoder_ffn_embed_dim=22,
        encoder_attention_heads=4,
        decoder_attention_heads=3,
        share_all_embeddings=False,
        max_source_positions=31,
        max_target_positions=37,
    )
    model = ZeroShotTransformer.build_model(toy_options(**{**sizes, **options}), task or ToyTask())
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            scale = 0.3 if weight.dim() == 1 or "embed" in name else 1.2 * weight.size(-1) ** -0.5
            mean = 1.0 if name.endswith("norm.weight") else 0.0
            weight.copy_(mean + scale * torch.randn(weight.shape, generator=generator))
    return model.eval()


def tidy_model() -> ZeroShotTransformer:
    """A random model, without residual in the middle layer, that writes no tag, and no EOS at once."""
    return tidied(random_model(encoder_residual_removal_layers="middle"), range(8))


def tidied(model: ZeroShotTransformer, never: Iterable[int]) -> ZeroShotTransformer:
    """The model, made to write none of some symbols, and no EOS at once."""
    with torch.no_grad():  # one feature is always 5
        model.decoder.layer_norm.weight[0], model.decoder.layer_norm.bias[0] = 0, 5
        of_feature = model.decoder.output_projection.weight[:, 0]
        of_feature.zero_()
        of_feature[[*never]] = -6
        of_feature[EOS] = 0.4
    return model


def random_translations(
    number: int, dictionary: Dictionary, seed: int = 5, longest: int = 9
) -> list[tuple[Sentence, list[int]]]:
    """Sentences of mixed lengths into all languages in turn, and translations of them, of other lengths."""
    generator = torch.Generator().manual_seed(seed)
    first = dictionary.nspecial + len(LANGUAGES)

    def tokens() -> list[int]:
        length = int(torch.randint(1, longest, (), generator=generator))
        return [*torch.randint(first, len(dictionary), (length,), generator=generator).tolist(), EOS]

    tags = [dictionary.index(language_tag(language)) for language in LANGUAGES]
    return [(Sentence(tokens(), tags[place % len(tags)]), tokens()) for place in range(number)]


def export(
    model: ZeroShotTransformer,
    dictionary: Dictionary,
    folder: Path,
    quantization: str = "float32",
    added: Sequence[str] = (),
) -> Path:
    """An export of a model, with a text pipeline of plain words, in a new folder; `added`: languages besides
    the usual ones.
    """
    languages = [*LANGUAGES, *added]
    (folder / "pipeline").mkdir(parents=True)
    TextPipeline(Words()).save(folder / "pipeline")
    (folder / "pipeline" / LANGUAGES_FILE).write_text("".join(f"{language}\n" for language in languages))
    symbols = "".join(
        f"{symbol} 1 #fairseq:overwrite\n" for symbol in dictionary.symbols[dictionary.nspecial :]
    )
    for language in languages:
        (folder / "pipeline" / f"dict.{language}.txt").write_text(symbols)
    codec = Codec(
        TextPipeline(Words()), TagPlacement("t_dec", dictionary), languages, [], model.encoder.max_positions()
    )
    write_model(folder, model, codec, quantization)
    record = codec_record(codec, CTRANSLATE2, quantization, model.max_decoder_positions()) | {
        "files": checksums(folder),
        "model": "1" * 64,
        "run": dict.fromkeys(("config", "system", "command", "commit", "text"), "x")
        | {"seed": 1, "versions": {}},
    }
    write_json(folder / EXPORT_FILE, record)
    return folder


def opened(
    model: ZeroShotTransformer,
    dictionary: Dictionary,
    folder: Path,
    search: Search = Search(),
    workers: int = 1,
) -> CTranslate2Engine:
    """The engine of a new export."""
    return CTranslate2Engine(export(model, dictionary, folder), search, workers)


def assert_exact(
    model: ZeroShotTransformer,
    translations: Sequence[tuple[Sentence, list[int]]],
    found: Sequence[Sequence[float]],
) -> None:
    """Log-probabilities of the tokens of translations are as near the exact ones as PyTorch's."""
    stock, exact = (
        [value for sentence, tokens in translations for value in log_probabilities(each, sentence, tokens)]
        for each in (model, copy.deepcopy(model).double())
    )
    assert_as_near(
        torch.tensor([value for values in found for value in values]),
        torch.tensor(stock),
        torch.tensor(exact, dtype=torch.float64),
    )


def fairseq_engine(
    model: ZeroShotTransformer, dictionary: Dictionary, search: Search, added: Sequence[str] = ()
) -> FairseqEngine:
    """fairseq's search with the same settings; `added`: languages besides the usual ones."""
    tags = tuple(map(language_tag, [*LANGUAGES, *added]))
    generator = SequenceGenerator(
        [model],
        dictionary,
        beam_size=search.beam,
        max_len_a=search.max_len_a,
        max_len_b=search.max_len_b,
        max_len=model.max_decoder_positions(),
        len_penalty=search.length_penalty,
        tokens_to_suppress=tags,
    )
    return FairseqEngine(model, generator)
