"""An encoder whose states are probed, and what turns text into its input."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import torch
from fairseq import checkpoint_utils
from fairseq.data import Dictionary
from fairseq.models.transformer import TransformerEncoderBase
from fairseq.tasks import FairseqTask
from fairseq.tasks.translation import TranslationTask
from fairseq.tasks.translation_multi_simple_epoch import TranslationMultiSimpleEpochTask

from zsnmt.analysis.state_folder import FINAL
from zsnmt.data.language_tags import source_tags
from zsnmt.data.reading import encode, load_dictionary
from zsnmt.errors import InputError
from zsnmt.files.checksums import unchanged
from zsnmt.inference import trained_run
from zsnmt.languages import Direction, check_known
from zsnmt.modules.attention_residual import KeepResidual
from zsnmt.runs.checkpoints import explain_read_errors, load_state
from zsnmt.runs.folder import MODEL_FILE


class ProbedModel(NamedTuple):
    """An encoder in evaluation mode, and what turns text into its input.

    `sources` gives the token ids of lines of a language, with as many `tags` at their head and EOS at their
    end; `record` is what states.json says of the model.
    """

    encoder: TransformerEncoderBase
    dictionary: Dictionary
    languages: list[str]
    sources: Callable[[Iterable[str], str], Iterable[list[int]]]
    tags: int
    record: dict


def load_probed_run(run: Path, checkpoint: str = MODEL_FILE, target: str | None = None) -> ProbedModel:
    """The encoder of a run folder, for raw text.

    `target`: the language asked for, where a source bears the tag of its target; no other model reads it.
    Raises `InputError` for a folder that is not a run, a damaged checkpoint, and where a target is needed and
    missing or unknown.
    """
    trained = trained_run.load_run(run, checkpoint)
    codec, encoder = trained.codec, trained.model.encoder
    tags = source_tags(codec.placement.name, Direction("source", "target"))
    if "target" not in tags:
        target = None
    elif target is None:
        raise InputError(
            f"the model in {run} must be told the target language: one of {', '.join(codec.languages)}"
        )
    else:
        check_known(target, codec.languages)

    def sources(lines: Iterable[str], language: str) -> Iterator[list[int]]:
        direction = Direction(language, target or language)  # any target, where no tag names it
        return (sentence.source for sentence in codec.sources(lines, direction))

    return ProbedModel(
        encoder,
        codec.dictionary,
        codec.languages,
        sources=sources,
        tags=len(tags),
        record={"run": str(run.resolve()), "target": target, **record_of(trained.checksum, encoder)},
    )


def load_stock_checkpoint(checkpoint: Path, data: Path) -> ProbedModel:
    """The encoder of fairseq's own `transformer`, for text in pieces with spaces between them.

    `data` holds the `dict.{lang}.txt` of the training; the model's languages are those whose dictionary is
    the encoder's. Raises `InputError` for a damaged checkpoint, another model, a missing dictionary, and
    sources that bear tags.
    """
    # A tokeniser for the BLEU of validation is not needed.
    overrides = {"data": str(data), "eval_bleu": False}
    with explain_read_errors(checkpoint), unchanged(checkpoint) as checksum:
        state = load_state(checkpoint, overrides)
        try:
            [model], _, task = checkpoint_utils.load_model_ensemble_and_task([str(checkpoint)], state=state)
        except FileNotFoundError as error:
            raise InputError(
                f"{error.filename} is missing; give the folder with the training's dictionaries"
            ) from error
        except RuntimeError as error:  # of weights of other shapes
            raise InputError(
                f"{checkpoint} does not fit the dictionaries in {data}; give those of its training"
            ) from error
    if not isinstance(encoder := getattr(model, "encoder", None), TransformerEncoderBase):
        raise InputError(f"{checkpoint} holds a {type(model).__name__}; give one of fairseq's transformer")
    if not reads_pieces_alone(task):
        raise InputError(
            f"{checkpoint} was trained by {type(task).__name__} with sources that may bear tags; give the "
            "run folder of a zs_translation model, or a checkpoint whose sources are pieces alone"
        )
    symbols = {
        path.name.split(".")[1]: load_dictionary(path).symbols for path in sorted(data.glob("dict.*.txt"))
    }
    return ProbedModel(
        encoder.to("cuda" if torch.cuda.is_available() else "cpu").eval(),
        task.source_dictionary,
        # A multilingual task appends tags to what is in the file.
        [
            language
            for language, known in symbols.items()
            if known == task.source_dictionary.symbols[: len(known)]
        ],
        sources=lambda lines, language: (encode(line.split(), task.source_dictionary) for line in lines),
        tags=0,
        record={"run": str(checkpoint.resolve()), "target": None, **record_of(checksum, encoder)},
    )


def reads_pieces_alone(task: FairseqTask) -> bool:
    """Whether a source of the task is its pieces and the end-of-sentence symbol."""
    if type(task) is TranslationMultiSimpleEpochTask:
        return not task.args.encoder_langtok
    return type(task) is TranslationTask


def record_of(checksum: str, encoder: TransformerEncoderBase) -> dict:
    """What states.json says of a model whose checkpoint has this checksum; `removed_layers` are those without
    the residual of the attention, from 1.
    """
    residuals = [getattr(layer, "attention_residual", None) for layer in encoder.layers.children()]
    return {
        "model": checksum,
        "layers": [*map(str, range(encoder.num_layers + 1)), FINAL],
        "dimension": encoder.embed_tokens.embedding_dim,
        "removed_layers": [
            k for k, kept in enumerate(residuals, start=1) if not isinstance(kept, KeepResidual | None)
        ],
    }
