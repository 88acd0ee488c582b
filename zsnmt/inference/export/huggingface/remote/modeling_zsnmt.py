"""A zsnmt model in transformers: M2M100, with the seams of zsnmt filled by its own modules.

Attention, layers and stacks are told from the stock ones by their `forward`, which has places for the seams;
parameters have their stock names. Masks of padding are True at padding, as in zsnmt.
"""

from collections.abc import Callable, Sequence
from functools import wraps
from inspect import signature
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import AutoTokenizer, M2M100ForConditionalGeneration
from transformers.cache_utils import Cache, DynamicCache, EncoderDecoderCache
from transformers.modeling_outputs import (
    BaseModelOutput,
    BaseModelOutputWithPastAndCrossAttentions,
    Seq2SeqLMOutput,
)
from transformers.models.m2m_100.modeling_m2m_100 import (
    M2M100Attention,
    M2M100Decoder,
    M2M100DecoderLayer,
    M2M100Encoder,
    M2M100EncoderLayer,
)

from zsnmt.inference.export.huggingface.remote.configuration_zsnmt import ZsnmtConfig
from zsnmt.modules.attention_residual import KeepResidual, MeanPoolResidual, RemoveResidual
from zsnmt.modules.language_adapter import LanguageAdapters
from zsnmt.modules.language_embedding import LanguageEmbedding
from zsnmt.modules.language_feed_forward import LanguageFeedForward
from zsnmt.modules.position_query import PositionQuery
from zsnmt.modules.positions import TupePositions
from zsnmt.modules.relative_attention import RelativeKeys, RelativeKeysAndQueries, RelativeValues
from zsnmt.modules.target_language import TargetLanguage

ARGUMENTS = [*signature(M2M100ForConditionalGeneration.forward).parameters][1:]  # without self
RESIDUALS = {"keep": KeepResidual, "remove": RemoveResidual, "mean_pool": MeanPoolResidual}


class LearnedPositions(nn.Embedding):
    """A table of positions, counted from the row after that of padding; called as the stock sinusoids are."""

    def forward(self, tokens: Tensor, embedded: Tensor, past: int = 0) -> Tensor:
        """From tokens (B×T), of which so many came before, to B×T×C."""
        is_token = tokens.ne(self.padding_idx).long()
        return super().forward((is_token.cumsum(dim=1) + past) * is_token + self.padding_idx)


class NoPositions(nn.Module):
    """Nothing in the place of positions; called as the stock sinusoids are."""

    def forward(self, tokens: Tensor, embedded: Tensor, past: int = 0) -> Tensor:
        """Zeros (B×T×C)."""
        return torch.zeros_like(embedded)


def input_positions(stock: nn.Module, kind: str, config: ZsnmtConfig, longest: int) -> nn.Module:
    """What the input of a stack has of positions; its sinusoids are `stock`."""
    if kind == "sinusoidal":
        return stock
    padding = config.pad_token_id
    return (
        LearnedPositions(longest + padding + 1, config.d_model, padding)
        if kind == "learned"
        else NoPositions()
    )


class SelfAttention(M2M100Attention):
    """With terms of the logits, values of relative positions, another scale, or a query of its own.

    `relative`: `terms`, pairs of a name (`key`, `key_query` or `key_query_product`) and the distance beyond
    which offsets are one, and `values`, that of the values, or None.
    """

    def __init__(
        self, config: ZsnmtConfig, heads: int, relative: dict | None = None, layer: int | None = None
    ) -> None:
        super().__init__(
            config.d_model, heads, dropout=config.attention_dropout, config=config, layer_idx=layer
        )
        self.logit_terms, self.relative_values = nn.ModuleList(), None
        if relative is not None:
            self.logit_terms.extend(logit_term(kind, k, self.head_dim) for kind, k in relative["terms"])
            if relative["values"] is not None:
                self.relative_values = RelativeValues(relative["values"], self.head_dim)

    def forward(
        self, x: Tensor, bias: Tensor, query: Tensor | None = None, past: Cache | None = None
    ) -> Tensor:
        """From x (B×T×C), what is added to the logits (broadcast to B×H×T×S), what the query is made of
        unless of x, and the keys and values of S−T steps before, to B×T×C.
        """
        q, k, v = (
            projection(each).unflatten(-1, (self.num_heads, self.head_dim)).transpose(1, 2)  # B×H×T×d
            for projection, each in (
                (self.q_proj, x if query is None else query),
                (self.k_proj, x),
                (self.v_proj, x),
            )
        )
        if past is not None:
            k, v = past.update(k, v, self.layer_idx)
        logits = (q * self.scaling) @ k.transpose(-1, -2) + bias
        for term in self.logit_terms:
            logits = logits + term(q, k, self.scaling)
        weights = logits.softmax(dim=-1, dtype=torch.float32).type_as(q)
        weights = F.dropout(weights, self.dropout, self.training)
        attended = weights @ v
        if self.relative_values is not None:
            attended = attended + self.relative_values(weights)
        return self.out_proj(attended.transpose(1, 2).flatten(2))


def logit_term(kind: str, distance: int, dim: int) -> nn.Module:
    """A term of the logits by its name."""
    if kind == "key":
        return RelativeKeys(distance, dim)
    return RelativeKeysAndQueries(distance, dim, product=kind == "key_query_product")


class Blocks(nn.Module):
    """What the layers of both stacks have in common."""

    normalizes_before: bool

    def block(
        self, x: Tensor, norm: nn.Module, function: Callable[[Tensor], Tensor], join: Callable | None = None
    ) -> Tensor:
        """A block of a layer, with its normalisation before or after it, and with its input added unless
        `join` does something else with output and input.
        """
        made = F.dropout(function(norm(x) if self.normalizes_before else x), self.dropout, self.training)
        joined = x + made if join is None else join(made, x)
        return joined if self.normalizes_before else norm(joined)

    def feed_forward(self, x: Tensor) -> Tensor:
        """From …×C to …×C."""
        x = F.dropout(self.activation_fn(self.fc1(x)), self.activation_dropout, self.training)
        return self.fc2(x)


class EncoderLayer(Blocks, M2M100EncoderLayer):
    """With seams in the place of both residual connections, of the attention's query and of its logits."""

    def __init__(self, config: ZsnmtConfig, number: int) -> None:
        super().__init__(config)
        self.normalizes_before = config.normalization == "pre"
        relative = layer_value(config.encoder_relative, number)
        self.self_attn = SelfAttention(config, config.encoder_attention_heads, relative)
        self.attention_residual = RESIDUALS[layer_value(config.encoder_attention_residuals, number, "keep")]()
        self.feed_forward_residual = RESIDUALS[
            layer_value(config.encoder_feed_forward_residuals, number, "keep")
        ]()
        base = layer_value(config.encoder_position_queries, number)
        self.position_query = None if base is None else PositionQuery(config.d_model, base)
        self.is_told = layer_value(config.encoder_told_layers, number, False)
        self.has_position_bias = layer_value(config.encoder_position_bias_layers, number, False)
        if self.has_position_bias:
            self.self_attn.scaling = (2 * self.self_attn.head_dim) ** -0.5

    def forward(self, x: Tensor, padding: Tensor, bias: Tensor, position_bias: Tensor | None) -> Tensor:
        """x: B×T×C; padding: B×T; both biases broadcast to B×H×T×T. Returns B×T×C."""
        if self.has_position_bias:
            bias = bias + position_bias

        def attend(x: Tensor) -> Tensor:
            query = None
            if self.position_query is not None:
                query = self.position_query(x.transpose(0, 1), padding).transpose(0, 1)
            return self.self_attn(x, bias, query)

        def joined(residual: nn.Module) -> Callable:  # which takes T×B×C
            return lambda made, x: residual(made.transpose(0, 1), x.transpose(0, 1), padding).transpose(0, 1)

        x = self.block(x, self.self_attn_layer_norm, attend, join=joined(self.attention_residual))
        return self.block(
            x, self.final_layer_norm, self.feed_forward, join=joined(self.feed_forward_residual)
        )


class DecoderLayer(Blocks, M2M100DecoderLayer):
    """With seams in its self-attention, and languages' blocks beside its feed-forward block."""

    def __init__(self, config: ZsnmtConfig, number: int) -> None:
        super().__init__(config, number)
        self.normalizes_before = config.normalization == "pre"
        relative = layer_value(config.decoder_relative, number)
        self.self_attn = SelfAttention(config, config.decoder_attention_heads, relative, layer=number)
        self.language_feed_forward = None
        if blocks := layer_value(config.decoder_language_feed_forward, number):
            sizes = blocks["tags"], config.d_model, blocks["dim"]
            self.language_feed_forward = LanguageFeedForward(*sizes, dropout=nn.Dropout(config.dropout))

    def forward(
        self,
        x: Tensor,
        bias: Tensor,
        encoded: Tensor,
        encoded_bias: Tensor,
        past: EncoderDecoderCache | None,
        languages: Tensor,
    ) -> Tensor:
        """x: B×T×C; encoded: B×S×C; the biases broadcast to B×H×T×…; languages: their tags (B×1). Returns
        B×T×C.
        """
        own_past = None if past is None else past.self_attention_cache

        def look_back(x: Tensor) -> Tensor:
            return self.encoder_attn(
                x, key_value_states=encoded, attention_mask=encoded_bias, past_key_values=past
            )[0]

        def feed_forward(x: Tensor) -> Tensor:
            made = self.feed_forward(x)
            if self.language_feed_forward is None:
                return made
            return made + self.language_feed_forward(x.transpose(0, 1), languages[:, 0]).transpose(0, 1)

        x = self.block(x, self.self_attn_layer_norm, lambda x: self.self_attn(x, bias, past=own_past))
        x = self.block(x, self.encoder_attn_layer_norm, look_back)
        return self.block(x, self.final_layer_norm, feed_forward)


class Encoder(M2M100Encoder):
    """The stock encoder, of layers with seams."""

    def __init__(self, config: ZsnmtConfig) -> None:
        super().__init__(config)
        longest = config.max_source_positions
        self.embed_positions: nn.Module = input_positions(
            self.embed_positions, config.encoder_positions, config, longest=longest
        )
        self.layernorm_embedding = norm_if(config.layernorm_embedding, config.d_model)
        self.layers = nn.ModuleList(EncoderLayer(config, number) for number in range(config.encoder_layers))
        self.layer_norm = norm_if(config.normalization == "pre", config.d_model)
        self.target_language = hidden_tag(config, config.pad_token_id)
        self.position_bias = None
        if config.encoder_position_bias is not None:
            sizes = longest, config.d_model, config.encoder_attention_heads
            self.position_bias = TupePositions(*sizes, relative=config.encoder_position_bias == "relative")
        self.post_init()

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        inputs_embeds: Tensor | None = None,
        output_hidden_states: bool | None = None,
        **others: Any,
    ) -> BaseModelOutput:
        """From tokens (B×T) and, where it is given, which of them are no padding (1, else 0), to B×T×C."""
        if input_ids is None:
            raise ValueError("give input_ids: positions are counted by them, and inputs_embeds do not tell")
        told = None
        if self.target_language is not None:
            input_ids, tags = self.target_language(input_ids)
            told = self.embed_tokens(tags)  # B×1×C
        is_token = input_ids.ne(self.padding_idx)
        if attention_mask is not None:
            is_token = is_token & attention_mask.bool()
        embedded = self.embed_tokens(input_ids)
        x = self.layernorm_embedding(embedded + self.embed_positions(input_ids, embedded))
        x = F.dropout(x, self.dropout, self.training)
        padding, bias = ~is_token, padding_bias(is_token, x)
        x = x.masked_fill(padding.unsqueeze(-1), 0.0)
        position_bias = None
        if self.position_bias is not None:
            position_bias = self.position_bias(padding, x.size(1)).type_as(x)
        states = [x]
        for layer in self.layers:
            x = x + told if layer.is_told else x
            x = layer(x, padding, bias, position_bias)
            states.append(x)
        return BaseModelOutput(self.layer_norm(x), tuple(states) if output_hidden_states else None)


class Decoder(M2M100Decoder):
    """The stock decoder, of layers with seams, with the language in its input."""

    def __init__(self, config: ZsnmtConfig) -> None:
        super().__init__(config)
        longest = config.max_target_positions
        self.embed_positions: nn.Module = input_positions(
            self.embed_positions, config.decoder_positions, config, longest=longest
        )
        self.layernorm_embedding = norm_if(config.layernorm_embedding, config.d_model)
        self.layers = nn.ModuleList(DecoderLayer(config, number) for number in range(config.decoder_layers))
        self.layer_norm = norm_if(config.decoder_final_norm, config.d_model)
        self.hidden_tag = hidden_tag(config, padding=0)
        self.adapters = self.language_embedding = None
        if (adapters := config.decoder_adapters) is not None:
            self.adapters = nn.ModuleList(
                LanguageAdapters(adapters["tags"], config.d_model, adapters["dim"]) for _ in self.layers
            )
        if config.language_embedding != "none":
            sizes = config.vocab_size, config.d_model
            self.language_embedding = LanguageEmbedding(
                config.language_tags, *sizes, combination=config.language_embedding
            )
            rows = self.language_embedding.row_of_token
            # In the file of weights, as transformers 5 does not compute what is in none.
            self.language_embedding.register_buffer("row_of_token", rows, persistent=True)
        self.post_init()

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        encoder_hidden_states: Any = None,
        encoder_attention_mask: Tensor | None = None,
        past_key_values: EncoderDecoderCache | None = None,
        use_cache: bool | None = None,
        output_hidden_states: bool | None = None,
        **others: Any,
    ) -> BaseModelOutputWithPastAndCrossAttentions:
        """From tokens (B×T; with a cache only the new ones) and the encoder's states (B×S×C) to B×T×C."""
        if input_ids is None:
            raise ValueError("give decoder_input_ids: the language and positions are read from them")
        if past_key_values is None and use_cache and not self.training:
            past_key_values = EncoderDecoderCache(DynamicCache(), DynamicCache())
        past = 0 if past_key_values is None else past_key_values.get_seq_length()
        embedded = self.embed_tokens(input_ids)
        x = embedded + self.embed_positions(input_ids, embedded, past)
        first = first_tokens(input_ids, past_key_values)
        if self.language_embedding is not None:  # which tells by the number of tokens whether x has the tag
            x = self.language_embedding(x, torch.cat([first, input_ids], dim=1) if past else input_ids)
        x = F.dropout(self.layernorm_embedding(x), self.dropout, self.training)
        bias = causal_bias(x, past)
        if attention_mask is not None:
            bias = bias + padding_bias(attention_mask.bool(), x)
        every = torch.ones(encoder_hidden_states.shape[:2], dtype=torch.bool, device=x.device)
        is_source = every if encoder_attention_mask is None else encoder_attention_mask.bool()
        if self.hidden_tag is not None:
            is_source = self.hidden_tag(is_source.long())[0].bool()
        encoded_bias = padding_bias(is_source, x).expand(-1, -1, x.size(1), -1)
        states = [x]
        for number, layer in enumerate(self.layers):
            x = layer(x, bias, encoder_hidden_states, encoded_bias, past_key_values, first)
            if self.adapters is not None:
                x = self.adapters[number](x.transpose(0, 1), first).transpose(0, 1)
            states.append(x)
        return BaseModelOutputWithPastAndCrossAttentions(
            self.layer_norm(x), past_key_values, tuple(states) if output_hidden_states else None
        )


class ZsnmtForConditionalGeneration(M2M100ForConditionalGeneration):
    """M2M100 with stacks that have seams; `translate` takes raw text."""

    config_class = ZsnmtConfig
    _supports_flash_attn = _supports_flex_attn = _can_compile_fullgraph = False

    def __init__(self, config: ZsnmtConfig) -> None:
        super().__init__(config)
        self.model.encoder, self.model.decoder = Encoder(config), Decoder(config)
        self.tokenizer: Any = None  # loaded where it is needed
        self.post_init()

    @wraps(M2M100ForConditionalGeneration.forward)  # `generate` reads the names of its arguments
    def forward(self, *arguments: Any, **options: Any) -> Seq2SeqLMOutput:
        """The stock method; in a vocabulary that grew, logits are -inf where the language cannot write, and
        the loss is theirs.
        """
        if not self.config.vocabulary_sizes:
            return super().forward(*arguments, **options)
        options |= zip(ARGUMENTS, arguments)
        labels = options.pop("labels", None)
        made = super().forward(**options)
        past, tokens = made.past_key_values, options["decoder_input_ids"]
        first = tokens[:, :1] if past is None else past.first_tokens
        *borders, size = torch.tensor(self.config.vocabulary_sizes, device=first.device)
        stages = first.ge(torch.stack(borders)).sum(dim=1)  # B
        beyond = torch.arange(size, device=first.device) >= torch.stack([*borders, size])[stages, None]
        made.logits = made.logits.masked_fill(beyond[:, None], -torch.inf)
        if labels is not None:
            made.loss = F.cross_entropy(made.logits.flatten(0, 1), labels.to(made.logits.device).flatten())
        return made

    def translate(
        self, texts: Sequence[str], target: str, source: str | None = None, **options: Any
    ) -> list[str]:
        """A translation of each of the texts, with the tokenizer of the folder; see
        `ZsnmtTokenizer.translate`.
        """
        if self.tokenizer is None:
            self.tokenizer = AutoTokenizer.from_pretrained(self.name_or_path, trust_remote_code=True)
        return self.tokenizer.translate(self, texts, target, source=source, **options)


def first_tokens(tokens: Tensor, past: EncoderDecoderCache | None) -> Tensor:
    """The first token of each decoder input (B×1), which names the language.

    A cache keeps it, since later steps bring only their own tokens (B×T). Beams of a sentence have the same,
    so that their order does not matter.
    """
    if past is None:
        return tokens[:, :1]
    if not past.get_seq_length():
        past.first_tokens = tokens[:, :1]
    return past.first_tokens


def hidden_tag(config: ZsnmtConfig, padding: int) -> TargetLanguage | None:
    """What hides the target's tag from most layers of the encoder, and from the decoder, if anything does: in
    tokens, or in a mask, by the number that stands for padding there.
    """
    place = config.encoder_target_language
    return None if place is None else TargetLanguage(place, padding)


def layer_value(values: Sequence, number: int, otherwise: Any = None) -> Any:
    """The value of a layer, where there are any."""
    return values[number] if values else otherwise


def norm_if(there: bool, embed_dim: int) -> nn.Module:
    """A layer normalisation, or nothing in its place."""
    return nn.LayerNorm(embed_dim) if there else nn.Identity()


def padding_bias(is_token: Tensor, x: Tensor) -> Tensor:
    """What keeps padding out (B×1×1×S) of attention, from what is no padding (B×S) and the type of x."""
    zeros = torch.zeros(is_token.shape, dtype=x.dtype, device=x.device)
    return zeros.masked_fill(~is_token, torch.finfo(x.dtype).min / 2)[:, None, None]


def causal_bias(x: Tensor, past: int) -> Tensor:
    """What keeps what comes later out (T×S) of the attention of x (B×T×C), after so many steps."""
    length = past + x.size(1)
    steps = torch.arange(length, device=x.device)
    later = steps > steps[past:, None]  # T×S
    return torch.zeros(later.shape, dtype=x.dtype, device=x.device).masked_fill(
        later, torch.finfo(x.dtype).min / 2
    )
