"""The states of an encoder for a text, in a folder or made as they are needed."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from tqdm import tqdm

from zsnmt.analysis.live_classifiers import LiveStates
from zsnmt.analysis.state_folder import LABELS_FILE, STATES_FILE, Labels, allocate, layer_file
from zsnmt.errors import InputError
from zsnmt.files.checksums import checksum_of, sha256
from zsnmt.files.records import write_json
from zsnmt.files.replacing import new_folder
from zsnmt.inference.probed_model import ProbedModel
from zsnmt.languages import check_known


class Sentence(NamedTuple):
    """A line of a language, counted from 0: ids of its tags, its pieces and EOS."""

    language: str
    line: int
    source: np.ndarray
    tags: int

    @property
    def tokens(self) -> np.ndarray:
        """The ids of its pieces."""
        return self.source[self.tags : -1]


def read_sentences(model: ProbedModel, text: Mapping[str, Sequence[str]]) -> list[Sentence]:
    """The sentences of each language's lines, in order.

    Raises `InputError` for an unknown language and for a line that has no piece, too many of them, or a
    symbol of fairseq's own.
    """
    for language in text:
        check_known(language, model.languages)
    sentences = []
    for language, lines in text.items():
        for sentence in sentences_of(model, lines, language):
            if not is_read(model, sentence.tokens):
                raise InputError(
                    f"line {sentence.line + 1} in '{language}' has {len(sentence.tokens)} pieces; the model "
                    f"reads 1 to {most_pieces(model)}, and none like <pad> or </s>; remove the line from all "
                    "languages"
                )
            sentences.append(sentence)
    return sentences


def sentences_of(model: ProbedModel, lines: Iterable[str], language: str) -> Iterator[Sentence]:
    """The sentences of some lines of a language, in order."""
    for line, source in enumerate(model.sources(lines, language)):
        yield Sentence(language, line, np.array(source, np.int32), tags=model.tags)


def most_pieces(model: ProbedModel) -> int:
    """How many pieces a line may have, beside its tags and EOS."""
    return model.encoder.max_positions() - model.tags - 1


def is_read(model: ProbedModel, tokens: np.ndarray) -> bool:
    """Whether a model reads these pieces: one or more, not too many, and no symbol of fairseq's own."""
    return 0 < len(tokens) <= most_pieces(model) and bool(tokens.min() >= model.dictionary.unk())


def readable_lines(model: ProbedModel, text: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """The lines of each language that the model reads, without those that are too long for it, as in its
    training.
    """
    return {
        language: [
            line
            for line, sentence in zip(lines, sentences_of(model, lines, language), strict=True)
            if is_read(model, sentence.tokens)
        ]
        for language, lines in text.items()
    }


def batches(lengths: Sequence[int], batch_tokens: int) -> Iterator[list[int]]:
    """Places of equal lengths in batches of at most `batch_tokens`, or of one; the longest first."""
    by_length = sorted(range(len(lengths)), key=lambda place: -lengths[place])
    for length, places in itertools.groupby(by_length, key=lengths.__getitem__):
        same, size = list(places), max(1, batch_tokens // length)
        yield from (same[first : first + size] for first in range(0, len(same), size))


def encoder_states(
    model: ProbedModel, sentences: Sequence[Sentence], batch_tokens: int = 4000
) -> Iterator[tuple[list[int], list[np.ndarray]]]:
    """For each batch the places of its B sentences, and the states of their T pieces in each layer from 0 to
    the final, B×T×C.

    A batch holds sentences of one length, so that nothing is padded. The encoder runs once for all layers.
    """
    for places, states in device_states(model, sentences, batch_tokens):
        yield places, [state.cpu().numpy() for state in states]


def device_states(
    model: ProbedModel, sentences: Sequence[Sentence], batch_tokens: int = 4000
) -> Iterator[tuple[list[int], list[torch.Tensor]]]:
    """What `encoder_states` gives, in float32 where the encoder is."""
    device, pieces = next(model.encoder.parameters()).device, slice(model.tags, -1)
    for places in batches([len(sentence.source) for sentence in sentences], batch_tokens):
        inputs = np.stack([sentences[place].source for place in places])
        tokens = torch.from_numpy(inputs.astype(np.int64)).to(device)  # B×T
        with torch.inference_mode():
            output = model.encoder(
                tokens, torch.full_like(tokens[:, 0], tokens.size(1)), return_all_hiddens=True
            )
        states = [*output["encoder_states"], *output["encoder_out"]]  # T×B×C each
        yield places, [state[pieces].transpose(0, 1).float() for state in states]


def live_states(
    model: ProbedModel, text: Mapping[str, Sequence[str]], batch_tokens: int = 4000
) -> LiveStates:
    """The states of a text, made when they are asked for; raises `InputError` as `write_states` does."""
    check_lines(text)
    sentences = read_sentences(model, text)
    labels = labels_of(sentences, list(text))

    def read(chosen: np.ndarray) -> list[torch.Tensor]:
        some = [sentences[place] for place in chosen]
        lengths = np.array([len(sentence.tokens) for sentence in some])
        first_rows = np.cumsum(lengths) - lengths
        whole: list[torch.Tensor] = []
        for places, states in device_states(model, some, batch_tokens):
            if not whole:
                whole = [state.new_empty(lengths.sum(), state.shape[-1]) for state in states]
            rows_of_batch = first_rows[places, None] + np.arange(states[0].shape[1])  # B×T
            rows = torch.from_numpy(rows_of_batch).to(states[0].device)
            for layer_rows, state in zip(whole, states):
                layer_rows[rows] = state
        return whole

    return LiveStates(labels, record_of_text(model, text, labels, translations=False), read)


def record_of_text(
    model: ProbedModel, text: Mapping[str, Sequence[str]], labels: Labels, translations: bool
) -> dict:
    """What states.json says of a model and a text; `sentences` are those of each language, by language where
    they differ.
    """
    numbers = {language: len(lines) for language, lines in text.items()}
    return {
        **model.record,
        "languages": labels.languages,
        "sentences": numbers if len({*numbers.values()}) > 1 else next(iter(numbers.values())),
        "translations": translations,
        "tokens": len(labels.token),
        "text": checksum_of(text),
    }


def check_lines(text: Mapping[str, Sequence[str]], translations: bool = False) -> None:
    """`InputError` unless each language has lines, and translations as many in each."""
    numbers = {language: len(lines) for language, lines in text.items()}
    if not numbers or not all(numbers.values()) or translations and len({*numbers.values()}) > 1:
        raise InputError(
            f"states need one or more lines, as many in each language; here they are {numbers or 'none'}"
            if translations
            else f"states need one or more lines of each language; here they are {numbers or 'none'}"
        )


def labels_of(sentences: Sequence[Sentence], languages: Sequence[str]) -> Labels:
    """The labels of all tokens of the sentences, in order."""
    lengths = [len(sentence.tokens) for sentence in sentences]
    numbers_of_sentence = np.array(
        [(languages.index(sentence.language), sentence.line) for sentence in sentences], np.int32
    )
    language, line = np.repeat(numbers_of_sentence, lengths, axis=0).T
    position = np.concatenate([np.arange(length, dtype=np.int32) for length in lengths])
    return Labels(
        list(languages),
        language,
        np.concatenate([sentence.tokens for sentence in sentences]),
        position=position,
        sentence=line,
    )


def write_states(
    folder: Path,
    model: ProbedModel,
    text: Mapping[str, Sequence[str]],
    batch_tokens: int = 4000,
    translations: bool = True,
) -> None:
    """Write the states of a text into a new folder (see `zsnmt.analysis.state_folder`), which is whole or not
    there.

    `text`: the lines of each language; `translations`: whether line n of each is the same sentence, which
    similarity needs. The results do not depend on `batch_tokens`, the source tokens in a batch; memory holds
    the states of one batch. Raises `InputError` for a folder that is there, unequal
    numbers of lines, a full disk, and as `read_sentences` does.
    """
    check_lines(text, translations)
    with new_folder(folder) as part:
        sentences = read_sentences(model, text)
        labels = labels_of(sentences, list(text))
        layers, rows = model.record["layers"], len(labels.token)
        allocate(part, layers, (rows, model.record["dimension"]))
        first_rows = np.flatnonzero(labels.position == 0)
        with tqdm(total=rows, unit=" tokens", unit_scale=True, disable=None, leave=False) as bar:
            for places, states in encoder_states(model, sentences, batch_tokens):
                rows_of_batch = first_rows[places, None] + np.arange(states[0].shape[1])  # B×T
                for layer, layer_rows in zip(layers, states):
                    # Mapped for one batch alone, so that the pages do not stay in this process.
                    np.load(layer_file(part, layer), mmap_mode="r+")[rows_of_batch] = layer_rows
                bar.update(rows_of_batch.size)
        np.savez(part / LABELS_FILE, **labels._asdict())
        files = {path.name: sha256(path) for path in sorted(part.iterdir())}
        record = record_of_text(model, text, labels, translations=translations)
        write_json(part / STATES_FILE, record | {"files": files})
