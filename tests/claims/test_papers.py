"""The list of claims: whole, with commands that exist, and with figures that follow what is kept."""

import re
from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import pytest

from tests.conftest import ROOT
from tests.support.scores import made_up_scores
from zsnmt.claims.kept_results import Kept
from zsnmt.claims.papers import CLAIMS
from zsnmt.claims.probes import confusion_in_families
from zsnmt.claims.table import Outcome, claims_table, count_verdicts, detail, details, outcomes, row
from zsnmt.claims.verdicts import (
    FAILS,
    HOLDS,
    OPPOSED,
    UNDECIDED,
    UNTESTED,
    VERDICTS,
    Effect,
    configs_of,
)
from zsnmt.cli import VERBS
from zsnmt.report.documents import keep_scores
from zsnmt.report.table import Measured
from zsnmt.runs.systems import BASELINE, RESIDUAL
from zsnmt.training.studies import STUDIES

BY_NAME = {claim.name: claim for claim in CLAIMS}


def kept(folder, zero_shot: dict, supervised: dict | None = None) -> Kept:
    """Systems with two seeds each, of some BLEU in zero-shot directions, and of 25 or less in others."""
    for system, bleu in zero_shot.items():
        for seed in (1, 2):
            scores = made_up_scores(system, seed, zero_shot=bleu + seed / 10)
            less = (supervised or {}).get(system, 0.0)
            results = [
                replace(result, figures={**result.figures, "bleu": result.figures["bleu"] + less})
                if result.kind == "supervised"
                else result
                for result in scores.results
            ]
            keep_scores(replace(scores, results=results), folder)
    return Kept(folder)


def verdict_of(name: str, found: Kept) -> str:
    return Outcome(BY_NAME[name], BY_NAME[name].effects(found)).verdict


def test_there_are_39_claims_of_three_papers_each_by_one_name():
    assert len(BY_NAME) == len(CLAIMS) == 39
    assert [claim.name for claim in CLAIMS] == [
        *(f"L{number}" for number in range(1, 23)),
        *(f"R{number}" for number in range(1, 14)),
        *(f"J{number}" for number in range(1, 5)),
    ]
    assert all(claim.text and claim.place and claim.what and str(claim.published) for claim in CLAIMS)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_the_commands_that_would_tell_name_what_there_is(claim):
    for command in (need.of_seed(command) for need in claim.needs for command in need.commands):
        zsnmt, verb, *words = command.split()
        assert zsnmt == "zsnmt" and verb in VERBS
        configs = [word for word in words if word.startswith("configs/")]
        assert all((ROOT / config).is_file() for config in configs)
        assert verb != "ablate" or words[1] in STUDIES


def test_the_papers_figures_are_computed_from_what_they_print():
    assert str(BY_NAME["L1"].published) == "+1.5 to +18.5"  # PMIndia, Europarl without overlap in Table 3
    assert str(BY_NAME["L13"].published) == "−51.4 to −27.9"  # IWSLT, Europarl without overlap in Table 8
    assert str(BY_NAME["L10"].published) == "+11.9" and str(BY_NAME["J2"].published) == "−16.30"


def test_figures_and_verdicts_follow_the_kept_scores(tmp_path):
    found = kept(tmp_path, {BASELINE.name: 3.0, RESIDUAL.name: 9.0}, {RESIDUAL.name: -4.0})
    (effect,) = BY_NAME["L1"].effects(found)
    assert (
        effect.config == "made_up" and effect.seeds == "1, 2" and effect.measured.mean == pytest.approx(6.0)
    )
    assert verdict_of("L1", found) == HOLDS and verdict_of("L2", found) == OPPOSED
    (pivoted,) = BY_NAME["L3"].effects(found)
    assert pivoted.measured.mean == pytest.approx(9.15 - 15.5) and verdict_of("L3", found) == FAILS
    assert verdict_of("L5", found) == UNTESTED


@pytest.mark.parametrize("best, expected", [(8, FAILS), (9, OPPOSED)])
def test_supervised_quality_is_compared_in_full_where_no_loss_fell_to_the_end(tmp_path, best, expected):
    """Of one of four trainings the ninth epoch, the last, was the best."""
    for (system, bleu), seed in product(((BASELINE.name, 20.0), (RESIDUAL.name, 10.0)), (1, 2)):
        scores = made_up_scores(system, seed, zero_shot=bleu)
        results = [
            replace(result, figures={**result.figures, "bleu": bleu + seed / 10}) for result in scores.results
        ]
        its_best = best if (system, seed) == (RESIDUAL.name, 2) else 8
        said = f"9 epochs, 300 updates, best validation loss 2.5 bits a token in epoch {its_best}"
        keep_scores(replace(scores, results=results, training=said), tmp_path)
    assert verdict_of("L2", Kept(tmp_path)) == expected


def test_a_text_that_no_system_learnt_is_no_evidence(tmp_path):
    found = kept(
        tmp_path, {BASELINE.name: 3.0, RESIDUAL.name: 9.0}, {BASELINE.name: -19.0, RESIDUAL.name: -19.0}
    )
    assert found.scores == {} and verdict_of("L1", found) == UNTESTED


@pytest.mark.parametrize(
    "updates, votes, expected", [(300, 2, HOLDS), (299, 1, UNDECIDED)]
)  # of one layer nothing is known then
def test_a_system_is_behind_where_its_loss_is_higher_after_as_many_updates(
    tmp_path, updates, votes, expected
):
    of_systems = (RESIDUAL.name, 0.25, 300), ("residual_at_4", 0.75, 300), ("residual_at_5", 0.75, updates)
    for system, loss, made in of_systems:
        for seed in (1, 2):
            best = f"{loss + seed / 100:g} bits a token in epoch 3"
            said = f"3 epochs, {made} updates, best validation loss {best}"
            keep_scores(replace(made_up_scores(system, seed, 3.0), training=said), tmp_path)
    found = BY_NAME["L19"].effects(Kept(tmp_path))
    assert [str(effect.measured) for effect in found] == ["+0.500 bits [0.470, 0.530]"] * votes
    assert verdict_of("L19", Kept(tmp_path)) == expected
    said = "(layer 4: holds; layer 5: not tested)" in detail(Outcome(BY_NAME["L19"], found))
    assert said == (expected == UNDECIDED)


@pytest.mark.slow
def test_every_claim_of_the_kept_results_has_a_figure_or_a_reason():
    folder = ROOT / "docs" / "results"
    found = Kept(folder)
    for claim in CLAIMS:
        effects = claim.effects(found)
        assert effects or claim.lacks, claim.name
        assert Outcome(claim, effects).verdict in VERDICTS
    rows = claims_table(folder, "").splitlines()
    assert len(rows) == 2 + len(CLAIMS) and count_verdicts(folder, "").startswith("Of 39 claims ")
    assert details(folder, "").count("\n\nFigure: ") == len(CLAIMS)


def test_languages_are_confused_within_families_by_what_relatives_get_beyond_others():
    """Danish and Swedish are taken for each other at 0.3 and 0.2, for Finnish at 0.1, and Finnish for either
    at 0.05; the pivot, of their family, has no say.
    """
    languages = ["en", "da", "sv", "fi"]
    shares = {"da": [0.2, 0.4, 0.3, 0.1], "sv": [0.3, 0.2, 0.4, 0.1], "fi": [0.1, 0.05, 0.05, 0.8]}
    probes = SimpleNamespace(record={"languages": languages}, confusions={"final": shares, "0": {}})
    expected = (0.3 + 0.2) / 2 - (0.1 + 0.1 + 0.05 + 0.05) / 4
    assert confusion_in_families(probes, "final") == pytest.approx(expected)
    assert confusion_in_families(probes, "0") is None
    two = SimpleNamespace(record={"languages": ["en", "da", "fi"]}, confusions={"final": shares})
    assert confusion_in_families(two, "final") is None


def test_many_figures_are_shown_by_what_they_say():
    def figure(config: str, mean: float, *, several: bool = True, clause: str = "") -> Effect:
        interval = (mean - 1, mean + 1)
        measured = Measured("bleu", mean, interval=interval, difference=True)
        return Effect(config, [[1, 2]], measured, several=several, part="far", clause=clause)

    def here(*effects: Effect) -> str:
        return row(Outcome(BY_NAME["L1"], effects))[3]

    few = [figure("a", 0.5), figure("b", -2.0), figure("c", 3.0)]
    assert here(*few) == (
        "+0.5 [−0.5, 1.5] `a` far ×2<br>−2.0 [−3.0, −1.0] `b` far ×2<br>+3.0 [2.0, 4.0] `c` far ×2"
    )
    assert here(*few, figure("d", 9.0, several=False), figure("e", 4.0)) == (
        "3 support, 1 of them weakly: +3.0 to +9.0<br>open: +0.5 [−0.5, 1.5] `a` far ×2<br>"
        "opposes: −2.0 [−3.0, −1.0] `b` far ×2"
    )
    of_clauses = [figure("a", mean, several=False, clause="far") for mean in (2.0, 5.0, -3.0)]
    assert here(*of_clauses, figure("a", 0.0, several=False, clause="near")) == (
        "far: 2 support weakly: +2.0 to +5.0<br>far: opposes weakly: −3.0 [−4.0, −2.0] `a` ×2<br>"
        "near: open: +0.0 [−1.0, 1.0] `a` far ×2"
    )


def test_why_a_claim_does_not_hold_is_said_where_it_does_not():
    claim = BY_NAME["L2"]
    said = f"Why: {claim.why}"
    opposing, open_ = (
        Effect("made_up", [[1, 2]], Measured("bleu", -5.0, interval=interval, difference=True), several=True)
        for interval in ((-6.0, -4.0), (-11.0, 1.0))
    )
    assert said in detail(Outcome(claim, [opposing])) and said not in detail(Outcome(claim, [open_]))


def listed_seeds(words: str) -> list[int]:
    """The seeds that a command names, one by one or as a shell's range."""
    found = re.findall(r"(\d+)(?:\.\.(\d+))?", words)
    return [seed for first, last in found for seed in range(int(first), int(last or first) + 1)]


@pytest.mark.slow
def test_what_the_kept_results_oppose_has_an_explanation_and_each_config_has_its_commands():
    for each in outcomes(ROOT / "docs" / "results"):
        assert each.claim.why or each.verdict not in (FAILS, OPPOSED), each.claim.name
        shown = {config for effect in each.effects for config in configs_of(effect)}
        made = {config.stem for need in each.claim.needs for config in need.configs}
        there = {config for config in shown if (ROOT / "configs" / f"{config}.conf").is_file()}
        assert there <= made, each.claim.name
        for need in each.claim.needs:
            listed = listed_seeds(need.shown(each.seeds_of(need)).split("--seeds")[-1])
            if "--seeds" not in need.shown(need.seeds):
                continue
            for effect in each.effects:  # those of all sides; of two configs each has its own
                if [*configs_of(effect)] in [[config.stem] for config in need.configs]:
                    assert set.intersection(*map(set, effect.sides)) <= {*listed}, each.claim.name
