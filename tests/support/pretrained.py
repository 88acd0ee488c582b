"""Pretrained models in small, in the form in which transformers saves them."""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

KINDS = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<f4"}
WORDS = ("[PAD]", "[CLS]", "the", "of", "##ing", "and", "to")


def safetensors(path: Path, tensors: Mapping[str, np.ndarray], kind: str = "F32") -> Path:
    """Write a safetensors file: the length of its header, the header, the numbers."""
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, tensor in tensors.items():
        numbers = tensor.astype(KINDS[kind])
        if kind == "BF16":
            numbers = (numbers.view("<u4") >> 16).astype("<u2")
        start = len(data)
        data += numbers.tobytes()
        header[name] = {"dtype": kind, "shape": [*tensor.shape], "data_offsets": [start, len(data)]}
    said = json.dumps(header).encode("utf-8")
    path.write_bytes(len(said).to_bytes(8, "little") + said + data)
    return path


def made_up_bert(
    folder: Path, positions: np.ndarray, words=WORDS, seed: int = 1, prefix: str = "bert."
) -> Path:
    """A folder with model.safetensors and vocab.txt, with random words and weights beside the positions."""
    generator, size = np.random.default_rng(seed), positions.shape[1]
    attention = f"{prefix}encoder.layer.0.attention.self"
    tensors = {
        f"{prefix}embeddings.word_embeddings.weight": generator.standard_normal((len(words), size)),
        f"{prefix}embeddings.position_embeddings.weight": positions,
        f"{prefix}embeddings.token_type_embeddings.weight": generator.standard_normal((2, size)),
        f"{attention}.query.weight": generator.standard_normal((size, size)),
        f"{attention}.query.bias": generator.standard_normal(size),
        f"{attention}.key.weight": generator.standard_normal((size, size)),
        f"{prefix}encoder.layer.1.attention.self.key.weight": generator.standard_normal((size, size)),
    }
    folder.mkdir(parents=True)
    safetensors(folder / "model.safetensors", tensors)
    (folder / "vocab.txt").write_text("".join(f"{word}\n" for word in words), encoding="utf-8")
    return folder
