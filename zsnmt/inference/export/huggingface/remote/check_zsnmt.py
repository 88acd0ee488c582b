"""Whether this folder translates here as the run that it was made of: python check_zsnmt.py [--report FILE]

check.json has lines with the tokens that zsnmt makes of them, log-probabilities of translations, and the best
translations of fairseq's search. Prints how far this machine and this version of transformers are from
them; exit status 1 if farther than check.json allows.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

HERE = Path(__file__).resolve().parent


def load(folder: Path) -> tuple[Any, Any]:
    """The model, which needs code of the folder unless it is a stock one, and the tokenizer."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    remote = {"trust_remote_code": True} if "auto_map" in config else {}
    model, told = AutoModelForSeq2SeqLM.from_pretrained(
        folder, dtype=torch.float32, output_loading_info=True, **remote
    )
    if odd := {name: sorted(keys) for name, keys in told.items() if keys}:
        raise SystemExit(f"weights and model do not fit: {odd}")
    return model.eval(), AutoTokenizer.from_pretrained(folder, trust_remote_code=True)


def log_probabilities(model: Any, translation: dict) -> torch.Tensor:
    """Of each token of a translation, with EOS."""
    prefix = torch.tensor([[translation["start"], *translation["tokens"][:-1]]])
    with torch.inference_mode():
        logits = model(input_ids=torch.tensor([translation["source"]]), decoder_input_ids=prefix).logits[0]
    tokens = torch.tensor(translation["tokens"])
    return logits.log_softmax(-1).gather(1, tokens[:, None]).squeeze(1)


def best_translations(
    model: Any, sentences: Sequence[dict], padding: int
) -> Iterator[tuple[int, list, float]]:
    """The place, tokens and score of the best translation of each, in batches of one length: of a batch, one
    limit holds.
    """
    places = sorted(range(len(sentences)), key=lambda place: len(sentences[place]["source"]))
    for _, group in groupby(places, key=lambda place: len(sentences[place]["source"])):
        batch = [*group]
        sources = torch.tensor([sentences[place]["source"] for place in batch])
        with torch.inference_mode():
            found = model.generate(
                input_ids=sources,
                attention_mask=torch.ones_like(sources),
                decoder_start_token_id=torch.tensor([sentences[place]["start"] for place in batch]),
                max_new_tokens=sentences[batch[0]]["limit"],
                output_scores=True,
                return_dict_in_generate=True,
            )
        scores = found.sequences_scores.tolist()
        for place, (_, *tokens), score in zip(batch, found.sequences.tolist(), scores):
            yield place, [token for token in tokens if token != padding], score


def tokenizer_differences(tokenizer: Any, lines: Sequence[dict]) -> list[str]:
    """Lines that become other tokens, or whose tokens become another text."""
    different = []
    for line in lines:
        tokenizer.src_lang, tokenizer.tgt_lang = line["from"], line["to"]
        source = tokenizer(line["text"])["input_ids"]
        target = tokenizer(text_target=line["text"])["input_ids"]
        # As text of the other language, too, which detokenises by its own rules.
        text = tokenizer.decode(line["target"], skip_special_tokens=True)
        found = {"source": source, "target": target, "start": tokenizer.start_token_id(), "back": text}
        different += [
            f"{line['from']}-{line['to']} {line['text']!r}: {name} is {value!r}, not {line[name]!r}"
            for name, value in found.items()
            if value != line[name]
        ]
    return different


def check(folder: Path) -> dict:
    """How far the folder is from what it was made of."""
    model, tokenizer = load(folder)
    expected = json.loads((folder / "check.json").read_text(encoding="utf-8"))
    apart = torch.cat(
        [
            log_probabilities(model, each) - torch.tensor(each["log_probabilities"])
            for each in expected["translations"]
        ]
    )
    sentences = expected["best"]
    others = [
        abs(score - sentences[place]["score"])
        for place, tokens, score in best_translations(model, sentences, tokenizer.pad_token_id)
        if tokens != sentences[place]["tokens"]
    ]
    return {
        "transformers": transformers.__version__,
        "torch": torch.__version__,
        "largest": apart.abs().max().item(),
        "rms": apart.pow(2).mean().sqrt().item(),
        "tokens": len(apart),
        "equal": 1 - len(others) / max(1, len(sentences)),
        "score": torch.tensor([0.0, *others], dtype=torch.double).max().item(),
        "text": tokenizer_differences(tokenizer, expected["lines"])[:5],
        "allowed": expected["allowed"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--report", type=Path, help="file for the figures, as JSON")
    options = parser.parse_args()
    found = check(HERE)
    if options.report:
        options.report.write_text(json.dumps(found), encoding="utf-8")
    print(
        f"transformers {found['transformers']}: log-probabilities differ by up to {found['largest']:.2g}, "
        f"{found['equal']:.1%} of the best translations are equal, others' scores up to {found['score']:.2g} "
        f"apart; {len(found['text'])} lines of text differ",
        *found["text"],
        sep="\n",
    )
    near = all(found[name] <= found["allowed"] for name in ("largest", "score"))
    sys.exit(0 if near and not found["text"] else 1)


if __name__ == "__main__":
    main()
