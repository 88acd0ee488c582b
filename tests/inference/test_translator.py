"""Translation of raw text with a run folder."""

import copy
import logging
import shutil
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from zipfile import ZipFile, is_zipfile

import pytest
import torch

from tests.conftest import run_command
from tests.support.rounding import open_in_float64
from zsnmt.data.language_tags import source_tags
from zsnmt.decoding.methods.settings import parse_method
from zsnmt.decoding.options import FLOAT16, EngineChoice
from zsnmt.decoding.search import Search
from zsnmt.errors import InputError
from zsnmt.inference import translator as translator_module
from zsnmt.inference.line_files import LineTranslation
from zsnmt.inference.pytorch import ManyProcesses
from zsnmt.inference.translation import Translation, best_of_parts
from zsnmt.inference.translator import Line, Translator
from zsnmt.languages import Direction
from zsnmt.runs.checkpoints import load_checkpoint
from zsnmt.runs.checksums import renew_checksums


@pytest.fixture(scope="module")
def translator(tiny) -> Translator:
    return Translator.open(tiny.run(), Search(beam=2))


@pytest.fixture(scope="module")
def lines(tiny) -> list[str]:
    return (tiny.folder / "text" / "test.velan").read_text().split("\n")[:-1]


@pytest.fixture(scope="module", params=["t_dec", "t_enc", "s_enc_t_dec", "s_enc_t_enc"])
def talkative(tiny, tmp_path_factory, request) -> Translator:
    """A model of random weights for each tag placement, as one trained so little writes the same whatever it
    reads.

    Its outputs would not end, so they have a limit that does not depend on the batch. It computes in float64.
    """
    run = tmp_path_factory.mktemp("talkative")
    shutil.copytree(tiny.run() / "pipeline", run / "pipeline")
    state = load_checkpoint(tiny.run() / "model.pt")
    state["task_state"]["language_tags"] = request.param
    if not request.param.endswith("t_dec"):
        state["cfg"]["model"].decoder_language_embedding = "none"
        state["model"] = {
            name: weight for name, weight in state["model"].items() if "language_embedding" not in name
        }
    for weight in state["model"].values():
        if weight.dim() > 1:
            weight.normal_(0, 0.6, generator=torch.Generator().manual_seed(weight.numel()))
    torch.save(state, run / "model.pt")
    with pytest.MonkeyPatch.context() as monkeypatch:
        open_in_float64(monkeypatch)
        return Translator.open(run, Search(beam=2, max_len_a=0, max_len_b=9), EngineChoice(workers=1))


@pytest.fixture
def encoded(talkative) -> list[int]:
    """How many sentences each batch has for the encoder."""
    numbers: list[int] = []
    norm = talkative.engine.encoder.encoder.layers[0].self_attn_layer_norm
    hook = norm.register_forward_pre_hook(lambda norm, inputs: numbers.append(inputs[0].size(1)))
    yield numbers
    hook.remove()


def test_one_line_for_each_line_in_order_whatever_the_companions(translator, lines):
    together = translator.translate(lines, "tamun", "velan")
    assert len(together) == len(lines)
    assert together == [translator.translate([line], "tamun", "velan")[0] for line in lines]
    assert translator.translate(lines[::-1], "tamun", "velan") == together[::-1]


def test_empty_lines_stay_empty(translator, lines):
    mixed = ["", lines[0], "   ", lines[1], ""]
    translated = translator.translate(mixed, "tamun", "velan")
    assert [not line for line in translated] == [True, False, True, False, True]
    assert translator.translate([], "tamun", "velan") == []
    assert translator.translate(["", ""], "tamun") == ["", ""]


def test_via_is_two_translations(translator, lines):
    pivot = translator.translate(lines, "inglan", "velan")
    assert translator.translate(lines, "tamun", "velan", via="inglan") == translator.translate(
        pivot, "tamun", "inglan"
    )


def test_the_source_may_be_left_out_where_the_model_does_not_see_it(translator, lines):
    assert translator.translate(lines[:3], "tamun") == translator.translate(lines[:3], "tamun", "velan")


def test_a_line_too_long_is_translated_in_parts_with_a_warning(translator, lines, caplog):
    long_line = " ".join(lines)
    with caplog.at_level(logging.WARNING, logger="zsnmt.inference.parts"):
        translated = translator.translate([lines[0], long_line], "tamun", "velan", first_line=2001)
        translator.translate([long_line], "tamun", "velan", first_line=None)
    assert "line 2002 has" in caplog.text and "at most 39" in caplog.text
    assert f"what begins '{long_line[:40]}' has" in caplog.text
    assert translated[0] == translator.translate([lines[0]], "tamun", "velan")[0] and translated[1]
    parts = [part.tokens for part in translator.parts_of([long_line], [Direction("velan", "tamun")], 1)]
    assert len(parts) > 1 and max(map(len, parts)) <= 40
    assert (
        translator.codec.text([token for part in parts for token in part], "velan") == long_line
    )  # nothing is lost


def test_characters_that_the_model_does_not_know_are_named_once(tiny, lines, caplog):
    translator, direction = Translator.open(tiny.run(), Search(beam=2)), Direction("velan", "tamun")
    strange = f"{lines[0]} \u6f22\u5b57\u6f22"
    with caplog.at_level(logging.WARNING, logger="zsnmt.inference.translator"):
        translator.translate([*lines, strange], "tamun", "velan")
        translator.translate([strange], "tamun", "velan", via="inglan")
        translator.n_best([Line(strange, direction)], first_line=1)
        translator.n_best([Line("\u2460\u2461\u2462\u2463\u2464\u2465", direction)], first_line=7)
        translator.translate(["\u2464\u2465"], "tamun", "velan")
    first, second, third = caplog.messages
    assert third.startswith("line 1 has '\u2465', which")
    assert first.startswith(f"line {len(lines) + 1} has '\u6f22', '\u5b57', which the model never saw")
    assert second.startswith("line 7 has '\u2460', '\u2461'") and "..., which" in second


def test_a_direction_that_is_named_twice_is_translated_once(talkative, lines):
    direction = Direction("velan", "tamun")
    done: list[float] = []
    twice = talkative.translate_into(lines[:3], [direction, direction], finished=done.append)
    assert twice == talkative.translate_into(lines[:3], [direction]) and sum(done) == 3


def test_n_best_are_the_translations_of_lines_in_directions_of_their_own(talkative, lines):
    into = [Direction("velan", target) for target in ("tamun", "inglan", "velor")]
    asked = [Line(line, into[place % 3], 2) for place, line in enumerate(["", *lines])]
    found = talkative.n_best(asked)
    alone = talkative.translate_into(["", *lines], into)
    expected = [alone[line.direction][place] for place, line in enumerate(asked)]
    assert [best.text for best, *_ in found] == expected
    assert found[0] == [Translation("")]
    assert all(len({other.text for other in each}) == len(each) for each in found)
    assert max(map(len, found)) == 2
    assert talkative.n_best([line._replace(number=1) for line in asked]) == [each[:1] for each in found]
    assert talkative.n_best([]) == []


def test_n_best_of_a_line_too_long_are_those_of_its_parts(translator, lines):
    long_line, direction = " ".join(lines), Direction("velan", "tamun")
    (found,) = translator.n_best([Line(long_line, direction, 5)])
    expected = translator.translate_with_scores([long_line], "tamun", "velan")[0]
    assert found[0].text == expected.text and found[0].score == pytest.approx(expected.score)
    assert 2 < len(found) == 5  # more than the beam keeps of a part


def test_n_best_of_parts_are_the_highest_sums_of_all_that_can_be_joined():
    a, b, c = (
        [Translation(text, score / 2, 2, score=score) for text, score in of_part]
        for of_part in (
            [("a", -1.0), ("A", -5.0)],
            [("b", -1.0), ("b", -1.5), ("B", -2.0), ("ß", -3.0)],
            [("c", 0.0), ("C", -1.5)],
        )
    )
    found = best_of_parts([iter(a), iter(b), iter(c)], 4)
    assert [(each.text, each.score) for each in found] == [
        ("a b c", -2.0),
        ("a B c", -3.0),
        ("a b C", -3.5),
        ("a ß c", -4.0),
    ]
    assert (found[1].log_probability, found[1].tokens) == (-1.5, 6)
    every = [sum(each.score for each in made) for made in product(a, b[:1] + b[2:], c)]
    assert [each.score for each in best_of_parts([a, b, c], 99)] == pytest.approx(sorted(every, reverse=True))
    assert best_of_parts([], 3) == [Translation("")]


def test_batches_hold_like_lengths_and_every_sentence_once(translator, lines):
    parts = list(translator.parts_of(lines, [Direction("velan", "tamun")], 1))
    translator.batch_tokens, before = 30, translator.batch_tokens
    batches = list(translator.batches(parts))
    translator.batch_tokens = before
    assert sorted(index for batch in batches for index in batch) == list(range(len(parts)))
    assert all(
        len(batch) == 1 or len(batch) * max(len(parts[i].tokens) for i in batch) <= 30 for batch in batches
    )


@pytest.mark.parametrize(
    "device, memory, most", [("cpu", 0, 64), ("cuda", 1, 64), ("cuda", 8, 256), ("cuda", 80, 512)]
)
@pytest.mark.parametrize("within", [False, True])
def test_on_a_gpu_batches_are_larger(tiny, translator, monkeypatch, device, memory, most, within):
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (memory * 10**9, 99 * 10**9))
    engine = translator.direct.engine
    alone = copy.copy(getattr(engine, "engine", engine))
    alone.device, alone.search = torch.device(device), Search()
    given = ManyProcesses(alone, 1) if within else alone
    monkeypatch.setattr(translator_module, "open_engine", lambda *choice: (given, translator.codec))
    opened = Translator.open(tiny.run())
    parts = [*opened.parts_of(["Purdommugibom."] * 1000, [Direction("velan", "tamun")], 1)]
    tokens = len(parts[0].tokens)
    assert {len(batch) for batch in opened.batches(parts)} == {most, 1000 % most}
    assert opened.batch_tokens == 4000 * most // 64 > most * tokens
    assert Translator.open(tiny.run(), batch_tokens=10 * tokens).batch_tokens == 10 * tokens


def test_a_small_text_is_shared_among_all_gpus(translator):
    several = copy.copy(translator)
    several.engine, several.batch_sentences = SimpleNamespace(gpus=4), 512
    for lines, most in ((1000, 250), (100, 64), (9000, 512)):
        parts = [*several.parts_of(["Memu."] * lines, [Direction("velan", "tamun")], 1)]
        assert max(map(len, several.batches(parts))) == most
    parts = [*several.parts_of(["Memu."] * 1000, [Direction("velan", "tamun")], 1)]
    several.method = parse_method("sample:beam=1")  # drawn for a batch, which stays that of one GPU
    assert max(map(len, several.batches(parts))) == 512
    several.method, several.signature = None, f"pytorch in {FLOAT16}"
    assert max(map(len, several.batches(parts))) == 512


@pytest.mark.parametrize("device, keys", [("cpu", 2), ("cuda", 1)])
def test_a_file_is_gone_on_with_whatever_memory_a_gpu_has(translator, device, keys):
    given = copy.copy(translator)
    given.engine, given.direct = SimpleNamespace(device=torch.device(device)), translator
    found = set()
    for given.batch_sentences, given.batch_tokens in ((64, 4000), (512, 32000)):
        lines = LineTranslation(given, legs=())
        found.add(lines.key(SimpleNamespace(checksum="of the text"), ["of the model"]))
    assert len(found) == keys


def test_batches_of_a_mask_that_renormalises_have_one_language(translator, lines):
    parts = list(translator.parts_of(lines, [Direction("velan", to) for to in ("tamun", "velor")], 1))
    masked = Translator(
        translator.engine, translator.codec, method=parse_method("mask:renormalise=yes"), direct=translator
    )
    batches = [*masked.batches(parts)]
    assert sorted(place for batch in batches for place in batch) == [*range(len(parts))]
    assert [{parts[place].direction.target for place in batch} for batch in batches] == [{"tamun"}, {"velor"}]
    assert len([*translator.batches(parts)]) == 1


def test_unknown_languages_are_named_with_the_known_ones(translator):
    for wrong in (
        dict(target="nolan"),
        dict(target="tamun", source="nolan"),
        dict(target="tamun", via="nolan"),
    ):
        with pytest.raises(
            InputError, match="unknown language 'nolan': this model knows inglan, velan, tamun, velor"
        ):
            translator.translate(["x"], **wrong)


@pytest.mark.parametrize(
    "directions, said",
    [
        (["velan-nolan"], "unknown language 'nolan'"),
        (["nolan-tamun"], "unknown language 'nolan'"),
        (["velan-velan"], "source and target are both 'velan'"),
        (["velan-tamun", "inglan-tamun"], "and the directions are from inglan and velan"),
        ([], "and there is none"),
    ],
)
def test_directions_that_lines_cannot_have_are_refused(translator, directions, said):
    directions = [Direction(*direction.split("-")) for direction in directions]
    with pytest.raises(InputError, match=said):
        translator.translate_into(["x"], directions)
    if len(directions) == 1:
        with pytest.raises(InputError, match=said):
            translator.n_best([Line("x", *directions)])


def test_a_text_in_place_of_lines_is_not_translated_letter_by_letter(translator):
    for translate in (translator.translate, translator.translate_with_scores):
        with pytest.raises(InputError, match=r"the lines are a single text; give a list .* as in \[text\]"):
            translate("A man", "tamun", "velan")
    with pytest.raises(InputError, match="the lines are a single text"):
        translator.translate_into("A man", [Direction("velan", "tamun")])


def test_lines_may_come_one_by_one(translator):
    lines, direction = ["x", "y z"], Direction("velan", "tamun")
    made = translator.translate(lines, "tamun", "velan")
    assert translator.translate(iter(lines), "tamun", "velan") == made
    assert translator.translate_into(iter(lines), [direction]) == {direction: made}
    read = [Line(line, direction) for line in lines]
    assert translator.n_best(iter(read)) == translator.n_best(read) != []


@pytest.mark.parametrize(
    "line, message",
    [
        (b"x", "line 2 is of bytes, and no text; give a list of str"),
        (None, "line 2 is of NoneType, and no text"),
        ("x \ud83d", "line 2 has half of a surrogate pair, which is no character; read its file as UTF-8"),
    ],
)
def test_what_is_no_line_of_text_is_refused(translator, line, message):
    with pytest.raises(InputError, match=message):
        translator.translate(["x", line], "tamun", "velan")


def test_a_language_into_itself_is_refused(translator):
    for same in (
        dict(target="velan", source="velan"),
        dict(target="velan", source="velan", via="inglan"),
        dict(target="tamun", source="velan", via="velan"),
        dict(target="tamun", source="velan", via="tamun"),
    ):
        with pytest.raises(InputError, match="source and target are both|is the source or the target"):
            translator.translate(["x"], **same)


def test_progress_counts_every_line_once(translator, lines):
    for via in (None, "inglan"):
        told: list[float] = []
        translator.translate(["", *lines, " ".join(lines)], "tamun", "velan", via=via, finished=told.append)
        assert sum(told) == pytest.approx(len(lines) + 2)


def test_a_run_folder_alone_is_enough(tiny, tmp_path, translator, lines):
    moved = tmp_path / "elsewhere"
    shutil.copytree(
        tiny.run(), moved, ignore=shutil.ignore_patterns("checkpoints", "hypotheses", "run.json", "*.log")
    )
    experiment = bytes(tiny.folder)
    elsewhere = b"/gone".ljust(len(experiment), b"_")  # nothing of the experiment is where it was
    for file in filter(Path.is_file, moved.rglob("*")):
        if not is_zipfile(file):
            file.write_bytes(file.read_bytes().replace(experiment, elsewhere))
    with ZipFile(moved / "model.pt") as model:
        parts = {name: model.read(name).replace(experiment, elsewhere) for name in model.namelist()}
    with renew_checksums(moved / "model.pt"), ZipFile(moved / "model.pt", "w") as model:
        for name, content in parts.items():
            model.writestr(name, content)
    translated = Translator.open(moved, Search(beam=2)).translate(lines[:2], "tamun", "velan")
    assert translated == translator.translate(lines[:2], "tamun", "velan")


def test_the_command_translates_stdin_and_files(tiny, tmp_path, lines, translator):
    text = "\n".join([lines[0], "", lines[1]]) + "\n"
    expected = translator.translate([lines[0], "", lines[1]], "tamun", "velan", via="inglan")
    options = [tiny.run(), "--from", "velan", "--to", "tamun", "--via", "inglan", "--beam", "2"]
    piped = run_command("scripts/translate.py", *options, input=text)
    assert piped.returncode == 0 and piped.stdout.split("\n")[:-1] == expected and piped.stderr == ""

    (tmp_path / "in").write_text(text)
    filed = run_command(
        "scripts/translate.py", *options, "--input", tmp_path / "in", "--output", tmp_path / "out"
    )
    assert filed.returncode == 0 and (tmp_path / "out").read_text().split("\n")[:-1] == expected


def test_the_command_translates_a_document_sentence_by_sentence(tiny, tmp_path, lines, translator):
    one, other = translator.translate(lines[:2], "tamun", "velan", via="inglan")
    (tmp_path / "in.html").write_text(f"<p class=x>{lines[0]} {lines[1]}</p>\n<p>1984</p>")
    files = ["--input", tmp_path / "in.html", "--output", tmp_path / "out.html"]
    options = [tiny.run(), "--from", "velan", "--to", "tamun", "--via", "inglan", "--beam", "2", *files]
    done = run_command("scripts/translate.py", *options)
    assert done.returncode == 0 and done.stderr == ""
    assert (tmp_path / "out.html").read_text() == f"<p class=x>{one} {other}</p>\n<p>1984</p>"
    refused = run_command("scripts/translate.py", *options, "--from", "auto")
    assert refused.returncode == 1 and refused.stderr.count("\n") == 1
    assert "py3langid cannot tell apart" in refused.stderr
    assert (tmp_path / "out.html").read_text().startswith("<p class=x>")


def test_bad_input_gets_one_sentence_and_leaves_the_output_alone(tiny, tmp_path):
    (tmp_path / "latin1").write_bytes("Nuk.\nGrün.\n".encode("latin-1"))
    (tmp_path / "out").write_text("before")
    broken = run_command(
        "scripts/translate.py",
        tiny.run(),
        "--to",
        "velan",
        "--input",
        tmp_path / "latin1",
        "--output",
        tmp_path / "out",
    )
    assert broken.returncode == 1 and "latin1, line 2" in broken.stderr and broken.stderr.count("\n") == 1
    assert (tmp_path / "out").read_text() == "before"

    truncated = tmp_path / "truncated"
    shutil.copytree(tiny.run(), truncated, ignore=shutil.ignore_patterns("checkpoints"))
    (truncated / "model.pt").write_bytes((truncated / "model.pt").read_bytes()[:5000])
    for folder, message in ((truncated, "model.pt is damaged"), (tmp_path, "is not a run folder")):
        refused = run_command("scripts/translate.py", folder, "--to", "velan", input="Nuk.\n")
        assert refused.returncode == 1 and message in refused.stderr and refused.stderr.count("\n") == 1


def test_a_run_without_a_model_is_refused_with_the_command_that_trains_it_on(tiny, tmp_path):
    shutil.copytree(tiny.run(), tmp_path / "run", ignore=shutil.ignore_patterns("checkpoints", "model.pt"))
    with pytest.raises(InputError, match=r"run has no model.pt, .*; train it on with zsnmt train \S+\.conf"):
        Translator.open(tmp_path / "run")


def test_the_length_penalty_is_that_of_the_search_and_wrong_ones_are_refused_before_a_model_is_read(tiny):
    search = Search(2, 0.6, "gnmt")
    assert Translator.open(tiny.run(), search, EngineChoice(workers=1)).engine.search == search
    assert search.score(-3.0, 7) == -3.0 / 2**0.6 and Search().score(-3.0, 6) == -0.5
    for wrong, message in (
        ((0.6, "GNMT"), "no length penalty of the form 'GNMT'; choose power or gnmt"),
        ((-0.5, "power"), "is -0.5; it must be a number from 0 to 10"),
        ((float("nan"), "gnmt"), "is nan;"),
    ):
        with pytest.raises(InputError, match=message):
            Search(2, *wrong)
    options = ["--to", "tamun", "--length-penalty", "inf", "--length-penalty-form", "gnmt"]
    refused = run_command("scripts/translate.py", tiny.run(), *options, input="Nuk.\n")
    assert (
        refused.returncode == 1
        and "is inf; it must be a number" in refused.stderr
        and refused.stderr.count("\n") == 1
    )


# Into several languages at once

INTO = [Direction("velan", target) for target in ("tamun", "inglan", "velor")]


def test_several_languages_at_once_are_one_after_the_other(talkative, lines):
    mixed = ["", *lines, "  ", " ".join(lines), lines[0]]
    together = talkative.translate_into(mixed, INTO)
    assert [*together] == INTO and [*talkative.translate_into(mixed, INTO[::-1])] == INTO[::-1]
    for direction in INTO:
        assert together[direction] == talkative.translate_into(mixed, [direction])[direction]
        assert together[direction] == talkative.translate(mixed, direction.target, "velan")
        assert [not line for line in together[direction]] == [not line.strip() for line in mixed]
        assert len(set(together[direction])) > 3
    assert len({tuple(translations) for translations in together.values()}) == 3


def test_small_batches_change_nothing(talkative, lines, monkeypatch):
    expected = talkative.translate_into(lines, INTO)
    for batch_tokens in (1, 40):  # one at a time; and translations of a line in two batches
        monkeypatch.setattr(talkative, "batch_tokens", batch_tokens)
        assert talkative.translate_into(lines, INTO) == expected


def test_a_sentence_is_encoded_once_unless_its_tags_name_the_target(talkative, lines, encoded):
    assert len(set(lines)) == len(lines)
    talkative.translate_into(lines, INTO)
    named = "tamun" in source_tags(talkative.codec.placement.name, INTO[0])
    assert encoded == [len(lines) * (3 if named else 1)]


def test_a_line_too_long_is_cut_alike_for_all_languages(talkative, lines, caplog):
    with caplog.at_level(logging.WARNING, logger="zsnmt.inference.parts"):
        parts = list(talkative.parts_of([" ".join(lines)], INTO, 7))
    assert caplog.text.count("line 7 has") == 1  # not once for each language
    by_direction = [[part.tokens for part in parts if part.direction == direction] for direction in INTO]
    assert by_direction[0] == by_direction[1] == by_direction[2] and len(by_direction[0]) > 1
    tags = len(source_tags(talkative.codec.placement.name, INTO[0]))
    assert max(map(len, by_direction[0])) + tags <= talkative.codec.longest == 40
    assert [part.direction for part in parts[:4]] == [*INTO, INTO[0]]


@pytest.mark.parametrize("directions", [INTO, INTO[:1]])
def test_progress_counts_every_line_in_every_direction(talkative, lines, directions, monkeypatch):
    monkeypatch.setattr(talkative, "batch_tokens", 60)
    told: list[float] = []
    mixed = ["", *lines, " ".join(lines), " "]
    talkative.translate_into(mixed, directions, finished=told.append)
    assert told[0] == 2 * len(directions) and len(told) > 3  # the empty ones, then batch by batch
    assert sum(told) == pytest.approx(len(mixed) * len(directions))
    nothing: list[float] = []
    assert talkative.translate_into([], directions, finished=nothing.append) == {
        direction: [] for direction in directions
    }
    assert sum(nothing) == 0


def test_the_source_language_is_needed_where_its_tag_is_read(talkative, lines):
    if "velan" in source_tags(talkative.codec.placement.name, INTO[0]):
        with pytest.raises(
            InputError, match="must be told the source language: one of inglan, velan, tamun, velor"
        ):
            talkative.translate(lines[:1], "tamun")
    else:
        assert talkative.translate(lines[:2], "tamun") == talkative.translate(lines[:2], "tamun", "velan")
