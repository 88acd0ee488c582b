"""Configs of the studies of masked language models: every key, what it says, and its default."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zsnmt.errors import InputError
from zsnmt.masked_lm.runs import check_system
from zsnmt.modules.position_names import POSITION_ENCODINGS
from zsnmt.training.config_file import (
    FAIRSEQ_OPTIONS,
    LANGUAGES,
    POSITIVE,
    SEEDS,
    TEXT,
    WHOLE,
    WITHOUT_QUOTES,
    WORDS,
    YES,
    ConfigFile,
    all_different,
    keys_of,
    setting,
    split_words,
)


def two_layers(value: str) -> tuple[int, int]:
    """Two layers of a config's value; ValueError unless they are different and none is below 0."""
    first, second = map(int, value.split())
    if first == second or min(first, second) < 0:
        raise ValueError
    return first, second


def check_share(value: str) -> str:
    """A share of a config, as it is written; ValueError unless it is from 0 to 1."""
    if not 0 <= float(value) <= 1:
        raise ValueError
    return value


def split_treebanks(value: str) -> tuple[str, ...]:
    """The words of a list of treebanks; `InputError` unless each is LANGUAGE:FILE[,FILE] of a language of its
    own.
    """
    words = split_words(value)
    languages: set[str] = set()
    for word in words:
        language, _, files = word.partition(":")
        if not language or not all(files.split(",")):
            raise InputError(f"'{word}' is not a treebank; write LANGUAGE:FILE[,FILE]")
        if language in languages:
            raise InputError(f"'{word}' is a second entry of {language}; write {language}:FILE,FILE")
        languages.add(language)
    return words


def split_systems(value: str) -> tuple[str, ...]:
    """The systems of a list; `InputError` for one that there is not, or that is there twice."""
    return check_systems(value.split())


TWO_LAYERS = two_layers, "it must be two different layers, like 0 8"
SHARE = check_share, "it must be a number from 0 to 1, like 0.05"
TREEBANKS = split_treebanks, WITHOUT_QUOTES
SYSTEMS = split_systems, ""


def check_systems(names: Sequence[str]) -> tuple[str, ...]:
    """The names; `InputError` for one that is not a system of the study, or there twice."""
    for name in names:
        check_system(name)
    return all_different(names, "system")


@dataclass(frozen=True)
class StudyConfig:
    """The study of position encodings: where trees or lines come from, the grid of runs, and how each is
    trained.
    """

    train: str = setting(
        TEXT, "training text, one sentence per line, or its trees (CoNLL-U, named *.conllu)", ""
    )
    valid: str = setting(TEXT, "validation text, like train", "")
    synthetic: tuple[str, ...] = setting(
        WORDS, "options of zsnmt make-synthetic-trees, which makes the trees", ()
    )
    treebanks: tuple[str, ...] = setting(
        TREEBANKS, "LANGUAGE:FILE[,FILE] for each language whose word order a copy may have", ()
    )
    own_weight: str = setting(
        SHARE, "weight of the own language's model in the word order of another", "0.05"
    )
    conditions: tuple[str, ...] = setting(
        LANGUAGES, "the second language of runs: same, none, or a language of treebanks", ("same",)
    )
    systems: tuple[str, ...] = setting(
        SYSTEMS, "position encodings, and ablations of the learned one", POSITION_ENCODINGS
    )
    seeds: tuple[int, ...] = setting(SEEDS, "a run for each", (0, 42, 100))
    train_lines: int = setting(
        WHOLE, "at most so many training sentences of a language, at even distances; 0 is for all", 0
    )
    valid_lines: int = setting(WHOLE, "the same of validation", 0)
    vocabulary: int = setting(WHOLE, "symbols of a language", 2048)
    shift_specials: bool = setting(YES, "the copy has special symbols of its own", False)
    most_pieces: int = setting(WHOLE, "longer lines are left out; 0 is for none", 0)
    layers: tuple[int, int] = setting(TWO_LAYERS, "layers of retrieval and translation", (0, 8))
    model: tuple[str, ...] = setting(FAIRSEQ_OPTIONS, "options of fairseq-train for the model", ())
    training: tuple[str, ...] = setting(FAIRSEQ_OPTIONS, "options of fairseq-train for the training", ())
    epochs: int = setting(WHOLE, "epochs of every run; 0 leaves the length to TRAINING", 0)
    batch: int = setting(POSITIVE, "with EPOCHS, lines of which an update is made", 256)

    def __post_init__(self) -> None:
        all_different(self.conditions, "condition")
        all_different(self.seeds, "seed")

    @property
    def treebank_files(self) -> dict[str, list[Path]]:
        """The files of each language of `treebanks`."""
        entries = (each.partition(":") for each in self.treebanks)
        return {language: [*map(Path, files.split(","))] for language, _, files in entries}


LENGTH_OPTIONS = (
    *("--max-update", "--max-epoch", "--total-num-update"),
    *("--batch-size", "--max-sentences", "--max-tokens", "--update-freq"),
)
GRID_OPTIONS = {  # and what says them instead
    "--seed": "SEEDS says already",
    **dict.fromkeys(("--position-encoding", "--position-terms"), "SYSTEMS says already"),
}
RELEASES = "TEXT", "MULTINLI", "XNLI"  # keys that name what a study of inference reads
FIXED_IN_XNLI = ("--lr-scheduler", "--required-batch-size-multiple", "--distributed-world-size")


def refuse_options(file: ConfigFile, keys: Sequence[str], said: Mapping[str, str], remedy: str = "") -> None:
    """`InputError` for an option of fairseq-train, in one of the keys, that is said elsewhere: `said` has
    where, by option.
    """
    for key in keys:
        for option in (word.partition("=")[0] for word in file.value(key).split()):
            if option in said:
                file.refuse(key, f"has {option}, which {said[option]}; leave it out{remedy}")


def read_study_config(path: Path, variables: Mapping[str, str]) -> StudyConfig:
    """The config in a file; `InputError` for one that breaks a rule. `variables` are what its `$NAME`s
    stand for.
    """
    file = ConfigFile(path, keys_of(StudyConfig), variables)
    if file.value("SYNTHETIC"):
        if any(map(file.value, ("TRAIN", "VALID", "TREEBANKS"))):
            file.refuse(
                "SYNTHETIC", "sets SYNTHETIC, which makes the text: leave out TRAIN, VALID and TREEBANKS"
            )
    elif not (file.value("TRAIN") and file.value("VALID")):
        file.refuse("TRAIN", "must say where text comes from: TRAIN and VALID, or SYNTHETIC")
    config = file.read_into(StudyConfig)
    keys = "MODEL", "TRAINING"
    refuse_options(file, keys, GRID_OPTIONS | {"--valid-subset": "the condition of a run says already"})
    if config.epochs:
        length = dict.fromkeys(LENGTH_OPTIONS, "EPOCHS and BATCH say already")
        refuse_options(file, keys, length, remedy=", or leave out EPOCHS")
    if file.value("BATCH") and not config.epochs:
        file.refuse(
            "BATCH", "sets BATCH, which belongs to EPOCHS; write --batch-size into TRAINING, or set EPOCHS"
        )
    return config


def required_setting(read: Any, what: str) -> Any:
    """A key that a config must set."""
    return setting(read, f"{what}; configs/bert_xnli.conf shows every key")


@dataclass(frozen=True, kw_only=True)
class XnliConfig:
    """The study of natural language inference, in which every key is set but for those of the text:
    pre-training, fine-tuning, and what they read.
    """

    synthetic: tuple[str, ...] = setting(
        WORDS, "options of zsnmt make-synthetic-nli, which makes text and pairs of made-up languages", ()
    )
    text: str = setting(
        TEXT, "folder of the text to pre-train on: train.xx and valid.xx, one sentence per line", ""
    )
    multinli: str = setting(TEXT, "folder of MultiNLI", "")
    xnli: str = setting(TEXT, "folder of XNLI", "")
    languages: tuple[str, ...] = required_setting(LANGUAGES, "languages, that of MultiNLI first")
    vocabulary: int = required_setting(POSITIVE, "symbols of all languages together")
    longest: int = required_setting(POSITIVE, "tokens of a line to pre-train on, and of a pair of sentences")
    systems: tuple[str, ...] = required_setting(SYSTEMS, "position encodings")
    seeds: tuple[int, ...] = required_setting(SEEDS, "a run for each")
    model: tuple[str, ...] = required_setting(FAIRSEQ_OPTIONS, "options of fairseq-train for the model")
    device_batch: int = required_setting(POSITIVE, "what a GPU takes at a time")
    pretraining: tuple[str, ...] = required_setting(
        FAIRSEQ_OPTIONS, "options of fairseq-train for pre-training"
    )
    pretraining_batch: int = required_setting(POSITIVE, "lines of which an update is made")
    pretraining_epochs: int = required_setting(POSITIVE, "epochs of pre-training")
    finetuning: tuple[str, ...] = required_setting(
        FAIRSEQ_OPTIONS, "options of fairseq-train for fine-tuning"
    )
    finetuning_batch: int = required_setting(POSITIVE, "pairs of which an update is made")
    finetuning_epochs: int = required_setting(POSITIVE, "epochs of fine-tuning")


def read_xnli_config(path: Path, variables: Mapping[str, str]) -> XnliConfig:
    """The config in a file; `InputError` for one that breaks a rule. `variables` are what its `$NAME`s
    stand for.
    """
    file = ConfigFile(path, keys_of(XnliConfig), variables)
    config = file.read_into(XnliConfig)
    refuse_options(
        file,
        ("MODEL", "PRETRAINING", "FINETUNING"),
        GRID_OPTIONS
        | dict.fromkeys(LENGTH_OPTIONS, "the keys of batches and epochs say already")
        | dict.fromkeys(FIXED_IN_XNLI, "the study sets itself"),
    )
    for key in ("PRETRAINING_BATCH", "FINETUNING_BATCH"):
        if int(file.value(key)) % config.device_batch:
            file.refuse(
                key,
                f"sets {key}={file.value(key)}; it must be a multiple of DEVICE_BATCH={config.device_batch}",
            )
    for key in RELEASES:
        if config.synthetic:
            if file.value(key):
                file.refuse("SYNTHETIC", f"sets SYNTHETIC, which makes text and pairs: leave out {key}")
        elif not file.value(key):
            file.refuse(
                key,
                f"does not set {key}, or SYNTHETIC in place of it; configs/bert_xnli.conf shows every key",
            )
        elif not Path(file.value(key)).is_dir():
            file.refuse(
                key,
                f"sets {key}={file.value(key)}, which is not a folder; configs/bert_xnli.conf says what "
                "belongs there",
            )
    return config
