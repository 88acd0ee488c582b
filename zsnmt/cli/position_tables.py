"""Compare the position tables of pretrained BERTs, as files: how compositional they are (Procrustes losses),
and how words meet positions in the first layer (heat maps; Ravishankar and Søgaard 2021, Figure 9).

    zsnmt position-tables bert-base-multilingual-cased bert-base-cased --output positions
    zsnmt position-tables mBERT=a/model.safetensors BERT=b/model.safetensors own=positions.npy

A model is a folder with model.safetensors and vocab.txt, as transformers saves a BERT; such a file; a folder
with positions.npy, words.npy, query.npy, key.npy and vocab.txt; or the .npy file of a position table. Heat
maps are of models that have words, weights of the first layer, and vocab.txt. Models are not downloaded.
"""

import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from zsnmt import console
from zsnmt.cli.common.argument_types import positive, some_words

if TYPE_CHECKING:
    from zsnmt.masked_lm.pretrained import PositionLosses, Pretrained, WordMap


def main(arguments: Sequence[str] | None = None) -> None:
    options = make_parser().parse_args(arguments)
    from zsnmt.masked_lm import pretrained  # loads SciPy

    models = named_models(options.models)
    if options.positions:
        models = [replace(model, positions=model.positions[: options.positions]) for model in models]
    pretrained.check_shapes(models, options.dimensions)
    maps = word_maps(models, options.words or pretrained.WORDS, options.heads)
    models += pretrained.controls(*models[0].positions.shape)
    show([pretrained.measure_positions(model, options.dimensions) for model in models], maps, options)


def make_parser() -> console.Parser:
    parser = console.Parser(prog="zsnmt position-tables", description=__doc__)
    parser.add_argument("models", nargs="+", metavar="[NAME=]MODEL", help="folders or files of models")
    parser.add_argument(
        "--output",
        type=Path,
        metavar="FOLDER",
        help="write the table and the figures into this folder, too; it may exist",
    )
    parser.add_argument(
        "--positions", type=positive, metavar="N", help="only the first N positions (default: all)"
    )
    parser.add_argument(
        "--dimensions",
        type=positive,
        default=64,
        metavar="D",
        help="measure losses along the D largest directions of a table; they must be so few that a "
        "chunk of positions determines a rotation; the study's own models have 64",
    )
    parser.add_argument(
        "--heads", type=positive, default=12, metavar="H", help="attention heads of the models, for heat maps"
    )
    parser.add_argument(
        "--words", type=some_words, metavar="WORDS", help="words of the heat maps (default: 40 frequent ones)"
    )
    return parser


def named_models(words: Sequence[str]) -> "list[Pretrained]":
    """The models that NAME=MODEL or MODEL name, the latter by its last part; `InputError` for a name given
    twice.
    """
    from zsnmt.errors import InputError
    from zsnmt.masked_lm.pretrained import read_pretrained

    sources: dict[str, Path] = {}
    for word in words:
        name, equals, path = (word, "", "") if Path(word).exists() else word.partition("=")
        source = Path(path if equals else word)
        name = name if equals else source.absolute().name
        if name in sources:
            raise InputError(f"two models are called {name}; name them, as in one={source} other=...")
        sources[name] = source
    return [read_pretrained(name, source) for name, source in sources.items()]


def word_maps(models: "Sequence[Pretrained]", words: Sequence[str], heads: int) -> "dict[str, WordMap]":
    """The heat map of each model that has words; says what has none, and which words are left out."""
    from zsnmt.masked_lm.pretrained import common_words, word_map

    with_words = {model.name: model.words for model in models if model.words is not None}
    for model in models:
        if model.name not in with_words:
            print(f"{model.name}: no heat map, for it lacks words, weights or vocab.txt", file=sys.stderr)
    if not with_words:
        return {}
    chosen = common_words([*with_words.values()], words)
    if missing := [word for word in words if word not in chosen]:
        print(f"left out, for not all models have them whole: {' '.join(missing)}", file=sys.stderr)
    positions = {model.name: model.positions for model in models}
    return {name: word_map(of, positions[name], chosen, heads=heads) for name, of in with_words.items()}


def show(measured: "Sequence[PositionLosses]", maps: "Mapping[str, WordMap]", options: Namespace) -> None:
    """Print the table, and write it and the figures where that is asked for."""
    from zsnmt.masked_lm.report.page import write_tables  # loads matplotlib
    from zsnmt.masked_lm.report.pretrained import drawings, positions_table
    from zsnmt.masked_lm.report.text_tables import text_of
    from zsnmt.report.html import write_drawings

    table = positions_table(measured, maps, options.dimensions)
    print(text_of(table))
    if options.output:
        written = write_drawings(options.output, drawings(measured, maps))
        print(*written, *write_tables(options.output, [table]), sep="\n", file=sys.stderr)
