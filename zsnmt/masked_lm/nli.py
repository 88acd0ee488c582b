"""How often a fine-tuned model tells whether a sentence follows from another: accuracy on XNLI, language
by language.
"""

from pathlib import Path

import torch
from fairseq import utils
from fairseq.models import BaseFairseqModel
from fairseq.tasks.sentence_prediction import SentencePredictionTask

from zsnmt.files.records import write_json
from zsnmt.masked_lm.nli_data import TEST
from zsnmt.masked_lm.report.xnli import SCORES_FILE
from zsnmt.masked_lm.runs import read_counts, read_record
from zsnmt.masked_lm.trained_model import load_model
from zsnmt.processes import progress

BATCH = 64  # pairs


def score_run(run: Path, checkpoint: Path, data: Path) -> dict:
    """Write what a fine-tuned model scores on every test set of a folder of `binarised_nli` to xnli.json, and
    return it.

    Raises `InputError` for a run, a checkpoint or a folder that is not what it should be.
    """
    record = read_record(run, "xnli")
    pairs = read_counts(data, "make the folder with zsnmt prepare-xnli")
    model, task = load_model(checkpoint, data, "sentence_prediction")
    model = model.cuda() if torch.cuda.is_available() else model
    languages = [split.removeprefix(TEST) for split in pairs if split.startswith(TEST)]
    scores = record | {
        "pairs": pairs,
        "accuracy": {language: accuracy(model, task, f"{TEST}{language}") for language in languages},
    }
    write_json(run / SCORES_FILE, scores)
    return scores


@torch.no_grad()
def accuracy(model: BaseFairseqModel, task: SentencePredictionTask, split: str) -> float:
    """The share, 0–1, of a split's pairs whose label is the most probable one."""
    dataset, right = task.load_dataset(split), 0
    for start in progress(range(0, len(dataset), BATCH), split, unit=" batches"):
        batch = dataset.collater([dataset[pair] for pair in range(start, min(start + BATCH, len(dataset)))])
        batch = utils.move_to_cuda(batch) if torch.cuda.is_available() else batch
        logits, _ = model(**batch["net_input"], classification_head_name=task.cfg.classification_head_name)
        right += int(logits.argmax(dim=1).eq(batch["target"].flatten()).sum())
    return right / len(dataset)
