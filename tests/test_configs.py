"""Every config in small: from files in the form of its release to the first training update, and to scores.

A config keeps what it says of languages, text and training; only its numbers are small. All are trained, and of
each kind of text and pipeline one is scored: the first 16 sentences of a seventeenth config tell nothing new.
"""

import json
import os
import re
import shutil
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess

import pytest
import torch

from tests import releases
from tests.conftest import ROOT, run_command
from zsnmt.corpora.parallel_text import find_pair, read_lines
from zsnmt.languages import language_tag, supervised_directions, zero_shot_directions

SYSTEM = "zs_transformer"
CONFIGS = sorted(path.stem for path in (ROOT / "configs").glob("*.conf") if path.stem != "demo")  # test_recipes has the demo
SCORED = {"europarl_non_overlap", "indic_talks", "iwslt17_add_de", "iwslt17_en_it_words", "iwslt17_little_data_marked",
          "multi30k", "own", "pmindia"}  # fmt: skip
OF_FULL_SIZE = "iwslt17"

SMALL = r"""
TEXT="${TEXT/path\/to\/text/$OWN}"
CORPUS="${CORPUS/#europarl/europarl --held-out 4}"
CORPUS="${CORPUS/#pmindia/pmindia --held-out 4}"
PAIRS="${PAIRS//000}"
VOCABULARY=240
THRESHOLD="${THRESHOLD:+2}"
BLEU_TOKENIZER="${BLEU_TOKENIZER/flores101/subwords}"
AVERAGE=1
BEAM=1
TEST_LINES=2
TRAINING="$TRAINING --max-update 1 --max-tokens 400 --no-save-optimizer-state"
"""  # the model of the BLEU tokeniser flores101 is not on this machine but fetched
SMALL_MODEL = """
MODEL="$MODEL --encoder-layers 3 --decoder-layers 1 --encoder-embed-dim 16 --decoder-embed-dim 16
  --encoder-ffn-embed-dim 24 --decoder-ffn-embed-dim 24 --encoder-attention-heads 2 --decoder-attention-heads 2
  --max-source-positions 100 --max-target-positions 30"
"""


@dataclass(frozen=True)
class DryRun:
    """What a config made: its settings as the recipes read them, its folder, and what was printed."""

    settings: dict[str, str]
    folder: Path
    trained: CompletedProcess
    scored: CompletedProcess | None

    @property
    def languages(self) -> list[str]:
        return self.settings["LANGUAGES"].split()

    @property
    def run(self) -> Path:
        return self.folder / SYSTEM / "seed1"

    def training_text(self, language: str) -> tuple[list[str], list[str]]:
        """The sentences of a language and of the pivot that are trained on."""
        source, target = find_pair(self.folder / "text", "train", language, self.languages[0])
        return read_lines(source), read_lines(target)


@pytest.fixture(scope="module", autouse=True)
def release_folders(tmp_path_factory):
    """Small releases of all corpora, in the folders that the environment names."""
    base = tmp_path_factory.mktemp("releases")
    releases.write_iwslt17(base / "IWSLT17")
    releases.write_europarl(base / "EUROPARL")
    releases.write_pmindia(base / "PMINDIA")
    releases.write_multi30k(base / "MULTI30K")
    releases.write_multiway(base / "EUROPARL_SAMPLE", releases.EUROPARL)
    releases.write_multiway(base / "INDIC_BIBLE", releases.BIBLE)
    releases.write_pairs(base / "INDIC_TALKS", releases.PMINDIA)
    releases.write_pairs(base / "OWN", releases.OWN)
    with pytest.MonkeyPatch.context() as patch:
        for folder in base.iterdir():
            patch.setenv(folder.name, str(folder))
        patch.setenv("CUDA_VISIBLE_DEVICES", "")
        yield base


def settings_of(config: Path) -> dict[str, str]:
    """The keys of a config and their values, with the defaults."""
    shown = run_command("bash", "-c", f'source recipes/steps.sh; load_config "{config}"; '
                        r'for key in $CONFIG_KEYS; do printf "%s=%s\0" "$key" "${!key}"; done')  # fmt: skip
    assert shown.returncode == 0, shown.stderr
    return dict(entry.split("=", 1) for entry in shown.stdout.split("\0")[:-1])


def dry_run(name: str, base: Path) -> DryRun:
    """Train a config in small, and score what must be scored."""
    config, runs = base / f"{name}.conf", base / "runs"
    text = (ROOT / "configs" / config.name).read_text(encoding="utf-8")
    config.write_text(text + SMALL + (SMALL_MODEL if name != OF_FULL_SIZE else ""), encoding="utf-8")
    trained = run_command("recipes/train.sh", config, SYSTEM, runs=runs)
    scored = None
    if name in SCORED and trained.returncode == 0:
        scored = run_command("recipes/evaluate.sh", runs / name / SYSTEM / "seed1", runs=runs)
    return DryRun(settings_of(config), runs / name, trained, scored)


@pytest.fixture(scope="module")
def dry_runs(request, release_folders, tmp_path_factory):
    """The dry run of each config that a selected test asks for, several at a time."""
    base = tmp_path_factory.mktemp("configs")
    asked = {item.callspec.params["name"]: item for item in request.session.items if "dry_runs" in item.fixturenames}
    with ThreadPoolExecutor(min(4, os.cpu_count())) as pool:
        running = {name: pool.submit(dry_run, name, base) for name in sorted(asked)}
        yield lambda name: running[name].result()
        pool.shutdown(cancel_futures=True)


of_every_config = pytest.mark.parametrize("name", CONFIGS)


@of_every_config
def test_it_makes_its_first_update(dry_runs, name):
    done = dry_runs(name)
    assert done.trained.returncode == 0, done.trained.stderr
    log = (done.run / "train.log").read_text(encoding="utf-8")
    (entry,) = re.findall(r"\| train \| (\{.*\})", log)
    assert json.loads(entry)["train_num_updates"] == "1"
    assert (done.run / "model.pt").is_file() and (done.run / "config.conf").is_file()


@of_every_config
def test_it_trains_on_the_pairs_that_it_asks_for(dry_runs, name):
    """Pairs with the pivot, as many as PAIRS allows, without those of which a side is held out."""
    done = dry_runs(name)
    pivot, *others = done.languages
    counts = json.loads((done.run / "run.json").read_text(encoding="utf-8"))["overlap"]
    assert {*counts} == {f"{pivot}-{language}" for language in others}
    bounds = {pair: int(number) for pair, _, number in (word.rpartition("=") for word in done.settings["PAIRS"].split())}
    for language in others:
        of_pair = counts[f"{pivot}-{language}"]
        left = of_pair["lines"] - of_pair["removed"]
        bound = bounds.get(f"{language}-{pivot}", bounds.get("", left))
        assert of_pair["kept"] == bound <= left and (bound < left or not bounds)
        assert [*map(len, done.training_text(language))] == 2 * [bound]


@of_every_config
def test_training_pairs_share_english_sentences_as_its_condition_says(dry_runs, name):
    done = dry_runs(name)
    condition = re.search(r"--condition (\w+)", done.settings["CORPUS"])
    if condition is None and not done.settings["MULTIWAY"]:
        pytest.skip("it has no condition")
    sides = [set(done.training_text(language)[1]) for language in done.languages[1:]]
    shared, everything = set.intersection(*sides), set.union(*sides)
    assert all({
        "multiway": shared == everything,
        "non_overlap": len(everything) == sum(map(len, sides)),
        "full": shared and all(shared < side for side in sides),
    }[condition[1] if condition else done.settings["CONDITION"]] for _ in [0])  # fmt: skip


@of_every_config
def test_its_text_pipeline_is_what_it_asks_for(dry_runs, name):
    done = dry_runs(name)
    folder, settings = done.run / "pipeline", done.settings
    assert (folder / "languages.txt").read_text().split() == done.languages
    made = json.loads((folder / "pipeline.json").read_text())
    kinds = {"": ("raw", None), "by_script": ("moses_truecase", "indic")}.get(settings["TOKENISATION"], (settings["TOKENISATION"],) * 2)
    assert made["tokenisation"] == {language: kinds[language in releases.PMINDIA[1:]] for language in done.languages}
    assert made["units"] == ("words" if settings["SUBWORD_TYPE"] == "word" else "subwords")
    assert made["mark_tokens"] == bool(settings["MARK_TOKENS"])
