"""How fast this machine trains a model, measured on sentences that are made up."""

import logging
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from zsnmt.languages import language_tag
from zsnmt.processes import in_another_process

LANGUAGES = ("aa", "bb")  # made up
UPDATES = 12  # that are timed; the median leaves aside the first ones, which make what later ones use


def update_seconds(
    architecture: str, options: Sequence[str], *, vocabulary: int, pieces: int, tokens: int
) -> float:
    """The seconds of an update with options of fairseq-train, by a model with a vocabulary, on batches of so
    many tokens in sentences of so many pieces. The median, in a process of its own.
    """
    work = partial(
        measure, architecture, options, vocabulary=vocabulary, shape=(max(1, tokens // pieces), pieces)
    )
    return in_another_process(work)


def measure(architecture: str, options: Sequence[str], *, vocabulary: int, shape: tuple[int, int]) -> float:
    """The same, in this process, for a batch of B sentences of T pieces."""
    import torch
    from fairseq import tasks
    from fairseq.dataclass.utils import convert_namespace_to_omegaconf
    from fairseq.trainer import Trainer

    from zsnmt.training.fairseq_options import training_options
    from zsnmt.training.model_check import write_dictionaries
    from zsnmt.training.team import Team

    logging.getLogger("fairseq").setLevel(logging.ERROR)
    torch.set_num_threads(1)
    directions = ",".join(("-".join(LANGUAGES), "-".join(LANGUAGES[::-1])))
    arguments = [*options, *Team().device(), "--distributed-world-size", "1", "--lang-pairs", directions]
    with TemporaryDirectory() as folder:
        write_dictionaries(Path(folder), LANGUAGES, vocabulary)
        namespace = training_options(architecture, arguments)
        namespace.data = folder
        settings = convert_namespace_to_omegaconf(namespace)
        task = tasks.setup_task(settings.task)
    trainer = Trainer(
        settings, task, task.build_model(settings.model), task.build_criterion(settings.criterion)
    )
    generator = torch.Generator().manual_seed(1)
    source, target = torch.randint(len(LANGUAGES) + 4, vocabulary, (2, *shape), generator=generator)
    tag = torch.full_like(target[:, :1], task.target_dictionary.index(language_tag(LANGUAGES[0])))
    batch = {
        "id": torch.arange(len(source)),
        "nsentences": len(source),
        "ntokens": source.numel(),
        "net_input": {
            "src_tokens": source,
            "src_lengths": torch.full_like(source[:, 0], source.size(1)),
            "prev_output_tokens": torch.cat([tag, target[:, :-1]], dim=1),
        },
        "target": target,
    }
    return median(time_call(partial(trainer.train_step, [batch])) for _ in range(UPDATES))


def time_call(work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start
