"""Translate and score a test set in every direction, zero-shot ones also through the pivot: RUN/scores.json."""

import argparse
from pathlib import Path

from sacrebleu.metrics import BLEU
from tqdm import tqdm

from zsnmt import console
from zsnmt.decoding.length_penalty import FORMS, POWER
from zsnmt.decoding.options import add_engine_options, engine_choice
from zsnmt.files import write_json
from zsnmt.languages import parse_directions
from zsnmt.runs.scores import SCORES_FILE
from zsnmt.scoring.comet import MODEL, PACKAGE, Comet


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path, help="run folder made by recipes/train.sh, or its export by scripts/export.py")
    parser.add_argument("--text", type=Path, help="parallel text with the test set (default: that of the run)")
    parser.add_argument("--split", default="test", help="name of the test set")
    parser.add_argument("--identifier", choices=["py3langid", "lexicon"], default="py3langid",
                        help="what finds off-target output; lexicon needs lexicon.xx files beside the text")
    parser.add_argument("--bleu-tokenizer", choices=[*sorted(BLEU.TOKENIZERS), "subwords"], default="13a",
                        help="sacreBLEU's tokeniser: 13a, or flores101 for Indic scripts (fetched when first used); "
                             "or subwords, those of the run's own model, for runs that share it")
    parser.add_argument("--beam", type=int, default=4, help="hypotheses kept at each step")
    parser.add_argument("--length-penalty", type=float, metavar="ALPHA", default=1.0,
                        help="exponent of the length by which log-probabilities are divided (default: %(default)s)")
    parser.add_argument("--length-penalty-form", choices=FORMS, default=POWER,
                        help="the power is that of the length, or gnmt: of (5 + length) / 6 (default: %(default)s)")
    parser.add_argument("--normalise-references", action="store_true",
                        help="spell references as the run's tokenisation does, which Indic scripts need")
    parser.add_argument("--lines", type=int, metavar="N", help="only the first N lines of the set")
    parser.add_argument("--directions", type=parse_directions, help="only these, as in de-fr,fr-de")
    parser.add_argument("--pivot-run", type=Path, metavar="RUN", help="run that translates through the pivot (default: the same)")
    parser.add_argument("--comet", nargs="?", const=MODEL, metavar="MODEL",
                        help=f"also score with COMET (default model: {MODEL}); needs pip install {PACKAGE}")
    parser.add_argument("--output", type=Path, help="score file (default: RUN/scores.json, for the recipe's test set only)")
    add_engine_options(parser)
    options = parser.parse_args()
    if options.output is None and (options.text or options.directions or options.split != "test"):
        parser.error("--text, --split and --directions need an --output of their own: RUN/scores.json is the recipe's")
    comet = Comet(options.comet) if options.comet else None
    from zsnmt.evaluation.evaluate import evaluate  # loads PyTorch

    scores = evaluate(
        options.run, options.text, options.split, options.identifier, options.bleu_tokenizer, options.beam,
        options.length_penalty, options.length_penalty_form, options.directions, show,
        options.output and options.output.with_suffix(".hypotheses"), options.lines, options.normalise_references, options.pivot_run, comet,
        engine_choice(options),
    )  # fmt: skip
    write_json(options.output or options.run / SCORES_FILE, scores)


def show(result: dict) -> None:
    """A line a direction, as soon as it is scored."""
    tqdm.write(
        f"{result['direction']:<15}  {result['kind'].replace('_', '-'):<10}  BLEU {result['bleu']:5.1f}  "
        f"chrF++ {result['chrf']:5.1f}  off-target {100 * result['off_target']:5.1f} %"
    )


if __name__ == "__main__":
    console.run(main)
