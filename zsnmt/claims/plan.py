"""Which runs to make next, so that the claims that are not decided are: the cheapest that tells first."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, product, takewhile
from pathlib import Path

from zsnmt.claims.costs import inference_hours, masked_lm_hours, missing_text, pieces_of_text, training_hours
from zsnmt.claims.needs import Need
from zsnmt.claims.table import Outcome
from zsnmt.claims.verdicts import DEPENDS, FAILS, HOLDS, OPEN, configs_of
from zsnmt.files.records import damage_of, read_json
from zsnmt.masked_lm.config import read_study_config, read_xnli_config
from zsnmt.masked_lm.report.kept_inference import FOLDER as INFERENCE
from zsnmt.masked_lm.report.kept_inference import has_inference
from zsnmt.masked_lm.report.kept_scores import FOLDER as MASKED_LMS
from zsnmt.masked_lm.runs import score_file
from zsnmt.runs.folder import MODEL_FILE
from zsnmt.runs.probe_folder import PROBES
from zsnmt.training.config import read_config
from zsnmt.training.fairseq_options import training_options
from zsnmt.training.studies import systems

FINAL_VERDICTS = (HOLDS, DEPENDS, FAILS)
FOLDER = "claims"  # below the runs: what jobs printed, how long they took, and what was made again
HOURS_FILE = "hours.json"
REMEDY = "give the command again: the file only tells how long jobs take"
# Seeds that are trained so that a claim is decided: so many of any job, and more of one that is cheap, as far
# as all take so many hours together.
MOST_SEEDS, MOST_CHEAP_SEEDS, HOURS_OF_SEEDS = 10, 40, 4.0


@dataclass(frozen=True)
class Places:
    """The project, its runs, where their results are kept, what `$NAME` is in a config (`variables`), and
    whether there is a GPU.
    """

    project: Path
    runs: Path
    kept: Path
    variables: Mapping[str, str]
    gpu: bool = False


@dataclass(frozen=True)
class Job:
    """The commands of a need for one seed.

    `claims`: the claims that it serves; `runs`: the hours of one core that each file which is kept of it is
    thought to take; `share`: what jobs take as a multiple of that; `lacks`: why it cannot be done here;
    `done`: whether all its results are kept.
    """

    need: Need
    seed: int
    claims: Sequence[str]
    runs: Mapping[Path, float]
    share: float = 1.0
    lacks: str = ""
    done: bool = False

    @property
    def name(self) -> str:
        """A name for files."""
        return f"{self.need.name}_seed{self.seed}"

    @property
    def hours(self) -> float:
        """Hours of one core, about."""
        return self.share * self.expected_hours

    @property
    def expected_hours(self) -> float:
        """The same before anything was measured."""
        return sum(self.runs.values())

    def commands(self, runs: Path) -> list[str]:
        """What is to be called, one after another."""
        return [self.need.of_seed(command, self.seed, runs) for command in self.need.commands]


def plan(outcomes: Sequence[Outcome], places: Places, only: Sequence[str] = ()) -> list[Job]:
    """The jobs that `only` some claims need, or all that are not decided, without those that are done.

    A job is there for each seed of a need; for more, up to `most_seeds`, where so many would tell.
    First come the first seeds of all, among them the job that is the cheapest for each claim that it serves,
    and last what cannot be done here. A run that several jobs need is counted with the first of them.
    """
    asked = [each for each in outcomes if is_asked(each, only)]
    needs = dict.fromkeys(need for each in asked for need in each.claim.needs)
    most = {need: most_seeds(need, places) for need in needs}
    served: dict[tuple[Need, int], list[str]] = {}
    for each in asked:
        for need in each.claim.needs:
            for seed in seeds_of(need, each, most[need]):
                served.setdefault((need, seed), []).append(each.claim.name)
    share = measured_share(places.runs)
    jobs = [
        replace(make_job(need, seed, claims, places=places), share=share)
        for (need, seed), claims in served.items()
    ]
    waiting = sorted((job for job in jobs if not job.done), key=order)
    counted: set[Path] = set()
    for place, job in enumerate(waiting):
        runs = {path: 0.0 if path in counted else hours for path, hours in job.runs.items()}
        waiting[place] = replace(job, runs=runs)
        counted |= {*runs} if not job.lacks else set()
    return waiting


def is_asked(each: Outcome, only: Sequence[str]) -> bool:
    """Whether a claim is one of some, or of none given, not decided."""
    return each.claim.name in only or not only and each.verdict not in FINAL_VERDICTS


def most_seeds(need: Need, places: Places) -> int:
    """How many seeds of a need may be made: more where one is cheap, by what it is thought to take."""
    job = make_job(need, need.seeds[-1] + MOST_CHEAP_SEEDS, (), places=places)  # of which nothing is kept
    if job.lacks or not job.expected_hours:
        return MOST_SEEDS
    return min(MOST_CHEAP_SEEDS, max(MOST_SEEDS, int(HOURS_OF_SEEDS / job.expected_hours)))


def seeds_of(need: Need, each: Outcome, most: int) -> list[int]:
    """The seeds that a claim has or needs, and more, up to `most`, where the need's configs leave it open and
    so many would tell.
    """
    told = [
        each.seeds_to_decide(effect)
        for effect in each.effects
        if each.vote(effect) == OPEN and {*configs_of(effect)} & {config.stem for config in need.configs}
    ]
    enough = [number for number in told if number is not None and number <= most]
    seeds = each.seeds_of(need)
    further = seeds[-1] + 1
    return [*seeds, *range(further, further + max([0, *enough]) - len(seeds))]


def order(job: Job) -> tuple[bool, int, float]:
    """What jobs are sorted by."""
    return bool(job.lacks), job.seed - job.need.seeds[0], job.hours / len(job.claims)


def make_job(need: Need, seed: int, claims: Sequence[str], *, places: Places) -> Job:
    """A job with what is known of it before it is done."""
    lacks, runs = dict.fromkeys([f"it wants {need.wants}"] if need.wants else []), Hours()
    for command in need.commands:
        verb, *words = shlex.split(need.of_seed(command, seed, places.runs))[1:]
        if verb in RUNS_OF_VERBS and not need.wants:
            lacking, of_command = RUNS_OF_VERBS[verb](words, seed, places)
            lacks |= dict.fromkeys(lacking)
            runs |= of_command
    done = bool(runs) and all(path.is_file() or is_of(path, need.pivot) for path in runs)
    return Job(need, seed, claims, runs=runs, lacks=", ".join(lacks), done=done)


def is_of(kept: Path, system: str) -> bool:
    """Whether a kept file is of a run of a system."""
    return kept.name.startswith(f"{system}.seed")


Lacking = list[str]  # why runs cannot be made here
Hours = dict[Path, float]  # by the file that is kept


def lacking_paths(missing: Mapping[str, str]) -> Lacking:
    """What is said of paths where nothing is, by the key that names them."""
    return [f"{key}={path} is not there" for key, path in missing.items()]


def ablation_runs(words: Sequence[str], seed: int, places: Places) -> tuple[Lacking, Hours]:
    """The runs of `zsnmt ablate`, which trains what is not here, also where its scores are kept."""
    file = places.project / words[0]
    config = read_config(file, places.variables)
    missing, hours, pieces = missing_text(config), Hours(), pieces_of_text(config)
    lacking = lacking_paths(missing)
    for system in systems([words[1]], config.fairseq_options, words_of("--systems", words)):
        kept = places.kept / file.stem / f"{system.name}.seed{seed}.json"
        model = places.runs / file.stem / system.name / f"seed{seed}" / MODEL_FILE
        if missing or model.is_file():
            hours[kept] = 0.0
            continue
        options = training_options(system.architecture, [*config.fairseq_options, *system.options])
        hours[kept] = training_hours(options, vocabulary=config.vocabulary, pieces=pieces)
        if options.fp16 and not places.gpu:
            lacking.append(f"{words[0]} is for a GPU (--fp16)")
    return lacking, hours


def words_of(option: str, words: Sequence[str]) -> list[str]:
    """What follows an option, up to the next one; nothing where it is not given."""
    behind = words[words.index(option) + 1 :] if option in words else []
    return [*takewhile(lambda word: not word.startswith("--"), behind)]


def masked_lm_runs(words: Sequence[str], seed: int, places: Places) -> tuple[Lacking, Hours]:
    """The runs of `zsnmt masked-lm`."""
    file = places.project / words[0]
    config = read_study_config(file, places.variables)
    conditions = " ".join(words_of("--conditions", words)).split() or config.conditions
    given = [("TRAIN", config.train), ("VALID", config.valid)]
    for condition in conditions:
        given += [("TREEBANKS", str(path)) for path in config.treebank_files.get(condition, ())]
    missing = {key: path for key, path in given if path and not Path(path).is_file()}
    chosen_systems = " ".join(words_of("--systems", words)).split() or config.systems
    hours = Hours()
    for condition, system in product(conditions, chosen_systems):
        kept = places.kept / file.stem / MASKED_LMS / f"{condition}.{system}.seed{seed}.json"
        made = score_file(places.runs / file.stem / condition / system / f"seed{seed}").is_file()
        hours[kept] = 0.0 if missing or made else masked_lm_hours(config, condition, system)
    return lacking_paths(missing), hours


def inference_runs(words: Sequence[str], seed: int, places: Places) -> tuple[Lacking, Hours]:
    """The runs of `zsnmt xnli`, on made-up languages."""
    file, hours = places.project / words[0], Hours()
    config = read_xnli_config(file, places.variables)
    for system in config.systems:
        kept = places.kept / file.stem / INFERENCE / f"{system}.seed{seed}.json"
        made = has_inference(places.runs / file.stem / system / f"seed{seed}")
        hours[kept] = 0.0 if made else inference_hours(config, system)
    return [], hours


def adaptation_runs(words: Sequence[str], seed: int, places: Places) -> tuple[Lacking, Hours]:
    """The run of `zsnmt adapt`, which takes little beside that which it goes on from."""
    file, system = places.project / words[0], Path(words[1]).parent.name
    missing = missing_text(read_config(file, places.variables))
    return lacking_paths(missing), {places.kept / file.stem / f"{system}.seed{seed}.json": 0.0}


def probe_runs(words: Sequence[str], seed: int, places: Places) -> tuple[Lacking, Hours]:
    """The probes of a run, which take little beside its training."""
    *_, config, system, _ = Path(words[0]).parts
    return [], {places.kept / config / PROBES / f"{system}.seed{seed}.json": 0.0}


RUNS_OF_VERBS = {
    "ablate": ablation_runs,
    "masked-lm": masked_lm_runs,
    "xnli": inference_runs,
    "adapt": adaptation_runs,
    "probe": probe_runs,
}


def select_within_budget(jobs: Sequence[Job], hours: float, at_a_time: int) -> list[Job]:
    """The first jobs that can be done here in so many hours, so many at a time. A run that jobs share with
    one that is left out is counted with the first of them.
    """
    chosen, owed = list[Job](), Hours()
    for job in jobs:
        whole = replace(job, runs={path: of_run or owed.get(path, 0.0) for path, of_run in job.runs.items()})
        of_chains = [sum(each.hours for each in group) for group in chains([*chosen, whole])]
        if not job.lacks and sum(of_chains) <= hours * at_a_time and max(of_chains) <= hours:
            chosen.append(whole)
            owed = {path: of_run for path, of_run in owed.items() if path not in whole.runs}
        else:
            owed |= {path: of_run for path, of_run in whole.runs.items() if of_run}
    return chosen


def chains(jobs: Sequence[Job]) -> list[list[Job]]:
    """The jobs in groups that can be done side by side: those that share runs are in one, in order."""
    found: list[list[Job]] = []
    for job in jobs:
        sharing = [group for group in found if any(job.runs.keys() & each.runs.keys() for each in group)]
        found = [group for group in found if group not in sharing]
        found.append([*chain.from_iterable(sharing), job])
    return found


def measured_share(runs: Path) -> float:
    """What jobs took so far, as a multiple of what they were thought to take; 1 before there are any."""
    hours = [(thought, taken) for thought, taken in read_hours(runs).values() if thought]
    return sum(taken for _, taken in hours) / sum(thought for thought, _ in hours) if hours else 1.0


def read_hours(runs: Path) -> dict[str, tuple[float, float]]:
    """Of the jobs that are done the hours that they were thought to take, and took; `InputError` for a
    damaged file.
    """
    path = runs / FOLDER / HOURS_FILE
    if not path.is_file():
        return {}
    content = read_json(path, REMEDY)
    with damage_of(path, REMEDY):
        return {name: (float(thought), float(taken)) for name, (thought, taken) in content.items()}
