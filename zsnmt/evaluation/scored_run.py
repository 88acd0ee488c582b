"""The scores of a run as its config asks for them, made once."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from zsnmt.decoding.options import EngineChoice
from zsnmt.errors import InputError
from zsnmt.evaluation.baseline import baseline_of
from zsnmt.evaluation.settings import EvaluationSettings
from zsnmt.files.locks import locked
from zsnmt.inference.export.folder import is_export
from zsnmt.runs.commands import verb_command
from zsnmt.runs.folder import (
    BEFORE,
    CONFIG_FILE,
    MODEL_FILE,
    RECORD_FILE,
    check_trained,
    no_run,
    read_record,
    same_bytes,
)
from zsnmt.runs.score_file import SCORES_FILE, read_score_file, read_scores, write_score_file
from zsnmt.runs.scores import Result, Scores, ways_lost, with_ways_of
from zsnmt.training.config import Config, read_config
from zsnmt.training.steps import Steps

logger = logging.getLogger(__name__)

BY_BASELINE, BY_ITSELF = "baseline", "self"  # who translates through the pivot, besides the folder of a run
ALL = "all"  # lines of a test set


def settings_of(
    run: Path,
    variables: Mapping[str, str],
    given: Mapping[str, object],
    *,
    engine: EngineChoice = EngineChoice(),
) -> EvaluationSettings:
    """How a run is scored: as its config says, where nothing else is given by name; an export has no config.

    Raises `InputError` for what is neither, and for values that there are not.
    """
    of_config: dict[str, object] = {}
    if not is_run(run) and not is_export(run):
        raise no_config(run) if (run / RECORD_FILE).is_file() else no_run(run)
    if is_run(run):
        config = read_config(run / CONFIG_FILE, variables)
        of_config = {
            "identifier": config.identifier,
            "bleu_tokenizer": config.bleu_tokenizer,
            "normalise_references": config.normalise_references,
            "beam": config.beam,
            "length_penalty": config.length_penalty,
            "length_penalty_form": config.length_penalty_form,
            "lines": config.test_lines,
            "ways": config.ways or None,
        }
        engine = in_precision_of(config, engine)
    said = of_config | {name: value for name, value in given.items() if value is not None}
    said = {name: value for name, value in said.items() if value is not None}
    return EvaluationSettings.of(said, engine)


def in_precision_of(config: Config, engine: EngineChoice) -> EngineChoice:
    """An engine in the precision in which a config has its runs scored on a CPU, where nobody chose another
    engine or another precision.
    """
    if engine.engine or engine.precision or has_gpu():
        return engine
    return replace(engine, precision=config.precision)


def has_gpu() -> bool:
    import torch

    return torch.cuda.is_available()


def pivot_of(run: Path, choice: str | None) -> Path | None:
    """What translates through the pivot for a run: a folder, None for the run itself (`self`, or no choice).

    `baseline` is what `baseline_of` finds.
    """
    if choice == BY_BASELINE:
        return baseline_of(run)
    return None if choice in (None, BY_ITSELF) else Path(choice)


def check_before_scoring(run: Path, lines: int | None = None) -> None:
    """`InputError` for a run that is not trained, and for a run or an export whose scores of more `lines`
    would be replaced.
    """
    if is_run(run):
        check_trained(run)
    if lines is None:
        return
    try:
        before = read_scores(run).decoding.get("lines", ALL)
    except InputError:  # there are none, or none of this model, or they are damaged
        return
    if before == ALL or before > lines:
        raise InputError(
            f"{run / SCORES_FILE} has the scores of {before} lines, and those of {lines} would replace them; "
            "name another file with --output, or remove this one"
        )


def newer_sets(run: Path, variables: Mapping[str, str]) -> list[Path]:
    """The test sets in the text of a run's config that have changed since the text of the run was made, which
    it is scored on.
    """
    if not is_run(run):
        return []
    given, kept = read_config(run / CONFIG_FILE, variables).text, Path(read_record(run)["text"])
    if not given or not Path(given).is_dir():
        return []
    there = ((path, Path(given) / path.name) for path in sorted(kept.glob("test.*")))
    return [other for path, other in there if other.is_file() and not same_bytes(path, other)]


def score_run(
    steps: Steps,
    run: Path,
    settings: EvaluationSettings,
    *,
    pivot: Path | None = None,
    scored: Callable[[Result], object] = lambda result: None,
) -> None:
    """Write scores.json of a run, or of an export, unless it was made before from the same model, text and
    settings.

    `pivot`: the run that translates through the pivot, else the same; `scored` is told each result. Raises
    `InputError` where another process is at work in the run, and where its text is not there any more.
    """
    pivot = other_pivot(run, pivot)
    work = partial(score, run, run / SCORES_FILE, settings, pivot_run=pivot, scored=scored)
    if not is_run(run):
        work()
        return
    check_trained(run)
    text = Path(read_record(run)["text"])
    if not text.is_dir():
        raise InputError(
            f"{text}, the test set of {run}, is not there any more; score the run on a copy of it with: "
            + verb_command("evaluate", run, "--text", "FOLDER", "--output", "FILE.json")
        )
    inputs = [folder / MODEL_FILE if is_run(folder) else folder for folder in (run, pivot) if folder]
    inputs += [path for kind in ("test", "lexicon", "word_order") for path in sorted(text.glob(f"{kind}.*"))]
    inputs += [run / BEFORE] if (run / BEFORE).is_dir() else []
    with locked(run):
        steps.make(
            run,
            "evaluate",
            run / SCORES_FILE,
            work=work,
            inputs=inputs,
            settings=settings.of_step(),
            take_older=False,
        )


def score_elsewhere(
    run: Path,
    output: Path,
    settings: EvaluationSettings,
    *,
    pivot: Path | None = None,
    scored: Callable[[Result], object] = lambda result: None,
) -> None:
    """Write the scores of a run on another test set, or in some directions, to `output`, and its hypotheses
    beside that.

    The run is read alone, and so not locked: one that others may not write, or in which another process is at
    work, can be scored. That of a model which is replaced in the meantime is refused (`unchanged`).
    """
    score(
        run,
        output,
        settings,
        hypotheses=output.with_name(f"{output.name.removesuffix('.json')}.hypotheses"),
        pivot_run=other_pivot(run, pivot),
        scored=scored,
    )


def other_pivot(run: Path, pivot: Path | None) -> Path | None:
    """The run that translates through the pivot for another one; None where that does so itself.

    Raises `InputError` where it is not trained.
    """
    if pivot and not (pivot / MODEL_FILE).is_file() and not is_export(pivot):
        raise InputError(
            f"{pivot}, which is to translate through the pivot, is not a trained run folder; train it, or "
            "name another with --pivot"
        )
    return None if pivot and pivot.resolve() == run.resolve() else pivot


def no_config(run: Path) -> InputError:
    """What is said of a run whose config is not there."""
    return InputError(
        f"{run} has no {CONFIG_FILE}, which says how it is scored; copy it from where the run was trained"
    )


def is_run(folder: Path) -> bool:
    """Whether a folder is that of a run, made with a config."""
    return (folder / CONFIG_FILE).is_file()


def score(
    run: Path,
    output: Path,
    settings: EvaluationSettings,
    *,
    pivot_run: Path | None = None,
    hypotheses: Path | None = None,
    scored: Callable[[Result], object] = lambda result: None,
) -> None:
    from zsnmt.evaluation.evaluate import evaluate  # loads PyTorch
    from zsnmt.inference.engines import engine_for, prepare_engine
    from zsnmt.inference.many_gpus import free_gpus

    settings = replace(settings, engine=engine_for(run, settings.methods, settings.engine))
    for folder in filter(None, (run, pivot_run)):
        prepare_engine(folder, settings.search, settings.engine)
    scores = evaluate(run, settings, pivot_run=pivot_run, hypotheses=hypotheses, scored=scored)
    write_score_file(output, with_kept_ways(output, scores))
    free_gpus()  # for a training that may follow


def with_kept_ways(output: Path, scores: Scores) -> Scores:
    """Scores with the results of other ways that their file has, if those were decoded and measured alike;
    says which are not kept.
    """
    if not output.is_file():
        return scores
    try:
        kept = read_score_file(output, "score the run again")
    except InputError:  # it is damaged
        return scores
    together = with_ways_of(kept, scores)
    lost = ways_lost(kept, together)
    if lost and kept.decoding.get("model") == scores.decoding.get("model"):
        logger.warning(
            "%s has no scores by %s any more, which were decoded or measured otherwise; to have them beside "
            "the new ones, name them with --ways, too",
            output,
            ", ".join(way.label for way in lost),
        )
    return together
