"""Trained masked language models, as they are or fine-tuned, from their checkpoints."""

from pathlib import Path

from fairseq import checkpoint_utils
from fairseq.models import BaseFairseqModel
from fairseq.tasks import TASK_REGISTRY, FairseqTask

import zsnmt
from zsnmt.errors import InputError
from zsnmt.runs.checkpoints import load_state


def load_model(checkpoint: Path, data: Path, task_name: str) -> tuple[BaseFairseqModel, FairseqTask]:
    """A trained model, ready to be asked, and its task on a folder of data; `InputError` for a file that
    is none.
    """
    zsnmt.register()
    if not checkpoint.is_file():
        raise InputError(f"{checkpoint} is missing; train the model to its end first")
    state = load_state(checkpoint, {"data": str(data)})
    try:
        (model,), _, task = checkpoint_utils.load_model_ensemble_and_task([str(checkpoint)], state=state)
    except (RuntimeError, KeyError, OSError) as error:
        raise InputError(
            f"{checkpoint} is not a checkpoint of such a model, or {data} is not what it was trained on; "
            "give other files, or train the model again"
        ) from error
    if not isinstance(task, TASK_REGISTRY[task_name]):
        raise InputError(
            f"{checkpoint} was trained for another task than {task_name}; give a model that was trained for "
            "it"
        )
    return model.eval(), task
