"""What made-up probes say of the claims on the encoder."""

from types import SimpleNamespace

import pytest

from zsnmt.claims.probes import finding, removed_layer
from zsnmt.claims.verdicts import half_width
from zsnmt.report.probes.findings import Finding
from zsnmt.report.probes.folder import Probes
from zsnmt.runs.systems import BASELINE, RESIDUAL

FIGURE = Finding("made up", "accuracy", lambda one, layer: one.record["figure"][layer])


def probed(system: str, seed: int, final: float | None, second: float = 0.0) -> Probes:
    """A run of which a figure is known in the second layer, whose residual is removed, and in the output."""
    removed = [2] if system == RESIDUAL.name else []
    record = {
        "system": system,
        "seed": seed,
        "removed_layers": removed,
        "figure": {"2": second, "final": final},
    }
    return Probes(record, {}, {}, {}, {})


def kept(*runs: Probes) -> SimpleNamespace:
    systems = (RESIDUAL.name, BASELINE.name)
    return SimpleNamespace(
        probes={"made_up": {name: [o for o in runs if o.system == name] for name in systems}}
    )


def test_a_figure_of_the_residual_model_is_compared_with_the_baselines_of_the_same_seeds():
    runs = [probed(RESIDUAL.name, seed, 0.5 + seed / 10) for seed in (1, 2)]
    (found,) = finding(FIGURE)(kept(*runs, probed(BASELINE.name, 2, 0.4), probed(BASELINE.name, 3, 0.9)))
    assert found.measured.mean == pytest.approx(0.7 - 0.4) and found.seeds == "2" and found.part == ""
    assert finding(FIGURE)(kept(*runs, probed(BASELINE.name, 1, None))) == []
    assert finding(FIGURE)(kept(*runs)) == []


def test_it_may_be_of_the_layer_whose_residual_is_removed_and_is_compared_seed_by_seed():
    noise, gains = (0.1, 0.3, 0.5), (0.01, 0.02, 0.03)
    baseline = [probed(BASELINE.name, seed, 0.0, second) for seed, second in enumerate(noise)]
    residual = [
        probed(RESIDUAL.name, seed, 0.0, second + gain)
        for seed, (second, gain) in enumerate(zip(noise, gains))
    ]
    (found,) = finding(FIGURE, removed_layer)(kept(*residual, *baseline))
    width = half_width([gains])
    assert found.part == "layer 2" and found.measured.interval == pytest.approx((0.02 - width, 0.02 + width))
