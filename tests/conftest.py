"""What several tests share: small models, dictionaries and data made on the spot."""

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import fairseq.tasks  # noqa: E402, F401  (before zsnmt, so that it registers)
import pytest  # noqa: E402
import torch  # noqa: E402
from fairseq.data import Dictionary  # noqa: E402

import zsnmt.models  # noqa: E402, F401
import zsnmt.tasks  # noqa: E402, F401

torch.set_num_threads(1)

LANGUAGES = ["piv", "aa", "bb", "cc"]


def make_dictionary(words: int = 23) -> Dictionary:
    """A dictionary of language tags and words w0, w1, ..."""
    dictionary = Dictionary()
    for language in LANGUAGES:
        dictionary.add_symbol(f"__{language}__")
    for number in range(words):
        dictionary.add_symbol(f"w{number}")
    return dictionary


class ToyTask:
    """As much of a task as a model reads."""

    def __init__(self) -> None:
        self.langs = LANGUAGES
        self.source_dictionary = self.target_dictionary = make_dictionary()


def toy_options(**options) -> argparse.Namespace:
    """Options of a small model; sizes all different, so that a swapped axis fails."""
    sizes = dict(
        encoder_embed_dim=8,
        encoder_ffn_embed_dim=20,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_layers=3,
        decoder_layers=2,
        max_source_positions=64,
        max_target_positions=64,
    )
    return argparse.Namespace(**{**sizes, **options})


@pytest.fixture
def toy_task() -> ToyTask:
    return ToyTask()


@pytest.fixture
def source_batch() -> torch.Tensor:
    """Three sources of 5, 3 and 4 tokens with EOS (B=3, T=5), padded on the left."""
    pad, eos = 1, 2
    return torch.tensor([[8, 9, 10, 11, eos], [pad, pad, 12, 13, eos], [pad, 14, 15, 9, eos]])


@pytest.fixture
def target_batch() -> torch.Tensor:
    """Decoder inputs that begin with the tags of aa, bb and cc (B=3, T=4), padded on the right."""
    pad = 1
    return torch.tensor([[5, 8, 9, 10], [6, 11, 12, pad], [7, 13, 14, 15]])
