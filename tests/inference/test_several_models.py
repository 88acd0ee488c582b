"""Several runs that translate together: fairseq's ensemble, by the packed models."""

import shutil
from pathlib import Path

import pytest
import torch

from tests.inference.test_engines import INTO, SEARCH, talkative
from tests.support.rounding import open_in_float64
from zsnmt.decoding.beam_search import best_candidates
from zsnmt.decoding.encode_once import EncodeOnce
from zsnmt.decoding.fairseq_engine import FairseqEngine, fairseq_options
from zsnmt.decoding.methods.combination import mean_probabilities
from zsnmt.decoding.methods.settings import parse_method
from zsnmt.decoding.options import AUTO, CTRANSLATE2, FAIRSEQ, INT8, PYTORCH, EngineChoice
from zsnmt.decoding.several_models import SeveralModels
from zsnmt.errors import InputError
from zsnmt.inference import pytorch
from zsnmt.inference.engines import open_engine
from zsnmt.inference.export.folder import EXPORT_FILE
from zsnmt.inference.pytorch import warn_of_untrained
from zsnmt.inference.translator import Translator
from zsnmt.languages import Direction
from zsnmt.runs.checkpoints import load_checkpoint


@pytest.fixture(scope="module")
def lines(tiny) -> list[str]:
    return (tiny.folder / "text" / "test.velan").read_text().split("\n")[:-1]


@pytest.fixture(scope="module")
def runs(tiny, tmp_path_factory) -> tuple[Path, Path]:
    """Two runs of random weights, others in each."""
    folder = tmp_path_factory.mktemp("several")
    return talkative(tiny, folder / "first"), talkative(tiny, folder / "second", seed=2)


def open_together(*runs: Path, workers: int = 1, precision: str | None = None, **options) -> Translator:
    first, *others = runs
    choice = EngineChoice(precision=precision, workers=workers, beside=tuple(others))
    return Translator.open(first, SEARCH, choice, **options)


def test_several_models_translate_as_an_ensemble_of_fairseq(runs, lines, float64_attention, monkeypatch):
    open_in_float64(monkeypatch)
    loaded = [pytorch.load_run(run) for run in runs]
    generator = loaded[0].task.build_generator(
        EncodeOnce([trained.model for trained in loaded]), fairseq_options(SEARCH)
    )
    reference = Translator(FairseqEngine(loaded[0].model, generator), loaded[0].codec, settings=SEARCH)
    expected = reference.translate_into(lines, INTO)
    for workers in (1, 2):
        together = open_together(*runs, workers=workers, batch_tokens=40)
        assert together.translate_into(lines, INTO) == expected
        scored = together.translate_with_scores(lines[:3], "tamun", "velan")
        for mine, of_fairseq in zip(scored, reference.translate_with_scores(lines[:3], "tamun", "velan")):
            assert mine.log_probability == pytest.approx(of_fairseq.log_probability, rel=1e-4)
    for run in runs:  # which is neither of the two
        assert open_together(run).translate_into(lines, INTO) != expected
    assert open_together(*runs[::-1]).translate_into(lines, INTO) == expected


def test_a_run_beside_itself_translates_as_alone(runs, lines, float64_attention, monkeypatch):
    open_in_float64(monkeypatch)
    first, _ = runs
    alone = open_together(first)
    twice = Translator(SeveralModels([alone.engine, alone.engine]), alone.codec, settings=SEARCH)
    assert (twice.signature, twice.engine.models) == ("mean of 2 models", 2)
    assert twice.translate_into(lines, INTO) == alone.translate_into(lines, INTO)
    for way in ("contrast", "mask", "mask:renormalise=yes", "average"):
        method = parse_method(way) if way != "average" else parse_method("ensemble:by=average,through=inglan")
        found = []
        for translator in (alone, twice):
            counts = {language: dict.fromkeys(range(9), 1) for language in translator.languages}
            found.append(translator.by(method, None if not method.mask else piece_counts(translator, counts)))
        assert found[0].translate_into(lines, INTO[:1]) == found[1].translate_into(lines, INTO[:1])


def piece_counts(translator: Translator, counts: dict) -> dict:
    """Counts by which each language may write every other piece."""
    symbols = [translator.codec.dictionary[number] for number in range(4, len(translator.codec.dictionary))]
    return {language: dict.fromkeys(symbols[place % 2 :: 2], 5) for place, language in enumerate(counts)}


def test_a_method_combines_the_means_of_each_sentence(runs, lines, float64_attention, monkeypatch):
    """Two sentences for one output: after each a method is given the mean of what the models say after it."""
    open_in_float64(monkeypatch)

    def said(translator: Translator) -> list[torch.Tensor]:
        seen = []

        def watch(views, scores, number):
            seen.append([view.clone() for view in views])
            return best_candidates(views[0], scores, number)

        read = [[translator.codec.source(line, INTO[0])] for line in lines[:2]]
        translator.engine.search_views(read, combine=watch)
        return seen[0]

    together, one, other = (said(open_together(*each)) for each in (runs, runs[:1], runs[1:]))
    assert len(together) == 2 and not torch.allclose(together[0].exp(), together[1].exp(), atol=1e-3)
    for mean, *of_models in zip(together, one, other, strict=True):
        torch.testing.assert_close(mean.exp(), torch.stack(of_models).exp().mean(dim=0))


def test_the_mean_is_of_probabilities():
    said = [torch.tensor([0.5, 0.25, 0.0]).log(), torch.tensor([0.1, 0.25, 0.0]).log()]
    assert mean_probabilities(said).exp().tolist() == pytest.approx([0.3, 0.25, 0.0])


def test_int8_translates_together_nearly_as_float32(runs, lines):
    exact, rounded = (
        open_together(*runs, precision=precision).translate(lines, "tamun", "velan")
        for precision in (None, INT8)
    )
    assert sum(one == other for one, other in zip(exact, rounded, strict=True)) > len(lines) / 2


def test_what_cannot_translate_together_is_refused(runs, tiny, tmp_path):
    first, second = runs
    tagged = shutil.copytree(second, tmp_path / "tagged")
    state = load_checkpoint(tagged / "model.pt")
    state["task_state"]["language_tags"] = state["cfg"]["task"].language_tags = "s_enc_t_dec"
    torch.save(state, tagged / "model.pt")
    short = shutil.copytree(second, tmp_path / "short")
    state = load_checkpoint(short / "model.pt")
    state["cfg"]["task"].max_source_positions = 50
    torch.save(state, short / "model.pt")
    stock = talkative(tiny, tmp_path / "stock", "transformer")
    for run, message in (
        (tagged, "tagged cannot .* with .*/first: its tags stand by s_enc_t_dec and not by t_dec"),
        (short, "short cannot translate together with .*/first: it reads 50 tokens at most and not 40"),
        (stock, "stock cannot translate together with others, since it is not a model of zsnmt"),
        (tmp_path / "none", "there is no folder .*none; give a run"),
        (first, "first has the same model as .*/first, and together they translate as one does, in twice"),
    ):
        with pytest.raises(InputError, match=message):
            open_together(first, run)
    other = shutil.copytree(second, tmp_path / "other")
    record = other / "pipeline" / "pipeline.json"
    record.write_text(record.read_text() + " ")
    with pytest.raises(InputError, match="other cannot .*first: it has another pipeline.json; give runs of"):
        open_together(first, other)
    for engine in (CTRANSLATE2, FAIRSEQ):
        with pytest.raises(InputError, match=f"--engine {engine} searches with one model; leave out --with"):
            EngineChoice(engine, beside=(second,))
    export = tmp_path / "export"
    export.mkdir()
    (export / EXPORT_FILE).write_text("{}")
    with pytest.raises(InputError, match="is an export, which translates alone; give the run, or leave out"):
        open_engine(export, SEARCH, EngineChoice(beside=(second,)))
    for engine in (None, AUTO, PYTORCH):
        found, _ = open_engine(first, SEARCH, EngineChoice(engine, workers=1, beside=(second,)))
        assert isinstance(found, SeveralModels)


def test_a_model_that_is_there_twice_is_refused_wherever_it_is(runs, tmp_path):
    first, second = runs
    copy = shutil.copytree(second, tmp_path / "copy")
    for further, name in ((copy, "copy"), (second, "second")):
        message = f"/{name} has the same model as .*/second, .*; leave one of them out"
        with pytest.raises(InputError, match=message):
            open_together(first, second, further)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_run_that_alone_has_not_learned_a_direction_is_named(runs, tmp_path, workers, caplog):
    first, second = runs
    student = shutil.copytree(second, tmp_path / "student")
    state = load_checkpoint(student / "model.pt")
    state["task_state"]["trained"] = [*state["task_state"]["trained"], "velan-tamun"]
    torch.save(state, student / "model.pt")
    together = open_together(first, student, workers=workers)
    directions = {
        name: Direction(*name.split("-")) for name in ("velan-tamun", "velan-velor", "velan-inglan")
    }
    for translator in (together, together.by(parse_method("contrast:source_weight=0")).direct):
        caplog.clear()
        warn_of_untrained(translator.engine, directions.values())
        (warning,) = caplog.messages
        assert warning.startswith(f"{first} was not trained on velan-tamun, as the others were")
    caplog.clear()
    warn_of_untrained(open_together(first).engine, directions.values())
    assert not caplog.messages
