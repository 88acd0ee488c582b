"""Each verb of zsnmt benchmark prints its table."""

import re
from importlib import import_module

import pytest
from sacrebleu.metrics import BLEU

from tests.conftest import OLDER_RUN, run_command
from zsnmt.benchmarks.remedies import MEASURED
from zsnmt.cli import benchmark
from zsnmt.errors import InputError
from zsnmt.inference.translator import Translator
from zsnmt.modules.position_names import ENCODINGS
from zsnmt.text.lines import read_lines

pytestmark = pytest.mark.slow


def test_each_verb_is_a_function_of_its_name_and_in_the_help():
    _, verbs = benchmark.make_parser()
    for name, parser in verbs.choices.items():
        module, function = parser.get_default("measure")
        assert callable(getattr(import_module(f"zsnmt.benchmarks.{module}"), function)) and function == name
        assert f"zsnmt benchmark {name} " in benchmark.__doc__


def test_training_steps_print_a_table_for_each_size():
    words = "training --sizes demo --sentences 2 --length 3 --rounds 1"
    printed = run_command("scripts/benchmark.py", *words.split())
    assert printed.returncode == 0, printed.stderr
    assert printed.stdout.count("Training step, demo size") == 1 and "| zs_transformer |" in printed.stdout


def test_relative_attention_prints_a_table_for_each_dropout():
    printed = run_command(
        "scripts/benchmark.py",
        "relative",
        "--size",
        "demo",
        "--lengths",
        "6",
        "12",
        "--tokens",
        "24",
        "--dropout",
        "0.1",
        "0",
        "--distance",
        "2",
        "--rounds",
        "1",
    )
    assert printed.returncode == 0, printed.stderr
    for row in ("6 | plain", "6 | relative, k = 2", "6 | the same by T×T×d vectors", "12 | plain"):
        assert printed.stdout.count(f"| {row} |") == 2


def test_encodings_print_a_table():
    printed = run_command(
        "scripts/benchmark.py",
        "encodings",
        "--size",
        "demo",
        "--lengths",
        "6",
        "--tokens",
        "6",
        "--dropout",
        "0.1",
        "--rounds",
        "1",
        "--cpu-seconds",
    )
    assert printed.returncode == 0, printed.stderr
    assert "| CPU seconds per step (median) |" in printed.stdout
    assert all(f"| 6 | {encoding} |" in printed.stdout for encoding in ENCODINGS)


def test_masked_language_models_print_a_table():
    printed = run_command(
        "scripts/benchmark.py",
        "bert",
        "--sentences",
        "3",
        "--length",
        "5",
        "--vocabulary",
        "40",
        "--rounds",
        "1",
        "--cpu-bf16",
    )
    assert printed.returncode == 0, printed.stderr
    assert "3 × 5 tokens, bfloat16, 1 rounds" in printed.stdout and "(above 1: faster)" in printed.stdout
    assert "| fairseq roberta | " in printed.stdout and "| 1.000 (1.000–1.000) |" in printed.stdout
    assert all(f"| zs_bert, {encoding} | " in printed.stdout for encoding in ENCODINGS)


def test_remedies_print_a_table_of_each_term_in_both_forms():
    options = ("--size", "demo", "--sentences", "6", "--length", "5", "--rounds", "1", "--cpu-seconds")
    printed = run_command("scripts/benchmark.py", "remedies", *options)
    assert printed.returncode == 0, printed.stderr
    for term in ("the stock criterion", "translation alone", *MEASURED):
        for form in ("whole", "chunked"):
            assert f"| {term} | {form} | " in printed.stdout
    assert "6 × 5 tokens, 1 rounds" in printed.stdout
    assert "| translation alone | chunked | " in printed.stdout and "| 1.00 (1.00–1.00) |" in printed.stdout


def test_a_batch_without_room_for_a_sentence_is_refused():
    printed = run_command("scripts/benchmark.py", "relative", "--lengths", "6", "12", "--tokens", "11")
    assert (
        printed.returncode == 1
        and "--tokens 11 has no room for a sentence of 12; give more" in printed.stderr
    )
    assert "Training step" not in printed.stdout


@pytest.mark.parametrize(
    "words, message",
    [
        ("encodings --size demo --lengths 12 1025 --tokens 2000", "--lengths 1025 has no learned positions"),
        ("bert --length 1", "--length 1 cannot be measured; give 2 to 512 tokens"),
        ("bert --length 513", "--length 513 cannot be measured; give 2 to 512 tokens"),
        ("growth --languages 5 2", "give --languages of 3 and --updates of 2 or more"),
        ("growth --updates 1", "give --languages of 3 and --updates of 2 or more"),
        ("growth --widths 64 65", "--widths 65 cannot be shared by two attention heads"),
        ("translation --size demo --lines 2 --mask --share 50", "--share 50 is no part of the words"),
        ("translation --size demo --lines 2 --pivot", "--reference and --pivot belong to a run"),
    ],
)
def test_what_cannot_be_measured_is_refused_before_anything_is(words, message):
    with pytest.raises(InputError, match=message):
        benchmark.main(words.split())


def test_direct_against_pivot_prints_a_table(tiny):
    printed = run_command(
        "scripts/benchmark.py",
        "pivot",
        tiny.run(),
        "--from",
        "velan",
        "--to",
        "tamun",
        "--text",
        tiny.folder / "text" / "test.velan",
        "--rounds",
        "1",
    )
    assert printed.returncode == 0, printed.stderr
    assert "| direct |" in printed.stdout and "| through inglan |" in printed.stdout


def test_a_student_against_its_teacher_prints_a_table_with_bleu(tiny):
    """A run as its own student."""
    text, reference = (tiny.folder / "text" / f"test.{language}" for language in ("velan", "tamun"))
    options = ("--text", text, "--reference", reference)
    directions = ("--from", "velan", "--to", "tamun", "--rounds", "1", "--workers", "1", "--cpu-seconds")
    printed = run_command("scripts/benchmark.py", "student", tiny.run(), tiny.run(), *directions, *options)
    assert printed.returncode == 0, printed.stderr
    rows = [line.strip("| ").split(" | ") for line in printed.stdout.splitlines() if line.startswith("| ")][
        1:
    ]
    names = [row[0] for row in rows]
    pieces = ", the target language's pieces"
    assert names == [
        "teacher, through inglan, beam 4",
        *(f"student, directly, beam {beam}{which}" for beam in (4, 1) for which in ("", pieces)),
    ]
    assert rows[0][2] == "1.0 (1.0–1.0)" and rows[0][4] == "+0.00"
    found = Translator.open(tiny.run()).translate(read_lines(text), "tamun", "velan")
    assert rows[1][3] == f"{BLEU().corpus_score(found, [read_lines(reference)]).score:.2f}"
    assert float(rows[1][4]) == pytest.approx(float(rows[1][3]) - float(rows[0][3]), abs=0.011)


def test_one_language_into_all_others_prints_a_table(tiny):
    printed = run_command(
        "scripts/benchmark.py",
        "directions",
        tiny.run(),
        "--from",
        "velan",
        "--text",
        tiny.folder / "text" / "test.velan",
        "--rounds",
        "1",
    )
    assert printed.returncode == 0, printed.stderr
    assert "velan to 3 languages, 11 sentences" in printed.stdout
    assert (
        "| all at once, encoded once |" in printed.stdout
        and "| one direction after another |" in printed.stdout
    )


def test_a_server_under_load_prints_a_table(older):
    import tests.support.serving_extra  # noqa: F401  (skips where a package is missing)

    printed = run_command(
        "scripts/benchmark.py",
        "serving",
        older / OLDER_RUN / "ctranslate2-int8",
        "--from=velan",
        "--to=tamun",
        f"--text={older / 'runs/tiny/text/test.velan'}",
        "--requests=9",
        "--clients",
        "1",
        "3",
        "--rounds=1",
    )
    assert printed.returncode == 0, printed.stderr
    assert (
        "velan to tamun, ctranslate2" in printed.stdout and "9 requests of a line, 1 rounds" in printed.stdout
    )
    rows = [line.split(" | ") for line in printed.stdout.splitlines() if line.startswith("| ")]
    assert [row[0] for row in rows] == ["| asked by", "| the engine alone", "| 1 client", "| 3 clients"]
    assert all(float(row[3]) <= float(row[4]) for row in rows[2:])  # the median, and 99 %
    assert all(float(row[5].split()[0]) >= 0 for row in rows[1:])


def test_a_server_under_faults_answers_all_as_it_must(older):
    import tests.support.serving_extra  # noqa: F401

    words = ["--from=velan", "--to=tamun", f"--text={older / 'runs/tiny/text/test.velan'}"]
    printed = run_command(
        "scripts/benchmark.py", "faults", older / OLDER_RUN, *words, "--requests=120", "--clients=5"
    )
    assert printed.returncode == 0, printed.stderr
    table = [line.strip("| ").split(" | ") for line in printed.stdout.splitlines() if line.startswith("| ")]
    rows = {name: (int(number), status, int(wrong)) for name, number, status, wrong in table[1:]}
    assert sum(number for number, _, _ in rows.values()) == 120 and len(rows) == 8
    assert [status for _, status, _ in rows.values()][2:4] == ["413", "400"]
    assert {wrong for _, _, wrong in rows.values()} == {0}
    assert re.search(r"memory \d+ – \d+ – \d+ MB, open files \d+ – \d+ – \d+\.$", printed.stdout.strip())


@pytest.mark.parametrize("source, target", [("velan", "xx"), ("xx", "velan")])
def test_faults_in_a_language_that_the_run_does_not_know_are_refused_before_a_server_starts(
    older, source, target
):
    words = [str(older / OLDER_RUN), "--from", source, "--to", target, "--text", "nowhere"]
    with pytest.raises(InputError, match="unknown language 'xx': this model knows inglan, "):
        benchmark.main(["faults", *words])


def test_an_export_that_is_not_there_is_refused_before_sizes_are_measured(older, tmp_path, capsys):
    with pytest.raises(InputError, match="^there is no folder .*none; give a run"):
        benchmark.main(
            ["installation", str(older / OLDER_RUN), str(tmp_path / "none"), "--from=velan", "--to=tamun"]
        )
    assert "| installed |" not in capsys.readouterr().out


def test_tokenisation_by_processes_prints_a_table(tiny):
    text = tiny.folder / "text" / "test.velan"
    printed = run_command(
        "scripts/benchmark.py",
        "tokenisation",
        "--text",
        text,
        "--language",
        "en",
        "--workers",
        "1",
        "2",
        "--rounds",
        "1",
    )
    assert printed.returncode == 0, printed.stderr
    assert "| a plain loop |" in printed.stdout and "| 2 processes |" in printed.stdout


def test_probes_print_a_table():
    printed = run_command(
        "scripts/benchmark.py", "probes", "--size", "demo", "--sentences", "260", "--length", "4"
    )
    assert printed.returncode == 0, printed.stderr
    assert "4 languages × 260 sentences" in printed.stdout and printed.stdout.count("| classifier of ") == 3
    assert "| figures, all layers |" in printed.stdout


def test_methods_print_a_table():
    printed = run_command("scripts/benchmark.py", "methods", "--lines", "3", "--batch", "2", "--rounds", "1")
    assert printed.returncode == 0, printed.stderr
    for row in (
        "direct",
        "ensemble of three sources",
        "contrast with two languages and a source",
        "mask that renormalises",
    ):
        assert f"| {row} | " in printed.stdout
