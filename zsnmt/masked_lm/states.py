"""What a masked language model makes of sentences and of words: vectors at its layers, and losses."""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from fairseq.data import FairseqDataset
from fairseq.models import BaseFairseqModel
from torch import Tensor
from torch.nn import functional as F

from zsnmt.errors import InputError

BATCH = 256  # lines, as the study has it: its perplexity depends on them


def check_layers(model: BaseFairseqModel, layers: Sequence[int]) -> None:
    """Raises `InputError` for a layer that the model does not have; 0 is what goes into the first."""
    last = len([*model.encoder.sentence_encoder.layers.children()])
    if wrong := [layer for layer in layers if not 0 <= layer <= last]:
        raise InputError(
            f"the model has no layer {wrong[0]}: its layers are 1 to {last}, and 0 is the input of the first"
        )


@torch.no_grad()
def states(model: BaseFairseqModel, tokens: Tensor, layers: Sequence[int]) -> list[Tensor]:
    """The states of tokens (B×T) at each layer, B×T×C; layer 0 is the sum of embeddings, normalised."""
    every = model.encoder.sentence_encoder(tokens, return_all_hiddens=True)["encoder_states"]
    return [every[layer].transpose(0, 1) for layer in layers]


def sentence_vectors(
    model: BaseFairseqModel, dataset: FairseqDataset, lines: Sequence[int], layers: Sequence[int]
) -> list[np.ndarray]:
    """For each layer the means over the tokens of unmasked lines, N×C, without <s> and </s> (as Dufter and
    Schütze 2020).

    A line without any other token has the vector of its <s>.
    """
    vectors: list[list[np.ndarray]] = [[] for _ in layers]
    for tokens, lengths in batches(dataset, lines):
        within = torch.arange(tokens.size(1)).expand_as(tokens)
        counted = (within > 0) & (within < lengths[:, None] - 1)  # B×T
        counted[:, 0] = lengths == 2
        for of_layer, state in zip(vectors, states(model, tokens, layers)):
            weights = counted.type_as(state) / counted.sum(dim=1, keepdim=True)
            of_layer.append(torch.einsum("bt,btc->bc", weights, state).numpy())
    return [np.concatenate(of_layer) for of_layer in vectors]


def batches(dataset: FairseqDataset, lines: Sequence[int]) -> Iterator[tuple[Tensor, Tensor]]:
    """Unmasked lines, right-padded, B×T, and their lengths, B."""
    for start in range(0, len(lines), BATCH):
        tokens = [dataset[line]["tokens"] for line in lines[start : start + BATCH]]
        padded = torch.nn.utils.rnn.pad_sequence(
            tokens, batch_first=True, padding_value=dataset.dictionary.pad()
        )
        yield padded, torch.tensor([len(line) for line in tokens])


def word_vectors(model: BaseFairseqModel, ids: np.ndarray, layers: Sequence[int]) -> list[np.ndarray]:
    """For each layer the vectors, N×C, of symbols that stand alone between <s> and </s>."""
    dictionary = model.encoder.dictionary
    parts: list[list[np.ndarray]] = [[] for _ in layers]
    for some in torch.from_numpy(ids).split(BATCH):
        begin, end = (torch.full_like(some, symbol) for symbol in (dictionary.bos(), dictionary.eos()))
        alone = torch.stack([begin, some, end], dim=1)  # B×3
        for of_layer, state in zip(parts, states(model, alone, layers)):
            of_layer.append(state[:, 1].numpy())
    return [np.concatenate(of_layer) for of_layer in parts]


@torch.no_grad()
def losses(model: BaseFairseqModel, dataset: FairseqDataset, lines: Sequence[int]) -> list[tuple[float, int]]:
    """For each batch of masked lines the mean loss of the chosen tokens, in nats, and their number; none
    for one without any.
    """
    found = []
    for start in range(0, len(lines), BATCH):
        batch = dataset.collater([dataset[line] for line in lines[start : start + BATCH]])
        chosen = batch["target"].ne(dataset.dictionary.pad())
        if chosen.any():
            logits, _ = model(**batch["net_input"], masked_tokens=chosen)
            found.append((F.cross_entropy(logits.float(), batch["target"][chosen]).item(), int(chosen.sum())))
    return found
