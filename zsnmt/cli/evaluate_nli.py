"""Score the fine-tuned model of a run on the XNLI test set of each language; xnli.json in the run keeps what
it prints.

zsnmt evaluate-nli RUN DATA
"""

from collections.abc import Sequence
from pathlib import Path

from zsnmt import console


def main(arguments: Sequence[str] | None = None) -> None:
    parser = console.Parser(prog="zsnmt evaluate-nli", description=__doc__)
    parser.add_argument("run", type=Path, help="run folder made by zsnmt xnli")
    parser.add_argument("data", type=Path, help="folder made by zsnmt prepare-xnli")
    parser.add_argument("--checkpoint", type=Path, help="fine-tuned model (default: the last one of the run)")
    args = parser.parse_args(arguments)

    from zsnmt.masked_lm.nli import score_run  # fairseq, which takes seconds to load

    scores = score_run(
        args.run, args.checkpoint or args.run / "finetuning" / "checkpoints" / "checkpoint_last.pt", args.data
    )
    print("language", "accuracy", "pairs", sep="\t")
    for language, accuracy in scores["accuracy"].items():
        print(language, f"{accuracy:.4f}", scores["pairs"][f"test_{language}"], sep="\t")
