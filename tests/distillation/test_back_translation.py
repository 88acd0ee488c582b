"""Translations as sources of the English sentences that they were made of."""

from fairseq.data import Dictionary, indexed_dataset

from tests.distillation.conftest import AUTHENTIC, DIRECTIONS, OTHERS, PIVOT, data_of
from zsnmt.data.reading import encode
from zsnmt.distillation.settings import Distillation
from zsnmt.distillation.student_data import options_of_data
from zsnmt.languages import Direction
from zsnmt.text.lines import read_lines
from zsnmt.text.pipeline import TextPipeline


def test_every_kept_translation_is_beside_the_sentence_that_it_was_made_of(text, translate):
    data_of(text, "all")
    counted = 0
    for source, target in DIRECTIONS:
        kept, pivot = (
            read_lines(text.folder / "back" / source / f"train.{target}-{PIVOT}.{language}")
            for language in (target, PIVOT)
        )
        assert kept == read_lines(text.text / source / f"train.{source}-{target}.{target}")
        assert kept == [translate(line, Direction(PIVOT, target)) for line in pivot]
        english, _ = text.lines(source)
        assert {*pivot} <= {english[place] for place in text.selection(source).train}  # no held-out one
        counted += len(kept)
    assert counted > len(DIRECTIONS)


def test_the_data_are_those_lines_by_the_pipeline_of_the_teacher(text, made):
    data = data_of(text, "all")
    pipeline = TextPipeline.load(made / "data")
    dictionary = Dictionary.load(str(made / "data" / "dict.velan.txt"))
    source, target = DIRECTIONS[0]
    for language in (target, PIVOT):
        name = f"train.{target}-{PIVOT}.{language}"
        lines = read_lines(text.folder / "back" / source / name)
        ids = indexed_dataset.make_dataset(str(data.extra[f"back_{source}"] / name), impl="mmap")
        assert [row.tolist() for row in ids] == [
            encode(pieces, dictionary) for pieces in pipeline.encode_lines(lines, language)
        ]


def test_directions_with_text_by_people_stay_theirs(text, tmp_path):
    """They are trained on more text, and are neither zero-resource nor validated on anything else."""
    data, both = data_of(text, "all"), data_of(text, "both")
    assert data.synthetic == both.synthetic and not {*data.synthetic} & {*AUTHENTIC}
    assert data.validation_directions() == both.validation_directions()
    back = {name: of_name for name, of_name in data.directions.items() if name.startswith("back_")}
    assert {*back} == {f"back_{other}" for other in OTHERS} and {*both.directions} == {"targets", "sources"}
    for other in OTHERS:
        assert {*map(str, back[f"back_{other}"])} == {f"{each}-{PIVOT}" for each in OTHERS if each != other}
    words = [options_of_data(tmp_path, Distillation(tmp_path, sides="all"), each) for each in (data, both)]
    sizes = [each[each.index("--virtual-data-size") + 1] for each in words]
    assert sizes[0] == sizes[1]  # as many updates


def test_what_is_there_is_not_made_again(text):
    data_of(text, "all")
    before = {path: path.stat().st_mtime_ns for path in text.folder.rglob("*.*-*.*")}
    assert data_of(text, "all").extra and data_of(text, "both").extra
    after = {path: path.stat().st_mtime_ns for path in text.folder.rglob("*.*-*.*")}
    assert after == before
