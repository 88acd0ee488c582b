"""What a folder of probes was made of, written down beside the figures."""

from collections.abc import Sequence
from pathlib import Path

from zsnmt.analysis.state_folder import RECORD_KINDS, STATES_FILE
from zsnmt.files.records import read_json, write_json
from zsnmt.runs.folder import commit, read_record, versions
from zsnmt.runs.probe_folder import PROBE_RECORD

COPIED_KEYS = ("config", "system", "seed")
STATES_KEYS = ("model", "target", "removed_layers", "layers", "dimension", "languages", "sentences", "text")


def write_probe_record(
    probes: Path, run: Path, states: Path, *, training: Path, held_out: Path, **settings: object
) -> None:
    """Write record.json into the folder `probes`: what the run, its states and the settings say.

    `states`: of the text that was compared; `training`, `held_out`: of those which the classifiers were
    trained and measured on. `model`, `text`, `held_out_text` and `training_text` are checksums, `sentences`,
    `held_out_lines` and `train_lines` are of each language, by language where they differ. Raises
    `InputError` for a missing or damaged run.json or states.json.
    """
    kinds = RECORD_KINDS | {"removed_layers": Sequence[int]}
    made, compared, measured, trained = (
        read_record(run),
        *(
            read_json(folder / STATES_FILE, "make the states again", kinds)
            for folder in (states, held_out, training)
        ),
    )
    record = {key: made[key] for key in COPIED_KEYS} | {key: compared[key] for key in STATES_KEYS}
    record |= {"held_out_text": measured["text"], "held_out_lines": measured["sentences"]}
    record |= {"training_text": trained["text"], "train_lines": trained["sentences"], **settings}
    record |= {"commit": commit(), "versions": versions()}
    write_json(probes / PROBE_RECORD, record)
