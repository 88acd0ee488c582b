"""How often the text of new languages is sampled beside that of a run."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from zsnmt.distillation.data import MAIN
from zsnmt.distillation.sampling import SAMPLING_FILE, pairs_in, sampling_weights
from zsnmt.distillation.student import authentic_directions
from zsnmt.distillation.student_options import read_options
from zsnmt.files.records import read_json, write_json
from zsnmt.languages import parse_direction, read_languages
from zsnmt.runs.systems import BASELINE


def write_share(
    run: Path, data: Path, new: Sequence[str], *, share: float, is_student: bool, options: Sequence[str]
) -> list[str]:
    """Write how often each direction of the binarised `data` that `options` of fairseq-train train is sampled
    for a run, so that those with a `new` language are a `share` (0–1) of all pairs; returns the options for
    that.

    What a student samples by weights that were just written keeps its proportions.
    """
    path = run / SAMPLING_FILE
    if is_student:
        weights = read_json(path, "give the same command again")
    else:
        read = read_options(BASELINE.architecture, options, data)
        directions = authentic_directions(read, data, read_languages(data))
        found = map(parse_direction, directions)
        weights = {f"{MAIN}:{direction}": pairs_in(data, direction) for direction in found}
    write_json(path, with_share(weights, new, share))
    return ["--sampling-weights-from-file", str(path.resolve())]


def with_share(weights: Mapping[str, float], new: Sequence[str], share: float) -> dict[str, float]:
    """Weights of sets of pairs, named like `main:de-en`, of which those of directions with a `new` language
    sum up to a share (0–1), and all others to the rest; within each side proportions stay as they are.
    """
    old, added = dict[str, float](), dict[str, float]()
    for name, weight in weights.items():
        of_new = {*name.partition(":")[2].split("-")} & {*new}
        (added if of_new else old)[name] = weight
    return sampling_weights(old, added, share)[0]
