"""How multilingual a masked language model became, and what its positions are like (Ravishankar and
Søgaard 2021).
"""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from fairseq.data import FairseqDataset
from fairseq.models import BaseFairseqModel

from zsnmt.analysis.correlations import band_shares, correlations
from zsnmt.analysis.position_encodings import curves, gaussian_control
from zsnmt.analysis.procrustes import compositionality
from zsnmt.analysis.retrieval import retrieval
from zsnmt.errors import InputError
from zsnmt.files.records import write_json
from zsnmt.masked_lm.ml_score import ml_score
from zsnmt.masked_lm.position_losses import OFFSETS, procrustes, round_values
from zsnmt.masked_lm.runs import read_record, score_file
from zsnmt.masked_lm.score_file import MaskedLM, parse_scores
from zsnmt.masked_lm.states import check_layers, losses, sentence_vectors, word_vectors
from zsnmt.masked_lm.trained_model import load_model
from zsnmt.modules.bert_encoder import (
    has_word_position_term,
    position_keys,
    position_projection,
    position_table,
)
from zsnmt.modules.position_names import INPUT_ENCODINGS, RELATIVE_KEYS
from zsnmt.runs.systems import MASKED_LM
from zsnmt.text.subword import plain_spaces

WORDS = 40  # of the heat map: the most frequent ones
CURVES = (0, 4, 8, 16)  # dimensions, from 0, as in the paper's Figure 4
EXAMPLE = range(8, 15)  # words of the sentence that is shown in all orders, as long as the paper's
PLACES = 32  # of the curves, at most


def score_run(
    run: Path, data: Path, layers: tuple[int, int], trees: Mapping[str, Mapping[str, int]] | None = None
) -> MaskedLM:
    """Write what a trained run scores to its score file, and return it; `InputError` for a run that is
    not trained.

    `trees`: of each split, how many trees were read and why some were left out; None for text of lines.
    """
    record = read_record(run, "masked-lm")
    checkpoint = run / "checkpoints" / "checkpoint_last.pt"
    model, task = load_model(checkpoint, data, "zs_masked_lm")
    check_layers(model, layers)
    state = torch.load(checkpoint, map_location="cpu")
    for split in ("train", "valid"):
        task.load_dataset(split)
    valid, longest = task.datasets["valid"], int(task.datasets["train"].sizes.max())
    scores = record | {
        "updates": state["optimizer_history"][-1]["num_updates"],
        "epochs": epochs_of(state, len(task.datasets["train"])),
        "sentences": {"train": len(task.datasets["train"]), "valid": len(valid)},
        "trees": trees,
        "example": example(task.datasets["train"], len(task.languages)),
    }
    half = len(valid) // max(1, len(task.languages))
    scores |= multilinguality(model, valid, half, layers=layers)
    scores |= score_positions(
        model, record["system"], longest, words=frequent(valid, half, model.encoder.dictionary.nspecial)
    )
    write_json(score_file(run), scores)
    return parse_scores(scores)


def epochs_of(state: dict, sentences: int) -> float:
    """How often a checkpoint's training went through its sentences, whole batches of a number of them."""
    at, batch = state["extra_state"]["train_iterator"], state["cfg"]["dataset"]["batch_size"]
    part = at["iterations_in_epoch"] * batch / sentences if batch else 0
    return round(at["epoch"] - 1 + min(part, 1), 2)


def multilinguality(
    model: BaseFairseqModel, valid: FairseqDataset, half: int, layers: tuple[int, int]
) -> dict:
    """Perplexities, and P@1 of sentences and words at each layer, both ways: 0–1, and None for one language
    alone.

    `half`: the lines of the first language, which come first. Perplexity is, as the study has it, of the mean
    over batches of their mean loss; `by_token` is of the mean over tokens. Raises `InputError` where no token
    of a part is masked.
    """
    perplexity: dict[str, float] = {}
    for part, lines in (("full", range(len(valid))), ("first", range(half))):
        if not (of_batches := losses(model, valid, lines)):
            raise InputError(f"no token of {len(lines)} lines of validation is masked; give more lines")
        means, numbers = map(np.array, zip(*of_batches))
        perplexity |= {
            part: np.exp(means.mean()),
            f"{part}_by_token": np.exp(np.average(means, weights=numbers)),
        }
    found: dict = {
        "layers": [*layers],
        "perplexity": perplexity,
        "retrieval": None,
        "translation": None,
        "ml_score": None,
    }
    if half < len(valid):
        size = len(model.encoder.dictionary) // 2
        # No special symbols: the copies of shared ones are never trained.
        words = np.arange(model.encoder.dictionary.nspecial + 1, size)
        sentences = (
            sentence_vectors(model, valid, lines, layers=layers)
            for lines in (range(half), range(half, 2 * half))
        )
        pairs = {
            "retrieval": sentences,
            "translation": (word_vectors(model, ids, layers) for ids in (words, words + size)),
        }
        for task, (one, other) in pairs.items():
            both = {str(layer): retrieval(*of_layer) for layer, of_layer in zip(layers, zip(one, other))}
            found[task] = {
                layer: {"forward": of.forward, "backward": of.backward, "mean": of.mean}
                for layer, of in both.items()
            }
        tasks = ({layer: of["mean"] for layer, of in found[task].items()} for task in pairs)
        found["ml_score"] = ml_score(*tasks)
    return found


def frequent(valid: FairseqDataset, lines: int, last_special: int) -> list[int]:
    """The most frequent symbols of a text's first lines, without special ones."""
    counts = Counter(
        token for line in range(lines) for token in valid[line]["tokens"].tolist() if token > last_special
    )
    return [token for token, _ in counts.most_common(WORDS)]


def example(text: FairseqDataset, languages: int) -> dict[str, str]:
    """A sentence of the first language, and what the second makes of it in the first one's symbols.

    It is the first of 8 to 14 words, so the same one in all conditions; the first of all where none is.
    """
    half, symbols = len(text) // max(1, languages), text.dictionary
    size = len(symbols) // 2 if languages > 1 else len(symbols)

    def words(line: int) -> str:
        pieces = (symbols[token % size] for token in text[line]["tokens"][1:-1].tolist())
        return plain_spaces("".join(pieces))

    line = next((line for line in range(half) if len(words(line).split()) in EXAMPLE), 0)
    return {"first": words(line)} | ({"second": words(half + line)} if languages > 1 else {})


def score_positions(model: BaseFairseqModel, system: str, longest: int, words: list[int]) -> dict:
    """What the paper's Figures 4 to 6 and 8 show of the encodings of the positions that training reached;
    None where it has none, or no such term.

    Curves are over positions, of relative keys over offsets. Losses and correlations are of one table for all
    layers, of relative keys of the first layer's; `procrustes_keys` are the losses of positions as keys
    (footnote 6).
    """
    found: dict = {
        "positions": longest,
        "curves": None,
        "procrustes": None,
        "procrustes_keys": None,
        "correlations": None,
        "bands": None,
    }
    encoder = model.encoder.sentence_encoder
    table = position_table(encoder, longest)
    if table is None:
        return found
    encoding = MASKED_LM[system][1]
    relative = encoding in RELATIVE_KEYS
    dimensions = [dimension for dimension in CURVES if dimension < table.shape[1]]
    drawn = curves(table, dimensions, min(PLACES, len(table)), centred=relative)
    found["curves"] = {"dimensions": dimensions, "values": round_values(drawn)}
    # As TUPE's, without the first token, which stands for the sentence.
    places = table[1:] if encoding in INPUT_ENCODINGS else table
    most = min(OFFSETS, (longest - 1) // 4, len(places) // 4, len(places) - 4)  # as chunks have room
    offsets = range(1, most + 1)  # the same for all encodings
    if offsets:
        noise = compositionality(gaussian_control(places), offsets)
        found["procrustes"] = procrustes(places, offsets) | {
            "noise": round(float(np.median(noise.median)), 3)
        }
        keys = position_keys(encoder, places)
        found["procrustes_keys"] = None if keys is None else procrustes(keys, offsets)
    if has_word_position_term(encoder):
        attention = encoder.layers[0].self_attn
        vectors = encoder.embed_scale * encoder.embed_tokens.weight[words]
        values = correlations(
            vectors.detach().numpy(),
            table,
            attention.q_proj.weight.detach().numpy(),
            key_weight=position_projection(encoder).weight.detach().numpy(),
            heads=attention.num_heads,
        )
        symbols = [model.encoder.dictionary[word] for word in words]
        found["correlations"] = {"words": symbols, "values": round_values(values)}
        bands = band_shares(values)
        found["bands"] = {"positions": bands.columns, "words": bands.rows, "size": bands.size}
    return found
