"""The model of a training, built before there are data for it."""

from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from itertools import permutations
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from fairseq.data import Dictionary
from fairseq.dataclass import FairseqDataclass
from fairseq.models import ARCH_MODEL_REGISTRY, BaseFairseqModel
from fairseq.tasks import setup_task

from zsnmt.data.directions import ALL
from zsnmt.languages import LANGUAGES_FILE, language_tag, supervised_directions
from zsnmt.models.zs_transformer import ZeroShotTransformer
from zsnmt.terms.denoising import DenoisingOptions
from zsnmt.terms.word_distillation import WordDistillationOptions
from zsnmt.text.lines import write_lines
from zsnmt.text.pipeline import PIPELINE_FILE


def check_model(options: Namespace, languages: Sequence[str]) -> None:
    """`InputError` where the task, the criterion or the model of a training with these options would refuse
    them, for languages of which the first is the pivot.

    Models of other projects are not tried, nor one with a frozen vocabulary, whose sizes are those of data.
    """
    ours = issubclass(ARCH_MODEL_REGISTRY[options.arch], ZeroShotTransformer)
    if options.task != "zs_translation" or not ours or options.frozen_vocabulary != "none":
        return
    with data_of_tags(languages) as data:
        build_model(named_directions(options, languages, data))


@contextmanager
def data_of_tags(languages: Sequence[str]) -> Iterator[Path]:
    """A folder, for a while, from which the task can be made: of languages, and of no text but their tags."""
    with TemporaryDirectory() as folder:
        write_dictionaries(Path(folder), languages)
        yield Path(folder)


def named_directions(options: Namespace, languages: Sequence[str], data: Path) -> Namespace:
    """Options on such data, which name the directions that are found in data otherwise; the first of the
    languages is the pivot.
    """
    chosen = {**vars(options), "data": str(data)}
    if not options.lang_pairs:
        chosen["lang_pairs"] = ",".join(map(str, supervised_directions(languages, languages[0])))
    if options.valid_lang_pairs == ALL:
        chosen["valid_lang_pairs"] = ",".join(map("-".join, permutations(languages, 2)))
    return Namespace(**chosen)


def build_model(options: Namespace) -> BaseFairseqModel:
    """The model of a training with these options, whose data have languages and a dictionary; without values
    in its weights, so that one of any size takes neither memory nor time.

    Task, model and criterion are made as in the training, so that what these refuse is refused now, by
    `InputError`; but for terms of the loss that read what may not be there yet: that of word-level
    distillation the data of a student, and that of denoising the text pipeline.
    """
    given = {**vars(options)}
    read_later: dict[str, type[FairseqDataclass]] = {"word_distillation_weight": WordDistillationOptions}
    if not (Path(options.data) / PIPELINE_FILE).is_file():
        read_later["denoising_weight"] = DenoisingOptions
    for weight, term in read_later.items():
        if given.get(weight):
            given |= {each.name: each.default for each in fields(term) if each.name != "_name"}
            given["translation_weight"] = 1.0
    task = setup_task(Namespace(**given))
    task.build_criterion(Namespace(**given))
    with torch.device("meta"):
        return task.build_model(options)


def sizes_of_model(options: Namespace) -> dict[str, torch.Size]:
    """The sizes of the weights of the model of a training with these options, by name; `InputError` as of
    `build_model`.
    """
    return {name: weight.shape for name, weight in build_model(options).state_dict().items()}


def write_dictionaries(folder: Path, languages: Sequence[str], symbols: int = 0) -> None:
    """What the task reads of a binarised folder: the languages, and a dictionary as `made_up_dictionary`."""
    write_lines(folder / LANGUAGES_FILE, languages)
    for language in languages:
        made_up_dictionary(languages, symbols).save(str(folder / f"dict.{language}.txt"))


def made_up_dictionary(languages: Sequence[str], symbols: int) -> Dictionary:
    """The tags of languages, and so many symbols in all, if these are more."""
    dictionary = Dictionary()
    for language in languages:
        dictionary.add_symbol(language_tag(language))
    for number in range(symbols - len(dictionary)):
        dictionary.add_symbol(f"w{number}")
    return dictionary
