"""Engines that are measured: that each does the whole work, the stock search as it comes, and what is
printed of them.
"""

import json
import sys
from pathlib import Path

import pytest
from fairseq.sequence_generator import EnsembleModel, SequenceGenerator

from zsnmt.benchmarks import sizes, subjects
from zsnmt.benchmarks.engines import MASK, STOCK, Way, open_way, ways
from zsnmt.benchmarks.subjects import SOURCE_LENGTHS, into_one_language, random_subject
from zsnmt.benchmarks.translation import translation
from zsnmt.decoding.fairseq_engine import FairseqEngine
from zsnmt.decoding.options import CPU_PRECISIONS, CTRANSLATE2, FAIRSEQ, FLOAT32, PYTORCH, EngineChoice
from zsnmt.decoding.search import Search
from zsnmt.errors import InputError
from zsnmt.inference.pytorch import ManyProcesses
from zsnmt.inference.translator import Translator
from zsnmt.scoring.metrics import Metrics
from zsnmt.text.lines import read_lines

LINES, OUTPUT = 5, 4
SETTINGS = dict(
    run=None,
    source=None,
    to=None,
    text=None,
    reference=None,
    size=None,
    lines=LINES,
    beam=3,
    batch=2,
    rounds=2,
    workers=1,
    single_process=True,
    output=None,
)


@pytest.fixture(autouse=True)
def small_size(monkeypatch):
    size = dict(encoder_layers=3, decoder_layers=1, width=16, feed_forward=24, heads=2, vocabulary=300)
    monkeypatch.setitem(sizes.SIZES, "demo", size)
    monkeypatch.setattr(subjects, "OUTPUT", OUTPUT)


@pytest.mark.slow
def test_random_weights_are_searched_to_the_limit_by_all_engines(tmp_path):
    pytest.importorskip("ctranslate2")
    printed = "\n".join(translation(**{**SETTINGS, "size": "demo", "output": tmp_path / "figures.json"}))
    found = json.loads((tmp_path / "figures.json").read_text())["ways"]
    assert [way["engine"] for way in found] == [
        FAIRSEQ,
        PYTORCH,
        PYTORCH,
        CTRANSLATE2,
        CTRANSLATE2,
        STOCK,
        STOCK,
    ]
    assert {way["tokens"] for way in found} == {LINES * (OUTPUT + 1)} and all(
        len(way["seconds"]) == 2 for way in found
    )
    assert found[1]["precision"] == FLOAT32 and found[1]["best_equal"] == found[1]["lists_equal"] == 1
    assert f"{LINES} sentences, beam 3, batches of 2, 2 rounds" in printed
    first, *_ = [row for row in printed.splitlines() if row.startswith("| fairseq-generate | float32 |")]
    assert "| 1 × 1 |" in first and "| 1.00 (1.00–1.00) |" in first
    assert "CTranslate2 int8 against that of the stock model: " in printed


@pytest.mark.slow
def test_masks_are_measured_beside_the_whole_vocabulary(tmp_path):
    pytest.importorskip("ctranslate2")
    given = dict(
        size="demo",
        mask=True,
        share=0.4,
        cpu_seconds=True,
        rounds=1,
        lines=30 * LINES,  # the clock of the processor moves in steps
        output=tmp_path / "figures.json",
    )
    printed = "\n".join(translation(**{**SETTINGS, **given}))
    found = json.loads((tmp_path / "figures.json").read_text())["ways"]
    assert [(way["engine"], way["precision"]) for way in found if way["by"] == MASK] == [
        (engine, precision) for engine in (PYTORCH, CTRANSLATE2) for precision in CPU_PRECISIONS
    ]
    assert {way["tokens"] for way in found} == {30 * LINES * (OUTPUT + 1)} and len(found) == 11
    assert "| CTranslate2 | int8 | 1 × 1 | 1.00 (1.00–1.00) |" in printed  # in the table of ratios to it
    assert printed.count("| CTranslate2, the target language's pieces | int8 | 1 × 1 |") == 2


def test_the_language_of_a_mask_has_its_share_of_the_words():
    subject = into_one_language(random_subject("demo", beam=3, number=LINES), 0.4)
    words = 300 - 4 - len(subject.codec.languages)
    assert {len(of) for of in subject.counts.values()} == {round(0.4 * words)}
    assert len({sentence.start for sentence in subject.sentences}) == 1


@pytest.mark.parametrize("given", [dict(), dict(mask=True, run=Path("run"))])
def test_a_share_of_words_without_a_mask_of_random_weights_is_refused(given):
    with pytest.raises(InputError, match="--share is of random weights and --mask"):
        next(translation(**{**SETTINGS, **given, "share": 0.4}))


@pytest.mark.parametrize("one_process, of_pytorch", [(False, [(2, 1)]), (True, [(2, 1), (1, 2)])])
def test_processes_have_one_thread_each_and_one_process_has_as_many(one_process, of_pytorch, tmp_path):
    pytest.importorskip("ctranslate2")
    subject = random_subject("demo", beam=3, number=LINES)
    found = [*ways(subject, 2, one_process, tmp_path)]
    layouts = {
        name: [(way.workers, way.threads) for way in found if way.engine == name]
        for name in (FAIRSEQ, PYTORCH, CTRANSLATE2, STOCK)
    }
    assert layouts == {
        FAIRSEQ: [(1, 2), (2, 1)],
        PYTORCH: 2 * of_pytorch,
        CTRANSLATE2: [(2, 1)] * 2,
        STOCK: [(2, 1)] * 2,
    }
    assert [type(open_way(way, subject)) for way in found[:3]] == [
        FairseqEngine,
        ManyProcesses,
        ManyProcesses,
    ]


def test_the_baseline_is_the_stock_search_with_weights_that_are_not_frozen():
    subject = random_subject("demo", beam=3, number=LINES)
    engine = open_way(Way(FAIRSEQ, FLOAT32, 1, 2), subject)
    assert type(engine.generator) is SequenceGenerator and type(engine.generator.model) is EnsembleModel
    assert all(weight.requires_grad for weight in engine.generator.model.parameters())


def test_random_sentences_are_the_same_each_time_and_the_longest_come_first():
    sentences = random_subject("demo", beam=3, number=40).sentences
    assert sentences == random_subject("demo", beam=5, number=40).sentences
    lengths = [len(sentence.source) for sentence in sentences]
    assert lengths == sorted(lengths, reverse=True) and {*lengths} <= {*SOURCE_LENGTHS}
    assert len({sentence.start for sentence in sentences}) == 4


def test_without_ctranslate2_the_others_are_measured(tmp_path, monkeypatch, caplog):
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    found = ways(random_subject("demo", beam=3, number=LINES), 1, True, tmp_path)
    assert [(way.engine, way.workers, way.threads) for way in found] == [
        (FAIRSEQ, 1, 1),
        (PYTORCH, 1, 1),
        (PYTORCH, 1, 1),
    ]
    assert "CTranslate2 is left out: CTranslate2 is not installed" in caplog.text


def test_a_model_that_engines_do_not_know_is_measured_with_fairseq(tmp_path, caplog):
    pytest.importorskip("ctranslate2")
    subject = random_subject("demo", beam=3, number=LINES)
    subject.model.decoder.quant_noise = lambda x: x
    assert [way.engine for way in ways(subject, 2, False, tmp_path)] == [FAIRSEQ, FAIRSEQ]
    assert (
        "the PyTorch engine is left out: it has quantisation noise" in caplog.text
        and "CTranslate2 is left out: " in caplog.text
    )


def test_a_run_translates_real_text_with_bleu(tiny):
    text = tiny.folder / "text"
    files = dict(text=text / "test.velan", reference=text / "test.tamun")
    printed = translation(
        **{
            **SETTINGS,
            **files,
            "run": tiny.run(),
            "source": "velan",
            "to": "tamun",
            "lines": 7,
            "pivot": True,
        }
    )
    rows = [line for line in printed if line.startswith(("| fairseq-", "| PyTorch")) and line.count("|") == 9]
    fairseq, pytorch, _, through_pivot = (row.split(" | ")[-3:] for row in rows)
    assert fairseq == pytorch and float(fairseq[0]) >= 0 and fairseq[1:] == ["100.0%", "100.0% |"]
    translator = Translator.open(tiny.run(), Search(beam=3), EngineChoice(workers=1))
    lines, references = (read_lines(each)[:7] for each in files.values())
    made = translator.translate(lines, "tamun", "velan", via="inglan")
    bleu = Metrics().against(tuple(references))["bleu"].corpus_score(made, None).score
    assert through_pivot[0] == f"{bleu:.2f}"


@pytest.mark.parametrize(
    "given, message",
    [
        (dict(to="fr"), "--from, --to, --text, --reference and --pivot belong to a run"),
        (dict(run="run", source="de", to="fr"), "measured with --from, --to and --text"),
        (dict(run="run", source="de", to="fr", text="text", size="demo"), "without --size"),
        (dict(size="demo", lines=0), "nothing to translate; give --lines 1 or more"),
    ],
)
def test_options_that_do_not_go_together_are_refused(given, message):
    with pytest.raises(InputError, match=message):
        next(translation(**{**SETTINGS, **given}))


def test_references_of_another_text_are_refused_before_a_model_is_read(tmp_path):
    text, reference = tmp_path / "text", tmp_path / "reference"
    text.write_text("ein Satz\n")
    reference.write_text("une phrase\nune autre\n")
    given = dict(run=tmp_path, source="de", to="fr", text=text, reference=reference)
    with pytest.raises(
        InputError, match="reference has 2 lines but .*text has 1; give the reference of this text"
    ):
        next(translation(**{**SETTINGS, **given}))
