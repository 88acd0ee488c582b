"""CTranslate2's beam search as an engine, with fairseq's hypotheses and scores."""

from __future__ import annotations

import copy
import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from zsnmt.decoding.length_penalty import POWER
from zsnmt.decoding.methods.settings import Method
from zsnmt.decoding.search import Engine, Hypothesis, Search, Sentence, Vocabulary, never_written
from zsnmt.errors import InputError
from zsnmt.files.records import damage_of
from zsnmt.inference.export.ctranslate2.library import ctranslate2
from zsnmt.inference.export.ctranslate2.models import Translators, models_in
from zsnmt.inference.export.ctranslate2.quantisation import REFUSED
from zsnmt.inference.export.folder import REMEDY, check_files, codec, read_export
from zsnmt.text.piece_counts import PieceCounts

if TYPE_CHECKING:
    from ctranslate2 import AsyncTranslationResult, TranslationResult, Translator

T = TypeVar("T")
VOCABULARY_FILE = "shared_vocabulary.json"
REOPEN = "open the export again, such as by starting the server anew, or export the run again"
# How often a tag stands behind a source to say that a search is restricted; no source has one twice.
MARKS = 2
IN_FLIGHT = 3  # batches for each worker: one in work, the others wait
NO_PENALTY = 1e-9  # of 0, CTranslate2 would end its search with the first hypothesis


class Restriction(NamedTuple):
    """The symbols (ids) that a search is among, in an output of a language whose tag this is; see
    `zsnmt.inference.export.ctranslate2.mask`.
    """

    symbols: list[int]
    tag: int


class CTranslate2Engine(Engine):
    """Searches with an exported model, on a CPU with `workers` threads that translate a batch each.

    `codec` turns text into what the model reads. Hypotheses depend on their companions in a batch only where
    rounding decides between two candidates. fairseq's search differs from CTranslate2's in two ways, which
    are put right here:

    * what must not be written (padding, tags, and EOS at the beginning) takes its share of fairseq's
      probabilities, but not of CTranslate2's. So it is left in, and where it was written after all the
      sentence is searched again without it;
    * a hypothesis that reaches its limit ends in EOS with fairseq, which counts, and anyhow with CTranslate2.
      Such a sentence is searched again for all hypotheses that ended and all that did not, which get EOS and
      its probability. One of these is missing for each that ends in the last step before the limit.

    With a `restriction`, probabilities are those among some symbols, which may all be written. Raises
    `InputError` without CTranslate2, for a damaged export, and for a length penalty that CTranslate2 has not.
    """

    def __init__(self, folder: Path, search: Search, workers: int = 1) -> None:
        check_search(search)
        library, record = ctranslate2(), read_export(folder)
        if reason := REFUSED.get(record["quantization"]):
            raise InputError(f"{folder} was exported in {record['quantization']}: {reason}, and {REMEDY}")
        self.folder, self.search, self.workers, self.record = folder, search, workers, record
        self.version = library.__version__
        self.signature = f"ctranslate2 {self.version} {record['quantization']}"
        self.codec = codec(folder, record)
        with damage_of(folder / VOCABULARY_FILE, REMEDY):
            self.symbols: list[str] = json.loads((folder / VOCABULARY_FILE).read_text(encoding="utf-8"))
        self.ids = {symbol: number for number, symbol in enumerate(self.symbols)}
        self.eos, self.longest = self.codec.dictionary.eos(), record["max_target_positions"] - 1
        self.never = never_written(self.codec.dictionary, self.codec.languages)
        self.translator = self.load()
        self.restriction: Restriction | None = None

    def load(
        self, prepared: Callable[[Path], AbstractContextManager[Path]] = nullcontext
    ) -> Translator | Translators:
        """What translates with the export's model, or with its models; `prepared` makes, for the time of
        loading, another folder of that of a model. `InputError` for the model of a language whose files are
        not those of the opened export any more.
        """
        of_tag = models_in(self.folder)

        def load_model(model: Path) -> Translator:
            if model != self.folder:  # loaded later than the files were checked
                names = (name for name in self.record["files"] if self.folder / Path(name).parent == model)
                check_files(self.folder, {name: self.record["files"][name] for name in names}, REOPEN)
            with prepared(model) as folder:
                try:
                    return ctranslate2().Translator(str(folder), inter_threads=self.workers, intra_threads=1)
                except (RuntimeError, ValueError) as error:
                    raise InputError(
                        f"{model} cannot be loaded by CTranslate2 {self.version} ({error}); {REMEDY}"
                    ) from error

        return Translators(load_model, self.folder, of_tag) if of_tag else load_model(self.folder)

    def searching(self, search: Search) -> CTranslate2Engine:
        """The same, with another search of which CTranslate2 knows the length penalty."""
        engine = copy.copy(self)
        engine.search = search
        return engine

    def by(
        self, method: Method, codec: Vocabulary, *, search: Search, counts: PieceCounts | None = None
    ) -> Engine:
        """Of methods it knows a search, and a mask that renormalises."""
        from zsnmt.inference.export.ctranslate2.mask import MaskEngine, is_known, mask_of

        if not is_known(method):
            return super().by(method, codec, search=search, counts=counts)
        engine, mask = self.searching(search), mask_of(method)
        return MaskEngine(engine, mask, counts or {}) if mask else engine

    def restricted(self, translator: Translator | Translators, restriction: Restriction) -> CTranslate2Engine:
        """The same, restricted, with a translator that knows how."""
        engine = copy.copy(self)
        engine.translator, engine.restriction = translator, restriction
        return engine

    def translate(self, batches: Iterable[Sequence[Sentence]]) -> Iterator[list[list[Hypothesis]]]:
        """For each batch, in order, the hypotheses of each of its sentences, best first."""
        return in_flight(map(self.begin, batches), IN_FLIGHT * self.workers)

    def begin(self, sentences: Sequence[Sentence]) -> Callable[[], list[list[Hypothesis]]]:
        """Begin to translate a batch; what is returned waits for its hypotheses."""
        return partial(self.collect, sentences, self.submit(sentences))

    def submit(
        self, sentences: Sequence[Sentence], strict: bool = False, patience: int = 1
    ) -> list[AsyncTranslationResult]:
        """Begin to search: when `strict`, without what must not be written, and for `patience` times as
        many hypotheses.
        """
        sources = [self.spelt(sentence.source) for sentence in sentences]
        forbidden, most = self.never if strict else [], 0
        if self.restriction is not None and sources:
            # The tag is a candidate, since the target begins with it. Others are none; to CTranslate2, which
            # does not forget the rows of earlier batches, they would be other tokens.
            forbidden, longest = [self.restriction.tag], max(sources, key=len)
            most = len(longest)
            longest += self.spelt(forbidden) * MARKS  # beyond what is read
        return self.translator.translate_batch(
            sources,
            [self.spelt([sentence.start]) for sentence in sentences],
            asynchronous=True,
            beam_size=self.search.beam,
            num_hypotheses=self.search.beam * patience,
            patience=patience,
            length_penalty=self.search.length_penalty or NO_PENALTY,
            max_input_length=most,
            max_decoding_length=max(map(self.limit, sentences), default=1),
            min_decoding_length=int(strict),
            suppress_sequences=[self.spelt([token]) for token in forbidden] or None,
            use_vmap=self.restriction is not None,
            return_scores=True,
            return_end_token=True,
        )

    def collect(
        self, sentences: Sequence[Sentence], results: Sequence[AsyncTranslationResult]
    ) -> list[list[Hypothesis]]:
        """The hypotheses of a batch, when they are there."""
        return [
            self.hypotheses(sentence, result.result())
            for sentence, result in zip(sentences, results, strict=True)
        ]

    def hypotheses(self, sentence: Sentence, result: TranslationResult) -> list[Hypothesis]:
        """The hypotheses of a sentence, best first."""
        found = self.read(result)
        if not all(self.ended(each) and len(each.tokens) <= self.limit(sentence) + 1 for each in found):
            found = self.alone(sentence)
        forbidden = {*self.never}
        strict = any(
            each.tokens in ([], [self.eos]) or not forbidden.isdisjoint(each.tokens) for each in found
        )
        if strict:
            found = self.alone(sentence, strict)
        good = [each for each in found if self.ended(each)]
        if strict:  # their probabilities are too large
            good = self.scored(sentence, [each.tokens for each in good])
        # More may end in the last step: as with fairseq, those stay that end first.
        good = sorted(good, key=lambda each: (len(each.tokens), -each.score))[: self.search.beam]
        cut_off = self.scored(sentence, [[*each.tokens, self.eos] for each in found if not self.ended(each)])
        return best_first([*good, *best_first(cut_off)[: self.search.beam - len(good)]])

    def alone(self, sentence: Sentence, strict: bool = False) -> list[Hypothesis]:
        """The hypotheses of a sentence, those that ended and those that its limit cut off."""
        found = self.read(self.submit([sentence], strict)[0].result())
        if not all(map(self.ended, found)):
            found = self.read(self.submit([sentence], strict, patience=2)[0].result())
        return found

    def ended(self, hypothesis: Hypothesis) -> bool:
        """Whether it ends in EOS, and not at its limit."""
        return hypothesis.tokens[-1:] == [self.eos]

    def scored(self, sentence: Sentence, translations: Sequence[Sequence[int]]) -> list[Hypothesis]:
        """Translations of a sentence, with EOS, as hypotheses."""
        scores = self.log_probabilities([sentence] * len(translations), translations)
        return [
            Hypothesis([*tokens], self.search.score(sum(of), len(of)))
            for tokens, of in zip(translations, scores)
        ]

    def log_probabilities(
        self, sentences: Sequence[Sentence], translations: Sequence[Sequence[int]]
    ) -> list[list[float]]:
        """The log-probability of each token of a translation, with EOS, of each sentence."""
        if not sentences:
            return []
        targets = [
            self.spelt([sentence.start, *tokens[:-1]])
            for sentence, tokens in zip(sentences, translations, strict=True)
        ]
        sources = [self.spelt(sentence.source) for sentence in sentences]
        if self.restriction is None:
            scored = self.translator.score_batch(sources, targets, max_input_length=0)
            return [result.log_probs for result in scored]
        forced = self.translator.translate_batch(
            sources,
            targets,
            beam_size=1,
            max_input_length=0,
            max_decoding_length=max(map(len, targets)),
            min_decoding_length=0,
            return_logits_vocab=True,
        )
        float32 = ctranslate2().DataType.float32
        return [
            log_shares(
                np.stack([np.array(step.to(float32)) for step in result.logits[0][: len(tokens)]]),
                tokens,
                self.restriction.symbols,
            )
            for result, tokens in zip(forced, translations)
        ]

    def limit(self, sentence: Sentence) -> int:
        """How many tokens a translation may have before EOS."""
        return self.search.limit(len(sentence.source), self.longest)

    def spelt(self, tokens: Iterable[int]) -> list[str]:
        """Ids as CTranslate2 takes them."""
        return [self.symbols[token] for token in tokens]

    def read(self, result: TranslationResult) -> list[Hypothesis]:
        """What CTranslate2 found."""
        return [
            Hypothesis([self.ids[symbol] for symbol in symbols], score)
            for symbols, score in zip(result.hypotheses, result.scores)
        ]


def log_shares(logits: np.ndarray, tokens: Sequence[int], symbols: Sequence[int]) -> list[float]:
    """The log-probability of each of T tokens among some symbols, by the logits of all (T×V)."""
    logits = logits.astype(np.float64)
    return (logits[range(len(tokens)), tokens] - np.logaddexp.reduce(logits[:, symbols], axis=1)).tolist()


def in_flight(begun: Iterable[Callable[[], T]], most: int) -> Iterator[T]:
    """What comes of things that were begun, in order; at most so many are under way."""
    waiting: deque[Callable[[], T]] = deque()
    for each in begun:
        waiting.append(each)
        if len(waiting) >= most:
            yield waiting.popleft()()
    while waiting:
        yield waiting.popleft()()


def check_search(search: Search) -> None:
    """`InputError` for a search that CTranslate2 has not."""
    if search.length_penalty_form != POWER:
        raise InputError(
            f"CTranslate2 has no --length-penalty-form {search.length_penalty_form}; translate with "
            "--engine pytorch"
        )


def best_first(hypotheses: Iterable[Hypothesis]) -> list[Hypothesis]:
    """Hypotheses in the order of their scores."""
    return sorted(hypotheses, key=lambda hypothesis: -hypothesis.score)
