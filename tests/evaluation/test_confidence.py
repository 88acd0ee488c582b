"""How well confidence ranks translations: the record of a run, and its tables."""

import json
import shutil
from statistics import fmean

import pytest
from sacrebleu import sentence_chrf
from scipy.stats import spearmanr

from tests.conftest import OLDER_RUN
from zsnmt import cli
from zsnmt.cli import confidence
from zsnmt.console import WrongUse
from zsnmt.decoding.options import EngineChoice
from zsnmt.decoding.search import Search
from zsnmt.errors import InputError
from zsnmt.evaluation.confidence import measure_direction
from zsnmt.inference.translation import Translation
from zsnmt.inference.translator import Translator
from zsnmt.languages import Direction
from zsnmt.report.confidence import confidence_block, confidence_tables, keep_confidence
from zsnmt.text.lines import read_lines


@pytest.fixture(scope="module")
def text(older):
    return older / "runs/tiny/text"


@pytest.fixture(scope="module")
def measured(older, text, tmp_path_factory):
    """What the command writes down of a run, and where."""
    output = tmp_path_factory.mktemp("measured") / "confidence.json"
    words = ["--text", str(text), "--directions", "velan-tamun,tamun-velan,velan-inglan", "--lines", "9"]
    words += ["--beam", "2", "--workers", "1", "--output", str(output)]
    cli.run(["confidence", str(older / OLDER_RUN), *words])
    return output, json.loads(output.read_text())


def test_a_single_line_is_ranked_by_nothing(older, text, tmp_path, capsys):
    words = ["--text", str(text), "--directions", "velan-tamun", "--lines", "1", "--workers", "1"]
    with pytest.raises(InputError, match="velan-tamun: of a single line nothing is ranked; measure two"):
        confidence.main([str(older / OLDER_RUN), *words, "--output", str(tmp_path / "confidence.json")])
    assert not [*tmp_path.iterdir()]


def test_a_figure_is_ranked_by_its_correlation_with_chrf_against_the_references(older, text, measured):
    translator = Translator.open(older / OLDER_RUN, Search(beam=2), EngineChoice(workers=1))
    sources, references = (read_lines(text / f"test.{language}")[:9] for language in ("velan", "tamun"))
    direct = translator.translate_with_scores(sources, "tamun", "velan")
    through = translator.translate(sources, "tamun", "velan", via="inglan")
    quality = [sentence_chrf(each.text, [other]).score for each, other in zip(direct, references)]
    agreement = [sentence_chrf(each.text, [other]).score for each, other in zip(direct, through)]
    row = measured[1]["directions"][0]
    assert (row["direction"], row["kind"], row["lines"]) == ("velan-tamun", "zero_shot", 9)
    assert row["chrf"] == pytest.approx(fmean(quality), abs=0.01)
    figures = {
        "mean_log_probability": [each.mean_log_probability for each in direct],
        "agreement": agreement,
    }
    for name, values in figures.items():
        assert row[name]["spearman"] == pytest.approx(spearmanr(values, quality).statistic, abs=1e-3)
        low, high = row[name]["interval"]
        assert low < high


def test_a_line_that_the_model_says_nothing_of_ranks_lowest(monkeypatch):
    """As one of an invisible character, which has no pieces: no probability is not the highest one, 0."""
    made = [Translation("", 0.0, 0), Translation("ab", -4.0, 2), Translation("abc", -1.0, 2)]
    monkeypatch.setattr("zsnmt.evaluation.confidence.other_way", lambda translator, legs: None)
    monkeypatch.setattr("zsnmt.evaluation.confidence.scored_lines", lambda *given, **named: made)
    pair = ["\u200b", "x", "y"], ["abc", "abc", "abc"]
    found = measure_direction(None, Direction("de", "fr"), "zero_shot", pair=pair)
    assert [*found.rankings] == ["mean_log_probability"]
    assert found.rankings["mean_log_probability"].correlation == pytest.approx(1.0)


def test_the_mean_is_over_the_directions_of_a_kind(measured):
    record = measured[1]
    zero_shot, supervised = record["means"]
    assert (zero_shot["directions"], supervised["directions"]) == (2, 1)
    for name in ("mean_log_probability", "agreement"):
        members = [row[name]["spearman"] for row in record["directions"][:2]]
        assert zero_shot[name]["spearman"] == pytest.approx(fmean(members), abs=1e-3)
    assert "agreement" not in supervised and "agreement" not in record["directions"][2]


def test_the_record_says_what_the_figures_depend_on(measured):
    record = measured[1]
    assert record["decoding"]["lines"] == 9 and len(record["decoding"]["model"]) == 64
    assert record["signatures"]["chrf"].startswith("nrefs:1|") and record["commit"] and record["versions"]


def test_its_tables_are_made_of_what_is_kept(measured, tmp_path):
    path, record = measured
    kept = keep_confidence(path.parent, tmp_path)
    assert kept == tmp_path / record["config"] / "confidence" / f"{record['system']}.seed1.json"
    table = confidence_block(tmp_path, record["config"])
    assert table == confidence_tables([record])
    mean = record["means"][0]["agreement"]["spearman"]
    assert "| zero-shot | 2 | " in table and f"{mean:z.2f} [".replace("-", "−") in table
    assert "| velan-inglan | " in table and "the first 9 lines of each direction" in table


def test_a_run_without_its_model_is_refused_with_what_makes_it(older, tmp_path):
    run = tmp_path / "seed1"
    shutil.copytree(older / OLDER_RUN, run, ignore=shutil.ignore_patterns("*.pt"))
    with pytest.raises(InputError, match="seed1 has no model.pt, which the end of its training writes; tr"):
        confidence.main([str(run)])


@pytest.mark.parametrize("given", [("--lines", "9"), ("--directions", "de-fr"), ("--split", "valid")])
def test_a_record_of_a_part_does_not_take_the_place_of_that_of_all(tmp_path, given):
    with pytest.raises(WrongUse, match="need an --output of their own: a run keeps the record of its whole"):
        confidence.main([str(tmp_path), *given])
