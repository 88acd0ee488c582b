"""Score the fine-tuned model of a run on the XNLI test set of each language; xnli.json in the run keeps what it prints.

    python scripts/evaluate_nli.py RUN DATA
"""

import argparse
from pathlib import Path

from zsnmt import console


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="run folder made by recipes/xnli.sh")
    parser.add_argument("data", type=Path, help="folder made by scripts/prepare_xnli.py")
    parser.add_argument("--checkpoint", type=Path, help="fine-tuned model (default: the last one of the run)")
    args = parser.parse_args()

    from zsnmt.masked_lm.nli import score_run  # fairseq, which takes seconds to load

    scores = score_run(args.run, args.checkpoint or args.run / "finetuning" / "checkpoints" / "checkpoint_last.pt", args.data)
    print("language", "accuracy", "pairs", sep="\t")
    for language, accuracy in scores["accuracy"].items():
        print(language, f"{accuracy:.4f}", scores["pairs"][f"test_{language}"], sep="\t")


if __name__ == "__main__":
    console.run(main)
