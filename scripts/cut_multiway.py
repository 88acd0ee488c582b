"""Cut pivot-centred training pairs from a multiway corpus ({train,valid,test}.{lang})."""

import argparse
import os
import shutil
from pathlib import Path

from zsnmt import console
from zsnmt.corpora.multiway import CONDITIONS, cut_training_pairs
from zsnmt.errors import InputError


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="multiway corpus")
    parser.add_argument("target", type=Path, help="folder of parallel text to make")
    parser.add_argument("--languages", nargs="+", required=True, metavar="CODE", help="the languages, the pivot first")
    parser.add_argument("--condition", choices=CONDITIONS, required=True,
                        help="every line in every pair, or no pivot sentence in two pairs")
    parser.add_argument("--seed", type=int, default=1, help="seed of the dealing")
    options = parser.parse_args()

    if options.target.exists():
        raise InputError(f"{options.target} is there already; remove it or give another folder")
    part = options.target.with_name(options.target.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    counts = cut_training_pairs(options.folder, part, options.languages, options.condition, options.seed)
    os.replace(part, options.target)
    for pair, number in counts.items():
        print(f"train\t{pair}\t{number}")


if __name__ == "__main__":
    console.run(main)
