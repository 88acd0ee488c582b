"""Translate and score a test set in every direction, zero-shot ones also through the pivot: RUN/scores.json."""

import argparse
from pathlib import Path

from tqdm import tqdm

from zsnmt import console
from zsnmt.decoding.length_penalty import FORMS, POWER
from zsnmt.decoding.options import add_engine_options, engine_choice
from zsnmt.languages import kind_name, parse_directions
from zsnmt.runs.scores import SCORES_FILE, Result, write_score_file
from zsnmt.scoring.options import add_scoring_options, chosen_scoring


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path, help="run folder made by recipes/train.sh, or its export by scripts/export.py")
    parser.add_argument("--text", type=Path, help="parallel text with the test set (default: that of the run)")
    parser.add_argument("--split", default="test", help="name of the test set")
    parser.add_argument("--lines", type=int, metavar="N", help="only the first N lines of the set")
    parser.add_argument("--directions", type=parse_directions, help="only these, as in de-fr,fr-de")
    parser.add_argument("--beam", type=int, default=4, help="hypotheses kept at each step")
    parser.add_argument("--length-penalty", type=float, metavar="ALPHA", default=1.0,
                        help="exponent of the length by which log-probabilities are divided (default: %(default)s)")
    parser.add_argument("--length-penalty-form", choices=FORMS, default=POWER,
                        help="the power is that of the length, or gnmt: of (5 + length) / 6 (default: %(default)s)")
    add_scoring_options(parser)
    parser.add_argument("--pivot-run", type=Path, metavar="RUN", help="run that translates through the pivot (default: the same)")
    parser.add_argument("--output", type=Path, help="score file (default: RUN/scores.json, for the recipe's test set only)")
    add_engine_options(parser)
    options = parser.parse_args()
    if options.output is None and (options.text or options.directions or options.split != "test"):
        parser.error("--text, --split and --directions need an --output of their own: RUN/scores.json is the recipe's")
    scoring = chosen_scoring(options)
    from zsnmt.decoding.search import Search
    from zsnmt.evaluation.evaluate import evaluate  # loads PyTorch
    from zsnmt.evaluation.text import Split

    scores = evaluate(
        options.run,
        Split(options.text, options.split, options.directions, options.lines),
        search=Search(options.beam, options.length_penalty, options.length_penalty_form),
        engine=engine_choice(options),
        scoring=scoring,
        pivot_run=options.pivot_run,
        hypotheses=options.output and options.output.with_suffix(".hypotheses"),
        scored=show,
    )
    write_score_file(options.output or options.run / SCORES_FILE, scores)


def show(result: Result) -> None:
    """A line a direction, as soon as it is scored."""
    figures, kind = result.figures, f"{kind_name(result.kind)} {result.way.phrase}"
    tqdm.write(
        f"{str(result.direction):<15}  {kind:<24}  BLEU {figures['bleu']:5.1f}  chrF++ {figures['chrf']:5.1f}  "
        f"off-target {100 * figures['off_target']:5.1f} %"
    )


if __name__ == "__main__":
    console.run(main)
