"""A run folder's model with its task and text pipeline; nothing outside the folder is read."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch
from fairseq import checkpoint_utils
from fairseq.models import BaseFairseqModel

import zsnmt
from zsnmt.data.reading import Codec
from zsnmt.decoding.gpu_memory import holding_a_model
from zsnmt.errors import InputError, in_one_line
from zsnmt.runs.checkpoints import explain_read_errors, load_state
from zsnmt.runs.checksums import REMEDY, check_model, check_pipeline
from zsnmt.runs.folder import MODEL_FILE, PIPELINE_FOLDER, check_has_model, check_pipeline_of_run, check_place
from zsnmt.seams.residual_removal import settle
from zsnmt.tasks.zs_translation import ZeroShotTranslationTask


@dataclass(frozen=True)
class TrainedRun:
    """The model of a folder, in evaluation mode, the task that it was trained on, and what turns text into
    its input.

    `checksum`: of the checkpoint that was read.
    """

    folder: Path
    model: BaseFairseqModel
    task: ZeroShotTranslationTask
    codec: Codec
    checksum: str


def load_run(run: Path, checkpoint: str = MODEL_FILE) -> TrainedRun:
    """Load a run folder's model onto the GPU, if there is one; `InputError` for another folder, for one whose
    name fairseq cannot read, and for files that are damaged or not those of the run.
    """
    zsnmt.register()
    folder, path = run / PIPELINE_FOLDER, run / checkpoint
    check_pipeline_of_run(run)
    check_place(run)
    if checkpoint == MODEL_FILE:
        check_has_model(run)
    check_pipeline(run)
    overrides = {"data": str(folder), "source_lang": None, "target_lang": None}
    with explain_read_errors(path), check_model(run, checkpoint) as checksum:
        state = load_state(path, overrides)
    with explain_misfit(path, folder):
        (model,), cfg, task = checkpoint_utils.load_model_ensemble_and_task([str(path)], state=state)
        codec = task.codec
    settle(model)
    model.eval().prepare_for_inference_(cfg)
    with holding_a_model():
        model.to("cuda" if torch.cuda.is_available() else "cpu")
    return TrainedRun(run, model, task, codec=codec, checksum=checksum)


@contextmanager
def explain_misfit(checkpoint: Path, pipeline: Path) -> Iterator[None]:
    """Turns whatever goes wrong when a model is made of a checkpoint that can be read, and the pipeline
    beside it, into an `InputError`.
    """
    try:
        yield
    except InputError:
        raise
    except FileNotFoundError as error:
        raise InputError(f"{error.filename} is missing; {REMEDY}") from None
    except Exception as error:  # fairseq raises many kinds
        raise InputError(
            f"{checkpoint} and {pipeline} do not make a model: one of them is damaged, or of another run or "
            f"version ({type(error).__name__}: {in_one_line(error)}); copy both again from where the run "
            "was trained"
        ) from error
