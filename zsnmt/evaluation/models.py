"""The models of an evaluation: what is known of a run or its export, and what translates with it."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from zsnmt.decoding.options import FLOAT32, PYTORCH, EngineChoice
from zsnmt.decoding.search import Search
from zsnmt.errors import InputError
from zsnmt.evaluation.settings import EvaluationSettings
from zsnmt.evaluation.text import check_all_known
from zsnmt.files.checksums import unchanged
from zsnmt.inference.engines import engine_for
from zsnmt.inference.export.folder import describe_export, is_export
from zsnmt.inference.translator import Translator
from zsnmt.languages import Direction
from zsnmt.runs.folder import MODEL_FILE, check_trained, describe_run


class Model:
    """A run folder or its export: what is known of it, and, once it is loaded, the checksum of its model."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if is_export(folder):
            export = describe_export(folder)
            self.record, self.checksum = export["run"], export["model"]
        else:
            self.record = describe_run(folder)

    def name_beside(self, config: str) -> str:
        """The run as tables of a config name it, with its own config where that is another."""
        own = self.record["config"]
        return f"{'' if own == config else f'{own} '}{self.record['system']}, seed {self.record['seed']}"

    def load(self, search: Search, engine: EngineChoice) -> Translator:
        """What translates with it; `InputError` for a run without a model, or that gets another meanwhile."""
        if is_export(self.folder):
            return Translator.open(self.folder, search, engine)
        check_trained(self.folder)
        with unchanged(self.folder / MODEL_FILE) as self.checksum:
            return Translator.open(self.folder, search, engine)


class Loaded(NamedTuple):
    """A model that translates, and all that its translations depend on, as score files have it."""

    model: Model
    translator: Translator
    decoding: Mapping[str, Any]


def load_models(run: Path, pivot_run: Path | None, settings: EvaluationSettings) -> tuple[Loaded, Loaded]:
    """The model of a run, and what translates through the pivot, which is the same without a `pivot_run`."""
    engine = engine_for(run, settings.methods, settings.engine)
    models = [Model(folder) for folder in (run, pivot_run) if folder]
    translators = [model.load(settings.search, engine) for model in models]
    signatures = [translator.signature for translator in translators]
    given = {"engine": signatures[0], "lines": settings.text.lines}
    decoding = {
        "model": models[0].checksum,
        **describe_search(settings.search),
        "split": settings.text.split,
        **{name: value for name, value in given.items() if value},
    }
    by_run = Loaded(models[0], translators[0], decoding)
    if pivot_run is None:
        return by_run, by_run
    of_pivot = {"pivot_model": models[1].checksum}
    if signatures[1] != signatures[0]:
        of_pivot["pivot_engine"] = signatures[1] or f"{PYTORCH} {FLOAT32}"
    return by_run, Loaded(models[1], translators[1], decoding | of_pivot)


def check_pivot(
    pivot_run: Path, translator: Translator, pivot: str, *, directions: Iterable[Direction]
) -> None:
    """`InputError` for what is to translate through the pivot and has another one, or does not know a
    language.
    """
    if translator.pivot != pivot:
        raise InputError(
            f"{pivot_run} translates through {translator.pivot}, not through {pivot}; name another with "
            "--pivot"
        )
    try:
        check_all_known(directions, translator)
    except InputError as error:
        raise InputError(f"{pivot_run}, which is to translate through the pivot: {error}") from None


def describe_search(search: Search) -> dict:
    """A search as score files have it: beam and length penalty, and what else is not the default."""
    always = ("beam", "length_penalty")
    return {
        name: value
        for name, value in asdict(search).items()
        if name in always or value != getattr(Search, name)
    }
