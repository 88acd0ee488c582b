"""Score files for tests of tables: figures of no real run."""


def made_up_scores(system: str, seed: int, zero_shot: float) -> dict:
    def result(direction, kind, bleu, off_target):
        return dict(direction=direction, kind=kind, bleu=bleu, chrf=bleu + 20, off_target=off_target,
                    reference_error=0.01, identified={}, lines=10, empty=0)  # fmt: skip

    return dict(
        config="made_up", system=system, seed=seed, command=f"bash recipes/train.sh x.conf {system}", commit="a" * 40,
        training="3 epochs", decoding=dict(beam=4, model=str(seed)), pivot="en", languages=["en", "de", "fr"], signatures=dict(bleu="tok:13a", off_target="py3langid"),
        directions=[
            result("de-en", "supervised", 30.0, 0.0),
            result("en-de", "supervised", 20.0, 0.0),
            result("de-fr", "zero_shot", zero_shot - 1, 0.5),
            result("fr-de", "zero_shot", zero_shot + 1, 0.1),
            result("de-fr", "pivot", 15.0, 0.0),
            result("fr-de", "pivot", 16.0, 0.02),
        ],
    )  # fmt: skip
