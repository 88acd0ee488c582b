"""The rows of a model that grows: old ones stay, new ones are what was asked for."""

import pytest
import torch

from zsnmt.adaptation.checkpoint import TABLES, extend_weights, new_rows
from zsnmt.errors import InputError

OLD, NEW, DIMENSION = 7, 4, 5
ENCODER, DECODER, OUTPUT, LANGUAGES = TABLES


def table(rows: int, seed: int = 1) -> torch.Tensor:
    return torch.randn(rows, DIMENSION, generator=torch.Generator().manual_seed(seed)) + 1


def generator() -> torch.Generator:
    return torch.Generator().manual_seed(3)


def weights(rows: int, languages: int, tied: bool = True) -> dict[str, torch.Tensor]:
    one = table(rows)
    tables = {
        ENCODER: one,
        DECODER: one.clone() if tied else table(rows, 2),
        OUTPUT: one.clone() if tied else table(rows, 3),
    }
    return {**tables, LANGUAGES: table(languages, 4), "layer": table(6, 5), "scalar": torch.tensor(2.0)}


def test_new_rows_are_the_mean_times_noise_as_in_the_reference():
    """Row r, dimension c: mean over all old rows in c, times a draw of N(1, 1) of its own."""
    old = table(OLD)
    drawn = torch.randn(NEW, DIMENSION, generator=generator(), dtype=torch.float64)
    naive = [
        [sum(old[:, c].tolist()) / OLD * (1 + drawn[r, c].item()) for c in range(DIMENSION)]
        for r in range(NEW)
    ]
    torch.testing.assert_close(new_rows(old, NEW, "multiplicative", 1.0, generator()), torch.tensor(naive))


def test_the_noise_has_the_scale_that_was_asked_for():
    old, many = table(OLD), 20000
    mean, deviation = old.double().mean(dim=0), old.double().std(dim=0)
    for scale in (0.5, 2.0):
        times = new_rows(old, many, "multiplicative", scale, generator()).double() / mean
        plus = (new_rows(old, many, "additive", scale, generator()).double() - mean) / deviation
        for found, centre in ((times, 1), (plus, 0)):
            torch.testing.assert_close(
                found.mean(dim=0), torch.full((DIMENSION,), float(centre)).double(), atol=0.1 * scale, rtol=0
            )
            torch.testing.assert_close(
                found.std(dim=0), torch.full((DIMENSION,), scale).double(), atol=0, rtol=0.05
            )


@pytest.mark.parametrize("noise, scale", [("none", 1.0), ("multiplicative", 0.0), ("additive", 0.0)])
def test_without_noise_a_new_row_is_the_mean(noise, scale):
    old = table(OLD)
    assert torch.equal(
        new_rows(old, NEW, noise, scale, generator()), old.double().mean(dim=0).float().expand(NEW, -1)
    )


def test_an_unknown_noise_is_refused():
    with pytest.raises(InputError, match="there is no noise 'loud'; choose multiplicative, additive, none"):
        new_rows(table(OLD), NEW, "loud", 1.0, generator())


def test_old_rows_and_other_weights_stay_and_tied_tables_get_the_same_rows():
    old = weights(OLD, 3)
    found, added = extend_weights(old, weights(OLD + NEW, 4), "multiplicative", 1.0, generator())
    for name, weight in old.items():
        kept = (
            found[name][:OLD] if name in TABLES[:3] else found[name][:3] if name == LANGUAGES else found[name]
        )
        assert torch.equal(kept, weight), name
    assert torch.equal(found[ENCODER], found[DECODER]) and torch.equal(found[ENCODER], found[OUTPUT])
    assert added == {ENCODER: NEW, DECODER: NEW, OUTPUT: NEW, LANGUAGES: 1}
    assert len(found[ENCODER]) == OLD + NEW and not torch.equal(found[ENCODER][OLD], found[ENCODER][OLD + 1])


def test_tables_that_differ_get_rows_of_their_own():
    old = weights(OLD, 3, tied=False)
    found, _ = extend_weights(old, weights(OLD + NEW, 4), "multiplicative", 1.0, generator())
    assert not torch.equal(found[ENCODER][OLD:], found[DECODER][OLD:])
    assert not torch.equal(found[DECODER][OLD:], found[OUTPUT][OLD:])


def test_weights_that_the_old_model_lacks_are_as_they_were_drawn():
    grown = {**weights(OLD + NEW, 4), "adapter": table(2, 9)}
    found, _ = extend_weights(weights(OLD, 3), grown, "none", 1.0, generator())
    assert torch.equal(found["adapter"], grown["adapter"])


def test_blocks_of_old_languages_stay_and_those_of_new_ones_are_as_they_were_drawn():
    name = "decoder.layers.1.language_feed_forward"
    of_old = {f"{name}.weights": table(2)[:, 0], f"{name}.widen.0.weight": table(3, 6)}
    of_new = {f"{name}.weights": torch.full((3,), 0.1), f"{name}.widen.0.weight": table(3, 7)}
    further = {f"{name}.widen.1.weight": table(3, 8)}
    new = {**weights(OLD + NEW, 4), **of_new, **further}
    found, added = extend_weights({**weights(OLD, 3), **of_old}, new, "multiplicative", 1.0, generator())
    assert torch.equal(found[f"{name}.weights"][:2], of_old[f"{name}.weights"])
    assert found[f"{name}.weights"][2:].tolist() == new[f"{name}.weights"][2:].tolist()
    assert torch.equal(found[f"{name}.widen.0.weight"], of_old[f"{name}.widen.0.weight"])
    assert torch.equal(found[f"{name}.widen.1.weight"], further[f"{name}.widen.1.weight"])
    assert {*added} == {*TABLES}


@pytest.mark.parametrize(
    "spoil",
    [
        lambda new: new.pop("layer"),
        lambda new: new.update(layer=table(7)),
        lambda new: new.update({ENCODER: table(OLD - 1)}),
        lambda new: new.update(scalar=torch.ones(1)),
        lambda new: new.update({ENCODER: torch.ones(OLD + NEW, DIMENSION + 1)}),
    ],
)
def test_another_model_is_refused(spoil):
    new = weights(OLD + NEW, 4)
    spoil(new)
    with pytest.raises(
        InputError,
        match="the model has a weight .* that does not fit into the extended one; adapt a run with the "
        "options",
    ):
        extend_weights(weights(OLD, 3), new, "none", 1.0, generator())
