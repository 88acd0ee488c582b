"""The study of natural language inference: models of several languages, pre-trained, fine-tuned and
scored.
"""

import hashlib
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from zsnmt.corpora.invented.inference import write_inference
from zsnmt.corpora.invented.options import files_in, parse_inference
from zsnmt.errors import InputError
from zsnmt.files.locks import Busy, locked
from zsnmt.files.replacing import replacing
from zsnmt.masked_lm.config import XnliConfig
from zsnmt.masked_lm.report.xnli import SCORES_FILE
from zsnmt.masked_lm.runs import check_system, read_counts, start_run, updates_of
from zsnmt.masked_lm.study import ARCHITECTURE
from zsnmt.runs.commands import option_words, recipe_command
from zsnmt.runs.folder import CHECKPOINTS, LAST_CHECKPOINT
from zsnmt.training.data import hold
from zsnmt.training.fairseq_train import fairseq_train
from zsnmt.training.steps import Steps, listing, made_from
from zsnmt.training.train import check_options

MADE_FROM_FILE = "made_from"


FINETUNING = (  # options of fairseq-train
    *("--task", "sentence_prediction", "--criterion", "sentence_prediction"),
    *("--classification-head-name", "nli", "--num-classes", "3"),
    *("--init-token", "0", "--separator-token", "2"),
)


@dataclass(frozen=True)
class NliStudy:
    """The settings, the file they stand in, and the folder of all that is made with them."""

    config: XnliConfig
    file: Path
    folder: Path

    @property
    def made_up(self) -> Path:
        """The text and pairs of made-up languages, where the config asks for these."""
        return self.folder / "synthetic"

    def release(self, named: str) -> Path:
        """A folder that the config names, or that of made-up languages."""
        return self.made_up if self.config.synthetic else Path(named)

    @property
    def text(self) -> Path:
        """The text to pre-train on."""
        return self.release(self.config.text)

    @property
    def multinli(self) -> Path:
        """The release with the pairs to learn from."""
        return self.release(self.config.multinli)

    @property
    def xnli(self) -> Path:
        """The release with the pairs to test on."""
        return self.release(self.config.xnli)

    @property
    def data(self) -> Path:
        """What models are pre-trained on."""
        return self.folder / "data"

    @property
    def nli(self) -> Path:
        """What they are fine-tuned and scored on."""
        return self.folder / "nli"


@dataclass(frozen=True)
class Stage:
    """A training of a model: its name, data, further options, and for how many epochs of which batches
    (lines).
    """

    name: str
    data: Path
    options: Sequence[str]
    batch: int
    epochs: int


def do_nli_study(steps: Steps, study: NliStudy) -> None:
    """Make the data, then every model, from its first update to its scores.

    Left out are runs that are scored, whose checkpoints may be gone, and those that another process is at
    work on.
    """
    config = study.config
    for options in (pretraining_options(config), [*FINETUNING, *config.finetuning]):
        check_options(ARCHITECTURE, [*model_words(config, config.systems[0]), *options])
    prepare_nli(steps, study)
    for seed in study.config.seeds:
        for system in study.config.systems:
            run = study.folder / system / f"seed{seed}"
            try:
                with locked(run):
                    make_run(steps, study, run, system=system, seed=seed)
            except Busy as busy:
                steps.say(f"{str(busy).removesuffix('; wait for it or end it')}, which is passed over")


def prepare_nli(steps: Steps, study: NliStudy) -> None:
    """Make the data of pre-training and of fine-tuning, which all runs share, unless they are there;
    `InputError` where text is missing.
    """
    config, folder = study.config, study.folder
    with hold(steps, folder, study.file):
        if config.synthetic:
            steps.make(
                folder,
                "synthetic",
                study.made_up,
                work=partial(make_up, study.made_up, config.synthetic),
                inputs=files_in(config.synthetic),
                settings={"synthetic": config.synthetic},
            )
        settings = {"languages": config.languages, "vocabulary": config.vocabulary}
        text = files_of_text(study)
        steps.make(
            folder, "data", study.data, work=partial(prepare_data, study), inputs=text, settings=settings
        )
        releases = {"multinli": listing(study.multinli), "xnli": listing(study.xnli)}
        settings = {
            "languages": config.languages,
            "longest": config.longest,
            "data": made_from(folder, "data"),
            **releases,
        }
        steps.make(folder, "nli", study.nli, work=partial(make_nli_data, study), settings=settings)


def make_up(folder: Path, words: Sequence[str]) -> None:
    """Write the text and pairs that the words of a config ask for, in place of what the folder holds."""
    inference = parse_inference(words)
    shutil.rmtree(folder, ignore_errors=True)
    write_inference(inference, folder)


def files_of_text(study: NliStudy) -> list[Path]:
    """What models are pre-trained on; `InputError` for a file that is missing."""
    names = [f"{split}.{language}" for language in study.config.languages for split in ("train", "valid")]
    if missing := [name for name in names if not (study.text / name).is_file()]:
        raise InputError(
            f"{study.text / missing[0]} is missing; {study.text} must hold train.xx and valid.xx for "
            f"{' '.join(study.config.languages)}"
        )
    return [study.text / name for name in names]


def prepare_data(study: NliStudy) -> None:
    """Make the data of pre-training."""
    from zsnmt.masked_lm.languages_data import prepare  # loads PyTorch

    config = study.config
    show(prepare(study.data, study.text, config.languages, vocabulary_size=config.vocabulary))


def make_nli_data(study: NliStudy) -> None:
    """Make the data of fine-tuning."""
    from zsnmt.masked_lm.nli_data import prepare  # loads PyTorch

    config = study.config
    show(
        prepare(
            study.nli,
            study.data,
            study.multinli,
            xnli=study.xnli,
            languages=config.languages,
            longest=config.longest,
        )
    )


def show(counts: dict[str, int]) -> None:
    """Print the counts, by name."""
    for name, number in counts.items():
        print(f"{name}\t{number}", file=sys.stderr)


def make_run(steps: Steps, study: NliStudy, run: Path, system: str, seed: int) -> None:
    """Make one model, unless it is scored; `InputError` for a run that was made from other data."""
    config, kept, made = study.config, run / MADE_FROM_FILE, checksum_of_data(study)
    if kept.is_file() and kept.read_text(encoding="utf-8") != made:
        raise InputError(
            f"{run} was made from other text or releases than are there now; remove it to make it again"
        )
    if (run / SCORES_FILE).is_file():
        steps.say(f"{run}: scored before")
        return
    start_run(
        run,
        study.file,
        "+".join(config.languages),
        system=system,
        seed=seed,
        command=recipe_command("xnli", study.file),
    )
    with replacing(kept) as file:
        file.write(made.encode("utf-8"))
    finetuning_options = [
        *FINETUNING,
        *("--finetune-from-model", str(run / "pretraining" / CHECKPOINTS / LAST_CHECKPOINT)),
        *config.finetuning,
    ]
    for stage in (
        Stage(
            "pretraining",
            study.data,
            pretraining_options(config),
            batch=config.pretraining_batch,
            epochs=config.pretraining_epochs,
        ),
        Stage(
            "finetuning",
            study.nli,
            finetuning_options,
            batch=config.finetuning_batch,
            epochs=config.finetuning_epochs,
        ),
    ):
        train(steps, study, run, stage=stage, system=system, seed=seed)
    score(run, study.nli)


def pretraining_options(config: XnliConfig) -> list[str]:
    """The options of fairseq-train that belong to pre-training alone."""
    longest = ["--tokens-per-sample", str(config.longest)]
    return ["--task", "zs_masked_lm", "--criterion", "masked_lm", *longest, *config.pretraining]


def checksum_of_data(study: NliStudy) -> str:
    """The checksum of what both kinds of data were made from."""
    digests = (
        hashlib.sha256(made_from(study.folder, name).encode("utf-8")).hexdigest() for name in ("data", "nli")
    )
    return hashlib.sha256(
        "".join(f"{digest}  -\n" for digest in digests).encode("utf-8")
    ).hexdigest()  # as bash made it


def model_words(config: XnliConfig, system: str) -> list[str]:
    """The options of the model of a system; a config may name an architecture of its own."""
    return ["--arch", ARCHITECTURE, *config.model, *check_system(system)]


def train(steps: Steps, study: NliStudy, run: Path, stage: Stage, system: str, seed: int) -> None:
    """Train the run's model for the stage's epochs, while the rate falls to 0."""
    config = study.config
    counts = read_counts(stage.data, "make the data again with zsnmt xnli")
    updates = updates_of(counts, stage.batch, stage.epochs)
    numbers = {
        "--seed": seed,
        "--distributed-world-size": 1,
        "--batch-size": config.device_batch,
        "--update-freq": stage.batch // config.device_batch,
        "--required-batch-size-multiple": 1,
        "--max-epoch": stage.epochs,
        "--lr-scheduler": "polynomial_decay",
        "--total-num-update": updates,
    }
    options = [*model_words(config, system), *stage.options, *option_words(numbers)]
    fairseq_train(
        steps, run / stage.name, f"{system}, seed {seed}, {stage.name}", data=stage.data, options=options
    )


def score(run: Path, data: Path) -> None:
    """Score a fine-tuned run, and print its accuracy (0–1) by language."""
    from zsnmt.masked_lm.nli import score_run  # loads PyTorch

    scores = score_run(run, run / "finetuning" / CHECKPOINTS / LAST_CHECKPOINT, data)
    print("language", "accuracy", "pairs", sep="\t", file=sys.stderr)
    for language, accuracy in scores["accuracy"].items():
        print(language, f"{accuracy:.4f}", scores["pairs"][f"test_{language}"], sep="\t", file=sys.stderr)
