"""Further training text that is made of the translations that the filters have kept, and its data.

There is a folder for each language X: its text is made of the English (pivot) sentences beside X.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from zsnmt.corpora.parallel_text import TRAIN
from zsnmt.distillation.back_translation import write_back_translations
from zsnmt.distillation.data import binarise_files, reverse
from zsnmt.distillation.settings import BACK, BETWEEN
from zsnmt.distillation.synthetic_text import SyntheticText
from zsnmt.distillation.translation_pairs import write_translation_pairs
from zsnmt.files.replacing import replacing_folder
from zsnmt.languages import Direction, parse_direction
from zsnmt.training.binarised import TextFile
from zsnmt.training.steps import Steps

Writer = Callable[[SyntheticText, Sequence[Direction], Path], None]
WRITERS: Mapping[str, Writer] = {BACK: write_back_translations, BETWEEN: write_translation_pairs}
BOTH_WAYS = {BETWEEN}  # what is also read from its second language into its first


def make_further_text(
    steps: Steps, synthetic: SyntheticText, kept: Sequence[Direction], *, use: str, workers: int
) -> dict[str, tuple[Path, list[Direction]]]:
    """Make the text for a `use`, one of `WRITERS`, of the `kept` directions, and its data, unless they are
    there.

    Returns the folders of data and the directions of each, by name: a folder for each language X.
    """
    text, data = synthetic.folder / use, synthetic.folder / f"{use}_data"
    steps.make(
        synthetic.folder,
        use,
        text,
        work=partial(write_text, use, synthetic, kept, text),
        inputs=[synthetic.text],
        settings={},
    )
    work = partial(binarise_further_text, use, text, data, synthetic.experiment.data, workers=workers)
    steps.make(
        synthetic.folder, data.name, data, work=work, inputs=[text, synthetic.experiment.data], settings={}
    )
    return {folder.name: (folder, directions_in(folder, use)) for folder in sorted(data.iterdir())}


def write_text(use: str, synthetic: SyntheticText, kept: Sequence[Direction], text: Path) -> None:
    """Write the folders of each language's text."""
    with replacing_folder(text) as part:
        for source in dict.fromkeys(direction.source for direction in kept):
            (part / source).mkdir()
        WRITERS[use](synthetic, kept, part)


def binarise_further_text(use: str, text: Path, folder: Path, authentic: Path, workers: int) -> None:
    """Write a folder of data for each folder of the text, by pipeline and dictionary of `authentic`."""
    with replacing_folder(folder) as part:
        files = []
        for path in sorted(text.glob("*/*")):
            name = f"{use}_{path.parent.name}"
            (part / name).mkdir(exist_ok=True)
            files.append(TextFile(path, path.suffix.removeprefix("."), (f"{name}/{path.name}",)))
        binarise_files(files, part, authentic, workers=workers)


def directions_in(folder: Path, use: str) -> list[Direction]:
    """The directions that a folder of binarised data has for training."""
    names = sorted({path.name.split(".")[1] for path in folder.glob(f"{TRAIN}.*.idx")})
    directions = [parse_direction(name) for name in names]
    return [*directions, *map(reverse, directions)] if use in BOTH_WAYS else directions
