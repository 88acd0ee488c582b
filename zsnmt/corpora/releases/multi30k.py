"""Multi30k (Elliott et al. 2016): image captions in English, German, French and Czech as parallel text.

The release is the raw text of task 1, `train`, `val` and `test_2016_flickr`, plain or packed: multiway, so
the training pairs are cut as by `zsnmt.corpora.multiway`. The names `valid` and `test` are read as well.
"""

from collections.abc import Sequence
from pathlib import Path

from zsnmt.corpora.multiway import write_training_pairs
from zsnmt.corpora.parallel_text import SPLITS, write_rows
from zsnmt.corpora.releases.release import clean_rows, count_pairs, find_files, read_multiway_rows
from zsnmt.languages import check_languages

NAMES = {"train": ["train"], "valid": ["val", "valid"], "test": ["test_2016_flickr", "test"]}


def read_release(
    release: Path, target: Path, languages: Sequence[str], condition: str = "multiway", seed: int = 1
) -> dict[str, dict[str, int]]:
    """Write parallel text from the release into `target`; returns sentence pairs by split and pair.

    `languages`: the pivot first; `condition` and `seed` as in `write_training_pairs`. Raises InputError for
    files that are missing or differ in their number of lines, and for an unknown condition.
    """
    check_languages(languages)
    wanted = [[[f"{name}.{language}" for language in languages] for name in NAMES[split]] for split in SPLITS]
    files = find_files(release, wanted, "multi30k")
    training, *held_out = (
        clean_rows(read_multiway_rows(paths), split) for split, paths in zip(SPLITS, files)
    )
    write_training_pairs(dict(zip(languages, zip(*training))), target, condition, seed=seed)
    for split, rows in zip(SPLITS[1:], held_out):
        write_rows(target, split, languages, rows=rows)
    return count_pairs(target, languages)
