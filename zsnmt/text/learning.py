"""A text pipeline learned from training text: truecasers, subwords, vocabularies."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from zsnmt.errors import InputError
from zsnmt.files.replacing import replacing
from zsnmt.processes import map_in_processes, progress
from zsnmt.text.lines import iterate_lines, write_lines
from zsnmt.text.piece_restriction import restrict_pieces
from zsnmt.text.pipeline import TextPipeline
from zsnmt.text.settings import TextSettings
from zsnmt.text.subword import MODEL_FILE, Subwords, restrict, train_subwords
from zsnmt.text.tokenisation import (
    devanagari_kind,
    kind_before_truecasing,
    kind_of,
    load_tokeniser,
    needs_truecaser,
)
from zsnmt.text.truecasing import train_truecaser
from zsnmt.text.words import Words

TOKENISED = "tokenised"  # folder
TRUECASER_SENTENCES = 1_000_000


def learn_tokenisation(
    text: Mapping[str, Sequence[Path]],
    languages: Sequence[str],
    folder: Path,
    settings: TextSettings,
    workers: int = 1,
    known: Sequence[str] = (),
) -> TextPipeline:
    """The tokenisation of each language, with a truecaser learned from its text where the kind has one.

    The settings may also name `known` languages, of which nothing is learned. The pipeline that is returned
    has no units yet: it tokenises, and cuts at spaces.
    """
    kinds = {
        language: kind_of(settings.tokenisation, language, [*known, *languages]) for language in languages
    }
    if settings.transliterate:
        if not known and not any(kind.startswith("indic") for kind in kinds.values()):
            raise InputError(
                f"no language of {', '.join(languages)} is tokenised as indic, so none can be written in "
                f"{settings.transliterate}; leave that out, or choose the tokenisation by_script"
            )
        kinds = {language: devanagari_kind(kind) for language, kind in kinds.items()}
    truecasers = {}
    for language in (language for language in languages if needs_truecaser(kinds[language])):
        truecasers[language] = folder / f"truecaser.{language}"
        tokenise = load_tokeniser(kind_before_truecasing(kinds[language]), language).tokenise
        lines = islice((line for file in text[language] for line in iterate_lines(file)), TRUECASER_SENTENCES)
        shown = progress(lines, f"truecaser of {language}", unit=" lines")
        train_truecaser(map_in_processes(tokenise, shown, workers), truecasers[language])
    return TextPipeline(Words(), kinds, truecasers)


def tokenise_file(path: Path, language: str, pipeline: TextPipeline, folder: Path, workers: int = 1) -> Path:
    """Write the tokens of a file into a file of the same name in `folder`; the file itself where they are
    its text.
    """
    if language not in pipeline.tokenisers:
        return path
    folder.mkdir(exist_ok=True)
    lines = progress(iterate_lines(path), f"tokenising {path.name}", unit=" lines")
    write_lines(folder / path.name, map_in_processes(pipeline.tokenisers[language].tokenise, lines, workers))
    return folder / path.name


def learn_units(
    text: Mapping[str, Sequence[Path]], tokenisation: TextPipeline, folder: Path, settings: TextSettings
) -> TextPipeline:
    """The pipeline with the subwords of tokenised training text: one model over all languages, or words."""
    units = Words() if settings.words else learn_subwords(text, folder, settings)
    return replace(tokenisation, units=units, mark_tokens=settings.mark_tokens)


def learn_subwords(text: Mapping[str, Sequence[Path]], folder: Path, settings: TextSettings) -> Subwords:
    """One model over the text of all languages; with a threshold or marks, a language has a vocabulary of
    its own.
    """
    model = folder / "unrestricted.model"
    train_subwords(
        text,
        model,
        settings.vocabulary_size,
        merges=settings.merges,
        model_type=settings.model_type,
        balance=settings.balance,
        seed=settings.seed,
    )
    # A marked piece is one that its own language has.
    vocabularies = (
        restrict(model, text, settings.threshold) if settings.threshold > 0 or settings.mark_tokens else None
    )
    subwords = Subwords(model, vocabularies)
    model.unlink()
    return subwords


def leave_out_unseen(pipeline: TextPipeline, seen: Sequence[str], folder: Path) -> TextPipeline:
    """The pipeline with subwords that split what training has not seen into what it has.

    The segmentation of the training text stays; in other text such pieces would be unknown words.
    """
    if not isinstance(pipeline.units, Subwords):
        return pipeline
    units = write_restricted(
        pipeline.units,
        {*map(pipeline.remove_mark, seen)},
        folder / MODEL_FILE,
        vocabularies=pipeline.units.vocabularies,
    )
    return replace(pipeline, units=units)


def write_restricted(
    units: Subwords,
    allowed: Container[str],
    path: Path,
    vocabularies: Mapping[str, Sequence[str]] | None = None,
) -> Subwords:
    """The subwords with only these pieces, and single characters, their model written to `path`."""
    with replacing(path) as file:
        file.write(restrict_pieces(units.model, allowed))
    return Subwords(path, vocabularies)
