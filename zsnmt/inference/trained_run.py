"""A run folder's model with its task and text pipeline; nothing outside the folder is read."""

from dataclasses import dataclass
from pathlib import Path

import torch
from fairseq import checkpoint_utils
from fairseq.data import Dictionary
from fairseq.models import BaseFairseqModel

import zsnmt.models  # noqa: F401  (registers)
import zsnmt.tasks  # noqa: F401
from zsnmt.data.language_tags import TagPlacement
from zsnmt.errors import InputError
from zsnmt.languages import Direction, parse_direction
from zsnmt.runs.checkpoints import readable
from zsnmt.runs.folder import MODEL_FILE, PIPELINE_FOLDER
from zsnmt.tasks.zs_translation import ZeroShotTranslationTask
from zsnmt.text.pipeline import TextPipeline


@dataclass(frozen=True)
class Knowledge:
    """What it takes to put text before a model and to read its output.

    `languages` in their order, the pivot first; `trained`: the directions of training; `longest`: the most tokens that
    the model reads of a source, tags and EOS among them.
    """

    pipeline: TextPipeline
    dictionary: Dictionary
    placement: TagPlacement
    languages: list[str]
    trained: list[Direction]
    longest: int


@dataclass(frozen=True)
class TrainedRun:
    """The model, in evaluation mode, and the task that it was trained on."""

    model: BaseFairseqModel
    task: ZeroShotTranslationTask
    known: Knowledge


def load_run(run: Path, checkpoint: str = MODEL_FILE) -> TrainedRun:
    """Load a run folder's model onto the GPU, if there is one; `InputError` for another folder or a damaged file."""
    folder, path = run / PIPELINE_FOLDER, run / checkpoint
    if not folder.is_dir():
        raise InputError(f"{run} is no run folder: it has no {PIPELINE_FOLDER}/; give one made by recipes/train.sh")
    overrides = {"data": str(folder), "source_lang": None, "target_lang": None, "fast_training": False}
    with readable(path):
        state = checkpoint_utils.load_checkpoint_to_cpu(str(path), overrides)
        (model,), cfg, task = checkpoint_utils.load_model_ensemble_and_task([str(path)], state=state)
    model.eval().prepare_for_inference_(cfg)
    model.to("cuda" if torch.cuda.is_available() else "cpu")
    trained = [parse_direction(pair) for pair in task.trained_directions]
    known = Knowledge(
        TextPipeline.load(folder), task.target_dictionary, task.placement, list(task.langs), trained, task.max_positions()[0]
    )
    return TrainedRun(model, task, known)
