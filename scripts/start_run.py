"""Make a run folder: config, text pipeline, and run.json with command, commit and versions."""

import argparse
from pathlib import Path

from zsnmt import console
from zsnmt.runs.folder import start_run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path, help="run folder")
    parser.add_argument("--config", type=Path, required=True, help="config file of the experiment")
    parser.add_argument("--data", type=Path, required=True, help="folder made by scripts/prepare.py")
    parser.add_argument("--text", type=Path, required=True, help="parallel text that the data were made from")
    parser.add_argument("--system", required=True, help="name of the system in tables")
    parser.add_argument("--seed", type=int, required=True, help="seed of the training")
    parser.add_argument("--command", required=True, help="the command that makes this run")
    parser.add_argument("--adapted-from", type=Path, metavar="RUN", help="the run that this one goes on from")
    parser.add_argument("--mode", default="", help="how it is adapted: full or frozen")
    start_run(**vars(parser.parse_args()))


if __name__ == "__main__":
    console.run(main)
