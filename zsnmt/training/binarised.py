"""From parallel text to the folder that fairseq trains on: subwords, dictionary, binarised pairs.

The folder holds `languages.txt` (the pivot first), the subword model and vocabularies, a
`dict.{lang}.txt` for each language (all the same) and `{split}.{src}-{tgt}.{lang}.{bin,idx}` in
fairseq's mmap format. A pair serves both of its directions. `piece_counts.tsv` has how often each language
uses each piece in training. Training text in several shards is dealt to them line by line.
"""

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from itertools import product, repeat
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from fairseq.data import Dictionary

from zsnmt.corpora.parallel_text import SPLITS, check_corpus, check_trained, find_pair, pairs_of_split
from zsnmt.data.binarised_folder import check_replaceable, name_shards
from zsnmt.data.binarised_text import SUFFIXES, deal_ids, ids_of
from zsnmt.errors import InputError
from zsnmt.files.links import link_or_copy
from zsnmt.files.replacing import replacing_folder
from zsnmt.languages import LANGUAGES_FILE, check_languages, language_tag
from zsnmt.processes import progress, worker_pool
from zsnmt.text.learning import TOKENISED, learn_tokenisation, learn_units, leave_out_unseen, tokenise_file
from zsnmt.text.lines import iterate_lines, write_lines
from zsnmt.text.piece_counts import write_piece_counts
from zsnmt.text.pipeline import TextPipeline
from zsnmt.text.settings import TextSettings
from zsnmt.training.segmented import read_segmented, write_segmented

SEGMENTED = "segmented"  # folder


class TextFile(NamedTuple):
    """One side of a pair and the names it gets when binarised; several for a file of a multiway set."""

    path: Path
    language: str
    names: tuple[str, ...]

    def tokenise(self, pipeline: TextPipeline, folder: Path, workers: int) -> "TextFile":
        """The file of its tokens, written into a folder; itself where they are its text."""
        path = tokenise_file(self.path, self.language, pipeline, folder=folder, workers=workers)
        return self._replace(path=path)


def text_files(text: Path, pairs: dict[str, list[tuple[str, str]]]) -> list[TextFile]:
    """Every file of the pairs once, with all the names under which it is needed."""
    names: dict[tuple[Path, str], list[str]] = {}
    for split, split_pairs in pairs.items():
        for pair in split_pairs:
            for path, language in zip(find_pair(text, split, *pair), pair):
                names.setdefault((path, language), []).append(f"{split}.{pair[0]}-{pair[1]}.{language}")
    return [TextFile(path, language, tuple(wanted)) for (path, language), wanted in names.items()]


def prepare(
    text: Path,
    folder: Path,
    languages: Sequence[str],
    settings: TextSettings,
    shards: int = 1,
    workers: int = 1,
) -> dict:
    """Make `folder` from the parallel text in `text`; returns the counts of sentence pairs by split and pair.

    `languages`: the pivot first; `shards`: to how many the training text is dealt. The folder is written
    beside and renamed, so it is whole or not there. Raises `InputError` for text that breaks the contract,
    for a language without training text, for a pair with fewer lines than shards, and for a folder that holds
    something else.
    """
    check_languages(languages)
    check_replaceable(folder)
    pairs, counts = check_pairs(text, languages)
    check_trained(text, languages)
    check_shards(text, counts["train"], shards)
    with replacing_folder(folder) as part:
        fill(part, text_files(text, pairs), languages, settings=settings, shards=shards, workers=workers)
    return counts


def check_pairs(
    text: Path, languages: Sequence[str]
) -> tuple[dict[str, list[tuple[str, str]]], dict[str, dict[str, int]]]:
    """By split, the pairs with text, and the sentences of each; `InputError` for text that breaks the
    contract.
    """
    pairs = {split: pairs_of_split(text, split, languages) for split in SPLITS}
    return pairs, {
        split: check_corpus(text, pairs[split], [split])[split] for split in SPLITS if pairs[split]
    }


def check_shards(text: Path, lines: Mapping[str, int], number: int) -> None:
    """`InputError` unless each training pair (`"de-en"`) has a line for each shard."""
    if number < 1:
        raise InputError(f"there cannot be {number} shards; give a whole number above 0")
    for pair, there in lines.items():
        if there < number:
            source, target = pair.split("-")
            file, _ = find_pair(text, "train", source, target=target)
            raise InputError(
                f"{file} has {there} lines, and each of {number} shards needs one; choose at most {there} "
                "shards, or add text"
            )


def fill(
    folder: Path,
    files: Sequence[TextFile],
    languages: Sequence[str],
    settings: TextSettings,
    shards: int,
    workers: int,
) -> None:
    """Write what `prepare` makes of the files into a folder."""
    write_lines(folder / LANGUAGES_FILE, languages)
    tokenisers = learn_tokenisation(
        training_text(files), languages, folder, settings=settings, workers=workers
    )
    files = [file.tokenise(tokenisers, folder / TOKENISED, workers) for file in files]
    pipeline = learn_units(training_text(files), tokenisers, folder, settings=settings)
    with worker_pool(workers) as pool:
        segmented = segment(files, pipeline, folder / SEGMENTED, pool=pool)
        dictionary = learn_dictionary(sum(segmented.values(), Counter()), languages, words=settings.words)
        pipeline = leave_out_unseen(
            pipeline, dictionary.symbols[dictionary.nspecial + len(languages) :], folder
        )
        binarise(
            files,
            folder,
            pipeline,
            dictionary=dictionary,
            languages=languages,
            pool=pool,
            shards=shards,
            segmented=segmented,
        )
    write_piece_counts(folder, known_pieces(segmented, dictionary, languages))
    for made in (TOKENISED, SEGMENTED):
        shutil.rmtree(folder / made, ignore_errors=True)


def binarise(
    files: Sequence[TextFile],
    folder: Path,
    pipeline: TextPipeline,
    dictionary: Dictionary,
    languages: Sequence[str],
    pool: Executor,
    shards: int = 1,
    segmented: Mapping[TextFile, Iterable[str]] = MappingProxyType({}),
) -> dict[TextFile, Counter[bool]]:
    """Write the pipeline, the dictionary of each language and the tokenised files; how many pieces of each
    are unknown, or not. What is `segmented` already (see `segment`) is not cut again.
    """
    pipeline.save(folder)
    for language in languages:
        dictionary.save(str(folder / f"dict.{language}.txt"))
    folders = name_shards(folder, shards)
    for shard in folders[1:]:
        shard.mkdir()
    jobs = [
        (
            file,
            folder,
            pipeline,
            dictionary,
            [*segmented[file]] if file in segmented else None,
            folders if is_training(file) else folders[:1],
        )
        for file in files
    ]
    return dict(zip(files, progress(pool.map(binarise_file, *zip(*jobs)), "binarising", len(files))))


def is_training(file: TextFile) -> bool:
    return file.names[0].startswith("train.")


def training_text(files: Sequence[TextFile]) -> dict[str, list[Path]]:
    """The training files of each language."""
    text: dict[str, list[Path]] = {}
    for file in files:
        if is_training(file):
            text.setdefault(file.language, []).append(file.path)
    return text


def segment(
    files: Sequence[TextFile], pipeline: TextPipeline, folder: Path, pool: Executor
) -> dict[TextFile, Counter[str]]:
    """Write the pieces of the tokenised training files into a folder; how often each occurs in each file."""
    folder.mkdir()
    training = [file for file in files if is_training(file)]
    jobs = pool.map(segment_file, training, repeat(folder), repeat(pipeline))
    return dict(zip(training, progress(jobs, "cutting into pieces", len(training))))


def segment_file(file: TextFile, folder: Path, pipeline: TextPipeline) -> Counter[str]:
    pieces = pipeline.segment(iterate_lines(file.path), file.language)
    return write_segmented(folder / file.names[0], pieces)


def learn_dictionary(counts: Counter[str], languages: Sequence[str], words: int | None = None) -> Dictionary:
    """The languages' tags, in order, then the pieces of the training text by their counts, the most frequent
    first.

    `words` bounds their number, for units that are words. Raises `InputError` for text that spells a tag
    or a symbol of fairseq's own.
    """
    dictionary = Dictionary()
    reserved = [*dictionary.symbols, *map(language_tag, languages)]
    if clash := [symbol for symbol in reserved if symbol in counts]:
        raise InputError(
            f"the training text spells {', '.join(clash)}, which stands for something else; remove it from "
            "the text"
        )
    add_symbols(dictionary, languages, counts, words=words)
    return dictionary


def add_symbols(
    dictionary: Dictionary, languages: Sequence[str], counts: Mapping[str, int], *, words: int | None
) -> None:
    """Add the tags of languages, then the pieces that a dictionary lacks, at most so many `words`, the most
    frequent first.
    """
    for tag in map(language_tag, languages):
        dictionary.add_symbol(tag)
    lacking = ((piece, count) for piece, count in counts.items() if piece not in dictionary)
    for piece, count in sorted(lacking, key=lambda item: (-item[1], item[0]))[:words]:
        dictionary.add_symbol(piece, count)


def known_pieces(
    segmented: Mapping[TextFile, Counter[str]], dictionary: Dictionary, languages: Sequence[str]
) -> dict[str, Counter[str]]:
    """How often each language uses each piece of the dictionary in the training text."""
    counts: dict[str, Counter[str]] = {language: Counter() for language in languages}
    for file, of_file in segmented.items():
        counts[file.language].update({piece: of_file[piece] for piece in of_file if piece in dictionary})
    return counts


def count_pieces(file: TextFile, pipeline: TextPipeline) -> Counter[str]:
    """How often each piece occurs in a tokenised file."""
    return pipeline.piece_counts(iterate_lines(file.path), file.language)


def binarise_file(
    file: TextFile,
    folder: Path,
    pipeline: TextPipeline,
    dictionary: Dictionary,
    pieces: Sequence[str] | None = None,
    shards: Sequence[Path] = (),
) -> Counter[bool]:
    """Write a tokenised file, or the pieces that it was cut into, by number; how many are unknown, or not.
    The lines of a file with `shards` are dealt to these folders in turn.
    """
    first, *others = file.names
    folders = shards or [folder]
    unknown: Counter[bool] = Counter()
    sentences = ids_of_file(file, folder, pipeline, dictionary=dictionary, pieces=pieces)
    counted = counting_unknown(sentences, dictionary.unk(), unknown)
    deal_ids([each / first for each in folders], counted, len(dictionary))
    for each, name, suffix in product(folders, others, SUFFIXES):
        link_or_copy(f"{each / first}{suffix}", each / f"{name}{suffix}")
    return unknown


def counting_unknown(
    sentences: Iterable[np.ndarray], unknown: int, counts: Counter[bool]
) -> Iterator[np.ndarray]:
    """The ids of each sentence as they are; `counts` gets how many pieces are unknown, or not."""
    for ids in sentences:
        number = int(np.count_nonzero(ids[:-1] == unknown))
        counts.update({True: number, False: len(ids) - 1 - number})
        yield ids


def ids_of_file(
    file: TextFile, folder: Path, pipeline: TextPipeline, dictionary: Dictionary, pieces: Sequence[str] | None
) -> Iterator[np.ndarray]:
    """The ids of each sentence, and EOS."""
    if pieces is not None:
        ids = [*map(dictionary.index, pieces)]
        yield from read_segmented(folder / SEGMENTED / file.names[0], ids, dictionary.eos())
        return
    for sentence in pipeline.segment(iterate_lines(file.path), file.language):
        yield ids_of(sentence, dictionary)
