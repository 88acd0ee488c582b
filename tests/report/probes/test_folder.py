"""The probes of runs: what is read and what is refused."""

import json

import pytest

from tests.support.probes import LANGUAGES, LAYERS, make_probes
from tests.support.runs import make_run, make_text
from zsnmt.analysis.held_out import Accuracy
from zsnmt.analysis.state_folder import FINAL
from zsnmt.errors import InputError
from zsnmt.report.comparability import read_runs
from zsnmt.report.probes.folder import (
    LATER_PROBE_KEYS,
    PROBE_KEYS,
    RUN_KEYS,
    ClassifierRow,
    check_probed_alike,
    comparable,
    parse,
    probes_of,
    read,
)
from zsnmt.report.probes.tables import details, headlines
from zsnmt.runs.probe_folder import CLASSIFIERS, CONFUSION, FIGURES, PROBE_RECORD, SIMILARITY


@pytest.fixture
def folders(tmp_path):
    text = make_text(tmp_path / "text")
    return [make_run(tmp_path, text, *run) for run in (("baseline", 1), ("baseline", 2), ("residual", 1))]


def edit(path, change):
    """Change the cells of a TSV."""
    rows = [line.split("\t") for line in path.read_text().splitlines()]
    change(rows)
    path.write_text("".join("\t".join(row) + "\n" for row in rows))


def refused(folders):
    with pytest.raises(InputError) as refusal:
        probes_of(read_runs(folders))
    assert "\n" not in str(refusal.value)
    return str(refusal.value)


def not_alike(folders):
    with pytest.raises(InputError) as refusal:
        check_probed_alike(probes_of(read_runs(folders)))
    assert "\n" not in str(refusal.value)
    return str(refusal.value)


def test_classifiers_alone_may_be_of_one_language(folders):
    """Similarity is of pairs of languages; what a token is, and where it stands, is not."""
    labels = ("token", "position")
    folder = make_probes(folders[2], labels=labels, languages=["de"], classifiers_only=True)
    (folder / SIMILARITY).unlink()
    found = probes_of(read_runs(folders))
    assert found[0].record["languages"] == ["de"] and found[0].classified[FINAL].keys() == {*labels}
    assert [table.name for table in headlines(found)] == ["probe_positions", "probe_figures"]
    assert [table.name for table in details(found)] == ["probe_layers", "probe_runs"]


def test_similarity_is_not_of_one_language(folders):
    make_probes(folders[2], labels=("token",), languages=["de"])
    assert "too few languages" in refused(folders)


def test_what_is_read_is_what_was_written(folders):
    make_probes(folders[2], removed=2)
    (one,) = probes_of(read_runs(folders))
    assert one.name == "residual seed 1" and one.record["removed_layers"] == [2]
    assert [*one.similarities] == [*one.classified] == [*one.confusions] == LAYERS
    lines = (folders[2] / "probes" / SIMILARITY).read_text().splitlines()
    assert ["\t".join(map(str, pair)) for pairs in one.similarities.values() for pair in pairs] == lines[1:]
    assert one.classified["final"]["token"].unseen == 3 and one.classified["0"]["position"].rows == 900
    assert [*one.confusions["1"]] == LANGUAGES and one.confusions["1"]["de"][1] == 0.9


def test_the_columns_and_names_are_those_that_the_probes_write():
    assert ClassifierRow._fields == ("layer", "label", *Accuracy._fields)


def test_runs_need_not_have_probes(folders):
    assert probes_of(read_runs(folders)) == []
    (folders[0] / "probes").mkdir()  # one that is not done
    assert probes_of(read_runs(folders)) == []


def test_some_labels_are_enough(folders):
    make_probes(folders[0], labels=("position",))
    (one,) = probes_of(read_runs(folders))
    assert [*one.classified["2"]] == ["position"] and not any(one.confusions.values())


def test_figures_that_older_probes_lack_are_not_there(folders):
    make_probes(folders[0], figures=False)
    make_probes(folders[1])
    older, later = probes_of(read_runs(folders))
    assert older.figures == dict.fromkeys(LAYERS, {})
    assert later.figures["1"]["token_variance"] == pytest.approx(0.298)


def test_probes_with_fewer_figures_are_read_and_a_figure_may_have_no_value(folders):
    probes = make_probes(folders[0])
    edit(probes / FIGURES, lambda rows: [row.pop(2) for row in rows] and rows[3].__setitem__(2, ""))
    (one,) = probes_of(read_runs(folders))
    assert [*one.figures["2"]] == ["position_variance", "token_variance"]
    assert one.figures["2"]["token_variance"] is None and one.figures["final"]["token_variance"] < 1


def test_gaussians_without_value_are_none(folders):
    edit(make_probes(folders[0]) / SIMILARITY, lambda rows: [row.__setitem__(5, "") for row in rows[1:]])
    assert {
        pair.gaussian for pairs in probes_of(read_runs(folders))[0].similarities.values() for pair in pairs
    } == {None}


@pytest.mark.parametrize(
    "key, value, said",
    [
        (
            "text",
            "other",
            "probed texts differ: only baseline seed 1 has 0123456789abcdef, only residual seed 1 has "
            "other; probe them alike",
        ),
        ("split", "valid", "probed splits differ"),
        ("sentences", 41, "numbers of probed sentences differ"),
        ("kind", "exact", "kinds of classifiers differ"),
        ("train_lines", 7, "numbers of lines that classifiers are trained on differ"),
        ("variance", 0.9, "shares of the variance that SVCCA keeps differ"),
        ("probe_seed", 5, "seeds of the probes differ"),
        ("batches", "sentences", "batches of classifiers differ"),
        ("held_out_text", "other", "texts that classifiers are measured on differ"),
    ],
)
def test_probes_with_other_settings_cannot_stand_side_by_side(folders, key, value, said):
    make_probes(folders[0])
    make_probes(folders[2], removed=2, **{key: value})
    assert said in not_alike(folders)


def test_probes_of_other_tokens_or_labels_cannot_stand_side_by_side(folders):
    make_probes(folders[0])
    edit(make_probes(folders[2]) / CLASSIFIERS, lambda rows: [row.__setitem__(5, "901") for row in rows[1:]])
    assert (
        "held-out tokens differ: only baseline seed 1 has 900 for language (0.3500 of one class)"
        in not_alike(folders)
    )


def test_probes_that_can_stand_beside_the_first_are_shown_and_the_others_named(folders):
    """As those of a student with more layers than its teacher."""
    for folder in folders[:2]:
        make_probes(folder)
    make_probes(folders[2], removed=2, layers=[*LAYERS[:-1], "4", "final"], dimension=16)
    for table, cells in ((SIMILARITY, 14), (CLASSIFIERS, 7), (FIGURES, 4), (CONFUSION, 5)):
        edit(
            folders[2] / "probes" / table,
            lambda rows: rows.extend([["4", *row[1:]] for row in rows if row[0] == "3"]),
        )
    found = probes_of(read_runs(folders))
    alike, note = comparable(found)
    assert [one.name for one in alike] == ["baseline seed 1", "baseline seed 2"]
    assert note == "Not shown here, probed otherwise: residual seed 1 (other layers, dimensions)."
    assert comparable(found[:2]) == (found[:2], "") and comparable([]) == ([], "")


def test_probes_of_another_model_than_was_scored_are_refused(folders):
    make_probes(folders[0], model="former")
    assert (
        f"{folders[0] / 'probes'} is of another model than {folders[0]} was scored with; make the probes "
        "again" in refused(folders)
    )


@pytest.mark.parametrize(
    "name, change, said",
    [
        (
            SIMILARITY,
            lambda rows: rows[0].__setitem__(3, "cca"),
            "has the columns layer, language, other, cca,",
        ),
        (SIMILARITY, lambda rows: rows.pop(4), "has no row, or one too many, for 1 en de;"),
        (SIMILARITY, lambda rows: rows[2].__setitem__(3, "nan"), "line 3 is damaged (nan is out of range);"),
        (SIMILARITY, lambda rows: rows[2].__setitem__(3, ""), "line 3 is damaged (could not convert"),
        (CLASSIFIERS, lambda rows: rows.append(rows[-1]), "has no row, or one too many, for final token;"),
        (CLASSIFIERS, lambda rows: rows[3].__setitem__(2, "1.2"), "line 4 is damaged (1.2 is out of range);"),
        (CLASSIFIERS, lambda rows: rows[3].__setitem__(5, "12.5"), "line 4 is damaged (invalid literal"),
        (CLASSIFIERS, lambda rows: rows[5].pop(), "line 6 is damaged ("),
        (CLASSIFIERS, lambda rows: rows[5].__setitem__(1, "length"), "has no row, or one too many, for"),
        (
            FIGURES,
            lambda rows: rows[0].__setitem__(2, "size"),
            "has the columns layer, position_variance, size, token_variance, not layer, position_variance, "
            "token_variance;",
        ),
        (FIGURES, lambda rows: rows.pop(), "has no row, or one too many, for final;"),
        (FIGURES, lambda rows: rows[2].__setitem__(1, "1.2"), "line 3 is damaged (1.2 is out of range);"),
        (FIGURES, lambda rows: rows[2].__setitem__(1, "nan"), "line 3 is damaged (nan is out of range);"),
        (FIGURES, lambda rows: rows[2].__setitem__(1, "-inf"), "line 3 is damaged (-inf is out of range);"),
        (FIGURES, lambda rows: rows[2].pop(), "line 3 is damaged ("),
        (FIGURES, lambda rows: rows.clear(), "is empty"),
        (
            CONFUSION,
            lambda rows: rows[0].__setitem__(2, "xx"),
            "has the columns layer, language, xx, de, fr, not layer, language, en, de, fr;",
        ),
        (CONFUSION, lambda rows: rows.clear(), "is empty"),
    ],
)
def test_a_damaged_table_is_named_with_its_line(folders, name, change, said):
    edit(make_probes(folders[0]) / name, change)
    message = refused(folders)
    assert said in message and name in message and str(folders[0]) in message


def test_a_missing_table_and_a_damaged_record_are_named(folders):
    folder = make_probes(folders[0])
    (folder / CONFUSION).unlink()
    assert f"{CONFUSION} in {folder} has the columns none, not layer, language" in refused(folders)
    (folder / SIMILARITY).unlink()
    assert SIMILARITY in refused(folders)
    (folder / PROBE_RECORD).write_text("{")
    assert f"{folder / PROBE_RECORD} is damaged" in refused(folders)


@pytest.mark.parametrize("key", [*RUN_KEYS, *PROBE_KEYS])
def test_a_record_says_all_that_is_needed(folders, key):
    found = read(make_probes(folders[0]).parent)
    with pytest.raises(InputError, match=f"does not say {key}; make the probes again"):
        parse({name: value for name, value in found.items() if name != key}, folders[0])


def test_what_is_not_needed_may_be_there(folders):
    found = read(make_probes(folders[0], variance=0.98).parent)
    record = parse(json.loads(json.dumps(found)), folders[0]).record
    assert record.keys() == {*RUN_KEYS, *PROBE_KEYS, *LATER_PROBE_KEYS}
    assert (record["held_out_text"], record["held_out_lines"]) == (record["text"], record["sentences"])
    assert (record["batches"], record["classifiers_only"]) == ("rows", False)
