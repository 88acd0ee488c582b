"""List the systems of ablation studies: name, architecture and further options of each, with tabs between."""

import argparse

from zsnmt import console


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("studies", nargs="+", help="removal_layer, positions, replacement, clip_distance, encodings or bias_layers")
    parser.add_argument("--config-options", default="", metavar="'OPTIONS'",
                        help="options of fairseq-train that the systems have in common: MODEL and TRAINING of the config")
    options = parser.parse_args()

    from zsnmt.training.studies import systems  # fairseq, which takes seconds to load

    for system in systems(options.studies, options.config_options.split()):
        print(system.name, system.architecture, " ".join(system.options), sep="\t")


if __name__ == "__main__":
    console.run(main)
