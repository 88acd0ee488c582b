"""Make the folder of a run of a masked language model: config, and run.json with command, commit and versions."""

import argparse
from pathlib import Path

from zsnmt import console


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path, help="run folder")
    parser.add_argument("--config", type=Path, required=True, help="config file of the experiment")
    parser.add_argument("--condition", required=True, help="the second language, or all of them")
    parser.add_argument("--system", required=True, help="what encodes positions")
    parser.add_argument("--seed", type=int, required=True, help="seed of the training")
    parser.add_argument("--command", required=True, help="the command that makes this run")
    args = parser.parse_args()

    from zsnmt.compression import start_run  # fairseq, which takes seconds to load

    start_run(**vars(args))


if __name__ == "__main__":
    console.run(main)
