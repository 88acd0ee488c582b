"""Write what probes were made of, record.json, beside their tables."""

import argparse
from pathlib import Path

from zsnmt import console
from zsnmt.report.probes.record import write_probe_record


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("probes", type=Path, help="folder with the tables")
    parser.add_argument("run", type=Path, help="run folder whose model was probed")
    parser.add_argument("states", type=Path, help="states that were measured on")
    parser.add_argument("training", type=Path, help="states that the classifiers were trained on")
    parser.add_argument("--split", required=True, help="part of the text that was measured on")
    parser.add_argument("--kind", required=True, help="procedure of the classifiers")
    parser.add_argument("--variance", type=float, default=0.99, help="share of the variance that SVCCA keeps (default: %(default)s)")
    parser.add_argument("--seed", type=int, required=True, help="seed of the training text, the classifiers and the Gaussians")
    parser.add_argument("--command", required=True, help="the command that makes these probes")
    options = parser.parse_args()
    settings = {"split": options.split, "kind": options.kind, "variance": options.variance, "probe_seed": options.seed}
    settings["command"] = options.command
    write_probe_record(options.probes, options.run, options.states, options.training, **settings)


if __name__ == "__main__":
    console.run(main)
