"""What a student has learned from is not made anew behind its back."""

import json
import shutil

import pytest

from zsnmt.distillation.filtered_text import make_synthetic_text
from zsnmt.errors import InputError
from zsnmt.text.lines import read_lines, write_lines
from zsnmt.training.steps import Steps


@pytest.mark.parametrize("moved", [False, True])
def test_a_new_test_sentence_that_a_student_has_learned_is_named(made, synthetic, tmp_path, moved):
    """And nothing is changed; without it the same command goes on, and without a student it is left out."""
    authentic = tmp_path / "made" / "text"
    shutil.copytree(made / "text", authentic)
    text = synthetic()
    make_synthetic_text(Steps("distill"), text)
    student = tmp_path / "made" / "student" / "seed1"
    student.mkdir(parents=True)
    trained_on = tmp_path / "before" / text.folder.name if moved else text.folder.resolve()
    (student / "synthetic.json").write_text(json.dumps({"folder": str(trained_on)}))
    before = {path: path.read_bytes() for path in text.text.rglob("*") if path.is_file()}

    learned = read_lines(text.text / "velan" / "train.velan-tamun.tamun")[2]
    tests = {language: authentic / f"test.velan-tamun.{language}" for language in ("velan", "tamun")}
    of_before = {language: read_lines(authentic / f"test.{language}") for language in tests}
    write_lines(tests["velan"], [*of_before["velan"], "x"])
    write_lines(tests["tamun"], [*of_before["tamun"], learned])
    (student / "model.pt").touch()
    place = (
        rf"test.velan-tamun.tamun, line {len(of_before['tamun']) + 1} is '{learned}', which .*student/seed1"
    )
    with pytest.raises(InputError, match=rf"{place} has learned .*\(velan-tamun\); take it out of the set"):
        make_synthetic_text(Steps("distill"), text)
    assert {path: path.read_bytes() for path in text.text.rglob("*") if path.is_file()} == before

    for language, file in tests.items():
        write_lines(file, of_before[language])
    make_synthetic_text(Steps("distill"), text)
    write_lines(tests["velan"], [*of_before["velan"], "x"])
    write_lines(tests["tamun"], [*of_before["tamun"], learned])
    (student / "model.pt").unlink()
    make_synthetic_text(Steps("distill"), text)
    assert learned not in read_lines(text.text / "velan" / "train.velan-tamun.tamun")
