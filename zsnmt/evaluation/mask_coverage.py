"""How much of a test set a mask lets a model write: the pieces of the references that its language has."""

from pathlib import Path
from typing import NamedTuple

from zsnmt.corpora.overlap import held_out_files
from zsnmt.decoding.methods.pieces import check_counts, has_letter
from zsnmt.decoding.methods.settings import Mask
from zsnmt.errors import InputError
from zsnmt.languages import read_languages
from zsnmt.runs.folder import PIPELINE_FOLDER, check_trained, piece_counts, read_record
from zsnmt.text.lines import read_lines
from zsnmt.text.pipeline import TextPipeline


class Coverage(NamedTuple):
    """Of different sentences: how many there are, and the shares (0–1) of their pieces, and of whole
    sentences, that can be written.
    """

    sentences: int
    pieces: float
    whole: float


def mask_coverage(
    run: Path, mask: Mask, text: Path | None = None, split: str = "test"
) -> dict[str, Coverage]:
    """By language what a mask lets through of its sentences in a split, by default in the text of the run.

    It is an upper bound of what a masked search can write of them. Languages without a file are left out.
    Raises `InputError` where there is no text, and where pieces are not counted.
    """
    check_trained(run)
    folder = text or Path(read_record(run)["text"])
    pipeline, counts = TextPipeline.load(run / PIPELINE_FOLDER), piece_counts(run)
    languages = read_languages(run / PIPELINE_FOLDER)
    check_counts(counts, languages)
    files = held_out_files(folder, languages, [split]) if folder.is_dir() else []
    found = {}
    for language in languages:
        own = [file for file in files if file.suffix == f".{language}"]
        sentences = [*dict.fromkeys(line for file in own for line in read_lines(file))]
        let_through = [
            [not has_letter(piece) or counts[language].get(piece, 0) >= mask.pieces for piece in pieces]
            for pieces in pipeline.encode_lines(sentences, language)
        ]
        if number := sum(map(len, let_through)):
            found[language] = Coverage(
                len(sentences),
                pieces=sum(map(sum, let_through)) / number,
                whole=sum(map(all, let_through)) / len(sentences),
            )
    if not found:
        raise InputError(f"{folder} has no {split} set in the languages of {run}; name one with --text")
    return found
