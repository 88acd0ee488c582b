"""CTranslate2's search among the pieces of the target language alone: a mask that renormalises.

CTranslate2 knows a map from n-grams of sources to target tokens, the file `vmap.txt` of a model's folder. Of
the output matrix it multiplies the rows of those tokens alone that the sources of a batch call for, and its
probabilities are those among them. Here a language has one n-gram, its tag twice, and a batch one language.

Most tag placements have no such n-gram in a source, nor any tag of the target. But CTranslate2 looks for
n-grams before it cuts sources off at `max_input_length`, the longest source's length here: the tags stand
behind that source, and the encoder does not read them. So nothing is asked of a model, and any export can do
it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from zsnmt.data.reading import Codec
from zsnmt.decoding.methods.bundle import Bundle
from zsnmt.decoding.methods.pieces import check_counts, rare_pieces
from zsnmt.decoding.methods.settings import Mask, Method
from zsnmt.decoding.search import Engine, Hypothesis, Sentence, never_written
from zsnmt.errors import InputError
from zsnmt.inference.export.ctranslate2.engine import (
    IN_FLIGHT,
    MARKS,
    CTranslate2Engine,
    Restriction,
    in_flight,
)
from zsnmt.inference.export.ctranslate2.models import in_order
from zsnmt.languages import language_tag
from zsnmt.text.piece_counts import PieceCounts

MAP_FILE = "vmap.txt"
SEPARATORS = {*" \t\r\n"}  # of the map, which a token cannot have


def mask_of(method: Method) -> Mask | None:
    """The mask of a method that CTranslate2 can search by, which is a mask that renormalises and, but for a
    beam of its own, nothing else.
    """
    return method.mask if method.several is None and method.renormalises else None


def is_known(method: Method) -> bool:
    """Whether CTranslate2 can search by a method."""
    return method.is_search or mask_of(method) is not None


class MaskEngine(Engine):
    """Searches with an export for bundles of one sentence, each among the pieces of its target language.

    Raises `InputError` where the pieces of a language are not counted, or cannot be in a map.
    """

    def __init__(self, engine: CTranslate2Engine, mask: Mask, counts: PieceCounts) -> None:
        self.signature, self.search = engine.signature, engine.search
        codec, self.most = engine.codec, IN_FLIGHT * engine.workers
        check_counts(counts, codec.languages)
        restrictions = restrictions_of(codec, mask, counts)

        @contextmanager
        def with_map(model: Path) -> Iterator[Path]:
            with TemporaryDirectory() as folder:
                for path in filter(Path.is_file, model.iterdir()):
                    (Path(folder) / path.name).symlink_to(path.resolve())
                write_map(Path(folder) / MAP_FILE, restrictions.values(), engine.symbols)
                yield Path(folder)

        translator = engine.load(with_map)
        self.symbols = {language: restriction.symbols for language, restriction in restrictions.items()}
        self.engines = {
            language: engine.restricted(translator, restriction)
            for language, restriction in restrictions.items()
        }

    def translate(self, batches: Iterable[Sequence[Bundle]]) -> Iterator[list[list[Hypothesis]]]:
        """For each batch, in order, the hypotheses of each of its bundles, best first."""
        return in_flight(map(self.begin, batches), self.most)

    def begin(self, bundles: Sequence[Bundle]) -> Callable[[], list[list[Hypothesis]]]:
        """Begin to translate a batch, a search for each language; what is returned waits for its
        hypotheses.
        """
        begun = [
            (places, self.engines[language].begin(sentences))
            for language, places, sentences in by_language(bundles)
        ]
        return lambda: in_order((places, collect()) for places, collect in begun)

    def log_probabilities(
        self, bundles: Sequence[Bundle], translations: Sequence[Sequence[int]]
    ) -> list[list[float]]:
        """The log-probability of each token of a translation, with EOS, of each bundle."""
        return in_order(
            (places, self.engines[language].log_probabilities(sentences, [translations[x] for x in places]))
            for language, places, sentences in by_language(bundles)
        )


def restrictions_of(codec: Codec, mask: Mask, counts: PieceCounts) -> dict[str, Restriction]:
    """The symbols of each language, EOS and unknown pieces among them, as `MethodEngine` has them."""
    dictionary = codec.dictionary
    never = {*never_written(dictionary, codec.languages)}
    rare = rare_pieces(mask, counts, dictionary)
    return {
        language: Restriction(
            sorted({*range(len(dictionary))} - never - {*rare[language]}),
            tag=dictionary.index(language_tag(language)),
        )
        for language in codec.languages
    }


def write_map(path: Path, restrictions: Iterable[Restriction], symbols: Sequence[str]) -> None:
    """Write a map in CTranslate2's format: an n-gram, a tab, and tokens with spaces between on each line."""
    with path.open("w", encoding="utf-8") as file:
        for restriction in restrictions:
            tokens = [symbols[number] for number in restriction.symbols]
            if odd := next((token for token in tokens if SEPARATORS & {*token}), None):
                raise InputError(
                    f"CTranslate2 takes no mask for a vocabulary in which '{odd}' is a piece; translate with "
                    "--engine pytorch"
                )
            ngram = " ".join([symbols[restriction.tag]] * MARKS)
            file.write(f"{ngram}\t{' '.join(tokens)}\n")


def by_language(bundles: Sequence[Bundle]) -> Iterator[tuple[str, list[int], list[Sentence]]]:
    """The languages of bundles, with the places of theirs and their sentences."""
    for language in dict.fromkeys(bundle.target for bundle in bundles):
        places = [place for place, bundle in enumerate(bundles) if bundle.target == language]
        yield language, places, [bundles[place].sentences[0] for place in places]
