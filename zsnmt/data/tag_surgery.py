"""Batches with other languages, or the other side, where their tags stand; the given batch stays as it is."""

import torch
from torch import Tensor

from zsnmt.data.language_tags import TagPlacement


class TagSurgery:
    """What a tag placement makes of a batch whose languages change.

    Inputs are those of a model: `src_tokens`, `src_lengths` and `prev_output_tokens`, all padded on any side.
    Languages are ids of their tags (B). New sources are padded on the left unless `left_pad_source` is false.
    """

    def __init__(self, placement: TagPlacement, left_pad_source: bool = True) -> None:
        self.left_pad_source = left_pad_source
        self.pad, self.eos = placement.dictionary.pad(), placement.dictionary.eos()
        self.sides, self.decoder = placement.sides, placement.starts_decoder

    def target_language(self, inputs: dict) -> Tensor:
        """The language (B) that each row is translated into, read from its tags."""
        if self.decoder:
            tokens, place = inputs["prev_output_tokens"], 0
        else:
            tokens, place = inputs["src_tokens"], self.sides.index("target")
        return tokens.gather(1, self.places(tokens, place)).squeeze(1)

    def replace_target_language(self, inputs: dict, languages: Tensor) -> dict:
        """The same sentences, to be translated into other languages (B): only the tags of the target
        change.
        """
        changed = dict(inputs)
        if "target" in self.sides:
            changed["src_tokens"] = self.replace_token(
                inputs["src_tokens"], self.sides.index("target"), languages
            )
        if self.decoder:
            changed["prev_output_tokens"] = self.replace_token(inputs["prev_output_tokens"], 0, languages)
        return changed

    def from_sentences(self, sentences: Tensor, *, source: Tensor, target: Tensor) -> dict:
        """Sources of sentences (B×T, EOS last), with the tags of their languages (B) and those that they are
        translated into (B).
        """
        languages = {"source": source, "target": target}
        tags = [languages[side].unsqueeze(1) for side in self.sides]
        tokens = self.pad_source(torch.cat([*tags, sentences], dim=1))
        return {"src_tokens": tokens, "src_lengths": tokens.ne(self.pad).sum(dim=1)}

    def target_as_source(self, sample: dict, limit: int | None = None) -> dict:
        """The inputs for a copy of the target: the target sentence as the source, in the target language.

        What the decoder reads stays. A sentence is cut where source and tags would be longer than `limit`.
        """
        inputs, room = sample["net_input"], None if limit is None else limit - len(self.sides)
        language = self.target_language(inputs)
        sentences = self.cut(sample["target"], room)
        sources = self.from_sentences(sentences, source=language, target=language)
        return {**sources, "prev_output_tokens": inputs["prev_output_tokens"]}

    def cut(self, sentences: Tensor, room: int | None) -> Tensor:
        """Sentences (B×T, EOS last, padded on the right) of at most so many tokens, EOS among them."""
        if room is None or sentences.size(1) <= room:
            return sentences
        sentences = sentences[:, :room].clone()
        is_cut = sentences[:, -1].ne(self.pad)
        sentences[is_cut, -1] = self.eos
        return sentences

    def remove_tags(self, src_tokens: Tensor) -> Tensor:
        """The sentences of sources (B×T), EOS last, padded on the right; shorter by the tags."""
        aligned = move_padding(src_tokens, self.pad, left=False)
        return aligned[:, len(self.sides) :]

    def pad_source(self, tokens: Tensor) -> Tensor:
        """Rows (B×T) with padding anywhere as sources, padded on their side."""
        return move_padding(tokens, self.pad, left=self.left_pad_source)

    def places(self, tokens: Tensor, place: int) -> Tensor:
        """Where in each row (B×T) a token of that place stands, padding not counted: B×1."""
        return tokens.ne(self.pad).int().argmax(dim=1, keepdim=True) + place

    def replace_token(self, tokens: Tensor, place: int, by: Tensor) -> Tensor:
        """The rows (B×T) with another token (B) in that place."""
        return tokens.scatter(1, self.places(tokens, place), by.unsqueeze(1))


def move_padding(tokens: Tensor, pad: int, left: bool) -> Tensor:
    """The same tokens in their order (B×T), the padding of each row on one side."""
    order = tokens.ne(pad).int().argsort(dim=1, stable=True, descending=not left)
    return tokens.gather(1, order)


def stack(parts: list[Tensor], pad: int, left: bool) -> Tensor:
    """Rows of several batches (each B×T) as one batch of the greatest length, padded on one side."""
    width = max(part.size(1) for part in parts)
    return torch.cat(
        [
            torch.nn.functional.pad(
                part, (width - part.size(1), 0) if left else (0, width - part.size(1)), value=pad
            )
            for part in parts
        ]
    )
