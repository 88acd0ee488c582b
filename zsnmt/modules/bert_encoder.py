"""fairseq's RoBERTa encoder, built from layers with seams, and the table of its positions."""

from argparse import Namespace

import numpy as np
import torch
from fairseq.data import Dictionary
from fairseq.models.roberta import RobertaEncoder
from fairseq.models.transformer import TransformerConfig
from fairseq.modules.transformer_sentence_encoder import init_bert_params
from torch import nn
from torch.nn import functional as F

from zsnmt.modules.encoder import Encoder
from zsnmt.modules.position_terms import OF_WORDS_AND_POSITIONS, SEPARATE
from zsnmt.modules.positions import TupePositions


class BertEncoder(RobertaEncoder):
    """With neutral seams, bit for bit fairseq's encoder and masked-LM head."""

    def build_encoder(self, args: Namespace, dictionary: Dictionary, embed_tokens: nn.Embedding) -> Encoder:
        """The encoder with seams, with BERT's initial weights."""
        encoder = Encoder(TransformerConfig.from_namespace(args), dictionary, embed_tokens)
        encoder.apply(init_bert_params)
        return encoder


@torch.no_grad()
def position_table(encoder: Encoder, positions: int) -> np.ndarray | None:
    """The encodings of the first positions, P×d, or of the offsets between them, (2P−1)×d or as many as a
    clip distance leaves, in the first layer; None without any.

    TUPE's are of the tokens after the first, which stands for the sentence: (P−1)×d.
    """
    if encoder.embed_positions is not None:
        tokens = torch.full((1, positions), encoder.padding_idx + 1)  # any but padding
        return encoder.embed_positions(tokens)[0].numpy()
    if isinstance(encoder.position_bias, TupePositions):
        return encoder.position_bias.table.weight[2 : positions + 1].numpy()
    for term in encoder.layers[0].self_attn.logit_terms:
        vectors, _ = term.table(positions, positions)
        return vectors.numpy()
    return None


@torch.no_grad()
def position_keys(encoder: Encoder, table: np.ndarray) -> np.ndarray | None:
    """The rows of a model's `position_table` (P×d) as keys, without bias, P×d; None where positions are
    not vectors that are projected.

    They are p·W^K of the first layer, and of TUPE LN(p)·U^K.
    """
    rows, tupe = torch.from_numpy(table), encoder.position_bias
    if isinstance(tupe, TupePositions):
        return F.linear(tupe.layer_norm(rows), tupe.k_proj.weight).numpy()
    if encoder.embed_positions is None:
        return None
    return F.linear(rows, position_projection(encoder).weight).numpy()


def position_projection(encoder: Encoder) -> nn.Linear:
    """What projects positions in the input to keys of the first layer: W^K, or U^K of their own."""
    if encoder.position_terms is not None and encoder.position_terms.kind == SEPARATE:
        _, projection = encoder.position_terms.own
        return projection
    return encoder.layers[0].self_attn.k_proj


def has_word_position_term(encoder: Encoder) -> bool:
    """Whether the logits of the first layer have the product of a word's query and the key of a position in
    the input.
    """
    terms = encoder.position_terms
    return encoder.embed_positions is not None and (terms is None or terms.kind != OF_WORDS_AND_POSITIONS)
