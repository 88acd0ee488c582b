"""The binarised data of a model with new languages: all old ids stay, new pieces and tags come after them."""

import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from itertools import repeat
from pathlib import Path

from fairseq.data import Dictionary

from zsnmt.adaptation.modes import UNKNOWN_BOUND
from zsnmt.data.binarised_folder import check_replaceable
from zsnmt.data.reading import encode, load_dictionary
from zsnmt.errors import InputError
from zsnmt.files.replacing import replacing_folder
from zsnmt.languages import LANGUAGES_FILE, language_tag, read_languages
from zsnmt.processes import worker_pool
from zsnmt.text.learning import TOKENISED, learn_subwords, learn_tokenisation, write_restricted
from zsnmt.text.lines import iterate_lines, write_lines
from zsnmt.text.piece_counts import (
    PIECE_COUNTS_FILE,
    merge_piece_counts,
    read_piece_counts,
    write_piece_counts,
)
from zsnmt.text.pipeline import TextPipeline, own_model_file
from zsnmt.text.settings import RAW, TextSettings
from zsnmt.text.subword import Subwords
from zsnmt.text.words import Words
from zsnmt.training.binarised import (
    TextFile,
    add_symbols,
    binarise,
    check_pairs,
    check_shards,
    count_pieces,
    is_training,
    text_files,
    training_text,
)
from zsnmt.training.piece_counts import count_training_pieces


def extend_data(
    text: Path,
    folder: Path,
    base: Path,
    new: Sequence[str],
    settings: TextSettings,
    unknown_bound: float = UNKNOWN_BOUND,
    shards: int = 1,
    workers: int = 1,
) -> dict[str, float]:
    """Binarise `text` for the model whose pipeline is in `base` and for the new languages.

    The old languages keep their text pipeline, and with it every id. Each new language has a subword model of
    its own (or words, where the model has words), of which the types that the dictionary lacks are appended
    to it, after the language's tag. Training text is dealt to `shards`. Returns the share of unknown pieces
    (0–1) of each file of a pair with a new language.

    Raises `InputError` for a language that is there already, for units of another kind than the model's, for
    text that breaks the contract, and for a file in which more than `unknown_bound` of the pieces are
    unknown.
    """
    known = read_languages(base)
    if there := [language for language in new if language in known]:
        raise InputError(
            f"the model of {base} knows {', '.join(there)} already; name languages that it lacks"
        )
    pipeline = TextPipeline.load(base)
    check_units(pipeline, settings)
    check_replaceable(folder)
    languages = [*known, *new]
    pairs, lines = check_pairs(text, languages)
    check_shards(text, lines.get("train", {}), shards)
    with replacing_folder(folder) as part, worker_pool(workers) as pool:
        write_lines(part / LANGUAGES_FILE, languages)
        files = text_files(text, pairs)
        pipeline = extend_tokenisation(
            pipeline, files, known, new=new, folder=part, settings=settings, workers=workers
        )
        tokenised = [file.tokenise(pipeline, part / TOKENISED, workers) for file in files]
        pipeline = extend_units(pipeline, training_text(tokenised), new, folder=part, settings=settings)
        counts = count_new_pieces(tokenised, pipeline, new, pool=pool)
        pipeline = restrict_own_units(pipeline, counts, part)
        dictionary = extend_dictionary(
            base / f"dict.{known[0]}.txt", sum(counts.values(), Counter()), new, words=settings.words
        )
        unknown = binarise(
            tokenised, part, pipeline, dictionary=dictionary, languages=languages, pool=pool, shards=shards
        )
        extend_piece_counts(base, part, dictionary, languages=languages)
        shares = {}
        for file, as_read in zip(files, tokenised):
            if not {*new} & {language for name in file.names for language in languages_in(name)}:
                continue
            share = unknown[as_read][True] / max(1, unknown[as_read].total())
            shares[file.path.name] = share
            if share > unknown_bound:
                example = first_unknown(as_read, pipeline, dictionary)
                raise InputError(describe_unknown(file, share, bound=unknown_bound, example=example))
        shutil.rmtree(part / TOKENISED, ignore_errors=True)
    return shares


def languages_in(name: str) -> list[str]:
    """Those of the pair that a file of a binarised folder is called after, such as train.de-en.de."""
    return name.split(".")[1].split("-")


def check_units(pipeline: TextPipeline, settings: TextSettings) -> None:
    """Raises `InputError` unless both have words, or both subwords."""
    there, wanted = pipeline.units.name, Words.name if settings.words else Subwords.name
    if there != wanted:
        instead = "word" if there == Words.name else "bpe or unigram"
        raise InputError(
            f"the model reads {there}, and the new language was to have '{settings.model_type}'; choose "
            f"{instead}"
        )


def extend_tokenisation(
    pipeline: TextPipeline,
    files: Sequence[TextFile],
    known: Sequence[str],
    new: Sequence[str],
    folder: Path,
    settings: TextSettings,
    workers: int,
) -> TextPipeline:
    """The pipeline with the tokenisation of the new languages as well."""
    learned = learn_tokenisation(
        training_text(files), new, folder, settings=settings, workers=workers, known=known
    )
    kinds = {**{language: pipeline.kinds.get(language, RAW) for language in known}, **learned.kinds}
    return replace(pipeline, kinds=kinds, truecasers={**pipeline.truecasers, **learned.truecasers})


def extend_units(
    pipeline: TextPipeline,
    text: Mapping[str, Sequence[Path]],
    new: Sequence[str],
    folder: Path,
    settings: TextSettings,
) -> TextPipeline:
    """The pipeline with a subword model for each new language, learned from its training text."""
    languages = new if isinstance(pipeline.units, Subwords) else ()
    own_units = {
        language: learn_subwords({language: text[language]}, folder, settings) for language in languages
    }
    return add_own_units(pipeline, own_units)


def add_own_units(pipeline: TextPipeline, own_units: Mapping[str, Subwords]) -> TextPipeline:
    """The pipeline with subwords of their own for these languages."""
    return replace(pipeline, own_units={**pipeline.own_units, **own_units})


def count_new_pieces(
    files: Sequence[TextFile], pipeline: TextPipeline, new: Sequence[str], pool: Executor
) -> dict[str, Counter[str]]:
    """How often each piece occurs in the training text of each new language."""
    training = [file for file in files if file.language in new and is_training(file)]
    counts: dict[str, Counter[str]] = {language: Counter() for language in new}
    for file, of_file in zip(training, pool.map(count_pieces, training, repeat(pipeline))):
        counts[file.language] += of_file
    return counts


def restrict_own_units(
    pipeline: TextPipeline, counts: Mapping[str, Counter[str]], folder: Path
) -> TextPipeline:
    """The pipeline with subwords that split what the training text of a new language has not into what it
    has.

    As `leave_out_unseen` does for the common ones: the segmentation of the training text stays.
    """
    return add_own_units(
        pipeline,
        {
            language: write_restricted(
                pipeline.own_units[language],
                {*map(pipeline.remove_mark, seen)},
                folder / own_model_file(language),
            )
            for language, seen in counts.items()
            if language in pipeline.own_units
        },
    )


def extend_dictionary(
    path: Path, counts: Counter[str], new: Sequence[str], words: int | None = None
) -> Dictionary:
    """The dictionary in `path`, then the tags of the new languages, then their pieces that it lacks, the most
    frequent first.

    Old entries keep their place and their count. `words` bounds the number of new pieces, for units that are
    words. Raises `InputError` where the text spells a tag.
    """
    dictionary = load_dictionary(path)
    if clash := [tag for tag in map(language_tag, new) if tag in counts or tag in dictionary]:
        raise InputError(
            f"the text spells {', '.join(clash)}, which is to stand for a language; remove it from the text"
        )
    add_symbols(dictionary, new, counts, words=words)
    return dictionary


def extend_piece_counts(base: Path, folder: Path, dictionary: Dictionary, languages: Sequence[str]) -> None:
    """Write how often each language uses each piece: in the new data, or, where those are fewer, before, as
    the pipeline in `base` says, or the run that it is of, where they were counted later.
    """
    counted = [each for each in (base.parent, base) if (each / PIECE_COUNTS_FILE).is_file()]
    before = read_piece_counts(counted[0]) if counted else {}
    now = count_training_pieces(folder, dictionary, languages)
    write_piece_counts(folder, merge_piece_counts(before, now, languages))


def first_unknown(file: TextFile, pipeline: TextPipeline, dictionary: Dictionary) -> tuple[int, str]:
    """The first piece of a tokenised file that the dictionary lacks, after the number of its line."""
    for number, pieces in enumerate(pipeline.segment(iterate_lines(file.path), file.language), start=1):
        for piece, index in zip(pieces, encode(pieces, dictionary)):
            if index == dictionary.unk():
                return number, piece
    raise AssertionError(f"{file.path} has no unknown piece")


def describe_unknown(file: TextFile, share: float, *, bound: float, example: tuple[int, str]) -> str:
    """What is wrong with a file of which too much is unknown, with the first such line and piece."""
    number, piece = example
    return (
        f"{file.path}: {100 * share:.1f} % of its pieces are unknown to the model in {file.language}, as "
        f"'{piece}' in line {number}, and {100 * bound:g} % are allowed; is it the right language and "
        "script? If so, allow more with --allow-unknown"
    )
