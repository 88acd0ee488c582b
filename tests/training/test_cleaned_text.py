"""The text that the runs of an experiment are trained on, and text that is refused."""

import pytest

from zsnmt.errors import InputError
from zsnmt.training.cleaned_text import check_validation, clean, rows_of_list
from zsnmt.training.experiment import read_experiment


def test_missing_validation_text_is_told_of_before_the_data_are_made(tmp_path):
    for name in (
        "train.de-en.de",
        "train.de-en.en",
        "train.en-it.en",
        "train.en-it.it",
        "valid.de",
        "valid.en",
    ):
        (tmp_path / name).write_text("a\n")
    with pytest.raises(
        InputError, match="has training text for en-it, but no validation text; add valid.en-it.en"
    ):
        check_validation(tmp_path, ("en", "de", "it"), ["--lr", "1"])
    check_validation(tmp_path, ("en", "de"), ["--lr", "1"])
    for option in (["--valid-lang-pairs", "en-de"], ["--lang-pairs=en-de"], ["--disable-validation"]):
        check_validation(tmp_path, ("en", "de", "it"), option)
    (tmp_path / "valid.it").write_text("a\n")
    check_validation(tmp_path, ("en", "de", "it"), [])


def test_a_language_without_training_text_is_named_before_the_text_is_made(tmp_path):
    for language in ("de", "en"):
        (tmp_path / f"train.de-en.{language}").write_text("A line.\n")
    file = tmp_path / "x.conf"
    file.write_text(f'TEXT={tmp_path}\nLANGUAGES="en de se"\n')
    with pytest.raises(InputError, match="has no training text for se: .*; languages there: de, en$"):
        clean(tmp_path, read_experiment(file, tmp_path / "runs", {}))


def test_text_that_a_run_was_not_trained_on_does_not_take_the_place_of_its_own(tmp_path):
    source, file = tmp_path / "source", tmp_path / "x.conf"
    source.mkdir()
    for language in ("de", "en"):
        for split, numbers in {
            "train": range(100),
            "valid": range(100, 110),
            "test": range(110, 120),
        }.items():
            lines = "".join(f"Line {number} of {language}.\n" for number in numbers)
            (source / f"{split}.de-en.{language}").write_text(lines)
    for language in ("fr", "en"):
        for split, number in ("train", 200), ("valid", 210):
            (source / f"{split}.fr-en.{language}").write_text(f"Line {number} of {language}.\n")
    file.write_text(f'TEXT={source}\nLANGUAGES="en de fr"\n')
    experiment = read_experiment(file, tmp_path / "runs", {})
    clean(source, experiment)
    run = experiment.folder / "zs_transformer" / "seed1"
    run.mkdir(parents=True)
    (run / "model.pt").touch()
    (source / "test.de-fr.de").write_text("Line 111 of de.\nA new line.\n")  # one of a test set
    (source / "test.de-fr.fr").write_text("Une.\nDeux.\n")
    clean(source, experiment)
    assert (experiment.text / "test.de-fr.fr").is_file()
    (source / "test.de-fr.de").write_text("A new line.\nLine 6 of de.\n")
    with pytest.raises(InputError) as refused:
        clean(source, experiment)
    assert (
        f"test.de-fr.de, line 2 is 'Line 6 of de.', which {run} was trained on (train.de-en.de, line 7"
        in str(refused.value)
    )
    assert (experiment.text / "test.de-fr.de").read_text().startswith("Line 111")
    (source / "test.de-fr.de").write_text("Line 111 of de.\nA new line.\n")
    for language in ("de", "en"):
        with (source / f"train.de-en.{language}").open("a") as opened:
            opened.write("More.\n")
    with pytest.raises(
        InputError, match="has other training text than .*/seed1 was trained on; give .* anew"
    ):
        clean(source, experiment)


def test_a_separator_of_lines_within_a_sentence_ends_no_row_of_a_list(tmp_path):
    (tmp_path / "overlap.tsv").write_text("train.de-en.de\t1\ttest.de\t2\tOne\u2028two.\n", encoding="utf-8")
    assert [row.split("\t")[4] for row in rows_of_list(tmp_path / "overlap.tsv")] == ["One\u2028two."]
    (tmp_path / "overlap.tsv").write_text("")
    assert rows_of_list(tmp_path / "overlap.tsv") == rows_of_list(tmp_path / "none") == []
