"""A run of the study of position encodings in masked language models; recipes/compression.sh calls it.

    python scripts/compression_run.py check --systems learned tupe_absolute
    python scripts/compression_run.py start RUN --config FILE --condition same --system learned --seed 0 --command WORDS
    python scripts/compression_run.py score RUN --data FOLDER --layers 0 8
"""

import argparse
from pathlib import Path

from zsnmt import console
from zsnmt.masked_lm.runs import check_system, start_run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    check = verbs.add_parser("check", help="refuse systems that do not exist")
    check.add_argument("--systems", nargs="+", required=True)
    start = verbs.add_parser("start", help="make a run folder and print fairseq's options of its system")
    start.add_argument("run", type=Path)
    start.add_argument("--config", type=Path, required=True, help="config file of the study")
    start.add_argument("--condition", required=True, help="the second language: same, none or a code")
    start.add_argument("--system", required=True, help="a position encoding, or an ablation")
    start.add_argument("--seed", type=int, required=True)
    start.add_argument("--command", required=True, help="the command that makes this run")
    score = verbs.add_parser("score", help="measure a trained run: RUN/compression.json")
    score.add_argument("run", type=Path)
    score.add_argument("--data", type=Path, required=True, help="folder made by scripts/prepare_bert.py")
    score.add_argument("--layers", type=int, nargs=2, default=[0, 8], help="of retrieval and translation (default: 0 8)")
    options = vars(parser.parse_args())
    verb = options.pop("verb")
    if verb == "check":
        for system in options["systems"]:
            check_system(system)
    elif verb == "start":
        start_run(**options)
        print(*check_system(options["system"]))
    else:
        from zsnmt.masked_lm.scores import score_run  # fairseq, which takes seconds to load

        scores = score_run(options["run"], options["data"], tuple(options["layers"]))
        shown = {"perplexity": scores["perplexity"]["full"], "ML score": scores["ml_score"]}
        print(", ".join(f"{name} {value:.3g}" for name, value in shown.items() if value is not None))


if __name__ == "__main__":
    console.run(main)
