"""A run as a folder that transformers loads: weights, tokenizer, settings of the search, and a model card.

Where the model is exactly M2M100, the folder is a stock one, whose model needs no code. Else it brings the
files of zsnmt that fill its seams. Text always needs some: no tokenizer of transformers is exactly ours.
"""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from zsnmt.data.reading import Codec
from zsnmt.decoding.options import FLOAT32, EngineChoice
from zsnmt.decoding.search import Engine, Search, never_written
from zsnmt.errors import InputError
from zsnmt.files.records import write_json
from zsnmt.files.replacing import replacing
from zsnmt.inference.export.agreement import Agreement
from zsnmt.inference.export.formats import HUGGINGFACE, Format
from zsnmt.inference.export.huggingface.card import write_card
from zsnmt.inference.export.huggingface.conversion import Converted, convert
from zsnmt.inference.export.huggingface.refusals import check_expressible
from zsnmt.inference.export.huggingface.remote_code import write_code
from zsnmt.inference.export.huggingface.self_check import run_check, write_check
from zsnmt.inference.export.huggingface.tokenizer import CODE, write_tokenizer
from zsnmt.inference.export.samples import Sample
from zsnmt.inference.trained_run import TrainedRun

PACKAGES = ("transformers", "safetensors")
LONGEST = 256  # tokens that `generate` writes at most, unless told otherwise


def check(quantization: str) -> None:
    """`InputError` for another precision than float32, and where transformers is not installed."""
    if quantization != FLOAT32:
        raise InputError(
            f"--quantization {quantization} is not of --to {HUGGINGFACE}, which keeps {FLOAT32}; load the "
            "folder with dtype=torch.bfloat16, or as transformers otherwise quantises"
        )
    if lacking := [package for package in PACKAGES if find_spec(package) is None]:
        raise InputError(
            f"--to {HUGGINGFACE} needs {' and '.join(lacking)}; run pip install 'zsnmt[huggingface]'"
        )


def write(
    folder: Path, run: Path, trained: TrainedRun, *, record: dict, samples: Sequence[Sample], text: Path
) -> tuple[dict[str, Agreement], dict]:
    """Write an export into a folder, where a process without zsnmt finds how far it agrees; see `Format`."""
    model, codec = trained.model, trained.codec
    check_expressible(model, codec)
    converted, longest = convert(model, codec), model.max_decoder_positions()
    write_model(folder, converted, codec, max_target_length=longest)
    write_tokenizer(folder, codec, max_target_length=longest)
    write_code(folder, [CODE.format("check_zsnmt")])
    write_check(folder, trained, samples=samples, text=text)
    agreement, versions = run_check(folder)
    public = record["run"] | {"text": Path(record["run"]["text"]).name}  # no path of this machine
    write_card(folder, run, record | {"run": public}, stock=not converted.seams)
    return {FLOAT32: agreement}, {
        "versions": record["versions"] | versions,
        "run": public,
        "stock": not converted.seams,
    }


def write_model(folder: Path, converted: Converted, codec: Codec, *, max_target_length: int) -> None:
    """Write weights, configuration, settings of the search, and the code that the model needs."""
    from safetensors.torch import save

    special = {"pad_token_id": codec.dictionary.pad(), "eos_token_id": codec.dictionary.eos()}
    # Without a start, `generate` says that it must be told one, where it is a tag.
    start = {
        "bos_token_id": None,
        "decoder_start_token_id": None if codec.placement.starts_decoder else codec.dictionary.eos(),
    }
    kind: dict[str, object] = {"model_type": "m2m_100", "architectures": ["M2M100ForConditionalGeneration"]}
    if converted.seams:
        write_code(folder, [CODE.format("modeling_zsnmt")])
        kind = {
            "model_type": "zsnmt",
            "architectures": ["ZsnmtForConditionalGeneration"],
            "auto_map": {
                "AutoConfig": "configuration_zsnmt.ZsnmtConfig",
                "AutoModelForSeq2SeqLM": "modeling_zsnmt.ZsnmtForConditionalGeneration",
            },
        }
    write_json(folder / "config.json", {**kind, **converted.config, **converted.seams, **special, **start})
    search = Search()
    settings = {
        "num_beams": search.beam,
        "length_penalty": search.length_penalty,
        "early_stopping": True,
        "min_new_tokens": 1,
        "max_new_tokens": min(LONGEST, max_target_length),
        "suppress_tokens": never_written(codec.dictionary, codec.languages),
    }
    write_json(folder / "generation_config.json", {**settings, **special, **start})
    with replacing(folder / "model.safetensors") as file:
        file.write(save(converted.weights, metadata={"format": "pt"}))


def open_folder(folder: Path, search: Search, choice: EngineChoice) -> tuple[Engine, Codec]:
    """`InputError`: such a folder is for transformers."""
    raise InputError(
        f"{folder} is for transformers (README.md there says how); translate with the run folder, or export "
        "it to ctranslate2"
    )


FORMAT = Format(engines=(), check=check, write=write, open=open_folder)
