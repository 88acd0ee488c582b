"""The files of a tokenizer of transformers that does what a text pipeline does."""

from base64 import b64encode
from pathlib import Path

from zsnmt.data.language_tags import PLACEMENTS
from zsnmt.data.reading import Codec
from zsnmt.files.records import write_json
from zsnmt.files.replacing import replacing
from zsnmt.inference.export.huggingface.remote_code import write_code
from zsnmt.text.settings import RAW
from zsnmt.text.subword import MODEL_FILE, Subwords

CODE = "zsnmt.inference.export.huggingface.remote.{}"
PLAIN = "tokenization_zsnmt", "ZsnmtTokenizer"  # file and class
WITH_RULES = "tokenization_zsnmt_rules", "ZsnmtRulesTokenizer"


def write_tokenizer(folder: Path, codec: Codec, max_target_length: int) -> None:
    """Write a tokenizer with its code into a folder."""
    pipeline, units = codec.pipeline, codec.pipeline.units
    module, name = WITH_RULES if pipeline.tokenisers else PLAIN
    write_code(folder, [CODE.format(module)])
    symbols = codec.dictionary.symbols
    write_json(folder / "vocab.json", {symbol: number for number, symbol in enumerate(symbols)})
    if isinstance(units, Subwords):
        with replacing(folder / MODEL_FILE) as file:
            file.write(units.model)
    text = {
        "needs_language": pipeline.needs_language,
        "mark_tokens": pipeline.mark_tokens,
        "vocabularies": units.vocabularies if isinstance(units, Subwords) else {},
        "own_subwords": {
            language: b64encode(units.model).decode("ascii") for language, units in pipeline.own_units.items()
        },
        "tokenisation": {language: kind for language, kind in pipeline.kinds.items() if kind != RAW},
        "truecasers": {
            language: path.read_text(encoding="utf-8") for language, path in pipeline.truecasers.items()
        },
    }
    write_json(folder / "text.json", text)
    placement = PLACEMENTS[codec.placement.name]
    settings = {
        "tokenizer_class": name,
        "auto_map": {"AutoTokenizer": [f"{module}.{name}", None]},
        "languages": codec.languages,
        "source_tags": [*placement.source],
        "decoder_tag": placement.decoder,
        "model_max_length": codec.longest,
        "max_target_length": max_target_length,
    }
    write_json(folder / "tokenizer_config.json", settings)
