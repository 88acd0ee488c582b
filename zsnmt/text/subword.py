"""Subwords for any set of languages: one joint SentencePiece model, optionally restricted by language.

All white space counts as a single space, and so does U+2581, which marks a space in a piece: what a
dictionary would take for a separator never gets into a piece.
"""

import io
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path

import sentencepiece

from zsnmt.errors import InputError
from zsnmt.files.records import damage_of
from zsnmt.files.replacing import replacing
from zsnmt.languages import check_known, check_language
from zsnmt.processes import in_another_process
from zsnmt.text.lines import SPACE, iterate_lines
from zsnmt.text.piece_restriction import restrict_pieces
from zsnmt.text.sampling import sample, sample_sizes
from zsnmt.text.settings import BPE, MODEL_TYPES

MODEL_FILE = "subwords.model"

Text = Sequence[Path] | Callable[[], Iterable[str]]  # files, or what gives the sentences anew at each call

BY = "--vocabulary-size, in a config by VOCABULARY"  # the size is given
MOST_PIECES = 2**31  # SentencePiece counts them so
MOST_SENTENCES = 1_000_000  # that a model is trained on
UNCHANGED = "identity"  # the other normalizations of SentencePiece cannot be undone by decoding
QUIET = 2  # errors only
UNKNOWN_PIECES = 1  # <unk>, which is a piece that SentencePiece counts


class Subwords:
    """Sentences into pieces and back, by one model, with a vocabulary for each language or without.

    With `vocabularies`, a piece that is not in the vocabulary of its language is split into smaller ones
    that are, at last into characters. Raises InputError when the model cannot be read, or when a
    vocabulary is not of this model.
    """

    name = "subwords"

    def __init__(self, model: Path, vocabularies: Mapping[str, Sequence[str]] | None = None):
        self.model = read_model(model)
        self.vocabularies = dict(vocabularies or {})
        processor = load_processor(self.model, model)
        self.pieces = [  # in the model's order
            processor.id_to_piece(index)
            for index in range(processor.get_piece_size())
            if not processor.is_unknown(index)
        ]
        self._pieces = frozenset(self.pieces)
        for language, vocabulary in self.vocabularies.items():
            if strangers := [piece for piece in vocabulary if len(piece) > 1 and piece not in self._pieces]:
                raise InputError(
                    f"the vocabulary of {language} has pieces that {model} lacks, like '{strangers[0]}'; "
                    f"use the vocabularies that were made with this model"
                )
        # A processor for each language, as the restriction is part of the model that it has read.
        self._processors = {
            language: load_processor(restrict_pieces(self.model, frozenset(vocabulary)), model)
            for language, vocabulary in self.vocabularies.items()
        }
        self._unrestricted = processor

    @property
    def needs_language(self) -> bool:
        """Whether the pieces of a sentence depend on its language."""
        return bool(self.vocabularies)

    def encode(self, sentence: str, language: str) -> list[str]:
        """The pieces of a sentence; raises InputError for a language without a vocabulary when others have
        one.
        """
        return next(self.encode_lines([sentence], language))

    def encode_lines(self, sentences: Iterable[str], language: str) -> Iterator[list[str]]:
        """The pieces of each sentence, in order.

        Every piece is one of the model's or a single character. Raises InputError as `encode` does.
        """
        processor = self._processor_of(language)
        for sentence in map(plain_spaces, sentences):  # for a list of them SentencePiece would start a thread
            yield self._split_unknown(processor.encode(sentence, out_type=str))

    def decode(self, pieces: Iterable[str]) -> str:
        """The sentence of which these are the pieces, with single spaces."""
        return plain_spaces("".join(pieces))

    def starts_word(self, piece: str) -> bool:
        """Whether a word begins with this piece."""
        return piece.startswith(SPACE)

    def save(self, folder: Path) -> None:
        """Writes `subwords.model` and, when there are vocabularies, a `vocabulary.{language}` for each.

        The model is removed first and written last, so that an interrupted save cannot be loaded.
        """
        folder.mkdir(parents=True, exist_ok=True)
        for old in (folder / MODEL_FILE, *folder.glob("vocabulary.*")):
            old.unlink(missing_ok=True)
        for language, vocabulary in self.vocabularies.items():
            with replacing(folder / f"vocabulary.{check_language(language)}") as file:
                file.write("".join(f"{piece}\n" for piece in vocabulary).encode("utf-8"))
        with replacing(folder / MODEL_FILE) as file:
            file.write(self.model)

    @classmethod
    def load(cls, folder: Path) -> "Subwords":
        """What `save` wrote; raises InputError when the folder holds no model."""
        vocabularies = {}
        for file in sorted(folder.glob("vocabulary.*")):
            with damage_of(file, "copy it again from the data folder of the run"):
                vocabularies[file.suffix[1:]] = file.read_text(encoding="utf-8").split()
        return cls(folder / MODEL_FILE, vocabularies)

    def _processor_of(self, language: str) -> sentencepiece.SentencePieceProcessor:
        if not self.vocabularies:
            return self._unrestricted
        return self._processors[check_known(language, self._processors)]

    def _split_unknown(self, pieces: list[str]) -> list[str]:
        """SentencePiece keeps a run of unknown characters in one piece, even if it spells `<pad>` or a
        tag.
        """
        return [part for piece in pieces for part in ((piece,) if piece in self._pieces else piece)]


def train_subwords(
    text: Mapping[str, Text],
    model: Path,
    vocabulary_size: int,
    model_type: str = BPE,
    character_coverage: float = 1.0,
    balance: float | None = None,
    seed: int = 1,
    others: int = 0,
    merges: int | None = None,
) -> None:
    """Trains one model over all languages and writes it to `model`.

    The same text, arguments and seed give the same bytes. At most about `MOST_SENTENCES` sentences are used,
    drawn by language as `sampling.sample_sizes` says; empty ones are left out. Characters stay as they are.
    `others`: symbols of the vocabulary that are not pieces of this model, such as `<pad>`. `merges`: of BPE,
    the number of merge operations, in place of that of all pieces, which also has the characters.
    Raises InputError for values out of range, and for a vocabulary that is too large for the text or too
    small for its characters, with the limit.
    """
    if model_type not in MODEL_TYPES:
        raise InputError(f"there is no model type '{model_type}'; choose {' or '.join(MODEL_TYPES)}")
    if not 0 < character_coverage <= 1:
        raise InputError(
            f"character coverage {character_coverage} cannot be used; give a share above 0 and up to 1"
        )
    if merges is not None and (model_type != BPE or character_coverage < 1 or merges < 1):
        raise InputError(
            f"{merges} merge operations of a {model_type} model with {character_coverage} of the characters "
            "cannot be counted; give 1 or more, of bpe with all characters, or a number of pieces"
        )
    if merges is None and not 2 <= vocabulary_size - others < MOST_PIECES:
        raise InputError(
            f"a vocabulary of {vocabulary_size} cannot be used; give a number of pieces, often thousands"
        )
    available = {language: sum(1 for _ in nonempty_sentences(text[language])) for language in sorted(text)}
    sizes = sample_sizes(available, MOST_SENTENCES, balance)

    def drawn() -> Iterator[str]:
        for language, size in sizes.items():
            generator = random.Random(f"{seed} {language}")
            yield from sample(
                nonempty_sentences(text[language]), available[language], size, generator=generator
            )

    if merges is not None:
        characters = {SPACE, *chain.from_iterable(drawn())} - {" "}
        vocabulary_size = merges + others + len(characters) + UNKNOWN_PIECES
    options = {
        "vocab_size": vocabulary_size - others,
        "model_type": model_type,
        "character_coverage": character_coverage,
        "normalization_rule_name": UNCHANGED,
    }
    try:
        trained = in_another_process(partial(train_model, drawn(), options))
    except RuntimeError as error:
        explain(error, vocabulary_size, others, merges=merges)
        raise
    with replacing(model) as file:
        file.write(trained)


def train_model(sentences: Iterator[str], options: Mapping[str, object]) -> bytes:
    """What SentencePiece makes of sentences."""
    trained = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=sentences,
        model_writer=trained,
        pad_id=-1,
        bos_id=-1,
        eos_id=-1,  # the dictionary has its own
        num_threads=1,  # the sums of unigram training depend on it
        max_sentence_length=1 << 30,  # longer lines, in bytes, would be left out without a word
        shuffle_input_sentence=False,
        minloglevel=QUIET,
        **options,
    )
    return trained.getvalue()


def frequent_pieces(counts: Mapping[str, int], threshold: int) -> list[str]:
    """The pieces that occur at least `threshold` times, sorted."""
    return sorted(piece for piece, count in counts.items() if count >= threshold)


def restrict(model: Path, text: Mapping[str, Text], threshold: int) -> dict[str, list[str]]:
    """For each language the pieces that occur at least `threshold` times in its text; for `Subwords`.

    Counted in the segmentation by the whole model, as subword-nmt's --vocabulary-threshold does.
    """
    subwords = Subwords(model)
    segmented = (
        (language, subwords.encode_lines(nonempty_sentences(text[language]), language))
        for language in sorted(text)
    )
    return {
        language: frequent_pieces(Counter(chain.from_iterable(pieces)), threshold)
        for language, pieces in segmented
    }


def plain_spaces(text: str) -> str:
    return " ".join(text.replace(SPACE, " ").split())


def nonempty_sentences(text: Text) -> Iterator[str]:
    """The sentences of a text that are not empty."""
    if callable(text):
        lines = text()
    else:
        lines = (line for file in text for line in iterate_lines(file, allow_empty_lines=True))
    return filter(None, map(plain_spaces, lines))


def read_model(model: Path) -> bytes:
    try:
        return model.read_bytes()
    except FileNotFoundError:
        raise InputError(
            f"{model}: there is no such subword model; train one, or name the folder it is in"
        ) from None


def load_processor(model: bytes, path: Path) -> sentencepiece.SentencePieceProcessor:
    processor = sentencepiece.SentencePieceProcessor()
    try:
        processor.LoadFromSerializedProto(model)
    except RuntimeError:
        raise InputError(
            f"{path} is not a SentencePiece model; train another one, or name another file"
        ) from None
    return processor


def explain(error: RuntimeError, vocabulary_size: int, others: int, merges: int | None) -> None:
    """Raises SentencePiece's complaints about the vocabulary size in the words of this module."""
    if match := re.search(r"too high \(\d+\)\. Please set it to a value <= (\d+)", str(error)):
        if merges is not None:
            raise InputError(
                f"this text does not support {merges} merge operations; choose "
                f"{merges - vocabulary_size + int(match[1]) + others} or fewer by --merges, in a config by "
                "MERGES, or give more text"
            ) from error
        raise InputError(
            f"this text does not support a vocabulary of {vocabulary_size} pieces; "
            f"choose {int(match[1]) + others} or fewer by {BY}, or give more text"
        ) from error
    if match := re.search(r"smaller than required_chars\. \d+ vs (\d+)", str(error)):
        raise InputError(
            f"a vocabulary of {vocabulary_size} pieces cannot hold all characters of this text; "
            f"choose {int(match[1]) + others} or more by {BY}, or a lower character coverage"
        ) from error
