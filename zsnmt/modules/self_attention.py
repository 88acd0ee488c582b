"""fairseq's self-attention with seams: the logits, the values, and the scale."""

from collections.abc import Iterable
from itertools import groupby
from typing import Any

import torch
from fairseq import utils
from fairseq.modules import MultiheadAttention
from torch import Tensor, nn
from torch.nn import functional as F

from zsnmt.modules.fast_attention import FastAttention
from zsnmt.modules.onednn_linear import joined_linear


class SelfAttention(MultiheadAttention):
    """With neutral seams, bit for bit fairseq's self-attention: same parameters, names and initial weights.

    * `logit_terms`: modules that add to the logits, called with queries and keys (B×H×Tq×d and B×H×Tk×d) and
      the scale, returning what broadcasts to B×H×Tq×Tk;
    * `relative_values`: a module that adds to the result, from the attention's probabilities (B×H×Tq×Tk) to
      B×H×Tq×d;
    * `scaling`: the factor of q·k, 1/√d unless changed; it takes effect where one of the others, or a bias,
      is given;
    * `fast_training`: on a CPU, train by plain products of contiguous heads, with neutral seams, too.
      fairseq's ways, and PyTorch's fused attention, take longer there on sentences of usual length.

    All that changes only the logits is one bias for PyTorch's fused attention. Queries are the last Tq of the
    Tk positions, so that a step of incremental decoding (Tq=1) sees the offsets that the whole sequence does.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.logit_terms = nn.ModuleList()
        self.relative_values: nn.Module | None = None
        self.fast_training = False

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        incremental_state: dict | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        need_head_weights: bool = False,
        position_bias: Tensor | None = None,
        **options: Any,
    ) -> tuple[Tensor, Tensor | None]:
        """query: Tq×B×C; key and value: Tk×B×C (only the new ones in incremental decoding); key_padding_mask:
        B×Tk, True at padding; attn_mask: Tq×Tk, added to the logits; position_bias: added, too, and
        broadcasts to B×H×Tq×Tk.

        Returns Tq×B×C and, where weights are asked for, their mean over heads, B×Tq×Tk, or those of each,
        H×B×Tq×Tk. fairseq's other options have an effect with neutral seams alone.
        """
        neutral = not self.logit_terms and self.relative_values is None and position_bias is None
        fast = (
            self.fast_training and self.training and incremental_state is None and query.device.type == "cpu"
        )
        if neutral and not fast:
            masks = dict(key_padding_mask=key_padding_mask, attn_mask=attn_mask)
            wanted = dict(need_weights=need_weights, need_head_weights=need_head_weights)
            return super().forward(
                query, key, value, incremental_state=incremental_state, **wanted, **masks, **options
            )
        need_weights = need_weights or need_head_weights
        q, k, v = (self.project_together if fast else self.project_apart)(query, key, value)
        if incremental_state is not None:
            k, v, key_padding_mask = self.update_cache(
                k, v, key_padding_mask, incremental_state=incremental_state
            )
        bias = self.bias(q, k, masks=(position_bias, attn_mask), key_padding_mask=key_padding_mask)
        attended, weights = self.attend(q, k, v, bias=bias, fast=fast, need_weights=need_weights)
        attended = attended.permute(2, 0, 1, 3).flatten(2)  # Tq×B×C
        if weights is None or not need_weights:
            return self.out_proj(attended), None
        return self.out_proj(attended), weights.transpose(0, 1) if need_head_weights else weights.mean(dim=1)

    def bias(
        self, q: Tensor, k: Tensor, *, masks: Iterable[Tensor | None], key_padding_mask: Tensor | None
    ) -> Tensor | None:
        """All that is added to the logits, which broadcasts to B×H×Tq×Tk; None where nothing is."""
        parts = [term(q, k, self.scaling) for term in self.logit_terms]
        parts += [mask for mask in masks if mask is not None]
        if key_padding_mask is not None:
            # Finite: padding before a target, which sees nothing but itself, must not become NaN.
            zeros = torch.zeros(key_padding_mask.shape, dtype=q.dtype, device=q.device)
            padding = zeros.masked_fill(key_padding_mask.bool(), torch.finfo(q.dtype).min / 2)
            parts.append(padding[:, None, None])  # B×1×1×Tk
        return sum(parts[1:], parts[0]) if parts else None

    def attend(
        self, q: Tensor, k: Tensor, v: Tensor, *, bias: Tensor | None, fast: bool, need_weights: bool
    ) -> tuple[Tensor, Tensor | None]:
        """The values as attention weighs them (B×H×Tq×d), and its probabilities (B×H×Tq×Tk), unless PyTorch's
        fused attention was enough, which has none.
        """
        weights: Tensor | None = None
        if fast:
            attended, weights, kept = FastAttention.apply(q, k, v, bias, self.scaling, self.dropout_module.p)
        elif bias is not None and self.relative_values is None and not need_weights:
            drops = self.training or self.dropout_module.apply_during_inference
            attended = F.scaled_dot_product_attention(
                *(q, k, v),
                attn_mask=bias.to(q.dtype),
                dropout_p=self.dropout_module.p if drops else 0.0,
                scale=self.scaling,
            )
        else:
            logits = (q * self.scaling) @ k.transpose(-1, -2)  # B×H×Tq×Tk
            weights = utils.softmax(logits if bias is None else logits + bias, dim=-1).type_as(logits)
            kept = self.dropout_module(weights)
            attended = kept @ v
        if self.relative_values is not None:
            attended = attended + self.relative_values(kept)
        return attended, weights

    def project_apart(self, query: Tensor, key: Tensor, value: Tensor) -> list[Tensor]:
        """Queries, keys and values, B×H×T×d, of inputs T×B×C, each by its projection."""
        projections = self.q_proj(query), self.k_proj(key), self.v_proj(value)
        return [self.heads(projected) for projected in projections]

    def project_together(self, query: Tensor, key: Tensor, value: Tensor) -> list[Tensor]:
        """As `project_apart`, B×H×T×d of T×B×C, but contiguous, and with one product for those of one
        input.
        """
        pairs = (query, self.q_proj), (key, self.k_proj), (value, self.v_proj)
        found: list[Tensor] = []
        for _, of_input in groupby(pairs, key=lambda pair: id(pair[0])):
            inputs, layers = zip(*of_input)
            projected = joined_linear(inputs[0], layers)  # T×B×nC
            of_each = projected.unflatten(-1, (len(layers), self.num_heads, self.head_dim))
            found += of_each.permute(2, 1, 3, 0, 4).contiguous().unbind()  # n times B×H×T×d
        return found

    def heads(self, projected: Tensor) -> Tensor:
        """T×B×C as B×H×T×d."""
        length, batch, _ = projected.shape
        return projected.view(length, batch, self.num_heads, self.head_dim).permute(1, 2, 0, 3)

    def update_cache(
        self, k: Tensor, v: Tensor, key_padding_mask: Tensor | None, incremental_state: dict
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Keys and values (B×H×Tk×d) and padding (B×Tk, True there) of all steps so far, of which these are
        the last; kept as fairseq keeps them.
        """
        saved = self._get_input_buffer(incremental_state)
        if "prev_key" in saved:
            k, v = torch.cat([saved["prev_key"], k], dim=2), torch.cat([saved["prev_value"], v], dim=2)
        key_padding_mask = self._append_prev_key_padding_mask(
            key_padding_mask, saved.get("prev_key_padding_mask"), k.size(0), k.size(2), static_kv=False
        )
        self._set_input_buffer(
            incremental_state, dict(prev_key=k, prev_value=v, prev_key_padding_mask=key_padding_mask)
        )
        return k, v, key_padding_mask
