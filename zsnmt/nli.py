"""How often a fine-tuned model tells whether a sentence follows from another: accuracy on XNLI, language by language."""

from pathlib import Path
from pickle import UnpicklingError

import torch
from fairseq import checkpoint_utils, utils
from fairseq.models import BaseFairseqModel
from fairseq.tasks.sentence_prediction import SentencePredictionTask

import zsnmt.models  # noqa: F401  (registers the architectures)
import zsnmt.tasks  # noqa: F401  (and what loads checkpoints)
from zsnmt.binarised_languages import COUNTS_FILE
from zsnmt.binarised_nli import TEST
from zsnmt.errors import InputError
from zsnmt.files import read_json, write_json
from zsnmt.report.xnli import SCORES_FILE
from zsnmt.runs import RECORD_FILE
from zsnmt.text.parallel import progress

BATCH = 64  # pairs


def score_run(run: Path, checkpoint: Path, data: Path) -> dict:
    """Write what a fine-tuned model scores on every test set of a folder of `binarised_nli` to xnli.json, and return it.

    Raises `InputError` for a run, a checkpoint or a folder that is not what it should be.
    """
    record = read_json(run / RECORD_FILE, "make a run folder with recipes/xnli.sh")
    pairs = read_json(data / COUNTS_FILE, "make the folder with scripts/prepare_xnli.py")
    model, task = load_model(checkpoint, data)
    languages = [split.removeprefix(TEST) for split in pairs if split.startswith(TEST)]
    scores = record | {"pairs": pairs, "accuracy": {language: accuracy(model, task, f"{TEST}{language}") for language in languages}}
    write_json(run / SCORES_FILE, scores)
    return scores


def load_model(checkpoint: Path, data: Path) -> tuple[BaseFairseqModel, SentencePredictionTask]:
    """A fine-tuned model, ready to be asked, on a GPU if there is one, and its task; `InputError` for a file that is none."""
    if not checkpoint.is_file():
        raise InputError(f"{checkpoint} is missing; fine-tune the model to its end first")
    try:
        (model,), _, task = checkpoint_utils.load_model_ensemble_and_task([str(checkpoint)], {"data": str(data)})
    except (RuntimeError, KeyError, EOFError, OSError, UnpicklingError) as error:
        raise InputError(f"{checkpoint} cannot be read with {data} ({str(error).splitlines()[0]}); fine-tune the model anew") from error
    if not isinstance(task, SentencePredictionTask):
        raise InputError(f"{checkpoint} was trained for another task than sentence_prediction; give a fine-tuned model")
    return (model.cuda() if torch.cuda.is_available() else model).eval(), task


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
