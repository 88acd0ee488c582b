"""The steps from text to report page, each measured in a process of its own, of experiments of any size."""

import itertools
import logging
import resource
import shutil
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import fmean, median
from typing import Any, NamedTuple

import fairseq_cli.train
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq.distributed import utils as distributed
from fairseq.trainer import Trainer

from zsnmt.benchmarks.helper import Helper
from zsnmt.corpora.invented.languages import standard_languages
from zsnmt.decoding.search import Search
from zsnmt.errors import InputError
from zsnmt.evaluation.evaluate import evaluate
from zsnmt.evaluation.settings import EvaluationSettings
from zsnmt.files.records import read_json, write_json
from zsnmt.languages import SUPERVISED, ZERO_SHOT
from zsnmt.processes import used_seconds
from zsnmt.report.comparability import read_runs
from zsnmt.report.comparison import every_direction, text_table
from zsnmt.report.page import write_page
from zsnmt.report.scores import Run
from zsnmt.runs.checkpoints import average_checkpoints, best_checkpoints
from zsnmt.runs.folder import CHECKPOINTS, MODEL_FILE
from zsnmt.runs.score_file import SCORES_FILE, write_score_file
from zsnmt.runs.ways import DIRECT, PIVOT
from zsnmt.scoring.options import Scoring
from zsnmt.training.data import prepare_data
from zsnmt.training.experiment import Experiment, read_experiment
from zsnmt.training.fairseq_options import training_options
from zsnmt.training.sources import make_source
from zsnmt.training.steps import Steps

SYSTEM = "zs_transformer_residual"
VALID = 10  # sentences of the validation set
OUTPUT = 12  # tokens that a translation may have, as models of few updates do not end their sentences
CONFIG = """\
SYNTHETIC="--number {others} --concepts 60 --shared-cognates 0.6 --sound-change 0.05 --second-clause-share 0
  --shortest 3 --longest 4 --pairs {pairs} --valid {valid} --test {test}"
LANGUAGES="{languages}"
VOCABULARY=600
IDENTIFIER=lexicon
AVERAGE=1
MODEL="--encoder-layers 5 --decoder-layers 2 --encoder-embed-dim {width} --decoder-embed-dim {width}
  --encoder-ffn-embed-dim {feed_forward} --decoder-ffn-embed-dim {feed_forward}
  --encoder-attention-heads 2 --decoder-attention-heads 2 --dropout 0.1"
TRAINING="--optimizer adam --adam-betas (0.9,0.98) --adam-eps 1e-9 --clip-norm 0
  --lr-scheduler inverse_sqrt --lr 5e-3 --warmup-updates 200 --warmup-init-lr 0
  --criterion label_smoothed_cross_entropy --label-smoothing 0.1
  --max-tokens 600 --max-update {updates} --valid-lang-pairs all"
"""
TRAINING_OPTIONS = (
    "--validate-interval 1000000 --save-interval 1000000 --no-epoch-checkpoints --no-progress-bar "
    "--keep-best-checkpoints 1 --best-checkpoint-metric nll_loss --num-workers 0 --seed 1 --cpu"
)


@dataclass(frozen=True)
class Size:
    """How large an experiment is: languages, training pairs of each with the pivot, width of the model."""

    languages: int
    pairs: int
    width: int

    @property
    def sentences(self) -> int:
        """Sentences of training, of both languages."""
        return 2 * (self.languages - 1) * self.pairs

    @property
    def directions(self) -> int:
        """Directions between any two languages."""
        return self.languages * (self.languages - 1)


class Cost(NamedTuple):
    """What a step took in CPU seconds, the most memory (MB) that a process of it had, libraries among it, and
    what its parts took, or are large, in CPU seconds and bytes.
    """

    seconds: float
    memory: float
    parts: dict[str, float]


def measure(size: Size, folder: Path, updates: int, lines: int) -> dict[str, Cost]:
    """What each step takes for an experiment of a size, which is made in a folder. One whose costs are all
    kept there is not made again; one that was stopped is begun anew, since a step that finds a part of its
    work done would seem cheap.
    """
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"languages{size.languages}_pairs{size.pairs}_width{size.width}.conf"
    content = config(size, updates, lines)
    begun = file.is_file()
    if begun and file.read_text(encoding="utf-8") != content:
        raise InputError(f"{file} is of other updates or lines; give these, or name another folder")
    file.write_text(content, encoding="utf-8")
    experiment = read_experiment(file, folder, {})
    kept = {job: experiment.folder / f"cost.{job.__name__}.json" for job in STEPS}
    if not all(map(Path.is_file, kept.values())):
        if begun and experiment.folder.is_dir():
            shutil.rmtree(experiment.folder)
        for job, path in kept.items():
            write_json(path, measured(partial(job, experiment))._asdict())
    return {job.__name__: read_cost(path) for job, path in kept.items()}


def read_cost(path: Path) -> Cost:
    """What a step took; `InputError` for a damaged file."""
    kinds = {"seconds": float, "memory": float, "parts": Mapping[str, float]}
    content = read_json(path, "measure the experiment again", kinds)
    return Cost(*(content[name] for name in Cost._fields))


def config(size: Size, updates: int, lines: int) -> str:
    """The config of an experiment."""
    names = [language.name for language in standard_languages(size.languages - 1)]
    return CONFIG.format(
        others=size.languages - 1,
        pairs=size.pairs,
        valid=VALID,
        test=lines,
        languages=" ".join(names),
        width=size.width,
        feed_forward=2 * size.width,
        updates=updates,
    )


def measured(job: Callable[[], dict[str, float] | None]) -> Cost:
    """What a job takes in a process of its own."""
    with Helper(metered, job) as helper:
        return helper()


def metered(job: Callable[[], dict[str, float] | None]) -> Callable[[], Cost]:
    """The job with what it takes, for a process that does nothing else."""

    def work() -> Cost:
        logging.disable(logging.WARNING)
        warnings.simplefilter("ignore")
        started = used_seconds()
        parts = job() or {}
        seconds = used_seconds() - started
        processes = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN
        memory = max(resource.getrusage(who).ru_maxrss for who in processes) / 1000
        return Cost(seconds, memory, parts)

    return work


class Quiet(Steps):
    """Steps that say nothing."""

    def say(self, sentence: str) -> None:
        pass


def text(experiment: Experiment) -> None:
    """Write the invented text."""
    make_source(Quiet("growth"), experiment)


def data(experiment: Experiment) -> None:
    """Look for overlap with held-out sets, learn the vocabulary and binarise."""
    prepare_data(Quiet("growth"), experiment)


def training(experiment: Experiment) -> dict[str, float]:
    """Train as fairseq-train does."""
    run = experiment.run(SYSTEM, 1)
    experiment.start(SYSTEM, 1, command="zsnmt benchmark growth")
    words = [*experiment.config.fairseq_options, *TRAINING_OPTIONS.split()]
    options = training_options(SYSTEM, [*words, "--save-dir", str(run / CHECKPOINTS)])
    options.data = str(experiment.data)
    started = used_seconds()
    with marked(Trainer, "train_step") as steps, marked(fairseq_cli.train, "validate") as validations:
        distributed.call_main(convert_namespace_to_omegaconf(options), fairseq_cli.train.main)
    average_checkpoints(best_checkpoints(run / CHECKPOINTS, 1), run / MODEL_FILE)
    begins = [begin for begin, _ in steps]
    return {
        "start": begins[0] - started,
        "update": median(after - before for before, after in itertools.pairwise(begins)),
        "validation": sum(end - begin for begin, end in validations),
    }


@contextmanager
def marked(owner: Any, name: str) -> Iterator[list[tuple[float, float]]]:
    """The CPU seconds of this process at the beginning and the end of each call of a function."""
    calls: list[tuple[float, float]] = []
    function = getattr(owner, name)

    def marking(*arguments: Any, **named: Any) -> Any:
        begin = used_seconds()
        try:
            return function(*arguments, **named)
        finally:
            calls.append((begin, used_seconds()))

    setattr(owner, name, marking)
    try:
        yield calls
    finally:
        setattr(owner, name, function)


def evaluation(experiment: Experiment) -> dict[str, float]:
    """Translate and score every direction; the parts are seconds of translation per direction."""
    run = experiment.run(SYSTEM, 1)
    search = Search(beam=1, max_len_a=0, max_len_b=OUTPUT)
    settings = EvaluationSettings(search=search, scoring=Scoring(identifier="lexicon"))
    scores = evaluate(run, settings)
    write_score_file(run / SCORES_FILE, scores)
    groups = {
        "supervised": (SUPERVISED, DIRECT),
        "zero-shot": (ZERO_SHOT, DIRECT),
        "through the pivot": (ZERO_SHOT, PIVOT),
    }
    return {
        name: fmean(result.figures["seconds"] for result in scores.select(*group).values())
        for name, group in groups.items()
    }


def systems(experiment: Experiment) -> list[Run]:
    """The run, and the same as if it were another system beside it."""
    (run,) = read_runs([experiment.run(SYSTEM, 1)])
    return [run, Run(run.folder, replace(run.scores, system=f"{SYSTEM}_again"))]


def tables(experiment: Experiment) -> dict[str, float]:
    """Make what `zsnmt table` prints, and what it prints with --directions."""
    all_scores = [run.scores for run in systems(experiment)]
    started = used_seconds()
    text_table(all_scores)
    shown = used_seconds()
    every_direction(all_scores)
    return {"systems": shown - started, "every direction": used_seconds() - shown}


def report_page(experiment: Experiment) -> dict[str, float]:
    """Write the page of two systems."""
    runs, path = systems(experiment), experiment.folder / "report.html"
    write_page(path, runs)
    return {"bytes": path.stat().st_size}


STEPS = (text, data, training, evaluation, tables, report_page)
