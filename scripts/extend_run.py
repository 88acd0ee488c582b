"""Start the adaptation of a run: its model with rows for new languages, and the options that its training goes on with."""

import argparse
from pathlib import Path

from zsnmt import console


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path, help="the run that learns the languages")
    parser.add_argument("--data", type=Path, required=True, help="folder made by scripts/extend_data.py")
    parser.add_argument("--output", type=Path, required=True, help="checkpoint to write; its options go beside it, a line each")
    parser.add_argument("--mode", choices=["full", "frozen"], default="full", help="train everything, or new rows alone")
    parser.add_argument("--adapter-dim", type=int, default=0, metavar="D", help="in mode frozen, also an adapter after each decoder layer")
    parser.add_argument("--noise", choices=["multiplicative", "additive", "none"], default="multiplicative",
                        help="new rows are the mean of the old ones, times N(1, s²), plus noise of s column deviations, or as it is")
    parser.add_argument("--noise-scale", type=float, default=1.0, metavar="S", help="s (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the noise")
    options = parser.parse_args()
    from zsnmt.adaptation.run import extend_run  # loads PyTorch

    added = extend_run(options.run, options.data, options.output, options.mode, options.adapter_dim, options.noise, options.noise_scale, options.seed)
    for table, number in added.items():
        print(f"{table}\t{number} new rows")


if __name__ == "__main__":
    console.run(main)
