"""The scores of a run as its config asks for them, made once."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from sacrebleu.metrics import BLEU

from zsnmt.decoding.options import SEARCH_OPTIONS, EngineChoice
from zsnmt.decoding.search import Search
from zsnmt.errors import InputError
from zsnmt.files import write_json
from zsnmt.runs.folder import BEFORE, CONFIG_FILE, MODEL_FILE, check_trained, read_record
from zsnmt.runs.scores import SCORES_FILE
from zsnmt.scoring.comet import Comet
from zsnmt.training.config import read_config
from zsnmt.training.locks import locked
from zsnmt.training.steps import Steps


def settings_of(run: Path, variables: Mapping[str, str], given: Mapping[str, object]) -> dict[str, object]:
    """How a run is scored: as its config says, where nothing else is given; an export has no config.

    Raises `InputError` for what is neither, and for a tokeniser of BLEU that does not exist.
    """
    settings: dict[str, object] = {}
    if not is_run(run) and not is_export(run):
        raise InputError(f"{run} is not a run folder; give one made by recipes/train.sh")
    if is_run(run):
        config = read_config(run / CONFIG_FILE, variables)
        settings = {"identifier_kind": config.identifier, "bleu_tokenizer": config.bleu_tokenizer, "beam": config.beam,
                    "length_penalty": config.length_penalty, "length_penalty_form": config.length_penalty_form,
                    "lines": config.test_lines, "normalise": config.normalise_references}  # fmt: skip
    settings |= {key: value for key, value in given.items() if value is not None}
    settings = {key: value for key, value in settings.items() if value is not None}
    known = [*sorted(BLEU.TOKENIZERS), "subwords"]
    if (tokenizer := settings.get("bleu_tokenizer", known[0])) not in known:
        raise InputError(f"sacreBLEU has no tokeniser '{tokenizer}'; choose from {', '.join(known)}")
    return settings


def score_run(
    steps: Steps, run: Path, settings: Mapping[str, object], *, pivot: Path | None = None, comet: Comet | None = None,
    engine: EngineChoice = EngineChoice(), scored: Callable[[dict], object] = lambda result: None,
) -> None:  # fmt: skip
    """Write scores.json of a run, or of an export, unless it was made before from the same model, text and settings.

    `settings`: those of `settings_of`; `pivot`: the run that translates through the pivot, else the same; `scored` is told each
    result. Raises `InputError` where another process is at work in the run, and where its text is not there any more.
    """
    if pivot and not (pivot / MODEL_FILE).is_file() and not is_export(pivot):
        raise InputError(f"{pivot}, which is to translate through the pivot, is not a trained run folder")
    pivot = None if pivot and pivot.resolve() == run.resolve() else pivot
    work = partial(_score, run, pivot_run=pivot, comet=comet, choice=engine, scored=scored, **settings)
    if not is_run(run):
        return work()
    check_trained(run)
    text = Path(read_record(run)["text"])
    if not text.is_dir():
        raise InputError(f"{text}, the test set of {run}, is not there any more; score the run on a copy of it with: "
                         f"zsnmt evaluate {run} --text FOLDER --output FILE.json")  # fmt: skip
    inputs = [folder / MODEL_FILE if is_run(folder) else folder for folder in (run, pivot) if folder]
    inputs += [path for kind in ("test", "lexicon") for path in sorted(text.glob(f"{kind}.*"))]
    inputs += [run / BEFORE] if (run / BEFORE).is_dir() else []
    of_engine = {"engine": engine.engine, "precision": engine.precision}
    of_step = {**settings, **of_engine, "comet": comet and comet.signature}
    with locked(run):
        steps.make(run, "evaluate", run / SCORES_FILE, work, inputs=inputs, settings=of_step, take_older=False)


def score_elsewhere(
    run: Path, output: Path, settings: Mapping[str, object], *, pivot: Path | None = None, comet: Comet | None = None,
    engine: EngineChoice = EngineChoice(), scored: Callable[[dict], object] = lambda result: None,
) -> None:  # fmt: skip
    """Write the scores of a run on another test set, or in some directions, to `output`, and its hypotheses beside that."""
    kept = output.with_suffix(".hypotheses")
    _score(run, output, kept=kept, pivot_run=pivot, comet=comet, choice=engine, scored=scored, **settings)


def is_run(folder: Path) -> bool:
    """Whether a folder is that of a run, made with a config."""
    return (folder / CONFIG_FILE).is_file()


def is_export(folder: Path) -> bool:
    """Whether a folder is the export of a run."""
    from zsnmt.inference.export import folder as exports  # loads PyTorch

    return exports.is_export(folder)


def _score(
    run: Path, output: Path | None = None, *, pivot_run: Path | None = None, choice: EngineChoice = EngineChoice(), **settings
) -> None:
    from zsnmt.evaluation.evaluate import evaluate  # loads PyTorch
    from zsnmt.inference.engines import prepare_engine

    search = Search(**{name: settings[name] for name in SEARCH_OPTIONS if name in settings})
    for folder in filter(None, (run, pivot_run)):
        prepare_engine(folder, search, choice)
    write_json(output or run / SCORES_FILE, evaluate(run, pivot_run=pivot_run, choice=choice, **settings))
