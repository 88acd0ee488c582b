"""The binarised data of each condition of a study, from its text or its trees."""

import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from zsnmt.corpora.invented.options import files_in, parse_treebanks
from zsnmt.corpora.reordering.galactic_dependencies import write_reordered
from zsnmt.corpora.reordering.permutation_model import mix_models, model_files, read_model
from zsnmt.corpora.reordering.permutation_training import learn_orders
from zsnmt.errors import InputError
from zsnmt.files.records import read_json
from zsnmt.languages import LANGUAGES_FILE
from zsnmt.masked_lm.config import StudyConfig
from zsnmt.masked_lm.study_folder import Study
from zsnmt.processes import cores
from zsnmt.text.lines import read_lines, write_lines
from zsnmt.text.sampling import spread
from zsnmt.training.steps import Steps

SAME, NONE = "same", "none"  # conditions: a copy in the same word order, and no second language
TREES = ".conllu"
REMEDY = "make the data again with zsnmt masked-lm"


@dataclass(frozen=True)
class Text:
    """What data are made of: files by split, and those of the second language, none for one language
    alone.
    """

    first: dict[str, Path]
    second: dict[str, Path]


def text_and_treebanks(steps: Steps, study: Study) -> tuple[dict[str, Path], dict[str, list[Path]]]:
    """The text of each split, and the treebanks of languages whose word order a copy may have; made up where
    the config asks. `InputError` where one split has trees and the other lines.
    """
    config = study.config
    if not config.synthetic:
        text = {"train": Path(config.train), "valid": Path(config.valid)}
        check_files(study, text.values())
        if len({file.suffix == TREES for file in text.values()}) > 1:
            raise InputError(
                f"{study.file} has trees in one of TRAIN={config.train} and VALID={config.valid}, and lines "
                f"of text in the other; give both as trees, named *{TREES}, or both as lines"
            )
        return text, config.treebank_files
    trees = study.folder / "trees"
    steps.make(
        study.folder,
        "trees",
        trees,
        work=partial(make_trees, trees, config.synthetic),
        inputs=files_in(config.synthetic),
        settings={"synthetic": config.synthetic},
    )
    pivot, *others = read_lines(trees / LANGUAGES_FILE)
    text = {split: trees / f"{split}.{pivot}{TREES}" for split in ("train", "valid")}
    return text, {language: [trees / f"train.{language}{TREES}"] for language in others}


def check_files(study: Study, files: Iterable[Path]) -> None:
    """`InputError` for a file that is not there."""
    for file in files:
        if not file.is_file():
            raise InputError(
                f"there is no file {file}; the comment at the head of {study.file} says what it should hold"
            )


def make_trees(folder: Path, words: Sequence[str]) -> None:
    """Write the treebanks that the words of a config ask for, in place of what the folder holds."""
    from zsnmt.corpora.invented.trees import write_treebanks

    corpus, sentences = parse_treebanks(words)
    shutil.rmtree(folder, ignore_errors=True)
    write_treebanks(corpus, sentences, folder)


def prepare_condition(
    steps: Steps, study: Study, condition: str, trees: dict[str, Path], treebanks: dict[str, list[Path]]
) -> None:
    """Make the binarised data of a condition."""
    config, text = (
        study.config,
        condition_sentences(steps, study, condition, trees=trees, treebanks=treebanks),
    )
    settings = {
        "bilingual": condition != NONE,
        "vocabulary": config.vocabulary,
        "shift_specials": config.shift_specials,
        "most_pieces": config.most_pieces,
        "train_lines": config.train_lines or None,
        "valid_lines": config.valid_lines or None,
    }
    inputs = [
        *text.first.values(),
        *(path for split, path in text.second.items() if path != text.first[split]),
    ]
    work = partial(binarise, study.data(condition), text, config)
    steps.make(
        study.folder, f"data.{condition}", study.data(condition), work=work, inputs=inputs, settings=settings
    )


def condition_sentences(
    steps: Steps, study: Study, condition: str, trees: dict[str, Path], treebanks: dict[str, list[Path]]
) -> Text:
    """The sentences of a condition, of trees where the text has them; `InputError` for a word order without
    trees or without a treebank of it.
    """
    reordered = condition not in (SAME, NONE)
    if trees["train"].suffix != TREES:
        if reordered:
            raise InputError(
                f"condition {condition} needs trees: TRAIN and VALID must be CoNLL-U files, named *{TREES}"
            )
        return Text(trees, {} if condition == NONE else trees)
    orders = []
    if reordered:
        if condition not in treebanks:
            raise InputError(
                f"there is no treebank of '{condition}', a condition; TREEBANKS must have an entry "
                f"{condition}:FILE.conllu (or {condition}:FILE.conllu,FILE.conllu)"
            )
        check_files(study, treebanks[condition])
        orders = [
            learn_permutations(steps, study, name, trees=files)
            for name, files in (("own", [trees["train"]]), (condition, treebanks[condition]))
        ]
    first, second = {}, {}
    for split, file in trees.items():
        prefix = study.text(condition, split)
        first[split], second[split] = (
            prefix.with_name(f"{prefix.name}.{kind}") for kind in ("source", "reordered")
        )
        work = partial(write_text, study, condition if reordered else None, file, prefix)
        settings = {"own_weight": study.config.own_weight} if reordered else {}
        output = second[split] if reordered else first[split]
        inputs = [file, *(model_files(order)["V"] for order in orders)]
        steps.make(
            study.folder, f"text.{condition}.{split}", output, work=work, inputs=inputs, settings=settings
        )
    return Text(first, second if reordered else {} if condition == NONE else first)


def learn_permutations(steps: Steps, study: Study, name: str, trees: Sequence[Path]) -> Path:
    """The prefix of permutation models, learned from trees."""
    prefix = study.order(name)
    prefix.parent.mkdir(parents=True, exist_ok=True)
    steps.make(
        study.folder,
        f"order.{name}",
        model_files(prefix)["V"],
        work=partial(learn_orders, trees, prefix),
        inputs=trees,
        settings={},
    )
    return prefix


def write_text(study: Study, condition: str | None, trees: Path, prefix: Path) -> None:
    """Write the sentences of trees as they are, or in the word order of a condition, too."""
    if condition is None:
        write_reordered(trees, prefix, None)
    else:
        order, own = (read_model(study.order(name)) for name in (condition, "own"))
        model = mix_models(order, own, float(study.config.own_weight))
        write_reordered(trees, prefix, model, jobs=cores())


def binarise(folder: Path, text: Text, config: StudyConfig) -> None:
    """Write the data of a condition's text, and print the lines of each split."""
    from zsnmt.masked_lm.data import Vocabulary, prepare  # loads PyTorch

    folder.parent.mkdir(parents=True, exist_ok=True)
    vocabulary = Vocabulary(config.vocabulary, not config.shift_specials)
    with TemporaryDirectory(dir=folder.parent) as place:
        first, second = (
            cut(side, config, Path(place) / name)
            for name, side in (("first", text.first), ("second", text.second))
        )
        counts = prepare(folder, first, second, vocabulary=vocabulary, most=config.most_pieces)
    for name, lines in counts.items():
        print(f"{name}\t{lines}", file=sys.stderr)


def cut(side: dict[str, Path], config: StudyConfig, folder: Path) -> dict[str, Path]:
    """The files of each split, with at most as many lines as the config says, the same ones in all
    conditions.
    """
    folder.mkdir()
    found = dict(side)
    for split, number in (("train", config.train_lines), ("valid", config.valid_lines)):
        if number and split in side:
            found[split] = folder / f"{split}.{side[split].name}"  # files of splits may have one name
            write_lines(found[split], spread(read_lines(side[split]), number))
    return found


def tree_counts(study: Study, condition: str) -> dict[str, dict] | None:
    """How many trees of each split were read and why some were left out; None for text of lines."""
    files = {split: Path(f"{study.text(condition, split)}.json") for split in ("train", "valid")}
    counts = {split: read_json(file, REMEDY) for split, file in files.items() if file.is_file()}
    return counts or None
