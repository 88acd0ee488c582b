"""Runs of the masked-LM study of position encodings (Ravishankar & Søgaard 2021): read, checked and grouped.

A run trains a model of a *system*, a position encoding or an ablation of one, in a *condition*, which says
what its second language is: `same` (EN+[EN], the copy with a shifted vocabulary), a language code such as
`de` (EN+[EN∼DE], reordered like German before it is shifted) or `none` (EN alone, the control). Its score
file is masked_lm.json.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from zsnmt.errors import InputError
from zsnmt.files.records import damage_of, read_json
from zsnmt.masked_lm.runs import SCORES_FILE, score_file
from zsnmt.masked_lm.score_file import MEASURES, REQUIRED, MaskedLM, parse_scores
from zsnmt.modules.position_names import LABELS as NAMES
from zsnmt.modules.position_names import POSITION_ENCODINGS
from zsnmt.report.comparability import check_alike
from zsnmt.runs.systems import CLIPPED, PRODUCT

REMEDY = "score the run with zsnmt masked-lm"
SAME, REORDERED, NONE = "same", "reordered", "none"

# In the order of the paper, which has no model without positions; the two before that are of its footnote 4
# and of its Table 1 as it is printed.
ENCODINGS = {
    **{encoding: NAMES[encoding] for encoding in POSITION_ENCODINGS},
    CLIPPED: "Relative (key, k = 16)",
    PRODUCT: "Relative (key/query, a·a)",
    "none": NAMES["none"],
}
ABLATIONS = {  # of `learned`
    "no_position_position": "no position–position",
    "no_position_word": "no position–word",
    "no_word_position": "no word–position",
    "separate_parameters": "separate parameters",
}
LABELS = ENCODINGS | ABLATIONS
BILINGUAL_KEYS = (*MEASURES, "ml_score")  # null in the control


def read_runs(folders: Iterable[Path]) -> list[MaskedLM]:
    """The score files of runs, and of every run in folders of a config, in the order of tables.

    Raises `InputError` for a folder without any, a damaged file, and runs that cannot stand in one table.
    """
    return sort_runs([read(path) for folder in folders for path in score_files(folder)])


def score_files(folder: Path) -> list[Path]:
    """The score file of a run, or those of the runs `condition/system/seed` in a folder; `InputError` if
    there are none.
    """
    if (own := score_file(folder)).is_file():
        return [own]
    found = [path for run in sorted(folder.glob("*/*/seed*")) if (path := score_file(run)).is_file()]
    if not found:
        raise InputError(
            f"{folder} holds no {SCORES_FILE}, neither of a run nor of runs CONDITION/SYSTEM/seedK; {REMEDY}"
        )
    return found


def read(path: Path) -> MaskedLM:
    """One score file; `InputError` if it is missing, damaged or not whole."""
    scores = read_json(path, REMEDY, {"system": str | None})
    if missing := [key for key in REQUIRED if key not in scores]:
        raise InputError(f"{path} lacks {', '.join(missing)}; {REMEDY} again")
    if scores["system"] not in LABELS:
        raise InputError(
            f"{path} is of the system {scores['system']}, which the study does not have; it has "
            f"{', '.join(LABELS)}"
        )
    if empty := [key for key in BILINGUAL_KEYS if scores[key] is None and scores["condition"] != NONE]:
        raise InputError(
            f"{path} has no {', '.join(empty)}, which every run but those of the condition none has; "
            f"{REMEDY} again"
        )
    with damage_of(path, REMEDY):
        return parse_scores(scores)


def sort_runs(runs: Sequence[MaskedLM]) -> list[MaskedLM]:
    """The runs by condition, system and seed, the control and the paper's order first; `InputError` if
    they do not compare.
    """
    check_comparable(runs)
    systems = [*LABELS]
    return sorted(runs, key=lambda run: (*rank(run.condition), systems.index(run.system), run.seed))


def rank(condition: str) -> tuple[int, str]:
    """A key that sorts conditions: EN alone, EN+[EN], and the reordered ones by their codes."""
    return [NONE, SAME].index(condition) if condition in (NONE, SAME) else 2, condition


def check_comparable(runs: Sequence[MaskedLM]) -> None:
    """`InputError` unless the runs are of one config, on as many sentences, scored in the same layers, and
    each given once.
    """
    described = (
        [(run.name, common_settings(run)) for run in runs],
        [(run.name, bilingual_settings(run)) for run in runs if run.condition != NONE],
        [
            (run.name, {"offsets": set(map(str, run.procrustes.offsets))})
            for run in runs
            if run.procrustes and run.system != CLIPPED  # whose table is short
        ],
    )
    for conditions in filter(None, described):
        check_alike(conditions, "train and score them alike, or make two reports")
    names = [run.name for run in runs]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InputError(f"a run is given twice: {', '.join(twice)}; give each once")


def common_settings(run: MaskedLM) -> dict[str, set[str]]:
    """What must be equal of all runs, by name; of sentences, those of one language."""
    languages = 1 if run.condition == NONE else 2
    counts = {f"{count / languages:,.10g} of a language to {part}" for part, count in run.sentences.items()}
    return {"configs": {run.config}, "numbers of sentences": counts}


def bilingual_settings(run: MaskedLM) -> dict[str, set[str]]:
    """What must be equal of runs with two languages."""
    layers = {f"layers of {measure}": {*layers} for measure, layers in run.accuracy.items()}
    return {**layers, "epochs": {str(run.epochs)}}


def check_configs(studies: Sequence[Sequence[MaskedLM]]) -> None:
    """`InputError` for studies to stand side by side of which two are of one config."""
    configs = [runs[0].config for runs in studies]
    if twice := sorted({config for config in configs if configs.count(config) > 1}):
        raise InputError(f"two studies are of the config {', '.join(twice)}; give the runs of one together")


def condition_label(condition: str) -> str:
    """A condition as the paper writes it; ∼ is no ~, which Markdown would take for a mark of its own."""
    return {NONE: "EN alone", SAME: "EN+[EN]"}.get(condition, f"EN+[EN∼{condition.upper()}]")


def conditions_of(runs: Iterable[MaskedLM]) -> list[str]:
    """The conditions that there are runs of, in order."""
    return sorted({run.condition for run in runs}, key=rank)


def groups(runs: Sequence[MaskedLM]) -> dict[str, list[str]]:
    """The conditions to average over, by the name of their group: `same`, `reordered`, `none`, those that
    there are.
    """
    there = conditions_of(runs)
    of_group = {SAME: [SAME], REORDERED: [code for code in there if code not in (SAME, NONE)], NONE: [NONE]}
    return {group: conditions for group, conditions in of_group.items() if {*conditions} & {*there}}


def group_label(conditions: Sequence[str]) -> str:
    """What the figures of a group are of."""
    labels = ", ".join(map(condition_label, conditions))
    return f"means over {labels}" if len(conditions) > 1 else labels


def runs_of(runs: Iterable[MaskedLM], system: str, condition: str) -> list[MaskedLM]:
    """The seeds of a system in a condition."""
    return [run for run in runs if (run.system, run.condition) == (system, condition)]


def runs_by_seed(
    runs: Iterable[MaskedLM], system: str, conditions: Sequence[str]
) -> dict[int, list[MaskedLM]]:
    """The runs of a system by seed, those of seeds that have all the conditions."""
    found: dict[int, list[MaskedLM]] = {}
    for condition in conditions:
        for run in runs_of(runs, system, condition):
            found.setdefault(run.seed, []).append(run)
    return {seed: of_seed for seed, of_seed in sorted(found.items()) if len(of_seed) == len(conditions)}


def common_training(runs: Sequence[MaskedLM]) -> str:
    """What all runs have in common."""
    *_, last = runs  # of two languages, if there are any
    languages = 1 if last.condition == NONE else 2
    train, valid = (last.sentences[part] // languages for part in ("train", "valid"))
    epochs = f"{last.epochs:g} epochs"
    if alone := [run.epochs for run in runs if run.condition == NONE and languages == 2]:
        epochs += f", of EN alone {alone[0]:g}"
    return f"{train:,} sentences of a language to train on, {valid:,} to score; {epochs}."
