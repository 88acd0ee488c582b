"""Engines by name: the same translations from each, by one process or by several."""

import errno
import os
import re
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from tests.conftest import OLDER_RUN
from tests.support import warm
from tests.support.kernels import forget_kernels
from tests.support.rounding import open_in_float64
from zsnmt import processes
from zsnmt.decoding.fairseq_engine import FairseqEngine
from zsnmt.decoding.methods.settings import parse_method
from zsnmt.decoding.options import AUTO, CTRANSLATE2, FAIRSEQ, FLOAT16, INT8, PYTORCH, EngineChoice
from zsnmt.decoding.pytorch_engine import PyTorchEngine
from zsnmt.decoding.search import BatchEngine, Hypothesis, Search, Sentence
from zsnmt.errors import InputError
from zsnmt.files.records import read_json, write_json
from zsnmt.inference import engines
from zsnmt.inference.engines import engine_for, open_engine, prepare_engine
from zsnmt.inference.export.folder import EXPORT_FILE, describe_export
from zsnmt.inference.export.run import export_run
from zsnmt.inference.many_gpus import ManyGpus, end_processes
from zsnmt.inference.pytorch import ManyProcesses
from zsnmt.inference.translator import Translator
from zsnmt.languages import Direction
from zsnmt.processes import used_seconds
from zsnmt.runs.checkpoints import load_checkpoint

SEARCH = Search(
    2, max_len_a=0, max_len_b=9
)  # the same limit whatever the batch, as fairseq has one for all of it
INTO = [Direction("velan", target) for target in ("tamun", "inglan", "velor")]

of_a_cpu = pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")


@pytest.fixture(scope="module")
def lines(tiny) -> list[str]:
    return (tiny.folder / "text" / "test.velan").read_text().split("\n")[:-1]


def talkative(tiny, run: Path, architecture: str | None = None, seed: int = 1) -> Path:
    """A run of random weights, as one trained so little writes the same whatever it reads; of another
    architecture if asked for.
    """
    shutil.copytree(tiny.run() / "pipeline", run / "pipeline")
    state = load_checkpoint(tiny.run() / "model.pt")
    if architecture is not None:
        state["cfg"]["model"]._name = state["cfg"]["model"].arch = architecture
        state["model"] = {
            name: weight for name, weight in state["model"].items() if "language_embedding" not in name
        }
    for weight in state["model"].values():
        if weight.dim() > 1:
            weight.normal_(0, 0.6, generator=torch.Generator().manual_seed(weight.numel() + seed))
    torch.save(state, run / "model.pt")
    return run


@pytest.fixture(scope="module")
def run(tiny, tmp_path_factory) -> Path:
    return talkative(tiny, tmp_path_factory.mktemp("talkative") / "run")


@pytest.fixture(scope="module")
def stock(tiny, tmp_path_factory) -> Path:
    """A run of fairseq's own architecture, trained by the task of zsnmt."""
    return talkative(tiny, tmp_path_factory.mktemp("stock") / "run", "transformer")


def open_translator(run: Path, *choice, **options) -> Translator:
    """A translator whose outputs have a limit that does not depend on the batch."""
    return Translator.open(run, SEARCH, EngineChoice(*choice), **options)


# Translators


def test_every_engine_gives_the_same_translations(run, lines, float64_attention, monkeypatch):
    open_in_float64(monkeypatch)
    reference = open_translator(run, FAIRSEQ, None, 1)
    into = reference.translate_into(lines, INTO)
    through_pivot = reference.translate(lines, "tamun", "velan", via="inglan")
    assert len({tuple(translations) for translations in into.values()}) == 3 and len({*into[INTO[0]]}) > 3
    for engine, workers in ((PYTORCH, 1), (PYTORCH, 2), (FAIRSEQ, 2), (None, None)):
        translator = open_translator(run, engine, None, workers, batch_tokens=40)
        assert translator.translate_into(lines, INTO) == into
        assert translator.translate(lines, "tamun", "velan", via="inglan") == through_pivot


def test_a_trained_run_is_translated_alike_with_the_limits_that_depend_on_the_source(
    tiny, lines, float64_attention, monkeypatch
):
    open_in_float64(monkeypatch)
    search, choices = Search(beam=2), [EngineChoice(engine, workers=1) for engine in (FAIRSEQ, PYTORCH)]
    found = [Translator.open(tiny.run(), search, choice).translate(lines, "tamun") for choice in choices]
    assert found[0] == found[1] and any(found[0])


@of_a_cpu
def test_int8_translates_nearly_as_float32(run, lines):
    exact, rounded = (
        open_translator(run, PYTORCH, precision, 1).translate_into(lines, INTO) for precision in (None, INT8)
    )
    pairs = [pair for direction in INTO for pair in zip(exact[direction], rounded[direction], strict=True)]
    assert all(bool(one) == bool(other) for one, other in pairs)
    assert sum(one == other for one, other in pairs) > len(pairs) / 2
    by_two = open_translator(run, PYTORCH, INT8, 2)
    assert by_two.translate_into(lines, INTO) == rounded  # the same batches, so the same rounding


def test_a_model_that_cannot_be_packed_is_searched_by_fairseq(
    stock, lines, float64_attention, monkeypatch, caplog
):
    open_in_float64(monkeypatch)
    by_name, by_default = (open_translator(stock, engine, None, 1) for engine in (FAIRSEQ, PYTORCH))
    assert isinstance(by_default.engine, FairseqEngine)
    assert "is translated by fairseq's search, which is slower: it is not a model of zsnmt" in caplog.text
    assert (by_name.signature, by_default.signature) == (FAIRSEQ, "")
    translated = by_default.translate_into(lines, INTO)
    assert translated == by_name.translate_into(lines, INTO) and len({*translated[INTO[2]]}) > 3
    assert open_translator(stock, None, None, 2, batch_tokens=40).translate_into(lines, INTO) == translated


def test_int8_is_refused_where_fairseq_searches(run, stock):
    for folder, choice, message in (
        (run, EngineChoice(FAIRSEQ, INT8), "has no precision but float32; leave out --precision int8"),
        (
            stock,
            EngineChoice(PYTORCH, INT8),
            "fairseq's search, which this model needs, since it is not a model of zsnmt, has no precision",
        ),
    ):
        with pytest.raises(InputError, match=message):
            open_engine(folder, SEARCH, choice)


def test_batches_dealt_to_gpus_are_translated_as_by_one(run, lines, monkeypatch):
    """Without GPUs the processes have a processor each; what they are given, and give, is the same."""
    warm.spawn_copies(monkeypatch)
    one, several = (
        Translator.open(run, SEARCH, EngineChoice(workers=1, gpus=gpus), batch_tokens=40) for gpus in (1, 2)
    )
    method = parse_method("contrast")
    assert isinstance(several.engine, ManyGpus) and isinstance(several.by(method).engine, ManyGpus)
    begin, told = used_seconds(), processes.told_seconds
    assert several.translate_into(lines, INTO) == one.translate_into(lines, INTO)
    assert 0 < processes.told_seconds - told <= used_seconds() - begin
    assert several.by(method).translate_into(lines, INTO[:1]) == one.by(method).translate_into(
        lines, INTO[:1]
    )
    before = used_seconds()
    end_processes()  # of both, which then count as children, but were counted
    assert not ManyGpus.begun and "pool" not in vars(several.engine) and used_seconds() - before < 0.5


def test_why_the_process_of_a_gpu_has_no_model_is_said(run, lines, monkeypatch, tmp_path):
    warm.spawn_copies(monkeypatch)
    copied = shutil.copytree(run, tmp_path / "run")
    several = Translator.open(copied, SEARCH, EngineChoice(workers=1, gpus=2), batch_tokens=40)
    with (copied / "model.pt").open("r+b") as file:
        file.truncate(1000)
    with pytest.raises(InputError, match=r"run.model\.pt"):
        several.translate_into(lines, INTO)
    end_processes()


@of_a_cpu
def test_the_choice_says_which_engine_and_how_many_processes(run):
    engine, codec = open_engine(run, SEARCH, EngineChoice(PYTORCH, workers=1))
    assert isinstance(engine, PyTorchEngine) and engine.search == SEARCH and codec.pivot == "inglan"
    several, _ = open_engine(run, SEARCH, EngineChoice(FAIRSEQ, workers=3))
    assert (
        isinstance(several, ManyProcesses)
        and isinstance(several.engine, FairseqEngine)
        and several.workers == 3
        and several.signature == FAIRSEQ  # so that translations of the packed model are not taken for its own
    )
    by_default, _ = open_engine(run, SEARCH)
    cores = len(os.sched_getaffinity(0))
    assert isinstance(by_default.engine if cores > 1 else by_default, PyTorchEngine) and (
        cores == 1 or by_default.workers == cores
    )


@pytest.mark.parametrize(
    "wrong, message",
    [
        (dict(engine="marian"), "there is no engine 'marian'; choose auto, pytorch, ctranslate2, fairseq"),
        (dict(precision="int4"), "there is no precision 'int4'; choose float32, int8"),
        (dict(workers=0), "0 workers cannot work; give one or more"),
    ],
)
def test_what_is_no_choice_is_refused(wrong, message):
    with pytest.raises(InputError, match=message):
        EngineChoice(**wrong)


# Exports


@pytest.fixture
def exportable(tiny, tmp_path) -> Path:
    """A run folder without exports."""
    return shutil.copytree(
        tiny.run(), tmp_path / "run", ignore=shutil.ignore_patterns("checkpoints", "ctranslate2-*")
    )


BY_CTRANSLATE2 = EngineChoice(CTRANSLATE2, workers=1)


def test_opening_an_engine_exports_nothing(exportable, caplog):
    there = sorted(exportable.rglob("*"))
    message = (
        r"run has no up-to-date export to ctranslate2 in float32; make it with zsnmt export .*run "
        r"--to ctranslate2 --quantization float32"
    )
    with pytest.raises(InputError, match=message):
        open_engine(exportable, SEARCH, BY_CTRANSLATE2)
    engine, _ = open_engine(exportable, SEARCH, EngineChoice(AUTO, workers=1))
    assert isinstance(engine, PyTorchEngine) and re.search(f"PyTorch translates: .*{message}", caplog.text)
    for choice in (EngineChoice(), EngineChoice(AUTO), EngineChoice(PYTORCH), EngineChoice(FAIRSEQ)):
        prepare_engine(exportable, SEARCH, choice)
    assert sorted(exportable.rglob("*")) == there


def test_auto_is_pytorch_for_a_method_that_ctranslate2_does_not_know(exportable):
    auto, mask, ensemble = EngineChoice(AUTO), parse_method("mask:renormalise=yes"), parse_method("ensemble")
    assert engine_for(exportable, [mask], auto) == auto
    assert engine_for(exportable, [mask, ensemble], auto) == EngineChoice(PYTORCH)
    with pytest.raises(InputError, match="--engine ctranslate2 cannot translate by ensemble"):
        engine_for(exportable, [ensemble], BY_CTRANSLATE2)


def test_an_engine_that_needs_an_export_is_prepared_once_and_says_so(exportable, lines, caplog):
    pytest.importorskip("ctranslate2")
    caplog.set_level("INFO", "zsnmt.inference.export")
    prepare_engine(exportable, SEARCH, BY_CTRANSLATE2)
    assert re.search(
        r"exporting .*run into .*ctranslate2-float32, and checking it on \d+ sentences", caplog.text
    )
    assert re.search(r"exported in \d+ seconds", caplog.text)
    made = (exportable / "ctranslate2-float32" / "export.json").stat().st_mtime_ns
    prepare_engine(exportable, SEARCH, BY_CTRANSLATE2)
    assert (exportable / "ctranslate2-float32" / "export.json").stat().st_mtime_ns == made
    by_pytorch = Translator.open(exportable, SEARCH, EngineChoice(PYTORCH, workers=1)).translate(
        lines, "tamun", "velan"
    )
    for choice in (BY_CTRANSLATE2, EngineChoice(AUTO, workers=1)):
        translator = Translator.open(exportable, SEARCH, choice)
        assert (
            translator.signature.startswith("ctranslate2")
            and translator.translate(lines, "tamun", "velan") == by_pytorch
        )
    with (exportable / "model.pt").open("ab") as model:
        model.write(b"another")  # a model that was trained since
    with pytest.raises(InputError, match="has no up-to-date export"):
        open_engine(exportable, SEARCH, BY_CTRANSLATE2)


def test_what_ctranslate2_cannot_search_is_refused_before_it_is_exported(exportable, tmp_path):
    gnmt = Search(length_penalty_form="gnmt")
    with pytest.raises(
        InputError, match="CTranslate2 has no --length-penalty-form gnmt; translate with --engine pytorch"
    ):
        prepare_engine(exportable, gnmt, BY_CTRANSLATE2)
    with pytest.raises(InputError, match="is not a run folder"):
        prepare_engine(tmp_path, SEARCH, BY_CTRANSLATE2)
    assert not [*exportable.glob("ctranslate2-*")]


def test_an_export_says_its_format_and_one_of_a_time_without_names_is_ctranslate2s(exportable, lines):
    pytest.importorskip("ctranslate2")
    folder, _ = export_run(exportable, quantization=INT8)
    assert folder == exportable / "ctranslate2-int8" and describe_export(folder)["format"] == CTRANSLATE2
    expected = Translator.open(folder, SEARCH).translate(lines, "tamun", "velan")
    old = read_json(folder / EXPORT_FILE, "")
    del old["checksum"]
    write_json(folder / EXPORT_FILE, old | {"format": 1})
    assert describe_export(folder) == old
    assert Translator.open(folder, SEARCH).translate(lines, "tamun", "velan") == expected
    for wrong, message in (
        (EngineChoice(PYTORCH), "is an export to ctranslate2; give the run folder for --engine pytorch"),
        (
            EngineChoice(precision="float32"),
            "was exported in int8; leave out --precision float32, or export the run so",
        ),
    ):
        with pytest.raises(InputError, match=message):
            open_engine(folder, SEARCH, wrong)
    write_json(folder / EXPORT_FILE, old | {"format": "marian"})
    with pytest.raises(
        InputError, match="export.json is of another version of the toolkit; export the run again"
    ):
        open_engine(folder, SEARCH)


@pytest.fixture
def exported(older, tmp_path) -> Path:
    """A run with an export of its model, in which no lock can be taken, as in a folder that is read-only."""
    run = tmp_path / "run"
    for name in ("pipeline", "ctranslate2-float32"):
        shutil.copytree(older / OLDER_RUN / name, run / name)
    shutil.copyfile(older / OLDER_RUN / "model.pt", run / "model.pt")
    for quantization in ("float32", "int8"):
        (run / f".ctranslate2-{quantization}.lock").mkdir()
    return run


@pytest.mark.parametrize("engine", [AUTO, CTRANSLATE2])
def test_an_export_that_is_there_is_taken_where_nothing_can_be_written(exported, engine):
    pytest.importorskip("ctranslate2")
    choice = EngineChoice(engine, workers=1)
    prepare_engine(exported, SEARCH, choice)
    assert Translator.open(exported, SEARCH, choice).signature.startswith("ctranslate2")


@of_a_cpu
def test_where_nothing_can_be_written_auto_takes_pytorch_and_ctranslate2_says_what_to_do(exported, caplog):
    choice = EngineChoice(AUTO, INT8, workers=1)
    prepare_engine(exported, SEARCH, choice)
    assert Translator.open(exported, SEARCH, choice).signature == "pytorch int8"
    assert re.search("PyTorch translates: .* has no up-to-date export to ctranslate2 in int8", caplog.text)
    with pytest.raises(InputError, match="cannot be exported into itself .* zsnmt export .* --output FOLDER"):
        prepare_engine(exported, SEARCH, EngineChoice(CTRANSLATE2, INT8, workers=1))


def test_auto_takes_pytorch_where_an_export_cannot_be_read(exported, caplog, monkeypatch):
    def refuse(*_):
        raise PermissionError(errno.EACCES, "Permission denied", "export.json")

    monkeypatch.setattr(engines, "is_present", refuse)
    choice = EngineChoice(AUTO, workers=1)
    assert isinstance(Translator.open(exported, SEARCH, choice).engine, PyTorchEngine)
    assert "PyTorch translates: [Errno 13] Permission denied: 'export.json'" in caplog.text


@pytest.mark.parametrize("beam, models, times", [(4, 1, 8), (5, 1, 6), (4, 2, 4), (1, 1, 8), (16, 2, 1)])
def test_batches_on_a_gpu_are_by_what_its_free_memory_holds(monkeypatch, beam, models, times):
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (16 * 10**9, 24 * 10**9))
    engine = SimpleNamespace(device=torch.device("cuda"), search=Search(beam), models=models)
    assert engines.larger_batches(engine) == times


def test_float16_is_pytorchs(run, exported, monkeypatch):
    assert engine_for(run, [], EngineChoice(AUTO, FLOAT16)).engine == PYTORCH
    for opened in (open_engine, prepare_engine):
        with pytest.raises(InputError, match="--precision float16 of a run is for --engine pytorch"):
            opened(run, SEARCH, EngineChoice(CTRANSLATE2, FLOAT16))
    if not torch.cuda.is_available():
        for engine in (AUTO, PYTORCH):
            with pytest.raises(InputError, match="float16 is for a GPU, and there is none"):
                open_engine(run, SEARCH, EngineChoice(engine, FLOAT16))


# Processes


class Echo(BatchEngine):
    """An engine that says which process it works in, and refuses a certain sentence."""

    signature = "echo"

    def translate_batch(self, batch):
        if any(sentence.start < 0 for sentence in batch):
            raise InputError(f"{batch[0].source} cannot be translated")
        return [
            [Hypothesis([os.getpid(), torch.get_num_threads(), *sentence.source], float(sentence.start))]
            for sentence in batch
        ]


BATCHES = [[Sentence([number, row], row) for row in range(1 + number % 3)] for number in range(11)]


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_processes_give_what_one_does_in_the_same_order(workers):
    found = [*ManyProcesses(Echo(), workers).translate(iter(BATCHES))]
    assert [[hypothesis.tokens[2:] for (hypothesis,) in batch] for batch in found] == [
        [each.source for each in batch] for batch in BATCHES
    ]
    assert [[hypothesis.score for (hypothesis,) in batch] for batch in found] == [
        [each.start for each in batch] for batch in BATCHES
    ]
    processes = {hypothesis.tokens[0] for batch in found for (hypothesis,) in batch}
    assert (
        processes == {os.getpid()}
        if workers == 1
        else os.getpid() not in processes and len(processes) <= workers
    )
    assert {hypothesis.tokens[1] for batch in found for (hypothesis,) in batch} == {1}


class Environment(Echo):
    """An engine that says how many kernels the process may keep in which it works."""

    def translate_batch(self, batch):
        return [[Hypothesis([int(os.environ[processes.KERNELS])], 0.0)] for _ in batch]


@pytest.mark.parametrize("given", [None, "77"])
def test_processes_share_the_memory_for_kernels_unless_a_person_says_how_many(given, monkeypatch):
    forget_kernels(monkeypatch)
    if given:
        monkeypatch.setenv(processes.KERNELS, given)
    found = ManyProcesses(Environment(), 3).translate(BATCHES)
    kept = {number for batch in found for (hypothesis,) in batch for number in hypothesis.tokens}
    assert kept == {int(given or processes.kernel_limit(processes.memory(), 3))}
    assert os.environ.get(processes.KERNELS) == given


@pytest.mark.parametrize("number", [0, 1])
def test_a_single_batch_needs_no_other_process(number):
    found = [*ManyProcesses(Echo(), 4).translate(BATCHES[:number])]
    assert len(found) == number and all(
        hypothesis.tokens[0] == os.getpid() for batch in found for (hypothesis,) in batch
    )


@pytest.mark.parametrize("place", [0, 6, 10])
def test_what_a_process_raises_is_raised_here(place):
    batches = [*BATCHES]
    batches[place] = [Sentence([7, 8], -1)]
    found = ManyProcesses(Echo(), 2).translate(batches)
    with pytest.raises(InputError, match="\\[7, 8\\] cannot be translated"):
        for batch, expected in zip(found, BATCHES):
            assert batch[0][0].tokens[2:] == expected[0].source  # those before it come through
