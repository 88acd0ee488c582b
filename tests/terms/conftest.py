"""A task with languages and tags, batches of it, and the criterion with terms."""

from argparse import Namespace
from types import SimpleNamespace

import pytest
import torch

from tests.criterions.test_chunked_label_smoothed_cross_entropy import NO_DROPOUT
from tests.data.test_tagged_pairs import DICTIONARY, WORD, sentences
from tests.models.test_zs_transformer import build
from zsnmt.criterions.zs_cross_entropy import ZeroShotCrossEntropy, ZeroShotCrossEntropyConfig
from zsnmt.data.language_tags import TagPlacement
from zsnmt.data.tagged_pairs import TaggedPairs
from zsnmt.languages import parse_direction
from zsnmt.runs.trained_directions import TrainedDirections
from zsnmt.terms import word_distillation

PIVOTAL = ["aa-piv", "piv-aa", "bb-piv", "piv-cc"]


class TermTask:
    """As much of the task as models and terms read."""

    def __init__(self, placement: str = "t_dec", langs=("piv", "aa", "bb", "cc"), **options) -> None:
        self.langs, self.learned = [*langs], TrainedDirections(PIVOTAL)
        self.source_dictionary = self.target_dictionary = DICTIONARY
        self.placement = TagPlacement(placement, DICTIONARY)
        self.pipeline = SimpleNamespace(units=None)
        given = dict(left_pad_source=True, left_pad_target=False, max_source_positions=64, data=".")
        self.args = Namespace(**{**given, **options})


def batch(
    task: TermTask,
    directions=PIVOTAL,
    targets=(3, 6, 1, 4),
    sources=(4, 2, 5, 3),
    pivots=(None, 2, None, 5),
) -> dict:
    """A sentence of each direction, of these lengths, some with one of the pivot beside it; words differ
    between sentences and sides.
    """
    examples = []
    for number, (direction, source, target, pivot) in enumerate(zip(directions, sources, targets, pivots)):
        sides = sentences(source, first=WORD + number), sentences(target, first=WORD + number + 6)
        beside = (task.langs[0], sentences(pivot, first=WORD + number + 2)) if pivot else None
        pairs = TaggedPairs(parse_direction(direction), task.placement, *sides, pivot=beside)
        examples.append(pairs[0])
    return pairs.collater(examples)


def model_of(task: TermTask, **options):
    language = "concat" if task.placement.starts_decoder else "none"
    return build(task, **{**NO_DROPOUT, "decoder_language_embedding": language, **options}).double().train()


def teacher_of(task: TermTask, **options):
    """Another model of the task, as a teacher is loaded."""
    return model_of(task, seed=11, **options).eval().requires_grad_(False)


@pytest.fixture(autouse=True)
def made_up_teacher(monkeypatch):
    """The teacher of word-level distillation is read from no file, and there is something for it to read."""
    monkeypatch.setattr(word_distillation, "has_pivot_sides", lambda task: True)
    monkeypatch.setattr(word_distillation, "load_teacher", lambda path, task: teacher_of(task))


def criterion(task: TermTask, **options) -> ZeroShotCrossEntropy:
    options = {"label_smoothing": 0.1, "sentence_avg": False, **options}
    if "word_distillation_weight" in options:
        options["word_distillation_model"] = "teacher.pt"
    return ZeroShotCrossEntropy(ZeroShotCrossEntropyConfig(**options), task)


def gradients(loss: torch.Tensor, model) -> dict[str, torch.Tensor]:
    model.zero_grad()
    loss.backward()
    return {name: each.grad.clone() for name, each in model.named_parameters() if each.grad is not None}


@pytest.fixture(params=TagPlacement.NAMES)
def task(request) -> TermTask:
    return TermTask(request.param)
