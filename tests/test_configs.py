"""Every config in small: from files in the form of its release to the first training update, and to scores.

A config keeps what it says of languages, text and training; its numbers and its model become small. All
configs are trained; of those that are alike in all that scoring depends on, one is scored.
"""

import itertools
import json
import os
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.conftest import ROOT, changed, run_command
from tests.support import releases
from zsnmt.corpora.invented.options import parse_corpus
from zsnmt.corpora.parallel_text import find_pair
from zsnmt.decoding.search import Search
from zsnmt.languages import language_tag, supervised_directions, zero_shot_directions
from zsnmt.report.papers.comparable import VERDICTS
from zsnmt.runs.checkpoints import load_checkpoint
from zsnmt.text.lines import read_lines
from zsnmt.training.config import Config, read_config
from zsnmt.training.config_file import ConfigFile, keys_of
from zsnmt.training.studies import systems, training_options

pytestmark = pytest.mark.slow

SYSTEM = "zs_transformer"
DEMO = "demo"  # of the same text, languages and sizes as demo_float32
BASES = {
    "iwslt17_add_de": "iwslt17",
    "multi30k_add_cs": "multi30k_without_cs",
    "multi30k_add_cs_2k": "multi30k_without_cs",
    "tatoeba_nordic_add_hu": "tatoeba_nordic",
    "tatoeba_nordic_add_hu_all": "tatoeba_nordic",
}  # adapted
VARIANTS = {  # of another config: what differs; not trained here
    "tatoeba_nordic_little": ("tatoeba_nordic", {"pairs", "training"}),
    "tatoeba_nordic_marked": ("tatoeba_nordic", {"mark_tokens"}),
    "word_orders_multiway": ("word_orders", {"synthetic"}),
    "word_orders_little_data": ("word_orders", {"synthetic", "training"}),
    "word_orders_no_cognates": ("word_orders", {"synthetic", "training"}),
}
UPDATES = {"word_orders_multiway": 1, "word_orders_little_data": 1, "word_orders_no_cognates": 3}
CONFIGS = sorted(
    {path.stem for path in (ROOT / "configs").glob("*.conf") if not path.stem.startswith("bert_")}
    - {DEMO, *BASES, *VARIANTS}
)
OF_FULL_SIZE = "iwslt17"
SCORED = [
    "europarl_non_overlap",
    "indic_bible",
    "iwslt17_en_it_relative",
    "iwslt17_little_data",
    "iwslt17_little_data_marked",
    "multi30k",
    "own",
    "pmindia",
]
FOUND_TWICE = {
    "word_orders": {"svo-vso1": 2}
}  # the made sentences that stand in a held-out set too, but for the last mark
# What it depends on, besides CORPUS.
SCORING = ("tokenisation", "subword_type", "mark_tokens", "normalise_references")
KINDS = {
    "raw": ("raw", "raw"),
    "moses": ("moses", "moses"),
    "moses_truecase": ("moses_truecase", "moses_truecase"),
    "moses_truecase_as_spelt": ("moses_truecase_as_spelt", "moses_truecase_as_spelt"),
    "by_script": ("moses_truecase", "indic"),
    "by_script_as_spelt": ("moses_truecase_as_spelt", "indic"),
}  # by TOKENISATION, of Latin and of Indic scripts

SMALL_MODEL = """
  --encoder-layers 3 --decoder-layers 1 --encoder-embed-dim 16 --decoder-embed-dim 16
  --encoder-ffn-embed-dim 24 --decoder-ffn-embed-dim 24
  --encoder-attention-heads 2 --decoder-attention-heads 2 --max-source-positions 100
  --max-target-positions 50"""


def in_small(name: str, full_size: bool = False, **settings: str) -> str:
    """The text of a config with small numbers and a small model, unless that is to have its full size;
    further settings may be given.
    """
    path = ROOT / "configs" / f"{name}.conf"
    text = path.read_text(encoding="utf-8").replace("=path/to/text", '="$OWN"')
    given = {
        key: value
        for key, (value, _) in ConfigFile(
            path, keys_of(Config), {**os.environ, "ROOT": str(ROOT)}
        ).settings.items()
    }
    size = {"MERGES": "180"} if "MERGES" in given else {"VOCABULARY": "240"}
    small = {**size, "AVERAGE": "1", "BEAM": "1", "TEST_LINES": "2"}
    small["TRAINING"] = given["TRAINING"] + " --max-update 1 --no-save-optimizer-state"
    if full_size:
        small["TRAINING"] += " --max-tokens 400 --update-freq 1"
    else:
        small["MODEL"] = given.get("MODEL", "") + SMALL_MODEL
    if corpus := given.get("CORPUS"):
        small["CORPUS"] = re.sub(r"(?<=--pairs )\d+", lambda number: str(int(number[0]) // 1000), corpus)
    if (corpus or "").partition(" ")[0] in ("europarl", "pmindia"):
        small["CORPUS"] += " --held-out 4"
    if "PAIRS" in given:
        small["PAIRS"] = given["PAIRS"].replace("000", "")
    if "THRESHOLD" in given:
        small["THRESHOLD"] = "2"
    if "CLEANING" in given:
        small["CLEANING"] = given["CLEANING"].replace(" language", "")  # since words are made up
    if given.get("BLEU_TOKENIZER") == "flores101":
        small["BLEU_TOKENIZER"] = "subwords"  # the model of the other would be downloaded
    return changed(text, **small | settings)


of_every_config = pytest.mark.parametrize("name", CONFIGS)


@dataclass(frozen=True)
class DryRun:
    """What a config made: its settings as recipes read them, the experiment's folder, and what was
    printed.
    """

    settings: Config
    folder: Path
    trained: CompletedProcess
    scored: CompletedProcess | None

    @property
    def languages(self) -> list[str]:
        return [*self.settings.languages]

    @property
    def run(self) -> Path:
        return self.folder / SYSTEM / "seed1"

    @property
    def directions(self) -> list[str]:
        """The directions that are trained on: all with the pivot, unless the config names them."""
        named = re.search(r"--lang-pairs (\S+)", " ".join(self.settings.training))
        return (
            named[1].split(",")
            if named
            else [*map(str, supervised_directions(self.languages, self.languages[0]))]
        )

    def training_text(self, language: str) -> tuple[list[str], list[str]]:
        """The sentences of a language that are trained on, and those of the pivot."""
        return tuple(map(read_lines, find_pair(self.folder / "text", "train", language, self.languages[0])))


def read(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"))


def languages_of(folder: Path, pattern: str) -> set[str]:
    """The languages that have a file of this pattern, by its ending."""
    return {path.suffix[1:] for path in folder.glob(pattern)}


def settings_of(config: Path) -> Config:
    """What a config says, with the defaults."""
    return read_config(config, {**os.environ, "ROOT": str(ROOT)})


@pytest.fixture(scope="module", autouse=True)
def release_folder(tmp_path_factory):
    """Small releases, each in a folder with the name of the variable that tells configs where it is."""
    base = tmp_path_factory.mktemp("releases")
    releases.write_iwslt17(base / "IWSLT17")
    releases.write_europarl(base / "EUROPARL")
    releases.write_pmindia(base / "PMINDIA")
    releases.write_multi30k(base / "MULTI30K")
    releases.write_multiway(base / "EUROPARL_SAMPLE", releases.EUROPARL)
    releases.write_multiway(base / "INDIC_BIBLE", releases.BIBLE)
    releases.write_multiway(base / "INDIC_VERSES", releases.BIBLE)
    releases.write_pairs(base / "INDIC_TALKS", releases.PMINDIA)
    releases.write_pairs(base / "OWN", releases.OWN)
    releases.write_pairs(base / "TATOEBA", releases.TATOEBA)
    releases.write_pairs(base / "CAPTIONS", releases.CAPTIONS)
    with pytest.MonkeyPatch.context() as patch:
        for folder in base.iterdir():
            patch.setenv(folder.name, str(folder))
        patch.setenv("CUDA_VISIBLE_DEVICES", "")
        yield base


def dry_run(name: str, base: Path, full_size: bool = False) -> DryRun:
    config, runs = base / f"{name}.conf", base / "runs"
    config.write_text(in_small(name, full_size=full_size), encoding="utf-8")
    trained = run_command("recipes/train.sh", config, SYSTEM, runs=runs)
    scored = None
    if name in SCORED and trained.returncode == 0:
        scored = run_command("recipes/evaluate.sh", runs / name / SYSTEM / "seed1", runs=runs)
    return DryRun(settings_of(config), runs / name, trained, scored)


@pytest.fixture(scope="module")
def dry_runs(request, release_folder, tmp_path_factory):
    """The dry run of a config; those that the selected tests ask for are made several at a time."""
    base = tmp_path_factory.mktemp("configs")
    asked = {
        BASES.get(name := item.callspec.params["name"], name)
        for item in request.session.items
        if "dry_runs" in item.fixturenames
    }
    with ThreadPoolExecutor(min(4, os.cpu_count())) as pool:
        running = {name: pool.submit(dry_run, name, base, name == OF_FULL_SIZE) for name in sorted(asked)}
        yield lambda name: running[name].result()
        pool.shutdown(cancel_futures=True)


def test_one_config_of_each_kind_is_scored():
    def kind(name: str) -> tuple[str, ...]:
        settings = settings_of(ROOT / "configs" / f"{name}.conf")
        return settings.corpus[:1], *(getattr(settings, name) for name in SCORING)

    kinds = [kind(name) for name in SCORED]
    assert {*kinds} == {*map(kind, CONFIGS)} and len({*kinds}) == len(kinds)


@of_every_config
def test_it_makes_its_first_update(dry_runs, name):
    done = dry_runs(name)
    assert done.trained.returncode == 0, done.trained.stderr
    (entry,) = re.findall(r"\| train \| (\{.*\})", (done.run / "train.log").read_text(encoding="utf-8"))
    assert json.loads(entry)["train_num_updates"] == "1"
    assert (done.run / "model.pt").is_file()


@pytest.mark.parametrize("name", [OF_FULL_SIZE])
def test_the_papers_model_has_its_size(dry_runs, name):
    """Liu et al. (2021), section 3.2: 5 layers on each side, 512 units, 2048 between them."""
    weights = load_checkpoint(dry_runs(name).run / "model.pt")["model"]
    for side in ("encoder", "decoder"):
        assert weights[f"{side}.layers.4.fc1.weight"].shape == (2048, 512)
        assert f"{side}.layers.5.fc1.weight" not in weights


def two_configs(name: str) -> list[Config]:
    """The config that one is a variant of, and that one."""
    return [
        read_config(ROOT / "configs" / f"{each}.conf", {"ROOT": str(ROOT)})
        for each in (VARIANTS[name][0], name)
    ]


@pytest.mark.parametrize("name", VARIANTS)
def test_a_variant_differs_in_what_it_is_for(name):
    usual, variant = two_configs(name)
    settings = {each.name for each in fields(usual)} - {"path", "name", "text"}
    different = {each for each in settings if getattr(usual, each) != getattr(variant, each)}
    assert different == VARIANTS[name][1]


@pytest.mark.parametrize("name, times", UPDATES.items())
def test_an_invented_variant_has_so_many_times_as_many_updates(name, times):
    usual, variant = [
        parse_corpus(config.synthetic).pairs * training_options(SYSTEM, config.fairseq_options).max_epoch
        for config in two_configs(name)
    ]
    assert variant == pytest.approx(times * usual, rel=0.05)


@of_every_config
def test_it_trains_on_as_many_pairs_as_it_says(dry_runs, name):
    """On those that are left without held-out sentences, or on PAIRS of them."""
    done = dry_runs(name)
    pivot, *others = done.languages
    bounds = done.settings.pairs or {}
    counts = read(done.run / "run.json")["overlap"]
    assert [*counts] == [f"{pivot}-{language}" for language in others]
    number = re.search(r"--pairs (\d+)", " ".join(done.settings.corpus))
    if number and done.settings.corpus[0] == "iwslt17":
        assert {of_pair["kept"] for of_pair in counts.values()} == {int(number[1])}
    for language, of_pair in zip(others, counts.values()):
        left = of_pair["lines"] - of_pair["removed"]
        kept = bounds.get(f"{language}-{pivot}", bounds.get("", left))
        assert of_pair["kept"] == kept and (kept < left or not bounds)
        assert [*map(len, done.training_text(language))] == [kept, kept]


@of_every_config
def test_its_pairs_share_english_sentences_as_its_condition_says(dry_runs, name):
    done = dry_runs(name)
    condition = (
        done.settings.condition
        if done.settings.multiway
        else " ".join(done.settings.corpus).partition("--condition ")[2].partition(" ")[0]
    )
    sides = [{*done.training_text(language)[1]} for language in done.languages[1:]]
    shared, everything = set.intersection(*sides), set.union(*sides)
    if condition == "multiway":
        assert shared == everything
    elif condition == "non_overlap":
        assert len(everything) == sum(map(len, sides))
    elif condition == "diverse":
        assert len(everything) > len(sides[0])
    elif condition == "full":
        assert shared and all(shared < side for side in sides)


@of_every_config
def test_a_test_sentence_in_the_training_text_is_left_out(dry_runs, name):
    """The made-up IWSLT 2017 has one, and word_orders two; the run says so and keeps the counts."""
    done = dry_runs(name)
    leaks = done.settings.corpus == ("iwslt17",) and "it" in done.languages  # a condition leaves it out
    expected = {"en-it": 1} if leaks else FOUND_TWICE.get(name, {})
    counts = read(done.run / "run.json")["overlap"]
    assert {pair: of_pair["removed"] for pair, of_pair in counts.items() if of_pair["removed"]} == expected
    said = re.findall(r"\b(\d+) training pairs? .* left out", done.trained.stderr)
    assert [*map(int, said)] == ([sum(expected.values())] if expected else [])
    listed = (done.folder / "text" / "overlap.tsv").read_text(encoding="utf-8")
    assert bool(listed) == bool(expected)
    if leaks:
        leaked = [releases.sentence(language, releases.LEAKED) for language in ("it", "en")]
        assert all(sentence in listed for sentence in leaked)
        assert not {*leaked} & {*itertools.chain(*done.training_text("it"))}


@of_every_config
def test_it_has_the_text_pipeline_that_it_asks_for(dry_runs, name):
    done = dry_runs(name)
    folder, settings, made = (
        done.run / "pipeline",
        done.settings,
        read(done.run / "pipeline" / "pipeline.json"),
    )
    kinds = {
        language: KINDS[settings.tokenisation][language in releases.PMINDIA[1:]]
        for language in done.languages
    }
    if settings.transliterate:
        kinds = {
            language: kind.replace("indic", f"indic_{settings.transliterate}")
            for language, kind in kinds.items()
        }
    words, marks = settings.subword_type == "word", settings.mark_tokens
    assert made == {"units": "words" if words else "subwords", "tokenisation": kinds, "mark_tokens": marks}
    assert languages_of(folder, "truecaser.*") == {
        language for language in kinds if "_truecase" in kinds[language]
    }
    assert languages_of(folder, "vocabulary.*") == ({*kinds} if settings.threshold == 2 or marks else set())
    assert (folder / "subwords.model").is_file() != words


@of_every_config
def test_its_dictionary_has_its_languages_then_its_pieces(dry_runs, name):
    done = dry_runs(name)
    assert (done.run / "pipeline" / "languages.txt").read_text().split() == done.languages
    lines = (done.run / "pipeline" / f"dict.{done.languages[0]}.txt").read_text(encoding="utf-8").splitlines()
    symbols = [line.rsplit(" ", 1)[0] for line in lines]
    tags, pieces = symbols[: len(done.languages)], symbols[len(done.languages) :]
    assert tags == [*map(language_tag, done.languages)]
    if done.settings.subword_type == "word":
        assert len(pieces) == done.settings.vocabulary
    if done.settings.mark_tokens:
        assert {piece.partition(":")[0] for piece in pieces} == {*done.languages}
    else:
        assert not any(piece.startswith(f"{language}:") for piece in pieces for language in done.languages)


@pytest.mark.parametrize("name", SCORED)
def test_it_is_scored_in_every_direction(dry_runs, name):
    done = dry_runs(name)
    assert done.scored.returncode == 0, done.scored.stderr
    assert f"  {SYSTEM}\n" in done.scored.stdout
    scores, pivot = read(done.run / "scores.json"), done.languages[0]
    zero_shot = zero_shot_directions(done.languages, pivot)
    groups = (
        ("supervised", "direct", done.directions),
        ("zero_shot", "direct", zero_shot),
        ("zero_shot", "pivot", zero_shot),
    )
    expected = [(kind, way, str(direction)) for kind, way, directions in groups for direction in directions]
    assert [
        (result["kind"], result["way"], result["direction"]) for result in scores["directions"]
    ] == expected
    assert {result["lines"] for result in scores["directions"]} == {2}
    assert all(0 <= result["bleu"] <= 100 for result in scores["directions"])
    signature = scores["signatures"]["bleu"]
    assert f"tok:{done.settings.bleu_tokenizer}" in signature
    assert ("ref:normalised" in signature) == done.settings.normalise_references


@pytest.mark.parametrize("name", [name for name in CONFIGS if name.endswith("_relative")])
def test_a_config_of_relative_attention_is_for_all_its_systems_and_for_one_direction(name):
    settings = settings_of(ROOT / "configs" / f"{name}.conf")
    common = settings.fairseq_options
    *_, last = found = systems(["clip_distance"], common)
    first, second = settings.languages
    assert {training_options(system.architecture, common).lang_pairs for system in found} == {
        f"{first}-{second}"
    }
    assert (
        training_options(last.architecture, [*common, "--lang-pairs", f"{second}-{first}"]).lang_pairs
        == f"{second}-{first}"
    )
    assert (settings.beam or Search.beam, settings.length_penalty, settings.length_penalty_form) == (
        4,
        0.6,
        "gnmt",
    )


PAPERS = [name for name in [*CONFIGS, *BASES] if name.startswith(("iwslt17", "europarl_", "pmindia"))]


@pytest.mark.parametrize("name", [name for name in PAPERS if "sample" not in name])
def test_a_config_of_a_paper_says_what_differs_and_so_does_the_list(name):
    head = (ROOT / "configs" / f"{name}.conf").read_text(encoding="utf-8").partition("RELEASE=")[0]
    assert re.search(r"^# Differs from the paper: \S", head, re.MULTILINE)
    listed = (
        (ROOT / "docs" / "data.md")
        .read_text(encoding="utf-8")
        .partition("## What differs from the papers")[2]
    )
    assert f"`{name}`" in listed.partition("\n## ")[0]
    assert name in VERDICTS or name == "iwslt17_official5"  # of which the paper has nothing


# Configs that add a language


@pytest.mark.parametrize("name", sorted(BASES))
def test_a_language_is_added_to_a_run_of_the_config_that_lacks_it(dry_runs, tmp_path, name):
    of_full_size = BASES[name] == OF_FULL_SIZE  # the small config is not for the weights of that
    base = dry_run(BASES[name], tmp_path) if of_full_size else dry_runs(BASES[name])
    config, runs = tmp_path / f"{name}.conf", tmp_path / "runs"
    config.write_text(in_small(name, VOCABULARY="60"), encoding="utf-8")
    assert base.trained.returncode == 0, base.trained.stderr
    adapted = run_command("recipes/adapt.sh", config, base.run, "--allow-unknown", "1", runs=runs)
    assert adapted.returncode == 0, adapted.stderr
    run = runs / name / SYSTEM / "seed1"
    scored = run_command("recipes/evaluate.sh", run, runs=runs)
    assert scored.returncode == 0, scored.stderr
    pivot, *_, new = languages = (run / "pipeline" / "languages.txt").read_text().split()
    assert languages[:-1] == base.languages and new in settings_of(config).languages
    counts, settings = read(run / "run.json")["overlap"][f"{pivot}-{new}"], settings_of(config)
    cleaned = read(run / "run.json").get("cleaning", {"pairs": {}})["pairs"].get(f"{pivot}-{new}", {})
    left_out = sum(cleaned.get(rule, 0) for rule in settings.cleaning.rules)
    left = counts["lines"] - counts["removed"] - left_out
    assert counts["kept"] == (settings.pairs or {}).get("", left) and bool(cleaned) == bool(
        settings.cleaning.rules
    )
    scores = read(run / "scores.json")
    with_new = [result for result in scores["directions"] if new in result["direction"].split("-")]
    assert {(result["direction"], result["kind"], result["way"]) for result in with_new} == {
        (f"{one}-{other}", "supervised" if old == pivot else "zero_shot", way)
        for old in languages[:-1]
        for one, other in ((old, new), (new, old))
        for way in (("direct",) if old == pivot else ("direct", "pivot"))
    }
    assert len(scores["before"]) == len(read(base.run / "scores.json")["directions"])


# Releases that are not there, or not whole

LACKING = [
    ("iwslt17", "*.ro", "train.tags.ro-en.ro"),
    ("europarl_full", "*.da", "europarl-v7.da-en.da"),
    ("pmindia", "*.or-en.tsv", "pmindia.v1.or-en.tsv"),
    ("multi30k", "val.cs.gz", "val.cs"),
]


def stopped(name: str, folder: Path, tmp_path: Path) -> str:
    """What is printed for a config whose release is in a folder that will not do."""
    config = tmp_path / f"{name}.conf"
    config.write_text(
        changed((ROOT / "configs" / config.name).read_text(encoding="utf-8"), RELEASE=str(folder)),
        encoding="utf-8",
    )
    done = run_command("recipes/train.sh", config, SYSTEM, runs=tmp_path / "runs")
    assert done.returncode != 0 and "Traceback" not in done.stderr
    assert not (tmp_path / "runs" / name / "source").exists()
    return done.stderr


@pytest.mark.parametrize("name", [name for name, *_ in LACKING])
def test_a_release_that_is_not_there_gets_one_sentence(tmp_path, name):
    folder, corpus = tmp_path / "release", name.partition("_")[0]
    assert stopped(name, folder, tmp_path) == (
        f"error: RELEASE={folder} is not a folder; fetch it with: zsnmt fetch {corpus} --to {folder}\n"
    )


@pytest.mark.parametrize("name, removed, missing", LACKING)
def test_a_release_that_lacks_files_gets_one_sentence(release_folder, tmp_path, name, removed, missing):
    corpus = name.partition("_")[0]
    folder = Path(shutil.copytree(release_folder / corpus.upper(), tmp_path / "release"))
    for path in [*folder.rglob(removed)]:
        path.unlink()
    (error,) = re.findall("error: .*", stopped(name, folder, tmp_path))
    assert error == (
        f"error: {folder} and the folders below it lack {missing}; get the release with zsnmt fetch {corpus} "
        "--to FOLDER"
    )
