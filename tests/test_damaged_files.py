"""Every JSON file that is read: damaged in any way, it is read or refused in one sentence that names it."""

import json
import re
import tarfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.masked_lm.report.test_xnli import write_run as write_xnli_run
from tests.support.damaged import NO_OBJECTS, damaged
from tests.support.masked_lms import made_up_masked_lm, write_runs
from tests.support.probes import make_probes
from tests.support.runs import make_run, make_text, validate
from zsnmt.analysis.state_folder import Labels, read_states
from zsnmt.corpora.releases.download import read_note
from zsnmt.errors import InputError
from zsnmt.evaluation.hypotheses import kept_ways
from zsnmt.inference.export.folder import describe_export
from zsnmt.masked_lm.report import xnli
from zsnmt.masked_lm.report.runs import read_runs as read_masked_lms
from zsnmt.masked_lm.report.text_tables import text_report
from zsnmt.masked_lm.runs import read_counts, read_record
from zsnmt.report.comparability import read_runs
from zsnmt.report.documents import round_trip
from zsnmt.report.plotted import heat_maps
from zsnmt.report.probes.folder import probes_of
from zsnmt.report.probes.tables import details, headlines
from zsnmt.report.systems import tables
from zsnmt.report.table import markdown_table
from zsnmt.runs.folder import describe_run
from zsnmt.runs.score_file import read_scores, write_score_file
from zsnmt.text.pipeline import TextPipeline
from zsnmt.training.steps import read_marker

ROOT = Path(__file__).resolve().parent.parent
RUN = Path("runs/tiny/zs_transformer_residual/seed1")  # in the archive of older files
STATES = {
    "run": "run",
    "model": "0" * 64,
    "target": "de",
    "removed_layers": [2],
    "layers": ["0"],
    "dimension": 2,
    "languages": ["de", "fr"],
    "sentences": 1,
    "translations": True,
    "tokens": 2,
    "text": "0" * 16,
}
NLI = {"config": "a", "condition": "en", "system": "learned", "seed": 0, "command": "b", "commit": "c"}
LANGUAGE = dict(name="pivot", family="one", order="SVO")
ROW = {"kind": "raw", "sentences": 9} | dict.fromkeys(("respelt", "exact", "spaced", "recased", "lost"), 1.5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A run of version 0.1, and a run with made-up probes and figures of everything else."""
    folder = tmp_path_factory.mktemp("files")
    with tarfile.open(ROOT / "tests/support/older/runs_of_0.1.tar.xz") as archive:
        archive.extractall(folder, [each for each in archive if each.name.endswith(".json")], filter="data")
    (folder / RUN / "pipeline" / "pipeline.json").write_text(
        json.dumps({"units": "words", "tokenisation": {"de": "raw"}, "mark_tokens": False})
    )
    made = make_run(folder / "made", make_text(folder / "text"))
    make_probes(made)
    (made / "scores.json").write_text(
        json.dumps(json.loads((made / "scores.json").read_text()) | {"adapted_from": None})
    )
    validate(folder, 1, ["de-fr"], [])
    write_runs(folder / "masked", [made_up_masked_lm()])
    write_xnli_run(folder / "xnli", "learned", 0)
    for name, content in {
        "states/states.json": STATES,
        "nli/run.json": NLI,
        "nli/counts.json": {"train": 5, "valid": 2, "test_en": 2},
        "round_trip/a.json": {"languages": {"de": ROW}, "commit": "0" * 40, "units": "subwords"},
        "part.json": {"url": "http://a", "validator": "b", "size": 5},
        ".done/step": {"made_from": "a", "files": {"b": [1, 2, "c"]}},
    }.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(json.dumps(content))
    np.save(folder / "states" / "0.npy", np.zeros((2, 2), np.float32))
    labels = Labels(["de", "fr"], *(np.zeros(2, int) for _ in range(4)))
    np.savez(folder / "states" / "tokens.npz", **labels._asdict())
    return folder


def show(run: Path) -> None:
    """What tables and drawings make of a score file."""
    scores = [read_scores(run)]
    for table in tables(scores).values():
        markdown_table(table)
    heat_maps(scores)
    write_score_file(run / "again.json", scores[0])


def show_probes(run: Path) -> None:
    probes = probes_of(read_runs([run]))
    for table in (*headlines(probes), *details(probes)):
        markdown_table(table)


MADE = Path("made/baseline/seed1")
READERS: dict[str, tuple[Path | str, Callable[[Path], object]]] = {  # file, and what reads it, by what it is
    "scores": (MADE / "scores.json", lambda path: show(path.parent)),
    "scores of format 1": (RUN / "scores.json", lambda path: show(path.parent)),
    "run": (RUN / "run.json", lambda path: describe_run(path.parent)),
    "settings of hypotheses": (RUN / "hypotheses/direct.json", lambda path: kept_ways(path.parent, "remedy")),
    "pipeline": (RUN / "pipeline/pipeline.json", lambda path: TextPipeline.load(path.parent)),
    "export": (RUN / "ctranslate2-float32/export.json", lambda path: describe_export(path.parent)),
    "probes": (MADE / "probes/record.json", lambda path: show_probes(path.parent.parent)),
    "states": ("states/states.json", lambda path: read_states(path.parent)),
    "masked language model": (
        "masked/same/learned/seed0/masked_lm.json",
        lambda path: text_report(read_masked_lms([path.parent])),
    ),
    "XNLI": ("xnli/learned/seed0/xnli.json", lambda path: xnli.accuracy_table(xnli.read_runs([path.parent]))),
    "run of XNLI": ("nli/run.json", lambda path: read_record(path.parent, "xnli")),
    "counts": ("nli/counts.json", lambda path: read_counts(path.parent, "remedy")),
    "round trip": ("round_trip/a.json", lambda path: round_trip(path.parent.parent, "a")),
    "note": ("part.json", read_note),
    "marker": (".done/step", lambda path: read_marker(path.parent.parent, "step")),
}


@pytest.mark.parametrize("what", READERS)
def test_a_damaged_file_is_read_or_refused_in_one_sentence(folder, what):
    name, read = READERS[what]
    path = folder / name
    whole = path.read_bytes()
    read(path)
    try:
        for content in damaged(json.loads(whole)):
            path.write_bytes(content)
            try:
                read(path)
            except InputError as error:
                assert str(path.parent) in str(error), content[:300]
            except Exception as error:
                raise AssertionError(f"{type(error).__name__}: {content[:900]}") from error
    finally:
        path.write_bytes(whole)


COMPARED = ("settings of hypotheses", "note", "marker")  # as a whole: where one differs, work is done again
SHOWN = {  # what may be of any kind
    "export": ("versions", "check"),
    "states": ("run",),
    "XNLI": ("condition",),
    "round trip": ("units",),
}


@pytest.mark.parametrize("what", [what for what in READERS if what not in COMPARED])
def test_what_is_not_an_object_or_has_a_value_of_another_kind_is_refused(folder, what):
    name, read = READERS[what]
    path = folder / name
    whole = path.read_bytes()
    content = json.loads(whole)
    wrong = [content | {key: [[]]} for key in content if key not in SHOWN.get(what, ())]
    damages = [whole[: len(whole) // 2], *(json.dumps(each).encode() for each in wrong)]
    not_objects = [each for each in NO_OBJECTS if each != b"{}"]  # {} may have all that is needed
    named = path.parent if what == "probes" else path
    try:
        for damage in not_objects + damages:
            path.write_bytes(damage)
            with pytest.raises(InputError, match=re.escape(str(named))):
                read(path)
    finally:
        path.write_bytes(whole)
