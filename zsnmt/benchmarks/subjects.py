"""What engines translate when they are measured: real text by a trained run, or random sentences by random
weights.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from fairseq.models import BaseFairseqModel

from zsnmt.benchmarks.models import LANGUAGES, BenchmarkTask, build
from zsnmt.benchmarks.sizes import SIZES, stock_options
from zsnmt.data.language_tags import TagPlacement
from zsnmt.data.reading import Codec
from zsnmt.decoding.search import Engine, Hypothesis, Search, Sentence
from zsnmt.errors import InputError
from zsnmt.inference.trained_run import load_run
from zsnmt.inference.translator import Translator
from zsnmt.languages import Direction, language_tag
from zsnmt.runs.folder import piece_counts
from zsnmt.scoring.metrics import Metrics
from zsnmt.text.lines import read_lines
from zsnmt.text.piece_counts import PieceCounts
from zsnmt.text.pipeline import TextPipeline
from zsnmt.text.words import Words

OUTPUT = 30  # tokens of each output of random weights, before EOS
SOURCE_LENGTHS = range(5, 36)  # tokens of a random source, EOS among them


@dataclass(frozen=True)
class Subject:
    """A model on the CPU, what turns text into its input, how it searches, and sentences, the longest first.

    `bleu`: BLEU (0–100) of what was found for the sentences, where there are references. Of random weights,
    outputs are cut off. `counts`: of the pieces of each language, for a mask; `into_pivot`: the same
    sentences with the tags of the pivot, where it is neither language.
    """

    model: BaseFairseqModel
    codec: Codec
    search: Search
    sentences: list[Sentence]
    about: str
    bleu: Callable[[list[list[Hypothesis]]], float] | None = None
    is_random: bool = False
    counts: PieceCounts | None = None
    into_pivot: Sequence[Sentence] = ()


def random_subject(size: str, beam: int, number: int) -> Subject:
    """Random weights of a residual-free model with a language embedding, and sentences; always the same.

    EOS has an embedding of zeros, so its logit is 0 where the best ones are 3 or more: it is never among the
    candidates, and every output has as many tokens as it may.
    """
    task = BenchmarkTask(SIZES[size]["vocabulary"])
    dictionary = task.target_dictionary
    model = build("zs_transformer_residual", task, **stock_options(SIZES[size])).eval()
    with torch.no_grad():
        model.decoder.embed_tokens.weight[dictionary.eos()] = 0
    codec = Codec(
        TextPipeline(Words()),
        TagPlacement("t_dec", dictionary),
        [*LANGUAGES],
        trained=[],
        longest=model.max_positions()[0],
    )
    search = Search(beam, max_len_a=0, max_len_b=OUTPUT)
    about = f"{size} size, random weights and sentences, outputs of {OUTPUT} tokens and EOS"
    return Subject(
        model,
        codec,
        search,
        sentences=longest_first(random_sentences(codec, number)),
        about=about,
        is_random=True,
    )


def into_one_language(subject: Subject, share: float) -> Subject:
    """The subject with all sentences into the language of the first, whose pieces are this share of the
    words; `InputError` for a share that is not above 0 and at most 1.
    """
    if not 0 < share <= 1:
        raise InputError(f"--share {share:g} is no part of the words; give more than 0 and at most 1")
    codec, start = subject.codec, subject.sentences[0].start
    words = codec.dictionary.symbols[codec.dictionary.nspecial + len(codec.languages) :]
    chosen = random.Random(1).sample(words, round(share * len(words)))
    return replace(
        subject,
        sentences=[each._replace(start=start) for each in subject.sentences],
        counts={language: dict.fromkeys(chosen, 1) for language in codec.languages},
    )


def random_sentences(codec: Codec, number: int) -> Iterator[Sentence]:
    """Sources of random words and lengths, into all languages in turn."""
    generator, dictionary = random.Random(1), codec.dictionary
    first = dictionary.nspecial + len(codec.languages)
    for place in range(number):
        words = [
            generator.randrange(first, len(dictionary)) for _ in range(generator.choice(SOURCE_LENGTHS) - 1)
        ]
        start = dictionary.index(language_tag(codec.languages[place % len(codec.languages)]))
        yield Sentence([*words, dictionary.eos()], start)


def read_text(text: Path, reference: Path | None, number: int) -> tuple[list[str], list[str]]:
    """The first lines of a text and of its references, if there are any; `InputError` for references that are
    not as many as the text's lines.
    """
    lines, references = read_lines(text), [] if reference is None else read_lines(reference)
    if reference is not None and len(references) != len(lines):
        raise InputError(
            f"{reference} has {len(references)} lines but {text} has {len(lines)}; give the reference of "
            "this text"
        )
    return lines[:number], references[:number]


def trained_subject(
    run: Path,
    *,
    source: str,
    target: str,
    text: Path,
    reference: Path | None,
    number: int,
    beam: int = Search.beam,
    masked: bool = False,
) -> Subject:
    """The model of a run, with the first lines of a text; `InputError` for references that are not as many
    as the text's lines, and, if it is to be `masked`, for a run whose pieces are not counted.
    """
    lines, references = read_text(text, reference, number)
    trained = load_run(run)
    codec = trained.codec
    direction = codec.direction(source, target)
    parts = [tokens for line in lines for tokens in codec.parts(line, source, codec.room(direction))]
    parts.sort(key=len, reverse=True)
    sentences = [codec.sentence(tokens, direction) for tokens in parts]
    into_pivot = Direction(source, codec.pivot)

    def bleu(hypotheses: list[list[Hypothesis]]) -> float:
        translator = Translator(Recorded(sentences, hypotheses), codec)
        translations = translator.translate_into(lines, [direction])[direction]
        return Metrics().against(tuple(references))["bleu"].corpus_score(translations, None).score

    about = f"{run}, {source} to {target}"
    return Subject(
        trained.model.to("cpu"),
        codec,
        Search(beam),
        sentences=sentences,
        about=about,
        bleu=None if reference is None else bleu,
        counts=piece_counts(run) if masked else None,
        into_pivot=[codec.sentence(tokens, into_pivot) for tokens in parts]
        if codec.pivot not in direction
        else [],
    )


class Recorded(Engine):
    """An engine that knows the hypotheses of some sentences."""

    signature = ""

    def __init__(self, sentences: Sequence[Sentence], hypotheses: Sequence[list[Hypothesis]]) -> None:
        self.found = {
            str(sentence): of_sentence for sentence, of_sentence in zip(sentences, hypotheses, strict=True)
        }

    def translate(self, batches: Iterable[Sequence[Sentence]]) -> Iterator[list[list[Hypothesis]]]:
        return ([self.found[str(sentence)] for sentence in batch] for batch in batches)


def longest_first(sentences: Iterable[Sentence]) -> list[Sentence]:
    """Sentences in the order in which they are translated."""
    return sorted(sentences, key=lambda sentence: -len(sentence.source))
