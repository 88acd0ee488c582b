"""Average the best checkpoints of a run into RUN/model.pt."""

import argparse
from pathlib import Path

from zsnmt import console
from zsnmt.runs.folder import CHECKPOINTS, MODEL_FILE


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path, help="run folder; its checkpoints are in RUN/checkpoints")
    parser.add_argument("--number", type=int, default=5, help="how many of the best checkpoints")
    options = parser.parse_args()
    from zsnmt.runs.checkpoints import average_checkpoints, best_checkpoints  # loads PyTorch

    paths = best_checkpoints(options.run / CHECKPOINTS, options.number)
    average_checkpoints(paths, options.run / MODEL_FILE)
    print(f"{options.run / 'model.pt'} is the mean of {', '.join(path.name for path in paths)}")


if __name__ == "__main__":
    console.run(main)
