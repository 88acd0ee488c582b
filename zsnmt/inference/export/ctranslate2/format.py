"""CTranslate2 as a format of exports. What makes one loads PyTorch; what opens one does not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from zsnmt.data.reading import Codec
from zsnmt.decoding.options import CTRANSLATE2, EngineChoice
from zsnmt.decoding.search import Search
from zsnmt.inference.export.ctranslate2.engine import CTranslate2Engine
from zsnmt.inference.export.ctranslate2.library import ctranslate2
from zsnmt.inference.export.ctranslate2.quantisation import check_quantization
from zsnmt.inference.export.ctranslate2.self_check import open_export
from zsnmt.inference.export.formats import Format

if TYPE_CHECKING:
    from zsnmt.inference.export.agreement import Agreement
    from zsnmt.inference.export.samples import Sample
    from zsnmt.inference.trained_run import TrainedRun


def check(quantization: str) -> None:
    """`InputError` for a quantization that is not offered, and where CTranslate2 is not installed."""
    check_quantization(quantization)
    ctranslate2()


def write(
    folder: Path, run: Path, trained: TrainedRun, *, record: dict, samples: Sequence[Sample], text: Path
) -> tuple[dict[str, Agreement], dict]:
    """Write an export into a folder; see `Format`."""
    from zsnmt.inference.export.ctranslate2 import writing

    return writing.write(folder, run, trained, record=record, samples=samples, text=text)


def open_engine(folder: Path, search: Search, choice: EngineChoice) -> tuple[CTranslate2Engine, Codec]:
    """The engine of an export, and what turns text into its input."""
    engine = open_export(folder, search, choice.at_once)
    return engine, engine.codec


FORMAT = Format(engines=(CTRANSLATE2,), check=check, write=write, open=open_engine)
