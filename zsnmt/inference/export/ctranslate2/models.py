"""The models of an export, one for each target language that has weights of its own, and all of them as one.

CTranslate2 chooses no weights by the language. So blocks of languages, adapters and a frozen vocabulary (see
`zsnmt.modules`) make an export of several models. In that of a language its blocks are further hidden units
of the decoder's feed-forward blocks, and its adapters are layers, which are the same functions. Its folder
has the name of the language's tag:

model.bin  config.json  shared_vocabulary.json           for languages without such weights, as the pivot is
__de__/model.bin  __de__/config.json  ...                for German
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from zsnmt.inference.export.folder import WEIGHTS_FILE
from zsnmt.languages import language_tag

if TYPE_CHECKING:
    from ctranslate2 import Translator

T = TypeVar("T")


def models_in(export: Path) -> dict[str, Path]:
    """The folders of languages that have a model of their own, by the tag of each."""
    return {path.parent.name: path.parent for path in sorted(export.glob(f"__*__/{WEIGHTS_FILE}"))}


def model_for(export: Path, target: str) -> Path:
    """The folder of the model that translates into a language."""
    own = export / language_tag(target)
    return own if (own / WEIGHTS_FILE).is_file() else export


class Translators:
    """Translators of CTranslate2's as one: a target goes to that of its first token, the language's tag, and
    to that of the others if there is none. A language's own is loaded when it is first needed.
    """

    def __init__(self, load: Callable[[Path], Translator], export: Path, of_tag: Mapping[str, Path]) -> None:
        """`load`: from a folder, `export` that of the others' model, `of_tag` those of languages."""
        self.load, self.of_tag, self.loading = load, of_tag, Lock()
        self.loaded: dict[Path, Translator] = {}
        self.others = load(export)
        self.compute_type = self.others.compute_type

    def translator_into(self, tag: str) -> Translator:
        """That of a language's tag, or that of the others."""
        if tag not in self.of_tag:
            return self.others
        folder = self.of_tag[tag]
        with self.loading:
            if folder not in self.loaded:
                self.loaded[folder] = self.load(folder)
            return self.loaded[folder]

    def translate_batch(self, *batch: Sequence[list[str]], **options: Any) -> list[Any]:
        """What CTranslate2's method of this name gives for sources and targets, in their order."""
        return self.dealt("translate_batch", batch, options)

    def score_batch(self, *batch: Sequence[list[str]], **options: Any) -> list[Any]:
        """What CTranslate2's method of this name gives for sources and targets, in their order."""
        return self.dealt("score_batch", batch, options)

    def dealt(
        self, method: str, batch: Sequence[Sequence[list[str]]], options: Mapping[str, Any]
    ) -> list[Any]:
        """What a method of each translator gives for its part of a batch of sources and targets."""
        places: dict[Translator, list[int]] = {}
        for place, target in enumerate(batch[-1]):
            places.setdefault(self.translator_into(target[0]), []).append(place)
        return in_order(
            (own, getattr(translator, method)(*([side[place] for place in own] for side in batch), **options))
            for translator, own in places.items()
        )


def in_order(parts: Iterable[tuple[Sequence[int], Sequence[T]]]) -> list[T]:
    """What parts have for their places, in the order of the places."""
    of_places = {place: each for places, items in parts for place, each in zip(places, items, strict=True)}
    return [of_places[place] for place in range(len(of_places))]
