"""The formats of exports, by name. A format is a folder beside this file and a line in `FORMATS`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from zsnmt.decoding.options import CTRANSLATE2, EngineChoice
from zsnmt.decoding.search import Engine, Search

if TYPE_CHECKING:  # commands list the formats, and do not wait for fairseq
    from zsnmt.data.reading import Codec
    from zsnmt.inference.export.agreement import Agreement
    from zsnmt.inference.export.samples import Sample
    from zsnmt.inference.trained_run import TrainedRun

HUGGINGFACE = "huggingface"
FORMATS = {  # the module that has each as `FORMAT`; that of CTranslate2 loads PyTorch for `write` alone
    CTRANSLATE2: "zsnmt.inference.export.ctranslate2.format",
    HUGGINGFACE: "zsnmt.inference.export.huggingface.export",
}
ARGOS = "argos"  # packages that are made of exports for CTranslate2; they are not opened here
SENTENCES = 100  # on which an export is checked


class Writer(Protocol):
    """See `Format`."""

    def __call__(
        self,
        folder: Path,
        run: Path,
        trained: TrainedRun,
        *,
        record: dict,
        samples: Sequence[Sample],
        text: Path,
    ) -> tuple[dict[str, Agreement], dict]: ...


@dataclass(frozen=True)
class Format:
    """How runs are exported into a format, and how such exports are opened.

    * `engines`: the engines that translate with its exports.
    * `check(quantization)` raises `InputError` for weights that it cannot keep so, and where a library is
      missing.
    * `write(folder, run, trained, record, samples, text)` fills a folder with a run's model and its text
      pipeline, and finds how far it agrees with the run on samples of parallel text. It returns that, and
      what the record says besides.
      `InputError` for a model that the format cannot hold exactly, and for an export that is wrong.
    * `open(folder, search, choice)` gives the engine of an export, and what turns text into its input.
    """

    engines: tuple[str, ...]
    check: Callable[[str], object]
    write: Writer
    open: Callable[[Path, Search, EngineChoice], tuple[Engine, Codec]]


def load_format(name: str) -> Format:
    """A format by its name."""
    return import_module(FORMATS[name]).FORMAT
