"""The decoder, packed for a search: one step of every hypothesis at a time.

Keys and values of a sentence's hypotheses are kept in the order in which they were made, the first step's one
and W of each later step, M in all. A mask says which of them are a hypothesis's own past. So nothing is
copied when a search goes on with other hypotheses, and those of a sentence meet its keys in one product.
"""

import math
from typing import NamedTuple

import torch
from fairseq.modules import MultiheadAttention
from torch import Tensor
from torch.nn import functional as F

from zsnmt.decoding.packed.encoder import PackedFeedForward, fuse_projections
from zsnmt.decoding.packed.language_blocks import PackedLanguageBlocks, rows_of_languages
from zsnmt.decoding.packed.linear import Linear, pack
from zsnmt.modules.decoder import Decoder
from zsnmt.modules.decoder_layer import DecoderLayer
from zsnmt.modules.self_attention import SelfAttention

STEPS = 32  # for which there is room, to begin with


class Output(NamedTuple):
    """What makes logits, as many as its `size`: of all symbols, or of those whose ids are `symbols` (as
    many).
    """

    project: Linear
    size: int
    symbols: Tensor | None = None


class PackedDecoder:
    """A trained decoder, step by step: the same log-probabilities, up to rounding of the precision."""

    def __init__(self, decoder: Decoder, precision: str) -> None:
        self.decoder = decoder
        self.layers = [PackedDecoderLayer(layer, precision) for layer in decoder.layers.children()]
        self.has_blocks = any(layer.of_languages for layer in self.layers)
        self.language = decoder.language_embedding
        if self.language is not None and self.language.project is not None:
            weight, width = self.language.project.weight, decoder.embed_dim
            self.project = pack(weight[:, :width], None, precision)
        self.precision = precision
        self.output = self.output_of(None)
        self.positions = None
        if decoder.embed_positions is not None:  # whatever the token, but for padding
            device = decoder.output_projection.weight.device
            anything = torch.full((1, decoder.max_positions()), decoder.padding_idx + 1, device=device)
            self.positions = decoder.embed_positions(anything)[0]

    def output_of(self, symbols: Tensor | None) -> Output:
        """The output projection of some symbols (n ids), or of all (None)."""
        weight, bias = self.decoder.output_projection.weight, self.decoder.output_projection.bias
        if symbols is not None:
            weight, bias = weight[symbols], None if bias is None else bias[symbols]
        return Output(pack(weight, bias, self.precision), len(weight), symbols)

    def begin(
        self,
        encoded: Tensor,
        padding_mask: Tensor | None,
        places: Tensor,
        starts: Tensor,
        output: Output | None = None,
    ) -> "DecoderState":
        """What the steps for N sentences need: states of the encoder (S×B×C) and their padding (B×S, True
        there, or None), which of them each sentence reads (N), and its first input (N); `output` has the
        symbols that are searched, all by default.
        """
        return DecoderState(
            self, encoded, padding_mask, places=places, starts=starts, output=output or self.output
        )

    def embed(self, tokens: Tensor, step: int, state: "DecoderState") -> Tensor:
        """From the tokens of a step (N×W) to the layers' input (N×W×C)."""
        decoder = self.decoder
        x = decoder.embed_tokens(tokens) * decoder.embed_scale
        if self.positions is not None:
            x = x + self.positions[step]
        if state.language is not None:
            x = x + state.language if state.language_bias is None else self.join(x, step, state)
        return x if decoder.layernorm_embedding is None else decoder.layernorm_embedding(x)

    def join(self, x: Tensor, step: int, state: "DecoderState") -> Tensor:
        """Input and language (N×W×C) concatenated and projected; the language stands for the first input,
        too.
        """
        return (self.project(state.language if step == 0 else x) + state.language_bias).relu_()


class DecoderState:
    """A search under way: N sentences with W hypotheses each (one at the first step), begun by
    `PackedDecoder.begin`, which has its arguments and their shapes.
    """

    def __init__(
        self,
        packed: PackedDecoder,
        encoded: Tensor,
        padding_mask: Tensor | None,
        places: Tensor,
        starts: Tensor,
        output: Output,
    ) -> None:
        self.packed, self.starts, self.output, self.step = packed, starts, output, 0
        self.group()
        self.language = self.language_bias = None
        if packed.language is not None:
            self.language = packed.language.table(packed.language.row_of_token[starts])[:, None]  # N×1×C
            if (project := packed.language.project) is not None:
                self.language_bias = F.linear(
                    self.language, project.weight[:, packed.decoder.embed_dim :], project.bias
                )
        self.memory_mask = None
        if padding_mask is not None:
            padded = padding_mask[places]  # N×S
            mask = encoded.new_zeros(padded.shape).masked_fill_(padded, -math.inf)
            self.memory_mask = mask[:, None, None]  # N×1×1×S
        # Each 2×N×H×S×d.
        self.memories = [layer.cross_attention.remember(encoded, places) for layer in packed.layers]
        self.pasts = [encoded.new_empty(0)] * len(packed.layers)  # each 2×N×H×M×d, with room for more
        # N×W×M: 0 at a hypothesis's own past, elsewhere -inf.
        self.seen = encoded.new_zeros((len(starts), 1, 0))
        self.times: list[int] = []  # the step of each of the M

    def group(self) -> None:
        """Find the rows of each language, where languages have blocks."""
        self.rows = rows_of_languages(self.starts) if self.packed.has_blocks else {}

    def logits(self, tokens: Tensor) -> Tensor:
        """One step: from the hypotheses' last tokens (N×W) to logits of the next (N×W×V), of the symbols that
        are searched alone.
        """
        own = self.seen.new_full((tokens.size(1),) * 2, -math.inf).fill_diagonal_(0)
        self.seen = torch.cat([self.seen, own.expand(len(tokens), -1, -1)], dim=-1)
        self.times += [self.step] * tokens.size(1)
        x = self.packed.embed(tokens, self.step, self)  # N×W×C
        for number, layer in enumerate(self.packed.layers):
            x = layer(x, self, number)
            if (adapters := self.packed.decoder.adapters) is not None:
                starts = self.starts.repeat_interleave(x.size(1))[:, None]
                x = adapters[number](x.flatten(0, 1)[None], starts)[0].unflatten(0, x.shape[:2])
        self.step += 1
        if self.packed.decoder.layer_norm is not None:
            x = self.packed.decoder.layer_norm(x)
        logits = self.output.project(x)
        if (vocabulary := self.packed.decoder.vocabulary) is not None:
            sizes = torch.tensor(vocabulary.sizes, device=logits.device)[
                self.starts[:, None].ge(vocabulary.borders).sum(-1)
            ]
            searched = self.output.symbols
            if searched is None:
                searched = torch.arange(logits.size(-1), device=logits.device)
            beyond = searched >= sizes[:, None]  # N×V
            logits = logits.masked_fill(beyond[:, None], -math.inf)
        return logits

    def room(self, number: int, heads: int, dim: int) -> Tensor:
        """Keys and values of a layer's past (2×N×H×≥M×d) with room for those of this step."""
        past, needed = self.pasts[number], self.seen.size(-1)
        if past.dim() == 1 or past.size(3) < needed:
            width = self.seen.size(1)
            wider = self.seen.new_empty((2, len(self.starts), heads, 2 * needed + STEPS * width, dim))
            if past.dim() > 1:
                wider[:, :, :, : past.size(3)] = past
            self.pasts[number] = past = wider
        return past

    def follow(self, parents: Tensor) -> None:
        """Go on with other hypotheses: for each (N×W) the one whose past it has."""
        self.seen = self.seen.gather(1, parents[..., None].expand(-1, -1, self.seen.size(-1)))

    def drop(self, order: Tensor, holes: Tensor, movers: Tensor) -> None:
        """Leave out sentences: `order` names those that stay (n), in which the `movers` (m), the last ones,
        stand in the `holes` (m).
        """
        made = self.seen.size(-1)
        for kept in (self.memories, self.pasts):
            for number, each in enumerate(kept):
                used = each[:, :, :, :made] if kept is self.pasts else each
                if len(holes):
                    used[:, holes] = used[:, movers]
                kept[number] = each[:, : len(order)]
        self.seen, self.starts = self.seen[order], self.starts[order]
        self.group()
        if self.memory_mask is not None:
            self.memory_mask = self.memory_mask[order]
        if self.language is not None:
            self.language = self.language[order]
        if self.language_bias is not None:
            self.language_bias = self.language_bias[order]


class PackedDecoderLayer:
    """A layer in the model's own order of norms."""

    def __init__(self, layer: DecoderLayer, precision: str) -> None:
        self.first = layer.normalize_before
        self.norms = layer.self_attn_layer_norm, layer.encoder_attn_layer_norm
        self.self_attention = PastAttention(layer.self_attn, precision)
        self.cross_attention = CrossAttention(layer.encoder_attn, precision)
        self.feed_forward = PackedFeedForward(layer, precision)
        blocks = layer.language_feed_forward
        self.of_languages = None if blocks is None else PackedLanguageBlocks(blocks, precision)

    def __call__(self, x: Tensor, state: DecoderState, number: int) -> Tensor:
        """From N×W×C to N×W×C."""
        attentions: tuple[PastAttention | CrossAttention, ...] = self.self_attention, self.cross_attention
        for norm, attention in zip(self.norms, attentions):
            x = x + attention(norm(x) if self.first else x, state, number)
            if not self.first:
                x = norm(x)
        if (blocks := self.of_languages) is None:
            return self.feed_forward(x)
        return self.feed_forward(x, add=lambda made, read: blocks.add(made, read, state.rows))


class CrossAttention:
    """Attention to the encoded sentence, whose keys and values are made once for all its hypotheses."""

    def __init__(self, attention: MultiheadAttention, precision: str) -> None:
        self.heads = attention.num_heads
        self.query = pack(*fuse_projections(attention.q_proj, scale=attention.scaling), precision)
        self.memory = pack(*fuse_projections(attention.k_proj, attention.v_proj), precision)
        self.output = pack(attention.out_proj.weight, attention.out_proj.bias, precision)

    def remember(self, encoded: Tensor, places: Tensor) -> Tensor:
        """Keys and values (2×N×H×S×d) of the encoder's states (S×B×C) at the sentences' places (N)."""
        made = self.memory(encoded).unflatten(-1, (2, self.heads, -1)).permute(2, 1, 3, 0, 4)  # 2×B×H×S×d
        return made.contiguous().index_select(1, places)

    def __call__(self, x: Tensor, state: DecoderState, number: int) -> Tensor:
        """From N×W×C to N×W×C; `number`: that of the layer, from 0."""
        q = self.query(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)  # N×H×W×d
        k, v = state.memories[number]
        logits = products(q, k.transpose(-1, -2))
        if state.memory_mask is not None:
            logits += state.memory_mask
        return self.output(products(logits.softmax(dim=-1), v).transpose(1, 2).flatten(2))


class PastAttention:
    """Attention of a hypothesis to its own past, with relative positions where the model has them."""

    def __init__(self, attention: SelfAttention, precision: str) -> None:
        self.heads = attention.num_heads
        self.project = pack(
            *fuse_projections(attention.q_proj, attention.k_proj, attention.v_proj, scale=attention.scaling),
            precision,
        )
        self.output = pack(attention.out_proj.weight, attention.out_proj.bias, precision)
        self.terms, self.relative_values = attention.logit_terms, attention.relative_values

    def __call__(self, x: Tensor, state: DecoderState, number: int) -> Tensor:
        """From N×W×C to N×W×C; `number`: that of the layer, from 0."""
        q, *new = self.project(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)  # N×H×W×d each
        past, made = state.room(number, self.heads, q.size(-1)), state.seen.size(-1)
        for each, kept in zip(new, past):
            kept[:, :, made - x.size(1) : made] = each
        k, v = past[:, :, :, :made]
        logits = products(q, k.transpose(-1, -2)).add_(state.seen[:, None])  # N×H×W×M
        if not self.terms and self.relative_values is None:
            attended = products(logits.softmax(dim=-1), v)
        else:
            attended = self.relative(q, logits, v, times=torch.tensor(state.times, device=x.device))
        return self.output(attended.transpose(1, 2).flatten(2))

    def relative(self, q: Tensor, logits: Tensor, v: Tensor, times: Tensor) -> Tensor:
        """From queries (N×H×W×d), masked logits (N×H×W×M) and values (N×H×M×d) to N×H×W×d, with relative keys
        and values: a query is the last of all steps, a key of a step of its own (`times`, M).
        """
        alone, steps = q.flatten(1, 2)[:, :, None], int(times[-1]) + 1  # N×HW×1×d
        for term in self.terms:
            by_step = term(alone, alone.new_empty((1, 1, steps, 0)), 1.0)  # N×HW×1×steps
            logits = logits + by_step.unflatten(1, q.shape[1:3]).squeeze(3)[..., times]
        weights = logits.softmax(dim=-1)
        attended = products(weights, v)
        if self.relative_values is not None:
            by_step = weights.new_zeros((*weights.shape[:3], steps)).index_add_(-1, times, weights)
            values = self.relative_values(by_step.flatten(1, 2)[:, :, None])  # N×HW×1×d
            attended = attended + values.squeeze(2).unflatten(1, q.shape[1:3])
        return attended


def products(a: Tensor, b: Tensor) -> Tensor:
    """a @ b for each sentence and head (N×H×…×…); `matmul` takes another, slower way where b is part of a
    larger tensor.
    """
    return torch.bmm(a.flatten(0, 1), b.flatten(0, 1)).unflatten(0, a.shape[:2])
