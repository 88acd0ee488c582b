"""What validation says of each direction while a model trains: loss, BLEU, and a line of JSON each time."""

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path

from sacrebleu.metrics import BLEU

from zsnmt.files.kinds import check_kinds
from zsnmt.files.records import damage_of
from zsnmt.languages import KINDS, parse_direction
from zsnmt.runs.trained_directions import TrainedDirections

VALIDATION_FILE = "validation.jsonl"
ORDER = 4  # of BLEU's n-grams


class BleuCounts:
    """Corpus BLEU (0–100, sacreBLEU, 13a) from counts that can be added up over batches and workers."""

    SIZE = 2 * ORDER + 2  # matches and n-grams of each order, lengths of hypotheses and references

    def __init__(self) -> None:
        self.metric = BLEU(force=True)

    def count(self, hypotheses: Sequence[str], references: Sequence[str]) -> list[float]:
        """The counts of a batch."""
        score = self.metric.corpus_score(hypotheses, [references])
        return [*score.counts, *score.totals, score.sys_len, score.ref_len]

    @staticmethod
    def bleu(counts: Sequence[float]) -> float:
        """The score of added counts."""
        matches, totals, lengths = counts[:ORDER], counts[ORDER:-2], counts[-2:]
        return round(BLEU.compute_bleu(matches, totals, *map(int, lengths), smooth_method="exp").score, 2)


def append_validation(
    folder: Path,
    epoch: int,
    stats: Mapping[str, float],
    directions: Sequence[str],
    learned: TrainedDirections,
    decisive: Iterable[str] = (),
) -> None:
    """Add a line to `validation.jsonl` in a folder: epoch, updates, and each direction's kind by what the
    model has `learned`, loss (bits) and BLEU; `chosen_on`, if any of the directions that are decisive for
    checkpoints is not trained.
    """
    choosing = [direction for direction in decisive if direction not in learned.trained]
    line = {
        "epoch": epoch,
        "updates": int(stats["num_updates"]),
        "nll_loss": float(stats["nll_loss"]),
        **({"chosen_on": choosing} if choosing else {}),
        "directions": {
            direction: {
                "kind": learned.kind(direction),
                **{
                    figure: float(stats[f"{figure}_{direction}"])
                    for figure in ("nll_loss", "bleu")
                    if f"{figure}_{direction}" in stats
                },
            }
            for direction in directions
        },
    }
    with (folder / VALIDATION_FILE).open("a+b") as file:
        file.seek(max(0, file.tell() - 1))
        cut_short = file.read() not in (b"", b"\n")
        file.write(("\n" * cut_short + json.dumps(line) + "\n").encode("utf-8"))


def read_validations(folder: Path) -> list[dict]:
    """The lines of a folder's `validation.jsonl` by updates, each once; none without the file.

    A run that is resumed may validate twice at one update: the later line counts. A last line that was cut
    short is left out.
    """
    path = folder / VALIDATION_FILE
    if not path.is_file():
        return []
    found = {}
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1):
        try:
            entry = json.loads(line)
        except json.JSONDecodeError:  # of a process that was killed as it wrote
            continue
        with damage_of(f"{path}, line {number}", "leave the others as they are"):
            check_entry(entry)
            found[entry["updates"]] = entry
    return [found[updates] for updates in sorted(found)]


def check_entry(entry: Mapping) -> None:
    """`ValueError` for what is not a line of `validation.jsonl`."""
    check_kinds(entry, {"epoch": int, "updates": int, "directions": Mapping[str, Mapping]})
    check_kinds(entry, {"chosen_on": Sequence[str] | None})
    for direction, of_direction in entry["directions"].items():
        parse_direction(direction)
        check_kinds(of_direction, {"kind": str, "nll_loss": float | None, "bleu": float | None})
        if of_direction["kind"] not in KINDS:
            raise ValueError(f"'{of_direction['kind']}' is not a kind of direction")


def choosing_directions(folder: Path) -> list[str]:
    """The zero-shot directions whose validation text chose checkpoints, by a folder's `validation.jsonl`."""
    return [*dict.fromkeys(chain(*(entry.get("chosen_on", []) for entry in read_validations(folder))))]
