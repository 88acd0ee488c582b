"""A run folder's model with its task and text pipeline; nothing outside the folder is read."""

from dataclasses import dataclass
from pathlib import Path

import torch
from fairseq import checkpoint_utils
from fairseq.models import BaseFairseqModel

import zsnmt
from zsnmt.data.reading import Codec
from zsnmt.errors import InputError
from zsnmt.runs.checkpoints import readable
from zsnmt.runs.folder import MODEL_FILE, PIPELINE_FOLDER
from zsnmt.tasks.zs_translation import ZeroShotTranslationTask


@dataclass(frozen=True)
class TrainedRun:
    """The model, in evaluation mode, the task that it was trained on, and what turns text into its input."""

    model: BaseFairseqModel
    task: ZeroShotTranslationTask
    codec: Codec


def load_run(run: Path, checkpoint: str = MODEL_FILE) -> TrainedRun:
    """Load a run folder's model onto the GPU, if there is one; `InputError` for another folder or a
    damaged file.
    """
    zsnmt.register()
    folder, path = run / PIPELINE_FOLDER, run / checkpoint
    if not folder.is_dir():
        raise InputError(
            f"{run} is not a run folder: it has no {PIPELINE_FOLDER}/; give one made by recipes/train.sh"
        )
    overrides = {"data": str(folder), "source_lang": None, "target_lang": None}
    with readable(path):
        state = checkpoint_utils.load_checkpoint_to_cpu(str(path), overrides)
        (model,), cfg, task = checkpoint_utils.load_model_ensemble_and_task([str(path)], state=state)
    model.eval().prepare_for_inference_(cfg)
    model.to("cuda" if torch.cuda.is_available() else "cpu")
    return TrainedRun(model, task, task.codec)
