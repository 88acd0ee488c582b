"""The text pipeline of a zsnmt model as a tokenizer of transformers: subwords or words, and language tags."""

import json
import re
import shutil
from base64 import b64decode
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from unicodedata import normalize

import sentencepiece
import torch
from transformers import PreTrainedTokenizer

from zsnmt.text.piece_restriction import restrict_pieces
from zsnmt.text.unspaced import join_texts

SPACE = "\u2581"  # to SentencePiece, which marks the beginnings of words with it
SYMBOL = re.compile(r"</?s>|<pad>|<unk>|__\w+__")  # what a word must not become
MARK = ":"  # behind the language of a piece
FILES = {"vocab_file": "vocab.json", "subwords_file": "subwords.model", "text_file": "text.json"}
SPECIAL = {"bos_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
AT_ONCE = 64  # sentences


class ZsnmtTokenizer(PreTrainedTokenizer):
    """Raw text of `src_lang` into the tokens that the model reads to write `tgt_lang`, and back.

    `source_tags`: the sides, `source` or `target`, whose tags stand at the head of the source, in this order;
    `decoder_tag`: the one whose tag is the decoder's first input, or None for the end-of-sentence symbol;
    `start_token_id` gives its id. `max_target_length`: tokens that the model writes at most. Text that spells
    a tag or `</s>` stays text.
    """

    vocab_files_names = FILES
    model_input_names = ["input_ids", "attention_mask"]

    def __init__(
        self,
        vocab_file: str,
        text_file: str,
        subwords_file: str | None = None,
        *,
        languages: Sequence[str] = (),
        source_tags: Sequence[str] = (),
        decoder_tag: str | None = None,
        max_target_length: int = 1024,
        src_lang: str | None = None,
        tgt_lang: str | None = None,
        **options: Any,
    ) -> None:
        self.files = {"vocab_file": vocab_file, "subwords_file": subwords_file, "text_file": text_file}
        self.ids: dict[str, int] = json.loads(Path(vocab_file).read_text(encoding="utf-8"))
        self.symbols = sorted(self.ids, key=self.ids.__getitem__)
        self.text: dict[str, Any] = json.loads(Path(text_file).read_text(encoding="utf-8"))
        self.languages, self.source_tags, self.decoder_tag = [*languages], [*source_tags], decoder_tag
        self.max_target_length = max_target_length
        self.src_lang, self.tgt_lang, self.writes_target = src_lang, tgt_lang, False
        self.processors = {} if subwords_file is None else self.load_processors(Path(subwords_file))
        tags = [self.tag(language) for language in self.languages]
        self.dropped = {*map(self.ids.get, (*SPECIAL.values(), *tags))}  # where special tokens are skipped
        settings = dict(languages=self.languages, source_tags=self.source_tags, decoder_tag=decoder_tag)
        super().__init__(
            **{**SPECIAL, **options},
            **settings,
            max_target_length=max_target_length,
            src_lang=src_lang,
            tgt_lang=tgt_lang,
        )

    def load_processors(self, model: Path) -> dict[str, sentencepiece.SentencePieceProcessor]:
        """SentencePiece with the pieces of each language, and, by the name "", with all."""
        content = model.read_bytes()
        restricted = {
            language: restrict_pieces(content, frozenset(pieces))
            for language, pieces in self.text["vocabularies"].items()
        }
        own = {language: b64decode(model) for language, model in self.text["own_subwords"].items()}
        models = {"": content} | restricted | own
        return {
            language: sentencepiece.SentencePieceProcessor(model_proto=of_language)
            for language, of_language in models.items()
        }

    # Languages and their tags

    @property
    def needs_source(self) -> bool:
        """Whether the language of a source must be said."""
        return self.text["needs_language"] or "source" in self.source_tags

    def tag(self, language: str) -> str:
        """The symbol of a language."""
        return f"__{language}__"

    def known(self, language: str | None, what: str) -> str:
        """A language; `ValueError` for one that is missing or unknown to the model."""
        if language not in self.languages:
            raise ValueError(f"{what} is {language!r}; give one of {', '.join(self.languages)}")
        return language

    def tag_ids(self, sides: Iterable[str]) -> list[int]:
        """Ids of the tags of the languages that are set, for some sides."""
        set_now = {"source": (self.src_lang, "src_lang"), "target": (self.tgt_lang, "tgt_lang")}
        return [self.ids[self.tag(self.known(*set_now[side]))] for side in sides]

    def start_token_id(self, tgt_lang: str | None = None) -> int:
        """What `generate` takes as decoder_start_token_id to write a language, by default that which is
        set.
        """
        if tgt_lang is not None:
            self.tgt_lang = tgt_lang
        return self.ids["</s>"] if self.decoder_tag is None else self.tag_ids([self.decoder_tag])[0]

    # Text into tokens

    def tokenise(self, text: str, language: str) -> str:
        """Words and punctuation marks with spaces between them; here, the text."""
        return text

    def detokenise(self, text: str, language: str) -> str:
        """The way back."""
        return text

    def tokenize(self, text: str, **options: Any) -> list[str]:
        """The pieces of a text in the language that is set."""
        language = self.tgt_lang if self.writes_target else self.src_lang
        if self.text["needs_language"]:
            language = self.known(language, "tgt_lang" if self.writes_target else "src_lang")
        pieces = self.pieces(self.tokenise(text, language or ""), language or "")
        return [f"{language}{MARK}{piece}" for piece in pieces] if self.text["mark_tokens"] else pieces

    def pieces(self, tokens: str, language: str) -> list[str]:
        """Pieces that the model knows, and single characters."""
        if not self.processors:  # units are words
            words = tokens.split()
            return [part for word in words for part in (word if SYMBOL.fullmatch(word) else (word,))]
        processor = self.processors.get(language, self.processors[""])
        pieces = processor.encode(" ".join(tokens.replace(SPACE, " ").split()), out_type=str)
        # SentencePiece keeps a run of unknown characters in one piece.
        unknown = processor.unk_id()
        return [
            part
            for piece in pieces
            for part in (piece if processor.piece_to_id(piece) == unknown else (piece,))
        ]

    def build_inputs_with_special_tokens(
        self, token_ids_0: list[int], token_ids_1: list[int] | None = None
    ) -> list[int]:
        """A source with the tags at its head and EOS; what the model writes with EOS alone."""
        tags = [] if self.writes_target else self.tag_ids(self.source_tags)
        return [*tags, *token_ids_0, *(token_ids_1 or []), self.ids["</s>"]]

    def get_special_tokens_mask(
        self,
        token_ids_0: list[int],
        token_ids_1: list[int] | None = None,
        already_has_special_tokens: bool = False,
    ) -> list[int]:
        """1 at tags, EOS and padding, 0 at tokens of the text, unknown ones among them."""
        if not already_has_special_tokens:
            token_ids_0 = self.build_inputs_with_special_tokens(token_ids_0, token_ids_1)
        special = self.dropped - {self.ids["<unk>"]}
        return [int(number in special) for number in token_ids_0]

    def _switch_to_input_mode(self) -> None:
        self.writes_target = False

    def _switch_to_target_mode(self) -> None:
        self.writes_target = True

    # Tokens into text

    def convert_tokens_to_string(self, tokens: Sequence[str]) -> str:
        """The text of pieces, in the language that is written."""
        if self.text["mark_tokens"]:
            tokens = [token.partition(MARK)[2] for token in tokens]
        joined = "".join(tokens) if self.processors else " ".join(tokens)
        words = " ".join(joined.replace(SPACE, " ").split()) if self.processors else joined
        return self.detokenise(words, self.tgt_lang or "")

    def _decode(self, token_ids: Any, skip_special_tokens: bool = False, **options: Any) -> str:
        ids = [token_ids] if isinstance(token_ids, int) else [*token_ids]
        if not skip_special_tokens:
            return " ".join(map(self._convert_id_to_token, ids))
        return self.convert_tokens_to_string(
            [self._convert_id_to_token(number) for number in ids if number not in self.dropped]
        )

    # Raw text in, raw text out

    def translate(
        self,
        model: Any,
        texts: Sequence[str],
        target: str,
        source: str | None = None,
        *,
        via: str | None = None,
        **options: Any,
    ) -> list[str]:
        """A translation of each text, through another language if `via` is given; `options` are of
        `model.generate`.

        What is empty stays empty, what is longer than the model reads is translated in parts. An output has
        at most 1.2 times as many tokens as its source, and 50 more; of a batch, the longest source counts.
        `ValueError` for a single text in place of several, for an unknown language, for one into itself, and
        for options by which `generate` gives something else than one output for each text.
        """
        if isinstance(texts, str):
            raise ValueError("texts is a single text; give a list of texts, as in [text]")
        if via is not None:
            texts, source = self.translate(model, texts, via, source=source, **options), via
        self._switch_to_input_mode()  # in which transformers does not leave it where it refused a target
        self.src_lang, self.tgt_lang = source, self.known(target, "target")
        if self.needs_source or source is not None:
            self.known(source, "source")
        if source == target:
            raise ValueError(f"source and target are both {target!r}; give two languages")
        parts = [(place, ids) for place, text in enumerate(texts) for ids in self.parts(text)]
        order = sorted(range(len(parts)), key=lambda part: -len(parts[part][1]))
        written = [""] * len(parts)
        for begin in range(0, len(order), AT_ONCE):
            batch = order[begin : begin + AT_ONCE]
            for part, text in zip(batch, self.generate(model, [parts[part][1] for part in batch], options)):
                written[part] = text
        translations = [""] * len(texts)
        for (place, _), text in zip(parts, written):
            translations[place] = join_texts([translations[place], text.strip()])
        return translations

    def best_spelt(self, text: str) -> list[str]:
        """The pieces of a text, in another of Unicode's equal spellings where the model lacks fewer of them:
        an accent may stand within its letter or behind it.
        """
        pieces = self.tokenize(text)
        if not self.lacking(pieces):
            return pieces
        others = [self.tokenize(normalize(form, text)) for form in ("NFC", "NFD")]
        return min((pieces, *others), key=self.lacking)

    def lacking(self, pieces: Iterable[str]) -> int:
        """How many of some pieces the model does not know."""
        return sum(piece not in self.ids for piece in pieces)

    def parts(self, text: str) -> list[list[int]]:
        """Tokens of a text, in parts that the model can read, cut before words; none of an empty text."""
        pieces, parts, room = self.best_spelt(text), [], self.model_max_length - len(self.source_tags) - 1
        while pieces:
            cut = room
            if len(pieces) > room:
                cut = max((i for i in range(1, room + 1) if self.starts_word(pieces[i])), default=room)
            ids = [self.ids.get(piece, self.ids["<unk>"]) for piece in pieces[:cut]]
            parts.append(self.build_inputs_with_special_tokens(ids))
            pieces = pieces[cut:]
        return parts

    def starts_word(self, piece: str) -> bool:
        """Whether a word begins with a piece."""
        unmarked = piece.partition(MARK)[2] if self.text["mark_tokens"] else piece
        return not self.processors or unmarked.startswith(SPACE)

    def generate(self, model: Any, batch: Sequence[list[int]], options: dict) -> list[str]:
        """What a model writes for a batch of sources."""
        longest = max(map(len, batch))
        limit = min(int(1.2 * longest + 50), self.max_target_length - 1) + 1
        padded = self.pad({"input_ids": [*batch]}, return_tensors="pt").to(model.device)
        settings = {"max_new_tokens": limit, "decoder_start_token_id": self.start_token_id(), **options}
        with torch.inference_mode():
            outputs = model.generate(**padded, **settings)
        if not isinstance(outputs, torch.Tensor) or len(outputs) != len(batch):
            raise ValueError(
                "translate gives one translation of each text, and these options something else: leave out "
                "num_return_sequences and return_dict_in_generate, or call model.generate itself"
            )
        return self.batch_decode(outputs, skip_special_tokens=True)

    # What transformers asks for

    @property
    def vocab_size(self) -> int:
        return len(self.symbols)

    def get_vocab(self) -> dict[str, int]:
        return dict(self.ids)

    def _convert_token_to_id(self, token: str) -> int:
        return self.ids.get(token, self.ids["<unk>"])

    def _convert_id_to_token(self, index: int) -> str:
        if not 0 <= index < len(self.symbols):
            raise ValueError(
                f"{index} is not the id of a token, which are 0 to {len(self.symbols) - 1}; labels have "
                "-100 at padding: put pad_token_id there before you decode them"
            )
        return self.symbols[index]

    def save_vocabulary(self, save_directory: str, filename_prefix: str | None = None) -> tuple[str, ...]:
        """Copies the files that were read."""
        written = []
        for name, file in self.files.items():
            if file is not None:
                there = Path(save_directory) / "-".join(filter(None, (filename_prefix, FILES[name])))
                if not there.exists() or not there.samefile(file):
                    shutil.copyfile(file, there)
                written.append(str(there))
        return tuple(written)
