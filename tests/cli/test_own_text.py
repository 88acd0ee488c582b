"""What commands print when they make the config of a person's own text."""

import pytest

from zsnmt.cli import direct, train

AS_GIVEN = "--seeds 1 2 --processes 2"


@pytest.mark.parametrize(
    ("verb", "given", "printed"),
    [
        (train, [], "zsnmt train COPY.conf"),
        (
            train,
            ["zs_transformer_residual", *AS_GIVEN.split(), "--languages", "en", "de"],
            f"zsnmt train COPY.conf zs_transformer_residual {AS_GIVEN}",
        ),
        (
            train,
            ["--name", "wide", "--config", "runs/other.conf", "--", "--word-dropout", "0.2"],
            "zsnmt train COPY.conf --name wide -- --word-dropout 0.2",
        ),
        (
            direct,
            ["--language-blocks", *AS_GIVEN.split()],
            f"zsnmt direct COPY.conf --language-blocks {AS_GIVEN}",
        ),
    ],
    ids=["train", "train a system", "train a variant", "direct"],
)
def test_a_copy_of_the_config_is_trained_by_the_same_words(
    tmp_path, monkeypatch, capsys, verb, given, printed
):
    text = tmp_path / "mine"
    text.mkdir()
    for pair, side in (("de-en", "de"), ("de-en", "en"), ("fr-en", "fr"), ("fr-en", "en")):
        (text / f"train.{pair}.{side}").write_text("".join(f"Line {n} of {side}.\n" for n in range(3000)))
    monkeypatch.setenv("RUNS", str(tmp_path / "runs"))
    monkeypatch.chdir(tmp_path)
    place = given.index("--") if "--" in given else len(given)
    verb.main([str(text), *given[:place], "--plan", *given[place:]])
    (said,) = [line for line in capsys.readouterr().err.splitlines() if "another name, and then: " in line]
    assert said.endswith(f"another name, and then: {printed}")
