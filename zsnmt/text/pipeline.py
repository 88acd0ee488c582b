"""The text pipeline of a run: raw sentences into the pieces that a model reads, and its pieces into raw text.

A sentence is tokenised as its language asks for, split into subwords (or words), and its pieces marked with
their language where no two languages are to have a piece in common (Liu et al. 2021, section 4.1). All of it
travels in one folder: `pipeline.json`, `subwords.model`, `vocabulary.{lang}`, `truecaser.{lang}`, and
`subwords.{lang}.model` for a language that was added to a trained model with subwords of its own.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from zsnmt.files.records import damage_of, read_json
from zsnmt.files.replacing import replacing
from zsnmt.languages import check_known
from zsnmt.text.settings import RAW
from zsnmt.text.subword import MODEL_FILE, Subwords
from zsnmt.text.tokenisation import KINDS, check_kind, load_tokeniser
from zsnmt.text.units import Units
from zsnmt.text.words import Words

PIPELINE_FILE = "pipeline.json"
FILES = (PIPELINE_FILE, MODEL_FILE, "subwords.*.model", "vocabulary.*", "truecaser.*")

SETTINGS = {  # what pipeline.json says
    "units": str,
    "tokenisation": Mapping[str, str],
    "mark_tokens": bool,
    "own_subwords": Sequence[str] | None,
}

MARK = ":"


@dataclass(eq=False)
class TextPipeline:
    """Sentences into pieces and back, for the languages of one model.

    `kinds` names each language's tokenisation (see `zsnmt.text.tokenisation`); one that is not named has
    none. `truecasers` holds the files of those languages whose tokenisation needs one, `own_units` the
    subwords of those that do not use the common ones.
    """

    units: Units
    kinds: Mapping[str, str] = field(default_factory=dict)
    truecasers: Mapping[str, Path] = field(default_factory=dict)
    mark_tokens: bool = False
    own_units: Mapping[str, Subwords] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.tokenisers = {
            language: load_tokeniser(kind, language, self.truecasers.get(language))
            for language, kind in self.kinds.items()
            if kind != RAW
        }

    @property
    def needs_language(self) -> bool:
        """Whether the pieces of a sentence depend on its language."""
        return bool(self.units.needs_language or self.own_units or self.tokenisers or self.mark_tokens)

    def encode(self, sentence: str, language: str) -> list[str]:
        """The pieces of a raw sentence; raises `InputError` for a language that the pipeline does not
        know.
        """
        return next(self.encode_lines([sentence], language))

    def encode_lines(self, sentences: Iterable[str], language: str) -> Iterator[list[str]]:
        """The pieces of each raw sentence, in order."""
        return self.segment((self.tokenise(sentence, language) for sentence in sentences), language)

    def tokenise(self, sentence: str, language: str) -> str:
        """The tokens of a raw sentence, with single spaces between them."""
        if self.kinds:
            check_known(language, self.kinds)
        tokeniser = self.tokenisers.get(language)
        return tokeniser.tokenise(sentence) if tokeniser else sentence

    def normalise(self, sentence: str, language: str) -> str:
        """The sentence in the spelling that `decode` gives: that of its language's tokenisation."""
        tokeniser = self.tokenisers.get(language)
        return tokeniser.normalise(sentence) if tokeniser else sentence

    def segment(self, sentences: Iterable[str], language: str) -> Iterator[list[str]]:
        """The pieces of tokenised sentences, in order."""
        pieces = self.own_units.get(language, self.units).encode_lines(sentences, language)
        if not self.mark_tokens:
            return pieces
        return ([f"{language}{MARK}{piece}" for piece in of_sentence] for of_sentence in pieces)

    def decode(self, pieces: Iterable[str], language: str) -> str:
        """The raw sentence of a model's pieces, detokenised by the rules of the language that was asked
        for.
        """
        tokens = self.units.decode(map(self.remove_mark, pieces))
        tokeniser = self.tokenisers.get(language)
        return tokeniser.detokenise(tokens) if tokeniser else tokens

    def starts_word(self, piece: str) -> bool:
        """Whether a word begins with this piece."""
        return self.units.starts_word(self.remove_mark(piece))

    def piece_counts(self, sentences: Iterable[str], language: str) -> Counter[str]:
        """How often each piece occurs in tokenised sentences."""
        return Counter(chain.from_iterable(self.segment(sentences, language)))

    def remove_mark(self, piece: str) -> str:
        """The piece as the subword model knows it."""
        return piece.partition(MARK)[2] if self.mark_tokens else piece

    def save(self, folder: Path) -> None:
        """Write the pipeline into a folder, `pipeline.json` last."""
        (folder / PIPELINE_FILE).unlink(missing_ok=True)
        self.units.save(folder)
        for language, units in self.own_units.items():
            with replacing(folder / own_model_file(language)) as file:
                file.write(units.model)
        for language, truecaser in self.truecasers.items():
            if truecaser != folder / f"truecaser.{language}":
                with replacing(folder / f"truecaser.{language}") as file:
                    file.write(truecaser.read_bytes())
        settings = {"units": self.units.name, "tokenisation": self.kinds, "mark_tokens": self.mark_tokens}
        if self.own_units:
            settings["own_subwords"] = [*self.own_units]
        with replacing(folder / PIPELINE_FILE) as file:
            file.write(json.dumps(settings, indent=1).encode("utf-8"))

    @classmethod
    def load(cls, folder: Path, before_pipelines: bool = False) -> "TextPipeline":
        """What `save` wrote; `InputError` for what is missing or damaged.

        `before_pipelines`: the folder is from a time when there were subwords alone, and no `pipeline.json`.
        """
        truecasers = {path.name.removeprefix("truecaser."): path for path in folder.glob("truecaser.*")}
        if before_pipelines and not truecasers and not (folder / PIPELINE_FILE).is_file():
            return cls(Subwords.load(folder))
        settings = read_json(folder / PIPELINE_FILE, "copy it from the data folder of the run", SETTINGS)
        with damage_of(folder / PIPELINE_FILE, "copy it from the data folder of the run"):
            for kind in settings["tokenisation"].values():
                check_kind(kind, KINDS)
        units = Words() if settings["units"] == Words.name else Subwords.load(folder)
        kinds, mark_tokens = settings["tokenisation"], settings["mark_tokens"]
        own_units = {
            language: Subwords(folder / own_model_file(language))
            for language in settings.get("own_subwords") or []
        }
        return cls(units, kinds, truecasers, mark_tokens, own_units)


def own_model_file(language: str) -> str:
    """The file of a language's own subwords."""
    return f"subwords.{language}.model"
