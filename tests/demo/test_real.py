"""The demonstration on real text, with a small export of Tatoeba in its place."""

import pytest

from tests.conftest import run_command
from tests.support.releases import write_tatoeba_export
from zsnmt import cli
from zsnmt.console import WrongUse
from zsnmt.corpora.parallel_text import FEWEST_TO_TEST
from zsnmt.demo import real
from zsnmt.demo.real import languages_of, real_config, teacher_lines
from zsnmt.errors import InputError
from zsnmt.training.config import read_config
from zsnmt.training.steps import Steps

LANGUAGES = ["en", "pt", "ru"]
SYSTEMS = ["zs_transformer", "zs_transformer_residual", "zs_transformer_distilled"]


def export(folder, **sizes):
    """A small export in a folder."""
    write_tatoeba_export(folder / "export", LANGUAGES, **sizes)
    return folder / "export"


@pytest.fixture
def small_sets(monkeypatch):
    monkeypatch.setattr(real, "HELD_OUT", {"test": 20, "valid": 10})


def test_english_is_the_pivot_whether_it_is_named_or_not():
    assert languages_of(["pt", "ru"]) == languages_of(["pt", "en", "ru"]) == ["en", "pt", "ru"]
    with pytest.raises(InputError, match="needs two languages besides en; name two or more, as in --real pt"):
        languages_of(["en", "pt"])
    with pytest.raises(InputError, match="each once"):
        languages_of(["pt", "pt"])


@pytest.mark.parametrize(
    "words, message",
    [
        (["x.conf", "--real", "pt", "ru"], "x.conf is a config, but --real makes its own"),
        (["--minutes", "3"], "--minutes and --from-dir belong to --real"),
        (["--real", "pt", "ru", "--minutes", "0"], "--minutes 0 leaves no time to train"),
    ],
)
def test_options_that_do_not_go_together_are_refused(words, message):
    with pytest.raises(WrongUse, match=message):
        cli.run(["demo", *words])


def test_the_config_is_made_once_and_says_the_time_beforehand(tmp_path, small_sets, capsys, monkeypatch):
    given = export(tmp_path, trained=150, tested=FEWEST_TO_TEST)
    monkeypatch.setattr(real, "update_seconds", lambda *arguments, **settings: 0.1)

    def made():
        return real_config(
            Steps("demo"), tmp_path / "runs", LANGUAGES, minutes=9, given=given, student=True
        ), " ".join(capsys.readouterr().err.split())

    file, said = made()
    before = file.read_bytes()
    assert "sentences under CC BY 2.0 FR, some under CC0; name tatoeba.org" in said
    assert "demo: All takes about 9 min on" in said or "demo: All takes about 8 min on" in said
    config = read_config(file, {})
    assert config.languages == ("en", "pt", "ru") and config.pairs[""] <= 200  # beside the held-out ones
    assert teacher_lines(config) == config.pairs[""]
    assert (tmp_path / "runs/tatoeba_pt_ru/source/test.pt-ru.ru").is_file()
    file, said = made()
    assert "source: done before" in said and "the config is" in said and "made before" in said
    assert file.read_bytes() == before


def test_languages_without_direct_translations_are_refused_and_nothing_is_left(tmp_path, small_sets):
    given = export(tmp_path, trained=50, tested=FEWEST_TO_TEST - 1)
    with pytest.raises(InputError, match="between pt, ru fewer than 150 sentences of a pair were translated"):
        real_config(Steps("demo"), tmp_path / "runs", LANGUAGES, minutes=1, given=given, student=True)
    assert not (tmp_path / "runs/tatoeba_pt_ru.conf").exists()
    assert not [*(tmp_path / "runs").glob("tatoeba_pt_ru/source*")]


@pytest.mark.slow
def test_it_ends_with_table_sentences_and_page(tmp_path):
    """In no time at all, so with the least training that there is."""
    given = export(tmp_path, trained=700, tested=FEWEST_TO_TEST)
    done = run_command(
        "recipes/demo.sh", "--real", "pt", "ru", "--minutes", "0.1", "--from-dir", given, runs=tmp_path
    )
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stderr.split())
    assert "is too little: this takes" in said and "all took" in said
    assert "translating the test set in 6 directions, 2 of them never seen in training" in said
    heads = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("system ")]
    assert {*SYSTEMS} == {system for head in heads for system in head}
    (source, *_) = (tmp_path / "tatoeba_pt_ru/source/test.pt-ru.pt").read_text().splitlines()
    shown = done.stdout.splitlines()
    assert f"{'pt':<28} {source}" in shown
    for label in (*SYSTEMS[1:], "zs_transformer, through en"):
        assert sum(line.startswith(label) for line in shown[:-20]) >= 3, label
    assert (tmp_path / "tatoeba_pt_ru/report.html").is_file()
